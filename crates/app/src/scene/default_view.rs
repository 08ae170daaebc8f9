use drystone_render::{Atmosphere, Camera, Projection};
use drystone_world::World;
use glam::DVec3;

use super::scene_box::{box_corners, corners, reach};
use super::side::{Side, ViewSide};

/// Default camera and atmosphere of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DefaultView {
    /// Camera.
    pub camera: Camera,
    /// Sky and haze, scaled to the scene.
    pub atmosphere: Atmosphere,
}

/// Vertical field of view of a perspective camera, in radians.
pub(crate) const FOV_Y: f32 = 50f32.to_radians();

/// Ratio of width to height from which a scene is a landscape, if it is also …
const LANDSCAPE_FLATNESS: f64 = 2.5;
/// … this wide, in voxels.
const LANDSCAPE_WIDTH: f64 = 128.0;

/// Height of the default camera above the horizon of a landscape, in radians: low, so that sky is
/// visible.
const OVER_LANDSCAPE: f64 = 22.7 * DEGREE;
/// Turn of the default camera from the south of a landscape to the east, in radians.
const LANDSCAPE_TURN: f64 = 44.2 * DEGREE;
/// Fraction of the height of a picture that a landscape covers, if the camera need not be higher
/// than …
const LANDSCAPE_PART: f64 = 2.0 / 3.0;
/// … this, in radians. In a tall picture a low camera would show a narrow strip of land.
const HIGH_OVER_LANDSCAPE: f64 = 55.0 * DEGREE;
/// Fraction of the height of a picture that a landscape covers which fills the picture.
const FILLED_PART: f64 = 0.9;
/// One degree, in radians.
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// The box of a scene and the default direction of the view on it: what is needed to fit the
/// scene into a picture, from any side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Framing {
    min: DVec3,
    max: DVec3,
    /// Height at which the shown part begins. Below is the inside of a block of land.
    floor: f64,
    is_landscape: bool,
}

impl Framing {
    /// The framing of voxels in the box `min` to `max`. A wide and flat box is a landscape: its
    /// view is lower, so that there is sky behind it.
    pub(crate) fn of_voxels((min, max): (DVec3, DVec3)) -> Self {
        let size = max - min;
        let width = size.x.min(size.z);
        let is_landscape = width > LANDSCAPE_FLATNESS * size.y && width > LANDSCAPE_WIDTH;
        Self { min, max, floor: min.y, is_landscape }
    }

    /// The framing of a polygon model in the box `min` to `max`.
    pub(crate) const fn of_model((min, max): (DVec3, DVec3)) -> Self {
        Self { min, max, floor: min.y, is_landscape: false }
    }

    /// Returns the framing of the land above `floor`, so that a camera shows its surface instead of
    /// the walls of the block below. Unchanged without a floor, and if what is above is no landscape.
    pub(crate) fn above(self, floor: Option<f64>) -> Self {
        let land = |floor| Self::of_voxels((DVec3 { y: floor, ..self.min }, self.max));
        match floor.filter(|floor| (self.min.y..self.max.y).contains(floor)) {
            Some(floor) if land(floor).is_landscape => Self { floor, is_landscape: true, ..self },
            _ => self,
        }
    }

    /// Whether the shown box is that of a landscape.
    pub(crate) const fn is_landscape(&self) -> bool {
        self.is_landscape
    }

    /// The lowest and the highest corner of the scene, in voxels.
    pub(crate) const fn corners(&self) -> (DVec3, DVec3) {
        (self.min, self.max)
    }

    /// The lowest and the highest corner of the part that cameras show, in voxels.
    pub(crate) const fn shown(&self) -> (DVec3, DVec3) {
        (DVec3::new(self.min.x, self.floor, self.min.z), self.max)
    }

    /// Returns the camera that shows the whole part from `side`, as large as a picture with this
    /// width to height allows. The height of an orthographic `projection` is set to match.
    pub(crate) fn camera(&self, side: Side, projection: Projection, aspect: f32) -> Camera {
        /// Sides that are farther up or down are the top and the bottom, in radians.
        const MAX_ASIDE: f64 = 1.5;
        let default = Camera::FIT_DIRECTION.normalize();
        let [from, up] = match side.name.map(ViewSide::angles) {
            None if self.is_landscape => [LANDSCAPE_TURN, OVER_LANDSCAPE],
            None => [default.x.atan2(default.z), default.y.asin()],
            Some([yaw, pitch]) => [f64::from(yaw), f64::from(-pitch)],
        };
        let is_aside = up.abs() < MAX_ASIDE;
        let over = || self.elevation(projection, aspect);
        let up = if self.is_landscape && is_aside { over() } else { up };
        let turn = from + side.turn_degrees.to_radians();
        let mut camera = self.fit(direction(turn, up), projection, aspect);
        reach(&mut camera, self.min, self.max);
        camera
    }

    /// Returns the height of the camera above the horizon, in radians, from which a landscape covers
    /// its part of the picture from the default side. All sides have the same, so that a camera that
    /// turns around the scene does not rise and sink.
    fn elevation(&self, projection: Projection, aspect: f32) -> f64 {
        let covered = |up: f64| {
            self.covered(&self.fit(direction(LANDSCAPE_TURN, up), projection, aspect), aspect)
        };
        let steps = ((HIGH_OVER_LANDSCAPE - OVER_LANDSCAPE) / DEGREE) as u32;
        let mut heights = (0..=steps).map(|step| OVER_LANDSCAPE + f64::from(step) * DEGREE);
        heights.find(|&up| covered(up) >= LANDSCAPE_PART).unwrap_or(HIGH_OVER_LANDSCAPE)
    }

    /// Returns the fraction of the picture's height that the shown part covers.
    fn covered(&self, camera: &Camera, aspect: f32) -> f64 {
        let matrix = camera.clip_from_relative(aspect);
        let heights = box_corners(self.shown()).map(|corner| {
            let clip = matrix * (corner - camera.position).as_vec3().extend(1.0);
            f64::from(clip.y / clip.w)
        });
        let [low, high] = [f64::min, f64::max].map(|of| heights.into_iter().reduce(of));
        (high.unwrap_or(1.0) - low.unwrap_or(-1.0)) / 2.0
    }

    /// Returns the fraction of its distance to the middle at which a perspective camera, which shows the
    /// whole landscape, fills the height of the picture. 1 if the landscape covers most of it, and for
    /// objects.
    pub(crate) fn nearer(&self, camera: &Camera, aspect: f32) -> f64 {
        let covered = self.covered(camera, aspect);
        if self.is_landscape && covered < LANDSCAPE_PART { covered / FILLED_PART } else { 1.0 }
    }

    /// Returns a camera with the direction and the kind of projection of `camera` that shows the whole
    /// part, as large as a picture with this width to height allows.
    pub(crate) fn fitted(&self, camera: &Camera, aspect: f32) -> Camera {
        let backward = -camera.basis()[2].as_dvec3();
        let fit = self.fit(backward, camera.projection, aspect);
        // From above, the direction tells nothing about the turn.
        let mut fitted = Camera { yaw: camera.yaw, pitch: camera.pitch, ..fit };
        reach(&mut fitted, self.min, self.max);
        fitted
    }

    fn fit(&self, direction: DVec3, projection: Projection, aspect: f32) -> Camera {
        let (min, max) = self.shown();
        Camera::fit_from(direction, min, max, projection, aspect)
    }

    /// Returns the perspective view of the whole scene from `side`, with haze scaled to it.
    pub(crate) fn default_view(&self, side: Side, aspect: f32) -> DefaultView {
        let perspective = Projection::Perspective { fov_y: FOV_Y };
        let camera = self.camera(side, perspective, aspect);
        let (min, max) = self.shown();
        let (middle, size) = ((min + max) / 2.0, max - min);
        let reach = ((camera.position - middle).length() + size.length() / 2.0) as f32;
        let atmosphere = match self.is_landscape {
            true => Atmosphere::default().with_haze(reach * 0.50, reach * 1.25, 0.75),
            false => Atmosphere::default().with_haze(reach * 0.80, reach * 2.5, 0.6),
        };
        DefaultView { camera, atmosphere }
    }
}

/// Returns the default view of the box of `world`, for a picture with this width to height. A model
/// fills the picture; a landscape is seen from above one corner, with sky behind it.
pub fn default_view(world: &World, aspect: f32) -> DefaultView {
    Framing::of_voxels(corners(world)).default_view(Side::default(), aspect)
}

/// Returns the default view of a model in the box `min` to `max`, which fills the picture.
pub fn default_view_of_model(corners: (DVec3, DVec3), aspect: f32) -> DefaultView {
    Framing::of_model(corners).default_view(Side::default(), aspect)
}

/// Returns the unit vector with this angle from south to east and this angle above the horizon, in
/// radians.
fn direction(turn: f64, up: f64) -> DVec3 {
    let ((turn_sin, turn_cos), (up_sin, up_cos)) = (turn.sin_cos(), up.sin_cos());
    DVec3::new(turn_sin * up_cos, up_sin, turn_cos * up_cos)
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    /// Every side shows the whole scene, as large as the picture allows.
    #[test]
    fn scenes_of_any_shape_fit_into_pictures_from_every_side() {
        let boxes = [
            [300.0, 40.0, 300.0],
            [2_048.0, 96.0, 640.0],
            [40.0, 400.0, 30.0],
            [500.0, 12.0, 9.0],
            [20.0; 3],
            [16_000.0, 512.0, 16_000.0],
            [3.0, 1.0, 90.0],
        ];
        let around = (0..24).map(|step| Side::around(f64::from(step) * 15.0 - 90.0));
        let sides: Vec<Side> = around.chain(ViewSide::ALL.map(Side::named)).collect();
        let parallel = Projection::Orthographic { height_voxels: 1.0 };
        for size in boxes.map(DVec3::from) {
            let corners = (DVec3::splat(-7.5), DVec3::splat(-7.5) + size);
            let of = [Framing::of_voxels(corners), Framing::of_model(corners)];
            for (framing, aspect) in of.into_iter().flat_map(|it| [(it, 0.4), (it, 1.0), (it, 2.4)])
            {
                assert_eq!(framing.default_view(Side::around(0.0), aspect).camera, {
                    framing.default_view(Side::default(), aspect).camera
                });
                for &side in &sides {
                    let DefaultView { camera, .. } = framing.default_view(side, aspect);
                    for camera in [camera, framing.camera(side, parallel, aspect)] {
                        check_fits(&camera, corners, aspect, &format!("{size} {side:?} {aspect}"));
                    }
                }
            }
        }
    }

    /// Checks that all corners are inside the margin, that they touch it, and that they are centred.
    fn check_fits(camera: &Camera, corners: (DVec3, DVec3), aspect: f32, what: &str) {
        let (low, high) = projected(camera, corners, aspect);
        let (margin, reach) = (1.0 / Camera::FIT_MARGIN, high.abs().max(low.abs()));
        let reach = reach.x.max(reach.y);
        assert!((reach - margin).abs() < 2e-4, "{what}: {low} to {high}");
        let off = (low + high).truncate().abs().max_element();
        assert!(off < 4e-4, "{what}: {low} to {high}");
        assert!(low.z >= 0.0 && high.z <= 1.0, "{what}: depths {low} to {high}");
    }

    /// Returns the lowest and highest coordinates of the corners in the picture.
    fn projected(camera: &Camera, corners: (DVec3, DVec3), aspect: f32) -> (Vec3, Vec3) {
        let matrix = camera.clip_from_relative(aspect);
        let points = box_corners(corners).map(|corner| {
            let clip = matrix * (corner - camera.position).as_vec3().extend(1.0);
            clip.truncate() / clip.w
        });
        [Vec3::min, Vec3::max].map(|of| points.into_iter().reduce(of).unwrap()).into()
    }

    /// A flat land covers most of the height of usual pictures, and the sky above it is no larger
    /// than the ground that the picture shows.
    #[test]
    fn flat_lands_cover_pictures_of_every_shape() {
        let perspective = Projection::Perspective { fov_y: FOV_Y };
        for size in [[512.0, 30.0, 512.0], [16_000.0, 512.0, 12_000.0], [2_048.0, 96.0, 640.0]] {
            let corners = (DVec3::ZERO, DVec3::from(size));
            let framing = Framing::of_voxels(corners);
            assert!(framing.is_landscape());
            for (aspect, part) in [(0.46, 0.3), (0.75, 0.5), (4.0 / 3.0, 0.66), (16.0 / 9.0, 0.66)]
            {
                let camera = framing.camera(Side::default(), perspective, aspect);
                let (low, high) = projected(&camera, corners, aspect);
                let covered = (high.y - low.y) / 2.0;
                assert!(covered >= part, "{size:?} {aspect}: {covered}");
                for side in [ViewSide::Front, ViewSide::Right, ViewSide::Back, ViewSide::Left] {
                    let camera = framing.camera(Side::named(side), perspective, aspect);
                    assert!(camera.pitch < -0.39, "{side:?} shows land, not its edge");
                }
            }
        }
    }

    /// In tall pictures, the middle of a land fills the height; other pictures show all of it.
    #[test]
    fn lands_fill_tall_pictures_from_nearer() {
        let corners = (DVec3::ZERO, DVec3::new(1_024.0, 128.0, 1_024.0));
        let framing = Framing::of_voxels(corners);
        let near = |aspect| {
            let DefaultView { mut camera, .. } = framing.default_view(Side::default(), aspect);
            let (middle, part) = ((corners.0 + corners.1) / 2.0, framing.nearer(&camera, aspect));
            camera.position = middle + (camera.position - middle) * part;
            (part, framing.covered(&camera, aspect))
        };
        let (part, covered) = near(375.0 / 812.0);
        assert!(part < 0.6 && (0.8..1.6).contains(&covered), "{part}: {covered}");
        assert_eq!(near(16.0 / 9.0).0, 1.0);
        let model = Framing::of_model(corners);
        let camera = model.default_view(Side::default(), 0.4).camera;
        assert_eq!(model.nearer(&camera, 0.4), 1.0, "models are shown as a whole");
    }

    /// A camera at a named side points straight at an object, with the top of the picture up or north.
    #[test]
    fn named_sides_of_objects_are_exact() {
        let corners = (DVec3::ZERO, DVec3::new(40.0, 30.0, 20.0));
        let perspective = Projection::Perspective { fov_y: FOV_Y };
        for (side, forward, up) in [
            (ViewSide::Front, Vec3::NEG_Z, Vec3::Y),
            (ViewSide::Back, Vec3::Z, Vec3::Y),
            (ViewSide::Left, Vec3::X, Vec3::Y),
            (ViewSide::Right, Vec3::NEG_X, Vec3::Y),
            (ViewSide::Top, Vec3::NEG_Y, Vec3::NEG_Z),
            (ViewSide::Bottom, Vec3::Y, Vec3::Z),
        ] {
            let framing = Framing::of_model(corners);
            let camera = framing.camera(Side::named(side), perspective, 1.5);
            let [_, is_up, is_forward] = camera.basis();
            let off = (is_up - up).length().max((is_forward - forward).length());
            assert!(off < 1e-5, "{side:?}: {is_forward}, {is_up} up");
        }
    }
}
