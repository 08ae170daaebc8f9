//! The sky: the background, and the colour that haze fades to. The arithmetic is that of
//! `wgpu_device/shader.wgsl`.

use glam::Vec3A;

use crate::frame::Frame;

pub(super) struct Sky {
    forward: Vec3A,
    right: Vec3A,
    up: Vec3A,
    zenith: Vec3A,
    horizon: Vec3A,
    glow: Vec3A,
    ground: Vec3A,
    sun_direction: Vec3A,
    sun: Vec3A,
    /// Colour of the sun's disc, and its opacity.
    disc: Vec3A,
    strength: f32,
    /// Cosine at the edge of the sun's disc.
    rim: f32,
}

/// A sun whose light is weaker than this fades from the sky.
const DIMMEST: f32 = 0.05;

impl Sky {
    pub(super) fn new(frame: &Frame) -> Self {
        let sun = Vec3A::from_array(frame.sun);
        let strength = sun.max_element() / DIMMEST;
        Self {
            forward: Vec3A::from_array(frame.ray_forward),
            right: Vec3A::from_array(frame.ray_right),
            up: Vec3A::from_array(frame.ray_up),
            zenith: Vec3A::from_array(frame.zenith),
            horizon: Vec3A::from_array(frame.horizon),
            glow: Vec3A::from_array(frame.glow),
            ground: Vec3A::from_array(frame.ground),
            sun_direction: Vec3A::from_array(frame.sun_direction),
            sun,
            // A low sun gives little light, but its disc is bright, until it disappears.
            disc: sun / (DIMMEST * strength.max(1.0)),
            strength: strength.min(1.0),
            rim: frame.sun_disc_cos,
        }
    }

    /// The sky in a direction of unit length, without the sun's disc.
    #[inline]
    pub(super) fn toward(&self, direction: Vec3A) -> Vec3A {
        let low = 1.0 - (direction.y / 0.6).clamp(0.0, 1.0);
        let low2 = low * low;
        let towards = direction.dot(self.sun_direction).max(0.0);
        let towards2 = towards * towards;
        let towards4 = towards2 * towards2;
        let towards16 = towards4 * towards4 * towards4 * towards4;
        let above = mix(self.zenith, self.horizon, low2) + self.glow * (low2 * low2 * towards2);
        let deep = (-direction.y / 0.25).clamp(0.0, 1.0);
        let base = mix(above, self.ground, deep * deep * (3.0 - 2.0 * deep));
        base + self.sun * (0.22 * towards16 * towards16)
    }

    /// The sky with the sun, at a position in the picture (−1 to 1, y up).
    #[inline]
    pub(super) fn behind(&self, x: f32, y: f32) -> Vec3A {
        let direction = (self.forward + self.right * x + self.up * y).normalize();
        let towards = direction.dot(self.sun_direction);
        let disc = smoothstep(self.rim, mix_one(self.rim, 1.0, 0.25), towards);
        mix(self.toward(direction), self.disc, disc * self.strength)
    }
}

#[inline]
pub(super) fn mix(from: Vec3A, to: Vec3A, part: f32) -> Vec3A {
    from * (1.0 - part) + to * part
}

fn mix_one(from: f32, to: f32, part: f32) -> f32 {
    from * (1.0 - part) + to * part
}

/// 0 below `low`, 1 from `high` on, and smooth in between.
#[inline]
pub(super) fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    smooth(((x - low) / (high - low)).clamp(0.0, 1.0))
}

/// Smooth between 0 and 1.
#[inline]
pub(super) fn smooth(part: f32) -> f32 {
    part * part * (3.0 - 2.0 * part)
}
