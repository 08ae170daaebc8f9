use alloc::vec::Vec;

use crate::greedy_mesher::push_rows;
use crate::{Material, PaddedChunk, Voxel, VoxelArray, VoxelBox, VoxelPos};

/// Divides the solid voxels of a chunk into disjoint boxes, for physics engines that take compounds
/// of boxes.
///
/// A row of voxels is one word of bits. A box starts at the first run of solid voxels that is in no
/// box yet. It grows over the following rows and then over the following slices while these contain
/// the whole run. The boxes cover every solid voxel once and no other voxel. Equal voxels give equal
/// boxes, in ascending order of their lowest voxel (Z, then Y, then X).
///
/// ```text
///  slice    1 1 1 . 1 1      boxes    a a a . b b     the run of a continues in row 2, that of b
///           1 1 1 . 1 .               a a a . c .     does not
/// ```
///
/// The number of boxes is small, but not the smallest possible one.
///
/// # Cost
/// A test of each run of equal voxels, and a few operations for each row of each box. A chunk of
/// 32³ voxels of terrain takes about 15 µs. Scratch: 8 bytes for each row.
///
/// # Examples
/// ```
/// use drystone_voxel::{BoxMesher, Chunk, LocalPos, Material, PaddedChunk};
///
/// // A floor with a pillar.
/// let mut chunk = Chunk::from_fn(16, |at| Material(u16::from(at.y == 0)));
/// chunk.set(LocalPos::new(5, 1, 5), Material(1));
/// chunk.set(LocalPos::new(5, 2, 5), Material(1));
/// let mut padded = PaddedChunk::new();
/// padded.fill(&chunk, |_| None);
///
/// let mut boxes = Vec::new();
/// BoxMesher::new().mesh(&padded, |material| !material.is_air(), &mut boxes);
/// let sizes: Vec<[u32; 3]> = boxes.iter().map(|it| it.size_voxels()).collect();
/// assert_eq!(sizes, [[16, 1, 16], [1, 2, 1]]);
/// ```
#[derive(Debug, Default)]
pub struct BoxMesher {
    /// Solid voxels that are in no box yet: one word along X for each Y, then Z.
    rows: Vec<u64>,
}

impl BoxMesher {
    /// Creates a mesher. It has no scratch; the first chunk allocates it.
    pub const fn new() -> Self {
        Self { rows: Vec::new() }
    }

    /// Replaces the content of `boxes` by the boxes of a chunk, without its halo. Positions are
    /// relative to the chunk. `is_solid` is called once for each run of equal voxels.
    ///
    /// # Cost
    /// See [`BoxMesher`].
    pub fn mesh(
        &mut self,
        chunk: &PaddedChunk,
        is_solid: impl Fn(Material) -> bool,
        boxes: &mut Vec<VoxelBox>,
    ) {
        self.rows.clear();
        push_rows(chunk, is_solid, &mut self.rows);
        self.divide([chunk.side() as usize; 3], boxes);
    }

    /// Replaces the content of `boxes` by the boxes of a caller's array, without its halo.
    /// `is_solid` is called for each voxel.
    ///
    /// # Cost
    /// See [`BoxMesher`]; in addition, one call for each voxel.
    ///
    /// # Examples
    /// ```
    /// use drystone_voxel::{BoxMesher, Halo, VoxelArray};
    ///
    /// let cells = [1_u8, 1, 0, 1];
    /// let array = VoxelArray::new(&cells, [2, 2, 1], Halo::None)?;
    /// let mut boxes = Vec::new();
    /// BoxMesher::new().mesh_array(&array, |cell| cell != 0, &mut boxes);
    /// assert_eq!(boxes.len(), 2);
    /// # Ok::<(), drystone_voxel::Error>(())
    /// ```
    pub fn mesh_array<V: Voxel>(
        &mut self,
        array: &VoxelArray<'_, V>,
        is_solid: impl Fn(V) -> bool,
        boxes: &mut Vec<VoxelBox>,
    ) {
        let extents = array.extents();
        let [nx, ny, nz] = extents.map(|extent| extent as i32);
        self.rows.clear();
        for (y, z) in (0..nz).flat_map(|z| (0..ny).map(move |y| (y, z))) {
            let is_set = |x: i32| array.get([x, y, z]).is_some_and(&is_solid);
            self.rows.push((0..nx).fold(0, |bits, x| bits | u64::from(is_set(x)) << x));
        }
        self.divide(extents.map(|extent| extent as usize), boxes);
    }

    /// Divides the rows into boxes.
    fn divide(&mut self, [_, ny, nz]: [usize; 3], boxes: &mut Vec<VoxelBox>) {
        boxes.clear();
        for z in 0..nz {
            for y in 0..ny {
                while let Some(min) = self.rows.get(z * ny + y).filter(|&&row| row != 0) {
                    let x = min.trailing_zeros();
                    let width = (min >> x).trailing_ones();
                    let run = u64::MAX >> (u64::BITS - width) << x;
                    let holds = |row: &&u64| **row & run == run;
                    let after = &self.rows[z * ny + y..(z + 1) * ny];
                    let height = after.iter().take_while(holds).count();
                    let slices = self.rows.chunks_exact(ny).skip(z);
                    let depth = slices
                        .take_while(|slice| slice[y..][..height].iter().all(|row| row & run == run))
                        .count();
                    for slice in self.rows.chunks_exact_mut(ny).skip(z).take(depth) {
                        slice[y..][..height].iter_mut().for_each(|row| *row &= !run);
                    }
                    let corner =
                        |x: u32, y: usize, z: usize| VoxelPos::new(x as i32, y as i32, z as i32);
                    boxes.push(VoxelBox {
                        min: corner(x, y, z),
                        max: corner(x + width, y + height, z + depth),
                    });
                }
            }
        }
    }
}
