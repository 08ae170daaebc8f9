//! Errors that cannot be handled: the program has freed memory that it does not own, so other
//! objects would be corrupted next. An allocator must not unwind.

/// Aborts because of a slot that was released but not in use.
#[cold]
pub(super) fn freed_twice(slot_bytes: usize) -> ! {
    stop("double free of an object in a slot of ", slot_bytes)
}

/// Aborts because of a pointer that is not the start of a slot of the layout's class.
#[cold]
pub(super) fn not_a_slot(slot_bytes: usize) -> ! {
    stop(
        "a freed pointer is not the start of an object, or the layout is wrong; slot size: ",
        slot_bytes,
    )
}

#[cfg(feature = "std")]
fn stop(what: &str, slot_bytes: usize) -> ! {
    use std::io::Write;

    // Standard error has no buffer, and formatting the number does not allocate.
    let _ = writeln!(std::io::stderr(), "drystone-memory: {what}{slot_bytes} bytes");
    std::process::abort()
}

/// Aborts without the standard library, by a second panic during unwinding.
#[cfg(not(feature = "std"))]
fn stop(what: &str, slot_bytes: usize) -> ! {
    struct Unwinding;

    impl Drop for Unwinding {
        fn drop(&mut self) {
            panic!("drystone-memory: aborted");
        }
    }

    let _unwinding = Unwinding;
    panic!("drystone-memory: {what}{slot_bytes} bytes")
}
