use drystone_mesh::{Face, FaceSet};
use drystone_voxel::NodePos;
use hashbrown::{HashMap, HashSet};

use super::node_table::NodeTable;
use crate::lod::node_mesh::{NodeMesh, Skirts};

/// Meshes that the sink shows: the bodies and skirts of nodes.
#[derive(Default)]
pub(super) struct ShownNodes {
    pub(super) nodes: HashMap<NodePos, ShownNode>,
    /// Nodes that were shown or hidden. The skirts around them have to be checked.
    touched: Vec<NodePos>,
    /// Shown nodes whose meshes were made with other options. Nodes that an edit replaces are left
    /// out.
    pub(super) outdated: HashSet<NodePos>,
    /// Hidden meshes that the sink has not removed yet.
    removals: HashMap<NodePos, Removal>,
}

/// A shown node. The sink stores its body. Its skirts are stored here, to be shown when a neighbour
/// changes its level.
pub(super) struct ShownNode {
    pub(super) made: Skirts,
    /// Number of quads of the body when it was last meshed.
    quads: u32,
    /// Whether the node has only air.
    is_air: bool,
    /// The skirts that the sink shows.
    pub(super) skirts: FaceSet,
}

/// Meshes of a node that are to be removed from the sink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removal {
    pub(super) has_body: bool,
    pub(super) skirts: FaceSet,
}

/// A skirt to show or to hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SkirtChange {
    pub(super) node: NodePos,
    pub(super) face: Face,
    pub(super) is_shown: bool,
}

/// Numbers of nodes and quads that are shown at one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LodCount {
    /// Level of detail. 0 is full detail.
    pub level: u8,
    /// Number of shown nodes, including those of air.
    pub nodes: u32,
    /// Number of shown nodes that are not all air.
    pub solid_nodes: u32,
    /// Number of shown nodes with at least one quad.
    pub meshes: u32,
    /// Number of quads in bodies and shown skirts.
    pub quads: u64,
}

impl Removal {
    pub(super) const BODY: Self = Self { has_body: true, skirts: FaceSet::EMPTY };
}

impl ShownNode {
    /// Whether the sink shows the skirt on the side `face`.
    pub(super) fn shows(&self, face: Face) -> bool {
        self.skirts.contains(face)
    }
}

impl ShownNodes {
    /// Records a node whose body the sink has accepted.
    pub(super) fn insert(&mut self, node: NodePos, mesh: NodeMesh) {
        let NodeMesh { body, skirts: made, is_air, .. } = mesh;
        if let Some(removal) = self.removals.get_mut(&node) {
            removal.has_body = false;
        }
        let quads = body.len() as u32;
        self.nodes.insert(node, ShownNode { made, quads, is_air, skirts: FaceSet::EMPTY });
    }

    /// Records that the sink has accepted another body of a shown node, with this number of quads.
    /// Returns the shown skirts that are outdated.
    pub(super) fn replace(&mut self, node: NodePos, quads: u32, mesh: NodeMesh) -> FaceSet {
        let Some(shown) = self.nodes.get_mut(&node) else { return FaceSet::EMPTY };
        let NodeMesh { skirts: mut made, is_air, .. } = mesh;
        self.outdated.remove(&node);
        let outdated = shown.skirts.without(made.kept);
        made.keep(&mut shown.made);
        *shown = ShownNode { made, quads, is_air, skirts: shown.skirts.without(outdated) };
        outdated
    }

    pub(super) fn remove(&mut self, node: NodePos) -> Option<ShownNode> {
        self.outdated.remove(&node);
        self.nodes.remove(&node)
    }

    /// Returns the skirts to make in a new mesh of a node. These are the `changed` ones if the old
    /// mesh is shown. They are all if it is not, or is damaged or outdated.
    pub(super) fn skirts_to_make(&self, node: NodePos, changed: FaceSet) -> FaceSet {
        if self.is_current(node) { changed } else { FaceSet::ALL }
    }

    /// Whether a node is shown with a complete mesh of the current options.
    pub(super) fn is_current(&self, node: NodePos) -> bool {
        self.nodes.get(&node).is_some_and(|shown| shown.made.is_whole)
            && !self.outdated.contains(&node)
    }

    /// Records whether a shown node has only air, after an edit of single cubes.
    pub(super) fn set_air(&mut self, node: NodePos, is_air: bool) {
        if let Some(shown) = self.nodes.get_mut(&node) {
            shown.is_air = is_air;
        }
    }

    /// Records that the skirts around a node have to be checked.
    pub(super) fn touch(&mut self, node: NodePos) {
        self.touched.push(node);
    }

    /// Plans the skirts around every touched node, which are then no longer touched. A shown node
    /// has a skirt towards each neighbour that is not shown.
    ///
    /// Skirts are hidden first, which frees memory for those that are shown. A skirt between two
    /// touched nodes appears twice.
    pub(super) fn plan_skirts(&mut self, table: &NodeTable) -> Vec<SkirtChange> {
        let touched = std::mem::take(&mut self.touched);
        let mut changes = Vec::new();
        for is_shown in [false, true] {
            for &node in &touched {
                for face in Face::ALL {
                    let beyond = node.offset(face.normal()).map(|it| (it, face.opposite()));
                    let sides = [(node, face)].into_iter().chain(beyond);
                    let planned = sides.map(|(node, face)| SkirtChange { node, face, is_shown });
                    changes.extend(planned.filter(|change| self.is_due(change, table)));
                }
            }
        }
        changes
    }

    fn is_due(
        &self,
        &SkirtChange { node, face, is_shown }: &SkirtChange,
        table: &NodeTable,
    ) -> bool {
        let Some(shown) = self.nodes.get(&node) else { return false };
        // Most borders have no skirt, and most skirts are already in the right state.
        let is_empty = shown.made.get(face).is_empty();
        if shown.shows(face) == is_shown || (is_empty && is_shown) {
            return false;
        }
        let is_open = node
            .offset(face.normal())
            .is_some_and(|neighbor| !table.is_shown(neighbor) && table.grid.contains(neighbor));
        (is_open && !is_empty) == is_shown
    }

    /// Records that the sink has applied a change of a skirt.
    pub(super) fn note_skirt(&mut self, change: &SkirtChange) {
        let face = FaceSet::EMPTY.with(change.face);
        if let Some(shown) = self.nodes.get_mut(&change.node) {
            let others = shown.skirts.without(face);
            shown.skirts = if change.is_shown { others.union(face) } else { others };
        }
        // The sink has replaced a skirt whose removal was pending.
        if let Some(removal) = self.removals.get_mut(&change.node) {
            removal.skirts = removal.skirts.without(face);
        }
    }

    /// Stores meshes that the sink failed to remove. The next update removes them.
    pub(super) fn retry_removal(&mut self, node: NodePos, removal: Removal) {
        self.removals.insert(node, removal);
    }

    /// Returns all meshes of a node to remove: those of `removal`, and those that the sink failed to
    /// remove before.
    pub(super) fn join_removal(&mut self, node: NodePos, removal: Removal) -> Removal {
        let Some(older) = self.removals.remove(&node) else { return removal };
        Removal {
            has_body: removal.has_body || older.has_body,
            skirts: removal.skirts.union(older.skirts),
        }
    }

    /// Removes and returns everything that the sink failed to remove.
    pub(super) fn take_removals(&mut self) -> HashMap<NodePos, Removal> {
        std::mem::take(&mut self.removals)
    }

    /// Number of quads in the body of a node.
    pub(super) fn quads(&self, node: NodePos) -> u64 {
        self.nodes.get(&node).map_or(0, |shown| u64::from(shown.quads))
    }

    /// Whether the sink shows exactly what it should.
    pub(super) fn is_settled(&self) -> bool {
        !self.has_pending() && self.outdated.is_empty()
    }

    /// Whether the next update has skirts to check, or meshes to remove.
    pub(super) fn has_pending(&self) -> bool {
        !self.touched.is_empty() || !self.removals.is_empty()
    }

    /// Returns the nodes that are not all air, in no particular order.
    pub(super) fn solid(&self) -> impl Iterator<Item = NodePos> {
        self.nodes.iter().filter(|(_, shown)| !shown.is_air).map(|(&node, _)| node)
    }

    /// Returns the nodes that could not be read completely, sorted.
    pub(super) fn damaged(&self) -> Vec<NodePos> {
        let damaged = self.nodes.iter().filter(|(_, shown)| !shown.made.is_whole);
        let mut damaged: Vec<NodePos> = damaged.map(|(&node, _)| node).collect();
        damaged.sort_unstable();
        damaged
    }

    /// Returns the split root whose subtree has the most quads.
    pub(super) fn largest_root(&self, top_level: u8) -> Option<NodePos> {
        let mut quads: HashMap<NodePos, u64> = HashMap::new();
        for (node, shown) in self.nodes.iter().filter(|(node, _)| node.level < top_level) {
            *quads.entry(node.ancestor(top_level)).or_default() += u64::from(shown.quads);
        }
        quads.into_iter().max_by_key(|&(root, quads)| (quads, root)).map(|(root, _)| root)
    }

    /// Returns what is shown by level, finest level first. Levels without shown nodes are omitted.
    pub(super) fn counts(&self, top_level: u8) -> Vec<LodCount> {
        let new = |level| LodCount { level, ..LodCount::default() };
        let mut counts: Vec<LodCount> = (0..=top_level).map(new).collect();
        for (node, shown) in &self.nodes {
            let Some(count) = counts.get_mut(usize::from(node.level)) else { continue };
            let skirts = Face::ALL.into_iter().filter(|&face| shown.shows(face));
            let skirt_quads: usize = skirts.map(|face| shown.made.get(face).len()).sum();
            let quads = u64::from(shown.quads) + skirt_quads as u64;
            count.nodes += 1;
            count.solid_nodes += u32::from(!shown.is_air);
            count.meshes += u32::from(quads > 0);
            count.quads += quads;
        }
        counts.retain(|count| count.nodes > 0);
        counts
    }
}
