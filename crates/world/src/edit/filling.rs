use std::sync::Arc;

use drystone_formats::SourceError;
use drystone_voxel::{ChunkBox, ChunkPos, Material};

use super::VoxelAccess;
use super::change::{Edit, too_large};
use super::clipboard::{Clipboard, Placement};
use super::operation::Operation;
use crate::shape::VoxelShape;

/// Computes an [`Edit`] chunk by chunk: one that fills shapes, replaces a material or pastes copied
/// voxels. [`Edit::fill`], [`Edit::replace`] and [`Edit::paste`] do so in one call.
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
    operation: Operation,
    /// Boxes of chunks that it may change.
    boxes: Vec<ChunkBox>,
    /// Number of chunks that were processed, box by box.
    done_count: u64,
    edit: Edit,
    run_count: u64,
}

impl Filling {
    /// Starts to set all voxels of `shape` to `material`. `side` is the side of the chunks in voxels.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] past [`Edit::MAX_CHUNKS`].
    pub fn new(side: u32, shape: &VoxelShape, material: Material) -> Result<Self, SourceError> {
        Self::of_shapes(side, &[*shape], material)
    }

    /// Starts to set all voxels of several shapes, which may overlap.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] if the shapes touch more than [`Edit::MAX_CHUNKS`], each counted alone.
    pub fn of_shapes(
        side: u32,
        shapes: &[VoxelShape],
        material: Material,
    ) -> Result<Self, SourceError> {
        Self::of(side, Operation::Fill { shapes: shapes.to_vec(), material })
    }

    /// Starts to set the voxels of a shape that have the material `from` to `to`.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new).
    pub fn replacing(
        side: u32,
        shape: &VoxelShape,
        [from, to]: [Material; 2],
    ) -> Result<Self, SourceError> {
        Self::of(side, Operation::Replace { shape: *shape, from, to })
    }

    /// Starts to place copied voxels.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new).
    pub fn pasting(
        side: u32,
        clipboard: &Arc<Clipboard>,
        placement: Placement,
    ) -> Result<Self, SourceError> {
        Self::of(side, Operation::Paste { clipboard: Arc::clone(clipboard), placement })
    }

    fn of(side: u32, operation: Operation) -> Result<Self, SourceError> {
        let (boxes, edit) = (operation.chunks(side), Edit { side, chunks: Vec::new() });
        let filling = Self { operation, boxes, done_count: 0, edit, run_count: 0 };
        match filling.chunk_count() {
            count if count > Edit::MAX_CHUNKS => Err(too_large(count, Edit::MAX_CHUNKS, "chunks")),
            _ => Ok(filling),
        }
    }

    /// Number of chunks to process in total. Those of several shapes count for each.
    pub fn chunk_count(&self) -> u64 {
        self.boxes.iter().map(count).fold(0, u64::saturating_add)
    }

    /// Processes the next chunk. Returns false if there is none.
    ///
    /// # Cost
    /// One call of [`VoxelAccess::chunk_at`], and O(voxels of the chunk), about 1 ns each, or 20 ns to
    /// paste. A chunk of one material inside the shape takes constant time.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] past [`Edit::MAX_RUNS`].
    pub fn step(&mut self, voxels: &dyn VoxelAccess) -> Result<bool, SourceError> {
        let Some(position) = self.next_chunk() else { return Ok(false) };
        self.done_count += 1;
        let Err(place) = self.edit.chunks.binary_search_by_key(&position, |it| it.position) else {
            return Ok(true);
        };
        let Some(before) = voxels.chunk_at(position) else { return Ok(true) };
        if before.side() != self.edit.side {
            return Ok(true);
        }
        if let Some(change) = self.operation.change(position, &before) {
            self.run_count += change.runs.len() as u64;
            if self.run_count > Edit::MAX_RUNS {
                return Err(too_large(self.run_count, Edit::MAX_RUNS, "runs of voxels"));
            }
            self.edit.chunks.insert(place, change);
        }
        Ok(true)
    }

    /// Returns the fraction of the chunks that were processed, 0 to 1.
    pub fn fraction(&self) -> f32 {
        self.done_count as f32 / self.chunk_count().max(1) as f32
    }

    /// Returns the next chunk, in the order of positions within a box.
    fn next_chunk(&self) -> Option<ChunkPos> {
        let mut left = self.done_count;
        let all = self.boxes.iter().find(|all| {
            let is_in_it = left < count(all);
            left -= if is_in_it { 0 } else { count(all) };
            is_in_it
        })?;
        let [_, y, z] = all.size_chunks();
        let steps = [left / (y * z), left / z % y, left % z];
        all.min.offset(steps.map(|by| by as i32))
    }

    fn finish(mut self, voxels: &dyn VoxelAccess) -> Result<Edit, SourceError> {
        while self.step(voxels)? {}
        Ok(self.into_edit())
    }

    /// Returns the edit of the chunks processed so far.
    pub fn into_edit(mut self) -> Edit {
        self.edit.chunks.shrink_to_fit();
        self.edit
    }
}

/// Number of chunks in a box.
fn count(all: &ChunkBox) -> u64 {
    all.size_chunks().into_iter().fold(1, u64::saturating_mul)
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
        Filling::new(voxels.side(), shape, material)?.finish(voxels)
    }

    /// Creates the edit that sets the voxels of `shape` that have one material to another.
    ///
    /// # Cost
    /// That of [`fill`](Self::fill).
    ///
    /// # Errors
    /// Errors of [`fill`](Self::fill).
    pub fn replace(
        voxels: &dyn VoxelAccess,
        shape: &VoxelShape,
        materials: [Material; 2],
    ) -> Result<Self, SourceError> {
        Filling::replacing(voxels.side(), shape, materials)?.finish(voxels)
    }

    /// Creates the edit that places copied voxels. Voxels that could not be copied or cannot be set are
    /// omitted.
    ///
    /// # Cost
    /// O(voxels of the box and rows of its chunks), about 20 ns each.
    ///
    /// # Errors
    /// Errors of [`fill`](Self::fill).
    pub fn paste(
        voxels: &dyn VoxelAccess,
        clipboard: &Arc<Clipboard>,
        placement: Placement,
    ) -> Result<Self, SourceError> {
        Filling::pasting(voxels.side(), clipboard, placement)?.finish(voxels)
    }
}
