use super::Buffers;

/// Number of buffers up to which a pool grows by a sixteenth, so that little is reserved: 40 MiB with
/// default settings.
const SMALL_STEPS: usize = 42;
/// Number of buffers up to which it grows by an eighth.
const MEDIUM_STEPS: usize = 48;

/// Divisor of the total capacity that gives the size of the next buffer, within the configured
/// limits. Larger buffers stay half empty, and smaller ones become many. The divisor decreases with
/// the number of buffers, so that a pool can become large.
const fn growth_divisor(buffers: usize) -> u64 {
    match buffers {
        0..SMALL_STEPS => 16,
        SMALL_STEPS..MEDIUM_STEPS => 8,
        _ => 4,
    }
}

impl Buffers {
    /// Returns the preferred elements of a new buffer.
    pub(super) fn next_size(&self, needed: u32) -> u32 {
        let part = self.capacity() / growth_divisor(self.iter().count());
        let max = self.config.max_buffer_elements;
        let min = self.config.min_buffer_elements.min(max);
        part.max(needed.into()).clamp(min.into(), max.into()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{backend::NullBackend, config::PoolConfig};

    #[test]
    fn growth_reaches_the_documented_number_of_elements() {
        let mut buffers = Buffers::new(PoolConfig::default(), 8);
        let mut small = 0;
        while buffers.add(1, 0, &mut NullBackend::default()).unwrap() {
            small += usize::from(buffers.capacity() * 8 <= 40 << 20);
        }
        assert_eq!((small, buffers.capacity() / 1_000_000), (SMALL_STEPS, 730));
    }
}
