use super::*;

const SIZE: usize = 64;
const MIB: usize = 1 << 20;
/// Memory checkers search all address space that a program has reserved.
const MAX_BYTES: usize = 16 * MIB;

fn growing_allocator() -> Allocator {
    let allocator = fresh_allocator();
    let config = SmallObjectsConfig { classes: &CLASSES };
    allocator.enable_growing(&config, MAX_BYTES).unwrap();
    allocator
}

/// Returns the first byte of a slot, free or not.
fn first_byte(object: *mut u8) -> u8 {
    // SAFETY: memory of an area is never released, and no other thread of these tests uses it.
    unsafe { object.read() }
}

fn is_intact(object: *mut u8, size: usize) -> bool {
    // SAFETY: a live object of `allocate` has this number of bytes.
    (0..size).all(|at| unsafe { object.add(at).read() } == 0xA5)
}

#[test]
fn a_class_grows_beyond_its_config() {
    let allocator = growing_allocator();
    // Slots of 128 bytes; the config has 10.
    let layout = layout(SIZE, 8);
    let objects: Vec<_> = (0..100_000).map(|_| allocate(allocator, layout)).collect();
    assert!(objects.iter().all(|object| allocator.owns(*object) && is_intact(*object, SIZE)));
    assert!(objects.is_sorted(), "the lowest slot is not the first");
    let stats = allocator.class_stats().nth(2).unwrap();
    assert_eq!((stats.live, stats.fallbacks), (100_000, 0));
    assert!(stats.slots >= 100_000 && stats.slots * 128 <= MAX_BYTES);
    objects.iter().for_each(|object| free(allocator, *object, layout));
    assert_eq!(live(allocator), [0, 0, 0]);
    // A new object does not grow the area further.
    let again = allocate(allocator, layout);
    assert_eq!(again, objects[0]);
    free(allocator, again, layout);
}

#[test]
fn freed_memory_is_returned_and_can_be_used_again() {
    let allocator = growing_allocator();
    let layout = layout(SIZE, 8);
    for _ in 0..2 {
        // 24 words of the summary, more than are trimmed at once.
        let objects: Vec<_> = (0..12 * MIB / 128).map(|_| allocate(allocator, layout)).collect();
        let last = objects[objects.len() - 1];
        for (count, object) in objects.iter().enumerate().rev() {
            free(allocator, *object, layout);
            let freed_bytes = (objects.len() - count) * 128;
            let is_returned = first_byte(last) == 0;
            assert!(freed_bytes > 6 * MIB || !is_returned, "after {freed_bytes} bytes");
            assert!(freed_bytes < 7 * MIB || is_returned, "not after {freed_bytes} bytes");
        }
        let returned = objects.iter().filter(|object| first_byte(**object) == 0).count();
        assert!(returned * 128 >= 11 * MIB, "{returned} objects");
        assert_eq!(live(allocator), [0, 0, 0]);
    }
}

#[test]
fn memory_is_trimmed_on_request() {
    let allocator = growing_allocator();
    let layout = layout(SIZE, 8);
    assert_eq!(allocator.trim(), 0);
    // Less memory than is trimmed without a request.
    let objects: Vec<_> = (0..MIB / 2 / 128).map(|_| allocate(allocator, layout)).collect();
    assert_eq!(allocator.trim(), 0, "no page is free");
    objects.iter().for_each(|object| free(allocator, *object, layout));
    assert_ne!(first_byte(objects[0]), 0);
    assert_eq!(allocator.trim(), MIB / 2);
    assert_eq!(allocator.trim(), 0, "no page was used since");
    assert!(objects.iter().all(|object| first_byte(*object) == 0));
}

/// Frees runs of slots of many lengths, which begin and end within pages and within words. Words of
/// some classes begin within pages.
#[test]
fn pages_with_objects_are_kept() {
    let allocator = growing_allocator();
    for (size, slot_bytes) in [(16, 16), (40, 48), (100, 128)] {
        let layout = layout(size, 8);
        let count = 4 * MIB / slot_bytes;
        let objects: Vec<_> = (0..count).map(|_| allocate(allocator, layout)).collect();
        // More than the slots of a page, for all sizes of pages.
        let is_kept = |at: usize| at % 8009 < at * 8000 / count;
        let (kept, freed): (Vec<_>, Vec<_>) = (0..count).partition(|at| is_kept(*at));
        freed.iter().for_each(|at| free(allocator, objects[*at], layout));
        allocator.trim();
        assert!(kept.iter().all(|at| is_intact(objects[*at], size)), "{size}");
        let returned = freed.iter().filter(|at| first_byte(objects[**at]) == 0).count();
        assert!(returned > freed.len() / 4, "{returned} of {size} bytes");
        kept.iter().for_each(|at| free(allocator, objects[*at], layout));
    }
    assert_eq!(live(allocator), [0, 0, 0]);
}

#[test]
fn threads_keep_their_objects_while_memory_is_trimmed() {
    let allocator = growing_allocator();
    let layout = layout(SIZE, 8);
    let threads = [1, 2, 3].map(|seed: usize| {
        std::thread::spawn(move || {
            let mut objects: Vec<(*mut u8, u8)> = Vec::new();
            let mut returned = 0;
            for round in 0..40 {
                // More than a mebibyte, then few, so that pages are returned at different times.
                let target = if round % 2 == 0 { 20_000 + seed * 1000 } else { seed * 100 };
                while objects.len() < target {
                    let object = allocate(allocator, layout);
                    let mark = (objects.len() + seed) as u8;
                    // SAFETY: the object has this number of bytes.
                    unsafe { object.write_bytes(mark, SIZE) };
                    objects.push((object, mark));
                }
                for (object, mark) in objects.drain(target..) {
                    // SAFETY: the object has this number of bytes.
                    let content = unsafe { core::slice::from_raw_parts(object, SIZE) };
                    assert!(content.iter().all(|byte| *byte == mark), "another wrote to it");
                    free(allocator, object, layout);
                }
                returned += allocator.trim();
            }
            objects.iter().for_each(|(object, _)| free(allocator, *object, layout));
            returned
        })
    });
    let returned: usize = threads.map(|thread| thread.join().unwrap()).iter().sum();
    assert!(returned > MIB, "{returned}");
    assert_eq!(live(allocator), [0, 0, 0]);
}

#[test]
fn a_class_that_reaches_its_limit_sends_the_rest_to_the_system() {
    let allocator = growing_allocator();
    let layout = layout(SIZE, 8);
    let slots = allocator.class_stats().nth(2).unwrap().slots;
    let objects: Vec<_> = (0..slots + 5).map(|_| allocate(allocator, layout)).collect();
    let owned = objects.iter().filter(|object| allocator.owns(**object)).count();
    assert_eq!(owned, slots);
    assert_eq!(allocator.class_stats().nth(2).unwrap().fallbacks, 5);
    objects.iter().for_each(|object| free(allocator, *object, layout));
    assert_eq!(live(allocator), [0, 0, 0]);
}

#[test]
fn a_class_has_at_least_the_slots_of_the_config() {
    let allocator = fresh_allocator();
    let classes = [SlotClass::new(64, 50_000), SlotClass::new(1024, 0)];
    allocator.enable_growing(&SmallObjectsConfig { classes: &classes }, MIB).unwrap();
    // Multiples of 64 words of 64 slots.
    let slots = allocator.class_stats().map(|class| class.slots);
    assert!(slots.eq([53_248, 4096]));
    for class in [SlotClass::new(0, 1), SlotClass::new(1024, 1 << 23)] {
        let config = SmallObjectsConfig { classes: &[class] };
        assert_eq!(fresh_allocator().enable_growing(&config, MIB), Err(Error::InvalidSize));
    }
}

/// Trims again and again beside an object, whose page is shared with free words.
#[test]
fn a_page_is_counted_once() {
    let allocator = growing_allocator();
    let layout = layout(48, 8);
    let objects: Vec<_> = (0..10_000).map(|_| allocate(allocator, layout)).collect();
    let kept = objects[2000];
    objects.iter().filter(|it| **it != kept).for_each(|it| free(allocator, *it, layout));
    let page_bytes = rustix::param::page_size();
    // Bytes of the pages of some words of 64 slots.
    let pages_of = |words: core::ops::Range<usize>| {
        let [start, end] = [words.start, words.end].map(|word| word * 64 * 48);
        end.next_multiple_of(page_bytes) - start / page_bytes * page_bytes
    };
    let of_kept = pages_of(31..32);
    assert_eq!(allocator.trim(), pages_of(0..10_000_usize.div_ceil(64)) - of_kept);
    assert_eq!(allocator.trim(), 0);
    // A new object in a page that was returned, which is freed.
    free(allocator, allocate(allocator, layout), layout);
    assert_eq!(allocator.trim(), pages_of(0..1));
    free(allocator, kept, layout);
    assert_eq!(allocator.trim(), of_kept);
    assert_eq!(allocator.trim(), 0);
}
