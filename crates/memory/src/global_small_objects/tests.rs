#![allow(clippy::unwrap_used)]

use super::*;
use crate::SlotClass;
use std::{alloc::System, boxed::Box, sync::Mutex, vec::Vec};

#[cfg(all(
    feature = "pages",
    any(target_os = "linux", target_os = "android", target_os = "macos")
))]
mod growing;

type Allocator = &'static GlobalSmallObjects<System>;

const CLASSES: [SlotClass; 3] =
    [SlotClass::new(16, 300), SlotClass::new(48, 100), SlotClass::new(128, 10)];

/// Keeps all allocators of the tests: like any global allocator they live as long as the program,
/// and a leak checker finds a reference to them.
static ALLOCATORS: Mutex<Vec<Allocator>> = Mutex::new(Vec::new());

fn fresh_allocator() -> Allocator {
    let allocator = Box::leak(Box::new(GlobalSmallObjects::new(System)));
    ALLOCATORS.lock().unwrap().push(allocator);
    allocator
}

fn allocator(classes: &[SlotClass]) -> Allocator {
    let allocator = fresh_allocator();
    allocator.enable(&SmallObjectsConfig { classes }).unwrap();
    allocator
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

fn allocate(allocator: Allocator, layout: Layout) -> *mut u8 {
    assert!(layout.size() > 0);
    // SAFETY: the size is not zero.
    let object = unsafe { allocator.alloc(layout) };
    assert!(!object.is_null() && object.addr() % layout.align() == 0);
    // SAFETY: the object is as large as its layout.
    unsafe { object.write_bytes(0xA5, layout.size()) };
    object
}

/// Frees an object of `allocate`, once.
fn free(allocator: Allocator, object: *mut u8, layout: Layout) {
    // SAFETY: the tests satisfy the condition above.
    unsafe { allocator.dealloc(object, layout) }
}

fn live(allocator: Allocator) -> Vec<usize> {
    allocator.class_stats().map(|class| class.live).collect()
}

#[test]
fn the_address_determines_the_allocator_before_and_after_enabling() {
    let allocator = fresh_allocator();
    let early = allocate(allocator, layout(16, 8));
    assert!(!allocator.is_enabled() && !allocator.owns(early));
    assert_eq!(allocator.class_stats().count(), 0);
    allocator.enable(&SmallObjectsConfig { classes: &CLASSES }).unwrap();
    let late = allocate(allocator, layout(16, 8));
    assert!(allocator.is_enabled() && !allocator.owns(early) && allocator.owns(late));
    let large = allocate(allocator, layout(129, 8));
    assert!(!allocator.owns(large));
    assert_eq!((allocator.too_large(), live(allocator)), (1, [1, 0, 0].to_vec()));
    free(allocator, early, layout(16, 8));
    free(allocator, late, layout(16, 8));
    free(allocator, large, layout(129, 8));
    assert_eq!(live(allocator), [0, 0, 0]);
}

#[test]
fn an_allocator_is_enabled_once_and_only_with_a_valid_config() {
    let fresh = fresh_allocator();
    for class in [SlotClass::new(0, 1), SlotClass::new(4096, 1), SlotClass::new(1024, 1 << 23)] {
        let config = SmallObjectsConfig { classes: &[class] };
        assert_eq!(fresh.enable(&config), Err(Error::InvalidSize));
    }
    assert!(!fresh.is_enabled());
    fresh.enable(&SmallObjectsConfig { classes: &[] }).unwrap();
    assert_eq!(fresh.enable(&SmallObjectsConfig::default()), Err(Error::AlreadyEnabled));
    let object = allocate(fresh, layout(8, 8));
    assert!(!fresh.owns(object));
    free(fresh, object, layout(8, 8));
}

#[test]
fn a_full_class_sends_the_rest_to_the_system_and_counts_it() {
    let allocator = allocator(&CLASSES);
    let layout = layout(40, 8);
    let objects: Vec<_> = (0..110).map(|_| allocate(allocator, layout)).collect();
    let owned = objects.iter().filter(|object| allocator.owns(**object)).count();
    assert_eq!(owned, 100);
    let stats = allocator.class_stats().nth(1).unwrap();
    assert_eq!((stats.slots, stats.live, stats.peak, stats.fallbacks), (100, 100, 100, 10));
    assert!(objects[..100].is_sorted(), "the lowest slot is not the first");
    objects.iter().for_each(|object| free(allocator, *object, layout));
    assert_eq!(live(allocator)[1], 0);
    // The lowest slots are reused first.
    let again = allocate(allocator, layout);
    assert_eq!(again, objects[0]);
    free(allocator, again, layout);
}

#[test]
fn resizing_stays_within_a_class_and_moves_between_them() {
    let allocator = allocator(&CLASSES);
    // Within 16 bytes, to 48, to 128, to the system, grown there, and back to 8 bytes.
    let sizes = [9, 16, 17, 48, 100, 5000, 9000, 30, 8];
    let (mut object, mut is_ours) = (allocate(allocator, layout(sizes[0], 8)), true);
    for (&from, &to) in sizes.iter().zip(&sizes[1..]) {
        let kept = from.min(to);
        for at in 0..kept {
            // SAFETY: the object has this number of bytes.
            unsafe { object.add(at).write((at * 7 + from) as u8) };
        }
        // SAFETY: the object is live, with this layout.
        let moved = unsafe { allocator.realloc(object, layout(from, 8), to) };
        for at in 0..kept {
            // SAFETY: the object has this number of bytes.
            assert_eq!(unsafe { moved.add(at).read() }, (at * 7 + from) as u8, "{from} to {to}");
        }
        let stays = [(9, 16), (17, 48)].contains(&(from, to));
        assert!(!allocator.owns(object) || (moved == object) == stays, "{from} to {to}");
        object = moved;
        // Objects of the system stay there.
        is_ours &= to < 5000;
        assert_eq!(allocator.owns(object), is_ours, "{from} to {to}");
    }
    free(allocator, object, layout(8, 8));
    assert_eq!(live(allocator), [0, 0, 0]);
}

#[test]
fn zeroed_memory_is_zero_in_and_outside_the_area() {
    let allocator = allocator(&CLASSES);
    for size in [16, 100, 3000] {
        free(allocator, allocate(allocator, layout(size, 8)), layout(size, 8));
        // SAFETY: the size is not zero, and the object has this number of bytes.
        let object = unsafe { allocator.alloc_zeroed(layout(size, 8)) };
        // SAFETY: as for the call above.
        assert!((0..size).all(|at| unsafe { object.add(at).read() } == 0));
        free(allocator, object, layout(size, 8));
    }
}

#[test]
fn alignment_is_that_of_the_layout() {
    let allocator = allocator(&[SlotClass::new(24, 9), SlotClass::new(64, 9)]);
    for align in (0..13).map(|bits| 1 << bits) {
        for size in [1, 8, 24, 25, 64, 65, 5000] {
            let object = allocate(allocator, layout(size, align));
            let fits = (size <= 24 && align <= 8) || (size <= 64 && align <= 64);
            assert_eq!(allocator.owns(object), fits, "{size} {align}");
            free(allocator, object, layout(size, align));
        }
    }
}

/// A pointer that is sent to another thread.
struct Sent(*mut u8);

// SAFETY: only a number until the other thread frees it.
unsafe impl Send for Sent {}

#[test]
fn a_thread_that_ends_releases_its_slots() {
    let allocator = allocator(&CLASSES);
    let layout = layout(16, 8);
    let object = std::thread::spawn(move || {
        let objects = [(); 100].map(|()| allocate(allocator, layout));
        objects[1..].iter().for_each(|object| free(allocator, *object, layout));
        Sent(objects[0])
    });
    let object = object.join().unwrap().0;
    assert_eq!(live(allocator)[0], 1);
    free(allocator, object, layout);
    assert_eq!(live(allocator)[0], 0);
}

/// Allocates when a thread's variables are dropped, some of them after the cache.
struct Late(Allocator);

impl Drop for Late {
    fn drop(&mut self) {
        let objects = [16, 48, 2000].map(|size| (allocate(self.0, layout(size, 8)), size));
        assert!(self.0.owns(objects[0].0));
        for (object, size) in objects {
            free(self.0, object, layout(size, 8));
        }
    }
}

#[test]
fn threads_without_a_cache_can_allocate() {
    std::thread_local! {
        static EARLY: core::cell::OnceCell<Late> = const { core::cell::OnceCell::new() };
        static LATE: core::cell::OnceCell<Late> = const { core::cell::OnceCell::new() };
    }
    let allocator = allocator(&CLASSES);
    std::thread::spawn(move || {
        EARLY.with(|it| it.set(Late(allocator)).map_err(|_| ()).unwrap());
        free(allocator, allocate(allocator, layout(16, 8)), layout(16, 8));
        LATE.with(|it| it.set(Late(allocator)).map_err(|_| ()).unwrap());
    })
    .join()
    .unwrap();
    assert_eq!(live(allocator), [0, 0, 0]);
    assert_eq!(allocator.too_large(), 2);
}

#[test]
fn two_allocators_in_turns() {
    let allocators = [allocator(&CLASSES), allocator(&CLASSES)];
    let layout = layout(48, 16);
    let objects: Vec<_> = (0..50).map(|i| allocate(allocators[i % 2], layout)).collect();
    for (i, object) in objects.iter().enumerate() {
        assert!(allocators[i % 2].owns(*object) && !allocators[1 - i % 2].owns(*object));
    }
    for (i, object) in objects.iter().enumerate().rev() {
        free(allocators[i % 2], *object, layout);
    }
    assert_eq!(allocators.map(live), [[0, 0, 0], [0, 0, 0]]);
}
