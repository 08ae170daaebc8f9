use super::*;
use crate::FlightKey;

const TARGET: DVec3 = DVec3::new(3.0, -8.0, 20.0);
const PARALLEL: Projection = Projection::Orthographic { height_voxels: 30.0 };

fn cameras() -> impl Iterator<Item = (Camera, Orbit)> {
    let camera = Camera::look_at(DVec3::new(40.0, 20.0, -9.0), TARGET);
    let orbit = Orbit::new((camera.position - TARGET).length());
    [camera, Camera { projection: PARALLEL, ..camera }].into_iter().map(move |it| (it, orbit))
}

/// Returns where a point lies in a square picture, from −1 to 1.
fn place(camera: &Camera, point: DVec3) -> [f32; 2] {
    let relative = (point - camera.position).as_vec3();
    let clip = camera.clip_from_relative(1.0) * relative.extend(1.0);
    [clip.x / clip.w, clip.y / clip.w]
}

fn assert_near(a: [f32; 2], b: [f32; 2], what: &str) {
    let error = (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
    assert!(error < 1e-4, "{what}: {a:?} {b:?}");
}

#[test]
fn turning_keeps_target_and_distance() {
    for (mut camera, orbit) in cameras() {
        let distance = (camera.position - TARGET).length();
        for by in [[0.3, 0.1], [-5.0, 0.4], [0.01, -9.0]] {
            orbit.turn(&mut camera, by);
            assert!((orbit.target(&camera) - TARGET).length() < 1e-4, "{by:?}");
            assert!(((camera.position - TARGET).length() - distance).abs() < 1e-4, "{by:?}");
        }
        assert_eq!(camera.pitch, FRAC_PI_2, "beyond the pole");
        orbit.look(&mut camera, 0.0, 0.0);
        orbit.step(&mut camera, [6, -2]);
        assert!((camera.yaw.to_degrees() - 90.0).abs() < 1e-3);
        assert!((camera.pitch.to_degrees() + 30.0).abs() < 1e-3);
        assert!((orbit.target(&camera) - TARGET).length() < 1e-4);
    }
}

/// A drag to the right shows the left side of the scene, as if it turned with the hand.
#[test]
fn the_scene_turns_with_the_hand() {
    let mut camera = Camera::look_at(TARGET + DVec3::Z * 10.0, TARGET);
    Orbit::new(10.0).turn(&mut camera, [0.1, 0.1]);
    assert!(camera.position.x < TARGET.x - 1.0, "{}", camera.position);
    assert!(camera.position.y > TARGET.y + 1.0, "{}", camera.position);
}

#[test]
fn a_change_of_projection_keeps_the_size_of_the_target() {
    for (mut camera, mut orbit) in cameras() {
        let point = TARGET + camera.basis()[1].as_dvec3() * 4.0;
        let before = place(&camera, point);
        for _ in 0..2 {
            orbit.change_projection(&mut camera);
            assert_near(place(&camera, point), before, "a point beside the target");
            assert_near(place(&camera, TARGET), [0.0, 0.0], "the target");
        }
    }
}

#[test]
fn sides_are_those_of_the_compass() {
    use ViewSide::{Back, Bottom, Front, Left, Right, Top};
    let sides = [
        (Front, DVec3::Z),
        (Back, -DVec3::Z),
        (Right, DVec3::X),
        (Left, -DVec3::X),
        (Top, DVec3::Y),
        (Bottom, -DVec3::Y),
    ];
    for (mut camera, orbit) in cameras() {
        for (side, direction) in sides {
            orbit.look_from(&mut camera, side);
            let error = camera.position - (TARGET + direction * orbit.distance);
            assert!(error.length() < 1e-4, "{side:?}: {error}");
            assert_near(place(&camera, TARGET), [0.0, 0.0], "the target");
        }
        orbit.look_from(&mut camera, Top);
        assert!(place(&camera, TARGET - DVec3::Z)[1] > 0.01, "north is at the top");
        orbit.look_from(&mut camera, Bottom);
        assert!(place(&camera, TARGET + DVec3::Z)[1] > 0.01, "south is at the top");
    }
}

#[test]
fn a_panned_target_follows_the_pointer() {
    for (mut camera, orbit) in cameras() {
        orbit.pan(&mut camera, [0.25, -0.125]);
        // Half of the picture's height is 1; positive is up, while pixels count down.
        assert_near(place(&camera, TARGET), [0.5, 0.25], "pan");
    }
}

#[test]
fn zooming_keeps_the_point_under_the_pointer() {
    for (mut camera, mut orbit) in cameras() {
        let [right, up, _] = camera.basis().map(Vec3::as_dvec3);
        let point = TARGET + right * 4.0 - up * 3.0;
        let (before, distance) = (place(&camera, point), orbit.distance);
        for factor in [1.2, 3.0, 0.7] {
            orbit.zoom(&mut camera, factor, point);
            assert_near(place(&camera, point), before, "zoom");
        }
        assert!((orbit.distance - distance / (1.2 * 3.0 * 0.7)).abs() < 1e-6);
        for factor in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            let unchanged = (camera, orbit);
            orbit.zoom(&mut camera, factor, point);
            assert_eq!((camera, orbit), unchanged, "{factor}");
        }
        for (factor, end) in [(1e9, DISTANCES[0]), (1e-30, DISTANCES[1])] {
            orbit.zoom(&mut camera, factor, TARGET);
            assert_eq!(orbit.distance, end);
            assert!(camera.position.is_finite());
        }
    }
}

#[test]
fn a_focused_point_is_in_the_middle() {
    for (mut camera, mut orbit) in cameras() {
        let (point, before) = (DVec3::new(-7.0, 2.0, 11.0), camera);
        let beside = |camera: &Camera| place(camera, point + camera.basis()[0].as_dvec3())[0];
        let size = beside(&camera) - place(&camera, point)[0];
        orbit.focus(&mut camera, point);
        assert_near(place(&camera, point), [0.0, 0.0], "focus");
        assert_near([beside(&camera), 0.0], [size, 0.0], "size");
        assert_eq!((camera.yaw, camera.pitch), (before.yaw, before.pitch));
        assert!((orbit.target(&camera) - point).length() < 1e-9);
    }
}

#[test]
fn held_keys_move_the_target_and_turn_around_it() {
    for (mut camera, orbit) in cameras() {
        let mut flight = Flight::new(80.0);
        flight.press(FlightKey::TurnLeft);
        orbit.travel(&mut camera, &mut flight, Duration::from_millis(50));
        assert!((orbit.target(&camera) - TARGET).length() < 1e-4);
        flight.release_all();
        flight.press(FlightKey::Right);
        let right = camera.basis()[0].as_dvec3();
        orbit.travel(&mut camera, &mut flight, Duration::from_millis(50));
        let moved = orbit.target(&camera) - TARGET;
        assert!(moved.dot(right) > 0.01, "{moved}");
        assert!((moved - right * moved.dot(right)).length() < 1e-4, "{moved}");
    }
}
