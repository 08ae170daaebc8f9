use alloc::boxed::Box;
use alloc::vec;

use super::Rows;
use super::blocks::Block;
use super::numbered::Numbered;
use crate::Material;

mod bytes;
mod packing;
#[cfg(test)]
mod tests;

use packing::{PLANE_WORDS, numbers_len, planes_of, push};

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
/// Heads of at least this value are the start of a mixed brick.
const MIXED: usize = 256;
/// Maximum number of materials.
const MAX: usize = 256;

/// Content of a brick, prepared for copying.
enum Brick<'a> {
    Uniform(Material),
    /// First material in each of four lanes, XOR of first and second material, plane.
    Two(u64, u64, &'a [u16]),
    Many([Material; 64], &'a [u16]),
}

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

    #[inline]
    fn brick(&self, brick: usize) -> Brick<'_> {
        let head = usize::from(self.words[brick]);
        if head < MIXED {
            return Brick::Uniform(self.materials[head]);
        }
        let words = self.mixed(head);
        let count = usize::from(words[0] & 0xff);
        let (_, planes) = words.split_at(numbers_len(count));
        let planes = &planes[..PLANE_WORDS * planes_of(count)];
        if count == 2 {
            let [a, b] = [0, 1].map(|index| u64::from(self.material(words, index).0) * LANES);
            return Brick::Two(a, a ^ b, planes);
        }
        let mut materials = [Material::AIR; 64];
        for (index, to) in materials.iter_mut().enumerate().take(count) {
            *to = self.material(words, index);
        }
        Brick::Many(materials, planes)
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
        for (bz, z) in bricks[2].clone() {
            for (by, y) in bricks[1].clone() {
                if size[0] == self.side() {
                    let up = (BRICK * by + y.start - low[1]) * to.row_step;
                    let along = (BRICK * bz + z.start - low[2]) * to.layer_step;
                    let rows = Rows { first: to.first + up + along, ..to };
                    self.copy_rows(
                        (bz << across_log2 | by) << across_log2,
                        [y, z.clone()],
                        voxels,
                        rows,
                    );
                    continue;
                }
                for (bx, x) in bricks[0].clone() {
                    let brick = self.brick((bz << across_log2 | by) << across_log2 | bx);
                    let start = to.first + (BRICK * bx + x.start - low[0]);
                    let up = BRICK * by + y.start - low[1];
                    let along = BRICK * bz + z.start - low[2];
                    let start = start + up * to.row_step + along * to.layer_step;
                    brick.copy([&x, &y, &z], voxels, Rows { first: start, ..to });
                }
            }
        }
    }

    /// Copies whole rows of the chunk through the adjacent bricks from `brick` on, for the given
    /// spans along Y and Z. Each row is contiguous in memory.
    fn copy_rows(
        &self,
        brick: usize,
        [y, z]: [core::ops::Range<usize>; 2],
        voxels: &mut [Material],
        to: Rows,
    ) {
        const MAX_ACROSS: usize = 16;
        let across = self.side() / BRICK;
        let (mut pairs, mut many) = ([Pair::default(); MAX_ACROSS], 0u32);
        for (n, pair) in pairs.iter_mut().enumerate().take(across) {
            match self.brick(brick + n).pair() {
                Some(of_brick) => *pair = of_brick,
                None => many |= 1 << n,
            }
        }
        for (layer, along) in z.clone().zip(0..) {
            for (row, up) in y.clone().zip(0..) {
                let start = to.first + up * to.row_step + along * to.layer_step;
                let Some(rest) = voxels.get_mut(start..) else { return };
                let (quads, _) = rest.as_chunks_mut::<BRICK>();
                let shift = 16 * layer + 4 * row;
                for (to, pair) in quads.iter_mut().zip(&pairs[..across]) {
                    *to = pair.row(shift);
                }
            }
        }
        // Then the few bricks with more than two materials.
        for n in (0..across).filter(|n| many >> n & 1 != 0) {
            let to = Rows { first: to.first + BRICK * n, ..to };
            self.brick(brick + n).copy([&(0..BRICK), &y, &z], voxels, to);
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

/// Iterates over the bricks along an axis that intersect a span of voxels, with the range of voxels
/// in each.
fn spans(
    low: usize,
    size: usize,
) -> impl Iterator<Item = (usize, core::ops::Range<usize>)> + Clone {
    let end = low + size;
    (low / BRICK..end.div_ceil(BRICK)).map(move |brick| {
        let first = BRICK * brick;
        (brick, low.max(first) - first..end.min(first + BRICK) - first)
    })
}

/// Word of four lanes, one per voxel, with 1 in each.
const LANES: u64 = 0x0001_0001_0001_0001;

/// Lanes of ones for each set bit.
const SPREAD: [u64; 16] = {
    let mut spread = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut lane = 0;
        while lane < 4 {
            if bits >> lane & 1 != 0 {
                spread[bits] |= 0xffff << (16 * lane);
            }
            lane += 1;
        }
        bits += 1;
    }
    spread
};

/// Brick with one or two materials.
#[derive(Clone, Copy, Default)]
struct Pair {
    /// First material in each of four lanes.
    first: u64,
    /// XOR of first and second material, in each lane.
    change: u64,
    /// Bit per voxel, set for the second material.
    bits: u64,
}

impl Pair {
    /// Returns four voxels along X, from bit `shift` on.
    #[inline]
    const fn row(&self, shift: usize) -> [Material; BRICK] {
        let lanes = self.first ^ self.change & SPREAD[(self.bits >> shift & 15) as usize];
        [
            Material(lanes as u16),
            Material((lanes >> 16) as u16),
            Material((lanes >> 32) as u16),
            Material((lanes >> 48) as u16),
        ]
    }
}

impl Brick<'_> {
    /// Returns the brick as a pair if it has at most two materials.
    #[inline]
    fn pair(&self) -> Option<Pair> {
        match *self {
            Self::Uniform(material) => {
                Some(Pair { first: u64::from(material.0) * LANES, ..Pair::default() })
            }
            Self::Two(first, change, planes) => {
                let bits = planes.iter().rev().fold(0, |bits, &word| bits << 16 | u64::from(word));
                Some(Pair { first, change, bits })
            }
            Self::Many(..) => None,
        }
    }

    /// Copies the brick's voxels inside the spans.
    #[inline]
    fn copy(&self, [x, y, z]: [&core::ops::Range<usize>; 3], voxels: &mut [Material], to: Rows) {
        for (layer, along) in z.clone().zip(0..) {
            for (row, up) in y.clone().zip(0..) {
                let start = to.first + up * to.row_step + along * to.layer_step;
                let values = self.row(row, layer);
                let Some(rest) = voxels.get_mut(start..) else { return };
                match rest.first_chunk_mut::<BRICK>() {
                    Some(whole) if x.len() == BRICK => *whole = values,
                    _ => rest.iter_mut().zip(&values[x.clone()]).for_each(|(to, it)| *to = *it),
                }
            }
        }
    }

    /// Returns four voxels along X.
    #[inline]
    fn row(&self, y: usize, z: usize) -> [Material; BRICK] {
        let nibble = |planes: &[u16], plane: usize| {
            usize::from(planes[PLANE_WORDS * plane + z] >> (4 * y) & 15)
        };
        match self {
            Self::Uniform(material) => [*material; BRICK],
            Self::Two(first, change, planes) => {
                let lanes = first ^ change & SPREAD[nibble(planes, 0)];
                [0, 16, 32, 48].map(|shift| Material((lanes >> shift) as u16))
            }
            Self::Many(materials, planes) => {
                let count = planes.len() / PLANE_WORDS;
                let indices = (0..count).fold(0, |indices, plane| {
                    indices | (SPREAD[nibble(planes, plane)] & LANES) << plane
                });
                [0, 16, 32, 48].map(|shift| materials[(indices >> shift) as usize & 63])
            }
        }
    }
}
