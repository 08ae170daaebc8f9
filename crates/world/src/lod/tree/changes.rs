use drystone_mesh::{Face, FaceSet};
use drystone_voxel::NodePos;
use web_time::Instant;

use super::node_table::{NodeEntry, State};
use super::{LodTree, NodeSink, Shown};
use crate::lod::NodeMesh;

/// A change of the shown nodes whose meshes are all finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) node: NodePos,
    pub(super) kind: Kind,
    /// Changes with a higher priority come first.
    pub(super) priority: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Shows a root that showed nothing.
    Show,
    /// Replaces a node by its children.
    Split,
    /// Replaces all nodes below a node by the node.
    Merge,
}

/// Share of an update's budget that is spent by priority. The rest is spent on merges first,
/// because they are never urgent but free memory.
const NEEDED_SHARE: f64 = 0.75;

impl LodTree {
    /// Applies the collected changes in the order of their priority, within the budget.
    ///
    /// A refused change is tried once more if a later merge has freed memory.
    pub(super) fn apply_changes<S: NodeSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        // Even after a slow evaluation, half of the time budget is left for the changes.
        let used = self.spent.start.elapsed().min(self.config.frame_time / 2);
        self.spent.start = Instant::now().checked_sub(used).unwrap_or(self.spent.start);
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort_unstable_by(|a, b| b.priority.total_cmp(&a.priority));
        let mut refused = Vec::new();
        let mut next = 0;
        while next < changes.len() && self.has_budget(NEEDED_SHARE) {
            self.apply(changes[next], sink, &mut refused);
            next += 1;
        }
        let rest = &mut changes[next..];
        rest.sort_by(|a, b| {
            let by_kind = (a.kind != Kind::Merge).cmp(&(b.kind != Kind::Merge));
            let few_first = a.priority.total_cmp(&b.priority);
            by_kind.then(if a.kind == Kind::Merge { few_first } else { few_first.reverse() })
        });
        for &change in rest.iter() {
            if !self.has_budget(1.0) {
                break;
            }
            self.apply(change, sink, &mut refused);
        }
        self.changes = changes;
        self.changes.clear();
        self.retry(refused, sink)
    }

    /// Tries refused changes again if a merge has freed memory since.
    fn retry<S: NodeSink>(
        &mut self,
        refused: Vec<Refused<S::Error>>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let mut all = Ok(());
        for Refused { change, error, merge_count } in refused {
            let again = if merge_count < self.spent.merge_count {
                self.apply_one(change, sink)
            } else {
                Err(error)
            };
            all = all.and(again);
        }
        all
    }

    fn apply<S: NodeSink>(
        &mut self,
        change: Change,
        sink: &mut S,
        refused: &mut Vec<Refused<S::Error>>,
    ) {
        if let Err(error) = self.apply_one(change, sink) {
            refused.push(Refused { change, error, merge_count: self.spent.merge_count });
        }
    }

    fn apply_one<S: NodeSink>(&mut self, change: Change, sink: &mut S) -> Result<(), S::Error> {
        if change.kind == Kind::Split && self.are_splits_held {
            return Ok(());
        }
        self.spent.change_count += 1;
        match change.kind {
            Kind::Show => {
                let shown = self.show_root(change.node, sink);
                self.spent.is_root_refused |= shown.is_err();
                shown
            }
            Kind::Split => self.split(change.node, sink),
            Kind::Merge => self.merge(change.node, sink),
        }
    }

    /// Whether this share of the budget is left, or no change was applied yet.
    fn has_budget(&mut self, share: f64) -> bool {
        let is_left = (self.spent.bytes as f64) < self.config.frame_bytes as f64 * share
            && self.spent.start.elapsed().as_secs_f64()
                < self.config.frame_time.as_secs_f64() * share
            || self.spent.change_count == 0;
        self.spent.has_more |= !is_left;
        is_left
    }

    /// Replaces a node by all of its children. If the sink refuses one child, the node stays.
    fn split<S: NodeSink>(&mut self, node: NodePos, sink: &mut S) -> Result<(), S::Error> {
        let children: Vec<NodePos> = self.data.children(node).collect();
        let bodies = children.iter().filter_map(|child| self.ready.get(child));
        let quads: u64 = bodies.map(|ready| ready.mesh.body.len() as u64).sum();
        let shown = self.shown.get(&node).map_or(0, |shown| u64::from(shown.quads));
        sink.check_limit(quads.saturating_sub(shown))?;
        for (i, child) in children.iter().enumerate() {
            let Some(ready) = self.ready.get(child) else { continue };
            if let Err(error) = sink.set_body(*child, Some(&ready.mesh.body)) {
                // Removals that fail are retried later. The sink's first error is returned. The
                // sink may have stored a part of the refused mesh too.
                for shown in &children[..=i] {
                    drop(self.remove_from_sink(*shown, PendingRemoval::BODY, sink));
                }
                return Err(error);
            }
        }
        for child in children {
            self.note_shown(child);
        }
        let hidden = self.hide(node, sink);
        self.record_split(node);
        hidden
    }

    /// Replaces all nodes below a node by the node itself.
    ///
    /// The nodes below are hidden after the sink has accepted the mesh. Freed ranges may be in use
    /// until frames in flight complete, so hiding them first would not make the mesh fit.
    ///
    /// If the sink refuses the mesh, everything below the node stays shown. From then on, merges
    /// below the node are tried as well: each frees memory, and may need less.
    fn merge<S: NodeSink>(&mut self, node: NodePos, sink: &mut S) -> Result<(), S::Error> {
        // A merge of an ancestor may have been applied first.
        let is_split =
            matches!(self.table.get(node), Some(NodeEntry { state: State::Split { .. }, .. }));
        if !is_split || !self.ready.contains_key(&node) {
            return Ok(());
        }
        if let Err(error) = self.show(node, sink) {
            self.note_refused_merge(node);
            return Err(error);
        }
        self.spent.merge_count += 1;
        self.hide_below(node, sink)
    }

    pub(super) fn hide_below<S: NodeSink>(
        &mut self,
        node: NodePos,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let mut hidden = Ok(());
        let mut inner = vec![node];
        while let Some(node) = inner.pop() {
            for child in self.data.children(node) {
                if let Some(NodeEntry { state: State::Split { .. }, .. }) = self.table.get(child) {
                    self.table.remove(child);
                    inner.push(child);
                } else {
                    hidden = hidden.and(self.hide(child, sink));
                }
            }
        }
        hidden
    }

    /// Shows the mesh of a root that shows nothing, if the sink's limit allows it.
    fn show_root<S: NodeSink>(&mut self, root: NodePos, sink: &mut S) -> Result<(), S::Error> {
        let quads = self.ready.get(&root).map_or(0, |ready| ready.mesh.body.len() as u64);
        sink.check_limit(quads)?;
        self.show(root, sink)
    }

    /// Shows a finished mesh. If the sink refuses it, the mesh stays in `ready`.
    fn show<S: NodeSink>(&mut self, node: NodePos, sink: &mut S) -> Result<(), S::Error> {
        if let Some(ready) = self.ready.get(&node) {
            if let Err(error) = sink.set_body(node, Some(&ready.mesh.body)) {
                // The sink may have stored a part of it.
                drop(self.remove_from_sink(node, PendingRemoval::BODY, sink));
                return Err(error);
            }
            self.note_shown(node);
        }
        Ok(())
    }

    /// Records that the sink has accepted the body of a node.
    fn note_shown(&mut self, node: NodePos) {
        let Some(ready) = self.take_ready(node) else { return };
        self.touched.push(node);
        self.invalidate_ancestors(node);
        self.note_broken(&ready.mesh);
        self.spent.bytes += ready.bytes;
        // The next update checks whether the new node is too coarse.
        self.spent.has_more = true;
        let NodeMesh { body, is_air, skirts: made } = ready.mesh;
        let quads = body.len() as u32;
        if let Some(left) = self.pending_removals.get_mut(&node) {
            left.has_body = false;
        }
        self.record_shown(node, is_air);
        self.count_shown(node, 1);
        self.shown.insert(node, Shown { made, quads, skirts: FaceSet::EMPTY });
    }

    fn hide<S: NodeSink>(&mut self, node: NodePos, sink: &mut S) -> Result<(), S::Error> {
        let Some(shown) = self.shown.remove(&node) else { return Ok(()) };
        self.table.remove(node);
        self.bodies.take(node);
        self.count_shown(node, -1);
        self.touched.push(node);
        self.invalidate_ancestors(node);
        self.swaps.iter_mut().for_each(|swap| swap.remove(node));
        self.remove_from_sink(node, PendingRemoval { has_body: true, skirts: shown.skirts }, sink)
    }

    /// Removes the given meshes of a node from the sink. The next update retries those that fail.
    pub(super) fn remove_from_sink<S: NodeSink>(
        &mut self,
        node: NodePos,
        mut left: PendingRemoval,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        if let Some(older) = self.pending_removals.remove(&node) {
            left.has_body |= older.has_body;
            left.skirts = FaceSet::from_bits(left.skirts.bits() | older.skirts.bits());
        }
        let mut all = Ok(());
        let skirts = left.skirts;
        for face in Face::ALL.into_iter().filter(|&face| skirts.contains(face)) {
            match sink.set_skirt(node, face, None) {
                Ok(()) => left.skirts = toggled(left.skirts, face),
                Err(error) => all = all.and(Err(error)),
            }
        }
        if left.has_body {
            match sink.set_body(node, None) {
                Ok(()) => left.has_body = false,
                Err(error) => all = all.and(Err(error)),
            }
        }
        if all.is_err() {
            self.pending_removals.insert(node, left);
        }
        all
    }

    /// Retries the removals that the sink refused.
    pub(super) fn retry_removals<S: NodeSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        let mut all = Ok(());
        for (node, left) in std::mem::take(&mut self.pending_removals) {
            all = all.and(self.remove_from_sink(node, left, sink));
        }
        all
    }
}

/// Meshes of a hidden node that the sink failed to remove.
#[derive(Clone, Copy)]
pub(super) struct PendingRemoval {
    pub(super) has_body: bool,
    pub(super) skirts: FaceSet,
}

impl PendingRemoval {
    const BODY: Self = Self { has_body: true, skirts: FaceSet::EMPTY };
}

/// Returns the set with the membership of `face` inverted.
pub(super) const fn toggled(faces: FaceSet, face: Face) -> FaceSet {
    FaceSet::from_bits(faces.bits() ^ FaceSet::EMPTY.with(face).bits())
}

/// A change that the sink refused, and the number of merges before it.
struct Refused<E> {
    change: Change,
    error: E,
    merge_count: u32,
}
