//! A pool of meshes of chunks, with sizes as in real worlds, which are replaced again and again.

use drystone_pool::{Access, MeshHandle, NullBackend, PoolConfig, PoolError, VertexPool};

use crate::{
    Random,
    turnover::{Turnover, random_size},
};

/// Face directions of a chunk's mesh.
const PARTS: usize = 6;
/// Bounds of the quads of a mesh.
const QUADS: std::ops::RangeInclusive<u32> = 30..=MAX_QUADS;
/// Largest number of quads of a mesh.
pub(super) const MAX_QUADS: u32 = 4_000;
/// Frames by which the GPU is behind.
pub(super) const FRAMES_IN_FLIGHT: u64 = 2;
/// Used share of a space of ranges, and of one of size classes, which has unused bytes in each
/// bucket and slabs of every class.
pub(super) const RANGES_PERCENT: u64 = 85;
pub(super) const CLASSES_PERCENT: u64 = 60;

/// A mesh: its total number of quads, and the number for each face direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) quads: u32,
    parts: [u32; PARTS],
}

impl Shape {
    pub(super) fn random(random: &mut Random) -> Self {
        let quads = random_size(random, &QUADS);
        let mut parts = [quads / PARTS as u32; PARTS];
        parts[random.below(PARTS)] += quads % PARTS as u32;
        Self { quads, parts }
    }
}

/// Returns sizes with their expected frequency, for size classes.
pub(super) fn histogram(random: &mut Random) -> Vec<(u32, u64)> {
    /// Number of random sizes: enough that every class has some.
    const SAMPLES: usize = 4_096;
    let mut sizes: Vec<u32> = (0..SAMPLES).map(|_| Shape::random(random).quads).collect();
    sizes.sort_unstable();
    sizes.chunk_by(PartialEq::eq).map(|equal| (equal[0], equal.len() as u64)).collect()
}

/// Meshes, and their replacements.
pub(super) type Meshes = Turnover<Shape>;

impl Meshes {
    /// Creates `count` meshes. The same seed gives the same meshes.
    pub(super) fn random(count: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let live = (0..count).map(|_| Shape::random(&mut random)).collect();
        Self::new(live, random, Shape::random)
    }

    /// Returns the number of quads of all live meshes.
    pub(super) fn quads(&self) -> u64 {
        self.live.iter().map(|shape| u64::from(shape.quads)).sum()
    }
}

/// Draw data that is made of a mesh's number of quads.
pub(super) trait MeshData: bytemuck::Pod + PartialEq {
    fn of(quads: u32) -> Self;
}

/// Identifies the mesh.
impl MeshData for [u32; 4] {
    #[inline]
    fn of(quads: u32) -> Self {
        [quads, 1, 2, 3]
    }
}

/// Means nothing.
impl MeshData for u32 {
    #[inline]
    fn of(_: u32) -> Self {
        0
    }
}

/// A pool with meshes and simulated frames.
pub(super) struct SteadyPool<D> {
    pub(super) pool: VertexPool<u64, D>,
    pub(super) backend: NullBackend,
    pub(super) meshes: Meshes,
    pub(super) handles: Vec<MeshHandle>,
    elements: Vec<u64>,
    frame: u64,
}

impl<D: MeshData> SteadyPool<D> {
    /// Inserts all meshes into a new pool.
    pub(super) fn new(
        config: PoolConfig,
        access: Access,
        meshes: Meshes,
    ) -> Result<Self, PoolError> {
        let mut steady = Self {
            pool: VertexPool::new(config)?,
            backend: NullBackend(access),
            handles: Vec::with_capacity(meshes.live.len()),
            meshes,
            elements: vec![0; MAX_QUADS as usize],
            frame: 0,
        };
        for index in 0..steady.meshes.live.len() {
            let shape = steady.meshes.live[index];
            let handle = steady.insert(&shape)?;
            steady.handles.push(handle);
        }
        Ok(steady)
    }

    #[inline]
    pub(super) fn insert(&mut self, shape: &Shape) -> Result<MeshHandle, PoolError> {
        let elements = &self.elements[..shape.quads as usize];
        self.pool.insert(elements, &shape.parts, D::of(shape.quads), &mut self.backend)
    }

    /// Removes a mesh and inserts another, as turn `turn` of the plan.
    #[inline]
    pub(super) fn remove_and_insert(&mut self, turn: usize) -> Result<(), PoolError> {
        let Self { pool, backend, meshes, handles, elements, .. } = self;
        let (at, shape) = &meshes.plan[turn];
        let handle = &mut handles[*at as usize];
        pool.remove(*handle)?;
        let elements = &elements[..shape.quads as usize];
        *handle = pool.insert(elements, &shape.parts, D::of(shape.quads), backend)?;
        Ok(())
    }

    /// Replaces the mesh that the plan names for turn `turn`.
    #[inline]
    pub(super) fn replace(&mut self, turn: usize) -> Result<(), PoolError> {
        let Self { pool, backend, meshes, handles, elements, .. } = self;
        let (at, shape) = &meshes.plan[turn];
        let elements = &elements[..shape.quads as usize];
        let data = D::of(shape.quads);
        pool.replace(handles[*at as usize], elements, &shape.parts, data, backend)
    }

    pub(super) fn end_frame(&mut self) {
        self.frame += 1;
        self.pool.frame_submitted(self.frame);
        let completed = self.frame.saturating_sub(FRAMES_IN_FLIGHT);
        self.pool.frames_completed(completed, &mut self.backend);
    }

    /// Checks the pool, and that it contains exactly the expected meshes.
    pub(super) fn check(&self) -> Result<(), String> {
        self.pool.validate()?;
        let used = self.pool.stats().used;
        if used != self.meshes.quads() || self.pool.len() as usize != self.handles.len() {
            return Err(format!("{used} quads in {} meshes", self.pool.len()));
        }
        let mut meshes = self.handles.iter().zip(&self.meshes.live);
        let is_right = |(&mesh, shape): (&MeshHandle, &Shape)| {
            self.pool.data(mesh) == Some(&D::of(shape.quads))
        };
        match meshes.all(is_right) {
            true => Ok(()),
            false => Err("a mesh has the data of another mesh".into()),
        }
    }
}
