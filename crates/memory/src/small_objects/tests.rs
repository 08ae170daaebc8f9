#![cfg(feature = "alloc")]

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::{vec, vec::Vec};

use super::*;
use crate::Heap;

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// Creates objects in a region of exactly the size of the config.
fn objects(classes: &[SlotClass]) -> SmallObjects<'static> {
    let config = SmallObjectsConfig { classes };
    let region = Region::heap(config.region_bytes().unwrap()).unwrap();
    SmallObjects::new(region, &config).unwrap()
}

fn free(objects: &SmallObjects<'_>, object: NonNull<u8>, layout: Layout) -> Result<(), Error> {
    // SAFETY: tests free objects that they allocated, or addresses that the area can check.
    unsafe { objects.free(object, layout) }
}

#[test]
fn slots_freed_last_are_used_first_then_the_lowest() {
    let objects = objects(&[SlotClass::new(16, 1000)]);
    let word = layout(12, 4);
    let all: Vec<_> = (0..1000).map(|_| objects.allocate(word).unwrap()).collect();
    assert!(all.windows(2).all(|pair| pair[1].addr().get() == pair[0].addr().get() + 16));
    let full = objects.allocate(word).unwrap_err();
    assert_eq!(full, Error::Full { requested: 12, largest_free: 0, total_free: 0 });
    for &object in all.iter().rev() {
        free(&objects, object, word).unwrap();
        objects.validate().unwrap();
    }
    // The slot freed last was the first one.
    let again: Vec<_> = (0..24).map(|_| objects.allocate(word).unwrap()).collect();
    assert_eq!(again, all[..24]);
    for &object in &again {
        free(&objects, object, word).unwrap();
    }
    assert_eq!(objects.allocate(word), Ok(all[23]));
    assert_eq!(objects.flush(), Ok(()));
    let again: Vec<_> = (0..999).map(|_| objects.allocate(word).unwrap()).collect();
    assert_eq!((&again[..23], &again[23..]), (&all[..23], &all[24..]));
}

#[test]
fn a_double_free_is_an_error() {
    let objects = objects(&[SlotClass::new(8, 200)]);
    let byte = layout(1, 1);
    let all: Vec<_> = (0..200).map(|_| objects.allocate(byte).unwrap()).collect();
    for &object in &all {
        assert_eq!(free(&objects, object, byte), Ok(()));
        assert_eq!(free(&objects, object, byte), Err(Error::NotAllocated));
    }
    if cfg!(debug_assertions) {
        assert!(all.iter().all(|&object| free(&objects, object, byte).is_err()));
        objects.validate().unwrap();
    }
}

/// Checks a double free that only release builds allow.
#[test]
fn a_double_free_is_detected_when_the_stack_is_flushed() {
    let objects = objects(&[SlotClass::new(8, 200)]);
    let class = objects.classes().next().unwrap();
    let all: Vec<_> = (0..48).map(|_| class.take().unwrap()).collect();
    for &object in all[..46].iter().chain([&all[7], &all[46]]) {
        class.push(class.cached_len(), object);
    }
    assert!(
        class.free(all[47]),
        "no double free is found in the half of the stack that is flushed"
    );
    assert_eq!(objects.flush(), Err(Error::NotAllocated));
    assert_eq!((objects.stats().double_frees, objects.stats().live), (1, 0));
    assert_eq!(objects.validate(), Ok(()));
    assert_eq!(objects.flush(), Ok(()));
}

/// Checks double frees as release builds see them, without the additional checks of debug builds.
#[test]
fn a_checked_free_detects_every_double_free() {
    let objects = objects(&[SlotClass::new(8, 200)]).with_checked_frees();
    let class = objects.classes().next().unwrap();
    let all: Vec<_> = (0..200).map(|_| class.take().unwrap()).collect();
    assert!(class.take().is_none());
    // In a sequence in which no double free follows its own free.
    for object in all.iter().skip(1).step_by(2) {
        assert!(class.free_to_full_stack(*object));
    }
    for (number, object) in all.iter().enumerate() {
        assert_eq!(class.free_to_full_stack(*object), number % 2 == 0);
    }
    assert!(all.iter().all(|object| !class.free_to_full_stack(*object)));
    assert_eq!((objects.stats().live, objects.stats().double_frees), (0, 0));
    objects.validate().unwrap();
    // Each slot is allocated once.
    let again: Vec<_> = (0..200).map(|_| class.take().unwrap()).collect();
    assert_eq!((again, class.take()), (all, None));
}

#[test]
fn a_slot_that_is_only_prepared_cannot_be_freed() {
    let objects = objects(&[SlotClass::new(8, 200)]).with_checked_frees();
    let byte = layout(1, 1);
    let [first, second] = [(); 2].map(|()| objects.allocate(byte).unwrap());
    free(&objects, second, byte).unwrap();
    objects.allocate(layout(1, 1)).unwrap();
    // SAFETY: it is in the area.
    let next = unsafe { second.add(8) };
    let class = objects.classes().next().unwrap();
    assert!(!class.free_to_full_stack(next), "it was never allocated");
    free(&objects, first, byte).unwrap();
    // SAFETY: the object was freed, so this is an error and changes nothing.
    assert_eq!(unsafe { objects.resize(first, byte, layout(2, 1)) }, Err(Error::NotAllocated));
}

#[test]
fn addresses_inside_of_slots_are_errors() {
    let objects = objects(&[SlotClass::new(24, 50), SlotClass::new(40, 50)]);
    let (small, large) = (layout(24, 8), layout(40, 8));
    let object = objects.allocate(small).unwrap();
    for inside in 1..24 {
        // SAFETY: the slot has 24 bytes.
        let pointer = unsafe { object.add(inside) };
        assert!(objects.owns(pointer));
        assert_eq!(free(&objects, pointer, small), Err(Error::NotAllocated));
    }
    let mut other = 0u64;
    assert_eq!(free(&objects, NonNull::from(&mut other).cast(), small), Err(Error::NotAllocated));
    assert_eq!(free(&objects, object, large), Err(Error::NotAllocated), "it has 24 bytes");
    let metadata = objects.region.start();
    assert!(!objects.owns(metadata));
    assert_eq!(free(&objects, metadata, small), Err(Error::NotAllocated));
    assert_eq!(free(&objects, object, small), Ok(()));
}

#[test]
fn requests_without_a_slot_go_to_the_fallback_and_are_counted() {
    let objects = || objects(&[SlotClass::new(16, 2), SlotClass::new(64, 1)]);
    // SAFETY: only live objects are freed, with their layouts.
    let unrecorded = unsafe { objects().with_unrecorded_fallback(&Heap) };
    for objects in [objects().with_fallback(&Heap), unrecorded] {
        let layouts = [layout(16, 8), layout(16, 8), layout(10, 1), layout(65, 1), layout(8, 4096)];
        let all = layouts.map(|layout| (objects.allocate(layout).unwrap(), layout));
        assert!(all.iter().all(|(object, layout)| is_aligned(*object, *layout)));
        let owned: Vec<_> = all.iter().map(|(object, _)| objects.owns(*object)).collect();
        assert_eq!(owned, [true, true, false, false, false]);
        let stats = objects.stats();
        assert_eq!((stats.fallbacks, stats.too_large, stats.fallback_live), (1, 2, 3));
        assert_eq!((stats.live, stats.live_bytes), (2, 32));
        for (object, layout) in all {
            free(&objects, object, layout).unwrap();
        }
        assert_eq!(objects.stats().fallback_live, 0);
    }
}

#[test]
fn pointers_that_are_no_objects_are_errors_while_the_fallback_is_in_use() {
    for is_checked in [false, true] {
        let objects = objects(&[SlotClass::new(16, 2)]).with_fallback(&Heap);
        let objects = if is_checked { objects.with_checked_frees() } else { objects };
        let large = layout(65, 1);
        let live = objects.allocate(large).unwrap();
        let mut foreign = [0u64; 9];
        let foreign = NonNull::from(&mut foreign).cast();
        // SAFETY: both are in the block.
        let (inside, metadata) = (unsafe { live.add(1) }, objects.region.start());
        for wrong in [foreign, inside, metadata] {
            assert_eq!(free(&objects, wrong, large), Err(Error::NotAllocated));
            // SAFETY: it is no object, so nothing is moved.
            let resized = unsafe { objects.resize(wrong, large, layout(80, 1)) };
            assert_eq!(resized, Err(Error::NotAllocated));
        }
        assert_eq!(free(&objects, live, layout(66, 1)), Err(Error::NotAllocated), "layout");
        assert_eq!(free(&objects, live, large), Ok(()));
        assert_eq!(free(&objects, live, large), Err(Error::NotAllocated));
        assert_eq!(objects.stats().fallback_live, 0);
    }
}

/// A source with memory for the blocks, but not for the table of live ones.
#[test]
fn without_memory_for_its_record_a_block_of_the_fallback_is_not_allocated() {
    struct Small(AtomicUsize);
    // SAFETY: all blocks are those of the heap.
    unsafe impl MemorySource for Small {
        fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
            let is_small = layout.size() < 1000;
            self.0.fetch_add(usize::from(is_small), Ordering::Relaxed);
            if is_small { Heap.allocate(layout) } else { None }
        }
        unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
            self.0.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: guaranteed by the caller.
            unsafe { Heap.free(block, layout) }
        }
    }
    let small = Small(AtomicUsize::new(0));
    let region = Region::heap(1000).unwrap();
    let config = SmallObjectsConfig { classes: &[] };
    let objects = SmallObjects::new(region, &config).unwrap().with_fallback(&small);
    assert!(matches!(objects.allocate(layout(65, 1)), Err(Error::Full { requested: 65, .. })));
    assert_eq!((objects.stats().fallback_live, small.0.load(Ordering::Relaxed)), (0, 0));
}

#[test]
fn objects_of_0_bytes_take_no_slot() {
    let objects = objects(&[SlotClass::new(8, 1)]);
    for align in [1, 8, 4096, 1 << 40] {
        let nothing = layout(0, align);
        let object = objects.allocate(nothing).unwrap();
        assert!(is_aligned(object, nothing));
        // SAFETY: it has no bytes to be used.
        let grown = unsafe { objects.resize(object, nothing, layout(8, 8)) }.unwrap();
        assert!(objects.owns(grown));
        // SAFETY: nothing uses it any more.
        let empty = unsafe { objects.resize(grown, layout(8, 8), nothing) }.unwrap();
        assert!(is_aligned(empty, nothing));
        assert_eq!(free(&objects, empty, nothing), Ok(()));
    }
    assert_eq!(objects.stats().live, 0);
}

#[test]
fn objects_are_resized_in_place_within_a_class() {
    let objects = objects(&[SlotClass::new(16, 1), SlotClass::new(32, 1)]);
    let object = objects.allocate(layout(9, 1)).unwrap();
    // SAFETY: the object is ours, with this layout at each time, and the old pointer is not
    // used again.
    let resize =
        |object, old, new| unsafe { objects.resize(object, layout(old, 1), layout(new, 1)) };
    assert_eq!(resize(object, 9, 16), Ok(object));
    let larger = resize(object, 16, 17).unwrap();
    assert_ne!(larger, object);
    assert_eq!(objects.stats().live, 1);
    if cfg!(debug_assertions) {
        assert_eq!(resize(object, 16, 16), Err(Error::NotAllocated));
    }
    assert!(matches!(resize(larger, 17, 33), Err(Error::Full { requested: 33, .. })));
    // Its new class is full: it stays, and its address determines its class.
    let small = objects.allocate(layout(16, 1)).unwrap();
    assert_eq!(resize(larger, 17, 3), Ok(larger));
    assert_eq!(free(&objects, larger, layout(3, 1)), Ok(()));
    assert_eq!(free(&objects, larger, layout(3, 1)), Err(Error::NotAllocated));
    assert_eq!(free(&objects, small, layout(16, 1)), Ok(()));
    objects.validate().unwrap();
}

#[test]
fn statistics_contain_the_peak() {
    let objects = objects(&[SlotClass::new(16, 100)]);
    let word = layout(16, 16);
    let mut live: Vec<_> = (0..60).map(|_| objects.allocate(word).unwrap()).collect();
    for object in live.drain(10..) {
        free(&objects, object, word).unwrap();
    }
    let class = objects.class_stats().next().unwrap();
    assert_eq!((class.live, class.peak, class.fallbacks), (10, 72, 0));
    live.extend((0..55).map(|_| objects.allocate(word).unwrap()));
    let class = objects.class_of(live[0]).unwrap();
    assert_eq!((class.live, class.peak, class.live_bytes()), (65, 72, 65 * 16));
}

#[test]
fn a_reset_frees_all() {
    let mut objects = objects(&[SlotClass::new(16, 70), SlotClass::new(8, 1)]);
    for _ in 0..3 {
        let all: Vec<_> = (0..70).map(|_| objects.allocate(layout(16, 8)).unwrap()).collect();
        assert_eq!((all.len(), objects.stats().live), (70, 70));
        assert!(objects.allocate(layout(16, 8)).is_err());
        objects.reset();
        objects.validate().unwrap();
        assert_eq!(objects.stats().live, 0);
    }
}

#[test]
fn invalid_configs_are_errors() {
    let new = |classes: &[SlotClass], size_bytes| {
        SmallObjects::new(Region::heap(size_bytes).unwrap(), &SmallObjectsConfig { classes })
            .map(|objects| objects.class_stats().map(|class| class.slots).collect::<Vec<_>>())
    };
    assert_eq!(new(&[SlotClass::new(0, 1)], 10_000), Err(Error::InvalidSize));
    assert_eq!(new(&[SlotClass::new(1025, 1)], 10_000), Err(Error::InvalidSize));
    let many: Vec<_> = (1..=33).map(|n| SlotClass::new(n * 8, 1)).collect();
    assert_eq!(new(&many, 100_000), Err(Error::InvalidSize));
    assert!(matches!(new(&many[..32], 0), Err(Error::Full { largest_free: 0, .. })));
    assert_eq!(new(&[], 1000), Ok(vec![]));
    assert_eq!(new(&[SlotClass::new(8, 0)], 10_000), Ok(vec![0]));
    let huge = [SlotClass::new(1024, usize::MAX)];
    let (max_slots, region) =
        (u32::MAX as usize, SmallObjectsConfig { classes: &huge }.region_bytes());
    assert!((1024 * max_slots + max_slots / 8..1025 * max_slots).contains(&region.unwrap()));
    assert!(new(&huge, 1 << 20).unwrap()[0] > 1000);
}

#[test]
fn a_region_is_used_up_in_the_proportions_of_the_config() {
    let config = SmallObjectsConfig::default();
    let exact = config.region_bytes().unwrap();
    for size_bytes in [6000, 10_000, exact - 1, exact, exact + 1, 10 * exact] {
        let region = Region::heap(size_bytes).unwrap();
        let objects = SmallObjects::new(region, &config).unwrap();
        let classes: Vec<_> = objects.class_stats().collect();
        let share = size_bytes as f64 / exact as f64;
        for (class, requested) in classes.iter().zip(config.classes) {
            assert!(size_bytes < exact || class.slots >= requested.slots);
            assert!(class.slots as f64 <= requested.slots as f64 * share * 1.01 + 1.0);
        }
        let used = objects.stats().capacity_bytes as f64;
        let metadata = classes.iter().map(|class| class.slots).sum::<usize>() as f64 * 1.016 / 8.0;
        assert!(used + metadata + 6500.0 > size_bytes as f64, "{used} of {size_bytes}");
    }
}

#[test]
fn classes_are_sorted_and_equal_sizes_are_added_up() {
    let classes = [SlotClass::new(30, 3), SlotClass::new(8, 5), SlotClass::new(32, 4)];
    let objects = objects(&classes);
    let classes: Vec<_> = objects.class_stats().map(|class| class.slot_bytes).collect();
    assert_eq!(classes, [8, 32]);
    assert!(objects.class_stats().all(|class| class.slots >= 5));
}

#[test]
fn a_region_may_start_at_any_address() {
    let classes = [SlotClass::new(8, 100), SlotClass::new(1024, 3), SlotClass::new(96, 10)];
    let config = SmallObjectsConfig { classes: &classes };
    let size_bytes = config.region_bytes().unwrap();
    let mut memory = vec![MaybeUninit::uninit(); size_bytes + 4096];
    for skipped in [0, 1, 7, 8, 63, 1000, 1023, 4095] {
        let region = Region::new(&mut memory[skipped..skipped + size_bytes]);
        let objects = SmallObjects::new(region, &config).unwrap();
        for (slots, size, align) in [(100, 8, 8), (3, 1024, 1024), (10, 96, 32)] {
            for _ in 0..slots {
                let object = objects.allocate(layout(size, align)).unwrap();
                assert!(is_aligned(object, layout(size, align)));
            }
        }
        objects.validate().unwrap();
    }
}

/// Collections with most of their memory in slots.
#[cfg(feature = "allocator-api2")]
mod collections {
    use allocator_api2::{boxed::Box, vec::Vec};
    use hashbrown::{DefaultHashBuilder, HashMap};

    use super::*;

    struct Node<'a> {
        key: u64,
        children: [Option<Box<Node<'a>, &'a SmallObjects<'a>>>; 2],
    }

    impl<'a> Node<'a> {
        fn new(key: u64, objects: &'a SmallObjects<'a>) -> Box<Self, &'a SmallObjects<'a>> {
            Box::new_in(Self { key, children: [None, None] }, objects)
        }

        fn insert(&mut self, key: u64, objects: &'a SmallObjects<'a>) {
            match &mut self.children[usize::from(key > self.key)] {
                Some(child) => child.insert(key, objects),
                free => *free = Some(Node::new(key, objects)),
            }
        }

        fn keys(&self, keys: &mut super::Vec<u64>) {
            let [below, above] = &self.children;
            below.iter().for_each(|child| child.keys(keys));
            keys.push(self.key);
            above.iter().for_each(|child| child.keys(keys));
        }
    }

    fn area() -> SmallObjects<'static> {
        let region = Region::heap(1 << 20).unwrap();
        let config = SmallObjectsConfig::default();
        SmallObjects::new(region, &config).unwrap().with_fallback(&Heap)
    }

    #[test]
    fn a_vector_grows_and_shrinks_in_its_slot() {
        let objects = area();
        let mut bytes = Vec::new_in(&objects);
        let mut moves = 0;
        for byte in 0..128 {
            let before: *const u8 = bytes.as_ptr();
            bytes.reserve_exact(1);
            bytes.push(byte);
            moves += usize::from(bytes.as_ptr() != before);
        }
        assert_eq!(moves, 7, "to slots of 8, 16, 32, 48, 64, 96 and 128 bytes");
        bytes.push(128);
        assert_eq!((objects.stats().live, objects.stats().fallback_live), (0, 1));
        bytes.truncate(20);
        bytes.shrink_to_fit();
        assert_eq!((objects.stats().live_bytes, objects.stats().fallback_live), (32, 0));
        let before = bytes.as_ptr();
        bytes.truncate(17);
        bytes.shrink_to_fit();
        assert!(bytes.as_ptr() == before && bytes.iter().copied().eq(0..17));
        drop(bytes);
        assert_eq!(objects.stats().live, 0);
    }

    #[test]
    fn a_tree_of_boxes_is_allocated_and_freed() {
        let objects = area();
        let mut root = Node::new(500, &objects);
        let keys = (0..1000).map(|n| n * 377 % 1000).filter(|&key| key != 500);
        keys.for_each(|key| root.insert(key, &objects));
        assert_eq!(objects.stats().live, 1000);
        let mut sorted = vec![];
        root.keys(&mut sorted);
        assert!(sorted.iter().copied().eq(0..1000));
        drop(root);
        assert_eq!(objects.stats().live, 0);
        objects.validate().unwrap();
    }

    #[test]
    fn a_map_of_vectors_contains_the_inserted_values() {
        let objects = area();
        let mut map = HashMap::with_hasher_in(DefaultHashBuilder::default(), &objects);
        for key in 0..500u32 {
            let mut value = Vec::new_in(&objects);
            value.extend((0..key % 20).map(|n| n + key));
            map.insert(key, value);
        }
        map.retain(|key, _| key % 3 > 0);
        for key in 0..500 {
            let expected = (key % 3 > 0).then(|| (0..key % 20).map(|n| n + key));
            let found = map.get(&key).map(|value| value.iter().copied());
            assert!(found.into_iter().flatten().eq(expected.into_iter().flatten()), "{key}");
        }
        drop(map);
        assert_eq!((objects.stats().live, objects.stats().fallback_live), (0, 0));
    }
}
