use alloc::vec::Vec;

use crate::{Face, Quad, VERTICES_PER_QUAD, index_pattern::PATTERN};

/// Triangles as plain lists, for engines that have buffers of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuadTriangles {
    /// Position of each vertex, in voxels from the lowest corner of the chunk.
    pub positions: Vec<[f32; 3]>,
    /// Outward unit normal of each vertex.
    pub normals: Vec<[f32; 3]>,
    /// Colour of each vertex: red, green, blue and opacity.
    pub colors: Vec<[u8; 4]>,
    /// Three vertices for each triangle, counter-clockwise seen from outside.
    pub indices: Vec<u32>,
}

/// Converts quads with their colours to triangles: four vertices and two triangles a quad. Ambient
/// occlusion is left out.
///
/// # Cost
/// O(quads), at most 2³⁰, which is the range of the indices. 136 bytes a quad, instead of 8. A vertex pool draws quads without this conversion.
///
/// # Examples
/// ```
/// use drystone_mesh::{Face, Quad, quads_to_triangles};
///
/// let floor = Quad::new([0, 3, 0], [16, 16], Face::PosY, 1);
/// let triangles = quads_to_triangles([(floor, [90, 120, 60, 255])]);
/// assert_eq!(triangles.positions[0], [0.0, 4.0, 0.0]);
/// assert_eq!(triangles.normals, [[0.0, 1.0, 0.0]; 4]);
/// assert_eq!(triangles.indices.len(), 6);
/// ```
pub fn quads_to_triangles(quads: impl IntoIterator<Item = (Quad, [u8; 4])>) -> QuadTriangles {
    let mut triangles = QuadTriangles::default();
    for (quad, color) in quads {
        let first = triangles.positions.len() as u32;
        let normal = quad.face().unwrap_or(Face::NegX).normal().map(|c| c as f32);
        for corner in 0..VERTICES_PER_QUAD {
            triangles.positions.push(quad.corner(corner).map(|c| c as f32));
            triangles.normals.push(normal);
            triangles.colors.push(color);
        }
        triangles.indices.extend(PATTERN.map(|corner| first + corner));
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_have_the_area_winding_and_normal_of_their_quad() {
        for face in Face::ALL {
            let quads = [
                (Quad::new([5, 6, 7], [3, 2], face, 1), [1, 2, 3, 4]),
                (Quad::new([0, 0, 0], [64, 1], face, 2), [5, 6, 7, 8]),
                (Quad::new([63, 63, 63], [1, 1], face, 0), [9; 4]),
            ];
            let triangles = quads_to_triangles(quads);
            let QuadTriangles { positions, normals, colors, indices } = &triangles;
            assert_eq!([positions.len(), normals.len(), colors.len()], [12; 3]);
            for ((quad, color), six) in quads.into_iter().zip(indices.chunks(6)) {
                let mut area = 0.0;
                for triangle in six.chunks(3) {
                    let [a, b, c] = [0, 1, 2].map(|i| positions[triangle[i] as usize]);
                    let [u, v] = [b, c].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
                    let cross = [
                        u[1] * v[2] - u[2] * v[1],
                        u[2] * v[0] - u[0] * v[2],
                        u[0] * v[1] - u[1] * v[0],
                    ];
                    let outward = face.normal().map(|c| c as f32);
                    let twice: f32 = cross.iter().zip(outward).map(|(c, n)| c * n).sum();
                    assert!(twice > 0.0, "{quad:?} winds clockwise");
                    area += twice / 2.0;
                    for &vertex in triangle {
                        assert_eq!(normals[vertex as usize], outward);
                        assert_eq!(colors[vertex as usize], color);
                    }
                }
                assert_eq!(area, (quad.size()[0] * quad.size()[1]) as f32, "{quad:?}");
            }
        }
        assert_eq!(quads_to_triangles([]), QuadTriangles::default());
    }
}
