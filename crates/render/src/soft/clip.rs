//! Clips triangles that reach behind the camera or far outside the picture.

use glam::Vec4;

use super::viewport::MIN_W;

/// Near plane, front of the camera, and the guard's four sides. The far plane is not needed: points
/// beyond it have a depth below that of an empty pixel, and fail the depth test.
const PLANE_COUNT: usize = 6;
/// Each plane adds at most one corner to a triangle.
const MAX_CORNERS: usize = 3 + PLANE_COUNT;

/// A convex polygon in clip space.
pub(super) struct Polygon {
    corners: [Vec4; MAX_CORNERS],
    len: usize,
}

impl Polygon {
    /// Clips a triangle to the region beyond the near plane and within `guard` times `w`.
    ///
    /// An edge is always cut from its inner end towards its outer one. So two triangles that share
    /// it, with opposite directions, get the same point.
    pub(super) fn clipped(triangle: [Vec4; 3], guard: f32) -> Self {
        let mut polygon = Self { corners: [Vec4::ZERO; MAX_CORNERS], len: 3 };
        polygon.corners[..3].copy_from_slice(&triangle);
        polygon.cut(|p| p.w - p.z);
        polygon.cut(|p| p.w - MIN_W);
        polygon.cut(|p| guard * p.w - p.x);
        polygon.cut(|p| guard * p.w + p.x);
        polygon.cut(|p| guard * p.w - p.y);
        polygon.cut(|p| guard * p.w + p.y);
        polygon
    }

    /// The polygon as a fan of triangles about its first corner, with the same winding.
    pub(super) fn triangles(&self) -> impl Iterator<Item = [Vec4; 3]> + '_ {
        let rest = &self.corners[..self.len];
        rest.windows(2).skip(1).map(|edge| [rest[0], edge[0], edge[1]])
    }

    /// Keeps the part that is not on the negative side. NaN counts as outside.
    fn cut(&mut self, distance: impl Fn(Vec4) -> f32) {
        let before = self.corners;
        let count = self.len;
        self.len = 0;
        for i in 0..count {
            let (from, to) = (before[i], before[(i + 1) % count]);
            let (from_distance, to_distance) = (distance(from), distance(to));
            let (from_inside, to_inside) = (from_distance >= 0.0, to_distance >= 0.0);
            if from_inside {
                self.push(from);
            }
            if from_inside && !to_inside {
                self.push(between(from, to, from_distance, to_distance));
            } else if to_inside && !from_inside {
                self.push(between(to, from, to_distance, from_distance));
            }
        }
    }

    fn push(&mut self, corner: Vec4) {
        // A convex polygon gains at most one corner for each plane; rounding could make it concave.
        if let Some(end) = self.corners.get_mut(self.len) {
            *end = corner;
            self.len += 1;
        }
    }
}

fn between(inner: Vec4, outer: Vec4, inner_distance: f32, outer_distance: f32) -> Vec4 {
    inner + (outer - inner) * (inner_distance / (inner_distance - outer_distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clipped(triangle: [Vec4; 3], guard: f32) -> Vec<Vec4> {
        let polygon = Polygon::clipped(triangle, guard);
        polygon.corners[..polygon.len].to_vec()
    }

    #[test]
    fn triangles_inside_are_unchanged() {
        let triangle = [
            Vec4::new(0.0, 0.0, 0.5, 1.0),
            Vec4::new(1.0, 0.0, 1.0, 1.0),
            Vec4::new(0., 1., 0., 1.),
        ];
        assert_eq!(clipped(triangle, 2.0), triangle);
    }

    #[test]
    fn near_cuts_one_corner_to_two() {
        let at = |x: f32, w: f32| Vec4::new(x, 0.0, 0.5, w);
        let got = clipped([at(0.0, 1.0), at(1.0, 1.0), at(1.0, -1.0)], 100.0);
        // Depth 0.5 meets w at a quarter of the way from 1 to −1.
        assert_eq!(got, [at(0.0, 1.0), at(1.0, 1.0), at(1.0, 0.5), at(0.25, 0.5)]);
        assert_eq!(
            Polygon::clipped([at(0., 1.), at(1., 1.), at(1., -1.)], 9.).triangles().count(),
            2
        );
    }

    #[test]
    fn a_triangle_far_over_the_guard_is_cut_on_all_sides() {
        let at = |x: f32, y: f32| Vec4::new(x, y, 0.5, 1.0);
        let got = clipped([at(-1e6, -9e5), at(1.1e6, -1e6), at(0.0, 1e6)], 8.0);
        assert!(got.len() >= 4);
        for corner in got {
            assert!(corner.x.abs() <= 8.5 && corner.y.abs() <= 8.5, "{corner}");
        }
    }

    #[test]
    fn triangles_behind_the_camera_or_with_nan_are_clipped_away() {
        let behind = Vec4::new(0.0, 0.0, 0.1, -1.0);
        assert_eq!(clipped([behind, behind + Vec4::X, behind + Vec4::Y], 8.0), []);
        assert_eq!(clipped([Vec4::ZERO; 3], 8.0), []);
        assert_eq!(clipped([Vec4::NAN; 3], 8.0), []);
    }

    #[test]
    fn a_shared_edge_is_cut_at_the_same_point() {
        let (a, b) = (Vec4::new(0.3, 0.1, 0.2, 0.9), Vec4::new(-0.7, 0.45, 0.2, -0.31));
        let one = clipped([a, b, Vec4::new(5.0, 0.0, 0.2, 1.0)], 50.0);
        let other = clipped([b, a, Vec4::new(-5.0, 0.0, 0.2, 1.0)], 50.0);
        let shared = one.iter().filter(|corner| other.contains(corner)).count();
        assert_eq!(shared, 2, "{one:?} {other:?}");
    }
}
