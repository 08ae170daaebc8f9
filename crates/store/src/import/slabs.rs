use drystone_voxel::{ChunkBox, ChunkPos};

use drystone_formats::{Source, SourceError};

use crate::chunk_list::ChunkList;

/// Chunk positions of a source in slabs of 8 × 2 × 8. A slab covers whole groups of stored chunks
/// and most of a column. Slabs are returned column by column, lowest first.
pub(super) struct Slabs {
    positions: Positions,
    /// Number of slabs returned so far.
    next: u64,
}

enum Positions {
    /// All positions of a box, without a list.
    Box(ChunkBox),
    /// Listed positions sorted by slab, and the index of the next one.
    List(Vec<ChunkPos>, usize),
}

/// Sides of a slab, as powers of two.
const SIDE_LOG2: [u32; 3] = [3, 1, 3];

impl Slabs {
    /// # Errors
    /// A source whose list of chunks is damaged or cannot be read.
    pub(super) fn of(source: &dyn Source) -> Result<Self, SourceError> {
        let positions = match ChunkList::of(source)? {
            ChunkList::Box(all) => Positions::Box(all),
            ChunkList::List(positions) => list(positions),
        };
        Ok(Self { positions, next: 0 })
    }

    /// Number of all positions.
    pub(super) fn position_count(&self) -> u64 {
        match &self.positions {
            Positions::Box(all) => all.size_chunks().into_iter().product(),
            Positions::List(positions, _) => positions.len() as u64,
        }
    }
}

fn list(mut positions: Vec<ChunkPos>) -> Positions {
    positions.sort_unstable_by_key(|&position| (slab_of(position), position));
    Positions::List(positions, 0)
}

/// Returns the position of a chunk's slab, in the order X, Z, Y.
fn slab_of(position: ChunkPos) -> [i32; 3] {
    [position.x >> SIDE_LOG2[0], position.z >> SIDE_LOG2[2], position.y >> SIDE_LOG2[1]]
}

impl Iterator for Slabs {
    type Item = Vec<ChunkPos>;

    fn next(&mut self) -> Option<Vec<ChunkPos>> {
        let found = match &mut self.positions {
            Positions::Box(all) => slab_in(all, self.next)?,
            Positions::List(positions, from) => {
                let rest = positions.get(*from..)?;
                let slab = slab_of(*rest.first()?);
                let count = rest.iter().take_while(|&&position| slab_of(position) == slab).count();
                *from += count;
                rest[..count].to_vec()
            }
        };
        self.next += 1;
        Some(found)
    }
}

/// Returns the positions in the slab of this index in a box.
fn slab_in(all: &ChunkBox, number: u64) -> Option<Vec<ChunkPos>> {
    let (low, high) = (slab_of(all.min), slab_of(all.max));
    let sides: [u64; 3] = std::array::from_fn(|n| u64::from(high[n].abs_diff(low[n])) + 1);
    let [x, z, y] = [number / sides[2] / sides[1], number / sides[2] % sides[1], number % sides[2]];
    if x >= sides[0] {
        return None;
    }
    let span = |low: i32, offset: u64, log2: u32, min: i32, max: i32| {
        let first = (i64::from(low) + offset as i64) << log2;
        let last = first + (1 << log2) - 1;
        (first.max(min.into()) as i32)..=(last.min(max.into()) as i32)
    };
    let ys = span(low[2], y, SIDE_LOG2[1], all.min.y, all.max.y);
    let zs = span(low[1], z, SIDE_LOG2[2], all.min.z, all.max.z);
    let xs = span(low[0], x, SIDE_LOG2[0], all.min.x, all.max.x);
    let rows = xs.flat_map(|x| ys.clone().map(move |y| (x, y)));
    Some(rows.flat_map(|(x, y)| zs.clone().map(move |z| ChunkPos::new(x, y, z))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box and a list of its positions give the same slabs.
    #[test]
    fn a_box_and_a_list_give_the_same_slabs() {
        for (min, max) in [
            (ChunkPos::new(0, 0, 0), ChunkPos::new(0, 0, 0)),
            (ChunkPos::new(-9, -3, 4), ChunkPos::new(10, 4, 17)),
            (ChunkPos::new(i32::MAX - 9, 0, i32::MIN), ChunkPos::new(i32::MAX, 1, i32::MIN + 3)),
        ] {
            let all = ChunkBox { min, max };
            let positions: Vec<_> = (min.x..=max.x)
                .flat_map(|x| (min.y..=max.y).map(move |y| (x, y)))
                .flat_map(|(x, y)| (min.z..=max.z).map(move |z| ChunkPos::new(x, y, z)))
                .collect();
            let slabs = |positions| Slabs { positions, next: 0 };
            let listed = slabs(list(positions.clone()));
            let boxed = slabs(Positions::Box(all));
            assert_eq!(listed.position_count(), boxed.position_count());
            let (listed, boxed): (Vec<_>, Vec<_>) = (listed.collect(), boxed.collect());
            assert_eq!(listed, boxed);
            let mut seen: Vec<ChunkPos> = boxed.concat();
            seen.sort_unstable();
            assert_eq!(seen, positions);
            assert!(boxed.iter().all(|slab| slab.len() <= 128));
        }
        assert_eq!(Slabs { positions: list(Vec::new()), next: 0 }.count(), 0);
    }
}
