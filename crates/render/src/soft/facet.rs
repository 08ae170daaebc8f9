//! The surface of one triangle of a model, and the light on it.

use glam::{Vec3A, Vec4};

use super::wire::Edges;
use crate::frame::Frame;

/// Shorter lengths are not used as divisors.
const MIN_LENGTH: f32 = 1e-6;

/// The light on normals of any direction.
pub(super) struct Lamp {
    ambient: Vec3A,
    sun: Vec3A,
    sun_direction: Vec3A,
}

impl Lamp {
    pub(super) fn new(frame: &Frame) -> Self {
        let Frame { ambient, sun, sun_direction, .. } = frame;
        Self {
            ambient: Vec3A::from_array(*ambient),
            sun: Vec3A::from_array(*sun),
            sun_direction: Vec3A::from_array(*sun_direction),
        }
    }

    /// Light on a normal, as in [`Atmosphere::light`](crate::Atmosphere::light).
    #[inline]
    fn light(&self, normal: Vec3A) -> Vec3A {
        let sun = normal.dot(self.sun_direction).max(0.0);
        let open_sky = 0.74 + 0.26 * normal.y;
        self.ambient * open_sky + self.sun * (0.62 * sun)
    }
}

/// Corner data of one triangle for its pixels.
pub(super) struct Facet {
    /// The weight of each corner in a pixel, up to a common factor, when multiplied with (x, y, 1),
    /// the pixel's position in the picture.
    pub(super) shares: [Vec3A; 3],
    /// Turned to the side from which the triangle is seen.
    pub(super) normals: [Vec3A; 3],
    pub(super) colors: [Vec4; 3],
    /// Height of each corner above the opposite edge, if lines are drawn.
    pub(super) heights: Vec3A,
}

impl Facet {
    /// The weight of each corner at a position in the picture.
    #[inline]
    pub(super) fn shares(&self, [x, y]: [f32; 2]) -> [f32; 3] {
        let at = Vec3A::new(x, y, 1.0);
        let [a, b, c] = self.shares.map(|share| share.dot(at));
        let whole = a + b + c;
        if whole == 0.0 {
            // Seen edge-on: the pixel was covered because of snapping, and no weights are correct.
            return [1.0 / 3.0; 3];
        }
        // A centre can lie outside by the distance that snapping moved the corners.
        let [a, b, c] = [a, b, c].map(|share| (share / whole).clamp(0.0, 1.0));
        let whole = (a + b + c).max(MIN_LENGTH);
        [a / whole, b / whole, c / whole]
    }

    /// The lit colour of the surface at these weights of the corners.
    #[inline]
    pub(super) fn lit(&self, [a, b, c]: [f32; 3], lamp: &Lamp) -> Vec4 {
        let normal = self.normals[0] * a + self.normals[1] * b + self.normals[2] * c;
        let normal = normal / normal.length().max(MIN_LENGTH);
        let color = self.colors[0] * a + self.colors[1] * b + self.colors[2] * c;
        (Vec3A::from_vec4(color) * lamp.light(normal)).min(Vec3A::ONE).extend(color.w)
    }

    /// Distances of the edges at these weights of the corners.
    #[inline]
    pub(super) fn edges(&self, shares: [f32; 3]) -> Edges {
        let nearest = (Vec3A::from(shares) * self.heights).min_element();
        Edges { nearest, least: self.heights.min_element() }
    }
}
