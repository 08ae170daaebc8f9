use drystone_mesh::{Face, FaceSet};
use drystone_voxel::NodePos;

use super::LodTree;
use super::plan::{Change, ChangeKind};
use super::shown_nodes::{Removal, SkirtChange};
use crate::lod::node_mesh::NodeMesh;
use crate::lod::node_sink::NodeSink;

/// Share of an update's budget that is spent by priority. The rest is spent on merges first,
/// because they are never urgent but free memory.
const NEEDED_SHARE: f64 = 0.75;

/// Applies changes to a tree and its sink. Nothing else changes what the sink shows.
///
/// A node is hidden only after the sink has accepted its replacement. What the sink refuses leaves
/// the old meshes shown, and is tried again by the next update.
pub(super) struct Apply<'a, S: NodeSink> {
    pub(super) tree: &'a mut LodTree,
    sink: &'a mut S,
    /// First error of the sink.
    result: Result<(), S::Error>,
}

/// A change that the sink refused, and the number of merges before it.
struct Refused<E> {
    change: Change,
    error: E,
    merge_count: u32,
}

impl<'a, S: NodeSink> Apply<'a, S> {
    pub(super) fn new(tree: &'a mut LodTree, sink: &'a mut S) -> Self {
        Self { tree, sink, result: Ok(()) }
    }

    /// Returns the first error of the sink.
    pub(super) fn result(self) -> Result<(), S::Error> {
        self.result
    }

    /// Applies changes in their order, within the budget. At the end of the budget, merges come
    /// first. A refused change is tried once more if a later merge has freed memory.
    pub(super) fn changes(&mut self, changes: &mut [Change]) {
        self.tree.progress.begin_changes(&self.tree.config);
        let mut refused = Vec::new();
        let mut next = 0;
        while next < changes.len() && self.has_budget(NEEDED_SHARE) {
            self.change(changes[next], &mut refused);
            next += 1;
        }
        Change::sort_merges_first(&mut changes[next..]);
        for &change in &changes[next..] {
            if !self.has_budget(1.0) {
                break;
            }
            self.change(change, &mut refused);
        }
        for Refused { change, error, merge_count } in refused {
            let has_freed = merge_count < self.tree.progress.merge_count;
            let again = if has_freed { self.try_change(change) } else { Err(error) };
            self.note(again);
        }
    }

    /// Replaces the meshes of edited nodes, for each edit whose new meshes are all finished.
    pub(super) fn edits(&mut self) {
        for edit in self.tree.edits.take_finished() {
            self.tree.progress.spent_bytes += edit.size_bytes;
            let (is_reread, meshes) = (edit.is_reread, edit.into_meshes());
            // An edit whose nodes were all hidden gives no result.
            if is_reread && !meshes.is_empty() {
                let is_whole = meshes.iter().all(|(_, mesh)| mesh.is_whole());
                self.tree.rereads.finish(is_whole, self.tree.data.clock.now());
            }
            self.replace(meshes);
        }
    }

    /// Replaces the bodies of shown nodes, and shows uncovered nodes.
    pub(super) fn replace(&mut self, meshes: Vec<(NodePos, NodeMesh)>) {
        let mut refused = Vec::new();
        for (node, mesh) in meshes {
            let is_new = self.tree.nodes.uncovered.contains(&node);
            let more = (mesh.body.len() as u64).saturating_sub(self.tree.shown.quads(node));
            let limit = self.sink.check_limit(more);
            match limit.and_then(|()| self.sink.set_body(node, Some(&mesh.body))) {
                Ok(()) if is_new => self.note_new(node, mesh),
                Ok(()) => self.note_replaced(node, mesh),
                Err(error) => {
                    if is_new {
                        // The sink may have stored a part of it.
                        drop(self.remove(node, Removal::BODY));
                    }
                    self.note(Err(error));
                    refused.push((node, mesh));
                }
            }
        }
        self.tree.edits.retry(refused);
    }

    /// Shows and hides the skirts around every node that was shown or hidden.
    pub(super) fn skirts(&mut self) {
        for change in self.tree.shown.plan_skirts(&self.tree.nodes) {
            let SkirtChange { node, face, is_shown } = change;
            let Some(shown) = self.tree.shown.nodes.get(&node) else { continue };
            if shown.shows(face) == is_shown {
                continue;
            }
            let skirt = is_shown.then(|| shown.made.get(face));
            match self.sink.set_skirt(node, face, skirt) {
                Ok(()) => self.tree.shown.note_skirt(&change),
                Err(error) => {
                    self.note(Err(error));
                    self.tree.shown.touch(node);
                    if is_shown {
                        // The sink may have stored a part of it.
                        let skirts = FaceSet::EMPTY.with(face);
                        drop(self.remove(node, Removal { has_body: false, skirts }));
                    }
                }
            }
        }
    }

    /// Retries the removals that the sink refused.
    pub(super) fn removals(&mut self) {
        for (node, removal) in self.tree.shown.take_removals() {
            let removed = self.remove(node, removal);
            self.note(removed);
        }
    }

    /// Hides all shown nodes below a node.
    pub(super) fn hide_below(&mut self, node: NodePos) -> Result<(), S::Error> {
        let grid = self.tree.nodes.grid;
        let mut hidden = Ok(());
        let mut inner = vec![node];
        while let Some(node) = inner.pop() {
            for child in grid.children(node) {
                if self.tree.nodes.is_split(child) {
                    self.tree.nodes.remove(child);
                    inner.push(child);
                } else if self.tree.nodes.uncovered.remove(&child) {
                    self.tree.edits.remove(child);
                } else {
                    hidden = hidden.and(self.hide(child));
                }
            }
        }
        hidden
    }
}

impl<S: NodeSink> Apply<'_, S> {
    fn note(&mut self, result: Result<(), S::Error>) {
        if self.result.is_ok() {
            self.result = result;
        }
    }

    fn has_budget(&mut self, share: f64) -> bool {
        self.tree.progress.has_budget(&self.tree.config, share)
    }

    fn change(&mut self, change: Change, refused: &mut Vec<Refused<S::Error>>) {
        if let Err(error) = self.try_change(change) {
            let merge_count = self.tree.progress.merge_count;
            refused.push(Refused { change, error, merge_count });
        }
    }

    fn try_change(&mut self, Change { node, kind, .. }: Change) -> Result<(), S::Error> {
        self.tree.progress.change_count += 1;
        match kind {
            ChangeKind::Show => {
                let shown = self.show_uncovered(node);
                if shown.is_err() {
                    self.tree.progress.refuse_root();
                }
                shown
            }
            ChangeKind::Split => self.split(node),
            ChangeKind::Merge => self.merge(node),
            ChangeKind::Refresh => self.refresh(node),
        }
    }

    /// Shows the mesh of an uncovered node, if the sink's limit allows it.
    fn show_uncovered(&mut self, node: NodePos) -> Result<(), S::Error> {
        // A merge may have been applied first.
        if !self.tree.nodes.uncovered.contains(&node) {
            return Ok(());
        }
        self.sink.check_limit(self.tree.waiting.quads(node))?;
        self.show(node)
    }

    /// Replaces the outdated mesh of a shown node. If the sink refuses it, it keeps waiting.
    fn refresh(&mut self, node: NodePos) -> Result<(), S::Error> {
        // A split or a merge may have been applied first.
        if !self.tree.nodes.is_shown(node) {
            return Ok(());
        }
        let Some(mesh) = self.tree.waiting.get(node) else { return Ok(()) };
        let more = (mesh.body.len() as u64).saturating_sub(self.tree.shown.quads(node));
        self.sink.check_limit(more)?;
        self.sink.set_body(node, Some(&mesh.body))?;
        if let Some(mesh) = self.tree.waiting.take(node, &mut self.tree.nodes) {
            self.tree.progress.spent_bytes += mesh.size_bytes();
            self.note_replaced(node, mesh);
        }
        Ok(())
    }

    /// Replaces a node by all of its children. If the sink refuses one child, the node stays.
    fn split(&mut self, node: NodePos) -> Result<(), S::Error> {
        let children: Vec<NodePos> = self.tree.nodes.grid.children(node).collect();
        let quads: u64 = children.iter().map(|&child| self.tree.waiting.quads(child)).sum();
        self.sink.check_limit(quads.saturating_sub(self.tree.shown.quads(node)))?;
        for (i, child) in children.iter().enumerate() {
            let Some(mesh) = self.tree.waiting.get(*child) else { continue };
            if let Err(error) = self.sink.set_body(*child, Some(&mesh.body)) {
                // Removals that fail are retried later. The sink's first error is returned. The
                // sink may have stored a part of the refused mesh too.
                for shown in &children[..=i] {
                    drop(self.remove(*shown, Removal::BODY));
                }
                return Err(error);
            }
        }
        for child in children {
            self.note_shown(child);
        }
        let hidden = self.hide(node);
        self.tree.nodes.split(node);
        hidden
    }

    /// Replaces all nodes below a node by the node itself.
    ///
    /// The nodes below are hidden after the sink has accepted the mesh. Freed ranges may be in use
    /// until frames in flight complete, so hiding them first would not make the mesh fit.
    ///
    /// If the sink refuses the mesh, everything below the node stays shown. From then on, merges
    /// below the node are tried as well: each frees memory, and may need less.
    fn merge(&mut self, node: NodePos) -> Result<(), S::Error> {
        // A merge of an ancestor may have been applied first.
        if !self.tree.nodes.is_split(node) || !self.tree.waiting.contains(node) {
            return Ok(());
        }
        if let Err(error) = self.show(node) {
            if let Some(split) = self.tree.nodes.split_mut(node) {
                split.is_merge_refused = true;
            }
            return Err(error);
        }
        self.tree.progress.merge_count += 1;
        self.hide_below(node)
    }

    /// Shows a finished mesh. If the sink refuses it, the mesh keeps waiting.
    fn show(&mut self, node: NodePos) -> Result<(), S::Error> {
        let Some(mesh) = self.tree.waiting.get(node) else { return Ok(()) };
        let shown = self.sink.set_body(node, Some(&mesh.body));
        if shown.is_ok() {
            self.note_shown(node);
        } else {
            // The sink may have stored a part of it.
            drop(self.remove(node, Removal::BODY));
        }
        shown
    }

    /// Hides a node with its skirts.
    fn hide(&mut self, node: NodePos) -> Result<(), S::Error> {
        let Some(shown) = self.tree.shown.remove(node) else { return Ok(()) };
        self.tree.nodes.remove(node);
        self.tree.nodes.count_shown(node, -1);
        self.tree.mesher.bodies.take(node);
        self.tree.edits.remove(node);
        self.tree.touch(node);
        self.remove(node, Removal { has_body: true, skirts: shown.skirts })
    }

    /// Records that the sink has accepted the waiting body of a node.
    fn note_shown(&mut self, node: NodePos) {
        let tree = &mut *self.tree;
        if let Some(mesh) = tree.waiting.take(node, &mut tree.nodes) {
            self.note_new(node, mesh);
        }
    }

    /// Records that the sink has accepted the body of a node that was not shown.
    fn note_new(&mut self, node: NodePos, mesh: NodeMesh) {
        let tree = &mut *self.tree;
        tree.touch(node);
        tree.progress.spent_bytes += mesh.size_bytes();
        // The next update checks whether the new node is too coarse.
        tree.progress.has_more = true;
        tree.record_shown(node, &mesh);
        tree.nodes.count_shown(node, 1);
        tree.shown.insert(node, mesh);
    }

    /// Records that the sink has accepted another body of a shown node, and hides its outdated
    /// skirts. The new ones are shown with the next skirts.
    fn note_replaced(&mut self, node: NodePos, mut mesh: NodeMesh) {
        let quads = mesh.body.len() as u32;
        let tree = &mut *self.tree;
        tree.mesher.bodies.take(node);
        if !tree.nodes.is_shown(node) {
            return;
        }
        tree.record_shown(node, &mesh);
        tree.touch(node);
        if mesh.is_whole() {
            tree.mesher.bodies.insert(node, std::mem::take(&mut mesh.body));
        }
        let skirts = tree.shown.replace(node, quads, mesh);
        let removed = self.remove(node, Removal { has_body: false, skirts });
        self.note(removed);
    }

    /// Removes the given meshes of a node from the sink. The next update retries those that fail.
    fn remove(&mut self, node: NodePos, removal: Removal) -> Result<(), S::Error> {
        let mut left = self.tree.shown.join_removal(node, removal);
        let mut removed = Ok(());
        let skirts = left.skirts;
        for face in Face::ALL.into_iter().filter(|&face| skirts.contains(face)) {
            let skirt = self.sink.set_skirt(node, face, None);
            if skirt.is_ok() {
                left.skirts = left.skirts.without(FaceSet::EMPTY.with(face));
            }
            removed = removed.and(skirt);
        }
        if left.has_body {
            let body = self.sink.set_body(node, None);
            left.has_body = body.is_err();
            removed = removed.and(body);
        }
        if removed.is_err() {
            self.tree.shown.retry_removal(node, left);
        }
        removed
    }
}
