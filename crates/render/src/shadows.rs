//! Shadows of the sun: which depth maps a picture needs, and which of them changed.
//!
//! ```text
//!            sun
//!             \      each cascade is a box along the light around a sphere of the scene, with a
//!   ┌──────────\───┐ depth map of its own; radii grow fourfold, so that a texel is about as large
//!   │ ┌──┐      \  │ as a pixel at any distance
//!   │ │▲ │ cascade │
//!   │ └──┘         │ ▲ camera
//!   └──────────────┘
//! ```
//! A cascade is drawn as an orthographic picture without colours: the same meshes, buffers and
//! vertex shaders, with a view and a mask of their own. Its camera moves in steps of an eighth of
//! its width, which are whole texels. So shadows do not shimmer when the camera moves, and a map is
//! drawn again only when the step, the sun or a mesh in its box changes.

use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use crate::{
    atmosphere::Atmosphere,
    camera::{Camera, Projection},
    draw_data::DrawData,
    frame::Frame,
    view::View,
    visibility::Visibility,
};

/// Maximum number of cascades of a picture.
pub(crate) const MAX_CASCADES: usize = 4;

/// Limits of a map's side, in texels. Four maps of the largest side take 64 MiB.
const SIDES: [u32; 2] = [256, 2048];
/// Radius of the smallest cascade around a camera, in voxels, and the factor between radii.
const FIRST_RADIUS: f64 = 32.0;
const RADIUS_FACTOR: f64 = 4.0;
/// Number of steps in a map's side. A step is the distance between two positions of a map.
const STEPS: u32 = 8;
/// Radius of a cascade's sphere, as a fraction of its map's side. Half a step on each side is left
/// for the position, and 1/64 for the texels around a pixel.
const RADIUS_PART: f64 = 0.5 - 0.5 / STEPS as f64 - 1.0 / 64.0;
/// Reach of a cascade towards the sun, in radii, within which meshes cast shadows into it.
const REACH_RADII: f64 = 8.0;
/// Minimum reach of a cascade around a camera, in voxels.
const MIN_REACH: f64 = 1024.0;
/// Fraction of the last cascade's radius at which shadows begin to fade.
const FADE_BEGINS: f64 = 0.8;
/// Brightness of the sun's strongest channel at which shadows appear, and at which they are full.
/// The light of the moon is below it.
const STRENGTHS: [f32; 2] = [0.45, 0.65];
/// Lowest height of the sun, as the sine of its angle, that casts shadows.
const LOWEST_SUN: f32 = 0.01;

/// Distances that keep a surface from casting a shadow on itself. A texel's depth is that of its
/// centre, and a pixel reads the four texels around it, whose centres are up to √2 texels away.
/// Over that distance a plane at this angle to the light leaves its depth by no more than the move
/// along its normal.
#[cfg(any(feature = "soft", test))]
pub(crate) struct Bias;

#[cfg(any(feature = "soft", test))]
impl Bias {
    /// Move of a position along its normal, in texels, for a surface parallel to the light. It is
    /// multiplied with the sine of the angle between normal and light.
    pub(crate) const SLOPE_TEXELS: f32 = 1.5;
    /// Additional move for each surface, in texels.
    pub(crate) const TEXELS: f32 = 0.25;
    /// Added to depths, against rounding errors of rasterisers.
    pub(crate) const DEPTH: f32 = 2e-6;
}

/// Shader data for reading the shadow maps of one picture. The software rasteriser reads the same
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ShadowFrame {
    /// Unit vector along the maps' rows.
    pub(crate) right: [f32; 3],
    pub(crate) cascade_count: u32,
    /// Unit vector against the maps' columns.
    pub(crate) up: [f32; 3],
    /// Distance from the centre at which shadows begin to fade.
    pub(crate) fade_start: f32,
    /// Unit vector away from the sun.
    pub(crate) forward: [f32; 3],
    /// 1 / (distance without shadows − distance at which they begin to fade).
    pub(crate) fade_rate: f32,
    /// The spheres' common centre, relative to the camera.
    pub(crate) center: [f32; 3],
    /// Part of the sun's light that shadows take, 0 to 1.
    pub(crate) strength: f32,
    /// Smallest first.
    pub(crate) cascades: [CascadeFrame; MAX_CASCADES],
}

/// Shader data of one cascade. A position relative to the picture's camera is at texel and depth
/// (right · texels_per_unit, −up · texels_per_unit, forward · depth_rate) + offset.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CascadeFrame {
    pub(crate) offset: [f32; 3],
    pub(crate) texels_per_unit: f32,
    /// Radius of the sphere that it covers; above any distance if there is no such cascade.
    pub(crate) radius: f32,
    /// Side of a texel, in voxels.
    pub(crate) texel: f32,
    pub(crate) depth_rate: f32,
    /// Highest texel index.
    pub(crate) last_texel: f32,
}

const _: () = assert!(size_of::<ShadowFrame>() == 192);

/// Maps that a picture reads, and those that it has to draw first.
pub(crate) struct ShadowPlan {
    /// Identifies the cache that the plan was made for.
    pub(crate) token: u64,
    pub(crate) frame: ShadowFrame,
    /// Side of the maps, in texels.
    pub(crate) side: u32,
    pub(crate) redrawn: Vec<Redrawn>,
}

/// A map that has to be drawn.
pub(crate) struct Redrawn {
    /// Index of the cascade.
    pub(crate) layer: usize,
    pub(crate) frame: Frame,
    pub(crate) visibility: Visibility,
    view: View,
}

impl Redrawn {
    /// The view that the map is drawn with, for masks.
    pub(crate) const fn view(&self) -> &View {
        &self.view
    }
}

/// A renderer's record of the maps that its device keeps.
///
/// # Cost
/// A change of a mesh is tested against each drawn map's box; nothing if shadows are off.
pub(crate) struct ShadowCache {
    token: u64,
    drawn: Vec<Drawn>,
    side: u32,
}

struct Drawn {
    camera: Camera,
    visibility: Visibility,
    is_stale: bool,
}

impl Default for ShadowCache {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { token: NEXT.fetch_add(1, Ordering::Relaxed), drawn: Vec::new(), side: 0 }
    }
}

impl ShadowCache {
    /// Plans the maps of a picture with `size` pixels. `kept` is the token of the maps that the
    /// device keeps. Returns `None` without shadows.
    pub(crate) fn plan(&mut self, view: &View, size: [u32; 2], kept: u64) -> Option<ShadowPlan> {
        let strength = strength(&view.atmosphere).filter(|_| view.shadows);
        let Some(strength) = strength else {
            self.drawn.clear();
            return None;
        };
        let [width, height] = size;
        let side = width.max(height).next_power_of_two().clamp(SIDES[0], SIDES[1]);
        if kept != self.token || side != self.side {
            self.drawn.clear();
            self.side = side;
        }
        let spheres = Spheres::new(&view.camera, width as f32 / height.max(1) as f32);
        let cameras: Vec<(f64, Camera)> = spheres.cameras(&view.atmosphere, side).collect();
        let frame = shadow_frame(view, &spheres, &cameras, (side, strength));
        self.drawn.truncate(cameras.len());
        let mut redrawn = Vec::new();
        for (layer, (_, camera)) in cameras.into_iter().enumerate() {
            if self.drawn.get(layer).is_some_and(|it| !it.is_stale && it.camera == camera) {
                continue;
            }
            let light = View::new(camera);
            let (frame, visibility) = (light.frame(side, side), Visibility::new(&camera, 1.0));
            let drawn = Drawn { camera, visibility: visibility.clone(), is_stale: false };
            match self.drawn.get_mut(layer) {
                Some(old) => *old = drawn,
                None => self.drawn.push(drawn),
            }
            redrawn.push(Redrawn { layer, frame, visibility, view: light });
        }
        Some(ShadowPlan { token: self.token, frame, side, redrawn })
    }

    /// Forgets all maps, because a planned picture was not drawn.
    pub(crate) fn clear(&mut self) {
        self.drawn.clear();
    }

    /// Marks the maps whose box a changed mesh touches.
    #[inline]
    pub(crate) fn changed(&mut self, mesh: &DrawData) {
        for drawn in self.drawn.iter_mut().filter(|it| !it.is_stale) {
            drawn.is_stale = drawn.visibility.in_view(mesh);
        }
    }
}

/// Part of the sun's light that shadows take; `None` if the sun is too low or too weak.
fn strength(air: &Atmosphere) -> Option<f32> {
    let [weak, full] = STRENGTHS;
    let height = air.sun_direction.normalize_or(Vec3::Y).y;
    let strength = ((air.sun.max_element() - weak) / (full - weak)).clamp(0.0, 1.0);
    (height > LOWEST_SUN && strength > 0.0).then_some(strength)
}

/// Spheres with a common centre that contain what a camera sees; the smallest first.
struct Spheres {
    center: DVec3,
    radii: Vec<f64>,
    /// Minimum reach of their cascades towards the sun.
    min_reach: f64,
}

impl Spheres {
    fn new(camera: &Camera, aspect: f32) -> Self {
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
        let radii = radii.into_iter().map(|radius| half_octave(radius.max(1e-3))).collect();
        let center = camera.position + camera.basis()[2].as_dvec3() * middle;
        Self { center, radii, min_reach: 0.0 }
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
        Self { center, radii, min_reach: MIN_REACH }
    }

    /// Radius of each cascade, and the camera that draws its map.
    fn cameras(&self, air: &Atmosphere, side: u32) -> impl Iterator<Item = (f64, Camera)> {
        let light = light_camera(air);
        let [right, up, forward] = orthonormal(&light);
        self.radii.iter().map(move |&radius| {
            let texel = radius / (RADIUS_PART * f64::from(side));
            let step = texel * f64::from(side / STEPS);
            let snapped = |axis: DVec3| axis * ((self.center.dot(axis) / step).round() * step);
            let reach = (REACH_RADII * radius).max(self.min_reach);
            let position = snapped(right) + snapped(up) + snapped(forward) - forward * reach;
            let height_voxels = (texel * f64::from(side)) as f32;
            let projection = Projection::Orthographic { height_voxels };
            let depth_range = [0.0, (reach + radius + step) as f32];
            (radius, Camera { position, projection, depth_range, ..light })
        })
    }
}

/// The next power of √2, so that small changes of a view keep their radius.
fn half_octave(radius: f64) -> f64 {
    ((radius.log2() * 2.0).ceil() / 2.0).exp2()
}

/// A camera that looks along the light of the sun.
fn light_camera(air: &Atmosphere) -> Camera {
    let mut light = Camera { position: DVec3::ZERO, ..Camera::default() };
    light.turn_to(-air.sun_direction.normalize_or(Vec3::Y).as_dvec3());
    light
}

/// The basis of a camera, orthonormal in double precision.
fn orthonormal(camera: &Camera) -> [DVec3; 3] {
    let [right, _, forward] = camera.basis().map(Vec3::as_dvec3);
    let forward = forward.normalize();
    let right = (right - forward * right.dot(forward)).normalize();
    [right, right.cross(forward), forward]
}

fn shadow_frame(
    view: &View,
    spheres: &Spheres,
    cameras: &[(f64, Camera)],
    (side, strength): (u32, f32),
) -> ShadowFrame {
    let position = view.camera.position;
    let [right, up, forward] = orthonormal(&light_camera(&view.atmosphere));
    let none = CascadeFrame { radius: f32::MAX, ..CascadeFrame::zeroed() };
    let mut cascades = [none; MAX_CASCADES];
    for (cascade, (radius, camera)) in cascades.iter_mut().zip(cameras) {
        let texel = radius / (RADIUS_PART * f64::from(side));
        let depth_rate = -1.0 / f64::from(camera.depth_range[1]);
        let (offset, half) = (position - camera.position, f64::from(side) / 2.0);
        let x = offset.dot(right) / texel + half;
        let y = -offset.dot(up) / texel + half;
        let depth = 1.0 + offset.dot(forward) * depth_rate;
        *cascade = CascadeFrame {
            offset: [x as f32, y as f32, depth as f32],
            texels_per_unit: texel.recip() as f32,
            radius: *radius as f32,
            texel: texel as f32,
            depth_rate: depth_rate as f32,
            last_texel: (side - 1) as f32,
        };
    }
    let farthest = spheres.radii.last().copied().unwrap_or(1.0);
    let fade_start = farthest * FADE_BEGINS;
    ShadowFrame {
        right: right.as_vec3().to_array(),
        cascade_count: cameras.len() as u32,
        up: up.as_vec3().to_array(),
        fade_start: fade_start as f32,
        forward: forward.as_vec3().to_array(),
        fade_rate: (farthest - fade_start).recip() as f32,
        center: (spheres.center - position).as_vec3().to_array(),
        strength,
        cascades,
    }
}

#[cfg(test)]
mod tests;
