//! Views of content, as options describe them.

use std::str::FromStr;

use drystone_render::{Atmosphere, Projection, Samples, View};
use glam::DVec3;

use crate::Content;
use crate::scene::{self, DefaultView, Framing, ModelTransform, Side, Size};

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
        Self { size, eye, target, side, orthographic: false, look, samples: Samples::One }
    }
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
    /// all voxels.
    ///
    /// # Cost
    /// The cost of [`LodData::bounds`](drystone_world::LodData::bounds) without levels of detail.
    pub fn new(content: &Content) -> Self {
        let (framing, transform, has_edge_haze) = match content {
            Content::Voxels(data, limits) => {
                let corners = match limits.has_levels() {
                    true => scene::level_corners(data),
                    false => scene::tight_corners(data.bounds()),
                };
                (Framing::of_voxels(corners), None, limits.has_levels())
            }
            Content::Model(model) => {
                (Framing::of_model(model.transform.corners()), Some(model.transform), false)
            }
        };
        Self { framing, transform, has_edge_haze }
    }

    /// Returns the lowest and the highest corner, in voxels.
    pub const fn corners(&self) -> (DVec3, DVec3) {
        self.framing.corners()
    }

    /// Whether the content is a single object, instead of a landscape or a world at levels of detail.
    pub(crate) const fn is_object(&self) -> bool {
        !self.framing.is_landscape() && !self.has_edge_haze
    }

    /// Returns the point that the camera of [`view`](Self::view) looks at, in voxels.
    pub(crate) fn target(&self, options: &ViewOptions) -> DVec3 {
        let (min, max) = self.corners();
        options.target.map_or((min + max) / 2.0, |point| self.in_voxels(point))
    }

    /// Returns the same framing, for a scene with or without the haze that hides the edge of a vast
    /// world, which depends on its levels of detail.
    pub(crate) const fn with_edge_haze(self, has_edge_haze: bool) -> Self {
        Self { has_edge_haze, ..self }
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
            ..View::new(camera)
        }
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

    /// Converts a point of the options to voxels.
    fn in_voxels(&self, point: DVec3) -> DVec3 {
        self.transform.map_or(point, |transform| transform.to_world(point))
    }
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{Material, MaterialTable, VoxelPos};
    use std::sync::Arc;

    use drystone_world::{LodData, World};

    use super::*;
    use crate::{LodLimits, scene::MemoryBudget};

    fn seen(options: &ViewOptions) -> (View, f32) {
        let mut world = World::new("two distant voxels", MaterialTable::new());
        world.set(VoxelPos::new(0, 0, 0), Material(1));
        world.set(VoxelPos::new(299, 39, 299), Material(1));
        let data = LodData::new(Box::new(world), 0);
        let limits = LodLimits::from(MemoryBudget::default()).full_detail();
        let content = Content::Voxels(Arc::new(data), limits);
        (Framed::new(&content).view(options), options.size.aspect())
    }

    /// Counts the world's corners, 0 to 8, that lie in the picture.
    fn corners_in(options: &ViewOptions) -> usize {
        let (view, aspect) = seen(options);
        let matrix = view.camera.clip_from_relative(aspect);
        let corners = (0..8).map(|bits: u32| {
            let side = |bit: u32| f64::from(bits >> bit & 1);
            DVec3::new(side(0) * 300.0, side(1) * 40.0, side(2) * 300.0)
        });
        let inside = |corner: DVec3| {
            let clip = matrix * (corner - view.camera.position).as_vec3().extend(1.0);
            let ndc = clip / clip.w;
            ndc.x.abs() <= 1.0 && ndc.y.abs() <= 1.0 && (0.0..=1.0).contains(&ndc.z)
        };
        corners.filter(|&corner| inside(corner)).count()
    }

    #[test]
    fn default_views_show_all_eight_corners() {
        let wide = ViewOptions::new(Size { width: 1280, height: 720 });
        let (orthographic, tall) = (true, Size { width: 300, height: 900 });
        let eye = |x, y, z| Some(DVec3::new(x, y, z));
        assert_eq!(corners_in(&ViewOptions { orthographic, ..wide }), 8);
        assert_eq!(corners_in(&ViewOptions { orthographic, size: tall, ..wide }), 8);
        assert_eq!(corners_in(&ViewOptions { eye: eye(100_000.0, 200.0, 100_000.0), ..wide }), 8);
        let (high, target) = (eye(150.0, 90_000.0, 150.0), eye(150.0, 0.0, 150.0));
        assert_eq!(corners_in(&ViewOptions { eye: high, target, ..wide }), 8);
        assert_eq!(corners_in(&wide), 8);
        for degrees in (0..360_u16).step_by(15) {
            let side = Side::Around(degrees.into());
            assert_eq!(corners_in(&ViewOptions { side, ..wide }), 8, "{degrees}");
            let parallel = ViewOptions { side, orthographic, size: tall, ..wide };
            assert_eq!(corners_in(&parallel), 8, "{degrees}");
        }
        assert_eq!(corners_in(&ViewOptions { side: Side::Top, size: tall, ..wide }), 8);
        assert_eq!(seen(&ViewOptions { side: Side::Around(0.0), ..wide }), seen(&wide));
    }
}
