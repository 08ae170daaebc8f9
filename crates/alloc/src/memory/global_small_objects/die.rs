//! What cannot be survived: the program has freed what is not its own, so that the next
//! thing to break would be another's memory. An allocator may not unwind.

/// A slot was given back that nobody had.
#[cold]
pub(super) fn freed_twice(slot_bytes: usize) -> ! {
    stop("an object was freed twice, one that lay in a slot of ", slot_bytes)
}

/// A pointer into a section that is not the start of a slot, or not of the layout's class.
#[cold]
pub(super) fn not_a_slot(slot_bytes: usize) -> ! {
    stop(
        "a pointer was freed at which no object starts, or with another's layout; slots are of ",
        slot_bytes,
    )
}

#[cfg(feature = "std")]
fn stop(what: &str, slot_bytes: usize) -> ! {
    use std::io::Write;

    // Standard error has no buffer, and neither it nor the number allocates.
    let _ = writeln!(std::io::stderr(), "drystone-alloc: {what}{slot_bytes} bytes");
    std::process::abort()
}

/// Without the standard library, a panic that meets another one while it unwinds aborts.
#[cfg(not(feature = "std"))]
fn stop(what: &str, slot_bytes: usize) -> ! {
    struct Unwinding;

    impl Drop for Unwinding {
        fn drop(&mut self) {
            panic!("drystone-alloc: no way back");
        }
    }

    let _unwinding = Unwinding;
    panic!("drystone-alloc: {what}{slot_bytes} bytes")
}
