use gltf::json::mesh::Mode;

/// Corners of the triangles that `count` indices form, as positions in the list of indices. Empty
/// for modes that are no triangles.
pub(super) fn triangles(mode: Mode, count: u64) -> impl Iterator<Item = [u64; 3]> {
    let triangles = match mode {
        Mode::Triangles => count / 3,
        Mode::TriangleStrip | Mode::TriangleFan => count.saturating_sub(2),
        _ => 0,
    };
    (0..triangles).map(move |n| match mode {
        // Every second triangle of a strip has the opposite winding.
        Mode::TriangleStrip => [n, n + 1 + n % 2, n + 2 - n % 2],
        Mode::TriangleFan => [n + 1, n + 2, 0],
        _ => [3 * n, 3 * n + 1, 3 * n + 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_of_each_mode() {
        let list = |mode, count| triangles(mode, count).collect::<Vec<_>>();
        assert_eq!(list(Mode::Triangles, 7), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(list(Mode::TriangleStrip, 5), [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
        assert_eq!(list(Mode::TriangleFan, 4), [[1, 2, 0], [2, 3, 0]]);
        for mode in [Mode::Triangles, Mode::TriangleStrip, Mode::TriangleFan] {
            assert!(list(mode, 2).is_empty());
        }
        assert!(list(Mode::LineStrip, 9).is_empty());
    }
}
