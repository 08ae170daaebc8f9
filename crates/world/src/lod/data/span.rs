use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{Chunk, LocalPos, Material, MaterialTable, VoxelPos};

/// A box of voxels in a chunk, from `low` to `high` inclusive. It can be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lod) struct Span {
    pub(in crate::lod) low: [u8; 3],
    pub(in crate::lod) high: [u8; 3],
}

impl Span {
    pub(super) const EMPTY: Self = Self { low: [u8::MAX; 3], high: [0; 3] };

    /// All voxels of a chunk.
    pub(super) const WHOLE: Self = Self { low: [0; 3], high: [Chunk::SIDE as u8 - 1; 3] };

    pub(super) const fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    pub(super) fn add(&mut self, local: LocalPos) {
        let local = [local.x, local.y, local.z];
        self.add_all(Self { low: local, high: local });
    }

    /// Extends the box to include `other`.
    pub(super) fn add_all(&mut self, other: Self) {
        for axis in 0..3 {
            self.low[axis] = self.low[axis].min(other.low[axis]);
            self.high[axis] = self.high[axis].max(other.high[axis]);
        }
    }

    /// Number of voxels in the box.
    pub(super) fn volume(&self) -> usize {
        let side = |axis: usize| usize::from(self.high[axis] - self.low[axis]) + 1;
        if self.is_empty() { 0 } else { (0..3).map(side).product() }
    }

    /// Returns the LOD voxels that cover the box in the parent. `index` is the chunk's index in its
    /// parent.
    pub(super) fn in_parent(self, index: usize) -> Self {
        let half = |corner: [u8; 3]| {
            let [x, y, z] = corner.map(|c| c / 2);
            let at = Block { x, y, z }.in_octant(index);
            [at.x, at.y, at.z]
        };
        Self { low: half(self.low), high: half(self.high) }
    }
}

/// Maximum number of border voxels that are compared. More count as changed.
const FEW_VOXELS: usize = 256;

impl Span {
    /// Returns the sides of the chunk that the box touches.
    pub(in crate::lod) fn sides(&self) -> FaceSet {
        let is_at = |face: &Face| match face.is_positive() {
            true => self.high[face.axis()] == Chunk::SIDE as u8 - 1,
            false => self.low[face.axis()] == 0,
        };
        let is_any = |face: &Face| !self.is_empty() && is_at(face);
        Face::ALL.into_iter().filter(is_any).collect()
    }

    /// Returns the lowest and highest voxel of the box.
    pub(in crate::lod) fn corners(&self) -> [[i32; 3]; 2] {
        [self.low, self.high].map(|corner| corner.map(i32::from))
    }

    /// Returns the corners of the voxels at the border to the neighbour at `offset`, in the
    /// neighbour's coordinates. They lie beyond its border.
    pub(in crate::lod) fn beyond(&self, offset: [i32; 3]) -> [[i32; 3]; 2] {
        let beyond = |corner: [i32; 3]| {
            std::array::from_fn(|axis| match offset[axis] {
                0 => corner[axis],
                1 => -1,
                _ => Chunk::SIDE as i32,
            })
        };
        self.corners().map(beyond)
    }

    /// Returns the voxels of the neighbour at `offset` that lie next to the box, or at most
    /// `margin` voxels beside those.
    pub(in crate::lod) fn next_to(&self, offset: [i32; 3], margin: u8) -> Self {
        const LAST: u8 = Chunk::SIDE as u8 - 1;
        let (mut low, mut high) = (self.low, self.high);
        for axis in 0..3 {
            (low[axis], high[axis]) = match offset[axis] {
                0 => {
                    (low[axis].saturating_sub(margin), high[axis].saturating_add(margin).min(LAST))
                }
                1 => (0, 0),
                _ => (LAST, LAST),
            };
        }
        Self { low, high }
    }

    /// Returns the voxels at one side of the chunk, over the extent of the box.
    fn at_side(self, face: Face) -> Self {
        let mut side = self;
        let depth = if face.is_positive() { Chunk::SIDE as u8 - 1 } else { 0 };
        (side.low[face.axis()], side.high[face.axis()]) = (depth, depth);
        side
    }

    /// Whether `is_so` holds for any voxel in the box. `None` if the box has too many voxels.
    pub(in crate::lod) fn any(&self, is_so: impl Fn(LocalPos) -> bool) -> Option<bool> {
        if self.volume() > FEW_VOXELS {
            return None;
        }
        let [x, y, z] = [0, 1, 2].map(|axis| self.low[axis]..=self.high[axis]);
        let mut all = z.flat_map(|z| {
            let x = x.clone();
            y.clone().flat_map(move |y| x.clone().map(move |x| LocalPos::new(x, y, z)))
        });
        Some(all.any(is_so))
    }

    /// Returns the sides at which the faces of a neighbour may change with these voxels. All voxels that
    /// cover faces look the same to a neighbour. Air, translucent and cut-out materials differ.
    pub(super) fn changed_sides(
        self,
        [before, after]: [&Chunk; 2],
        materials: &MaterialTable,
    ) -> FaceSet {
        let seen = |voxel: Material| (!materials.covers(voxel)).then_some(voxel);
        let is_changed = |at: LocalPos| seen(before.get(at)) != seen(after.get(at));
        let touched = self.sides();
        let is_seen = |&face: &Face| {
            touched.contains(face) && self.at_side(face).any(is_changed).unwrap_or(true)
        };
        Face::ALL.into_iter().filter(is_seen).collect()
    }
}

impl Span {
    /// Whether no voxel of the box is translucent, before and after an edit. False if the box has too
    /// many voxels to compare.
    pub(super) fn is_opaque(self, chunks: [&Chunk; 2], materials: &MaterialTable) -> bool {
        let is_any = |at: LocalPos| chunks.iter().any(|it| materials.is_translucent(it.get(at)));
        self.any(is_any) == Some(false)
    }

    /// Returns the voxels of the box at `origin`, and those beside its six sides.
    pub(in crate::lod) fn with_sides(self, origin: VoxelPos) -> impl Iterator<Item = VoxelPos> {
        let [low, high] = self.corners();
        let [x, y, z] = [0, 1, 2].map(|axis| low[axis] - 1..=high[axis] + 1);
        let is_in = move |at: [i32; 3]| {
            let is_beside = |&axis: &usize| at[axis] < low[axis] || at[axis] > high[axis];
            (0..3).filter(is_beside).count() <= 1
        };
        let all = z.flat_map(move |z| {
            let x = x.clone();
            y.clone().flat_map(move |y| x.clone().map(move |x| [x, y, z]))
        });
        let absolute = move |[x, y, z]: [i32; 3]| {
            let [x, y, z] = [(origin.x, x), (origin.y, y), (origin.z, z)]
                .map(|(first, by)| first.saturating_add(by));
            VoxelPos::new(x, y, z)
        };
        all.filter(move |&at| is_in(at)).map(absolute)
    }
}

/// A block of 2 × 2 × 2 voxels in a chunk, which one LOD voxel of its parent covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) x: u8,
    pub(super) y: u8,
    pub(super) z: u8,
}

impl Block {
    /// Returns the LOD voxel of the parent. `index` is the chunk's index in its parent.
    pub(super) fn in_octant(self, index: usize) -> LocalPos {
        let half = Chunk::SIDE as u8 / 2;
        let [x, y, z] = [index & 1, index >> 1 & 1, index >> 2].map(|far| far as u8 * half);
        LocalPos::new(self.x + x, self.y + y, self.z + z)
    }
}
