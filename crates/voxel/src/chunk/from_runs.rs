use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::blocks::Block;
use super::bricks::Bricks;
use super::numbered::has_duplicates;
use super::palette::{Palette, Width};
use super::runs::Runs;
use super::storage::Storage;
use crate::{Chunk, Material, StorageKind};

/// Returns the storage of a chunk of `side`³ voxels made of runs, and the number of its solid voxels,
/// or `None` if the runs are invalid.
pub(super) fn read(
    side: u32,
    materials: &[Material],
    runs: impl IntoIterator<Item = (u32, usize)>,
    storage: StorageKind,
) -> Option<(Storage, u32)> {
    if !(1..=Chunk::MAX_SIDE).contains(&side) || has_duplicates(materials) {
        return None;
    }
    let volume = side.pow(3);
    let runs = Checked { runs: runs.into_iter(), rest: volume, last: usize::MAX };
    let volume = volume as usize;
    match storage {
        StorageKind::Uniform => uniform(materials, runs),
        StorageKind::Runs => as_runs(materials, runs),
        StorageKind::Bricks => bricks(volume, materials, runs),
        StorageKind::Palette { bits: u16::BITS } => direct(volume, materials, runs),
        StorageKind::Palette { bits } => packed(volume, materials, runs, bits),
    }
}

/// Iterator over runs that validates them.
struct Checked<I> {
    runs: I,
    /// Number of voxels that are not covered yet.
    rest: u32,
    /// Material index of the previous run.
    last: usize,
}

impl<I: Iterator<Item = (u32, usize)>> Checked<I> {
    /// Calls `each` with every run. Returns `None` if the runs are invalid.
    #[inline]
    fn each(mut self, mut each: impl FnMut(u32, usize) -> Option<()>) -> Option<()> {
        for (len, number) in self.runs {
            if len == 0 || len > self.rest || number == self.last {
                return None;
            }
            each(len, number)?;
            (self.rest, self.last) = (self.rest - len, number);
        }
        (self.rest == 0).then_some(())
    }
}

type Converted = Option<(Storage, u32)>;

/// Creates storage for a single run.
fn uniform(materials: &[Material], runs: Checked<impl Iterator<Item = (u32, usize)>>) -> Converted {
    let mut found = None;
    runs.each(|len, number| {
        found = Some((*materials.get(number)?, len));
        Some(())
    })?;
    match (found, materials) {
        (Some((only, len)), [_]) => Some((Storage::Uniform(only), solid(only, len))),
        _ => None,
    }
}

fn as_runs(materials: &[Material], runs: Checked<impl Iterator<Item = (u32, usize)>>) -> Converted {
    let (mut pairs, mut solid_count) = (Vec::new(), 0);
    runs.each(|len, number| {
        let material = *materials.get(number)?;
        solid_count += solid(material, len);
        pairs.push((len, material));
        Some(())
    })?;
    let runs = Runs::new(pairs.len(), pairs.into_iter());
    Some((Storage::Runs(Arc::new(runs)), solid_count))
}

fn bricks(
    volume: usize,
    materials: &[Material],
    runs: Checked<impl Iterator<Item = (u32, usize)>>,
) -> Converted {
    let (mut numbers, mut start, mut solid_count) = (vec![0; volume], 0, 0);
    runs.each(|len, number| {
        solid_count += solid(*materials.get(number)?, len);
        numbers.get_mut(start..start + len as usize)?.fill(u8::try_from(number).ok()?);
        start += len as usize;
        Some(())
    })?;
    let bricks = Bricks::of_numbers(materials, &numbers)?;
    Some((Storage::Bricks(Arc::new(bricks)), solid_count))
}

fn direct(
    volume: usize,
    materials: &[Material],
    runs: Checked<impl Iterator<Item = (u32, usize)>>,
) -> Converted {
    let mut voxels = Block::filled(volume, Material::AIR);
    let (mut start, mut solid_count) = (0, 0);
    runs.each(|len, number| {
        let material = *materials.get(number)?;
        solid_count += solid(material, len);
        voxels.get_mut(start..start + len as usize)?.fill(material);
        start += len as usize;
        Some(())
    })?;
    Some((Storage::Direct(Arc::new(voxels)), solid_count))
}

fn packed(
    volume: usize,
    materials: &[Material],
    runs: Checked<impl Iterator<Item = (u32, usize)>>,
    bits: u32,
) -> Converted {
    let width = Width::of_bits(bits).filter(|width| materials.len() <= width.capacity())?;
    let mut counts = [0; Width::MAX.capacity()];
    let counts = counts.get_mut(..materials.len())?;
    let mut packed = Block::filled(width.bytes(volume), 0);
    // Multiplied by a voxel's number, this repeats the number in a whole word.
    let ones = u64::MAX / ((1 << bits) - 1);
    let mut writer = Writer::new(&mut packed);
    runs.each(|len, number| {
        *counts.get_mut(number)? += len;
        writer.put(len as usize * bits as usize, ones.wrapping_mul(number as u64));
        Some(())
    })?;
    writer.finish();
    let palette = Palette::of_parts(width, materials, counts, packed);
    let solid_count = materials.iter().zip(counts.iter()).map(|(&it, &len)| solid(it, len)).sum();
    Some((Storage::Palette(Arc::new(palette)), solid_count))
}

/// Writes bits in ascending order, one word at a time.
struct Writer<'a> {
    words: &'a mut [[u8; WORD_BYTES]],
    /// Last bytes, if they do not fill a word.
    rest: &'a mut [u8],
    /// Number of bits written.
    end: usize,
    /// Word that contains the next bits, below `end`.
    word: u64,
}

const WORD_BITS: usize = u64::BITS as usize;
const WORD_BYTES: usize = WORD_BITS / 8;

impl<'a> Writer<'a> {
    fn new(bytes: &'a mut [u8]) -> Self {
        let (words, rest) = bytes.as_chunks_mut();
        Self { words, rest, end: 0, word: 0 }
    }

    /// Writes `len` bits of `pattern`. The pattern repeats in each word: bit n of a word is bit n
    /// of the pattern. Bits beyond the end of the bytes are dropped.
    #[inline]
    fn put(&mut self, len: usize, pattern: u64) {
        let (first, keep) = (self.end / WORD_BITS, (1 << (self.end % WORD_BITS)) - 1);
        self.end += len;
        let last = self.end / WORD_BITS;
        self.word = self.word & keep | pattern & !keep;
        if first == last {
            return;
        }
        if let Some((word, behind)) =
            self.words.get_mut(first..last).and_then(<[_]>::split_first_mut)
        {
            *word = self.word.to_le_bytes();
            behind.fill(pattern.to_le_bytes());
        }
        self.word = pattern;
    }

    /// Writes the last word; unused bits are 0.
    fn finish(self) {
        let keep = (1 << (self.end % WORD_BITS)) - 1;
        let word = (self.word & keep).to_le_bytes();
        match self.words.get_mut(self.end / WORD_BITS) {
            Some(last) => *last = word,
            None => self.rest.iter_mut().zip(word).for_each(|(byte, bits)| *byte = bits),
        }
    }
}

fn solid(material: Material, len: u32) -> u32 {
    if material.is_air() { 0 } else { len }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_of(voxels: &[Material], kinds: &[Material]) -> Vec<(u32, usize)> {
        let number = |m: Material| kinds.iter().position(|&kind| kind == m).unwrap();
        voxels.chunk_by(PartialEq::eq).map(|run| (run.len() as u32, number(run[0]))).collect()
    }

    /// Compares with the voxels, for every storage and many sides.
    #[test]
    fn chunks_from_runs_equal_chunks_from_voxels() {
        for side in [1u32, 2, 3, 5, 7, 12, 32, 64] {
            for (bits, count) in [(1, 2), (2, 3), (2, 4), (4, 16), (8, 200), (8, 256), (16, 300)] {
                let kinds: Vec<Material> = (0..count).map(|n| Material(n * 3)).collect();
                let volume = side.pow(3) as usize;
                // Short and long runs in irregular order.
                let long = |n: usize| n / (1 + (n / 50) % 40);
                let pick = |n: usize| kinds[(long(n) * 7 + long(n) / 9) % kinds.len()];
                let voxels: Vec<Material> = (0..volume).map(pick).collect();
                let expected = Chunk::from_voxels(side, &voxels).unwrap();
                let runs = runs_of(&voxels, &kinds);
                for storage in [StorageKind::Palette { bits }, StorageKind::Runs] {
                    let made = Chunk::from_runs(side, &kinds, runs.clone(), storage).unwrap();
                    made.validate().unwrap();
                    assert_eq!(made, expected, "side {side}, {storage}");
                    assert_eq!(made.storage(), storage);
                }
            }
        }
        let one = Chunk::from_runs(4, &[Material(8)], [(64, 0)], StorageKind::Uniform).unwrap();
        assert_eq!((one.uniform(), one.solid_count()), (Some(Material(8)), 64));
    }

    /// Chunks from runs can be edited.
    #[test]
    fn chunks_from_runs_can_be_edited() {
        let kinds = vec![Material(1), Material(2), Material(3)];
        let bits = StorageKind::Palette { bits: 2 };
        for side in [3u8, 32] {
            let volume = u32::from(side).pow(3);
            let runs = [(5, 0), (volume - 9, 2), (4, 1)];
            let mut made = Chunk::from_runs(side.into(), &kinds, runs, bits).unwrap();
            for n in 0..side {
                made.set(crate::LocalPos::new(n, n, n), Material(9 + u16::from(n)));
            }
            made.validate().unwrap();
        }
    }

    #[test]
    fn invalid_runs_give_none() {
        let kinds: Vec<Material> = (0..300).map(Material).collect();
        let bits = |bits| StorageKind::Palette { bits };
        let make = |side, count: usize, runs: &[(u32, usize)], storage| {
            Chunk::from_runs(side, &kinds[..count], runs.iter().copied(), storage)
        };
        for storage in [StorageKind::Runs, bits(1), bits(8), bits(16)] {
            assert!(make(2, 2, &[(3, 0), (5, 1)], storage).is_some(), "{storage}");
            for wrong in [
                &[(3, 0), (4, 1)][..],
                &[(3, 0), (6, 1)],
                &[(3, 0), (5, 2)],
                &[(3, 1), (5, 1)],
                &[(8, 1), (0, 0)],
                &[(u32::MAX, 1), (9, 0)],
                &[],
            ] {
                assert!(make(2, 2, wrong, storage).is_none(), "{storage}: {wrong:?}");
            }
            let twice = [Material(1), Material(1)];
            assert!(Chunk::from_runs(2, &twice, [(3, 0), (5, 1)], storage).is_none());
            assert!(make(0, 1, &[], storage).is_none());
            assert!(make(65, 1, &[(65 * 65 * 65, 0)], storage).is_none());
        }
        assert!(make(2, 3, &[(8, 0)], bits(1)).is_none(), "too many materials for the width");
        assert!(make(2, 300, &[(8, 0)], bits(8)).is_none());
        assert!(make(2, 2, &[(8, 0)], bits(3)).is_none(), "no such width");
        assert!(make(2, 2, &[(8, 0)], StorageKind::Uniform).is_none());
        assert!(make(2, 1, &[(8, 1)], StorageKind::Uniform).is_none());
    }
}
