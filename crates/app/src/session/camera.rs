use std::time::Duration;

use drystone_render::{Atmosphere, Samples, View};
use drystone_world::VoxelRay;
use glam::DVec3;

use crate::scene::{self, HAZE_BEGINS, Size, VoxelScene, ray_through};
use crate::{Action, Flight, Framed, Haze, Look, ViewOptions, Walk};

/// Camera, light and air of a session, and their movements.
pub struct CameraControl {
    pub(super) view: View,
    framed: Framed,
    pub(super) options: ViewOptions,
    /// Atmosphere before haze hides the edge of a vast world.
    clear_air: Option<Atmosphere>,
    /// Whether haze is still changing to its target.
    is_haze_moving: bool,
    pub(super) flight: Flight,
    /// Walking; `None` while flying.
    walk: Option<Walk>,
}

/// Longest time step of the haze, for instance after a pause.
const MAX_HAZE_STEP: Duration = Duration::from_millis(100);

impl CameraControl {
    pub(super) fn new(framed: Framed, options: ViewOptions) -> Self {
        let (min, max) = framed.corners();
        Self {
            view: framed.view(&options),
            framed,
            options,
            clear_air: framed.clear_air(&options),
            is_haze_moving: false,
            flight: Flight::new((max - min).max_element()),
            walk: None,
        }
    }

    /// Sets whether haze hides the edge of a vast world; the camera stays.
    pub(super) fn set_edge_haze(&mut self, has_edge_haze: bool) {
        let framed = self.framed.with_edge_haze(has_edge_haze);
        self.view.atmosphere = framed.view(&self.options).atmosphere;
        (self.framed, self.clear_air) = (framed, framed.clear_air(&self.options));
    }

    /// Copies the number of samples, the shadows and sky light of another session.
    pub(super) fn copy_quality(&mut self, other: &Self) {
        self.set_samples(other.options.samples);
        self.view.shadows = other.view.shadows;
        self.options.look.shadows = other.view.shadows;
        self.view.sky_light = other.view.sky_light;
        self.options.look.sky_light = other.view.sky_light;
    }

    /// Copies the camera of another session.
    pub(super) const fn look_from(&mut self, other: &Self) {
        self.view.camera = other.view.camera;
    }

    /// Executes an action that concerns only camera, light or air. Returns any other.
    pub(super) fn apply(&mut self, action: Action) -> Option<Action> {
        let Self { view, flight, options, .. } = self;
        match action {
            Action::ReleaseAll => flight.release_all(),
            Action::Turn(pixels) => flight.turn(&mut view.camera, pixels),
            Action::Wheel(notches) => flight.wheel(notches),
            Action::Fingers(by, spread) => {
                flight.slide(&mut view.camera, by);
                flight.pinch(&mut view.camera, spread);
            }
            Action::Go(position) => view.camera.position = position,
            // The size of the picture may have changed.
            Action::Home => view.camera = self.framed.view(options).camera,
            Action::FaceMask => view.mask_back_faces ^= true,
            Action::Frustum => view.cull_frustum ^= true,
            Action::Sort => view.sort_opaque ^= true,
            Action::Tint => {
                view.tint_levels ^= true;
                options.look.tint_levels = view.tint_levels;
            }
            Action::Wire => {
                view.wire ^= true;
                options.look.wire = view.wire;
            }
            Action::Shadows => {
                view.shadows ^= true;
                options.look.shadows = view.shadows;
            }
            Action::SkyLight => {
                view.sky_light ^= true;
                options.look.sky_light = view.sky_light;
            }
            Action::Hour(hour) => {
                view.atmosphere = view.atmosphere.with_hour(hour);
                options.look.hour = Some(hour);
            }
            Action::Haze(end) => {
                view.atmosphere = view.atmosphere.with_haze(end * HAZE_BEGINS, end, 1.0);
                options.look.haze = Some(Haze::Distance(end));
            }
            other => return Some(other),
        }
        None
    }

    /// Ends walking. Returns false if the camera flies.
    pub(super) fn stop_walking(&mut self) -> bool {
        self.walk.take().is_some()
    }

    /// Begins to walk in a scene within the box `corners`.
    pub(super) fn start_walking(&mut self, scene: &VoxelScene, corners: (DVec3, DVec3)) {
        self.walk = Some(Walk::start(&mut self.view.camera, scene, corners));
    }

    /// Moves the camera by the keys held for `time`, and the haze towards one that hides the edge
    /// of a vast world. `scene` is that of a walker.
    pub(super) fn travel(&mut self, time: Duration, scene: Option<&VoxelScene>) {
        let camera = &mut self.view.camera;
        match (&mut self.walk, scene) {
            (Some(walk), Some(scene)) => {
                walk.travel(camera, &self.flight, scene, self.framed.corners().0.y, time);
            }
            (Some(_), None) => {}
            (None, _) => self.flight.step(camera, time),
        }
        self.is_haze_moving = self.follow_haze(time);
    }

    /// Moves the haze, unless the user chose another. Returns whether it still changes.
    fn follow_haze(&mut self, time: Duration) -> bool {
        let Some(clear) = self.clear_air.filter(|_| self.options.look.haze.is_none()) else {
            return false;
        };
        let now = self.view.atmosphere;
        let goal = scene::edge_haze(clear, &self.view.camera, self.framed.corners());
        self.view.atmosphere = scene::haze_towards(now, &goal, time.min(MAX_HAZE_STEP));
        self.view.atmosphere != now
    }

    /// Sets the near and far distances for content within the box.
    pub(super) fn reach(&mut self, (min, max): (DVec3, DVec3)) {
        scene::reach(&mut self.view.camera, min, max);
    }

    /// Returns what is drawn.
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// Returns the size of the picture.
    pub const fn size(&self) -> Size {
        self.options.size
    }

    /// Returns the requested number of samples in each pixel. A device may draw fewer.
    pub const fn samples(&self) -> Samples {
        self.options.samples
    }

    /// Returns the number of samples after the current one.
    pub(super) fn next_samples(&self) -> Samples {
        let all = Samples::ALL;
        let now = all.iter().position(|it| *it == self.options.samples);
        all[now.map_or(0, |now| (now + 1) % all.len())]
    }

    /// Sets the number of samples, and what depends on it.
    pub(super) fn set_samples(&mut self, samples: Samples) {
        self.options.samples = samples;
        self.view.fade_far = samples != Samples::One;
    }

    /// Returns the current light, air and colours.
    pub const fn look(&self) -> Look {
        self.options.look
    }

    /// Returns the lowest and the highest corner of the content, in voxels.
    pub const fn corners(&self) -> (DVec3, DVec3) {
        self.framed.corners()
    }

    /// Returns the ray through a point of the picture, in pixels from the top left.
    pub fn ray(&self, [x, y]: [f64; 2]) -> VoxelRay {
        let Size { width, height } = self.options.size;
        let part = |at: f64, side: u32| 2.0 * at / f64::from(side) - 1.0;
        ray_through(
            &self.view.camera,
            [part(x, width), -part(y, height)],
            self.options.size.aspect(),
        )
    }

    /// Whether the camera walks.
    pub const fn is_walking(&self) -> bool {
        self.walk.is_some()
    }

    /// Whether a held key or gravity moves the camera.
    pub fn is_moving(&self) -> bool {
        self.flight.is_moving() || self.walk.is_some_and(|walk| !walk.is_on_ground())
    }

    /// Whether haze is still changing to its target.
    pub(super) const fn is_haze_moving(&self) -> bool {
        self.is_haze_moving
    }
}
