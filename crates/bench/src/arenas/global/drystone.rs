//! The parse with `drystone_memory` as the global allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::{alloc::System, process::ExitCode};

use drystone_memory::{GlobalSmallObjects, SlotClass, SmallObjectsConfig};

use process::threads::{BATCH_BYTES, SIZES};

#[global_allocator]
static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);

/// Size classes of 7.7 MB, which a recorder proposed for this parse: see `record.rs`. They have a
/// quarter more slots than the recorded peak.
const CLASSES: [SlotClass; 12] = [
    SlotClass::new(8, 51_533),
    SlotClass::new(16, 19_143),
    SlotClass::new(24, 15_855),
    SlotClass::new(32, 8255),
    SlotClass::new(40, 155_424),
    SlotClass::new(48, 1207),
    SlotClass::new(56, 507),
    SlotClass::new(64, 195),
    SlotClass::new(72, 88),
    SlotClass::new(88, 44),
    SlotClass::new(128, 10),
    SlotClass::new(256, 3),
];

/// Classes for the work of threads: sizes of its objects and of its batches of them, with slots that grow
/// as they are needed.
const THREAD_CLASSES: [SlotClass; SIZES.len() + 1] = {
    let mut classes = [SlotClass::new(BATCH_BYTES, 0); SIZES.len() + 1];
    let mut at = 0;
    while at < SIZES.len() {
        classes[at] = SlotClass::new(SIZES[at], 0);
        at += 1;
    }
    classes
};

fn main() -> ExitCode {
    let has_threads = std::env::args().nth(1).is_some_and(|work| work == "threads");
    let enabled = if has_threads {
        ALLOCATOR.enable_growing(&SmallObjectsConfig { classes: &THREAD_CLASSES }, usize::MAX)
    } else {
        ALLOCATOR.enable(&SmallObjectsConfig { classes: &CLASSES })
    };
    let enabled = enabled.map_err(|error| error.to_string()).and_then(|()| {
        let is_empty = ALLOCATOR.class_stats().any(|class| class.slots == 0);
        if is_empty { Err("this system provides no area that grows".to_owned()) } else { Ok(()) }
    });
    if let Err(error) = enabled {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    process::main()
}
