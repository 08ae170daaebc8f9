//! The parse with `drystone_alloc` as the global allocator.
#![forbid(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::{alloc::System, process::ExitCode};

use drystone_alloc::memory::{GlobalSmallObjects, SlotClass, SmallObjectsConfig};

#[global_allocator]
static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);

/// Sizes of 8 in 8 bytes: nothing is larger than its slot by more than 7. As many slots as
/// documents of this kind may want; those that are not used are not resident.
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
