use drystone::Flight;
use drystone::scene::{self, DefaultView, Framing, ModelTransform, ModelTriangles};
use drystone_render::{Atmosphere, Projection, View};
use drystone_world::{LodData, World};
use glam::DVec3;

use crate::cli::{Haze, SceneOptions, Tint};

/// Scene that the options show: its framing, and the unit of coordinates in options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framed {
    framing: Framing,
    /// Transform from a model's units; `None` if coordinates are in voxels.
    transform: Option<ModelTransform>,
    /// Whether haze hides the edge of a vast world.
    has_edge_haze: bool,
}

impl Framed {
    pub(crate) fn world(world: &World) -> Self {
        let framing = Framing::of_voxels(scene::corners(world));
        Self { framing, transform: None, has_edge_haze: false }
    }

    pub(crate) fn levels(data: &LodData) -> Self {
        let framing = Framing::of_voxels(scene::level_corners(data));
        Self { framing, transform: None, has_edge_haze: true }
    }

    pub(crate) fn model(model: &ModelTriangles) -> Self {
        let framing = Framing::of_model(model.transform.corners());
        Self { framing, transform: Some(model.transform), has_edge_haze: false }
    }

    /// Returns the lowest and the highest corner, in voxels.
    pub(crate) const fn corners(&self) -> (DVec3, DVec3) {
        self.framing.corners()
    }

    /// Returns a flight with a speed that matches the size of the scene.
    pub(crate) fn flight(&self) -> Flight {
        let (min, max) = self.corners();
        Flight::new((max - min).max_element())
    }

    /// Returns the view that the options describe; without `--eye`, of the whole scene.
    pub(crate) fn view(&self, options: &SceneOptions) -> View {
        let view = self.clear_view(options);
        let atmosphere = match options.air.haze {
            None if self.has_edge_haze => {
                scene::edge_haze(view.atmosphere, &view.camera, self.corners())
            }
            _ => view.atmosphere,
        };
        View { atmosphere, ..view }
    }

    /// Returns the view without the haze that hides the edge of a vast world.
    pub(crate) fn clear_view(&self, options: &SceneOptions) -> View {
        let aspect = options.size.aspect();
        let (min, max) = self.corners();
        let DefaultView { mut camera, atmosphere } =
            self.framing.default_view(options.from.unwrap_or_default(), aspect);
        let [eye, look] =
            [options.eye, options.look].map(|it| it.map(|point| self.in_voxels(point)));
        let target = look.unwrap_or((min + max) / 2.0);
        let parallel = |height_voxels| Projection::Orthographic { height_voxels };
        match (eye, options.orthographic) {
            (None, true) => {
                let side = options.from.unwrap_or_default();
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
        if eye.is_some() || look.is_some() {
            camera.turn_to(target);
        }
        scene::reach(&mut camera, min, max);
        View {
            atmosphere: self.air(atmosphere, options),
            tint_levels: options.air.tint == Some(Tint::Levels),
            wire: options.air.wire,
            ..View::new(camera)
        }
    }

    /// Returns the air of a view, as the options change it.
    fn air(&self, atmosphere: Atmosphere, options: &SceneOptions) -> Atmosphere {
        let atmosphere = match options.air.haze {
            None => atmosphere,
            Some(Haze::Off) => atmosphere.with_haze(0.0, 0.0, 0.0),
            Some(Haze::Distance(distance)) => {
                let unit = (self.in_voxels(DVec3::X) - self.in_voxels(DVec3::ZERO)).length() as f32;
                let end = distance * unit;
                atmosphere.with_haze(end * scene::HAZE_BEGINS, end, 1.0)
            }
        };
        let atmosphere = options.air.hour.map_or(atmosphere, |hour| atmosphere.with_hour(hour));
        Atmosphere { ambient_occlusion: options.occlusion(), ..atmosphere }
    }

    /// Converts a point of the options to voxels.
    fn in_voxels(&self, point: DVec3) -> DVec3 {
        self.transform.map_or(point, |transform| transform.to_world(point))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use drystone_voxel::{Material, MaterialTable, VoxelPos};
    use glam::DVec3;

    use super::*;
    use crate::cli;

    fn seen(words: &str) -> (View, f32) {
        let mut world = World::new("two distant voxels", MaterialTable::new());
        world.set(VoxelPos::new(0, 0, 0), Material(1));
        world.set(VoxelPos::new(299, 39, 299), Material(1));
        let arguments = words.split(' ').map(OsString::from);
        let Ok(options) = cli::parse(arguments) else { panic!("{words}") };
        (Framed::world(&world).view(&options.scene), options.scene.size.aspect())
    }

    /// Counts the world's corners, 0 to 8, that lie in the picture.
    fn corners_in(words: &str) -> usize {
        let (view, aspect) = seen(words);
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
        assert_eq!(corners_in("drystone --orthographic"), 8);
        assert_eq!(corners_in("drystone --orthographic --size 300x900"), 8);
        assert_eq!(corners_in("drystone --eye 100000,200,100000"), 8);
        assert_eq!(corners_in("drystone --eye 150,90000,150 --look 150,0,150"), 8);
        assert_eq!(corners_in("drystone"), 8);
        for degrees in (0..360).step_by(15) {
            assert_eq!(corners_in(&format!("drystone --from {degrees}")), 8, "{degrees}");
            let parallel = format!("drystone --from {degrees} --orthographic --size 300x900");
            assert_eq!(corners_in(&parallel), 8, "{degrees}");
        }
        assert_eq!(corners_in("drystone --from top --size 300x900"), 8);
        assert_eq!(seen("drystone --from 0"), seen("drystone"));
    }
}
