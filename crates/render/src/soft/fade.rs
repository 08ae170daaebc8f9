//! Fading of the contrast between far faces; see [`Frame::FADE_UNITS`].

use drystone_mesh::Quad;
use glam::Vec3A;

use super::occlusion::span_axes;
use super::sky::smoothstep;
use crate::frame::Frame;

/// The axis of upward and downward faces.
const UP: usize = 1;

/// Fading in one picture.
#[derive(Clone, Copy)]
pub(super) struct Fade {
    strength: f32,
    /// Units that a pixel spans at clip `w` 1, on a face seen straight on.
    pixel_units: f32,
    /// Coefficients of clip `w` for a position relative to the camera.
    clip_w: (Vec3A, f32),
    parallel_sight: Option<Vec3A>,
}

impl Fade {
    /// Creates the fading of a frame; `None` if it has none.
    pub(super) fn new(frame: &Frame) -> Option<Self> {
        let [x, y, z, rest] = frame.clip_from_relative.map(|column| column[3]);
        let is_parallel = frame.is_parallel > 0.0;
        (frame.far_fade != 0.0).then(|| Self {
            strength: frame.far_fade,
            pixel_units: frame.seam / Frame::SEAM_PIXELS,
            clip_w: (Vec3A::new(x, y, z), rest),
            parallel_sight: is_parallel.then(|| Vec3A::from_array(frame.ray_forward)),
        })
    }

    /// Fading at a position relative to the camera: 0 to 1.
    #[inline]
    pub(super) fn at(&self, relative: Vec3A) -> f32 {
        let [from, to] = Frame::FADE_UNITS;
        self.strength * smoothstep(from, to, self.pixel(relative))
    }

    /// Units that a pixel spans at a position relative to the camera.
    #[inline]
    fn pixel(&self, relative: Vec3A) -> f32 {
        let (forward, rest) = self.clip_w;
        self.pixel_units * (forward.dot(relative) + rest)
    }

    /// Parts of a quad's colour that come from the faces beside it, of 255: across its width, and
    /// across its height. `middle` is the quad's middle, relative to the camera. `scale` is the
    /// side of a voxel in units.
    pub(super) fn shares(&self, quad: Quad, middle: Vec3A, scale: f32) -> [u8; 2] {
        let fade = self.at(middle);
        if fade == 0.0 {
            return [0; 2];
        }
        let [position, kind]: [u32; 2] = bytemuck::cast(quad);
        let normal_axis = (kind & 7) as usize % 3;
        let areas = self.parallel_sight.unwrap_or(middle).abs();
        let pixel = self.pixel(middle);
        let mut weights = [0.0; 2];
        for (i, axis) in span_axes(kind).into_iter().enumerate() {
            let size = (position >> (18 + 6 * i) & 63) as f32 + 1.0;
            let size = size * quad.cell();
            let [from, to] = Frame::FADE_PIXELS;
            let long = smoothstep(from, to, size * scale / pixel);
            let step = match (normal_axis, axis) {
                (UP, _) => Frame::FADE_TREAD,
                (_, UP) => Frame::FADE_RISER,
                _ => 1.0,
            };
            let part = quad.steps()[i] as f32 / Quad::MAX_STEPS as f32;
            weights[i] = fade * (1.0 - long) * step * part * areas[axis] / size;
        }
        let all = (areas[normal_axis] + weights[0] + weights[1]).max(1e-6);
        // The cast saturates, and converts NaN to 0.
        weights.map(|weight| (weight / all * 255.0 + 0.5) as u8)
    }

    /// The face direction that points towards the camera along an axis, at a position relative to
    /// it.
    #[inline]
    pub(super) fn face_towards_camera(&self, axis: usize, relative: Vec3A) -> u32 {
        let sight = self.parallel_sight.unwrap_or(relative);
        axis as u32 + if sight[axis] < 0.0 { 3 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use drystone_mesh::Face;

    use super::*;
    use crate::{atmosphere::Atmosphere, camera::Camera};

    /// A picture in which a pixel spans 1 / 200 of its distance.
    fn fade() -> Fade {
        let camera = Camera::look_at(glam::DVec3::ZERO, glam::DVec3::new(1.0, -1.0, 0.0));
        let mut frame = Frame::new(&camera, &Atmosphere::default(), 200, 200);
        frame.far_fade = 1.0;
        frame.seam = Frame::SEAM_PIXELS / 200.0;
        Fade::new(&frame).unwrap()
    }

    /// Shares of an upward quad in the middle of the picture, at a distance.
    fn shares(size: [u32; 2], distance: f32, scale: f32) -> [u8; 2] {
        stepped_shares([Quad::MAX_STEPS; 2], size, distance, scale)
    }

    /// Shares of an upward quad with these steps.
    fn stepped_shares(steps: [u32; 2], size: [u32; 2], distance: f32, scale: f32) -> [u8; 2] {
        let quad = Quad::new([0; 3], size, Face::PosY, 0).with_steps(steps);
        let middle = Vec3A::new(1.0, -1.0, 0.0).normalize() * distance;
        fade().shares(quad, middle, scale)
    }

    #[test]
    fn near_faces_and_long_ones_keep_their_colour() {
        assert_eq!(shares([1, 1], 49.0, 1.0), [0, 0]);
        assert_eq!(shares([40, 40], 1_000.0, 1.0), [0, 0]);
        assert_eq!(shares([10, 10], 1_000.0, 4.0), [0, 0]);
    }

    /// The width of an upward face lies along Z, its height along X. The camera sees as much of a
    /// step's upward face as of its side along X, and half of the steps face away.
    #[test]
    fn steps_far_away_have_the_mean_of_their_faces() {
        assert_eq!(shares([1, 1], 1_000.0, 1.0), [0, 109]);
        assert_eq!(shares([1, 2], 1_000.0, 1.0), [0, 70]);
        assert_eq!(shares([1, 1], 1_000.0, 8.0), [0, 109]);
        let halfway = shares([1, 1], 125.0, 1.0)[1];
        assert!((1..109).contains(&halfway), "{halfway}");
    }

    #[test]
    fn only_edges_that_are_steps_fade() {
        assert_eq!(stepped_shares([0, 0], [1, 1], 1_000.0, 1.0), [0, 0]);
        assert_eq!(stepped_shares([3, 0], [1, 1], 1_000.0, 1.0), [0, 0]);
        assert_eq!(stepped_shares([0, 1], [1, 1], 1_000.0, 1.0), [0, 51]);
        assert_eq!(stepped_shares([3, 3], [1, 1], 1_000.0, 1.0), shares([1, 1], 1_000.0, 1.0));
    }
}
