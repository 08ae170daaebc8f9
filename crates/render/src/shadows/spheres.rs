//! Spheres of the scene that maps cover, and the cameras that draw the maps.

use glam::{DVec3, Vec3};

use super::MAX_CASCADES;
use crate::{
    atmosphere::Atmosphere,
    camera::{Camera, Projection},
};

/// Radius of the smallest cascade around a camera, in voxels, and the factor between radii.
const FIRST_RADIUS: f64 = 32.0;
const RADIUS_FACTOR: f64 = 4.0;
/// Number of steps in a map's side. A step is the distance between two positions of a map.
const STEPS: u32 = 8;
/// Radius of a cascade's sphere, as a fraction of its map's side. Half a step on each side is left
/// for the position, and 1/64 for the texels around a pixel.
pub(super) const RADIUS_PART: f64 = 0.5 - 0.5 / STEPS as f64 - 1.0 / 64.0;
/// Reach of a cascade towards the sun, in radii, within which meshes cast shadows into it.
const REACH_RADII: f64 = 8.0;
/// Minimum reach of a cascade around a camera, in voxels.
const MIN_REACH: f64 = 1024.0;
/// Side of a map of the sky, in texels. Seven maps take 28 MiB.
pub(crate) const SKY_SIDE: u32 = 1024;
/// Smallest side of a texel in the maps of the sky, in voxels. Texels around a pixel reach a voxel to
/// each side: light falls off over it, and none passes through a wall of a voxel.
const SKY_TEXEL: f64 = 0.5;

/// Spheres with a common centre that contain what a camera sees; the smallest first.
pub(super) struct Spheres {
    pub(super) center: DVec3,
    pub(super) radii: Vec<f64>,
    /// Minimum reach of their cascades towards the sun.
    min_reach: f64,
    /// Side of a texel in the maps of the sky, in voxels.
    pub(super) sky_texel: f64,
}

impl Spheres {
    pub(super) fn new(camera: &Camera, aspect: f32) -> Self {
        let [near, far] = camera.depth_range.map(f64::from);
        let is_perspective = matches!(camera.projection, Projection::Perspective { .. });
        if is_perspective && near * RADIUS_FACTOR < far {
            return Self::around_camera(camera.position, near, far);
        }
        // The camera looks at something from afar: it circles around the middle of what it sees.
        let (half_depth, middle) = ((far - near) / 2.0, (far + near) / 2.0);
        let [half_width, half_height] = camera.half_extents(aspect).map(f64::from);
        let corner = match camera.projection {
            Projection::Perspective { .. } => far * half_width.hypot(half_height),
            Projection::Orthographic { height_voxels } => {
                f64::from(height_voxels) / 2.0 * f64::from(aspect).hypot(1.0)
            }
        };
        let whole = half_depth.hypot(corner);
        let radii = if whole > 1.5 * half_depth { vec![half_depth, whole] } else { vec![whole] };
        let radii: Vec<f64> =
            radii.into_iter().map(|radius| half_octave(radius.max(1e-3))).collect();
        let center = camera.position + camera.basis()[2].as_dvec3() * middle;
        let whole = radii.last().copied().unwrap_or(1.0);
        let sky_texel = (whole / (RADIUS_PART * f64::from(SKY_SIDE))).max(SKY_TEXEL);
        Self { center, radii, min_reach: 0.0, sky_texel }
    }

    /// Spheres around the camera, with the same radii for every view, so that turning and moving
    /// the camera does not change them.
    fn around_camera(center: DVec3, near: f64, far: f64) -> Self {
        let all = (0..MAX_CASCADES as i32).map(|it| FIRST_RADIUS * RADIUS_FACTOR.powi(it));
        let mut radii: Vec<f64> = all.filter(|&radius| radius > near).collect();
        let needed =
            radii.iter().position(|&radius| radius >= far).map_or(radii.len(), |it| it + 1);
        radii.truncate(needed);
        if radii.is_empty() {
            radii.push(half_octave(far));
        }
        Self { center, radii, min_reach: MIN_REACH, sky_texel: SKY_TEXEL }
    }

    /// Radius of each cascade, and the camera that draws its map.
    pub(super) fn cameras(
        &self,
        air: &Atmosphere,
        side: u32,
    ) -> impl Iterator<Item = (f64, Camera)> {
        let light = light_camera(air.sun_direction.normalize_or(Vec3::Y));
        self.radii.iter().map(move |&radius| {
            let texel = texel(radius, side);
            (radius, self.camera(&light, (radius, texel), side))
        })
    }

    /// The camera that draws the map of a sphere with this radius, in the direction of `light`. Its
    /// position is a multiple of the map's step.
    pub(super) fn camera(&self, light: &Camera, (radius, texel): (f64, f64), side: u32) -> Camera {
        let [right, up, forward] = orthonormal(light);
        let step = texel * f64::from(side / STEPS);
        let snapped = |axis: DVec3| axis * ((self.center.dot(axis) / step).round() * step);
        let reach = (REACH_RADII * radius).max(self.min_reach);
        let position = snapped(right) + snapped(up) + snapped(forward) - forward * reach;
        let height_voxels = (texel * f64::from(side)) as f32;
        let projection = Projection::Orthographic { height_voxels };
        let depth_range = [0.0, (reach + radius + step) as f32];
        Camera { position, projection, depth_range, ..*light }
    }
}

/// Side of a texel in the map of a sphere with this radius, in voxels.
pub(super) fn texel(radius: f64, side: u32) -> f64 {
    radius / (RADIUS_PART * f64::from(side))
}

/// The next power of √2, so that small changes of a view keep their radius.
fn half_octave(radius: f64) -> f64 {
    ((radius.log2() * 2.0).ceil() / 2.0).exp2()
}

/// A camera that looks along light from this direction.
pub(super) fn light_camera(from: Vec3) -> Camera {
    let mut light = Camera { position: DVec3::ZERO, ..Camera::default() };
    light.turn_to(-from.as_dvec3());
    light
}

/// The basis of a camera, orthonormal in double precision.
pub(super) fn orthonormal(camera: &Camera) -> [DVec3; 3] {
    let [right, _, forward] = camera.basis().map(Vec3::as_dvec3);
    let forward = forward.normalize();
    let right = (right - forward * right.dot(forward)).normalize();
    [right, right.cross(forward), forward]
}
