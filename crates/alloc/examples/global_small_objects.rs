//! Small objects as the global allocator of a program, with statistics.
//!
//! ```text
//! cargo run --release -p drystone-alloc --example global_small_objects
//! ```
//! The program runs on the system's allocator until `enable` is called; from then on objects
//! of up to the largest class lie in an area of their own, in arrays by size, and the rest
//! still comes from the system. Each thread has a cache, so most allocations touch nothing
//! that another thread does. At the end it says which classes were used how much: sizes that
//! are nearly full want more slots, and `fallbacks` says how often they had none.

use std::alloc::System;
use std::collections::{BTreeMap, HashMap};

use drystone_alloc::memory::{GlobalSmallObjects, SlotClass, SmallObjectsConfig};

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

/// Many small strings, vectors and nodes that come and go.
fn count_words(text: &str) -> (usize, BTreeMap<String, Vec<usize>>) {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, word) in text.split_whitespace().enumerate() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        places.entry(word).or_default().push(place);
    }
    (places.len(), places.into_iter().collect())
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
    let kept = count_words(&text);
    let small = kept.1.keys().filter(|word| ALLOCATOR.owns(word.as_ptr())).count();
    assert!(small > 0, "short words lie in the area");

    println!("{} different words", kept.0);
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
fn it_runs() {
    main().unwrap();
}
