use std::collections::HashMap;

use drystone::scene::{ChunkQuads, quad_count};
use drystone_alloc::SizeClassConfig;
use drystone_mesh::Quad;
use drystone_pool::{
    Access, Config, MeshHandle, MoveBudget, NullBackend, Oversize, Placement, PoolRange, PoolStats,
    VertexPool,
};
use drystone_render::{DrawData, Layer, PATTERN_QUADS, RenderError, capacity_for};
use drystone_voxel::ChunkPos;

use crate::cli::PlacementKind;

/// Frames that a GPU is behind: as many as drivers commonly keep in flight.
const FRAMES_IN_FLIGHT: u64 = 2;
/// Of all meshes, the part that a bucket is large enough for, in percent. The others are
/// split.
const BUCKET_PERCENT: usize = 75;

/// A pool filled as the viewer fills its own: room for a little more, mapped memory, and
/// a GPU that is some frames behind. It needs neither memory for quads nor a GPU.
pub(super) struct KeptPool {
    pool: VertexPool<Quad, DrawData>,
    meshes: HashMap<(ChunkPos, Layer), MeshHandle>,
    frame: u64,
}

impl KeptPool {
    /// An empty pool with room for `quads`.
    ///
    /// # Errors
    /// `Pool` when there would be too many buffers.
    pub(super) fn new(
        placement: PlacementKind,
        buffer_kib: u32,
        quads: &[ChunkQuads],
    ) -> Result<Self, RenderError> {
        let buffer_quads = ((u64::from(buffer_kib) << 10) / size_of::<Quad>() as u64) as u32;
        let config = Config {
            max_buffer_elements: buffer_quads,
            max_buffers: u16::MAX,
            placement: placement_of(placement, &sizes(quads), buffer_quads),
            oversize: Oversize::Split,
            pattern_elements: PATTERN_QUADS,
            ..Config::default()
        };
        let mut pool = VertexPool::new(config)?;
        let quads = quad_count(quads);
        pool.reserve(capacity_for(quads), &mut unseen())?;
        Ok(Self { pool, meshes: HashMap::new(), frame: 0 })
    }

    /// Takes in a chunk's meshes, in the place of those that it had.
    ///
    /// # Errors
    /// `Pool` when it is full.
    pub(super) fn keep(&mut self, chunk: &ChunkQuads, side: u32) -> Result<(), RenderError> {
        let ChunkQuads { position, mesh } = chunk;
        let data = DrawData { origin: position.origin(side).to_array(), level: 0, extent: side };
        for (layer, quads) in [(Layer::Opaque, &mesh.opaque), (Layer::Blended, &mesh.translucent)] {
            let key = (*position, layer);
            let (quads, counts) = (quads.quads(), quads.counts());
            match (self.meshes.get(&key).copied(), quads.is_empty()) {
                (None, true) => {}
                (None, false) => {
                    let handle = self.pool.insert(quads, &counts, data, &mut unseen())?;
                    self.meshes.insert(key, handle);
                }
                (Some(old), false) => {
                    self.pool.replace(old, quads, &counts, data, &mut unseen())?;
                }
                (Some(old), true) => {
                    self.pool.remove(old)?;
                    self.meshes.remove(&key);
                }
            }
        }
        Ok(())
    }

    /// Moves some meshes together.
    pub(super) fn defragment(&mut self) {
        self.pool.defragment(&MoveBudget::default(), &mut unseen());
    }

    /// A frame is submitted, and an older one is done.
    pub(super) fn end_frame(&mut self) {
        self.frame += 1;
        self.pool.frame_submitted(self.frame);
        self.pool.frames_completed(self.frame.saturating_sub(FRAMES_IN_FLIGHT), &mut unseen());
    }

    pub(super) fn places(&self) -> Vec<PoolRange> {
        self.pool.ranges()
    }

    pub(super) fn stats(&self) -> PoolStats {
        self.pool.stats()
    }

    /// Where a mesh stands in the world.
    pub(super) fn describe(&self, mesh: MeshHandle) -> String {
        let Some(data) = self.pool.data(mesh) else { return "nothing".into() };
        let [x, y, z] = data.origin;
        format!("mesh {} at {x}, {y}, {z}", mesh.slot())
    }
}

/// How places are handed out for meshes of these sizes.
fn placement_of(kind: PlacementKind, sizes: &[u32], buffer_quads: u32) -> Placement {
    match kind {
        PlacementKind::Ranges => Placement::Ranges,
        PlacementKind::Classes => {
            let histogram = sizes.chunk_by(PartialEq::eq);
            let histogram = histogram.map(|equal| (equal[0], equal.len() as u64)).collect();
            Placement::SizeClasses { histogram, config: SizeClassConfig::default() }
        }
        PlacementKind::Buckets => {
            let size = sizes.get(sizes.len() * BUCKET_PERCENT / 100).copied();
            Placement::Buckets { elements: size.unwrap_or(1).min(buffer_quads) }
        }
    }
}

/// Quads of every mesh that there is, smallest first.
fn sizes(quads: &[ChunkQuads]) -> Vec<u32> {
    let lens =
        quads.iter().flat_map(|chunk| [chunk.mesh.opaque.len(), chunk.mesh.translucent.len()]);
    let mut sizes: Vec<u32> = lens.filter(|&len| len > 0).map(|len| len as u32).collect();
    sizes.sort_unstable();
    sizes
}

/// Mapped memory that nobody looks into.
const fn unseen() -> NullBackend {
    NullBackend(Access::Direct)
}
