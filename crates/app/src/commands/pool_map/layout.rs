//! Layout of ranges in the picture: each buffer is a band of rows, read like a page.

use drystone_pool::{PoolRange, RangeState};

use super::numbers::BufferNumbers;

/// Approximate number of rows in the whole picture, chosen to fit a screen.
const ROWS: u64 = 30;
/// Steps across a row. Narrower ranges may be invisible.
pub(super) const STEPS: u64 = 2_304;

/// Converts ranges to stripes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Elements of a full row, equal for all buffers.
    pub(super) row_elements: u64,
}

/// Part of a range within one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stripe {
    /// Row in its buffer's band.
    pub(super) row: u64,
    /// Steps that it covers, at least one.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) state: RangeState,
}

impl Layout {
    pub(super) fn new(buffers: &[BufferNumbers]) -> Self {
        let all: u64 = buffers.iter().map(|buffer| buffer.elements).sum();
        Self { row_elements: all.div_ceil(ROWS).max(1) }
    }

    /// Returns the rows of a buffer's band.
    pub(super) fn rows(self, buffer: &BufferNumbers) -> u64 {
        buffer.elements.div_ceil(self.row_elements)
    }

    /// Returns the visible stripes of a range, one for each row that it reaches into.
    pub(super) fn stripes(self, pool_range: &PoolRange) -> impl Iterator<Item = Stripe> {
        let (first, end) =
            (u64::from(pool_range.elements.start), u64::from(pool_range.elements.end));
        let (state, row_elements) = (pool_range.state, self.row_elements);
        (first / row_elements..end.div_ceil(row_elements)).filter_map(move |row| {
            let from = first.max(row * row_elements) - row * row_elements;
            let to = end.min((row + 1) * row_elements) - row * row_elements;
            // Both ends are rounded alike, so that neighbours neither overlap nor leave a gap.
            let step = |elements: u64| (elements * STEPS + row_elements / 2) / row_elements;
            let (start, end) = (step(from), step(to));
            (start < end).then_some(Stripe { row, start, end, state })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(elements: u64) -> BufferNumbers {
        BufferNumbers { elements, ..BufferNumbers::default() }
    }

    /// Adjacent ranges of random sizes.
    fn ranges(quads: u32, seed: u64) -> Vec<PoolRange> {
        let (mut start, mut random, mut ranges) = (0, seed | 1, Vec::new());
        while start < quads {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(seed);
            let end = (start + 1 + (random >> 40) as u32 % (1 << (random >> 60))).min(quads);
            let state = [RangeState::Free, RangeState::Waiting][ranges.len() % 2];
            ranges.push(PoolRange { buffer: 0, elements: start..end, state });
            start = end;
        }
        ranges
    }

    /// Every row is covered once from end to end, and each stripe lies where its range does.
    #[test]
    fn stripes_cover_each_row_once_and_lie_where_their_ranges_do() {
        for (quads, seed) in [(1, 1), (29, 2), (1_000, 3), (100_003, 4), (5_000_000, 5)] {
            let layout = Layout::new(&[buffer(quads.into())]);
            let mut covered = vec![0; layout.rows(&buffer(quads.into())) as usize];
            for pool_range in ranges(quads, seed) {
                for stripe in layout.stripes(&pool_range) {
                    let end = &mut covered[stripe.row as usize];
                    assert_eq!((stripe.start, stripe.state), (*end, pool_range.state));
                    *end = stripe.end;
                    // The middle of the stripe, in elements, is within a step of its range.
                    let step = layout.row_elements as f64 / STEPS as f64;
                    let middle = (stripe.start + stripe.end) as f64 / 2.0 * step
                        + (stripe.row * layout.row_elements) as f64;
                    let range = &pool_range.elements;
                    assert!(middle >= f64::from(range.start) - step, "{stripe:?} {pool_range:?}");
                    assert!(middle <= f64::from(range.end) + step, "{stripe:?} {pool_range:?}");
                }
            }
            let last = covered.pop().unwrap();
            assert!(covered.iter().all(|&end| end == STEPS), "{quads}: {covered:?}");
            let in_last = u64::from(quads) - covered.len() as u64 * layout.row_elements;
            assert_eq!(last, (in_last * STEPS + layout.row_elements / 2) / layout.row_elements);
        }
    }

    #[test]
    fn buffers_share_a_scale() {
        let layout = Layout::new(&[buffer(700), buffer(200), buffer(0)]);
        assert_eq!(layout.row_elements, 30);
        assert_eq!([700, 200, 0].map(|quads| layout.rows(&buffer(quads))), [24, 7, 0]);
        assert_eq!(Layout::new(&[]).row_elements, 1);
    }
}
