use alloc::vec::Vec;

use super::lists::{Polygons, VertexLists};
use super::plane::Plane;
use super::vertices::Vertices;
use crate::error::{Error, full};

/// Number of polygons of a block: few enough to be close together in a model, enough to save tests.
const BLOCK_POLYGONS: u32 = 64;

/// Blocks of polygons with consecutive indices, each with a bounding box. Polygons of a model are
/// inserted one after the other and are close together. Most blocks are therefore on one side of a
/// plane, and their polygons need no test.
///
/// ```text
///  indices  0 … 63   64 … 127   128 … 191   …
///  boxes    [    ]   [      ]   [ stale ]        recomputed when needed after an insertion
/// ```
#[derive(Default)]
pub(super) struct Blocks {
    boxes: Vec<Box>,
    /// Results of the present clip for each block.
    verdicts: Vec<Option<Verdict>>,
}

/// Axis-aligned bounding box of polygons.
#[derive(Clone, Copy)]
struct Box {
    low: [f32; 3],
    high: [f32; 3],
    /// Whether polygons were inserted since it was computed. Removals only leave it too large.
    is_stale: bool,
}

/// Classification of polygons before they are cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    Outside,
    Inside,
    /// Each polygon has to be tested.
    Unknown,
}

impl Blocks {
    /// Marks the box of a polygon's block as stale.
    #[inline]
    pub(super) fn touch(&mut self, index: u32) {
        // New blocks are created stale.
        if let Some(found) = self.boxes.get_mut((index / BLOCK_POLYGONS) as usize) {
            found.is_stale = true;
        }
    }

    /// Starts a clip with other planes, for polygons with indices below `end`.
    pub(super) fn start(&mut self, end: u32) -> Result<(), Error> {
        let count = end.div_ceil(BLOCK_POLYGONS) as usize;
        let more = count.saturating_sub(self.boxes.len());
        let no_memory = |_| full(more * size_of::<Box>());
        self.boxes.try_reserve(more).map_err(no_memory)?;
        self.verdicts.clear();
        self.verdicts.try_reserve(count).map_err(no_memory)?;
        self.boxes.resize(count.max(self.boxes.len()), Box::STALE);
        self.verdicts.resize(count, None);
        Ok(())
    }

    /// Classifies the block of a polygon. The planes must be the same since [`start`](Self::start).
    #[inline]
    pub(super) fn classify<T, L: VertexLists>(
        &mut self,
        index: u32,
        planes: &[Plane],
        polygons: &Polygons<L>,
        lists: &L,
        vertices: &Vertices<T>,
    ) -> Verdict {
        let block = index / BLOCK_POLYGONS;
        if let Some(Some(verdict)) = self.verdicts.get(block as usize) {
            return *verdict;
        }
        let Some(found) = self.boxes.get_mut(block as usize) else { return Verdict::Unknown };
        if found.is_stale {
            *found = Box::around(block, polygons, lists, vertices);
        }
        let verdict = found.classify(planes);
        if let Some(stored) = self.verdicts.get_mut(block as usize) {
            *stored = Some(verdict);
        }
        verdict
    }

    /// Removes all polygons and keeps the memory.
    pub(super) fn reset(&mut self) {
        self.boxes.clear();
    }

    /// Reserved memory, in bytes.
    pub(super) fn reserved_bytes(&self) -> usize {
        self.boxes.capacity() * size_of::<Box>() + self.verdicts.capacity()
    }
}

impl Box {
    /// Box that has not been computed yet.
    const STALE: Self =
        Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3], is_stale: true };

    /// Computes the box of a block's polygons.
    #[cold]
    fn around<T, L: VertexLists>(
        block: u32,
        polygons: &Polygons<L>,
        lists: &L,
        vertices: &Vertices<T>,
    ) -> Self {
        let mut found = Self { is_stale: false, ..Self::STALE };
        let first = block * BLOCK_POLYGONS;
        let live = (first..first.saturating_add(BLOCK_POLYGONS)).filter_map(|at| polygons.at(at));
        let numbers = live.flat_map(|polygon| lists.get(&polygon.list));
        for position in numbers.filter_map(|&vertex| vertices.position(vertex)) {
            for (axis, at) in position.into_iter().enumerate() {
                found.low[axis] = found.low[axis].min(at);
                found.high[axis] = found.high[axis].max(at);
            }
        }
        found
    }

    /// Classifies everything in the box. Rounding is monotonic, so the distances computed for the
    /// box's corners bound the computed distance of every corner inside.
    fn classify(&self, planes: &[Plane]) -> Verdict {
        let mut verdict = Verdict::Inside;
        for plane in planes {
            let (min, max) = plane.distances(self.low, self.high);
            if max < 0.0 {
                return Verdict::Outside;
            }
            if min <= 0.0 {
                verdict = Verdict::Unknown;
            }
        }
        verdict
    }
}
