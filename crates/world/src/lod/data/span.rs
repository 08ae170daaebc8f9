use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{Chunk, LocalPos, Material, MaterialTable};

/// A box of voxels of a chunk, or none: from `low` up to and with `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lod) struct Span {
    pub(in crate::lod) low: [u8; 3],
    pub(in crate::lod) high: [u8; 3],
}

impl Span {
    pub(super) const EMPTY: Self = Self { low: [u8::MAX; 3], high: [0; 3] };

    pub(super) const fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    pub(super) fn add(&mut self, local: LocalPos) {
        let local = [local.x, local.y, local.z];
        self.add_all(Self { low: local, high: local });
    }

    /// Makes it the smallest box that holds both.
    pub(super) fn add_all(&mut self, other: Self) {
        for axis in 0..3 {
            self.low[axis] = self.low[axis].min(other.low[axis]);
            self.high[axis] = self.high[axis].max(other.high[axis]);
        }
    }

    /// How many voxels it holds.
    pub(super) fn volume(&self) -> usize {
        let side = |axis: usize| usize::from(self.high[axis] - self.low[axis]) + 1;
        if self.is_empty() { 0 } else { (0..3).map(side).product() }
    }

    /// The voxels of the parent that stand for these, if the chunk is its child `index`.
    pub(super) fn in_parent(self, index: usize) -> Self {
        let half = |corner: [u8; 3]| {
            let [x, y, z] = corner.map(|c| c / 2);
            let at = Block { x, y, z }.in_octant(index);
            [at.x, at.y, at.z]
        };
        Self { low: half(self.low), high: half(self.high) }
    }
}

/// Layers of a border with more voxels than this are not compared: they count as changed.
const FEW_VOXELS: usize = 256;

impl Span {
    /// The sides of a chunk at which these voxels lie.
    pub(in crate::lod) fn sides(&self) -> FaceSet {
        let is_at = |face: &Face| match face.is_positive() {
            true => self.high[face.axis()] == Chunk::SIDE as u8 - 1,
            false => self.low[face.axis()] == 0,
        };
        let is_any = |face: &Face| !self.is_empty() && is_at(face);
        Face::ALL.into_iter().filter(is_any).collect()
    }

    /// The first voxels along each axis, and the last.
    pub(in crate::lod) fn corners(&self) -> [[i32; 3]; 2] {
        [self.low, self.high].map(|corner| corner.map(i32::from))
    }

    /// The same of those at the side that a neighbour's `face` looks at, as it counts them: they
    /// lie beyond its border.
    pub(in crate::lod) fn beyond(&self, face: Face) -> [[i32; 3]; 2] {
        let beyond = if face.is_positive() { Chunk::SIDE as i32 } else { -1 };
        self.corners().map(|mut corner| {
            corner[face.axis()] = beyond;
            corner
        })
    }

    /// The voxels of these at one side of a chunk.
    pub(in crate::lod) fn at_side(self, face: Face) -> Self {
        let mut side = self;
        let depth = if face.is_positive() { Chunk::SIDE as u8 - 1 } else { 0 };
        (side.low[face.axis()], side.high[face.axis()]) = (depth, depth);
        side
    }

    /// Whether `is_so` of any of these voxels; `None` where there are too many to be looked at.
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

    /// The sides at which a neighbour's faces may be others after a change of these voxels: it
    /// sees air as another than what is opaque, whatever that is, and tells apart what is
    /// translucent.
    pub(super) fn changed_sides(
        self,
        [before, after]: [&Chunk; 2],
        materials: &MaterialTable,
    ) -> FaceSet {
        let seen = |voxel: Material| {
            let is_opaque = !voxel.is_air() && !materials.is_translucent(voxel);
            (!is_opaque).then_some(voxel)
        };
        let is_changed = |at: LocalPos| seen(before.get(at)) != seen(after.get(at));
        let touched = self.sides();
        let is_seen = |&face: &Face| {
            touched.contains(face) && self.at_side(face).any(is_changed).unwrap_or(true)
        };
        Face::ALL.into_iter().filter(is_seen).collect()
    }
}

/// Eight voxels of a chunk, for which one of its parent stands: counted in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) x: u8,
    pub(super) y: u8,
    pub(super) z: u8,
}

impl Block {
    /// The voxel of the parent, if the chunk is its child `index`.
    pub(super) fn in_octant(self, index: usize) -> LocalPos {
        let half = Chunk::SIDE as u8 / 2;
        let [x, y, z] = [index & 1, index >> 1 & 1, index >> 2].map(|far| far as u8 * half);
        LocalPos::new(self.x + x, self.y + y, self.z + z)
    }
}
