//! Moves cameras by held keys, by the mouse and by fingers. It has no window; whoever has one
//! tells it of its keys and pointers.

use std::{collections::HashSet, f32::consts::FRAC_PI_2, time::Duration};

use drystone_render::Camera;
use glam::{DVec3, Vec3};

/// A key that flies or turns while it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlightKey {
    /// Where the camera looks.
    Forward,
    /// The other way.
    Back,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Straight up, wherever the camera looks.
    Up,
    /// Straight down.
    Down,
    /// Turns to the left.
    TurnLeft,
    /// Turns to the right.
    TurnRight,
    /// Looks up.
    TurnUp,
    /// Looks down.
    TurnDown,
    /// Does nothing alone, and makes all others faster: the left one.
    FastLeft,
    /// The same on the right.
    FastRight,
}

impl FlightKey {
    /// The key of this place on the keyboard, named as the web's standards do: `"KeyW"`,
    /// `"ArrowLeft"`. `None` for those that do not fly.
    pub fn of_code(code: &str) -> Option<Self> {
        Some(match code {
            "KeyW" => Self::Forward,
            "KeyS" => Self::Back,
            "KeyA" => Self::Left,
            "KeyD" => Self::Right,
            "Space" => Self::Up,
            "KeyQ" => Self::Down,
            "ArrowLeft" => Self::TurnLeft,
            "ArrowRight" => Self::TurnRight,
            "ArrowUp" => Self::TurnUp,
            "ArrowDown" => Self::TurnDown,
            "ShiftLeft" => Self::FastLeft,
            "ShiftRight" => Self::FastRight,
            _ => return None,
        })
    }

    const fn is_fast(self) -> bool {
        matches!(self, Self::FastLeft | Self::FastRight)
    }
}

/// What held keys mean to somebody who walks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stride {
    /// Where to: of length 1 at the most, level.
    pub way: DVec3,
    /// Whether to jump.
    pub jumps: bool,
    /// Whether to run.
    pub runs: bool,
}

/// Moves a camera by held keys, by the mouse and by fingers.
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
/// flight.key(FlightKey::Forward, true);
/// flight.step(&mut camera, Duration::from_millis(50));
/// assert!((camera.position.z + 0.5).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct Flight {
    held: HashSet<FlightKey>,
    /// Voxels a second.
    speed: f64,
}

/// Radians a second that the arrow keys turn.
const TURN_SPEED: f32 = 1.2;
/// Radians that a pixel of mouse movement turns.
const MOUSE_TURN: f32 = 0.0025;
/// How much faster Shift is.
const FAST: f64 = 4.0;
/// Slowest and fastest, in voxels a second.
const SPEED_RANGE: [f64; 2] = [1.0, 5_000.0];
/// A frame that took longer moves no farther than this, in seconds.
const LONGEST_STEP: f64 = 0.1;
/// Seconds of flight that two fingers make when they slide over the picture's height, or move
/// to twice the distance from each other.
const FINGERS_SECONDS: f64 = 2.0;

impl Flight {
    /// A flight that crosses `extent` voxels in about eight seconds.
    pub fn new(extent: f64) -> Self {
        let [slowest, fastest] = SPEED_RANGE;
        Self { held: HashSet::new(), speed: (extent / 8.0).clamp(slowest, fastest) }
    }

    /// Notes that a key is held or let go; whether that moves or stops anything.
    pub fn key(&mut self, key: FlightKey, pressed: bool) -> bool {
        let changed = if pressed { self.held.insert(key) } else { self.held.remove(&key) };
        changed && !key.is_fast()
    }

    /// No key is held any more.
    pub fn release_all(&mut self) {
        self.held.clear();
    }

    /// Whether a held key moves the camera.
    pub fn is_moving(&self) -> bool {
        self.held.iter().any(|key| !key.is_fast())
    }

    /// Flies faster or slower from now on, by notches of a mouse's wheel.
    pub fn wheel(&mut self, notches: f64) {
        let [slowest, fastest] = SPEED_RANGE;
        self.speed = (self.speed * 1.2f64.powf(notches.clamp(-10.0, 10.0))).clamp(slowest, fastest);
    }

    /// Turns by a movement of the mouse, in pixels.
    pub fn turn(&self, camera: &mut Camera, [x, y]: [f64; 2]) {
        turn(camera, -x as f32 * MOUSE_TURN, -y as f32 * MOUSE_TURN);
    }

    /// Moves as if the scene were dragged, by parts of the picture's height.
    pub fn slide(&self, camera: &mut Camera, [x, y]: [f64; 2]) {
        let [right, up, _] = camera.basis().map(Vec3::as_dvec3);
        camera.position += (up * y - right * x) * (self.speed * FINGERS_SECONDS);
    }

    /// Moves forward by how many times farther from each other two fingers are than before.
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
        let way = right * self.axis(Key::Right, Key::Left)
            + forward * self.axis(Key::Forward, Key::Back)
            + Vec3::Y * self.axis(Key::Up, Key::Down);
        let speed = self.speed * if self.is_fast() { FAST } else { 1.0 };
        camera.position += DVec3::from(way.normalize_or_zero()) * (speed * Self::seconds(time));
    }

    /// Turns by the keys held for `time`.
    pub fn turn_held(&self, camera: &mut Camera, time: Duration) {
        use FlightKey as Key;
        let angle = TURN_SPEED * Self::seconds(time) as f32;
        let [left, up] = [(Key::TurnLeft, Key::TurnRight), (Key::TurnUp, Key::TurnDown)]
            .map(|(plus, minus)| self.axis(plus, minus) * angle);
        turn(camera, left, up);
    }

    /// What the keys mean to somebody who walks as the camera looks, up and down left out.
    pub fn stride(&self, camera: &Camera) -> Stride {
        use FlightKey as Key;
        let (sin, cos) = camera.yaw.sin_cos();
        let (right, forward) = (Vec3::new(cos, 0.0, -sin), Vec3::new(-sin, 0.0, -cos));
        let way =
            right * self.axis(Key::Right, Key::Left) + forward * self.axis(Key::Forward, Key::Back);
        Stride {
            way: DVec3::from(way.normalize_or_zero()),
            jumps: self.held.contains(&Key::Up),
            runs: self.is_fast(),
        }
    }

    /// Seconds of a frame that took `time`, as far as they move anything.
    pub fn seconds(time: Duration) -> f64 {
        time.as_secs_f64().min(LONGEST_STEP)
    }

    /// 1, −1 or 0, by which of both keys is held.
    fn axis(&self, plus: FlightKey, minus: FlightKey) -> f32 {
        f32::from(i8::from(self.held.contains(&plus)) - i8::from(self.held.contains(&minus)))
    }

    fn is_fast(&self) -> bool {
        self.held.iter().any(|key| key.is_fast())
    }
}

fn turn(camera: &mut Camera, left: f32, up: f32) {
    /// Short of straight up, where left and right would swap.
    const STEEPEST: f32 = FRAC_PI_2 - 0.01;
    camera.yaw = (camera.yaw + left) % std::f32::consts::TAU;
    camera.pitch = (camera.pitch + up).clamp(-STEEPEST, STEEPEST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_moves_where_the_camera_looks() {
        let mut flight = Flight::new(80.0);
        let mut camera = Camera::default();
        assert!(flight.key(FlightKey::Forward, true) && flight.is_moving());
        flight.step(&mut camera, Duration::from_millis(50));
        assert!((camera.position - DVec3::new(0.0, 0.0, -0.5)).length() < 1e-6);
        // A long pause is no long jump.
        flight.step(&mut camera, Duration::from_secs(9));
        assert!((camera.position.z + 1.5).abs() < 1e-6);
        assert!(flight.key(FlightKey::Forward, false) && !flight.is_moving());
        assert!(!flight.key(FlightKey::Forward, false));
    }

    #[test]
    fn shift_alone_does_not_move() {
        let mut flight = Flight::new(80.0);
        assert!(!flight.key(FlightKey::FastLeft, true) && !flight.is_moving());
        flight.key(FlightKey::Right, true);
        let mut camera = Camera::default();
        flight.step(&mut camera, Duration::from_millis(100));
        assert!((camera.position.x - 4.0).abs() < 1e-5);
        flight.release_all();
        flight.step(&mut camera, Duration::from_millis(100));
        assert!((camera.position.x - 4.0).abs() < 1e-5);
    }

    /// Who walks goes where the camera looks, whatever way that is tilted.
    #[test]
    fn strides_are_level_and_where_the_camera_looks() {
        let mut flight = Flight::new(80.0);
        flight.key(FlightKey::Forward, true);
        for (yaw, pitch) in [(0.0, 0.0), (0.7, 1.2), (-2.5, -1.5), (4.0, 0.3)] {
            let camera = Camera { yaw, pitch, ..Camera::default() };
            let forward = camera.basis()[2];
            let level = DVec3::new(forward.x.into(), 0.0, forward.z.into()).normalize();
            let stride = flight.stride(&camera);
            assert!((stride.way - level).length() < 1e-5, "{yaw} {pitch}: {stride:?}");
        }
        flight.key(FlightKey::Right, true);
        let way = flight.stride(&Camera::default()).way;
        assert!(way.x > 0.7 && way.z < -0.7 && way.y == 0.0, "{way:?}");
    }

    #[test]
    fn tilt_stops_short_of_the_pole() {
        let mut camera = Camera::default();
        Flight::new(1.0).turn(&mut camera, [0.0, -1e6]);
        assert!(camera.pitch < FRAC_PI_2 && camera.pitch > 1.5);
    }

    #[test]
    fn fingers_drag_the_scene_and_spread_to_come_nearer() {
        let (flight, mut camera) = (Flight::new(80.0), Camera::default());
        // To the right and down: what is seen goes there, so the eye goes left and up.
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
        // Fingers on one spot are no way to anywhere.
        for factor in [0.0, f64::NAN, f64::INFINITY, -1.0] {
            flight.pinch(&mut camera, factor);
        }
        assert!((camera.position.z + 20.0).abs() < 1e-5);
    }

    #[test]
    fn codes_name_the_keys_that_fly() {
        let codes = ["KeyW", "KeyA", "KeyS", "KeyD", "KeyQ", "Space", "ShiftLeft", "ShiftRight"];
        let arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
        let keys: HashSet<_> =
            codes.iter().chain(&arrows).filter_map(|code| FlightKey::of_code(code)).collect();
        assert_eq!(keys.len(), codes.len() + arrows.len());
        assert_eq!(FlightKey::of_code("KeyE"), None);
    }
}
