//! The share of the sky light that reaches a position, read from the maps of the sky. The
//! arithmetic is that of `wgpu_device/sky_light.wgsl`, in the same order.

use glam::{Vec3A, Vec4, Vec4Swizzles};

use crate::{
    frame::Frame,
    shadows::{Bias, SkyCover, SkyFrame, SkyMapFrame},
};

/// The sky above what covers the scene.
pub(super) struct SkyLight<'a> {
    maps: &'a [Vec<f32>],
    /// Number of texels in a row.
    row: usize,
    center: Vec3A,
    ambient: Vec3A,
    frame: SkyFrame,
}

impl<'a> SkyLight<'a> {
    /// Creates the sky of a picture from its maps and their side.
    pub(super) fn new((maps, row): (&'a [Vec<f32>], usize), sky: &SkyFrame, frame: &Frame) -> Self {
        let ambient = Vec3A::from_array(frame.ambient);
        Self { maps, row, center: Vec3A::from_array(sky.center), ambient, frame: *sky }
    }

    /// Part of the sky light that reaches a position relative to the camera, on a surface with this
    /// normal, in a plane with that one.
    #[inline]
    pub(super) fn share(&self, relative: Vec3A, [normal, plane]: [Vec3A; 2]) -> f32 {
        let frame = &self.frame;
        let distance = (relative - self.center).length();
        let fade = ((distance - frame.fade_start) * frame.fade_rate).clamp(0.0, 1.0);
        let mut maps = frame.maps.iter().zip(self.maps);
        let Some(above) = maps.next().filter(|_| fade < 1.0) else { return 1.0 };
        let above = self.map_share(above, relative, plane);
        if above >= 1.0 {
            return 1.0;
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for map in maps {
            let weight = 1.0 + self.facing(map.0, normal);
            sum += weight * self.map_share(map, relative, plane);
            weights += weight;
        }
        let under = SkyCover::UNDER + SkyCover::UNDER_RISE * normal.y;
        let sides = (sum / weights * SkyCover::SIDES).min(1.0) * under;
        let covered = (1.0 - above) * (1.0 - sides);
        1.0 - covered * ((1.0 - SkyCover::FLOOR) * (1.0 - fade))
    }

    /// The colour of a surface with less sky light. `unlit` is the colour without the sun,
    /// `emission` the part of it that is drawn as it is.
    #[inline]
    pub(super) fn under(
        &self,
        (lit, unlit): (Vec4, Vec4),
        emission: f32,
        share: f32,
        up: f32,
    ) -> Vec4 {
        let ambient = self.ambient * (0.74 + 0.26 * up) * (1.0 - emission);
        let part = ambient / (ambient + emission).max(Vec3A::splat(1e-6));
        let lost = Vec3A::from_vec4(unlit) * part * (1.0 - share);
        (Vec3A::from_vec4(lit) - lost).extend(lit.w)
    }

    /// Cosine of the angle between a normal and the light of a map.
    #[inline]
    fn facing(&self, map: &SkyMapFrame, normal: Vec3A) -> f32 {
        normal.dot(Vec3A::from_vec4(Vec4::from_array(map.depth))) * self.frame.depth_units
    }

    /// Part of the light of a map that reaches a position in a plane with this normal, from four texels
    /// around it if they suffice, else from 16.
    #[inline]
    fn map_share(
        &self,
        (map, texels): (&SkyMapFrame, &Vec<f32>),
        relative: Vec3A,
        plane: Vec3A,
    ) -> f32 {
        let facing = self.facing(map, plane);
        let slope = (1.0 - facing * facing).max(0.0).sqrt();
        let away = (-facing * SkyCover::AWAY_RATE).clamp(0.0, 1.0);
        let lift = self.frame.texel * (SkyCover::TEXELS + SkyCover::SLOPE_TEXELS * slope * away);
        let at = relative + plane * lift;
        let along = |row: [f32; 4]| {
            let row = Vec4::from_array(row);
            at.dot(Vec3A::from(row.xyz())) + row.w
        };
        let (x, y) = (along(map.column) - 0.5, along(map.row) - 0.5);
        let depth = along(map.depth) + Bias::DEPTH;
        let (low_x, low_y) = (x.floor(), y.floor());
        let (across, down) = (x - low_x, y - low_y);
        let last = self.frame.last_texel - 2.0;
        let [first_x, first_y] =
            [low_x, low_y].map(|it| (it.clamp(1.0, last) as usize).saturating_sub(1));
        let open = |column: usize, row: usize| {
            let texel = texels[(first_y + row) * self.row + first_x + column];
            f32::from(u8::from(texel <= depth))
        };
        let inner = [1, 2].map(|row| open(1, row) * (1.0 - across) + open(2, row) * across);
        let inner = (inner[0] * (1.0 - down) + inner[1] * down) * SkyCover::INNER;
        if inner >= 1.0 {
            return 1.0;
        }
        let of_row = |row: usize| {
            open(0, row) * (1.0 - across) + open(1, row) + open(2, row) + open(3, row) * across
        };
        let sum = of_row(0) * (1.0 - down) + of_row(1) + of_row(2) + of_row(3) * down;
        (sum * SkyCover::OUTER).max(inner).min(1.0)
    }
}
