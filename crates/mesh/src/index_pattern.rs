use alloc::vec::Vec;

/// Indices that draw one quad.
pub const INDICES_PER_QUAD: u32 = 6;
/// Vertices that the pattern counts per quad.
pub const VERTICES_PER_QUAD: u32 = 4;

/// The index buffer that every run of quads shares: two triangles a quad, `0 1 2` and
/// `2 1 3`, for `quad_count` quads in a row.
///
/// A draw command starts at index 0 with a base vertex of four times its first quad, so
/// the pattern needs to be as long as the longest run and no longer.
///
/// # Cost
/// 24 bytes a quad, made once.
pub fn quad_index_pattern(quad_count: u32) -> Vec<u32> {
    const PATTERN: [u32; INDICES_PER_QUAD as usize] = [0, 1, 2, 2, 1, 3];
    (0..quad_count)
        .flat_map(|quad| PATTERN.map(|corner| quad * VERTICES_PER_QUAD + corner))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_quad_follows_the_first() {
        assert_eq!(quad_index_pattern(2), [0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7]);
        assert!(quad_index_pattern(0).is_empty());
    }
}
