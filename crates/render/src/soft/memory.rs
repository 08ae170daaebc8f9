//! Memory that may not be there: what input sizes must not abort the program.

use crate::RenderError;

/// `count` zeroes.
///
/// # Errors
/// `OutOfMemory` with what they were for and how many bytes that is, when there is no room.
pub(super) fn zeroed<T: bytemuck::Zeroable + Clone>(
    what: &'static str,
    count: usize,
) -> Result<Vec<T>, RenderError> {
    let mut list = Vec::new();
    let size_bytes = count as u128 * size_of::<T>() as u128;
    list.try_reserve_exact(count).map_err(|_| no_room(what, size_bytes))?;
    list.resize(count, T::zeroed());
    Ok(list)
}

/// The error of there being no memory.
#[cold]
pub(super) fn no_room(what: &str, size_bytes: u128) -> RenderError {
    let reason = format!("no {size_bytes} bytes of memory for {what}; ask for less");
    let requested_bytes = u64::try_from(size_bytes).unwrap_or(u64::MAX);
    RenderError::OutOfMemory { requested_bytes, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_an_error_that_says_so() {
        let error = zeroed::<u32>("a test", usize::MAX / 8).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "the graphics device failed while making room: no {} bytes of memory for a test; ask for less",
                (usize::MAX / 8) as u128 * 4
            )
        );
        assert_eq!(zeroed::<u32>("a test", 3).unwrap(), [0; 3]);
    }
}
