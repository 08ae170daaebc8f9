use drystone_voxel::{ChunkPos, Material};

use super::Voxels;
use super::change::{ChunkEdit, Edit, too_large};
use crate::{ChunkBox, VoxelShape, WorldError};

/// Finds out what changes where all voxels of a shape become one material, a chunk at a time:
/// [`Edit::fill`] for those who have other things to do meanwhile.
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
/// # Ok::<(), drystone_world::WorldError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filling {
    shape: VoxelShape,
    material: Material,
    /// The chunks that the shape may touch; `None` where it has no voxels.
    all: Option<ChunkBox>,
    /// How many of these were looked at.
    done_count: u64,
    edit: Edit,
    run_count: u64,
}

impl Filling {
    /// Knows nothing yet; `side` is that of the chunks that will be looked at.
    ///
    /// # Errors
    /// [`WorldError::TooLarge`] past [`Edit::MAX_CHUNKS`].
    pub fn new(side: u32, shape: &VoxelShape, material: Material) -> Result<Self, WorldError> {
        let (all, edit) = (shape.chunks(side), Edit { side, chunks: Vec::new() });
        let filling = Self { shape: *shape, material, all, done_count: 0, edit, run_count: 0 };
        match filling.chunk_count() {
            count if count > Edit::MAX_CHUNKS => Err(too_large(count, Edit::MAX_CHUNKS, "chunks")),
            _ => Ok(filling),
        }
    }

    /// How many chunks there are to be looked at in all.
    pub fn chunk_count(&self) -> u64 {
        let sides = self.all.map_or([0; 3], |all| all.size_chunks());
        sides.into_iter().fold(1, u64::saturating_mul)
    }

    /// Looks at one chunk more; whether there was one.
    ///
    /// # Cost
    /// That of [`Voxels::chunk_at`], and O(voxels of the chunk), about a nanosecond each; for a
    /// chunk of one material that lies within the shape no more than a look.
    ///
    /// # Errors
    /// [`WorldError::TooLarge`] past [`Edit::MAX_RUNS`].
    pub fn step(&mut self, voxels: &dyn Voxels) -> Result<bool, WorldError> {
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

    /// What changes in the chunks that were looked at.
    pub fn into_edit(mut self) -> Edit {
        self.edit.chunks.shrink_to_fit();
        self.edit
    }

    /// In the order of positions.
    fn next_chunk(&self) -> Option<ChunkPos> {
        let all = self.all.filter(|_| self.done_count < self.chunk_count())?;
        let [_, y, z] = all.size_chunks();
        let steps = [self.done_count / (y * z), self.done_count / z % y, self.done_count % z];
        Some(all.min.offset(steps.map(|by| by as i32)))?
    }
}
