use drystone_formats::SourceError;
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, LocalPos, Material, VoxelBox, VoxelPos};

use super::{Edit, VoxelAccess};
use crate::orientation::Orientation;
use crate::shape::VoxelShape;

#[cfg(test)]
mod tests;

/// Copy of a box of voxels. [`Edit::paste`] places it, turned or mirrored if necessary.
///
/// # Cost
/// Memory: that of the chunks that the box touches, without what lies outside of the box, and without
/// chunks of air. Chunks inside the box share their voxels with the world until either changes.
///
/// # Examples
/// ```
/// use drystone_voxel::{Material, MaterialTable, VoxelBox, VoxelPos};
/// use drystone_world::{Axis, Clipboard, Edit, Orientation, Placement, World};
///
/// let mut world = World::new("a beam", MaterialTable::new());
/// for x in 0..5 {
///     world.set(VoxelPos::new(x, 0, 0), Material(1));
/// }
/// let bounds = VoxelBox { min: VoxelPos::new(0, 0, 0), max: VoxelPos::new(5, 1, 1) };
/// let clipboard = Clipboard::copy(&world, bounds)?;
/// assert_eq!((clipboard.size_voxels(), clipboard.solid_count()), ([5, 1, 1], 5));
///
/// // Upright, with its lowest voxel beside the first one.
/// let orientation = Orientation::default().turned(Axis::Z, 1);
/// let placement = Placement { orientation, ..Placement::new(VoxelPos::new(-1, 0, 0)) };
/// world.apply(&Edit::paste(&world, &clipboard.into(), placement)?);
/// assert_eq!(world.get(VoxelPos::new(-1, 4, 0)), Material(1));
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clipboard {
    /// Box that the voxels were copied from.
    bounds: VoxelBox,
    side: u32,
    /// Sorted by position. `None` for those that could not be read. Chunks of air are left out.
    chunks: Vec<(ChunkPos, Option<Chunk>)>,
    solid_count: u64,
    size_bytes: usize,
}

/// Position and rotation of a placed [`Clipboard`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Lowest voxel of the placed box on each axis.
    pub at: VoxelPos,
    /// Rotation. Default: none.
    pub orientation: Orientation,
    /// Effect of the air in the box. Default: it replaces voxels.
    pub air: PasteAir,
}

/// Effect of the air in a placed [`Clipboard`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PasteAir {
    /// Air replaces voxels.
    #[default]
    Replaces,
    /// Voxels stay where the clipboard has air.
    Skipped,
}

impl Placement {
    /// Creates a placement that keeps the orientation.
    pub fn new(at: VoxelPos) -> Self {
        Self { at, orientation: Orientation::default(), air: PasteAir::default() }
    }

    /// Returns the box that a clipboard of this size covers, clipped to the coordinate range.
    pub fn bounds(&self, size_voxels: [u32; 3]) -> VoxelBox {
        let size = self.orientation.size(size_voxels);
        let at = self.at.to_array();
        let [x, y, z] = std::array::from_fn(|axis| at[axis].saturating_add_unsigned(size[axis]));
        VoxelBox { min: self.at, max: VoxelPos::new(x, y, z) }
    }
}

impl Clipboard {
    /// Maximum number of voxels in a box, with air: a cube of 512 voxels per side.
    pub const MAX_VOXELS: u64 = 128 << 20;

    /// Copies the voxels of a box. [`Copying`] does so chunk by chunk.
    ///
    /// # Cost
    /// One call of [`VoxelAccess::chunk_at`] per chunk, and some nanoseconds per voxel of chunks that are
    /// partly in the box.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] past [`MAX_VOXELS`](Self::MAX_VOXELS) or
    /// [`Edit::MAX_CHUNKS`].
    pub fn copy(voxels: &dyn VoxelAccess, bounds: VoxelBox) -> Result<Self, SourceError> {
        let mut copying = Copying::new(voxels.side(), bounds)?;
        while copying.step(voxels) {}
        Ok(copying.into_clipboard())
    }

    /// Returns the number of voxels along X, Y and Z, before any rotation.
    pub fn size_voxels(&self) -> [u32; 3] {
        self.bounds.size_voxels()
    }

    /// Number of voxels that are not air.
    pub const fn solid_count(&self) -> u64 {
        self.solid_count
    }

    /// Number of chunks that could not be read. Their voxels are not placed.
    pub fn unreadable_count(&self) -> usize {
        self.chunks.iter().filter(|(_, chunk)| chunk.is_none()).count()
    }

    /// Size in memory, in bytes. Voxels that are shared with the world count fully.
    pub const fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Returns the voxel at a position, counted from the lowest corner of the box. `None` outside of the
    /// box, and for voxels that could not be read.
    pub fn get(&self, at: [u32; 3]) -> Option<Material> {
        let size = self.size_voxels();
        let is_inside = (0..3).all(|axis| at[axis] < size[axis]);
        is_inside.then(|| Reader::new(self).get(at))?
    }

    /// Returns a chunk of the copied world; `None` if it is air.
    fn chunk(&self, position: ChunkPos) -> Option<&Option<Chunk>> {
        let found = self.chunks.binary_search_by_key(&position, |&(it, _)| it).ok()?;
        self.chunks.get(found).map(|(_, chunk)| chunk)
    }

    fn push(&mut self, position: ChunkPos, chunk: Option<Chunk>) {
        if chunk.as_ref().is_some_and(Chunk::is_empty) {
            return;
        }
        let voxels = chunk.as_ref();
        self.solid_count += voxels.map_or(0, |chunk| u64::from(chunk.solid_count()));
        self.size_bytes +=
            voxels.map_or(0, Chunk::size_bytes) + size_of::<(ChunkPos, Option<Chunk>)>();
        self.chunks.push((position, chunk));
    }
}

/// Copies a box of voxels chunk by chunk. [`Clipboard::copy`] does so in one call.
#[derive(Clone, Debug)]
pub struct Copying {
    clipboard: Clipboard,
    /// Chunks that the box touches; `None` if it is empty.
    all: Option<ChunkBox>,
    /// Number of chunks that were processed.
    done_count: u64,
}

impl Copying {
    /// Starts with no chunk processed. `side` is the side of the chunks in voxels.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] past [`Clipboard::MAX_VOXELS`] or [`Edit::MAX_CHUNKS`].
    pub fn new(side: u32, bounds: VoxelBox) -> Result<Self, SourceError> {
        let shape = VoxelShape::Box(bounds);
        let all = shape.chunks(side);
        let empty = VoxelBox { min: bounds.min, max: bounds.min };
        let bounds = shape.bounds().unwrap_or(empty);
        let volume = bounds.size_voxels().map(u64::from).into_iter().fold(1, u64::saturating_mul);
        let clipboard =
            Clipboard { bounds, side, chunks: Vec::new(), solid_count: 0, size_bytes: 0 };
        let copying = Self { clipboard, all, done_count: 0 };
        let limits = [
            (volume, Clipboard::MAX_VOXELS, "voxels"),
            (copying.chunk_count(), Edit::MAX_CHUNKS, "chunks"),
        ];
        for (found, limit, unit) in limits {
            if found > limit {
                let (what, advice) = ("a copy".into(), "select a smaller box");
                return Err(SourceError::TooLarge { what, found, limit, unit, advice });
            }
        }
        Ok(copying)
    }

    /// Number of chunks to process in total.
    pub fn chunk_count(&self) -> u64 {
        let sides = self.all.map_or([0; 3], |all| all.size_chunks());
        sides.into_iter().fold(1, u64::saturating_mul)
    }

    /// Processes the next chunk. Returns false if there is none.
    pub fn step(&mut self, voxels: &dyn VoxelAccess) -> bool {
        let Some(position) = self.next_chunk() else { return false };
        self.done_count += 1;
        let side = self.clipboard.side;
        let chunk = voxels.chunk_at(position).filter(|chunk| chunk.side() == side);
        let chunk = chunk.map(|chunk| within(chunk, position, self.clipboard.bounds));
        self.clipboard.push(position, chunk);
        true
    }

    /// Size of the voxels copied so far, in bytes.
    pub const fn size_bytes(&self) -> usize {
        self.clipboard.size_bytes
    }

    /// Returns the fraction of the chunks that were processed, 0 to 1.
    pub fn fraction(&self) -> f32 {
        self.done_count as f32 / self.chunk_count().max(1) as f32
    }

    /// Returns the voxels copied so far.
    pub fn into_clipboard(mut self) -> Clipboard {
        self.clipboard.chunks.shrink_to_fit();
        self.clipboard
    }

    /// Returns the next chunk, sorted by position.
    fn next_chunk(&self) -> Option<ChunkPos> {
        let all = self.all.filter(|_| self.done_count < self.chunk_count())?;
        let [_, y, z] = all.size_chunks();
        let steps = [self.done_count / (y * z), self.done_count / z % y, self.done_count % z];
        all.min.offset(steps.map(|by| by as i32))
    }
}

/// Returns a chunk with air outside of a box.
fn within(mut chunk: Chunk, position: ChunkPos, bounds: VoxelBox) -> Chunk {
    let side = chunk.side();
    if chunk.is_empty() || VoxelShape::Box(bounds).covers_chunk(position, side) {
        return chunk;
    }
    let origin = position.origin(side).to_array();
    for axis in 0..3 {
        let local = |end: VoxelPos| {
            let local = i64::from(end.to_array()[axis]) - i64::from(origin[axis]);
            local.clamp(0, side.into()) as u32
        };
        let [first, end] = [bounds.min, bounds.max].map(local);
        for (start, count) in [(0, first), (end, side - end)] {
            let (mut low, mut size) = ([0; 3], [side; 3]);
            (low[axis], size[axis]) = (start as u8, count);
            chunk.fill_box(LocalPos::new(low[0], low[1], low[2]), size, Material::AIR);
        }
    }
    chunk.compact();
    chunk
}

/// Reads voxels of a clipboard, and keeps the last chunk.
pub(super) struct Reader<'a> {
    clipboard: &'a Clipboard,
    /// `None` for a chunk of air, `Some(None)` for one that could not be read.
    last: Option<(ChunkPos, Option<&'a Option<Chunk>>)>,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(clipboard: &'a Clipboard) -> Self {
        Self { clipboard, last: None }
    }

    /// Returns the voxel at a position inside the box, counted from its lowest corner. `None` if it could
    /// not be read.
    pub(super) fn get(&mut self, at: [u32; 3]) -> Option<Material> {
        let min = self.clipboard.bounds.min.to_array();
        let [x, y, z] = std::array::from_fn(|axis| min[axis].saturating_add_unsigned(at[axis]));
        let (position, local) = VoxelPos::new(x, y, z).split(self.clipboard.side);
        let chunk = match self.last {
            Some((last, chunk)) if last == position => chunk,
            _ => self.last.insert((position, self.clipboard.chunk(position))).1,
        };
        match chunk {
            None => Some(Material::AIR),
            Some(chunk) => chunk.as_ref().map(|chunk| chunk.get(local)),
        }
    }
}
