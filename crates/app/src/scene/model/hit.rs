use drystone_world::VoxelRay;
use glam::{DVec3, Vec3};

use super::ModelTriangles;

impl ModelTriangles {
    /// Returns the distance, in voxels, at which a ray meets the model.
    ///
    /// # Cost
    /// O(triangles). The intersection is that of Möller and Trumbore, "Fast, minimum storage
    /// ray/triangle intersection", 1997.
    pub fn hit(&self, ray: &VoxelRay) -> Option<f64> {
        let transform = self.transform.triangle_transform();
        let direction = DVec3::from_array(ray.direction).normalize_or_zero();
        let origin = DVec3::from_array(ray.origin) - DVec3::from(transform.origin.map(f64::from));
        let origin = origin / f64::from(transform.scale);
        let (origin, direction) = (origin.as_vec3(), direction.as_vec3());
        let mut nearest = f32::INFINITY;
        for part in &self.parts {
            for corners in part.indices.as_chunks::<3>().0 {
                let at = corners.map(|corner| part.vertices.get(corner as usize));
                if let [Some(a), Some(b), Some(c)] = at {
                    let corners = [a, b, c].map(|vertex| Vec3::from_array(vertex.position));
                    nearest = nearest.min(distance(origin, direction, corners));
                }
            }
        }
        nearest.is_finite().then(|| f64::from(nearest) * f64::from(transform.scale))
    }
}

/// Returns the distance to a triangle from either side; infinite if the ray misses it.
fn distance(origin: Vec3, direction: Vec3, [a, b, c]: [Vec3; 3]) -> f32 {
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(ac);
    let volume = ab.dot(across);
    let from = origin - a;
    let u = from.dot(across) / volume;
    let up = from.cross(ab);
    let v = direction.dot(up) / volume;
    let distance = ac.dot(up) / volume;
    // A ray in the plane of the triangle has a volume of 0, and no number here is valid then.
    let is_hit = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance >= 0.0;
    if is_hit && distance.is_finite() { distance } else { f32::INFINITY }
}

#[cfg(test)]
mod tests {
    use drystone_render::TriangleVertex;

    use super::super::{ModelTransform, PartTriangles};
    use super::*;

    /// A tetrahedron of edges along the axes, of length 2, with its corner at the origin.
    fn tetrahedron(transform: ModelTransform) -> ModelTriangles {
        let corners = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]];
        let vertices = corners.map(|at| TriangleVertex::new(at, [0.0, 1.0, 0.0], [255; 4]));
        let indices = vec![0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 2, 3];
        let part = PartTriangles { vertices: vertices.into(), indices, ..PartTriangles::default() };
        ModelTriangles { parts: vec![part], transform, ..ModelTriangles::default() }
    }

    fn ray(origin: [f64; 3], target: [f64; 3]) -> VoxelRay {
        VoxelRay { origin, direction: [0, 1, 2].map(|axis| target[axis] - origin[axis]) }
    }

    #[test]
    fn the_nearest_triangle_is_hit() {
        let model = tetrahedron(ModelTransform::default());
        let scale = f64::from(model.transform.triangle_transform().scale);
        let near = |hit: Option<f64>, expected: f64| {
            assert!((hit.unwrap() - expected).abs() < 1e-4, "{hit:?} {expected}");
        };
        let at = |point: [f64; 3]| point.map(|c| c * scale);
        // Into the corner from outside, and onto the slope.
        near(model.hit(&ray(at([-3.0, 0.5, 0.5]), at([0.0, 0.5, 0.5]))), 3.0 * scale);
        near(model.hit(&ray(at([0.5, 9.0, 0.5]), at([0.5, 0.0, 0.5]))), 8.0 * scale);
        // From inside, through the back of a face.
        near(model.hit(&ray(at([0.5, 0.2, 0.5]), at([0.5, 9.0, 0.5]))), 0.8 * scale);
    }

    #[test]
    fn rays_that_miss_or_have_no_direction_hit_nothing() {
        let model = tetrahedron(ModelTransform::default());
        for (origin, target) in [
            ([-3.0, 5.0, 0.5], [0.0, 5.0, 0.5]),
            // Away from it.
            ([-3.0, 0.5, 0.5], [-4.0, 0.5, 0.5]),
            ([1.0; 3], [1.0; 3]),
            ([f64::NAN; 3], [0.0; 3]),
            // Along the plane of a face, beside it.
            ([0.0, -1.0, -1.0], [0.0, -1.0, 5.0]),
        ] {
            assert_eq!(model.hit(&ray(origin, target)), None, "{origin:?} {target:?}");
        }
        assert_eq!(ModelTriangles::default().hit(&ray([0.0; 3], [1.0; 3])), None);
    }
}
