use drystone_formats::SourceError;
use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, VoxelBox, VoxelPos};

/// A set of changed voxels, each with its material before and after.
///
/// # Cost
/// 12 bytes per run of voxels that have one material before and one after. Runs go along X, then Y,
/// then Z within a chunk.
///
/// # Examples
/// ```
/// use drystone_voxel::{Material, MaterialTable, VoxelPos};
/// use drystone_world::{Edit, VoxelShape, World};
///
/// let mut world = World::new("a ball", MaterialTable::new());
/// let center = VoxelPos::new(0, 0, 0);
/// let ball = VoxelShape::Sphere { center, radius_voxels: 4 };
/// let edit = Edit::fill(&world, &ball, Material(1))?;
/// world.apply(&edit);
/// assert_eq!((world.get(center), world.solid_count()), (Material(1), edit.voxel_count()));
/// world.apply(&edit.inverse());
/// assert!(world.is_empty());
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    pub(super) side: u32,
    /// Sorted by position.
    pub(super) chunks: Vec<ChunkEdit>,
}

/// Extent of an edit and the material that it sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditSummary {
    /// Number of changed voxels.
    pub voxel_count: u64,
    /// Material that all changed voxels get; `None` for no voxels or several materials.
    pub material: Option<Material>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChunkEdit {
    pub(super) position: ChunkPos,
    pub(super) runs: Vec<Run>,
}

/// Consecutive voxels with the same change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    start: u32,
    len: u32,
    before: Material,
    after: Material,
}

/// Row of voxels along X that a change modifies.
pub(super) struct Row<'a> {
    pub(super) start: VoxelPos,
    pub(super) voxels: &'a mut [Material],
}

impl Edit {
    /// Maximum number of chunks in an edit. A cube of 512 voxels per side (128 Mi voxels) touches
    /// as many.
    pub const MAX_CHUNKS: u64 = 4_096;
    /// Maximum number of runs in an edit. They take 48 MiB.
    pub const MAX_RUNS: u64 = 4 << 20;

    /// Returns the side of the edited chunks, in voxels.
    pub const fn side(&self) -> u32 {
        self.side
    }

    /// Number of chunks with changed voxels.
    pub const fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Whether no voxel changes.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Number of changed voxels.
    pub fn voxel_count(&self) -> u64 {
        self.runs().map(|(_, run)| u64::from(run.len)).sum()
    }

    /// Summarises the edit for a list of edits.
    ///
    /// # Cost
    /// O(runs).
    pub fn summary(&self) -> EditSummary {
        let mut runs = self.runs().map(|(_, run)| run);
        let Some(first) = runs.next() else { return EditSummary::default() };
        let start = (u64::from(first.len), Some(first.after));
        let (voxel_count, material) = runs.fold(start, |(count, material), run| {
            (count + u64::from(run.len), material.filter(|it| *it == run.after))
        });
        EditSummary { voxel_count, material }
    }

    /// Size in memory, in bytes.
    pub fn size_bytes(&self) -> usize {
        let runs: usize = self.chunks.iter().map(|chunk| chunk.runs.len()).sum();
        size_of::<Self>() + self.chunks.len() * size_of::<ChunkEdit>() + runs * size_of::<Run>()
    }

    /// Returns each changed chunk once, with the bounding box of its changed voxels.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = (ChunkPos, VoxelBox)> {
        self.chunks.iter().map(|chunk| (chunk.position, self.bounds(chunk)))
    }

    /// Returns the position of each changed chunk once.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = ChunkPos> {
        self.chunks.iter().map(|chunk| chunk.position)
    }

    /// Returns every changed voxel with its new material.
    pub fn voxels(&self) -> impl Iterator<Item = (VoxelPos, Material)> {
        self.runs().flat_map(move |(position, run)| {
            let origin = position.origin(self.side).to_array();
            (run.start..run.start + run.len).map(move |index| {
                let local = local(index, self.side);
                let [x, y, z] = [local.x, local.y, local.z].map(i32::from);
                (VoxelPos::new(origin[0] + x, origin[1] + y, origin[2] + z), run.after)
            })
        })
    }

    /// Returns the edit that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut inverse = self.clone();
        for run in inverse.chunks.iter_mut().flat_map(|chunk| &mut chunk.runs) {
            std::mem::swap(&mut run.before, &mut run.after);
        }
        inverse
    }

    /// Applies the change of the `n`-th chunk to its unpacked `voxels`, in X, Y, Z order. Calls
    /// `report` for each voxel that changed.
    pub(crate) fn apply_to_voxels(
        &self,
        n: usize,
        voxels: &mut [Material],
        mut report: impl FnMut(LocalPos),
    ) {
        for run in self.chunks.get(n).into_iter().flat_map(|it| &it.runs) {
            let (first, end) = (run.start as usize, (run.start + run.len) as usize);
            for (index, voxel) in
                (run.start..).zip(voxels.get_mut(first..end).into_iter().flatten())
            {
                if std::mem::replace(voxel, run.after) != run.after {
                    report(local(index, self.side));
                }
            }
        }
    }

    /// Returns the changed voxels of the `n`-th chunk with their new materials.
    pub(crate) fn chunk_voxels(&self, n: usize) -> impl Iterator<Item = (LocalPos, Material)> {
        let runs = self.chunks.get(n).into_iter().flat_map(|it| &it.runs);
        runs.flat_map(|run| {
            let all = run.start..run.start + run.len;
            all.map(|index| (local(index, self.side), run.after))
        })
    }

    /// Number of changed voxels in the `n`-th chunk.
    pub(crate) fn chunk_voxel_count(&self, n: usize) -> u64 {
        let runs = self.chunks.get(n).into_iter().flat_map(|it| &it.runs);
        runs.map(|run| u64::from(run.len)).sum()
    }

    /// Applies the change at `position` to `chunk`. Does nothing if the chunk has another side.
    pub fn apply_to(&self, position: ChunkPos, chunk: &mut Chunk) {
        let found = self.chunks.binary_search_by_key(&position, |it| it.position);
        if let Some(edit) = found.ok().and_then(|index| self.chunks.get(index))
            && chunk.side() == self.side
        {
            edit.apply_to(chunk);
        }
    }

    fn runs(&self) -> impl Iterator<Item = (ChunkPos, Run)> {
        self.chunks.iter().flat_map(|it| it.runs.iter().map(|&run| (it.position, run)))
    }

    fn bounds(&self, chunk: &ChunkEdit) -> VoxelBox {
        let origin = chunk.position.origin(self.side).to_array();
        let at = |index: u32| {
            let local = local(index, self.side);
            let [x, y, z] = [local.x, local.y, local.z].map(i32::from);
            VoxelBox::of(VoxelPos::new(origin[0] + x, origin[1] + y, origin[2] + z))
        };
        let side = self.side;
        let boxes = chunk.runs.iter().map(|run| {
            let last = run.start + run.len - 1;
            let mut both = at(run.start).union(at(last));
            // A run over several rows or layers reaches both ends of these.
            if run.start / side != last / side {
                both = both
                    .union(at(run.start / side * side))
                    .union(at(last / side * side + side - 1));
            }
            let layer = side * side;
            if run.start / layer != last / layer {
                let start = run.start / layer * layer;
                both = both.union(at(start)).union(at(start + layer - 1));
            }
            both
        });
        boxes.reduce(VoxelBox::union).unwrap_or(at(0))
    }
}

pub(super) fn too_large(found: u64, limit: u64, unit: &'static str) -> SourceError {
    let (what, advice) = ("an edit".into(), "edit a smaller part at a time");
    SourceError::TooLarge { what, found, limit, unit, advice }
}

impl ChunkEdit {
    /// Returns the change of all voxels of a chunk from one material to another.
    pub(super) fn of_whole(position: ChunkPos, side: u32, [before, after]: [Material; 2]) -> Self {
        Self { position, runs: vec![Run { start: 0, len: side.pow(3), before, after }] }
    }

    /// Returns the change of a chunk whose rows `change` modifies, or `None` if nothing changes. `change`
    /// returns whether it may have changed the row.
    pub(super) fn of_rows(
        position: ChunkPos,
        before: &Chunk,
        change: &mut dyn FnMut(&mut Row<'_>) -> bool,
    ) -> Option<Self> {
        let (side, origin) = (before.side(), position.origin(before.side()));
        let mut runs: Vec<Run> = Vec::new();
        let mut changed = [Material::AIR; Chunk::MAX_SIDE as usize];
        before.for_each_row(|y, z, row| {
            let Some(voxels) = changed.get_mut(..row.len()) else { return };
            voxels.copy_from_slice(row);
            let start = VoxelPos::new(origin.x, origin.y + y as i32, origin.z + z as i32);
            if !change(&mut Row { start, voxels }) {
                return;
            }
            let first = side * (y + side * z);
            let pairs = row.iter().zip(voxels.iter());
            for (index, (&before, &after)) in (first..).zip(pairs).filter(|(_, it)| it.0 != it.1) {
                match runs.last_mut() {
                    Some(run)
                        if (run.start + run.len, run.before, run.after)
                            == (index, before, after) =>
                    {
                        run.len += 1;
                    }
                    _ => runs.push(Run { start: index, len: 1, before, after }),
                }
            }
        });
        runs.shrink_to_fit();
        (!runs.is_empty()).then_some(Self { position, runs })
    }

    fn apply_to(&self, chunk: &mut Chunk) {
        let side = chunk.side();
        for run in &self.runs {
            let (mut index, end) = (run.start, run.start + run.len);
            while index < end {
                // Up to the end of the row.
                let len = (side - index % side).min(end - index);
                chunk.fill_box(local(index, side), [len, 1, 1], run.after);
                index += len;
            }
        }
    }
}

/// Returns the position of the voxel with this index in a chunk.
const fn local(index: u32, side: u32) -> LocalPos {
    let (x, y, z) = (index % side, index / side % side, index / side / side);
    LocalPos::new(x as u8, y as u8, z as u8)
}
