use drystone_voxel::{ChunkBox, ChunkPos, NodePos};
use hashbrown::HashSet;

/// Largest chunk coordinate whose voxel coordinates fit into an `i32`.
const MAX_CHUNK_COORDINATE: i32 = (1 << 26) - 1;

/// The nodes of a world at every level: those that overlap its extent.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeGrid {
    pub(super) extent: Option<ChunkBox>,
    /// Level of the roots.
    pub(super) top_level: u8,
}

impl NodeGrid {
    /// Creates the nodes of a world with this extent. Chunks whose voxel coordinates do not fit
    /// into an `i32` are left out.
    pub(super) fn new(extent: Option<ChunkBox>) -> Self {
        let extent = extent.and_then(clipped);
        Self { top_level: extent.map_or(0, |extent| extent.top_level()), extent }
    }

    /// Returns the nodes up to a level: the roots are those of `max_level`, if that is lower.
    pub(super) fn up_to(self, max_level: u8) -> Self {
        Self { top_level: self.top_level.min(max_level), ..self }
    }

    /// Extends the world to include these chunks. The level of the roots does not change. Chunks
    /// whose voxel coordinates do not fit into an `i32` are left out.
    pub(super) fn extend(&mut self, chunks: impl IntoIterator<Item = ChunkPos>) {
        let chunks = chunks.into_iter().filter(|&chunk| is_representable(chunk));
        let ends = self.extent.into_iter().flat_map(|extent| [extent.min, extent.max]);
        self.extent = ChunkBox::around(ends.chain(chunks));
    }

    /// Adds a node and all nodes above it to a set that contains the nodes above each of its nodes.
    pub(super) fn insert_with_ancestors(self, nodes: &mut HashSet<NodePos>, node: NodePos) {
        let mut node = node;
        while nodes.insert(node) && node.level < self.top_level {
            node = node.parent();
        }
    }

    /// Returns the nodes of the highest level, which cover the whole world.
    pub(super) fn roots(self) -> Vec<NodePos> {
        let Some(extent) = self.extent else { return Vec::new() };
        let ChunkBox { min, max } = extent.at_level(self.top_level);
        let mut roots = Vec::new();
        for x in min.x..=max.x {
            for y in min.y..=max.y {
                let node = |z| NodePos::new(self.top_level, ChunkPos::new(x, y, z));
                roots.extend((min.z..=max.z).map(node));
            }
        }
        roots
    }

    /// Whether `node` overlaps the extent of the world.
    pub(super) fn contains(self, node: NodePos) -> bool {
        self.extent.is_some_and(|extent| extent.at_level(node.level).contains(node.chunk))
    }

    /// Returns the children of `node` that overlap the extent of the world, at most eight.
    pub(super) fn children(self, node: NodePos) -> impl Iterator<Item = NodePos> {
        let inside = self.extent.map(|extent| extent.at_level(node.level.saturating_sub(1)));
        let is_inside =
            move |child: &NodePos| inside.is_some_and(|inside| inside.contains(child.chunk));
        node.children().into_iter().flatten().filter(is_inside)
    }

    /// Returns the nodes above `node`, up to its root.
    pub(super) fn ancestors(self, node: NodePos) -> impl Iterator<Item = NodePos> {
        (node.level + 1..=self.top_level).map(move |level| node.ancestor(level))
    }
}

/// Whether all voxel coordinates of a chunk fit into an `i32`.
pub(super) fn is_representable(chunk: ChunkPos) -> bool {
    let range = -MAX_CHUNK_COORDINATE - 1..=MAX_CHUNK_COORDINATE;
    [chunk.x, chunk.y, chunk.z].iter().all(|c| range.contains(c))
}

/// Clips a box to the chunks whose voxel coordinates fit into an `i32`.
fn clipped(extent: ChunkBox) -> Option<ChunkBox> {
    let clip = |p: ChunkPos| {
        [p.x, p.y, p.z].map(|c| c.clamp(-MAX_CHUNK_COORDINATE - 1, MAX_CHUNK_COORDINATE))
    };
    let ([x, y, z], [to_x, to_y, to_z]) = (clip(extent.min), clip(extent.max));
    let is_beyond =
        |low: i32, high: i32| high < -MAX_CHUNK_COORDINATE - 1 || low > MAX_CHUNK_COORDINATE;
    let ChunkBox { min, max } = extent;
    let is_out = is_beyond(min.x, max.x) || is_beyond(min.y, max.y) || is_beyond(min.z, max.z);
    let clipped = ChunkBox { min: ChunkPos::new(x, y, z), max: ChunkPos::new(to_x, to_y, to_z) };
    (!is_out).then_some(clipped)
}
