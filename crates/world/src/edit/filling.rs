use drystone_formats::SourceError;
use drystone_voxel::{ChunkBox, ChunkPos, Material};

use super::VoxelAccess;
use super::change::{ChunkEdit, Edit, too_large};
use crate::shape::VoxelShape;

/// Computes the [`Edit`] that fills a shape with one material, chunk by chunk. [`Edit::fill`] does
/// so in one call.
///
/// # Examples
/// ```
/// use drystone_voxel::{Material, MaterialTable, VoxelPos};
/// use drystone_world::{Edit, Filling, VoxelShape, World};
///
/// let world = World::new("empty", MaterialTable::new());
/// let ball = VoxelShape::Sphere { center: VoxelPos::new(0, 0, 0), radius_voxels: 40 };
/// let mut filling = Filling::new(world.side(), &ball, Material(1))?;
/// while filling.step(&world)? {
///     // Draw a frame.
/// }
/// assert_eq!(filling.into_edit(), Edit::fill(&world, &ball, Material(1))?);
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filling {
    shape: VoxelShape,
    material: Material,
    /// Chunks that the shape may touch. `None` if it has no voxels.
    all: Option<ChunkBox>,
    /// Number of chunks that were processed.
    done_count: u64,
    edit: Edit,
    run_count: u64,
}

impl Filling {
    /// Starts with no chunk processed. `side` is the side of the chunks in voxels.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] past [`Edit::MAX_CHUNKS`].
    pub fn new(side: u32, shape: &VoxelShape, material: Material) -> Result<Self, SourceError> {
        let (all, edit) = (shape.chunks(side), Edit { side, chunks: Vec::new() });
        let filling = Self { shape: *shape, material, all, done_count: 0, edit, run_count: 0 };
        match filling.chunk_count() {
            count if count > Edit::MAX_CHUNKS => Err(too_large(count, Edit::MAX_CHUNKS, "chunks")),
            _ => Ok(filling),
        }
    }

    /// Number of chunks to process in total.
    pub fn chunk_count(&self) -> u64 {
        let sides = self.all.map_or([0; 3], |all| all.size_chunks());
        sides.into_iter().fold(1, u64::saturating_mul)
    }

    /// Processes the next chunk. Returns false if there is none.
    ///
    /// # Cost
    /// One call of [`VoxelAccess::chunk_at`], and O(voxels of the chunk), about 1 ns each. A chunk of
    /// one material inside the shape takes constant time.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] past [`Edit::MAX_RUNS`].
    pub fn step(&mut self, voxels: &dyn VoxelAccess) -> Result<bool, SourceError> {
        let Some(position) = self.next_chunk() else { return Ok(false) };
        self.done_count += 1;
        let Some(before) = voxels.chunk_at(position) else { return Ok(true) };
        let change = ChunkEdit::filling(position, &before, &self.shape, self.material);
        if let Some(change) = change.filter(|_| before.side() == self.edit.side) {
            self.run_count += change.runs.len() as u64;
            if self.run_count > Edit::MAX_RUNS {
                return Err(too_large(self.run_count, Edit::MAX_RUNS, "runs of voxels"));
            }
            self.edit.chunks.push(change);
        }
        Ok(true)
    }

    /// Returns the edit of the chunks processed so far.
    pub fn into_edit(mut self) -> Edit {
        self.edit.chunks.shrink_to_fit();
        self.edit
    }

    /// Returns the next chunk, sorted by position.
    fn next_chunk(&self) -> Option<ChunkPos> {
        let all = self.all.filter(|_| self.done_count < self.chunk_count())?;
        let [_, y, z] = all.size_chunks();
        let steps = [self.done_count / (y * z), self.done_count / z % y, self.done_count % z];
        Some(all.min.offset(steps.map(|by| by as i32)))?
    }
}

impl Edit {
    /// Creates the edit that sets all voxels of `shape` to `material`. Voxels that cannot be set
    /// are omitted.
    ///
    /// # Cost
    /// O(voxels of the shape and rows of its chunks), about 1 ns each. A chunk of one material
    /// inside the shape takes constant time.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] past [`MAX_CHUNKS`](Self::MAX_CHUNKS) or
    /// [`MAX_RUNS`](Self::MAX_RUNS).
    pub fn fill(
        voxels: &dyn VoxelAccess,
        shape: &VoxelShape,
        material: Material,
    ) -> Result<Self, SourceError> {
        let mut filling = Filling::new(voxels.side(), shape, material)?;
        while filling.step(voxels)? {}
        Ok(filling.into_edit())
    }
}
