//! The share of the sun that reaches a position, read from shadow maps. The arithmetic is that of
//! `wgpu_device/shadow.wgsl`, in the same order.

use glam::Vec3A;

use crate::shadows::{Bias, ShadowFrame};

/// The sun behind what casts shadows.
pub(super) struct Sun<'a> {
    maps: &'a [Vec<f32>],
    /// Number of texels in a row.
    row: usize,
    direction: Vec3A,
    right: Vec3A,
    up: Vec3A,
    forward: Vec3A,
    center: Vec3A,
    frame: ShadowFrame,
}

impl<'a> Sun<'a> {
    /// Creates the sun of a picture from its maps and their side.
    pub(super) fn new(
        (maps, side): (&'a [Vec<f32>], u32),
        frame: &ShadowFrame,
        sun_direction: [f32; 3],
    ) -> Self {
        Self {
            maps,
            row: side as usize,
            direction: Vec3A::from_array(sun_direction),
            right: Vec3A::from_array(frame.right),
            up: Vec3A::from_array(frame.up),
            forward: Vec3A::from_array(frame.forward),
            center: Vec3A::from_array(frame.center),
            frame: *frame,
        }
    }

    /// Part of the sun's light that reaches a position relative to the camera, on a surface with
    /// this normal; 1 on surfaces that point away from the sun, which it does not light.
    #[inline]
    pub(super) fn share(&self, relative: Vec3A, normal: Vec3A) -> f32 {
        let frame = &self.frame;
        let facing = normal.dot(self.direction);
        let distance = (relative - self.center).length();
        let cascades = frame.cascades.iter().zip(self.maps).take(frame.cascade_count as usize);
        let cascade = cascades.into_iter().find(|(cascade, _)| distance < cascade.radius);
        let (Some((cascade, map)), true) = (cascade, facing > 0.0) else { return 1.0 };
        let slope = (1.0 - facing * facing).max(0.0).sqrt();
        let lift = cascade.texel * (slope * Bias::SLOPE_TEXELS + Bias::TEXELS);
        let at = relative + normal * lift;
        let [x, y, depth] = cascade.offset;
        let x = at.dot(self.right) * cascade.texels_per_unit + x - 0.5;
        let y = -at.dot(self.up) * cascade.texels_per_unit + y - 0.5;
        let depth = at.dot(self.forward) * cascade.depth_rate + depth + Bias::DEPTH;
        let (low_x, low_y) = (x.floor(), y.floor());
        let (across, down) = (x - low_x, y - low_y);
        let is_lit = |x: f32, y: f32| {
            let [x, y] = [x, y].map(|it| it.clamp(0.0, cascade.last_texel) as usize);
            f32::from(u8::from(map[y * self.row + x] <= depth))
        };
        let upper = is_lit(low_x, low_y) * (1.0 - across) + is_lit(low_x + 1.0, low_y) * across;
        let lower =
            is_lit(low_x, low_y + 1.0) * (1.0 - across) + is_lit(low_x + 1.0, low_y + 1.0) * across;
        let lit = upper * (1.0 - down) + lower * down;
        let fade = ((distance - frame.fade_start) * frame.fade_rate).clamp(0.0, 1.0);
        1.0 - (1.0 - lit) * (frame.strength * (1.0 - fade))
    }
}
