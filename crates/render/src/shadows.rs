//! Shadows of the sun and [sky light](sky): which depth maps a picture needs, and which of
//! them changed.
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

mod sky;
mod spheres;

use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use crate::{
    atmosphere::Atmosphere, camera::Camera, draw_data::DrawData, frame::Frame, view::View,
    visibility::Visibility,
};
#[cfg(any(feature = "soft", test))]
pub(crate) use sky::{SkyCover, SkyMapFrame};
use spheres::{Spheres, light_camera, orthonormal};

pub(crate) use sky::{SKY_MAPS, SkyFrame};
pub(crate) use spheres::SKY_SIDE;

/// Maximum number of cascades of a picture.
pub(crate) const MAX_CASCADES: usize = 4;

/// Limits of a map's side, in texels. Four maps of the largest side take 64 MiB.
const SIDES: [u32; 2] = [256, 2048];
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

/// Light that opaque meshes outside of a picture can keep from what is in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockedLight {
    /// Unit vector to the light.
    pub toward: DVec3,
    /// Distance from the camera up to which missing light is visible, in voxels.
    pub radius_voxels: f64,
    /// Distance from its edge up to which a shadow is soft, in voxels.
    pub margin_voxels: f64,
}

impl BlockedLight {
    /// Distance from a position at which its maps are read, in texels, rounded up. Sky light is read
    /// farther away than shadows.
    const READ_TEXELS: f64 = 8.0;

    /// Returns the sun, if it casts shadows in a picture of `view` with this width and height in pixels,
    /// and the directions of its sky light. Empty without shadows and sky light.
    pub fn of_view(view: &View, size: [u32; 2]) -> Vec<Self> {
        let spheres = Spheres::new(&view.camera, aspect(size));
        let away = (spheres.center - view.camera.position).length();
        let light = |toward: Vec3, radius: f64, texel: f64| Self {
            toward: -orthonormal(&light_camera(toward))[2],
            radius_voxels: away + radius,
            margin_voxels: texel * Self::READ_TEXELS,
        };
        let sun = strength(&view.atmosphere).filter(|_| view.shadows).map(|_| {
            let radius = spheres.radii.last().copied().unwrap_or(0.0);
            let texel = spheres::texel(radius, map_side(size));
            light(view.atmosphere.sun_direction.normalize_or(Vec3::Y), radius, texel)
        });
        let radius = spheres.sky_radius();
        let sky = sky::directions().map(|toward| light(toward, radius, spheres.sky_texel));
        sun.into_iter().chain(sky.into_iter().filter(|_| view.sky_light)).collect()
    }
}

/// Width of a picture divided by its height.
fn aspect([width, height]: [u32; 2]) -> f32 {
    width as f32 / height.max(1) as f32
}

/// Side of the maps of the sun for a picture of this size, in texels.
fn map_side([width, height]: [u32; 2]) -> u32 {
    width.max(height).next_power_of_two().clamp(SIDES[0], SIDES[1])
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
    pub(crate) sky: SkyFrame,
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

const _: () = assert!(size_of::<ShadowFrame>() == 192 + size_of::<SkyFrame>());

impl ShadowFrame {
    /// The maps that a picture with this data reads.
    pub(crate) const fn kinds(&self) -> MapKinds {
        MapKinds { sun: self.cascade_count > 0, sky: self.sky.texel > 0.0 }
    }
}

/// Kinds of maps that a picture reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MapKinds {
    /// Maps of what hides the sun.
    pub(crate) sun: bool,
    /// Maps of what hides the sky.
    pub(crate) sky: bool,
}

#[cfg(any(feature = "wgpu", feature = "gl"))]
impl MapKinds {
    /// Whether there is any map.
    pub(crate) const fn any(self) -> bool {
        self.sun || self.sky
    }

    /// Index of the kinds, 0 to 3; 0 for none.
    #[cfg(all(feature = "gl", not(target_arch = "wasm32")))]
    pub(crate) fn index(self) -> usize {
        usize::from(self.sun) | usize::from(self.sky) << 1
    }
}

/// Place of a map among those that a device keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapLayer {
    /// A cascade of the sun.
    Cascade(usize),
    /// A map of the sky.
    Sky(usize),
}

impl MapLayer {
    /// Maximum number of maps of a picture.
    pub(crate) const COUNT: usize = MAX_CASCADES + SKY_MAPS;

    /// Index among all maps, below [`COUNT`](Self::COUNT).
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Cascade(layer) => layer,
            Self::Sky(layer) => MAX_CASCADES + layer,
        }
    }
}

/// Maps that a picture reads, and those that it has to draw first.
pub(crate) struct ShadowPlan {
    /// Identifies the cache that the plan was made for.
    pub(crate) token: u64,
    pub(crate) frame: ShadowFrame,
    /// Side of the maps of the sun, in texels.
    pub(crate) side: u32,
    pub(crate) redrawn: Vec<Redrawn>,
}

/// A map that has to be drawn.
pub(crate) struct Redrawn {
    pub(crate) layer: MapLayer,
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
/// A change of a mesh is tested against each drawn map's box; nothing if a picture reads no maps.
pub(crate) struct ShadowCache {
    token: u64,
    cascades: DrawnMaps,
    sky: DrawnMaps,
    side: u32,
}

/// The maps of one kind that were drawn, by layer.
#[derive(Default)]
struct DrawnMaps(Vec<Drawn>);

struct Drawn {
    camera: Camera,
    visibility: Visibility,
    is_stale: bool,
}

impl Default for ShadowCache {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (cascades, sky) = (DrawnMaps::default(), DrawnMaps::default());
        Self { token: NEXT.fetch_add(1, Ordering::Relaxed), cascades, sky, side: 0 }
    }
}

impl ShadowCache {
    /// Plans the maps of a picture with `size` pixels. `kept` is the token of the maps that the
    /// device keeps. Returns `None` without shadows and without sky light.
    pub(crate) fn plan(&mut self, view: &View, size: [u32; 2], kept: u64) -> Option<ShadowPlan> {
        let strength = strength(&view.atmosphere).filter(|_| view.shadows);
        if strength.is_none() && !view.sky_light {
            self.clear();
            return None;
        }
        let side = map_side(size);
        if kept != self.token {
            self.clear();
        }
        if side != self.side {
            self.cascades.0.clear();
            self.side = side;
        }
        let spheres = Spheres::new(&view.camera, aspect(size));
        let of_sun = strength.map(|_| spheres.cameras(&view.atmosphere, side).collect());
        let of_sun: Vec<(f64, Camera)> = of_sun.unwrap_or_default();
        let of_sky = view.sky_light.then(|| spheres.sky_cameras());
        let frame = ShadowFrame {
            sky: SkyFrame::new(view, &spheres, of_sky.as_ref()),
            ..shadow_frame(view, &spheres, &of_sun, (side, strength.unwrap_or(0.0)))
        };
        let mut redrawn = Vec::new();
        let of_sun = of_sun.into_iter().map(|(_, camera)| camera);
        self.cascades.redraw(of_sun, (side, MapLayer::Cascade), &mut redrawn);
        self.sky.redraw(of_sky.into_iter().flatten(), (SKY_SIDE, MapLayer::Sky), &mut redrawn);
        Some(ShadowPlan { token: self.token, frame, side, redrawn })
    }

    /// Forgets all maps, because a planned picture was not drawn.
    pub(crate) fn clear(&mut self) {
        self.cascades.0.clear();
        self.sky.0.clear();
    }

    /// Marks the maps whose box a changed mesh touches.
    #[inline]
    pub(crate) fn changed(&mut self, mesh: &DrawData) {
        let all = self.cascades.0.iter_mut().chain(&mut self.sky.0);
        for drawn in all.filter(|it| !it.is_stale) {
            drawn.is_stale = drawn.visibility.in_view(mesh);
        }
    }
}

impl DrawnMaps {
    /// Replaces the maps by those of the cameras, and collects those that have to be drawn.
    fn redraw(
        &mut self,
        cameras: impl Iterator<Item = Camera>,
        (side, map_layer): (u32, fn(usize) -> MapLayer),
        redrawn: &mut Vec<Redrawn>,
    ) {
        let mut count = 0;
        for (layer, camera) in cameras.enumerate() {
            count = layer + 1;
            if self.0.get(layer).is_some_and(|it| !it.is_stale && it.camera == camera) {
                continue;
            }
            let light = View::new(camera);
            let (frame, visibility) = (light.frame(side, side), Visibility::new(&camera, 1.0));
            let drawn = Drawn { camera, visibility: visibility.clone(), is_stale: false };
            match self.0.get_mut(layer) {
                Some(old) => *old = drawn,
                None => self.0.push(drawn),
            }
            redrawn.push(Redrawn { layer: map_layer(layer), frame, visibility, view: light });
        }
        self.0.truncate(count);
    }
}

/// Part of the sun's light that shadows take; `None` if the sun is too low or too weak.
fn strength(air: &Atmosphere) -> Option<f32> {
    let [weak, full] = STRENGTHS;
    let height = air.sun_direction.normalize_or(Vec3::Y).y;
    let strength = ((air.sun.max_element() - weak) / (full - weak)).clamp(0.0, 1.0);
    (height > LOWEST_SUN && strength > 0.0).then_some(strength)
}

fn shadow_frame(
    view: &View,
    spheres: &Spheres,
    cameras: &[(f64, Camera)],
    (side, strength): (u32, f32),
) -> ShadowFrame {
    let position = view.camera.position;
    let sun = view.atmosphere.sun_direction.normalize_or(Vec3::Y);
    let [right, up, forward] = orthonormal(&light_camera(sun));
    let none = CascadeFrame { radius: f32::MAX, ..CascadeFrame::zeroed() };
    let mut cascades = [none; MAX_CASCADES];
    for (cascade, (radius, camera)) in cascades.iter_mut().zip(cameras) {
        let texel = spheres::texel(*radius, side);
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
        sky: SkyFrame::zeroed(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
