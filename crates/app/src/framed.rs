//! Views of content, as options describe them.

use std::{fmt, str::FromStr};

use drystone_render::{Atmosphere, Camera, Projection, Samples, View};
use drystone_voxel::{Chunk, ChunkBox, NodePos};
use drystone_world::World;
use glam::DVec3;

use crate::Content;
use crate::scene::{self, DefaultView, Framing, LandChunks, ModelTransform, Side, Size};

/// Camera and look of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewOptions {
    /// Size of the picture.
    pub size: Size,
    /// Position of the camera, in voxels or the model's units. `None` shows the whole scene.
    pub eye: Option<DVec3>,
    /// Target of the camera. Default: the centre of the scene.
    pub target: Option<DVec3>,
    /// Side from which the whole scene is shown.
    pub side: Side,
    /// Whether the projection is orthographic.
    pub orthographic: bool,
    /// Part of a landscape that the default camera shows.
    pub fit: Fit,
    /// Light, air and colours.
    pub look: Look,
    /// Samples in each pixel. With more than one, the contrast between far faces fades; see
    /// [`View::fade_far`].
    pub samples: Samples,
}

impl ViewOptions {
    /// Options for a view of the whole scene.
    pub fn new(size: Size) -> Self {
        let (eye, target, side, look) = (None, None, Side::default(), Look::default());
        let (fit, samples) = (Fit::Whole, Samples::One);
        Self { size, eye, target, side, orthographic: false, fit, look, samples }
    }
}

/// Part of a landscape that the default perspective camera shows. Objects are always shown as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// The whole landscape. In a tall picture it covers the width, but little of the height.
    #[default]
    Whole,
    /// The middle of the landscape, if the whole would cover little of the height.
    Fill,
}

/// Light, air and colours of a scene. The default is a clear afternoon with ambient occlusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Range of visibility. Default: light haze scaled to the scene; in vast worlds, enough to hide
    /// their edge.
    pub haze: Option<Haze>,
    /// Hour of the day, 0 to 24, which sets the position of the sun.
    pub hour: Option<f32>,
    /// Whether voxels are tinted by their level of detail.
    pub tint_levels: bool,
    /// Whether the edges of quads or triangles are drawn.
    pub wire: bool,
    /// Whether ambient occlusion darkens the corners of faces, if content and renderer have it.
    pub occlusion: bool,
    /// Whether the sun casts shadows.
    pub shadows: bool,
    /// Whether covers hide sky light.
    pub sky_light: bool,
    /// Whether light spreads around surfaces that emit light.
    pub bloom: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            haze: None,
            hour: None,
            tint_levels: false,
            wire: false,
            occlusion: true,
            shadows: false,
            sky_light: false,
            bloom: false,
        }
    }
}

impl Look {
    /// Returns the strength of ambient occlusion, 0 without.
    pub(crate) const fn strength(&self) -> f32 {
        if self.occlusion { Atmosphere::OCCLUSION } else { 0.0 }
    }
}

/// Range of visibility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Haze {
    /// No haze.
    Off,
    /// Haze hides everything beyond this distance.
    Distance(f32),
}

impl FromStr for Haze {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.parse::<f32>()) {
            ("off", _) => Ok(Self::Off),
            (_, Ok(distance)) if distance.is_finite() && distance > 0.0 => {
                Ok(Self::Distance(distance))
            }
            _ => Err("haze is off, or a distance above 0, such as 5000"),
        }
    }
}

/// A camera as options of the program describe it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraOptions {
    /// Position, in voxels or the model's units.
    pub eye: DVec3,
    /// Target, in voxels or the model's units.
    pub target: DVec3,
    /// Whether the projection is orthographic. Its picture is as high as a perspective one would be
    /// at the target.
    pub orthographic: bool,
    /// Number of digits after the point that tell positions apart.
    digits: usize,
}

impl CameraOptions {
    /// Returns position and target with as many digits as are useful.
    pub fn rounded(&self) -> [[f64; 3]; 2] {
        let step = 10f64.powi(self.digits as i32);
        [self.eye, self.target].map(|point| point.to_array().map(|c| (c * step).round() / step))
    }
}

impl fmt::Display for CameraOptions {
    /// Writes the options of the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [eye, target] =
            self.rounded().map(|point| point.map(|c| format!("{c:.*}", self.digits)).join(","));
        let orthographic = if self.orthographic { " --orthographic" } else { "" };
        write!(f, "--eye {eye} --look {target}{orthographic}")
    }
}

/// Content as a camera sees it: its framing, and the unit of coordinates in options.
#[derive(Clone, Copy, Debug)]
pub struct Framed {
    framing: Framing,
    /// Transform from a model's units; `None` if coordinates are in voxels.
    transform: Option<ModelTransform>,
    /// Whether haze hides the edge of a vast world.
    has_edge_haze: bool,
}

impl Framed {
    /// Returns the framing of content: the box of all chunks at levels of detail, else the box of
    /// all voxels; of a solid block of land, the part above a low percentile of its heights.
    ///
    /// # Cost
    /// Without levels of detail, the cost of [`LodData::bounds`](drystone_world::LodData::bounds).
    /// With them, reads at most 25 columns of at most 64 chunks; if the source has all levels, of a level of
    /// at most 64 chunks in width.
    pub fn new(content: &Content) -> Self {
        match content {
            Content::Voxels(data, limits) => {
                let has_levels = limits.has_levels();
                let corners = match has_levels {
                    true => scene::level_corners(data),
                    false => scene::tight_corners(data.bounds()),
                };
                let chunk = |node: NodePos| Some(data.chunk(node));
                let land = match has_levels {
                    true => Content::land(data.source()),
                    false => data.source().extent().map(|it| LandChunks::new(it, 0)),
                };
                let floor = land.and_then(|land| land.floor(Chunk::SIDE, chunk));
                let framing = Framing::of_voxels(corners).above(floor);
                Self { framing, transform: None, has_edge_haze: has_levels }
            }
            Content::Model(model) => Self::of_model(model.transform),
        }
    }

    /// Returns the framing of a world, as content without levels of detail.
    ///
    /// # Cost
    /// The cost of [`World::bounds`].
    pub fn of_world(world: &World) -> Self {
        let chunk = |node: NodePos| world.chunk(node.chunk).cloned();
        let land = ChunkBox::around(world.positions()).map(|it| LandChunks::new(it, 0));
        let floor = land.and_then(|land| land.floor(world.side(), chunk));
        let framing = Framing::of_voxels(scene::corners(world)).above(floor);
        Self { framing, transform: None, has_edge_haze: false }
    }

    /// Returns the framing of a model with this transform.
    pub fn of_model(transform: ModelTransform) -> Self {
        let framing = Framing::of_model(transform.corners());
        Self { framing, transform: Some(transform), has_edge_haze: false }
    }

    /// Returns the lowest and the highest corner, in voxels.
    pub const fn corners(&self) -> (DVec3, DVec3) {
        self.framing.corners()
    }

    /// Whether the content is a single object, instead of a landscape or a world at levels of detail.
    pub(crate) const fn is_object(&self) -> bool {
        !self.framing.is_landscape() && !self.has_edge_haze
    }

    /// Returns the middle of the part that cameras show, in voxels.
    pub fn middle(&self) -> DVec3 {
        let (min, max) = self.framing.shown();
        (min + max) / 2.0
    }

    /// Returns a camera with the direction and the kind of projection of `camera` that shows the whole
    /// content in a picture with this width to height.
    pub(crate) fn fitted(&self, camera: &Camera, aspect: f32) -> Camera {
        self.framing.fitted(camera, aspect)
    }

    /// Returns the point that the camera of [`view`](Self::view) looks at, in voxels.
    pub(crate) fn target(&self, options: &ViewOptions) -> DVec3 {
        options.target.map_or_else(|| self.middle(), |point| self.in_voxels(point))
    }

    /// Returns the same framing, for a scene with or without the haze that hides the edge of a vast
    /// world, which depends on its levels of detail.
    pub(crate) const fn with_edge_haze(self, has_edge_haze: bool) -> Self {
        Self { has_edge_haze, ..self }
    }

    /// Returns the distance from a camera of [`view`](Self::view) to its target along the view axis,
    /// in voxels; at least a hundredth of the content's size.
    pub fn target_distance(&self, camera: &Camera, options: &ViewOptions) -> f64 {
        let (min, max) = self.corners();
        let forward = camera.basis()[2].as_dvec3();
        // A nearer target would tell the direction less exactly.
        let least = (max - min).max_element() * 0.01;
        (self.target(options) - camera.position).dot(forward).max(least)
    }

    /// Returns the options that describe `camera`, which looks at a point at `distance` voxels.
    pub fn camera_options(&self, camera: &Camera, distance: f64) -> CameraOptions {
        let forward = camera.basis()[2].as_dvec3();
        let target = camera.position + forward * distance;
        let (eye, orthographic) = match camera.projection {
            Projection::Perspective { .. } => (camera.position, false),
            Projection::Orthographic { height_voxels } => {
                let back = f64::from(height_voxels) / (2.0 * f64::from(scene::FOV_Y / 2.0).tan());
                (target - forward * back, true)
            }
        };
        let [eye, target] = [eye, target].map(|point| self.in_options(point));
        let (min, max) = self.option_corners();
        // A millionth of the scene's size.
        let digits = (6.0 - (max - min).max_element().log10()).clamp(0.0, 300.0).ceil() as usize;
        CameraOptions { eye, target, orthographic, digits }
    }

    /// Returns the lowest and the highest corner, in voxels or the model's units.
    pub fn option_corners(&self) -> (DVec3, DVec3) {
        let (min, max) = self.corners();
        (self.in_options(min), self.in_options(max))
    }

    /// Returns the view that the options describe.
    pub fn view(&self, options: &ViewOptions) -> View {
        let view = self.clear_view(options);
        let atmosphere = match options.look.haze {
            None if self.has_edge_haze => {
                scene::edge_haze(view.atmosphere, &view.camera, self.corners())
            }
            _ => view.atmosphere,
        };
        View { atmosphere, ..view }
    }

    /// Returns the atmosphere of a vast world without the haze that hides its edge. `None` if the
    /// haze does not follow the camera.
    pub(crate) fn clear_air(&self, options: &ViewOptions) -> Option<Atmosphere> {
        let follows = self.has_edge_haze && options.look.haze.is_none();
        follows.then(|| self.clear_view(options).atmosphere)
    }

    /// Returns the view without the haze that hides the edge of a vast world.
    fn clear_view(&self, options: &ViewOptions) -> View {
        let aspect = options.size.aspect();
        let (min, max) = self.corners();
        let target = self.target(options);
        let DefaultView { mut camera, atmosphere } =
            self.framing.default_view(options.side, aspect);
        if options.fit == Fit::Fill {
            let offset = camera.position - self.middle();
            camera.position = self.middle() + offset * self.framing.nearer(&camera, aspect);
        }
        let eye = options.eye.map(|point| self.in_voxels(point));
        let parallel = |height_voxels| Projection::Orthographic { height_voxels };
        match (eye, options.orthographic) {
            (None, true) => {
                let side = options.side;
                camera = self.framing.camera(side, parallel(1.0), aspect);
            }
            (Some(eye), true) => {
                // Size the target as in a perspective picture.
                let [_, half_height] = camera.half_extents(aspect);
                let height_voxels = 2.0 * (eye - target).length() as f32 * half_height;
                camera.projection = parallel(height_voxels.max(1.0));
            }
            (_, false) => {}
        }
        if let Some(eye) = eye {
            camera.position = eye;
        }
        if eye.is_some() || options.target.is_some() {
            camera.turn_to(target);
        }
        scene::reach(&mut camera, min, max);
        View {
            atmosphere: self.air(atmosphere, options),
            tint_levels: options.look.tint_levels,
            wire: options.look.wire,
            // One sample a pixel smooths nothing.
            fade_far: options.samples != Samples::One,
            shadows: options.look.shadows,
            sky_light: options.look.sky_light,
            bloom: options.look.bloom,
            ..View::new(camera)
        }
    }

    /// Returns the air in the light of the options, with its haze.
    pub(crate) fn lit(&self, air: Atmosphere, options: &ViewOptions) -> Atmosphere {
        let Atmosphere { haze_start, haze_end, haze_density, .. } = air;
        self.view(options).atmosphere.with_haze(haze_start, haze_end, haze_density)
    }

    /// Returns the air of a view, as the options change it.
    fn air(&self, atmosphere: Atmosphere, options: &ViewOptions) -> Atmosphere {
        let atmosphere = match options.look.haze {
            None => atmosphere,
            Some(Haze::Off) => atmosphere.with_haze(0.0, 0.0, 0.0),
            Some(Haze::Distance(distance)) => {
                let unit = (self.in_voxels(DVec3::X) - self.in_voxels(DVec3::ZERO)).length() as f32;
                let end = distance * unit;
                atmosphere.with_haze(end * scene::HAZE_BEGINS, end, 1.0)
            }
        };
        let atmosphere = options.look.hour.map_or(atmosphere, |hour| atmosphere.with_hour(hour));
        Atmosphere { ambient_occlusion: options.look.strength(), ..atmosphere }
    }

    /// Converts a point in voxels to one of the options.
    fn in_options(&self, point: DVec3) -> DVec3 {
        self.transform.map_or(point, |transform| transform.to_model(point))
    }

    /// Converts a point of the options to voxels.
    fn in_voxels(&self, point: DVec3) -> DVec3 {
        self.transform.map_or(point, |transform| transform.to_world(point))
    }
}

#[cfg(test)]
mod tests;
