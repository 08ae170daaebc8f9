use core::sync::atomic::{AtomicU32, Ordering};

/// Returns a number that was never returned before, or 0 if all numbers are used.
pub(super) fn next_owner() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    next_number(&NEXT)
}

fn next_number(next: &AtomicU32) -> u32 {
    let after = |number: u32| if number == 0 { None } else { Some(number.wrapping_add(1)) };
    next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_reused() {
        let next = AtomicU32::new(u32::MAX - 1);
        assert_eq!([(); 4].map(|()| next_number(&next)), [u32::MAX - 1, u32::MAX, 0, 0]);
    }
}
