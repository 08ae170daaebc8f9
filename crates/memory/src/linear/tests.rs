#![cfg(feature = "std")]

use core::cell::Cell;
use core::mem::MaybeUninit;

use super::*;

type Bytes<const N: usize> = [MaybeUninit<u8>; N];

/// Memory that begins at a multiple of a page.
#[repr(C, align(4096))]
struct Page<const N: usize>(Bytes<N>);

impl<const N: usize> Page<N> {
    const fn new() -> Self {
        Self([MaybeUninit::uninit(); N])
    }
}

fn full(requested: u64, free: u64) -> Error {
    Error::Full { requested, largest_free: free, total_free: free }
}

#[test]
fn values_are_adjacent() {
    let mut page = Page::<64>::new();
    let mut linear = Linear::new(Region::new(&mut page.0));
    let byte = linear.alloc(1u8).unwrap();
    let word = linear.alloc(2u64).unwrap();
    let words = linear.alloc_slice(&[3u16, 4, 5]).unwrap();
    let text = linear.alloc_str("six").unwrap();
    let made = linear.alloc_slice_with(3, |i| 7 + i as u8).unwrap();
    text.make_ascii_uppercase();
    assert_eq!(
        (*byte, *word, &*words, &*text, &*made),
        (1, 2, &[3, 4, 5][..], "SIX", &[7, 8, 9][..])
    );
    assert_eq!((linear.used(), linear.remaining(), linear.capacity()), (28, 36, 64));
    linear.reset();
    assert_eq!((linear.used(), linear.high_water()), (0, 28));
}

#[test]
fn a_full_region_returns_an_error_and_is_unchanged() {
    let mut page = Page::<20>::new();
    let linear = Linear::new(Region::new(&mut page.0));
    assert_eq!(linear.alloc([0u8; 21]), Err(full(21, 20)));
    linear.alloc([0u8; 17]).unwrap();
    // The alignment passes the end before the size does.
    assert_eq!(linear.alloc(0u32), Err(full(4, 3)));
    assert_eq!(linear.alloc_str("four").unwrap_err(), full(4, 3));
    let calls = Cell::new(0);
    let make = |_| calls.set(calls.get() + 1);
    assert!(linear.alloc_with(|| (make(0), [0u8; 8])).is_err());
    assert!(linear.alloc_slice_with(4, |i| (make(i), 1u8).1).is_err());
    assert_eq!(calls.get(), 0);
    assert!(linear.alloc([0u8; 3]).is_ok() && linear.alloc(0u8).is_err());
}

#[test]
fn blocks_of_0_bytes_fit_into_a_full_region() {
    let linear = Linear::new(Region::new(&mut []));
    #[repr(align(64))]
    struct Aligned;
    assert_eq!(linear.alloc(Aligned).map(|it| &raw const *it as usize % 64), Ok(0));
    assert_eq!(linear.alloc_slice::<u64>(&[]).unwrap().len(), 0);
    assert_eq!(linear.alloc_str("").unwrap(), "");
    assert_eq!(linear.alloc_slice_with(1000, |_| ()).unwrap().len(), 1000);
    for align in [1, 16, 4096, 1 << (usize::BITS - 2)] {
        let block = linear.allocate(Layout::from_size_align(0, align).unwrap()).unwrap();
        assert_eq!(block.addr().get() % align, 0);
    }
    assert_eq!(linear.alloc(1u8), Err(full(1, 0)));
}

#[test]
fn the_largest_sizes_and_alignments_are_errors() {
    let mut page = Page::<8192>::new();
    // Misaligned, so that the requested page is in the middle.
    let linear = Linear::new(Region::new(&mut page.0[1..]));
    let max_size = isize::MAX as usize;
    for (size, align) in
        [(max_size, 1), (max_size - 15, 16), (1, 1 << (usize::BITS - 2)), (8192, 1)]
    {
        let layout = Layout::from_size_align(size, align).unwrap();
        assert_eq!(linear.allocate(layout), Err(full(size as u64, 8191)), "{layout:?}");
    }
    assert_eq!(linear.alloc_slice_with(max_size, |_| 0u16).unwrap_err(), Error::InvalidSize);
    let block = linear.allocate(Layout::from_size_align(4096, 4096).unwrap()).unwrap();
    assert_eq!(block.addr().get() % 4096, 0);
    assert_eq!((linear.used(), linear.remaining()), (8191, 0));
}

#[test]
fn checkpoints_go_back_and_nest() {
    let mut page = Page::<64>::new();
    let mut linear = Linear::new(Region::new(&mut page.0));
    linear.alloc(1u64).unwrap();
    {
        let mut outer = linear.checkpoint();
        outer.alloc([0u64; 2]).unwrap();
        {
            let inner = outer.checkpoint();
            inner.alloc([0u64; 3]).unwrap();
            assert_eq!(inner.used(), 48);
        }
        assert_eq!(outer.used(), 24);
        outer.rewind();
        assert_eq!(outer.used(), 8);
        core::mem::forget(outer.checkpoint());
        outer.alloc(0u8).unwrap();
    }
    assert_eq!((linear.used(), linear.high_water()), (8, 48));
    core::mem::forget(linear.checkpoint());
    linear.checkpoint().alloc(1u8).unwrap();
    assert_eq!(linear.used(), 8);
}

#[test]
fn values_made_in_place_may_allocate_too() {
    let mut page = Page::<64>::new();
    let linear = Linear::new(Region::new(&mut page.0));
    let outer = linear.alloc_with(|| (1u64, &*linear.alloc(2u64).unwrap())).unwrap();
    assert_eq!((outer.0, *outer.1), (1, 2));
    assert_eq!(linear.used(), 24);
}

#[test]
fn freed_memory_is_overwritten_in_debug_builds() {
    let mut page = Page::<16>::new();
    let start = page.0.as_mut_ptr().cast::<u8>();
    let mut linear = Linear::new(Region::new(&mut page.0));
    linear.alloc([7u8; 9]).unwrap();
    linear.reset();
    drop(linear);
    let expected = if cfg!(debug_assertions) { 0xDD } else { 7 };
    // SAFETY: nine bytes were written, by us and perhaps by the reset.
    assert_eq!(unsafe { start.add(8).read() }, expected);
}

#[test]
fn a_linear_allocator_is_send() {
    fn is_send(_: impl Send) {}
    is_send(Linear::new(Region::new(&mut [])));
}
