use proptest::prelude::*;

use super::*;

#[test]
fn ranges_are_freed_when_their_frame_is_complete() {
    let mut ring = Ring::new(100);
    assert_eq!(ring.allocate(40, 1), Some(0));
    ring.end_frame(1);
    assert_eq!(ring.allocate(40, 16), Some(48));
    ring.end_frame(2);
    assert_eq!(ring.allocate(20, 1), None);
    assert_eq!(ring.free_range(), 88..100);
    ring.complete(1);
    // Not enough at the end: the next round begins.
    assert_eq!(ring.allocate(20, 1), Some(0));
    assert_eq!(ring.allocate(21, 1), None);
    ring.complete(2);
    ring.end_frame(3);
    assert_eq!(ring.allocate(81, 1), None);
    ring.complete(3);
    assert_eq!(ring.allocate(101, 1), None);
    assert_eq!(ring.allocate(u64::MAX, 1), None);
    assert_eq!(ring.allocate(100, 1), Some(0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Bytes of unfinished frames are never allocated again.
    #[test]
    fn places_in_use_do_not_overlap(
        capacity in 1_u64..200,
        steps in prop::collection::vec((0_u64..90, 0_u32..5, 0_u64..4), 1..60),
    ) {
        let mut ring = Ring::new(capacity);
        let mut used: Vec<(u64, Range<u64>)> = Vec::new();
        let mut frame = 1;
        for (size, shift, lag) in steps {
            let alignment = 1_u64 << shift;
            if let Some(offset) = ring.allocate(size, alignment) {
                prop_assert!(offset % alignment == 0 && offset + size <= capacity);
                let range = offset..offset + size;
                for (_, other) in &used {
                    prop_assert!(range.end <= other.start || other.end <= range.start
                        || range.is_empty() || other.is_empty());
                }
                used.push((frame, range));
            }
            let free = ring.free_range();
            prop_assert!(free.end <= capacity);
            for (_, other) in &used {
                prop_assert!(free.end <= other.start || other.end <= free.start
                    || free.is_empty() || other.is_empty());
            }
            if size % 3 == 0 {
                ring.end_frame(frame);
                frame += 1;
                let done = frame.saturating_sub(lag + 1);
                ring.complete(done);
                used.retain(|(number, _)| *number > done);
            }
        }
    }
}
