use alloc::vec::Vec;

/// Number of indices of a quad.
pub const INDICES_PER_QUAD: u32 = 6;
/// Number of vertices of a quad in the pattern.
pub const VERTICES_PER_QUAD: u32 = 4;

/// Corners of the two triangles of a quad.
pub(crate) const PATTERN: [u32; INDICES_PER_QUAD as usize] = [0, 1, 2, 2, 1, 3];

/// Returns the index buffer that all runs of quads share: two triangles per quad, `0 1 2` and `2 1
/// 3`, for `quad_count` consecutive quads.
///
/// A draw command starts at index 0, with a base vertex of four times its first quad. The pattern
/// therefore only needs the length of the longest run.
///
/// # Cost
/// 24 bytes per quad, computed once.
pub fn quad_index_pattern(quad_count: u32) -> Vec<u32> {
    (0..quad_count)
        .flat_map(|quad| PATTERN.map(|corner| quad * VERTICES_PER_QUAD + corner))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_indices_of_consecutive_quads_follow_each_other() {
        assert_eq!(quad_index_pattern(2), [0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7]);
        assert!(quad_index_pattern(0).is_empty());
    }
}
