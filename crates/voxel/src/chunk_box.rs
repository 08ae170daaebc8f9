use crate::node_pos::NodePos;
use crate::position::ChunkPos;

/// A box of chunks from `min` to `max`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Corners"))]
pub struct ChunkBox {
    /// Lowest chunk on each axis.
    pub min: ChunkPos,
    /// Highest chunk on each axis.
    pub max: ChunkPos,
}

/// Corners of a [`ChunkBox`] that may be in the wrong order.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Corners {
    min: ChunkPos,
    max: ChunkPos,
}

#[cfg(feature = "serde")]
impl TryFrom<Corners> for ChunkBox {
    type Error = &'static str;

    fn try_from(Corners { min, max }: Corners) -> Result<Self, Self::Error> {
        let is_valid = min.x <= max.x && min.y <= max.y && min.z <= max.z;
        is_valid
            .then_some(Self { min, max })
            .ok_or("the lowest corner of a box is above the highest")
    }
}

impl ChunkBox {
    /// Returns the smallest box that contains all `positions`, or `None` if there are none.
    pub fn around(positions: impl IntoIterator<Item = ChunkPos>) -> Option<Self> {
        let mut positions = positions.into_iter();
        let first = positions.next()?;
        let one = Self { min: first, max: first };
        Some(positions.fold(one, |all, next| Self {
            min: ChunkPos::new(all.min.x.min(next.x), all.min.y.min(next.y), all.min.z.min(next.z)),
            max: ChunkPos::new(all.max.x.max(next.x), all.max.y.max(next.y), all.max.z.max(next.z)),
        }))
    }

    /// Whether `chunk` is in the box.
    pub fn contains(&self, chunk: ChunkPos) -> bool {
        (self.min.x..=self.max.x).contains(&chunk.x)
            && (self.min.y..=self.max.y).contains(&chunk.y)
            && (self.min.z..=self.max.z).contains(&chunk.z)
    }

    /// Returns the number of chunks along X, Y and Z.
    pub fn size_chunks(&self) -> [u64; 3] {
        let side = |low: i32, high: i32| u64::from(high.abs_diff(low)) + 1;
        [side(self.min.x, self.max.x), side(self.min.y, self.max.y), side(self.min.z, self.max.z)]
    }

    /// Returns the box of nodes of an LOD level that cover this box of chunks.
    #[must_use]
    pub fn at_level(&self, level: u8) -> Self {
        let [min, max] = [self.min, self.max].map(|it| NodePos::from(it).ancestor(level).chunk);
        Self { min, max }
    }

    /// Returns the lowest LOD level at which at most two nodes per axis cover the box.
    pub fn top_level(&self) -> u8 {
        (0..NodePos::MAX_LEVEL)
            .find(|&level| self.at_level(level).size_chunks().iter().all(|&side| side <= 2))
            .unwrap_or(NodePos::MAX_LEVEL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_is_tight() {
        let chunks = [ChunkPos::new(3, 0, -2), ChunkPos::new(-1, 5, 7)];
        let found = ChunkBox::around(chunks).unwrap();
        assert_eq!(found.size_chunks(), [5, 6, 10]);
        assert!(chunks.iter().all(|&chunk| found.contains(chunk)));
        assert!(!found.contains(ChunkPos::new(4, 0, 0)));
        assert_eq!(ChunkBox::around([]), None);
    }
}
