use alloc::vec::Vec;

use super::store::Polygons;
use super::vertices::Vertices;
use super::{Plane, VertexLists};
use crate::error::{Error, full};

/// Polygons of a block: few enough that those of a model lie close together, so many that
/// there is little to look at.
const BLOCK_POLYGONS: u32 = 64;

/// Polygons in blocks, by their places, each with a box around it. Those of a model come one
/// after the other and lie side by side: most blocks lie on one side of a plane, and their
/// polygons need not be looked at.
///
/// ```text
///  places   0 … 63   64 … 127   128 … 191   …
///  boxes    [    ]   [      ]   [ stale ]        found when asked for, after an insertion
/// ```
#[derive(Default)]
pub(super) struct Blocks {
    boxes: Vec<Box>,
    /// What the planes of the clip under way leave of each block.
    verdicts: Vec<Option<Verdict>>,
}

/// The space that polygons lie in.
#[derive(Clone, Copy)]
struct Box {
    low: [f32; 3],
    high: [f32; 3],
    /// Whether polygons came since it was found. Those that went leave it too large, which
    /// is no harm.
    is_stale: bool,
}

/// What is known of polygons before they are cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    Outside,
    Inside,
    /// They have to be looked at to know.
    Open,
}

impl Blocks {
    /// Polygons in one place are others now.
    #[inline]
    pub(super) fn touch(&mut self, place: u32) {
        // Blocks beyond those that there are come stale.
        if let Some(found) = self.boxes.get_mut((place / BLOCK_POLYGONS) as usize) {
            found.is_stale = true;
        }
    }

    /// Takes up other planes, for polygons in the places up to `end`.
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

    /// What planes leave of the block that a place lies in. They have to be the same from
    /// [`start`](Self::start) on.
    #[inline]
    pub(super) fn judge<T, L: VertexLists>(
        &mut self,
        place: u32,
        planes: &[Plane],
        polygons: &Polygons<L>,
        lists: &L,
        vertices: &Vertices<T>,
    ) -> Verdict {
        let block = place / BLOCK_POLYGONS;
        if let Some(Some(verdict)) = self.verdicts.get(block as usize) {
            return *verdict;
        }
        let Some(found) = self.boxes.get_mut(block as usize) else { return Verdict::Open };
        if found.is_stale {
            *found = Box::around(block, polygons, lists, vertices);
        }
        let verdict = found.judge(planes);
        if let Some(place) = self.verdicts.get_mut(block as usize) {
            *place = Some(verdict);
        }
        verdict
    }

    /// Forgets all polygons and keeps the memory.
    pub(super) fn reset(&mut self) {
        self.boxes.clear();
    }

    /// Bytes of memory that there is.
    pub(super) fn reserved_bytes(&self) -> usize {
        self.boxes.capacity() * size_of::<Box>() + self.verdicts.capacity()
    }
}

impl Box {
    /// Nothing is known of what it holds.
    const STALE: Self =
        Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3], is_stale: true };

    /// The box of a block's polygons.
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

    /// What planes leave of all that lies in the box. Products and sums are rounded up and
    /// down alike: what the box's corners say holds for the distance of every corner in it
    /// as it is computed.
    fn judge(&self, planes: &[Plane]) -> Verdict {
        let mut verdict = Verdict::Inside;
        for plane in planes {
            let (least, most) = plane.distances(self.low, self.high);
            if most < 0.0 {
                return Verdict::Outside;
            }
            if least <= 0.0 {
                verdict = Verdict::Open;
            }
        }
        verdict
    }
}
