use alloc::vec::Vec;
use core::ops::Range;

use drystone_mesh::Face;

use crate::chunk::{Reader, Rows, Table};
use crate::{Chunk, Material, MaterialTable};

/// Chunk with a halo of one voxel from its 26 neighbours: the complete input of a mesher.
///
/// ```text
///   n + 2 per side; the chunk is at 1..=n
///   ┌─┬───────┬─┐   faces of the halo: visibility of the faces on the border
///   │ │ halo  │ │   edges and
///   ├─┼───────┼─┤   corners: ambient occlusion
///   │ │ chunk │ │
///   └─┴───────┴─┘
/// ```
///
/// # Cost
/// Two bytes for each of (n + 2)³ voxels. Filling copies rows from any storage.
/// [`fill`](Self::fill) reuses the memory.
#[derive(Clone, Debug)]
pub struct PaddedChunk {
    side: u32,
    solid_inside: bool,
    /// Whether the summary flags are exact. If false, they are upper bounds.
    is_exact: bool,
    uniform: Option<Material>,
    uniform_beyond: [Option<Material>; Face::COUNT],
    /// (n + 2)³ materials, X fastest, then Y, then Z.
    voxels: Vec<Material>,
}

impl PaddedChunk {
    /// Offsets of the 26 neighbours of a chunk: first those across its faces, then those across its
    /// edges and corners, which matter only for ambient occlusion.
    pub const NEIGHBORS: [[i32; 3]; 26] = neighbors();

    /// Creates an empty padded chunk of side 0. Use [`fill`](Self::fill) to set its content.
    pub const fn new() -> Self {
        Self {
            side: 0,
            solid_inside: false,
            is_exact: true,
            uniform: Some(Material::AIR),
            uniform_beyond: [Some(Material::AIR); Face::COUNT],
            voxels: Vec::new(),
        }
    }

    /// Creates a padded chunk from a function of the padded position, with coordinates 0 to n + 1.
    /// `side` is clamped to 1 to 64 voxels. The result has no summary flags, so a mesher reads
    /// every voxel.
    pub fn from_fn(side: u32, mut material_at: impl FnMut([u32; 3]) -> Material) -> Self {
        let side = side.clamp(1, Chunk::MAX_SIDE);
        let p = side + 2;
        let position = |i: u32| [i % p, i / p % p, i / (p * p)];
        Self {
            side,
            solid_inside: true,
            is_exact: false,
            uniform: None,
            uniform_beyond: [None; Face::COUNT],
            voxels: (0..p * p * p).map(|i| material_at(position(i))).collect(),
        }
    }

    /// Copies `center` and the border voxels of its neighbours. `neighbor` is called with offsets
    /// of −1, 0 and 1. `None`, or a chunk of another side, counts as air.
    pub fn fill<'a>(
        &mut self,
        center: &'a Chunk,
        neighbor: impl Fn([i32; 3]) -> Option<&'a Chunk>,
    ) {
        self.begin(center, &neighbor);
        let n = center.side();
        let mut table = Table::new();
        for dz in -1..=1 {
            for dy in -1..=1 {
                for dx in -1..=1 {
                    let offset = [dx, dy, dz];
                    let chunk = if offset == [0; 3] { Some(center) } else { neighbor(offset) };
                    let chunk = chunk.filter(|chunk| chunk.side() == n);
                    self.copy_from(chunk, offset, &[(); 3].map(|()| 0..n + 2), &mut table);
                }
            }
        }
    }

    /// Copies some planes along each axis, with the halo from the neighbours at `offsets`. A set bit
    /// selects a plane; bit 0 is the first plane of the halo. Other voxels are unspecified.
    pub(crate) fn fill_planes<'a>(
        &mut self,
        center: &'a Chunk,
        neighbor: impl Fn([i32; 3]) -> Option<&'a Chunk>,
        planes: [u128; 3],
        offsets: &[[i32; 3]],
    ) {
        self.begin(center, &neighbor);
        let n = center.side();
        let mut table = Table::new();
        for (axis, mut left) in planes.into_iter().enumerate() {
            while left != 0 {
                let first = left.trailing_zeros();
                let end = first + (left >> first).trailing_ones();
                left &= u128::MAX.checked_shl(end).unwrap_or(0);
                let mut within = [(); 3].map(|()| 0..n + 2);
                within[axis] = first..end.min(n + 2);
                self.copy_from(Some(center), [0; 3], &within, &mut table);
                for &offset in offsets {
                    let chunk = neighbor(offset).filter(|chunk| chunk.side() == n);
                    self.copy_from(chunk, offset, &within, &mut table);
                }
            }
        }
    }

    /// Stores the summary flags of a chunk and its neighbours, and resizes the voxel array.
    fn begin<'a>(&mut self, center: &Chunk, neighbor: &impl Fn([i32; 3]) -> Option<&'a Chunk>) {
        let n = center.side();
        self.side = n;
        self.solid_inside = !center.is_empty();
        self.is_exact = true;
        self.uniform = center.uniform();
        self.uniform_beyond = Face::ALL.map(|face| match neighbor(face.normal()) {
            Some(chunk) if chunk.side() == n && !chunk.is_empty() => chunk.uniform(),
            _ => Some(Material::AIR),
        });
        let padded = (n + 2) as usize;
        // Old content is harmless: every requested voxel is written later.
        self.voxels.resize(padded * padded * padded, Material::AIR);
    }

    /// Replaces voxels by those that `replacement` returns for their material, in the chunk and its
    /// halo. Calls `each` with the index in [`voxels`](Self::voxels) and the old material of each, by
    /// ascending index.
    pub(crate) fn replace(
        &mut self,
        replacement: impl Fn(Material) -> Option<Material>,
        mut each: impl FnMut(usize, Material),
    ) {
        let (mut last, mut new) = (Material::AIR, None);
        let mut any = false;
        for (index, voxel) in self.voxels.iter_mut().enumerate() {
            if *voxel != last {
                (last, new) = (*voxel, replacement(*voxel));
            }
            if let Some(new) = new {
                each(index, *voxel);
                *voxel = new;
                any = true;
            }
        }
        if !any {
            return;
        }
        self.is_exact = false;
        for uniform in self.uniform_beyond.iter_mut().chain([&mut self.uniform]) {
            *uniform = uniform.map(|material| replacement(material).unwrap_or(material));
        }
        self.solid_inside &= self.uniform != Some(Material::AIR);
    }

    /// Replaces [thin](MaterialTable::is_thin) voxels by air, or by the fluid around them, for meshes
    /// without shapes. Does nothing if no material of the table has a shape.
    pub fn remove_thin(&mut self, table: &MaterialTable) {
        if table.any_shaped() {
            let replacement = |it| table.is_thin(it).then(|| table.without_thin(it));
            self.replace(replacement, |_, _| ());
        }
    }

    /// Side of the chunk in voxels, without the halo.
    #[inline]
    pub const fn side(&self) -> u32 {
        self.side
    }

    /// Returns whether the chunk, without the halo, may contain anything but air.
    #[inline]
    pub const fn has_solid(&self) -> bool {
        self.solid_inside
    }

    /// Returns whether [`has_solid`](Self::has_solid) is exact instead of an upper bound.
    #[inline]
    pub(crate) const fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Returns the only material of the chunk without its halo, if its storage guarantees that
    /// there is only one.
    #[inline]
    pub const fn uniform(&self) -> Option<Material> {
        self.uniform
    }

    /// Returns the only material of the neighbour in direction `face`, if its storage guarantees
    /// it. Air if there is no neighbour.
    #[inline]
    pub const fn uniform_beyond(&self, face: Face) -> Option<Material> {
        self.uniform_beyond[face.index()]
    }

    /// Returns the voxel at padded coordinates, 0 to n + 1 each; the chunk is at 1 to n. Air
    /// outside.
    #[inline]
    pub fn get(&self, padded: [u32; 3]) -> Material {
        let p = self.side + 2;
        if padded.iter().any(|&c| c >= p) {
            return Material::AIR;
        }
        self.voxels[(padded[0] + p * (padded[1] + p * padded[2])) as usize]
    }

    /// Returns the voxel at coordinates of the chunk, 0 to n − 1 each. The caller guarantees the
    /// bounds; outside, the result is an arbitrary voxel or air.
    #[inline]
    pub(crate) fn inner(&self, position: [u32; 3]) -> Material {
        let [x, y, z] = position.map(|c| c as usize + 1);
        let p = self.side as usize + 2;
        self.voxels.get(x + p * (y + p * z)).copied().unwrap_or(Material::AIR)
    }

    /// Returns the voxel in front of `face` of the voxel at `position` of the chunk.
    #[inline]
    pub(crate) fn beyond(&self, position: [u32; 3], face: Face) -> Material {
        let mut padded = position.map(|c| c + 1);
        let c = &mut padded[face.axis()];
        *c = if face.is_positive() { *c + 1 } else { *c - 1 };
        self.get(padded)
    }

    /// Returns all (n + 2)³ voxels: X fastest, then Y, then Z.
    #[inline]
    pub fn voxels(&self) -> &[Material] {
        &self.voxels
    }

    /// Copies the voxels of `chunk` that are inside the range `within` of the padded cube. `chunk`
    /// is `offset` chunks away; `None` is air.
    fn copy_from(
        &mut self,
        chunk: Option<&Chunk>,
        offset: [i32; 3],
        within: &[Range<u32>; 3],
        table: &mut Table,
    ) {
        let n = self.side;
        let p = n + 2;
        // Per axis: first source voxel, first padded position, count.
        let span = |axis: usize| {
            let (source, first, count) = match offset[axis] {
                -1 => (n - 1, 0, 1),
                0 => (0, 1, n),
                _ => (0, n + 1, 1),
            };
            let start = within[axis].start.max(first);
            let count = within[axis].end.min(first + count).saturating_sub(start);
            (source + start - first, start, count)
        };
        let [(sx, px, nx), (sy, py, ny), (sz, pz, nz)] = [0, 1, 2].map(span);
        if nx * ny * nz == 0 {
            return;
        }
        // Rows of more than one voxel are copied whole, else voxel by voxel.
        let row_voxels = if nx == 1 { 0 } else { nx * ny * nz };
        let mut reader = match chunk {
            Some(chunk) => chunk.reader_of_many(row_voxels as usize, table),
            None => Reader::AIR,
        };
        let rows = |first: u32, side: u32| Rows {
            first: first as usize,
            row_step: side as usize,
            layer_step: (side * side) as usize,
        };
        let from = rows(sx + n * (sy + n * sz), n);
        let to = rows(px + p * (py + p * pz), p);
        reader.copy_box([nx, ny, nz].map(|c| c as usize), from, &mut self.voxels, to);
    }
}

const fn neighbors() -> [[i32; 3]; 26] {
    let (mut all, mut count): ([[i32; 3]; 26], usize) = ([[0; 3]; 26], 0);
    // Across faces, edges and corners.
    let mut distance = 1;
    while distance <= 3 {
        let mut i: i32 = 0;
        while i < 27 {
            let offset = [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1];
            if offset[0].abs() + offset[1].abs() + offset[2].abs() == distance {
                all[count] = offset;
                count += 1;
            }
            i += 1;
        }
        distance += 1;
    }
    all
}

impl Default for PaddedChunk {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LocalPos;

    /// Creates a chunk whose voxels encode their chunk and position.
    fn tagged(side: u32, tag: u16) -> Chunk {
        Chunk::from_fn(side, |p| {
            Material(tag * 512 + u16::from(p.x) + 8 * u16::from(p.y) + 64 * u16::from(p.z))
        })
    }

    #[test]
    fn padded_voxels_equal_those_of_the_world() {
        let n = 3;
        let chunks: Vec<Chunk> = (0..27).map(|i| tagged(n, i + 1)).collect();
        let at = |o: [i32; 3]| &chunks[(o[0] + 1 + 3 * (o[1] + 1) + 9 * (o[2] + 1)) as usize];
        let mut padded = PaddedChunk::new();
        padded.fill(at([0; 3]), |o| Some(at(o)));
        for z in 0..n + 2 {
            for y in 0..n + 2 {
                for x in 0..n + 2 {
                    let world = [x, y, z].map(|c| c as i32 - 1);
                    let chunk = at(world.map(|c| c.div_euclid(3)));
                    let local = world.map(|c| c.rem_euclid(3) as u8);
                    let expected = chunk.get(LocalPos::new(local[0], local[1], local[2]));
                    assert_eq!(padded.get([x, y, z]), expected, "{x} {y} {z}");
                }
            }
        }
    }

    #[test]
    fn missing_neighbours_and_those_of_other_sides_are_air() {
        let center = Chunk::new(2, Material(1));
        let odd = Chunk::new(3, Material(2));
        let mut padded = PaddedChunk::new();
        padded.fill(&center, |o| (o == [1, 0, 0]).then_some(&odd));
        assert_eq!(padded.voxels().iter().filter(|m| !m.is_air()).count(), 8);
        assert_eq!(padded.get([9, 0, 0]), Material::AIR);
        assert_eq!(padded.uniform_beyond(Face::PosX), Some(Material::AIR));
    }

    #[test]
    fn uniform_chunks_and_neighbours_are_detected() {
        let center = Chunk::new(3, Material(1));
        let mixed = tagged(3, 2);
        let mut padded = PaddedChunk::new();
        assert_eq!(padded.uniform(), Some(Material::AIR));
        padded.fill(&center, |offset| match offset {
            [-1, 0, 0] => Some(&center),
            [0, 1, 0] => Some(&mixed),
            _ => None,
        });
        assert_eq!(padded.uniform(), Some(Material(1)));
        assert_eq!(padded.uniform_beyond(Face::NegX), Some(Material(1)));
        assert_eq!(padded.uniform_beyond(Face::PosY), None);
        assert_eq!(padded.uniform_beyond(Face::PosZ), Some(Material::AIR));
        padded.fill(&mixed, |_| None);
        assert_eq!(padded.uniform(), None);
    }

    #[test]
    fn padded_chunks_from_a_function_have_no_summary() {
        let mut padded = PaddedChunk::new();
        padded.fill(&Chunk::new(2, Material(1)), |_| None);
        let plain = PaddedChunk::from_fn(2, |position| padded.get(position));
        assert_eq!((plain.uniform(), plain.has_solid()), (None, true));
        assert_eq!(plain.voxels(), padded.voxels());
        assert_eq!(PaddedChunk::from_fn(99, |_| Material::AIR).side(), Chunk::MAX_SIDE);
    }
}
