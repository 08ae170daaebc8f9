//! Sky light: maps of what covers the scene, from straight above and from six sides.
//!
//! ```text
//!  from the side  \      |      /
//!                  \     │     /      a position without a cover has all sky light. Under a
//!  ─────────────    \    │    /       cover remains the part that arrives from the sides. Seven
//!     cover         |    │            directions tell an open roof from a room with walls.
//!          ▒▒▒▒▒░░░░│
//! ──────────────────┴────────────
//! ```
//! Each map is drawn like a shadow map, and again by the same rules. Maps do not depend on the sun.
//! Texels of the map from above are half a voxel long and lie on the grid of voxels, so that a voxel
//! covers whole texels.

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use super::{
    FADE_BEGINS,
    spheres::{RADIUS_PART, SKY_SIDE, Spheres, light_camera, orthonormal},
};
use crate::{camera::Camera, view::View};

/// Number of maps: from above, and from six sides.
pub(crate) const SKY_MAPS: usize = 7;
/// Height of the sky light from the sides, as the sine and the cosine of its angle. Lower light
/// reaches farther into caves.
const SIDE_HEIGHT: f32 = 0.5;
const SIDE_WIDTH: f32 = 0.866_025_4;
/// Directions of half of the sides, along X and Z; the others are opposite. They are symmetrical about
/// both axes, along which most walls and doors are.
const SIDES: [[f32; 2]; 3] = [[0.866_025_4, 0.5], [0.0, 1.0], [-0.866_025_4, 0.5]];

/// Numbers of the light under a cover.
#[cfg(any(feature = "soft", test))]
pub(crate) struct SkyCover;

#[cfg(any(feature = "soft", test))]
impl SkyCover {
    /// Move of a position along its normal, in texels.
    pub(crate) const TEXELS: f32 = 0.25;
    /// Additional move for a surface that faces away from the light, in texels: so far that no texel
    /// around a pixel is behind the surface. It is multiplied with the sine of the angle.
    pub(crate) const SLOPE_TEXELS: f32 = 3.0;
    /// Rate at which the additional move grows with the cosine of the angle.
    pub(crate) const AWAY_RATE: f32 = 20.0;
    /// Factor of the open part of the four texels around a position. A quarter suffices for all light: at
    /// the foot of a wall half is open, in a corner a quarter, on a slope more than a quarter.
    pub(crate) const INNER: f32 = 4.0;
    /// Factor of the number of open texels among 16. At a straight edge, light falls off from where
    /// the inner texels give all of it.
    pub(crate) const OUTER: f32 = 0.266_667;
    /// Light that remains where no sky light arrives.
    pub(crate) const FLOOR: f32 = 0.35;
    /// Factor of the light from the sides: a position that sees half of them, as a wall in the open does,
    /// has their full light.
    pub(crate) const SIDES: f32 = 2.0;
    /// Maximum part of the sky light that the sides give to a wall under a cover.
    pub(crate) const UNDER: f32 = 0.85;
    /// Added to that part for an upward surface, and subtracted for a downward one.
    pub(crate) const UNDER_RISE: f32 = -0.15;
}

/// Shader data for reading the maps of the sky.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct SkyFrame {
    /// Centre of the sphere that the maps cover, relative to the camera.
    pub(crate) center: [f32; 3],
    /// Distance from the centre at which the effect of covers begins to fade.
    pub(crate) fade_start: f32,
    /// 1 / (distance without covers − distance at which their effect begins to fade).
    pub(crate) fade_rate: f32,
    /// Side of a texel, in voxels; 0 without maps.
    pub(crate) texel: f32,
    /// Length of a map's box along the light, in voxels.
    pub(crate) depth_units: f32,
    /// Highest texel index.
    pub(crate) last_texel: f32,
    pub(crate) maps: [SkyMapFrame; SKY_MAPS],
}

/// Shader data of one map. The dot product of a row with a position relative to the picture's camera
/// and 1 is the column, the row or the depth in the map.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct SkyMapFrame {
    pub(crate) column: [f32; 4],
    pub(crate) row: [f32; 4],
    /// Points to the light, with a length of 1 / [`depth_units`](SkyFrame::depth_units).
    pub(crate) depth: [f32; 4],
}

const _: () = assert!(size_of::<SkyFrame>() == 32 + SKY_MAPS * 48);

/// Unit vectors to the light.
pub(super) fn directions() -> [Vec3; SKY_MAPS] {
    let side = |[x, z]: [f32; 2]| Vec3::new(x * SIDE_WIDTH, SIDE_HEIGHT, z * SIDE_WIDTH);
    let ([a, b, c], [d, e, f]) = (SIDES.map(side), SIDES.map(|[x, z]| side([-x, -z])));
    [Vec3::Y, a, b, c, d, e, f]
}

impl Spheres {
    /// Radius of the sphere that the maps of the sky cover.
    pub(super) fn sky_radius(&self) -> f64 {
        self.sky_texel * RADIUS_PART * f64::from(SKY_SIDE)
    }

    /// The cameras that draw the maps of the sky.
    pub(super) fn sky_cameras(&self) -> [Camera; SKY_MAPS] {
        let sphere = (self.sky_radius(), self.sky_texel);
        directions().map(|from| self.camera(&light_camera(from), sphere, SKY_SIDE))
    }
}

impl SkyFrame {
    /// Creates the data of a picture. `cameras` draw the maps, if it reads any.
    pub(super) fn new(
        view: &View,
        spheres: &Spheres,
        cameras: Option<&[Camera; SKY_MAPS]>,
    ) -> Self {
        let Some(cameras) = cameras else { return Self::zeroed() };
        let (position, radius) = (view.camera.position, spheres.sky_radius());
        let fade_start = radius * FADE_BEGINS;
        let depth_units = f64::from(cameras[0].depth_range[1]);
        let half = f64::from(SKY_SIDE) / 2.0;
        let maps = cameras.each_ref().map(|camera| {
            let [right, up, forward] = orthonormal(camera);
            let offset = position - camera.position;
            let row = |axis: DVec3, middle: f64| {
                axis.as_vec3().extend((offset.dot(axis) + middle) as f32).to_array()
            };
            let texels = spheres.sky_texel.recip();
            SkyMapFrame {
                column: row(right * texels, half),
                row: row(up * -texels, half),
                depth: row(forward * -depth_units.recip(), 1.0),
            }
        });
        Self {
            center: (spheres.center - position).as_vec3().to_array(),
            fade_start: fade_start as f32,
            fade_rate: (radius - fade_start).recip() as f32,
            texel: spheres.sky_texel as f32,
            depth_units: depth_units as f32,
            last_texel: (SKY_SIDE - 1) as f32,
            maps,
        }
    }
}
