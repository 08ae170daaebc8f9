use drystone_alloc::Handle;
use drystone_pool::{MeshHandle, PoolError};

use crate::{
    draw_data::DrawData,
    error::RenderError,
    mesh_data::{Layer, NaiveMark},
    triangle_vertex::{TriangleTransform, TriangleVertex},
};

/// Triangles to be drawn: vertices, and three indices for each triangle, relative to the first
/// vertex. Front faces are counter-clockwise. Both sides are drawn, and normals are turned to the
/// visible side.
#[derive(Clone, Copy, Debug)]
pub struct TriangleMesh<'a> {
    /// The vertices.
    pub vertices: &'a [TriangleVertex],
    /// Indices of vertices, three for each triangle.
    pub indices: &'a [u32],
    /// Position and scale of the model.
    pub transform: TriangleTransform,
    /// The pass. Blended triangles are sorted mesh by mesh, farthest first, and drawn after all
    /// blended quads. Within a mesh they are drawn in order.
    pub layer: Layer,
}

/// Id of triangles of one renderer; stale once they are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrianglesId(pub(crate) TrianglesOwner);

/// The store that a [`TrianglesId`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrianglesOwner {
    Pool(MeshHandle),
    /// Renderer number and mesh handle.
    Naive(u32, Handle<NaiveMark>),
}

impl TriangleMesh<'_> {
    /// Checks the mesh and returns a box around it, in voxels.
    ///
    /// # Cost
    /// O(vertices + indices).
    ///
    /// # Errors
    /// `BadTriangles`, or `Pool` when an index is out of range.
    pub(crate) fn bounds(&self) -> Result<DrawData, RenderError> {
        let bad = |reason| Err(RenderError::BadTriangles { reason });
        let TriangleTransform { origin, scale } = self.transform;
        if !(scale.is_finite() && scale > 0.0) {
            return bad("the scale is not above zero");
        }
        if !self.indices.len().is_multiple_of(3) {
            return bad("the number of indices is not a multiple of three");
        }
        let vertices = self.vertices.len();
        if let Some(&index) = self.indices.iter().find(|&&index| index as usize >= vertices) {
            return Err(PoolError::NoSuchVertex { index, vertices }.into());
        }
        let (mut min, mut max) = ([f32::MAX; 3], [f32::MIN; 3]);
        for TriangleVertex { position, .. } in self.vertices {
            if !position.iter().all(|number| number.is_finite()) {
                return bad("a coordinate of a vertex is not finite");
            }
            min = [0, 1, 2].map(|axis| min[axis].min(position[axis]));
            max = [0, 1, 2].map(|axis| max[axis].max(position[axis]));
        }
        if vertices == 0 {
            return Ok(DrawData { origin, level: 0, extent: 0, sort_rank: 0 });
        }
        let voxel = |number: f32| (f64::from(number) * f64::from(scale)).floor();
        let sides = [0, 1, 2].map(|axis| voxel(max[axis]) - voxel(min[axis]) + 1.0);
        let extent = sides.into_iter().fold(0.0, f64::max);
        // The cube has the same middle as the box, because distances are measured to it. The casts
        // saturate.
        let lowest = [0, 1, 2].map(|axis| {
            let before = ((extent - sides[axis]) / 2.0).floor();
            (f64::from(origin[axis]) + voxel(min[axis]) - before) as i32
        });
        Ok(DrawData { origin: lowest, level: 0, extent: extent as u32, sort_rank: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh<'a>(
        vertices: &'a [TriangleVertex],
        indices: &'a [u32],
        scale: f32,
    ) -> TriangleMesh<'a> {
        let transform = TriangleTransform { origin: [10, 20, -30], scale };
        TriangleMesh { vertices, indices, transform, layer: Layer::Opaque }
    }

    fn at(position: [f32; 3]) -> TriangleVertex {
        TriangleVertex::new(position, [0.0, 1.0, 0.0], [255; 4])
    }

    #[test]
    fn bounds_hold_every_vertex() {
        let vertices = [at([-0.6, 0.0, 1.0]), at([0.6, 0.9, 3.0]), at([0.0; 3])];
        let bounds = mesh(&vertices, &[0, 1, 2], 2.0).bounds().unwrap();
        // 4 x 2 x 7 voxels starting at 8, 20, -30, in the middle of a cube.
        assert_eq!((bounds.origin, bounds.extent), ([7, 18, -30], 7));
        let huge = [at([f32::MIN, 0.0, 0.0]), at([f32::MAX, 0.0, 0.0])];
        let bounds = mesh(&huge, &[], 9.0).bounds().unwrap();
        assert_eq!((bounds.origin, bounds.extent), ([i32::MIN; 3], u32::MAX));
        assert_eq!(mesh(&[], &[], 1.0).bounds().unwrap().extent, 0);
    }

    #[test]
    fn a_large_pane_does_not_sort_before_a_small_one_in_front() {
        let pane = |side: f32, z: f32| {
            let low = 50.0 - side / 2.0;
            [[0.0, 0.0], [side, 0.0], [0.0, side], [side; 2]]
                .map(|[x, y]| at([low + x, low + y, z]))
        };
        let middle_z = |vertices: [TriangleVertex; 4]| {
            let DrawData { origin, extent, .. } = mesh(&vertices, &[], 1.0).bounds().unwrap();
            f64::from(origin[2] + 30) + f64::from(extent) / 2.0
        };
        for (side, z) in [(100.0, 0.0), (20.0, 20.0), (7.0, -3.0)] {
            let middle = middle_z(pane(side, z));
            assert!((middle - f64::from(z)).abs() <= 1.5, "{side} {z}: {middle}");
        }
    }

    #[test]
    fn invalid_triangle_meshes_are_refused() {
        let good = [at([0.0; 3]), at([1.0; 3]), at([2.0, 0.0, 0.0])];
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(mesh(&good, &[], scale).bounds().is_err());
        }
        assert!(mesh(&good, &[0, 1], 1.0).bounds().is_err());
        let error = mesh(&good, &[0, 1, 3], 1.0).bounds().unwrap_err();
        assert!(matches!(error, RenderError::Pool(PoolError::NoSuchVertex { index: 3, .. })));
        for number in [f32::NAN, f32::NEG_INFINITY] {
            let error = mesh(&[at([0.0, number, 0.0])], &[], 1.0).bounds().unwrap_err();
            assert!(error.to_string().contains("not finite"), "{error}");
        }
    }
}
