use core::sync::atomic::{AtomicU32, Ordering};

/// A number that nobody has had before, or 0 when all were given away.
pub(super) fn next_owner() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    take(&NEXT)
}

fn take(next: &AtomicU32) -> u32 {
    let after = |number: u32| if number == 0 { None } else { Some(number.wrapping_add(1)) };
    next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_and_do_not_begin_again() {
        let next = AtomicU32::new(u32::MAX - 1);
        assert_eq!([(); 4].map(|()| take(&next)), [u32::MAX - 1, u32::MAX, 0, 0]);
    }
}
