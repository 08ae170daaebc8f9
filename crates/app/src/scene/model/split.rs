use drystone_render::{Layer, TriangleVertex};

use super::{ModelTriangles, PartTriangles};

/// Marks a vertex that is not in the piece.
const NONE: u32 = u32::MAX;

impl ModelTriangles {
    /// Splits parts, in the same order of triangles, so that neither vertices nor indices of a part
    /// take more than `max_bytes`; a piece has at least one triangle. Shared vertices are repeated.
    /// [`ModelScene`](crate::scene::ModelScene) splits by the
    /// [limit](drystone_render::Renderer::max_triangle_bytes) of its renderer.
    ///
    /// # Cost
    /// None for parts that are small enough; for others O(vertices + indices).
    ///
    /// # Limits
    /// Blended triangles are drawn in order within a part, and parts from the farthest to the
    /// nearest. Splitting a blended part may change how it blends.
    #[must_use]
    pub fn split(mut self, max_bytes: u64) -> Self {
        let limits = Limits::new(max_bytes);
        if !self.parts.iter().all(|part| limits.hold(part)) {
            self.parts = self.parts.into_iter().flat_map(|part| limits.split(part)).collect();
        }
        self
    }

    /// Splits only opaque parts, so that blending does not change.
    ///
    /// # Cost
    /// Cost of [`split`](Self::split).
    #[must_use]
    pub fn in_pieces(mut self, max_bytes: u64) -> Self {
        let limits = Limits::new(max_bytes);
        let split = |part: PartTriangles| match part.layer {
            Layer::Opaque => limits.split(part),
            Layer::Blended => vec![part],
        };
        self.parts = self.parts.into_iter().flat_map(split).collect();
        self
    }
}

impl PartTriangles {
    /// Splits one part as [`ModelTriangles::split`] does. A part that is small enough is returned
    /// unchanged.
    pub fn split(self, max_bytes: u64) -> Vec<Self> {
        Limits::new(max_bytes).split(self)
    }
}

/// Maximum numbers of a part.
#[derive(Clone, Copy)]
struct Limits {
    vertices: usize,
    indices: usize,
}

impl Limits {
    fn new(max_bytes: u64) -> Self {
        let max_count =
            |size: usize| usize::try_from(max_bytes / size as u64).unwrap_or(usize::MAX);
        Self {
            vertices: max_count(size_of::<TriangleVertex>()).max(3),
            indices: max_count(size_of::<u32>()).max(3),
        }
    }

    const fn hold(self, part: &PartTriangles) -> bool {
        part.vertices.len() <= self.vertices && part.indices.len() <= self.indices
    }

    fn split(self, part: PartTriangles) -> Vec<PartTriangles> {
        let count = part.vertices.len();
        // The renderer reports indices out of range.
        if self.hold(&part) || part.indices.iter().any(|&vertex| vertex as usize >= count) {
            return vec![part];
        }
        let empty = || PartTriangles { vertices: Vec::new(), indices: Vec::new(), ..part };
        let (mut pieces, mut piece) = (Vec::new(), empty());
        // Index in the piece by vertex of the part, and the vertices that have one.
        let (mut numbers, mut taken) = (vec![NONE; count], Vec::new());
        for triangle in part.indices.chunks(3) {
            let is_new = |&at: &usize| {
                numbers[triangle[at] as usize] == NONE && !triangle[..at].contains(&triangle[at])
            };
            let new = (0..triangle.len()).filter(is_new).count();
            if piece.vertices.len() + new > self.vertices || piece.indices.len() + 3 > self.indices
            {
                pieces.push(std::mem::replace(&mut piece, empty()));
                taken.drain(..).for_each(|vertex: u32| numbers[vertex as usize] = NONE);
            }
            for &vertex in triangle {
                let number = &mut numbers[vertex as usize];
                if *number == NONE {
                    *number = piece.vertices.len() as u32;
                    piece.vertices.push(part.vertices[vertex as usize]);
                    taken.push(vertex);
                }
                piece.indices.push(*number);
            }
        }
        pieces.push(piece);
        pieces
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the drawn vertices, corner by corner.
    fn drawn(parts: &[PartTriangles]) -> Vec<TriangleVertex> {
        let corners = |part: &PartTriangles| -> Vec<_> {
            part.indices.iter().map(|&at| part.vertices[at as usize]).collect()
        };
        parts.iter().flat_map(corners).collect()
    }

    fn part(count: u32, indices: Vec<u32>, layer: Layer) -> PartTriangles {
        let vertex = |n: u32| TriangleVertex::new([n as f32, 0.0, 0.0], [0.0, 1.0, 0.0], [9; 4]);
        let vertices = (0..count).map(vertex).collect();
        PartTriangles { vertices, indices, layer, is_textured: false }
    }

    proptest! {
        #[test]
        fn pieces_draw_the_same_and_are_small_enough(
            picks in prop::collection::vec((0..40u32, 0..40u32, 0..40u32), 0..60),
            max_bytes in 0..2_000u64,
        ) {
            let indices: Vec<u32> = picks.iter().flat_map(|&(a, b, c)| [a, b, c]).collect();
            let whole = part(40, indices, Layer::Opaque);
            let glass = part(3, vec![0, 1, 2], Layer::Blended);
            let parts = vec![whole, glass];
            let model = ModelTriangles { parts: parts.clone(), ..ModelTriangles::default() };
            let split = model.split(max_bytes);
            prop_assert_eq!(drawn(&split.parts), drawn(&parts));
            for piece in &split.parts {
                let (vertices, indices) = (20 * piece.vertices.len(), 4 * piece.indices.len());
                prop_assert!(vertices as u64 <= max_bytes.max(3 * 20));
                prop_assert!(indices as u64 <= max_bytes.max(3 * 4));
            }
            prop_assert_eq!(split.parts.last().map(|part| part.layer), Some(Layer::Blended));
            // Pieces are maximal: two consecutive ones do not fit in one.
            for pair in split.parts[..split.parts.len() - 1].windows(2) {
                let count = |of: fn(&PartTriangles) -> usize| of(&pair[0]) + of(&pair[1]);
                let vertices = 20 * count(|part| part.vertices.len()) as u64;
                let indices = 4 * count(|part| part.indices.len()) as u64;
                prop_assert!(vertices.max(indices) > max_bytes);
            }
        }
    }

    #[test]
    fn small_or_invalid_parts_are_unchanged() {
        let whole = part(4, vec![0, 1, 2, 2, 1, 3], Layer::Opaque);
        let vertices = whole.vertices.as_ptr();
        let model = ModelTriangles { parts: vec![whole], ..ModelTriangles::default() };
        let split = model.split(80);
        assert_eq!((split.parts.len(), split.parts[0].vertices.as_ptr()), (1, vertices));
        assert_eq!(split.split(79).parts.len(), 2);
        let wrong = part(4, vec![0, 1, 9], Layer::Opaque);
        let model = ModelTriangles { parts: vec![wrong], ..ModelTriangles::default() };
        assert_eq!(model.split(60).parts.len(), 1);
    }
}
