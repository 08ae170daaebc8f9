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
    /// Makes all other keys slower: the left one.
    SlowLeft,
    /// Makes all other keys slower: the right one.
    SlowRight,
}

impl FlightKey {
    /// Whether the key only changes the speed of others.
    const fn is_of_speed(self) -> bool {
        matches!(self, Self::FastLeft | Self::FastRight | Self::SlowLeft | Self::SlowRight)
    }
}

/// Movement of a walker by the held keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stride {
    /// Horizontal direction, of length at most 1.
    pub direction: DVec3,
    /// Whether to jump.
    pub jumps: bool,
    /// Factor of the speed by the keys that make others faster or slower.
    pub boost: f64,
}

/// Moves a camera by held keys, mouse and touch. The speed follows the distance to the nearest surface,
/// so that the camera creeps close to a voxel and crosses a large world from above. It starts and stops
/// smoothly.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use drystone::{Flight, FlightKey};
/// use drystone_render::Camera;
/// use glam::DVec3;
///
/// let (mut flight, mut camera) = (Flight::new(8_000.0), Camera::default());
/// flight.approach(100.0, DVec3::ZERO, Duration::ZERO);
/// assert_eq!(flight.speed(), 150.0);
/// flight.press(FlightKey::Forward);
/// flight.step(&mut camera, Duration::from_millis(50));
/// assert!(camera.position.z < 0.0 && camera.position.z > -150.0 * 0.05);
/// ```
#[derive(Clone, Debug)]
pub struct Flight {
    held: HashSet<FlightKey>,
    /// Largest side of the scene, in voxels.
    extent: f64,
    /// Distance to the nearest surface, in voxels; `None` before the first is known.
    clearance: Option<f64>,
    /// Offset of the camera from the box of the scene, in voxels; zero inside.
    outside: DVec3,
    /// Factor of the speed that the wheel chooses.
    factor: f64,
    /// Voxels per second.
    velocity: DVec3,
}

/// Radians per second that the arrow keys turn.
const TURN_SPEED: f32 = 1.2;
/// Radians that a pixel of mouse movement turns.
const MOUSE_TURN: f32 = 0.0025;
/// Speed factors of Shift and of Ctrl.
const FAST: f64 = 4.0;
const SLOW: f64 = 0.25;
/// Speed for each voxel of distance to the nearest surface, in 1/s: 150 voxels per second from 100
/// voxels above the ground.
const SPEED_BY_CLEARANCE: f64 = 1.5;
/// Minimum speed of the factor 1, in voxels per second.
const MIN_SPEED: f64 = 3.0;
/// Minimum time in which the factor 1 crosses the scene.
const CROSSING_SECONDS: f64 = 8.0;
/// Minimum and maximum factor of the wheel, and the factor of one notch.
const FACTORS: [f64; 2] = [1.0 / 32.0, 32.0];
const NOTCH: f64 = 1.2;
/// Time in which the velocity moves by 63 % to that of the held keys, and the distance to the nearest
/// surface to a larger one. A smaller one counts at once.
const ACCELERATION_SECONDS: f64 = 0.12;
const SPEED_UP_SECONDS: f64 = 0.25;
/// Part of the speed at which a camera without held keys stops.
const STOP_PART: f64 = 0.01;
/// Longest time step in seconds; longer frames move no farther.
const MAX_STEP_SECONDS: f64 = 0.1;
/// Largest factor of a pinch in one event.
const MAX_PINCH: f64 = 4.0;

impl Flight {
    /// Creates a flight in a scene whose largest side is `extent` voxels. Without a
    /// [distance](Self::approach), it crosses the scene in eight seconds.
    pub fn new(extent: f64) -> Self {
        let (clearance, outside, velocity) = (None, DVec3::ZERO, DVec3::ZERO);
        Self { held: HashSet::new(), extent, clearance, outside, factor: 1.0, velocity }
    }

    /// Records a key as pressed. Returns whether that starts a movement.
    pub fn press(&mut self, key: FlightKey) -> bool {
        self.held.insert(key) && !key.is_of_speed()
    }

    /// Records a key as released. Returns whether that stops a movement.
    pub fn release(&mut self, key: FlightKey) -> bool {
        self.held.remove(&key) && !key.is_of_speed()
    }

    /// Releases all keys, and stops at once.
    pub fn release_all(&mut self) {
        self.held.clear();
        self.stop();
    }

    /// Stops at once. Held keys start again.
    pub const fn stop(&mut self) {
        self.velocity = DVec3::ZERO;
    }

    /// Whether a held key moves the camera, or it has not stopped yet.
    pub fn is_moving(&self) -> bool {
        self.velocity != DVec3::ZERO || self.held.iter().any(|key| !key.is_of_speed())
    }

    /// Sets the distance to the nearest surface, in voxels, after a frame of `time`: at once if it
    /// shrinks, within a second if it grows. `outside` is the offset of the camera from the box of the
    /// scene, in voxels. A distance that is not a number changes nothing.
    pub fn approach(&mut self, clearance: f64, outside: DVec3, time: Duration) {
        self.outside = outside;
        let rest = (-Self::seconds(time) / SPEED_UP_SECONDS).exp();
        self.clearance = match self.clearance {
            _ if clearance.is_nan() => self.clearance,
            // Grows by equal factors in equal times: a distance is felt by its order of magnitude.
            Some(now) if now < clearance => {
                let (now, to) = (now.max(1.0), clearance.clamp(1.0, self.extent.max(1.0)));
                Some(to * (now / to).min(1.0).powf(rest))
            }
            _ => Some(clearance.max(0.0)),
        };
    }

    /// Returns the distance to the nearest surface, in voxels, as far as it counts for the speed.
    pub(crate) fn clearance(&self) -> f64 {
        let fastest = self.fastest();
        self.clearance.map_or(fastest, |it| (it * SPEED_BY_CLEARANCE).clamp(MIN_SPEED, fastest))
            / SPEED_BY_CLEARANCE
    }

    /// Returns the maximum speed of the factor 1, in voxels per second.
    fn fastest(&self) -> f64 {
        (self.extent / CROSSING_SECONDS).max(MIN_SPEED)
    }

    /// Returns the speed that keys move with, in voxels per second.
    pub fn speed(&self) -> f64 {
        self.clearance() * SPEED_BY_CLEARANCE * self.factor * self.boost()
    }

    /// Returns the factor of the speed that the wheel chose, 1 at first.
    pub const fn factor(&self) -> f64 {
        self.factor
    }

    /// Sets the factor of the speed, [limited](Self::limited_factor).
    pub const fn set_factor(&mut self, factor: f64) {
        self.factor = Self::limited_factor(factor);
    }

    /// Returns a factor of the speed moved into its range, 1/32 to 32.
    pub const fn limited_factor(factor: f64) -> f64 {
        let [slowest, fastest] = FACTORS;
        factor.clamp(slowest, fastest)
    }

    /// Whether the wheel changed the speed, by half a percent at least.
    pub(crate) const fn has_factor(&self) -> bool {
        (self.factor - 1.0).abs() >= 0.005
    }

    /// Changes the factor of the speed by notches of a mouse wheel.
    pub fn wheel(&mut self, notches: f64) {
        self.set_factor(self.factor * NOTCH.powf(notches.clamp(-10.0, 10.0)));
    }

    /// Turns by a movement of the mouse, in pixels.
    pub fn turn(&self, camera: &mut Camera, [x, y]: [f64; 2]) {
        turn(camera, -x as f32 * MOUSE_TURN, -y as f32 * MOUSE_TURN);
    }

    /// Moves the camera as if the nearest surface were dragged, in parts of the picture's height.
    pub fn slide(&self, camera: &mut Camera, [x, y]: [f64; 2]) {
        let [right, up, _] = camera.basis().map(Vec3::as_dvec3);
        let height = 2.0 * f64::from(camera.half_extents(1.0)[1]) * self.clearance();
        camera.position += (up * y - right * x) * height;
    }

    /// Moves towards `point`, which lies between two fingers, by the factor between their new and old
    /// distance: a factor of 2 halves the distance to the point, which stays at its place in the picture.
    pub fn pinch(&self, camera: &mut Camera, factor: f64, point: DVec3) {
        if factor.is_finite() && factor > 0.0 {
            let factor = factor.clamp(MAX_PINCH.recip(), MAX_PINCH);
            camera.position = point + (camera.position - point) / factor;
        }
    }

    /// Returns the direction in which the held keys move `camera`, of length 1; zero without any.
    pub(crate) fn direction(&self, camera: &Camera) -> DVec3 {
        use FlightKey as Key;
        let [right, _, forward] = camera.basis();
        let direction = right * self.axis(Key::Right, Key::Left)
            + forward * self.axis(Key::Forward, Key::Back)
            + Vec3::Y * self.axis(Key::Up, Key::Down);
        DVec3::from(direction.normalize_or_zero())
    }

    /// Moves and turns by the keys held for `time`. The movement in a direction is the same for frames
    /// of any length up to 0.1 s.
    pub fn step(&mut self, camera: &mut Camera, time: Duration) {
        if !self.is_moving() {
            return;
        }
        self.turn_held(camera, time);
        let seconds = Self::seconds(time);
        let direction = self.direction(camera);
        let target = direction * self.speed().min(self.limit(direction));
        // The exact movement of a velocity that approaches the target exponentially.
        let (excess, rest) = (self.velocity - target, (-seconds / ACCELERATION_SECONDS).exp());
        camera.position += target * seconds + excess * (ACCELERATION_SECONDS * (1.0 - rest));
        self.velocity = target + excess * rest;
        if target == DVec3::ZERO && self.velocity.length() < STOP_PART * self.speed() {
            self.stop();
        }
    }

    /// Returns the maximum speed in a direction, in voxels per second. Away from the scene, it becomes
    /// less with the distance.
    fn limit(&self, direction: DVec3) -> f64 {
        if self.outside.dot(direction) <= 0.0 {
            return f64::INFINITY;
        }
        self.fastest() / (1.0 + self.outside.length() / self.extent.max(1.0)).powi(2)
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
            boost: self.boost(),
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

    /// Returns the factor of the speed by the held keys.
    fn boost(&self) -> f64 {
        use FlightKey as Key;
        let holds = |keys: [Key; 2]| keys.iter().any(|key| self.held.contains(key));
        let fast = if holds([Key::FastLeft, Key::FastRight]) { FAST } else { 1.0 };
        fast * if holds([Key::SlowLeft, Key::SlowRight]) { SLOW } else { 1.0 }
    }
}

fn turn(camera: &mut Camera, left: f32, up: f32) {
    /// Just below straight up, where left and right would swap.
    const MAX_PITCH: f32 = FRAC_PI_2 - 0.01;
    camera.yaw = (camera.yaw + left) % std::f32::consts::TAU;
    camera.pitch = (camera.pitch + up).clamp(-MAX_PITCH, MAX_PITCH);
}

#[cfg(test)]
mod tests;
