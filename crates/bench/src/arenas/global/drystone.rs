//! The parse with `drystone_memory` as the global allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::{alloc::System, process::ExitCode};

use drystone_memory::{GlobalSmallObjects, SlotClass, SmallObjectsConfig};

#[global_allocator]
static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);

/// Size classes in steps of 8 bytes, so that a slot wastes at most 7 bytes. The number of slots is
/// enough for large documents. Unused slots are not resident.
const CLASSES: [SlotClass; 16] = {
    let mut classes = [SlotClass::new(8, 1 << 17); 16];
    let mut index = 1;
    while index < classes.len() {
        classes[index].slot_bytes = 8 * (index + 1);
        index += 1;
    }
    classes
};

fn main() -> ExitCode {
    if let Err(error) = ALLOCATOR.enable(&SmallObjectsConfig { classes: &CLASSES }) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    process::main()
}
