use std::{collections::HashSet, f32::consts::FRAC_PI_2, time::Duration};

use drystone_render::Camera;
use glam::{DVec3, Vec3};
use winit::{event::MouseScrollDelta, keyboard::KeyCode};

use super::walk::Stride;

/// Moves a camera by held keys and by the mouse.
pub(super) struct Flight {
    held: HashSet<KeyCode>,
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
pub(super) const LONGEST_STEP: f64 = 0.1;

impl Flight {
    /// A flight that crosses `extent` voxels in about eight seconds.
    pub(super) fn new(extent: f64) -> Self {
        let [slowest, fastest] = SPEED_RANGE;
        Self { held: HashSet::new(), speed: (extent / 8.0).clamp(slowest, fastest) }
    }

    /// Notes a key; whether it is one that moves or turns.
    pub(super) fn key(&mut self, code: KeyCode, pressed: bool) -> bool {
        let moves = matches!(
            code,
            KeyCode::KeyW
                | KeyCode::KeyA
                | KeyCode::KeyS
                | KeyCode::KeyD
                | KeyCode::KeyQ
                | KeyCode::Space
                | KeyCode::ArrowLeft
                | KeyCode::ArrowRight
                | KeyCode::ArrowUp
                | KeyCode::ArrowDown
        );
        let shift = matches!(code, KeyCode::ShiftLeft | KeyCode::ShiftRight);
        if (moves || shift) && pressed {
            return self.held.insert(code) && moves;
        }
        self.held.remove(&code) && moves
    }

    pub(super) fn release_all(&mut self) {
        self.held.clear();
    }

    /// Whether a held key moves the camera.
    pub(super) fn is_moving(&self) -> bool {
        self.held.iter().any(|code| !matches!(code, KeyCode::ShiftLeft | KeyCode::ShiftRight))
    }

    pub(super) fn wheel(&mut self, delta: MouseScrollDelta) {
        let notches = match delta {
            MouseScrollDelta::LineDelta(_, y) => f64::from(y),
            MouseScrollDelta::PixelDelta(position) => position.y / 40.0,
        };
        let [slowest, fastest] = SPEED_RANGE;
        self.speed = (self.speed * 1.2f64.powf(notches.clamp(-10.0, 10.0))).clamp(slowest, fastest);
    }

    /// Turns by a movement of the mouse, in pixels.
    pub(super) fn turn(&self, camera: &mut Camera, (x, y): (f64, f64)) {
        turn(camera, -x as f32 * MOUSE_TURN, -y as f32 * MOUSE_TURN);
    }

    /// Moves and turns by the keys held for `time`.
    pub(super) fn step(&self, camera: &mut Camera, time: Duration) {
        if !self.is_moving() {
            return;
        }
        let seconds = time.as_secs_f64().min(LONGEST_STEP);
        self.turn_held(camera, seconds);
        let [right, _, forward] = camera.basis();
        let way = right * self.axis(KeyCode::KeyD, KeyCode::KeyA)
            + forward * self.axis(KeyCode::KeyW, KeyCode::KeyS)
            + Vec3::Y * self.axis(KeyCode::Space, KeyCode::KeyQ);
        let speed = self.speed * if self.holds_shift() { FAST } else { 1.0 };
        camera.eye += DVec3::from(way.normalize_or_zero()) * (speed * seconds);
    }

    /// Turns by the keys held for `seconds`.
    pub(super) fn turn_held(&self, camera: &mut Camera, seconds: f64) {
        let angle = TURN_SPEED * seconds as f32;
        turn(
            camera,
            self.axis(KeyCode::ArrowLeft, KeyCode::ArrowRight) * angle,
            self.axis(KeyCode::ArrowUp, KeyCode::ArrowDown) * angle,
        );
    }

    /// What the keys mean to somebody who walks as the camera looks, up and down left out.
    pub(super) fn stride(&self, camera: &Camera) -> Stride {
        let (sin, cos) = camera.yaw.sin_cos();
        let (right, forward) = (Vec3::new(cos, 0.0, -sin), Vec3::new(-sin, 0.0, -cos));
        let way = right * self.axis(KeyCode::KeyD, KeyCode::KeyA)
            + forward * self.axis(KeyCode::KeyW, KeyCode::KeyS);
        Stride {
            way: DVec3::from(way.normalize_or_zero()),
            jumps: self.held.contains(&KeyCode::Space),
            runs: self.holds_shift(),
        }
    }

    /// 1, −1 or 0, by which of both keys is held.
    fn axis(&self, plus: KeyCode, minus: KeyCode) -> f32 {
        f32::from(i8::from(self.held.contains(&plus)) - i8::from(self.held.contains(&minus)))
    }

    fn holds_shift(&self) -> bool {
        self.held.contains(&KeyCode::ShiftLeft) || self.held.contains(&KeyCode::ShiftRight)
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
        assert!(flight.key(KeyCode::KeyW, true) && flight.is_moving());
        flight.step(&mut camera, Duration::from_millis(50));
        assert!((camera.eye - DVec3::new(0.0, 0.0, -0.5)).length() < 1e-6);
        // A long pause is no long jump.
        flight.step(&mut camera, Duration::from_secs(9));
        assert!((camera.eye.z + 1.5).abs() < 1e-6);
        flight.key(KeyCode::KeyW, false);
        assert!(!flight.is_moving());
    }

    #[test]
    fn shift_alone_does_not_move() {
        let mut flight = Flight::new(80.0);
        assert!(!flight.key(KeyCode::ShiftLeft, true) && !flight.is_moving());
        flight.key(KeyCode::KeyD, true);
        let mut camera = Camera::default();
        flight.step(&mut camera, Duration::from_millis(100));
        assert!((camera.eye.x - 4.0).abs() < 1e-5);
    }

    /// Who walks goes where the camera looks, whatever way that is tilted.
    #[test]
    fn strides_are_level_and_where_the_camera_looks() {
        let mut flight = Flight::new(80.0);
        flight.key(KeyCode::KeyW, true);
        for (yaw, pitch) in [(0.0, 0.0), (0.7, 1.2), (-2.5, -1.5), (4.0, 0.3)] {
            let camera = Camera { yaw, pitch, ..Camera::default() };
            let forward = camera.basis()[2];
            let level = DVec3::new(forward.x.into(), 0.0, forward.z.into()).normalize();
            let stride = flight.stride(&camera);
            assert!((stride.way - level).length() < 1e-5, "{yaw} {pitch}: {stride:?}");
        }
        flight.key(KeyCode::KeyD, true);
        let way = flight.stride(&Camera::default()).way;
        assert!(way.x > 0.7 && way.z < -0.7 && way.y == 0.0, "{way:?}");
    }

    #[test]
    fn tilt_stops_short_of_the_pole() {
        let mut camera = Camera::default();
        Flight::new(1.0).turn(&mut camera, (0.0, -1e6));
        assert!(camera.pitch < FRAC_PI_2 && camera.pitch > 1.5);
    }
}
