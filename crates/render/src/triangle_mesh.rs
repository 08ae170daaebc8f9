use drystone_alloc::Handle;
use drystone_pool::{MeshHandle, PoolError};

use crate::{DrawData, Layer, RenderError, TriangleTransform, TriangleVertex};

/// Triangles to be drawn: vertices, and for each triangle three indices that count from the
/// first of them. A front is seen counter-clockwise; both sides are drawn, and lit with the
/// normals turned to the side that is seen.
#[derive(Clone, Copy, Debug)]
pub struct TriangleMesh<'a> {
    /// The corners.
    pub vertices: &'a [TriangleVertex],
    /// Which of them make triangles, three each.
    pub indices: &'a [u32],
    /// Where the model lies.
    pub transform: TriangleTransform,
    /// The pass. Blended triangles are drawn mesh by mesh, the farthest first, after all
    /// blended quads; within a mesh they are drawn in order.
    pub layer: Layer,
}

/// Names triangles of one renderer; stale once they are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrianglesId(pub(crate) TrianglesOwner);

/// Whose triangles they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrianglesOwner {
    Pool(MeshHandle),
    /// The renderer's number, and the mesh.
    Naive(u32, Handle<NaiveTrianglesMark>),
}

/// Marks the naive renderer's handles of triangles.
#[derive(Debug)]
pub(crate) enum NaiveTrianglesMark {}

impl TriangleMesh<'_> {
    /// Checks it, and says which voxels it lies within.
    ///
    /// # Cost
    /// O(vertices + indices).
    ///
    /// # Errors
    /// `BadTriangles`, or `Pool` when an index names no vertex.
    pub(crate) fn bounds(&self) -> Result<DrawData, RenderError> {
        let bad = |reason| Err(RenderError::BadTriangles { reason });
        let TriangleTransform { origin, scale } = self.transform;
        if !(scale.is_finite() && scale > 0.0) {
            return bad("their scale is not above zero");
        }
        if !self.indices.len().is_multiple_of(3) {
            return bad("their indices are not three each");
        }
        let vertices = self.vertices.len();
        if let Some(&index) = self.indices.iter().find(|&&index| index as usize >= vertices) {
            return Err(PoolError::NoSuchVertex { index, vertices }.into());
        }
        let (mut min, mut max) = ([f32::MAX; 3], [f32::MIN; 3]);
        for TriangleVertex { position, .. } in self.vertices {
            if !position.iter().all(|number| number.is_finite()) {
                return bad("a vertex is at no place: one of its numbers is not finite");
            }
            min = [0, 1, 2].map(|axis| min[axis].min(position[axis]));
            max = [0, 1, 2].map(|axis| max[axis].max(position[axis]));
        }
        if vertices == 0 {
            return Ok(DrawData { origin, level: 0, extent: 0 });
        }
        let voxel = |number: f32| (f64::from(number) * f64::from(scale)).floor();
        let sides = [0, 1, 2].map(|axis| voxel(max[axis]) - voxel(min[axis]) + 1.0);
        let extent = sides.into_iter().fold(0.0, f64::max);
        // The middle of the cube is that of the box, for it is what distances are measured to. The
        // casts end at the numbers that there are.
        let lowest = [0, 1, 2].map(|axis| {
            let before = ((extent - sides[axis]) / 2.0).floor();
            (f64::from(origin[axis]) + voxel(min[axis]) - before) as i32
        });
        Ok(DrawData { origin: lowest, level: 0, extent: extent as u32 })
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
        let place = TriangleTransform { origin: [10, 20, -30], scale };
        TriangleMesh { vertices, indices, transform: place, layer: Layer::Opaque }
    }

    fn at(position: [f32; 3]) -> TriangleVertex {
        TriangleVertex::new(position, [0.0, 1.0, 0.0], [255; 4])
    }

    #[test]
    fn bounds_hold_every_vertex() {
        let vertices = [at([-0.6, 0.0, 1.0]), at([0.6, 0.9, 3.0]), at([0.0; 3])];
        let bounds = mesh(&vertices, &[0, 1, 2], 2.0).bounds().unwrap();
        // 4 x 2 x 7 voxels from 8, 20, -30 on, in the middle of a cube.
        assert_eq!((bounds.origin, bounds.extent), ([7, 18, -30], 7));
        let huge = [at([f32::MIN, 0.0, 0.0]), at([f32::MAX, 0.0, 0.0])];
        let bounds = mesh(&huge, &[], 9.0).bounds().unwrap();
        assert_eq!((bounds.origin, bounds.extent), ([i32::MIN; 3], u32::MAX));
        assert_eq!(mesh(&[], &[], 1.0).bounds().unwrap().extent, 0);
    }

    #[test]
    fn a_large_pane_is_no_nearer_than_a_small_one_before_it() {
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
    fn what_cannot_be_drawn_is_refused() {
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
