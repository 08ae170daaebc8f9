use alloc::boxed::Box;
use alloc::vec;
use core::ops::Range;

use super::Rows;
use super::blocks::Block;
use super::numbered::Numbered;
use crate::Material;

mod bytes;
mod packing;
#[cfg(test)]
mod tests;
mod unpacking;

use packing::{PLANE_WORDS, numbers_len, planes_of, push};
use unpacking::{NOTHING, Unpacked};

/// Voxels in bricks of 4³: each with one material, or with a short list of materials.
///
/// ```text
///  words   head of each brick │ mixed bricks …
///          head < 256: the number of its only material; else 256 + start of its words
///
///  mixed   count of numbers, then the numbers in ascending order, one byte each │ planes of 64 bits
///          bit n of plane p: bit p of the index of voxel n in the numbers; X, then Y, then Z
/// ```
/// Most bricks of landscapes have one material, and most others have two: 12 bytes. Immutable: an
/// edit converts the chunk to another storage.
#[derive(Clone, Debug)]
pub(super) struct Bricks {
    side_log2: u32,
    materials: Box<[Material]>,
    words: Block<u16>,
}

/// Side of a brick in voxels, as a logarithm.
const BRICK_LOG2: u32 = 2;
const BRICK: usize = 1 << BRICK_LOG2;
/// Number of voxels of a brick's layer.
const LAYER: usize = BRICK * BRICK;
/// Heads of at least this value are the start of a mixed brick.
const MIXED: usize = 256;
/// Largest side of a chunk.
const MAX_SIDE: usize = crate::Chunk::MAX_SIDE as usize;
/// Maximum number of materials.
const MAX: usize = 256;

impl Bricks {
    /// Returns the side of a cube of `volume` voxels, if bricks support it: 8, 16, 32 or 64.
    pub(super) fn side_of(volume: usize) -> Option<usize> {
        (3..=6).map(|log2| 1 << log2).find(|side: &usize| side.pow(3) == volume)
    }

    /// Converts numbered voxels. Returns `None` if there are too many different bricks or the side
    /// is not supported.
    pub(super) fn of(voxels: &Numbered) -> Option<Self> {
        Self::of_numbers(&voxels.materials, &voxels.numbers)
    }

    /// Converts voxels given as indices into `materials`.
    pub(super) fn of_numbers(materials: &[Material], numbers: &[u8]) -> Option<Self> {
        let side = Self::side_of(numbers.len())?;
        let across = side / BRICK;
        let mut words = vec![0; across.pow(3)];
        for brick in 0..across.pow(3) {
            let [x, y, z] = [brick % across, brick / across % across, brick / across.pow(2)];
            let first = BRICK * (x + side * (y + side * z));
            let row = |n: usize| {
                let start = first + side * (n % BRICK + side * (n / BRICK));
                numbers[start..].first_chunk().map_or(0, |row| u32::from_le_bytes(*row))
            };
            words[brick] = push(&mut words, across.pow(3), &core::array::from_fn(row))?;
        }
        Some(Self::of_words(side, materials, &words))
    }

    fn of_words(side: usize, materials: &[Material], words: &[u16]) -> Self {
        Self { side_log2: side.ilog2(), materials: materials.into(), words: Block::of(words) }
    }

    const fn side(&self) -> usize {
        1 << self.side_log2
    }

    const fn count(&self) -> usize {
        1 << (3 * (self.side_log2 - BRICK_LOG2))
    }

    /// Returns the brick of a voxel, and the voxel's index in it.
    #[inline]
    const fn locate(&self, voxel: usize) -> (usize, usize) {
        let (log2, mask) = (self.side_log2, (1 << self.side_log2) - 1);
        let [x, y, z] = [voxel & mask, voxel >> log2 & mask, voxel >> (2 * log2)];
        let across_log2 = log2 - BRICK_LOG2;
        let brick = (z >> BRICK_LOG2 << across_log2 | y >> BRICK_LOG2) << across_log2;
        (brick | x >> BRICK_LOG2, (z & 3) << 4 | (y & 3) << 2 | x & 3)
    }

    /// Returns the words of a mixed brick, starting with the count of numbers.
    #[inline]
    fn mixed(&self, head: usize) -> &[u16] {
        &self.words[self.count() + head - MIXED..]
    }

    #[inline]
    pub(super) fn get(&self, voxel: usize) -> Material {
        let (brick, n) = self.locate(voxel);
        let head = usize::from(self.words[brick]);
        if head < MIXED {
            return self.materials[head];
        }
        let words = self.mixed(head);
        let count = usize::from(words[0] & 0xff);
        let planes = &words[numbers_len(count)..];
        let index = (0..planes_of(count)).fold(0, |index, plane| {
            index | usize::from(planes[PLANE_WORDS * plane + n / 16] >> (n % 16) & 1) << plane
        });
        self.material(words, index)
    }

    /// Returns the material at an index in a mixed brick's numbers.
    #[inline]
    fn material(&self, words: &[u16], index: usize) -> Material {
        let byte = index + 1;
        self.materials[usize::from(words[byte / 2] >> (byte % 2 * 8) & 0xff)]
    }

    /// Copies consecutive voxels, starting at `first`, to `row`. They may span several rows of the
    /// chunk.
    pub(super) fn copy(&self, first: usize, row: &mut [Material]) {
        let side = self.side();
        let steps = |first: usize| Rows { first, row_step: side, layer_step: side * side };
        let mut done = 0;
        while done < row.len() {
            let (from, left) = (first + done, row.len() - done);
            // Whole layers, whole rows, or the rest of a row.
            let size = if from.is_multiple_of(side * side) && left >= side * side {
                [side, side, left / (side * side)]
            } else if from.is_multiple_of(side) && left >= side {
                let up = side - from / side % side;
                [side, up.min(left / side), 1]
            } else {
                [left.min(side - from % side), 1, 1]
            };
            self.copy_box(size, from, row, steps(done));
            done += size.iter().product::<usize>();
        }
    }

    /// Copies a box of voxels to the rows at `to`. `size` is in voxels along X, Y and Z; `first` is
    /// the lowest voxel. The box must be inside the chunk.
    pub(super) fn copy_box(
        &self,
        size: [usize; 3],
        first: usize,
        voxels: &mut [Material],
        to: Rows,
    ) {
        let (log2, mask) = (self.side_log2, self.side() - 1);
        let low = [first & mask, first >> log2 & mask, first >> (2 * log2)];
        let across_log2 = log2 - BRICK_LOG2;
        let bricks = [0, 1, 2].map(|axis| spans(low[axis], size[axis]));
        let is_whole = size[0] == self.side();
        let mut whole_row = is_whole.then_some([NOTHING; MAX_SIDE / BRICK]);
        for (bz, z) in bricks[2].clone() {
            for (by, y) in bricks[1].clone() {
                if let Some(row) = &mut whole_row {
                    let row = &mut row[..self.side() / BRICK];
                    let up = (BRICK * by + y.start - low[1]) * to.row_step;
                    let along = (BRICK * bz + z.start - low[2]) * to.layer_step;
                    let rows = Rows { first: to.first + up + along, ..to };
                    let first = (bz << across_log2 | by) << across_log2;
                    for (brick, to) in (first..).zip(&mut *row) {
                        self.unpack(brick, &z, to);
                    }
                    copy_rows(row, [y, z.clone()], voxels, rows);
                    continue;
                }
                for (bx, x) in bricks[0].clone() {
                    let start = to.first + (BRICK * bx + x.start - low[0]);
                    let up = BRICK * by + y.start - low[1];
                    let along = BRICK * bz + z.start - low[2];
                    let start = start + up * to.row_step + along * to.layer_step;
                    let brick = (bz << across_log2 | by) << across_log2 | bx;
                    let rows = Rows { first: start, ..to };
                    self.copy_brick(brick, [&x, &y, &z], voxels, rows);
                }
            }
        }
    }

    /// Copies the voxels of a brick inside the spans.
    #[inline]
    fn copy_brick(
        &self,
        brick: usize,
        [x, y, z]: [&Range<usize>; 3],
        voxels: &mut [Material],
        to: Rows,
    ) {
        let mut unpacked = NOTHING;
        self.unpack(brick, z, &mut unpacked);
        for (layer, along) in z.clone().zip(0..) {
            for (row, up) in y.clone().zip(0..) {
                let start = to.first + up * to.row_step + along * to.layer_step;
                let row = &unpacked[layer][BRICK * row..][..BRICK];
                let Some(to) = voxels.get_mut(start..start + x.len()) else { return };
                match to {
                    [to] => *to = row[x.start & (BRICK - 1)],
                    _ => to.copy_from_slice(&row[x.clone()]),
                }
            }
        }
    }

    /// Returns the memory in bytes, without the struct.
    pub(super) fn size_bytes(&self) -> usize {
        size_of_val(&*self.materials) + self.words.size_bytes()
    }

    /// Returns the size of the content in bytes, without unused space.
    pub(super) fn len_bytes(&self) -> usize {
        size_of_val(&*self.materials) + size_of_val(&*self.words)
    }

    /// Checks all invariants, for tests.
    pub(super) fn validate(&self, volume: usize) -> Result<(), &'static str> {
        if Self::side_of(volume) != Some(self.side()) || self.words.len() < self.count() {
            return Err("the bricks do not match the volume");
        }
        let mut end = self.count();
        for brick in 0..self.count() {
            let head = usize::from(self.words[brick]);
            if head < MIXED {
                if head >= self.materials.len() {
                    return Err("a brick has a material that is not in the list");
                }
                continue;
            }
            if self.count() + head - MIXED != end {
                return Err("a mixed brick does not start at the end of the previous one");
            }
            end += self.check_mixed(self.mixed(head))?;
        }
        if end != self.words.len() { Err("there are words after the last brick") } else { Ok(()) }
    }

    /// Checks a mixed brick; returns its number of words.
    fn check_mixed(&self, words: &[u16]) -> Result<usize, &'static str> {
        let count = words.first().map_or(0, |word| usize::from(word & 0xff));
        let planes = planes_of(count.max(1));
        if !(2..=64).contains(&count) || words.len() < numbers_len(count) + PLANE_WORDS * planes {
            return Err("a mixed brick ends too early");
        }
        let number = |index: usize| {
            let byte = 1 + index;
            words[byte / 2] >> (byte % 2 * 8) & 0xff
        };
        if (1..count).any(|index| number(index - 1) >= number(index))
            || usize::from(number(count - 1)) >= self.materials.len()
        {
            return Err("a brick's numbers are not ascending or not in the list");
        }
        let bits = &words[numbers_len(count)..];
        let index = |n: usize, plane: usize| {
            usize::from(bits[PLANE_WORDS * plane + n / 16] >> (n % 16) & 1) << plane
        };
        let indices = |n: usize| (0..planes).map(|plane| index(n, plane)).sum::<usize>();
        if (0..64).any(|n| indices(n) >= count) {
            return Err("a voxel has an index without a number");
        }
        Ok(numbers_len(count) + PLANE_WORDS * planes)
    }
}

/// Copies whole rows of the chunk through adjacent bricks along X, for the given spans along Y and Z.
/// Each row is contiguous in memory.
fn copy_rows(bricks: &[Unpacked], [y, z]: [Range<usize>; 2], voxels: &mut [Material], to: Rows) {
    for (layer, along) in z.zip(0..) {
        for (row, up) in y.clone().zip(0..) {
            let start = to.first + up * to.row_step + along * to.layer_step;
            let Some(rest) = voxels.get_mut(start..) else { return };
            let (quads, _) = rest.as_chunks_mut::<BRICK>();
            for (to, brick) in quads.iter_mut().zip(bricks) {
                *to = brick[layer].as_chunks().0[row];
            }
        }
    }
}

/// Iterates over the bricks along an axis that intersect a span of voxels, with the range of voxels
/// in each.
fn spans(low: usize, size: usize) -> impl Iterator<Item = (usize, Range<usize>)> + Clone {
    let end = low + size;
    (low / BRICK..end.div_ceil(BRICK)).map(move |brick| {
        let first = BRICK * brick;
        (brick, low.max(first) - first..end.min(first + BRICK) - first)
    })
}
