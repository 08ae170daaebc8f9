#![allow(clippy::unwrap_used)]

use super::*;
use crate::{Region, SlotClass, SmallObjects};
use drystone_testing::Random;
use std::alloc::System;
use std::sync::Barrier;
use std::{string::ToString, vec::Vec};

/// A program with known numbers: objects that live long and are freed in order, and short-lived
/// ones among them.
fn record_of(long: &[usize], short: &[usize]) -> Record {
    let recorder = Recorder::new(System, &System);
    let layout = |size: usize| Layout::from_size_align(size, 8).unwrap();
    // SAFETY: sizes are not zero, and each block is freed once with its layout.
    unsafe {
        let blocks: Vec<_> = long.iter().map(|&size| recorder.alloc(layout(size))).collect();
        for &size in short {
            recorder.dealloc(recorder.alloc(layout(size)), layout(size));
        }
        for (block, &size) in blocks.iter().zip(long) {
            recorder.dealloc(*block, layout(size));
        }
    }
    recorder.record()
}

fn line(record: &Record, size: u64) -> SizeRecord {
    *record.sizes().iter().find(|line| line.size_bytes == size).unwrap()
}

#[test]
fn sizes_peaks_and_lifetimes_are_those_of_the_program() {
    let record = record_of(&[24, 24, 40], &[24, 100]);
    assert_eq!((record.allocations(), record.allocated_bytes()), (5, 212));
    assert_eq!((record.live_and_peak(), record.live_and_peak_bytes()), ((0, 4), (0, 188)));
    let of_24 = line(&record, 24);
    assert_eq!((of_24.allocations, of_24.peak, of_24.live, of_24.deaths), (3, 3, 0, 3));
    // During the first, four others are allocated, during the second three, otherwise none.
    assert_eq!(of_24.lifetime_allocations, 4 + 3);
    assert_eq!(of_24.lifetime_bytes, (24 + 40 + 24 + 100) + (40 + 24 + 100));
    assert_eq!(line(&record, 40).mean_lifetime_allocations(), 2.0);
    assert_eq!(line(&record, 40).mean_lifetime_bytes(), 124.0);
    // Ages 4, 3, 2, 0, 0.
    assert_eq!(record.lifetimes().collect::<Vec<_>>(), [(1, 2), (2, 0), (4, 2), (8, 1)]);
    assert_eq!(record.alignments().collect::<Vec<_>>(), [(8, 5)]);
    assert_eq!(record.missed_and_unknown(), (0, 0));
}

#[test]
fn resizing_counts_as_a_free_and_an_allocation() {
    let recorder = Recorder::new(System, &System);
    let layout = Layout::from_size_align(16, 16).unwrap();
    // SAFETY: the block is resized and freed with the layout that it has.
    unsafe {
        let block = recorder.alloc_zeroed(layout);
        let block = recorder.realloc(block, layout, 2000);
        recorder.dealloc(block, Layout::from_size_align(2000, 16).unwrap());
        // Unknown to the recorder, like an older object.
        recorder.dealloc(System.alloc(layout), layout);
    }
    let record = recorder.record();
    assert_eq!((line(&record, 16).deaths, line(&record, 2000).deaths), (1, 1));
    assert_eq!(line(&record, 2000).align_bytes, 16);
    assert_eq!(record.missed_and_unknown(), (0, 1));
}

/// Each thread has ten objects of its size at most, and one in the end.
#[test]
fn many_threads_are_counted_exactly() {
    const ROUNDS: u64 = 20_000;
    let (recorder, start) = (Recorder::new(System, &System), Barrier::new(4));
    std::thread::scope(|scope| {
        for size in 1..=4 {
            let (recorder, start) = (&recorder, &start);
            scope.spawn(move || {
                let layout = Layout::from_size_align(size * 8, 8).unwrap();
                start.wait();
                for round in 0..=ROUNDS {
                    let count = if round == ROUNDS { 1 } else { 10 };
                    // SAFETY: the size is not zero, the blocks are freed with their layout.
                    unsafe {
                        let blocks: Vec<_> = (0..count).map(|_| recorder.alloc(layout)).collect();
                        blocks.iter().for_each(|block| recorder.dealloc(*block, layout));
                    }
                }
            });
        }
    });
    let record = recorder.record();
    let allocations = ROUNDS * 10 + 1;
    assert_eq!(record.allocations(), 4 * allocations);
    assert_eq!((record.live_and_peak().0, record.missed_and_unknown()), (0, (0, 0)));
    for size in 1..=4 {
        let of_size = line(&record, size * 8);
        assert_eq!((of_size.allocations, of_size.deaths), (allocations, allocations));
        assert_eq!((of_size.live, of_size.peak), (0, 10));
    }
}

#[test]
fn reset_keeps_live_objects() {
    let recorder = Recorder::new(System, &System);
    let layout = Layout::from_size_align(32, 8).unwrap();
    // SAFETY: the size is not zero, both blocks are freed with their layout.
    unsafe {
        let block = recorder.alloc(layout);
        recorder.dealloc(recorder.alloc(layout), layout);
        recorder.reset();
        assert_eq!(recorder.record().allocations(), 0);
        assert_eq!(recorder.record().live_and_peak(), (1, 1));
        recorder.dealloc(block, layout);
    }
    assert_eq!(line(&recorder.record(), 32).deaths, 1);
}

#[test]
fn nothing_is_recorded_before_the_start() {
    let recorder = Recorder::stopped(System, &System);
    let layout = Layout::from_size_align(32, 8).unwrap();
    // SAFETY: the size is not zero, both blocks are freed with the layout that they have.
    unsafe {
        let [early, resized] = [(); 2].map(|()| recorder.alloc(layout));
        let resized = recorder.realloc(resized, layout, 64);
        assert!(!recorder.is_started() && recorder.record().allocations() == 0);
        recorder.start();
        recorder.dealloc(recorder.alloc(layout), layout);
        recorder.dealloc(early, layout);
        recorder.dealloc(resized, Layout::from_size_align(64, 8).unwrap());
    }
    let record = recorder.record();
    assert_eq!((record.allocations(), record.missed_and_unknown()), (1, (0, 2)));
    assert_eq!((line(&record, 32).deaths, line(&record, 32).peak), (1, 1));
}

/// A source without memory.
struct Nothing;

// SAFETY: it never returns a block.
unsafe impl MemorySource for Nothing {
    fn allocate(&self, _: Layout) -> Option<core::ptr::NonNull<u8>> {
        None
    }

    unsafe fn free(&self, _: core::ptr::NonNull<u8>, _: Layout) {}
}

#[test]
fn without_memory_for_the_metadata_the_program_continues() {
    let recorder = Recorder::new(System, &Nothing);
    let layout = Layout::from_size_align(32, 8).unwrap();
    // SAFETY: the size is not zero, the block is freed with its layout.
    unsafe { recorder.dealloc(recorder.alloc(layout), layout) };
    let record = recorder.record();
    assert_eq!((record.allocations(), record.missed_and_unknown()), (1, (1, 1)));
    assert!(record.to_string().contains("1 allocations missed"));
}

#[cfg(feature = "allocator-api2")]
#[test]
fn collections_are_recorded() {
    use allocator_api2::{alloc::Global, vec::Vec};

    let recorder = Recorder::new(Global, &System);
    let mut numbers = Vec::new_in(&recorder);
    numbers.extend(0u64..100);
    numbers.shrink_to_fit();
    assert_eq!(recorder.record().live_and_peak_bytes().0, 800);
    drop(numbers);
    let record = recorder.record();
    assert_eq!((record.live_and_peak().0, record.missed_and_unknown()), (0, (0, 0)));
    assert_eq!(line(&record, 800).deaths, 1);
}

/// Returns the least waste over all cuts of the sizes.
fn least_waste(sizes: &[(usize, usize)], max_classes: usize) -> u64 {
    let cuts = 0u32..1 << (sizes.len() - 1);
    let waste = |cut: u32| {
        let mut class = 0;
        let mut sum = 0;
        for (i, &(size, count)) in sizes.iter().enumerate().rev() {
            if i == sizes.len() - 1 || cut & (1 << i) != 0 {
                class = size.next_multiple_of(8);
            }
            sum += ((class - size) * count) as u64;
        }
        sum
    };
    cuts.filter(|cut| (cut.count_ones() as usize) < max_classes).map(waste).min().unwrap()
}

#[test]
fn proposals_waste_as_little_as_any_cut() {
    let sizes =
        [(5, 10), (8, 3), (17, 40), (24, 1), (30, 7), (48, 50), (50, 2), (100, 5), (128, 1)];
    let long: Vec<_> = sizes.iter().flat_map(|&(size, n)| std::iter::repeat_n(size, n)).collect();
    let record = record_of(&long, &[3000; 20]);
    for classes in 1..=9 {
        let config = ProposalConfig { classes, spare_percent: 0, ..ProposalConfig::default() };
        let proposal = record.propose(&config);
        assert!(proposal.classes.len() <= classes);
        let slot_bytes: u64 =
            proposal.classes.iter().map(|c| (c.slot_bytes * c.slots) as u64).sum();
        let used: usize = long.iter().sum();
        assert_eq!(slot_bytes - used as u64, least_waste(&sizes, classes), "{classes}");
        let percent = (slot_bytes - used as u64) as f64 * 100.0 / slot_bytes as f64;
        assert!((proposal.waste_percent - percent).abs() < 1e-9);
        assert!((proposal.served_percent - 119.0 * 100.0 / 139.0).abs() < 1e-9);
        assert!(proposal.classes.is_sorted_by_key(|class| class.slot_bytes));
    }
}

/// Returns the least waste of at most `max_classes` slot sizes up to 64 bytes, tried one by one.
/// Each object is in the smallest sufficient slot.
fn least_waste_of_all_classes(objects: &[usize], max_classes: u32) -> usize {
    let waste = |chosen: u32| {
        let slots = || (1..=8).filter(move |n| chosen & (1 << (n - 1)) != 0).map(|n| n * 8);
        let waste_of = |&size: &usize| slots().find(|slot| *slot >= size).map(|slot| slot - size);
        objects.iter().map(waste_of).sum::<Option<usize>>()
    };
    let choices = (1u32..1 << 8).filter(|chosen| chosen.count_ones() <= max_classes);
    choices.filter_map(waste).min().unwrap()
}

#[test]
fn no_choice_of_classes_wastes_less_than_a_proposal() {
    let mut random = Random::new(48);
    for _ in 0..50 {
        let mut objects = Vec::new();
        for _ in 0..=random.below(12) {
            let size = random.below(64) as usize + 1;
            objects.extend(std::iter::repeat_n(size, random.below(20) as usize + 1));
        }
        let record = record_of(&objects, &[]);
        for max_classes in 1..=8 {
            let limits = ProposalConfig { classes: max_classes, ..ProposalConfig::default() };
            let proposal = record.propose(&ProposalConfig { spare_percent: 0, ..limits });
            let slot_bytes = |class: &SlotClass| class.slot_bytes * class.slots;
            let bytes: usize = proposal.classes.iter().map(slot_bytes).sum();
            let waste = bytes - objects.iter().sum::<usize>();
            let least = least_waste_of_all_classes(&objects, max_classes as u32);
            assert_eq!(waste, least, "{max_classes} classes for {objects:?}");
        }
    }
}

/// Runs a recorded program in the proposed classes, without other memory.
#[test]
fn small_objects_made_of_a_proposal_hold_the_program() {
    let sizes: Vec<_> = (1..=200).map(|i| i * i % 128 + 1).collect();
    let record = record_of(&sizes, &[]);
    let config = ProposalConfig { spare_percent: 0, ..ProposalConfig::default() };
    let proposal = record.propose(&config);
    let region = Region::heap(proposal.config().region_bytes().unwrap()).unwrap();
    let objects = SmallObjects::new(region, &proposal.config()).unwrap();
    for &size in &sizes {
        objects.allocate(Layout::from_size_align(size, 8).unwrap()).unwrap();
    }
    assert_eq!(objects.stats().live, 200);
    assert_eq!(objects.stats().fallbacks, 0);
    let slots: usize = proposal.classes.iter().map(|class| class.slots).sum();
    assert_eq!(slots, 200);
}

#[test]
fn proposals_respect_alignment_spare_slots_and_emptiness() {
    let recorder = Recorder::new(System, &System);
    let layouts = [(24, 32), (40, 8)].map(|(s, a)| Layout::from_size_align(s, a).unwrap());
    for layout in layouts {
        // SAFETY: the size is not zero, the block is freed with its layout.
        unsafe { recorder.dealloc(recorder.alloc(layout), layout) };
    }
    let record = recorder.record();
    let config = ProposalConfig { classes: 1, spare_percent: 60, ..ProposalConfig::default() };
    assert_eq!(record.propose(&config).classes, [SlotClass::new(64, 4)]);
    let with_more = ProposalConfig { spare_slots: 10, ..config.clone() };
    assert_eq!(record.propose(&with_more).classes, [SlotClass::new(64, 14)]);
    let none = record.propose(&ProposalConfig { classes: 0, ..config });
    assert_eq!((none.classes.len(), none.served_percent), (0, 0.0));
    let empty = Recorder::new(System, &System).record();
    assert!(empty.propose(&ProposalConfig::default()).classes.is_empty());
    assert!(!empty.to_string().is_empty() && empty.svg(None).ends_with("</svg>\n"));
}

#[test]
fn the_table_shows_the_most_frequent_sizes() {
    let sizes: Vec<_> = (1..=40).collect();
    let record = record_of(&sizes, &[7, 7, 7]);
    let table = record.to_string();
    assert!(table.starts_with("43 allocations of 841 bytes in total\n"), "{table}");
    let of_7 = table.lines().find(|line| line.trim_start().starts_with("7 ")).unwrap();
    let words: Vec<_> = of_7.split_whitespace().collect();
    assert_eq!(words[..6], ["7", "8", "4", "9.30", "0", "2"]);
    assert!(table.ends_with("8 more sizes, less frequent\n"), "{table}");
}

#[test]
fn the_picture_has_a_bar_for_each_size_and_a_band_for_each_class() {
    let record = record_of(&[8, 24, 100], &[24, 9999]);
    let proposal = record.propose(&ProposalConfig { classes: 2, ..ProposalConfig::default() });
    let svg = record.svg(Some(&proposal));
    // Four sizes in the first panel, the small ones in the second, and ages 4, 3, 2, 0, 0 in
    // three columns.
    assert_eq!(svg.matches("class=\"b\"").count(), 4 + 3 + 3, "{svg}");
    assert_eq!(svg.matches("class=\"c\"").count() + svg.matches("class=\"d\"").count(), 4);
}
