use std::time::Duration;

use drystone_render::{Atmosphere, Camera, Samples, View};
use drystone_world::VoxelRay;
use glam::DVec3;

use crate::scene::{self, HAZE_BEGINS, Size, VoxelScene, ray_through};
use crate::{
    Action, CameraKind, CameraOptions, Flight, Framed, Haze, Look, Orbit, ViewOptions, Walk,
};

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
    pub(super) movement: Movement,
}

/// State of a camera's kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Movement {
    Orbit(Orbit),
    Fly,
    Walk(Walk),
}

/// Factor by which a notch of the wheel moves an orbiting camera closer.
const NOTCH_ZOOM: f64 = 1.2;

/// Longest time step of the haze, for instance after a pause.
const MAX_HAZE_STEP: Duration = Duration::from_millis(100);

impl CameraControl {
    pub(super) fn new(framed: Framed, options: ViewOptions) -> Self {
        let (min, max) = framed.corners();
        let view = framed.view(&options);
        let movement = match framed.is_object() {
            true => Movement::Orbit(orbit(&framed, &view.camera, &options)),
            false => Movement::Fly,
        };
        Self {
            view,
            framed,
            options,
            clear_air: framed.clear_air(&options),
            is_haze_moving: false,
            flight: Flight::new((max - min).max_element()),
            movement,
        }
    }

    /// Sets whether haze hides the edge of a vast world; the camera stays.
    pub(super) fn set_edge_haze(&mut self, has_edge_haze: bool) {
        let framed = self.framed.with_edge_haze(has_edge_haze);
        self.view.atmosphere = framed.view(&self.options).atmosphere;
        (self.framed, self.clear_air) = (framed, framed.clear_air(&self.options));
    }

    /// Copies the number of samples, the shadows, sky light and bloom of another session.
    pub(super) fn copy_quality(&mut self, other: &Self) {
        self.set_samples(other.options.samples);
        self.view.shadows = other.view.shadows;
        self.options.look.shadows = other.view.shadows;
        self.view.sky_light = other.view.sky_light;
        self.options.look.sky_light = other.view.sky_light;
        self.view.bloom = other.view.bloom;
        self.options.look.bloom = other.view.bloom;
    }

    /// Copies the camera of another session. One that walks there flies here.
    pub(super) const fn look_from(&mut self, other: &Self) {
        self.view.camera = other.view.camera;
        self.movement = match other.movement {
            Movement::Walk(_) => Movement::Fly,
            orbit_or_fly => orbit_or_fly,
        };
    }

    /// Executes an action that concerns only camera, light or air. Returns any other.
    pub(super) fn apply(&mut self, action: Action) -> Option<Action> {
        let height = f64::from(self.options.size.height);
        let Self { view, flight, options, movement, .. } = self;
        let camera = &mut view.camera;
        match action {
            Action::ReleaseAll => flight.release_all(),
            Action::Turn(pixels) | Action::Drag(pixels) => match (movement, action) {
                (Movement::Orbit(orbit), _) => orbit.turn(camera, pixels.map(|it| it / height)),
                (_, Action::Drag(_)) => flight.turn(camera, pixels.map(|it| -it)),
                _ => flight.turn(camera, pixels),
            },
            Action::Pan(pixels) => {
                let by = pixels.map(|it| it / height);
                match movement {
                    Movement::Orbit(orbit) => orbit.pan(camera, by),
                    Movement::Fly => flight.slide(camera, by),
                    Movement::Walk(_) => {}
                }
            }
            Action::LookFrom(side) => self.orbit().look_from(&mut self.view.camera, side),
            Action::Step(steps) => self.orbit().step(&mut self.view.camera, steps),
            Action::Fit => self.fit(),
            Action::Projection => {
                let mut orbit = self.orbit();
                orbit.change_projection(&mut self.view.camera);
                self.movement = Movement::Orbit(orbit);
                self.options.orthographic ^= true;
            }
            Action::Go(position) => self.go(position),
            Action::Home => self.go_home(),
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
            Action::Bloom => {
                view.bloom ^= true;
                options.look.bloom = view.bloom;
            }
            Action::Hour(hour) => {
                options.look.hour = hour;
                view.atmosphere = self.framed.lit(view.atmosphere, options);
            }
            Action::Speed(factor) => flight.set_factor(factor),
            Action::Haze(end) => {
                view.atmosphere = view.atmosphere.with_haze(end * HAZE_BEGINS, end, 1.0);
                options.look.haze = Some(Haze::Distance(end));
            }
            other => return Some(other),
        }
        None
    }

    /// Moves the camera to a position. A walker is placed on the ground there.
    fn go(&mut self, position: DVec3) {
        self.flight.stop();
        self.view.camera.position = position;
        if let Movement::Walk(walk) = &mut self.movement {
            *walk = Walk::default();
        }
    }

    /// Moves the camera to the start. A walker flies there: it may be far above the ground.
    fn go_home(&mut self) {
        self.flight.stop();
        // The size of the picture may have changed.
        self.view.camera = self.framed.view(&self.options).camera;
        self.movement = match self.movement {
            Movement::Orbit(_) => {
                Movement::Orbit(orbit(&self.framed, &self.view.camera, &self.options))
            }
            Movement::Walk(_) | Movement::Fly => Movement::Fly,
        };
    }

    /// Shows the whole scene from the current direction, and orbits around its middle.
    fn fit(&mut self) {
        self.flight.stop();
        let camera = self.framed.fitted(&self.view.camera, self.options.size.aspect());
        self.view.camera = camera;
        let distance = (self.framed.middle() - camera.position).length();
        self.movement = Movement::Orbit(Orbit::new(distance));
    }

    /// Begins to orbit, unless the camera does, and returns the orbit. Its target is at the distance
    /// of the scene's middle.
    pub(super) fn orbit(&mut self) -> Orbit {
        match self.movement {
            Movement::Orbit(orbit) => orbit,
            _ => {
                let orbit = orbit(&self.framed, &self.view.camera, &self.options);
                self.flight.stop();
                self.movement = Movement::Orbit(orbit);
                orbit
            }
        }
    }

    /// Begins to fly.
    pub(super) const fn fly(&mut self) {
        self.flight.stop();
        self.movement = Movement::Fly;
    }

    /// Begins to walk in a scene within the box `corners`.
    pub(super) fn walk(&mut self, scene: &VoxelScene, corners: (DVec3, DVec3)) {
        self.flight.stop();
        self.movement = Movement::Walk(Walk::start(&mut self.view.camera, scene, corners));
    }

    /// Handles the wheel at a point of the picture, in pixels from the top left. `hit` is what lies
    /// there, in voxels.
    pub(super) fn wheel(&mut self, notches: f64, at: [f64; 2], hit: Option<DVec3>) {
        match self.movement {
            Movement::Orbit(_) => {
                self.zoom(NOTCH_ZOOM.powf(notches.clamp(-10.0, 10.0)), at, hit);
            }
            _ => self.flight.wheel(notches),
        }
    }

    /// Moves closer by a factor towards a point of the picture, in pixels from the top left. `hit` is
    /// what lies there, in voxels. A walker stays.
    pub(super) fn zoom(&mut self, factor: f64, at: [f64; 2], hit: Option<DVec3>) {
        let ray = self.ray(at);
        let camera = &mut self.view.camera;
        match &mut self.movement {
            Movement::Orbit(orbit) => {
                let [origin, direction] = [ray.origin, ray.direction].map(DVec3::from_array);
                let forward = camera.basis()[2].as_dvec3();
                let depth = (orbit.target(camera) - origin).dot(forward) / direction.dot(forward);
                orbit.zoom(camera, factor, hit.unwrap_or(origin + direction * depth));
            }
            Movement::Fly => {
                let direction = DVec3::from_array(ray.direction).normalize_or_zero();
                let point = camera.position + direction * self.flight.clearance();
                self.flight.pinch(camera, factor, hit.unwrap_or(point));
            }
            Movement::Walk(_) => {}
        }
    }

    /// Centres a point, in voxels, and orbits around it.
    pub(super) fn focus(&mut self, point: DVec3) {
        let mut orbit = self.orbit();
        orbit.focus(&mut self.view.camera, point);
        self.movement = Movement::Orbit(orbit);
    }

    /// Moves the haze towards one that hides the edge of a vast world, unless the user chose another.
    pub(super) fn follow_haze(&mut self, time: Duration) {
        self.is_haze_moving = false;
        if let Some(clear) = self.clear_air.filter(|_| self.options.look.haze.is_none()) {
            let now = self.view.atmosphere;
            let goal = scene::edge_haze(clear, &self.view.camera, self.framed.corners());
            self.view.atmosphere = scene::haze_towards(now, &goal, time.min(MAX_HAZE_STEP));
            self.is_haze_moving = self.view.atmosphere != now;
        }
    }

    /// Sets the near and far distances for content within the box.
    pub(super) fn reach(&mut self, (min, max): (DVec3, DVec3)) {
        scene::reach(&mut self.view.camera, min, max);
    }

    /// Returns what is drawn.
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// Returns the camera as options of the program.
    pub fn as_options(&self) -> CameraOptions {
        let camera = &self.view.camera;
        let distance = self.framed.target_distance(camera, &self.options);
        self.framed.camera_options(camera, distance)
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

    /// Returns how the camera moves.
    pub const fn kind(&self) -> CameraKind {
        match self.movement {
            Movement::Orbit(_) => CameraKind::Orbit,
            Movement::Fly => CameraKind::Fly,
            Movement::Walk(_) => CameraKind::Walk,
        }
    }

    /// Returns how the camera of this content moves at first: around a single object, through a world.
    pub const fn default_kind(&self) -> CameraKind {
        if self.framed.is_object() { CameraKind::Orbit } else { CameraKind::Fly }
    }

    /// Returns the factor of the speed of flight that the wheel chose, 1 at first.
    pub const fn speed_factor(&self) -> f64 {
        self.flight.factor()
    }

    /// Returns the speed of flight in words, such as `35 voxels/s` or `42 voxels/s (×1.20)` with a factor
    /// that the wheel chose.
    pub fn speed_text(&self) -> String {
        let speed = self.flight.speed();
        let digits = usize::from(speed < 10.0);
        match self.flight.has_factor() {
            true => format!("{speed:.digits$} voxels/s (×{:.2})", self.flight.factor()),
            false => format!("{speed:.digits$} voxels/s"),
        }
    }

    /// Returns how the camera moves in words, for a status line: empty, or followed by ` | `.
    pub fn movement_text(&self) -> String {
        match self.movement {
            Movement::Walk(_) => "walking | ".into(),
            Movement::Fly if self.flight.is_moving() || self.flight.has_factor() => {
                format!("flying {} | ", self.speed_text())
            }
            Movement::Fly | Movement::Orbit(_) => String::new(),
        }
    }

    /// Whether a held key, the end of a flight or gravity moves the camera.
    pub fn is_moving(&self) -> bool {
        let falls = matches!(self.movement, Movement::Walk(walk) if !walk.is_at_rest());
        falls || self.flight.is_moving()
    }

    /// Whether haze is still changing to its target.
    pub(super) const fn is_haze_moving(&self) -> bool {
        self.is_haze_moving
    }
}

/// Returns the orbit of a camera around the point of its view axis that is nearest to the target of the
/// options. A target beside or behind the camera is replaced by one a little before it.
fn orbit(framed: &Framed, camera: &Camera, options: &ViewOptions) -> Orbit {
    Orbit::new(framed.target_distance(camera, options))
}
