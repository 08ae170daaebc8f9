use drystone_mesh::{Face, Quad};

/// A quad, or a part of one, with the range that it covers along each axis.
///
/// Ranges count half cells. The face is moved by half a cell behind its front, into its own voxel:
///
/// ```text
/// cells       0     1     2     3
/// planes      │     │     │     │
/// half cells  0  1  2  3  4  5  6
///                ▲     ◄─────────►
///   +X face at plane 1   X range of a face in another direction, of cells 2 and 3
/// ```
/// So a face is never in a plane of the grid, but below or above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) quad: Quad,
    pub(super) face: Face,
    pub(super) low: [i16; 3],
    pub(super) high: [i16; 3],
}

impl Piece {
    /// Creates the piece of a whole quad. `cells` is the number of cells along the side of a voxel: 1
    /// if no quad of the mesh is fine, else [`Quad::FINE_CELLS`]. Returns `None` for bits without a
    /// face direction.
    pub(super) fn new(quad: Quad, cells: u32) -> Option<Self> {
        let face = quad.face()?;
        let cells = if quad.is_fine() { 1 } else { cells };
        let halves = |own: u32| (2 * own * cells) as i16;
        let (position, size) = (quad.position(), quad.size());
        let mut low = position.map(halves);
        let mut high = low;
        for (axis, own) in face.span_axes().into_iter().zip(size) {
            high[axis] = halves(position[axis] + own);
        }
        let axis = face.axis();
        let moved = match face.is_positive() {
            true => halves(position[axis] + 1) - 1,
            false => low[axis] + 1,
        };
        (low[axis], high[axis]) = (moved, moved);
        Some(Self { quad, face, low, high })
    }

    /// Returns the coordinate of the face's plane, in half cells.
    pub(super) const fn plane(&self) -> i16 {
        let moved = self.low[self.face.axis()];
        if self.face.is_positive() { moved + 1 } else { moved - 1 }
    }

    /// Returns the face direction and how near the plane is to a camera that sees this direction.
    pub(super) const fn layer(&self) -> (Face, i16) {
        let nearness = if self.face.is_positive() { self.plane() } else { -self.plane() };
        (self.face, nearness)
    }

    /// Cuts the piece at plane `plane` of the grid across `axis`, which lies within its range.
    /// Returns the parts below and above it. `cells` is that of [`new`](Self::new).
    pub(super) fn cut(self, axis: usize, plane: u16, cells: u32) -> [Self; 2] {
        let Self { quad, face, .. } = self;
        let spans = face.span_axes();
        let along = usize::from(spans[1] == axis);
        let at = if quad.is_fine() { plane.into() } else { u32::from(plane) / cells };
        let (position, mut below, mut above) = (quad.position(), quad.size(), quad.size());
        let mut start = position;
        below[along] = at - position[axis];
        above[along] -= below[along];
        start[axis] = at;
        let part = |position, size| match quad.is_fine() {
            true => Quad::fine(position, size, face, quad.material()),
            false => quad.with_rectangle(position, size).with_ambient_occlusion(flat(quad, along)),
        };
        let middle = 2 * plane as i16;
        let (mut lower, mut upper) = (self, self);
        (lower.quad, lower.high[axis]) = (part(position, below), middle);
        (upper.quad, upper.low[axis]) = (part(start, above), middle);
        [lower, upper]
    }
}

/// Returns the ambient occlusion of the parts of a quad that is cut across its width (`along` 0) or
/// height (1). Only the low end of such a long edge counts, for each of the parts.
fn flat(quad: Quad, along: usize) -> u8 {
    let is_positive = quad.face().is_some_and(Face::is_positive);
    let high_end = 1 << usize::from((along == 1) == is_positive);
    let occlusion = quad.ambient_occlusion();
    (0..4).fold(0, |all, corner: usize| {
        let low_end = corner & !high_end;
        all | (occlusion >> (2 * low_end) & 3) << (2 * corner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells_of(quad: Quad) -> Vec<([u32; 3], u8)> {
        let [u, v] = quad.face().unwrap().span_axes();
        let [width, height] = quad.size();
        let positive = quad.face().unwrap().is_positive();
        let shade = |corner: [u32; 2]| {
            let number =
                if positive { corner[0] | corner[1] << 1 } else { corner[1] | corner[0] << 1 };
            quad.ambient_occlusion() >> (2 * number) & 3
        };
        let mut cells = Vec::new();
        for (along_u, along_v) in (0..width).flat_map(|u| (0..height).map(move |v| (u, v))) {
            let mut at = quad.position();
            at[u] += along_u;
            at[v] += along_v;
            // Long edges have the value of their low end.
            let ends = [width, height].map(|size| u32::from(size == 1));
            let corners = [[0, 0], [ends[0], 0], [0, ends[1]], ends].map(shade);
            cells.push((at, corners.into_iter().fold(0, |all, shade| all << 2 | shade)));
        }
        cells
    }

    /// The parts cover the cells of the quad with the same shades.
    #[test]
    fn parts_cover_the_quad() {
        for face in Face::ALL {
            for (along, axis) in face.span_axes().into_iter().enumerate() {
                let mut size = [1, 2];
                size[along] = 3;
                let quad =
                    Quad::new([5, 6, 7], size, face, 9).with_ambient_occlusion(0b11_01_10_00);
                let fine = Quad::fine([5, 6, 7], size, face, 9);
                for (quad, cells) in [(quad, 1), (quad, 16), (fine, 16)] {
                    let grid = if quad.is_fine() { 1 } else { cells };
                    let piece = Piece::new(quad, cells).unwrap();
                    let plane = (quad.position()[axis] + 1) * grid;
                    let parts = piece.cut(axis, plane as u16, cells);
                    let mut covered: Vec<_> =
                        parts.iter().flat_map(|part| cells_of(part.quad)).collect();
                    let mut whole = cells_of(quad);
                    covered.sort_unstable();
                    whole.sort_unstable();
                    assert_eq!(covered, whole, "{face:?} across {axis}, {cells} cells");
                    for part in parts {
                        let again = Piece::new(part.quad, cells).unwrap();
                        assert_eq!((again.low, again.high), (part.low, part.high));
                        assert_eq!(again.plane(), piece.plane());
                    }
                }
            }
        }
    }
}
