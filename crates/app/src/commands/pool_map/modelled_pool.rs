use std::collections::HashMap;

use drystone::scene::{ChunkQuads, quad_count};
use drystone_alloc::SizeClassConfig;
use drystone_mesh::Quad;
use drystone_pool::{
    Access, MeshHandle, MoveBudget, NullBackend, Oversize, Placement, PoolConfig, PoolRange,
    PoolStats, VertexPool,
};
use drystone_render::{DrawData, PATTERN_QUADS, RenderError, capacity_for};
use drystone_voxel::ChunkPos;

use crate::cli::PlacementKind;

/// Frames that the GPU is behind; drivers commonly keep two in flight.
const FRAMES_IN_FLIGHT: u64 = 2;
/// Share of meshes, in percent, that fit in one bucket. Larger ones are split.
const BUCKET_PERCENT: usize = 75;

/// Pool that is filled as in the viewer: reserved memory, mapped buffers, and a GPU some frames
/// behind. Allocates no memory for quads and needs no GPU.
pub(super) struct ModelledPool {
    pool: VertexPool<Quad, DrawData>,
    meshes: HashMap<(ChunkPos, usize), MeshHandle>,
    frame: u64,
}

impl ModelledPool {
    /// Creates an empty pool with reserved capacity for `quads`.
    ///
    /// # Errors
    /// `Pool` if there would be too many buffers.
    pub(super) fn new(
        placement: PlacementKind,
        buffer_kib: u32,
        quads: &[ChunkQuads],
    ) -> Result<Self, RenderError> {
        let buffer_quads = ((u64::from(buffer_kib) << 10) / size_of::<Quad>() as u64) as u32;
        let config = PoolConfig::default()
            .with_max_buffer_elements(buffer_quads)
            .with_max_buffers(u16::MAX)
            .with_placement(placement_of(placement, &sizes(quads), buffer_quads))
            .with_oversize(Oversize::Split)
            .with_pattern_elements(PATTERN_QUADS);
        let mut pool = VertexPool::new(config)?;
        let quads = quad_count(quads);
        pool.reserve(capacity_for(quads), &mut null_backend())?;
        Ok(Self { pool, meshes: HashMap::new(), frame: 0 })
    }

    /// Inserts a chunk's meshes, or replaces those that it had.
    ///
    /// # Errors
    /// `Pool` if it is full.
    pub(super) fn insert(&mut self, chunk: &ChunkQuads, side: u32) -> Result<(), RenderError> {
        let ChunkQuads { position, mesh } = chunk;
        let data = DrawData {
            origin: position.origin(side).to_array(),
            level: 0,
            extent: side,
            sort_rank: 0,
        };
        for (part, quads) in [&mesh.opaque, &mesh.shapes, &mesh.translucent].into_iter().enumerate()
        {
            let key = (*position, part);
            let (quads, counts) = (quads.quads(), quads.counts());
            match (self.meshes.get(&key).copied(), quads.is_empty()) {
                (None, true) => {}
                (None, false) => {
                    let handle = self.pool.insert(quads, &counts, data, &mut null_backend())?;
                    self.meshes.insert(key, handle);
                }
                (Some(old), false) => {
                    self.pool.replace(old, quads, &counts, data, &mut null_backend())?;
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
        self.pool.defragment(&MoveBudget::default(), &mut null_backend());
    }

    /// Submits a frame, and completes an older one.
    pub(super) fn end_frame(&mut self) {
        self.frame += 1;
        self.pool.frame_submitted(self.frame);
        self.pool
            .frames_completed(self.frame.saturating_sub(FRAMES_IN_FLIGHT), &mut null_backend());
    }

    pub(super) fn ranges(&self) -> Vec<PoolRange> {
        self.pool.ranges()
    }

    pub(super) fn stats(&self) -> PoolStats {
        self.pool.stats()
    }

    /// Returns the mesh's slot and its origin in the world.
    pub(super) fn describe(&self, mesh: MeshHandle) -> String {
        let Some(data) = self.pool.data(mesh) else { return "nothing".into() };
        let [x, y, z] = data.origin;
        format!("mesh {} at {x}, {y}, {z}", mesh.slot())
    }
}

/// Returns the allocator settings for meshes of these sizes.
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

/// Returns the quad counts of all meshes, sorted ascending.
fn sizes(quads: &[ChunkQuads]) -> Vec<u32> {
    let lens = quads.iter().flat_map(|ChunkQuads { mesh, .. }| {
        [mesh.opaque.len(), mesh.shapes.len(), mesh.translucent.len()]
    });
    let mut sizes: Vec<u32> = lens.filter(|&len| len > 0).map(|len| len as u32).collect();
    sizes.sort_unstable();
    sizes
}

/// Mapped memory whose contents are dropped.
const fn null_backend() -> NullBackend {
    NullBackend(Access::Direct)
}
