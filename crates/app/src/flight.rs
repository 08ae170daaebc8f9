//! Camera movement by held keys, mouse and touch. Independent of any window; the caller passes key
//! and pointer events.

use std::{collections::HashSet, f32::consts::FRAC_PI_2, time::Duration};

use drystone_render::Camera;
use glam::{DVec3, Vec3};

/// Key that moves or turns the camera while it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlightKey {
    /// Moves forward.
    Forward,
    /// Moves back.
    Back,
    /// Moves left.
    Left,
    /// Moves right.
    Right,
    /// Moves straight up, whatever the pitch.
    Up,
    /// Moves straight down.
    Down,
    /// Turns to the left.
    TurnLeft,
    /// Turns to the right.
    TurnRight,
    /// Turns up.
    TurnUp,
    /// Turns down.
    TurnDown,
    /// Makes all other keys faster: the left one.
    FastLeft,
    /// Makes all other keys faster: the right one.
    FastRight,
}

impl FlightKey {
    const fn is_fast(self) -> bool {
        matches!(self, Self::FastLeft | Self::FastRight)
    }
}

/// Movement of a walker by the held keys.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stride {
    /// Horizontal direction, of length at most 1.
    pub direction: DVec3,
    /// Whether to jump.
    pub jumps: bool,
    /// Whether to run.
    pub runs: bool,
}

/// Moves a camera by held keys, mouse and touch.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use drystone::{Flight, FlightKey};
/// use drystone_render::Camera;
///
/// // Crosses 80 voxels in eight seconds.
/// let (mut flight, mut camera) = (Flight::new(80.0), Camera::default());
/// flight.press(FlightKey::Forward);
/// flight.step(&mut camera, Duration::from_millis(50));
/// assert!((camera.position.z + 0.5).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct Flight {
    held: HashSet<FlightKey>,
    /// Voxels per second.
    speed: f64,
}

/// Radians per second that the arrow keys turn.
const TURN_SPEED: f32 = 1.2;
/// Radians that a pixel of mouse movement turns.
const MOUSE_TURN: f32 = 0.0025;
/// Speed factor of Shift.
const FAST: f64 = 4.0;
/// Minimum and maximum speed, in voxels per second.
const SPEED_RANGE: [f64; 2] = [1.0, 5_000.0];
/// Longest time step in seconds; longer frames move no farther.
const MAX_STEP_SECONDS: f64 = 0.1;
/// Seconds of flight for a two-finger slide over the picture's height, or for a doubling of the
/// distance between two fingers.
const FINGERS_SECONDS: f64 = 2.0;

impl Flight {
    /// Creates a flight that crosses `extent` voxels in about eight seconds.
    pub fn new(extent: f64) -> Self {
        let [min, max] = SPEED_RANGE;
        Self { held: HashSet::new(), speed: (extent / 8.0).clamp(min, max) }
    }

    /// Records a key as pressed. Returns whether that starts a movement.
    pub fn press(&mut self, key: FlightKey) -> bool {
        self.held.insert(key) && !key.is_fast()
    }

    /// Records a key as released. Returns whether that stops a movement.
    pub fn release(&mut self, key: FlightKey) -> bool {
        self.held.remove(&key) && !key.is_fast()
    }

    /// Releases all keys.
    pub fn release_all(&mut self) {
        self.held.clear();
    }

    /// Whether a held key moves the camera.
    pub fn is_moving(&self) -> bool {
        self.held.iter().any(|key| !key.is_fast())
    }

    /// Changes the speed by notches of a mouse wheel.
    pub fn wheel(&mut self, notches: f64) {
        let [slowest, fastest] = SPEED_RANGE;
        self.speed = (self.speed * 1.2f64.powf(notches.clamp(-10.0, 10.0))).clamp(slowest, fastest);
    }

    /// Turns by a movement of the mouse, in pixels.
    pub fn turn(&self, camera: &mut Camera, [x, y]: [f64; 2]) {
        turn(camera, -x as f32 * MOUSE_TURN, -y as f32 * MOUSE_TURN);
    }

    /// Moves the camera as if the scene were dragged, in parts of the picture's height.
    pub fn slide(&self, camera: &mut Camera, [x, y]: [f64; 2]) {
        let [right, up, _] = camera.basis().map(Vec3::as_dvec3);
        camera.position += (up * y - right * x) * (self.speed * FINGERS_SECONDS);
    }

    /// Moves forward by the factor between the new and the old distance of two fingers.
    pub fn pinch(&self, camera: &mut Camera, factor: f64) {
        let forward = camera.basis()[2].as_dvec3();
        let doublings = factor.log2();
        if doublings.is_finite() {
            camera.position += forward * (doublings * self.speed * FINGERS_SECONDS);
        }
    }

    /// Moves and turns by the keys held for `time`.
    pub fn step(&self, camera: &mut Camera, time: Duration) {
        use FlightKey as Key;
        if !self.is_moving() {
            return;
        }
        self.turn_held(camera, time);
        let [right, _, forward] = camera.basis();
        let direction = right * self.axis(Key::Right, Key::Left)
            + forward * self.axis(Key::Forward, Key::Back)
            + Vec3::Y * self.axis(Key::Up, Key::Down);
        let speed = self.speed * if self.is_fast() { FAST } else { 1.0 };
        camera.position +=
            DVec3::from(direction.normalize_or_zero()) * (speed * Self::seconds(time));
    }

    /// Turns by the keys held for `time`.
    pub(crate) fn turn_held(&self, camera: &mut Camera, time: Duration) {
        use FlightKey as Key;
        let angle = TURN_SPEED * Self::seconds(time) as f32;
        let [left, up] = [(Key::TurnLeft, Key::TurnRight), (Key::TurnUp, Key::TurnDown)]
            .map(|(plus, minus)| self.axis(plus, minus) * angle);
        turn(camera, left, up);
    }

    /// Returns the movement of a walker in the camera's direction; the up key jumps.
    pub(crate) fn stride(&self, camera: &Camera) -> Stride {
        use FlightKey as Key;
        let (sin, cos) = camera.yaw.sin_cos();
        let (right, forward) = (Vec3::new(cos, 0.0, -sin), Vec3::new(-sin, 0.0, -cos));
        let direction =
            right * self.axis(Key::Right, Key::Left) + forward * self.axis(Key::Forward, Key::Back);
        Stride {
            direction: DVec3::from(direction.normalize_or_zero()),
            jumps: self.held.contains(&Key::Up),
            runs: self.is_fast(),
        }
    }

    /// Returns the seconds of a frame of `time`, limited for movement.
    pub(crate) fn seconds(time: Duration) -> f64 {
        time.as_secs_f64().min(MAX_STEP_SECONDS)
    }

    /// Returns 1, −1 or 0, by which of two keys is held.
    fn axis(&self, plus: FlightKey, minus: FlightKey) -> f32 {
        f32::from(i8::from(self.held.contains(&plus)) - i8::from(self.held.contains(&minus)))
    }

    fn is_fast(&self) -> bool {
        self.held.iter().any(|key| key.is_fast())
    }
}

fn turn(camera: &mut Camera, left: f32, up: f32) {
    /// Just below straight up, where left and right would swap.
    const MAX_PITCH: f32 = FRAC_PI_2 - 0.01;
    camera.yaw = (camera.yaw + left) % std::f32::consts::TAU;
    camera.pitch = (camera.pitch + up).clamp(-MAX_PITCH, MAX_PITCH);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_moves_where_the_camera_looks() {
        let mut flight = Flight::new(80.0);
        let mut camera = Camera::default();
        assert!(flight.press(FlightKey::Forward) && flight.is_moving());
        flight.step(&mut camera, Duration::from_millis(50));
        assert!((camera.position - DVec3::new(0.0, 0.0, -0.5)).length() < 1e-6);
        // A long frame is limited to a short move.
        flight.step(&mut camera, Duration::from_secs(9));
        assert!((camera.position.z + 1.5).abs() < 1e-6);
        assert!(flight.release(FlightKey::Forward) && !flight.is_moving());
        assert!(!flight.release(FlightKey::Forward));
    }

    #[test]
    fn shift_alone_does_not_move() {
        let mut flight = Flight::new(80.0);
        assert!(!flight.press(FlightKey::FastLeft) && !flight.is_moving());
        flight.press(FlightKey::Right);
        let mut camera = Camera::default();
        flight.step(&mut camera, Duration::from_millis(100));
        assert!((camera.position.x - 4.0).abs() < 1e-5);
        flight.release_all();
        flight.step(&mut camera, Duration::from_millis(100));
        assert!((camera.position.x - 4.0).abs() < 1e-5);
    }

    /// Strides follow the camera's yaw and stay horizontal for any pitch.
    #[test]
    fn strides_are_horizontal_and_follow_the_camera() {
        let mut flight = Flight::new(80.0);
        flight.press(FlightKey::Forward);
        for (yaw, pitch) in [(0.0, 0.0), (0.7, 1.2), (-2.5, -1.5), (4.0, 0.3)] {
            let camera = Camera { yaw, pitch, ..Camera::default() };
            let forward = camera.basis()[2];
            let level = DVec3::new(forward.x.into(), 0.0, forward.z.into()).normalize();
            let stride = flight.stride(&camera);
            assert!((stride.direction - level).length() < 1e-5, "{yaw} {pitch}: {stride:?}");
        }
        flight.press(FlightKey::Right);
        let direction = flight.stride(&Camera::default()).direction;
        assert!(direction.x > 0.7 && direction.z < -0.7 && direction.y == 0.0, "{direction:?}");
    }

    #[test]
    fn tilt_stops_short_of_the_pole() {
        let mut camera = Camera::default();
        Flight::new(1.0).turn(&mut camera, [0.0, -1e6]);
        assert!(camera.pitch < FRAC_PI_2 && camera.pitch > 1.5);
    }

    #[test]
    fn two_fingers_drag_the_scene_and_spreading_moves_closer() {
        let (flight, mut camera) = (Flight::new(80.0), Camera::default());
        // The scene follows the fingers to the right and down, so the camera moves left and up.
        flight.slide(&mut camera, [0.5, 0.25]);
        assert!(
            (camera.position - DVec3::new(-10.0, 5.0, 0.0)).length() < 1e-5,
            "{}",
            camera.position
        );
        camera.position = DVec3::ZERO;
        flight.pinch(&mut camera, 2.0);
        assert!(
            (camera.position - DVec3::new(0.0, 0.0, -20.0)).length() < 1e-5,
            "{}",
            camera.position
        );
        // Degenerate distances of fingers move nothing.
        for factor in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            flight.pinch(&mut camera, factor);
        }
        assert!((camera.position.z + 20.0).abs() < 1e-5);
    }
}
