//! Fallible allocation: large inputs must not abort the program.

use crate::error::RenderError;

/// Allocates `count` zeroes.
///
/// # Errors
/// `OutOfMemory` with the purpose and the size in bytes.
pub(super) fn zeroed<T: bytemuck::Zeroable + Clone>(
    what: &'static str,
    count: usize,
) -> Result<Vec<T>, RenderError> {
    let mut list = Vec::new();
    let size_bytes = count as u128 * size_of::<T>() as u128;
    list.try_reserve_exact(count).map_err(|_| out_of_memory(what, size_bytes))?;
    list.resize(count, T::zeroed());
    Ok(list)
}

/// Error for memory that cannot be allocated.
#[cold]
pub(super) fn out_of_memory(what: &str, size_bytes: u128) -> RenderError {
    let reason = format!("{size_bytes} bytes for {what} cannot be allocated; request less");
    let requested_bytes = u64::try_from(size_bytes).unwrap_or(u64::MAX);
    RenderError::OutOfMemory { requested_bytes, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocation_failures_report_purpose_and_size() {
        let error = zeroed::<u32>("a test", usize::MAX / 8).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "the graphics device is out of memory: {} bytes for a test cannot be allocated; request less",
                (usize::MAX / 8) as u128 * 4
            )
        );
        assert_eq!(zeroed::<u32>("a test", 3).unwrap(), [0; 3]);
    }
}
