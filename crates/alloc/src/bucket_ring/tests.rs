use super::*;

#[test]
fn the_bucket_freed_longest_ago_is_reused_first() {
    let mut ring = BucketRing::new(3, 10);
    let [a, b, c] = [0; 3].map(|_| ring.allocate(0).unwrap());
    assert_eq!(ring.next_time(), None);
    for (bucket, now) in [(b, 5), (c, 6), (a, 6)] {
        ring.free(bucket, now).unwrap();
    }
    assert_eq!(ring.next_time(), Some(5));
    let order = [5, 6, 6].map(|completed| ring.allocate(completed).unwrap().index());
    assert_eq!(order, [1, 2, 0]);
    assert_eq!((ring.range(a), ring.free(a, 9)), (None, Err(Error::Stale)));
    assert_eq!(BucketHandle::from_bits(a.to_bits()), Some(a));
}

/// A handle with the even generation of a free bucket would free the bucket twice.
#[test]
fn integers_that_are_no_handle_are_refused() {
    let mut ring = BucketRing::new(2, 10);
    let bucket = ring.allocate(0).unwrap();
    ring.free(bucket, 1).unwrap();
    let freed = bucket.to_bits() + (1 << u32::BITS);
    assert_eq!(BucketHandle::from_bits(freed), None);
    assert_eq!([0, 1, u32::MAX.into()].map(BucketHandle::from_bits), [None; 3]);
    assert_eq!((ring.len(), ring.validate()), (0, Ok(())));
}

#[test]
fn buckets_with_exhausted_generations_are_never_reused() {
    let mut ring = BucketRing::new(1, 10);
    let first = ring.allocate(0).unwrap();
    ring.buckets[0].generation = u32::MAX;
    ring.free(BucketHandle { generation: u32::MAX, ..first }, 1).unwrap();
    assert_eq!(ring.allocate(9), Err(Error::Full { requested: 1, largest_free: 0, total_free: 0 }));
    ring.validate().unwrap();
    ring.reset();
    ring.validate().unwrap();
    assert!(ring.allocate(u64::MAX).is_err());
}

#[test]
fn the_largest_ring_has_offsets_beyond_32_bits() {
    let mut ring = BucketRing::new(u32::MAX, u32::MAX);
    assert_eq!(ring.grow(1), Err(Error::InvalidSize));
    ring.allocate(0).unwrap();
    let second = ring.allocate(0).unwrap();
    assert_eq!(ring.range(second), Some(u64::from(u32::MAX)..2 * u64::from(u32::MAX)));
    assert!(BucketRing::new(0, 1).allocate(u64::MAX).is_err());
}
