//! The surface of one triangle of a model, and the light on it.

use glam::{Vec2, Vec3A, Vec4};

use super::{textures::PixelUv, wire::Edges};
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

    /// Light on a normal that these shares of the sun and of the sky reach, as in
    /// [`Atmosphere::light`](crate::Atmosphere::light).
    #[inline]
    pub(super) fn light(&self, normal: Vec3A, [share, sky]: [f32; 2]) -> Vec3A {
        let sun = normal.dot(self.sun_direction).max(0.0);
        let open_sky = 0.74 + 0.26 * normal.y;
        self.ambient * (open_sky * sky) + self.sun * (0.62 * (sun * share))
    }
}

/// Corner data of one triangle for its pixels.
pub(super) struct Facet {
    /// The weight of each corner in a pixel, up to a common factor, when multiplied with (x, y, 1),
    /// the pixel's position in the picture.
    pub(super) shares: [Vec3A; 3],
    /// Turned to the side from which the triangle is seen.
    pub(super) normals: [Vec3A; 3],
    /// A vector along the normal of the triangle's plane, on one of its sides.
    pub(super) plane: Vec3A,
    pub(super) colors: [Vec4; 3],
    /// Texture coordinates of the corners, and the offset of their material; 0 without textures.
    pub(super) uvs: [Vec2; 3],
    pub(super) material: u32,
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

    /// The colour at these weights of the corners.
    #[inline]
    pub(super) fn color(&self, [a, b, c]: [f32; 3]) -> Vec4 {
        self.colors[0] * a + self.colors[1] * b + self.colors[2] * c
    }

    /// Texture coordinates at a position in the picture, with these weights of the corners.
    /// `pixel_steps` are the width and height of a pixel.
    pub(super) fn pixel_uv(
        &self,
        [x, y]: [f32; 2],
        [a, b, c]: [f32; 3],
        pixel_steps: [f32; 2],
    ) -> PixelUv {
        let [u, v, w] = self.uvs;
        let uv = u * a + v * b + w * c;
        let at = Vec3A::new(x, y, 1.0);
        let [a, b, c] = self.shares;
        let whole = (a + b + c).dot(at);
        // Seen edge-on, no step is correct.
        let per_whole = if whole == 0.0 { 0.0 } else { whole.recip() };
        // The derivative of a quotient of two linear functions.
        let step = |axis: usize| {
            let change = u * a[axis] + v * b[axis] + w * c[axis];
            (change - uv * (a + b + c)[axis]) * (per_whole * pixel_steps[axis])
        };
        PixelUv { uv, steps: [step(0), step(1)] }
    }

    /// The normal of the surface at these weights of the corners.
    #[inline]
    pub(super) fn normal(&self, [a, b, c]: [f32; 3]) -> Vec3A {
        let normal = self.normals[0] * a + self.normals[1] * b + self.normals[2] * c;
        normal / normal.length().max(MIN_LENGTH)
    }

    /// The normal of the triangle's plane on the side of `normal`. Maps are read with it: with an
    /// interpolated normal, a triangle that is nearly parallel to the light would cast shadows on itself.
    #[inline]
    pub(super) fn plane_normal(&self, normal: Vec3A) -> Vec3A {
        let size = self.plane.length();
        let side = if self.plane.dot(normal) >= 0.0 { self.plane } else { -self.plane };
        if size > 0.0 { side / size } else { normal }
    }

    /// Distances of the edges at these weights of the corners.
    #[inline]
    pub(super) fn edges(&self, shares: [f32; 3]) -> Edges {
        let nearest = (Vec3A::from(shares) * self.heights).min_element();
        Edges { nearest, least: self.heights.min_element() }
    }
}
