use super::*;

const FRAME: Duration = Duration::from_millis(10);

/// A flight far from any edge, with this distance to the nearest surface.
fn at(clearance: f64) -> Flight {
    let mut flight = Flight::new(8_000.0);
    flight.approach(clearance, DVec3::ZERO, Duration::ZERO);
    flight
}

/// Moves for `seconds`, in frames of `frame`.
fn fly(flight: &mut Flight, camera: &mut Camera, seconds: f64, frame: Duration) {
    for _ in 0..(seconds / frame.as_secs_f64()).round() as u32 {
        flight.step(camera, frame);
    }
}

#[test]
fn forward_moves_where_the_camera_looks() {
    for (yaw, pitch) in [(0.0, 0.0), (0.7, 1.2), (-2.5, -1.5)] {
        let (mut flight, mut camera) = (at(40.0), Camera { yaw, pitch, ..Camera::default() });
        assert!(flight.press(FlightKey::Forward) && flight.is_moving());
        fly(&mut flight, &mut camera, 1.0, FRAME);
        let forward = camera.basis()[2].as_dvec3();
        let moved = camera.position.dot(forward);
        assert!((camera.position - forward * moved).length() < 1e-4, "{camera:?}");
        // A second at 60 voxels per second, less the acceleration.
        assert!((50.0..60.0).contains(&moved), "{moved}");
        assert!(flight.release(FlightKey::Forward) && !flight.release(FlightKey::Forward));
    }
}

#[test]
fn a_flight_starts_and_stops_smoothly_and_ends() {
    let (mut flight, mut camera) = (at(100.0), Camera::default());
    flight.press(FlightKey::Forward);
    let mut speeds = vec![0.0];
    for frame in 0..200 {
        if frame == 100 {
            flight.release(FlightKey::Forward);
        }
        let before = camera.position;
        flight.step(&mut camera, FRAME);
        speeds.push((camera.position - before).length() / FRAME.as_secs_f64());
    }
    let changes = speeds.windows(2).map(|two| (two[1] - two[0]).abs());
    assert!(changes.fold(0.0, f64::max) < 150.0 * 0.09, "{speeds:?}");
    assert!((speeds[100] - 150.0).abs() < 1.0 && speeds[200] == 0.0, "{speeds:?}");
    assert!(!flight.is_moving());
    // Another place, the loss of the focus and another kind of camera stop at once.
    for stop in [Flight::stop, Flight::release_all] {
        flight.press(FlightKey::Forward);
        fly(&mut flight, &mut camera, 1.0, FRAME);
        flight.release(FlightKey::Forward);
        assert!(flight.is_moving());
        stop(&mut flight);
        assert!(!flight.is_moving());
    }
}

/// Flies down to a plane at height 0 and along it, and returns the way.
fn over_a_plane(frame: Duration, keys: &[FlightKey]) -> Vec<DVec3> {
    let (mut flight, mut way) = (Flight::new(16_000.0), Vec::new());
    let position = DVec3::Y * 900.0;
    let mut camera = Camera { position, pitch: -0.7, ..Camera::default() };
    for key in keys {
        flight.press(*key);
    }
    let frames = (0.5 / frame.as_secs_f64()).round() as u32;
    for half in 0..10 {
        match half {
            6 => drop(flight.press(FlightKey::Back)),
            7 => drop(flight.release(FlightKey::Forward)),
            9 => drop(flight.release(FlightKey::Back)),
            _ => {}
        }
        for _ in 0..frames {
            flight.approach(camera.position.y, DVec3::ZERO, frame);
            flight.step(&mut camera, frame);
        }
        way.push(camera.position);
    }
    way
}

/// The way is that of many short frames, however long frames are.
#[test]
fn frames_of_any_length_lead_the_same_way() {
    use FlightKey as Key;
    for keys in [&[Key::Forward][..], &[Key::Forward, Key::Right], &[Key::Forward, Key::SlowLeft]] {
        let twin = over_a_plane(Duration::from_micros(500), keys);
        let length: f64 = twin.windows(2).map(|two| (two[1] - two[0]).length()).sum();
        assert!(length > 200.0 && twin.iter().all(|at| at.y > 0.0), "{twin:?}");
        for ms in [4, 10, 20, 50, 100] {
            let way = over_a_plane(Duration::from_millis(ms), keys);
            let far = way.iter().zip(&twin).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
            let limit = length * 0.0012 * ms as f64;
            assert!(far < limit, "{keys:?} {ms} ms: {far} of {length}");
        }
        // At constant speed, the way is exact.
        let [few, many] = [100, 1].map(|ms| {
            let (mut flight, mut camera) = (at(300.0), Camera::default());
            flight.press(Key::Forward);
            fly(&mut flight, &mut camera, 2.0, Duration::from_millis(ms));
            camera.position
        });
        assert!((few - many).length() < 1e-6, "{few} {many}");
    }
    // A frame of seconds moves as one of 0.1 s.
    let (mut flight, mut camera) = (at(40.0), Camera::default());
    flight.press(Key::Forward);
    flight.step(&mut camera, Duration::from_secs(9));
    assert!(camera.position.length() < 6.0);
}

#[test]
fn the_speed_follows_the_distance_and_has_limits() {
    assert_eq!([0.0, 0.5, 2.0].map(|it| at(it).speed()), [MIN_SPEED; 3]);
    assert_eq!([10.0, 100.0, 600.0].map(|it| at(it).speed()), [15.0, 150.0, 900.0]);
    // The scene's length in eight seconds, at most.
    assert_eq!([1e4, f64::INFINITY].map(|it| at(it).speed()), [1_000.0; 2]);
    assert_eq!([1.0, 0.0].map(|extent| Flight::new(extent).speed()), [MIN_SPEED; 2]);
    let mut flight = at(100.0);
    flight.approach(f64::NAN, DVec3::ZERO, FRAME);
    assert_eq!(flight.speed(), 150.0);
    // It becomes slower at once, and faster within a second.
    flight.approach(10.0, DVec3::ZERO, FRAME);
    assert_eq!(flight.speed(), 15.0);
    flight.approach(100.0, DVec3::ZERO, FRAME);
    assert!((15.0..20.0).contains(&flight.speed()), "{}", flight.speed());
    (0..100).for_each(|_| flight.approach(100.0, DVec3::ZERO, FRAME));
    assert!((140.0..=150.0).contains(&flight.speed()), "{}", flight.speed());
}

/// From beyond the edge, a camera returns as fast as inside; away, it becomes slower and slower.
#[test]
fn a_camera_beyond_the_edge_does_not_run_away() {
    let extent = 16_000.0;
    let mut flight = Flight::new(extent);
    flight.wheel(100.0);
    flight.press(FlightKey::Forward);
    flight.press(FlightKey::FastLeft);
    let (mut camera, mut seconds) = (Camera::default(), 0);
    while seconds < 60 {
        // The scene lies behind the camera.
        let outside = camera.position;
        for _ in 0..100 {
            flight.approach(outside.length(), outside, FRAME);
            flight.step(&mut camera, FRAME);
        }
        seconds += 1;
        let moved = (camera.position - outside).length();
        assert!(moved <= extent / CROSSING_SECONDS * 1.5 || seconds == 1, "{seconds} s: {moved}");
    }
    let far = camera.position.length() / extent;
    assert!(far < 3.0 + flight.factor(), "{far} extents away");
}

#[test]
fn shift_and_control_change_the_speed_and_do_not_move() {
    use FlightKey as Key;
    for (key, factor) in
        [(Key::FastLeft, 4.0), (Key::FastRight, 4.0), (Key::SlowLeft, 0.25), (Key::SlowRight, 0.25)]
    {
        let (mut flight, mut camera) = (at(20.0), Camera::default());
        assert!(!flight.press(key) && !flight.is_moving());
        flight.step(&mut camera, FRAME);
        assert_eq!(camera.position, DVec3::ZERO);
        flight.press(Key::Right);
        fly(&mut flight, &mut camera, 2.0, FRAME);
        assert!((camera.position.x / (30.0 * factor) - 1.88).abs() < 0.01, "{camera:?}");
        assert!(!flight.release(key) && flight.speed() == 30.0);
    }
}

#[test]
fn the_wheel_changes_a_factor_within_limits() {
    let mut flight = at(100.0);
    flight.wheel(1.0);
    assert!((flight.factor() - 1.2).abs() < 1e-9 && (flight.speed() - 180.0).abs() < 1e-9);
    flight.wheel(-1.0);
    assert!((flight.factor() - 1.0).abs() < 1e-9);
    for (notches, factor) in [(1e9, 32.0), (-1e9, 1.0 / 32.0)] {
        (0..10).for_each(|_| flight.wheel(notches));
        assert_eq!(flight.factor(), factor);
    }
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
fn two_fingers_drag_the_nearest_surface_and_spreading_moves_closer() {
    let (flight, mut camera) = (at(20.0), Camera::default());
    // The scene follows the fingers to the right and down, so the camera moves left and up.
    flight.slide(&mut camera, [0.5, 0.25]);
    let height = 40.0 * f64::from(camera.half_extents(1.0)[1]);
    let moved = camera.position - DVec3::new(-0.5, 0.25, 0.0) * height;
    assert!(moved.length() < 1e-5, "{moved}");
    camera.position = DVec3::ZERO;
    let point = DVec3::new(8.0, -4.0, -20.0);
    flight.pinch(&mut camera, 2.0, point);
    assert_eq!(camera.position, point / 2.0);
    flight.pinch(&mut camera, 0.5, point);
    assert_eq!(camera.position, DVec3::ZERO);
    // Degenerate distances of fingers move nothing.
    for factor in [0.0, f64::NAN, f64::INFINITY, -1.0] {
        flight.pinch(&mut camera, factor, point);
    }
    assert_eq!(camera.position, DVec3::ZERO);
}
