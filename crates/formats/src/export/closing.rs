//! Corners of other quads on the edges of a quad, which become corners of its polygon too.
//!
//! Merged quads meet in T-junctions, where an edge of one lies beside several edges of others. Many
//! programs take such a surface as open. Here each quad becomes a polygon with all these corners:
//!
//! ```text
//!  ┌───────┐      ┌───────┐
//!  │       │      │  ╱ ╲  │     the quad above has one more corner,
//!  ├───┬───┤  ►   ├───┬───┤     and is three triangles instead of two
//!  │   │   │      │   │   │
//! ```
//! The quads of neighbouring chunks are not known. On the border of a chunk, every grid point of an
//! edge that a solid voxel of a neighbour touches is a corner. The neighbour's mesh follows the same
//! rule, so both meshes have the same corners.

use drystone_mesh::Quad;
use drystone_voxel::{Chunk, ChunkMesh, PaddedChunk};

/// Grid points along a side of a chunk.
pub(super) const POINTS: usize = Chunk::SIDE as usize + 1;

/// Corners of the quads of a chunk: one bit for each point of the grid, one word along X for each Y
/// and Z.
pub(super) struct Corners(Vec<u64>);

/// The corners of a polygon, in the order of the quad's outline. Each list begins with a corner of
/// the quad, and contains the points up to the next one.
#[derive(Debug, Default)]
pub(super) struct Outline {
    edges: [Vec<[u32; 3]>; 4],
}

impl Corners {
    pub(super) fn new() -> Self {
        Self(vec![0; POINTS * POINTS])
    }

    /// Replaces the content by the corners of a mesh.
    pub(super) fn collect(&mut self, mesh: &ChunkMesh) {
        self.0.fill(0);
        for (quad, _) in mesh.iter() {
            for [x, y, z] in [0, 1, 2, 3].map(|corner| quad.corner(corner)) {
                self.0[y as usize + POINTS * z as usize] |= 1 << x;
            }
        }
    }

    /// Sets `outline` to that of a quad.
    pub(super) fn outline(&self, quad: Quad, padded: &PaddedChunk, outline: &mut Outline) {
        // Corners in the order of the outline; the index pattern has another.
        let corners = [0, 1, 3, 2].map(|corner| quad.corner(corner));
        for (edge, points) in outline.edges.iter_mut().enumerate() {
            let (start, end) = (corners[edge], corners[(edge + 1) % 4]);
            points.clear();
            points.push(start);
            let step = [0, 1, 2].map(|axis| end[axis].cmp(&start[axis]) as i32);
            let mut at = start;
            loop {
                at = [0, 1, 2].map(|axis| at[axis].wrapping_add_signed(step[axis]));
                if at == end {
                    break;
                }
                if self.is_corner(at) || touches_neighbor(at, padded) {
                    points.push(at);
                }
            }
        }
    }

    fn is_corner(&self, [x, y, z]: [u32; 3]) -> bool {
        self.0[y as usize + POINTS * z as usize] >> x & 1 != 0
    }
}

/// Whether a point lies on the border of the chunk and a solid voxel outside touches it.
fn touches_neighbor(point: [u32; 3], padded: &PaddedChunk) -> bool {
    let n = padded.side();
    if point.iter().all(|&c| c > 0 && c < n) {
        return false;
    }
    (0..8).any(|voxel| {
        // Padded coordinates are larger by one.
        let at = [0, 1, 2].map(|axis| point[axis] + (voxel >> axis & 1));
        at.iter().any(|&c| c == 0 || c > n) && !padded.get(at).is_air()
    })
}

impl Outline {
    /// Whether the quad has no other corners than its own.
    pub(super) fn is_plain(&self) -> bool {
        self.edges.iter().all(|edge| edge.len() == 1)
    }

    /// Returns all corners of the polygon.
    pub(super) fn points(&self) -> impl Iterator<Item = [u32; 3]> {
        self.edges.iter().flatten().copied()
    }

    /// Passes n − 2 triangles to `take`, each with an area, as indices of [`points`](Self::points).
    ///
    /// ```text
    ///  3───r───2     corner 0 is connected with the points of the two far edges,
    ///  │ ╲ │ ╱ q     q with those of the edge from 0 to 1,
    ///  l   ╳   │     r with those of the edge from 3 to 0
    ///  0───b───1
    /// ```
    pub(super) fn triangulate(&self, mut take: impl FnMut([u32; 3])) {
        let [bottom, right, top, left] = self.edges.each_ref().map(|edge| edge.len() as u32);
        let count = bottom + right + top + left;
        // The far edges, from corner 1 to corner 3.
        let (one, three) = (bottom, bottom + right + top);
        (0..one).for_each(|at| take([one + 1, at, at + 1]));
        (one + 1..three - 1).for_each(|at| take([0, at, at + 1]));
        (three..count).for_each(|at| take([three - 1, at, (at + 1) % count]));
    }
}

#[cfg(test)]
mod tests {
    use drystone_mesh::Face;
    use drystone_voxel::Material;

    use super::*;

    fn cross(a: [i32; 3], b: [i32; 3], c: [i32; 3]) -> [i32; 3] {
        let [u, v] = [b, c].map(|end| [0, 1, 2].map(|axis| end[axis] - a[axis]));
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    }

    /// Every set of corners on the edges of a rectangle of 3 × 2, for all face directions.
    #[test]
    fn triangles_cover_the_rectangle_and_none_is_empty() {
        let air = PaddedChunk::from_fn(32, |_| Material::AIR);
        for face in Face::ALL {
            let quad = Quad::new([4, 5, 6], [3, 2], face, 1);
            let mut all = Outline::default();
            let mut every = Corners::new();
            every.0.fill(u64::MAX);
            every.outline(quad, &air, &mut all);
            let inner: Vec<_> = all.edges.iter().flat_map(|edge| &edge[1..]).copied().collect();
            assert_eq!(inner.len(), 6);
            for set in 0..1 << inner.len() {
                let mut corners = Corners::new();
                for (n, [x, y, z]) in inner.iter().enumerate() {
                    corners.0[*y as usize + POINTS * *z as usize] |= (set >> n & 1) << x;
                }
                let mut outline = Outline::default();
                corners.outline(quad, &air, &mut outline);
                let points: Vec<_> = outline.points().map(|at| at.map(|c| c as i32)).collect();
                let mut triangles = Vec::new();
                outline.triangulate(|triangle| triangles.push(triangle));
                assert_eq!(points.len(), 4 + set.count_ones() as usize);
                assert_eq!(triangles.len(), points.len() - 2);
                let mut doubled_area = 0;
                for triangle in triangles {
                    let [a, b, c] = triangle.map(|corner| points[corner as usize]);
                    let normal = cross(a, b, c);
                    let along: i32 = (0..3).map(|axis| normal[axis] * face.normal()[axis]).sum();
                    assert!(along > 0, "{face:?} {set:b}");
                    doubled_area += along;
                }
                assert_eq!(doubled_area, 2 * 3 * 2);
                assert_eq!(outline.is_plain(), set == 0);
            }
        }
    }
}
