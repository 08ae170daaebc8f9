//! Small objects as the global allocator of a program, with statistics.
//!
//! ```text
//! cargo run --release -p drystone-memory --example global_small_objects
//! ```
//! The program runs on the system's allocator until `enable` is called. From then on, objects up to
//! the largest class are allocated in an area of slots, and larger ones still by the system. Each
//! thread has a cache, so most allocations access no shared memory. At the end, the program prints
//! the use of each class: classes that are nearly full need more slots, and `fallbacks` counts the
//! requests that found a class full.

use std::alloc::System;
use std::collections::{BTreeMap, HashMap};

use drystone_memory::{GlobalSmallObjects, SlotClass, SmallObjectsConfig};

#[global_allocator]
static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);

const CLASSES: [SlotClass; 7] = [
    SlotClass::new(8, 4096),
    SlotClass::new(16, 16_384),
    SlotClass::new(32, 8192),
    SlotClass::new(64, 4096),
    SlotClass::new(128, 2048),
    SlotClass::new(256, 1024),
    SlotClass::new(512, 512),
];

/// Allocates and frees many small strings, vectors and nodes.
fn count_words(text: &str) -> (usize, BTreeMap<String, Vec<usize>>) {
    let mut positions: HashMap<String, Vec<usize>> = HashMap::new();
    for (position, word) in text.split_whitespace().enumerate() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        positions.entry(word).or_default().push(position);
    }
    (positions.len(), positions.into_iter().collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = include_str!("global_small_objects.rs").repeat(20);
    let expected = count_words(&text);

    ALLOCATOR.enable(&SmallObjectsConfig { classes: &CLASSES })?;
    let threads = (0..4).map(|_| {
        let text = text.clone();
        std::thread::spawn(move || count_words(&text))
    });
    for thread in threads.collect::<Vec<_>>() {
        assert_eq!(thread.join().map_err(|_| "a thread failed")?, expected);
    }
    let words = count_words(&text);
    let small = words.1.keys().filter(|word| ALLOCATOR.owns(word.as_ptr())).count();
    assert!(small > 0, "short words are in the area");

    println!("{} different words", words.0);
    println!("{:>6} {:>8} {:>8} {:>8} {:>10}", "bytes", "slots", "live", "peak", "fallbacks");
    for class in ALLOCATOR.class_stats() {
        println!(
            "{:>6} {:>8} {:>8} {:>8} {:>10}",
            class.slot_bytes, class.slots, class.live, class.peak, class.fallbacks
        );
    }
    println!("{} allocations were larger than any class", ALLOCATOR.too_large());
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
