//! Kinds of cameras, and movements that depend on the scene.

use drystone_render::{Camera, TriangleVertex};

use super::*;
use crate::scene::{ModelTriangles, PartTriangles};
use crate::{CameraKind, ViewSide};

/// A point of the picture where the floor is, in pixels.
const FLOOR: [f64; 2] = [50.0, 28.0];
/// A point of the picture with the sky.
const SKY: [f64; 2] = [1.0, 1.0];

fn camera(session: &Session) -> Camera {
    session.camera().view().camera
}

/// Returns the point of the scene at a place of the picture.
fn hit(session: &mut Session, at: [f64; 2]) -> Option<DVec3> {
    let ray = session.camera().ray(at);
    let distance = session.stage().unwrap().hit(&ray)?;
    Some(DVec3::from(ray.origin) + DVec3::from(ray.direction).normalize() * distance)
}

/// A triangle in the XY plane.
fn model() -> Session {
    let corners = [[-20.0, -20.0, 0.0], [20.0, -20.0, 0.0], [0.0, 20.0, 0.0]];
    let vertices = corners.map(|at| TriangleVertex::new(at, [0.0, 0.0, 1.0], [200; 4])).into();
    let part = PartTriangles { vertices, indices: vec![0, 1, 2], ..PartTriangles::default() };
    let model = ModelTriangles { parts: vec![part], ..ModelTriangles::default() };
    let mut session = Session::new(Content::Model(model), &options(Host::Window));
    attach(&mut session);
    session
}

#[test]
fn objects_are_orbited_and_landscapes_are_flown_over() {
    assert_eq!(session(Host::Window).camera().kind(), CameraKind::Orbit);
    assert_eq!(model().camera().kind(), CameraKind::Orbit);
    let load = |levels| {
        let config = GeneratorConfig::default().with_size_chunks([6, 2, 6]);
        let source = Box::new(GeneratedWorld::new(config).unwrap());
        let limits = MemoryBudget::default().into();
        let load = LoadOptions { levels, limits, shade: Shade::default() };
        Content::read_voxels(source, &load, &Progress::default()).unwrap()
    };
    for levels in [LevelsFor::None, LevelsFor::All] {
        let session = Session::new(load(levels), &options(Host::Window));
        assert_eq!(session.camera().kind(), CameraKind::Fly, "{levels:?}");
    }
}

#[test]
fn kinds_of_cameras_are_switched() {
    let mut session = session(Host::Window);
    for kind in [CameraKind::Fly, CameraKind::Walk, CameraKind::Orbit, CameraKind::Walk] {
        apply(&mut session, Action::Camera(kind));
        assert_eq!(session.camera().kind(), kind);
    }
    for kind in [CameraKind::Fly, CameraKind::Walk] {
        apply(&mut session, Action::Walk);
        assert_eq!(session.camera().kind(), kind);
    }
    let mut model = model();
    apply(&mut model, Action::Walk);
    assert_eq!(model.camera().kind(), CameraKind::Orbit, "a model has no ground");
    assert!(model.message().contains("voxel world"), "{}", model.message());
}

#[test]
fn the_wheel_zooms_towards_the_pointer_or_changes_the_speed() {
    for mut session in [session(Host::Window), model()] {
        for _ in 0..2 {
            let point = hit(&mut session, FLOOR).expect("the floor");
            let before = camera(&session).position;
            apply(&mut session, Action::Wheel(2.0, FLOOR));
            let after = hit(&mut session, FLOOR).expect("the floor");
            assert!((after - point).length() < 0.02, "{point} {after}");
            let part = (camera(&session).position - point).length() / (before - point).length();
            assert!((part - 1.0 / 1.44).abs() < 1e-3, "{part}");
            apply(&mut session, Action::Projection);
        }
        assert_eq!(hit(&mut session, SKY), None);
        let before = camera(&session).position;
        apply(&mut session, Action::Zoom(0.5, SKY));
        assert!((camera(&session).position - before).length() > 1.0, "away from the scene");
        apply(&mut session, Action::Camera(CameraKind::Fly));
        let before = camera(&session);
        assert_eq!(session.camera().movement_text(), "");
        apply(&mut session, Action::Wheel(2.0, FLOOR));
        assert_eq!(camera(&session), before);
        let words = session.camera().movement_text();
        assert!(words.contains("voxels/s (×1.44)"), "{words}");
        apply(&mut session, Action::Wheel(-2.0, FLOOR));
        assert_eq!(session.camera().movement_text(), "");
    }
}

#[test]
fn two_fingers_zoom_to_the_point_between_them() {
    for kind in [CameraKind::Orbit, CameraKind::Fly] {
        let mut session = session(Host::Page);
        apply(&mut session, Action::Camera(kind));
        let point = hit(&mut session, FLOOR).expect("the floor");
        let before = (camera(&session).position - point).length();
        apply(&mut session, Action::Zoom(2.0, FLOOR));
        let after = hit(&mut session, FLOOR).expect("the floor");
        assert!((after - point).length() < 0.02, "{kind:?}: {point} {after}");
        let part = (camera(&session).position - point).length() / before;
        assert!((part - 0.5).abs() < 1e-3, "{kind:?}: {part}");
    }
}

/// A floor, and a voxel far away, seen by a flying camera.
fn wide() -> Session {
    let mut world = World::new("a floor", MaterialTable::new());
    for (x, z) in (0..64).flat_map(|x| (0..64).map(move |z| (x, z))) {
        world.set(VoxelPos::new(x, 0, z), Material(1));
    }
    world.set(VoxelPos::new(4_000, 0, 0), Material(1));
    let data = Arc::new(LodData::new(Box::new(world), usize::MAX));
    let limits = LodLimits::from(MemoryBudget::default()).full_detail();
    let mut session = Session::new(Content::Voxels(data, limits), &options(Host::Window));
    attach(&mut session);
    settle(&mut session);
    apply(&mut session, Action::Camera(CameraKind::Fly));
    session
}

/// Holds a key for ten frames of 10 ms, and returns the movement.
fn hold(session: &mut Session, key: FlightKey) -> DVec3 {
    let before = camera(session).position;
    apply(session, Action::Hold(key));
    let now = Instant::now();
    (1..=10).for_each(|frame| session.advance(now + Duration::from_millis(10 * frame)));
    apply(session, Action::Release(key));
    apply(session, Action::ReleaseAll);
    camera(session).position - before
}

#[test]
fn a_flight_is_slow_near_the_ground_and_fast_above() {
    let mut session = wide();
    let mut moved = |height: f64| {
        apply(&mut session, Action::Go(DVec3::new(9.5, 1.0 + height, 9.5)));
        // Until the speed has followed.
        let now = Instant::now();
        (1..200).for_each(|frame| session.advance(now + Duration::from_millis(20 * frame)));
        hold(&mut session, FlightKey::Up).y
    };
    let moves = [1.0, 20.0, 300.0].map(&mut moved);
    // The distance for each voxel of height; 3 voxels per second at least.
    assert!((0.05..0.3).contains(&moves[0]), "{moves:?}");
    assert!((8.0..40.0).contains(&(moves[2] / moves[1])), "{moves:?}");
    assert!((0.5..2.0).contains(&moves[1]), "{moves:?}");
    // Far beyond the edge, the way back is faster than the way on.
    let mut outside = |key| {
        apply(&mut session, Action::Go(DVec3::new(9.5, 9_000.0, 9.5)));
        hold(&mut session, key).y
    };
    let [up, down] = [FlightKey::Up, FlightKey::Down].map(&mut outside);
    assert!(up > 1.0 && -down > 4.0 * up, "{up} {down}");
}

/// A walker goes to a place on the ground, and flies at the start.
#[test]
fn a_walker_comes_from_above_to_the_ground_and_flies_from_the_start() {
    let mut session = wide();
    let start = camera(&session).position;
    apply(&mut session, Action::Walk);
    apply(&mut session, Action::Go(DVec3::new(20.5, 5_000.0, 7.5)));
    let now = Instant::now();
    (1..4).for_each(|frame| session.advance(now + Duration::from_millis(20 * frame)));
    let at = camera(&session).position;
    assert!((at - DVec3::new(20.5, 2.62, 7.5)).length() < 1e-4, "{at}");
    assert!(!session.is_active() && session.camera().movement_text() == "walking | ");
    // The side of the world stops it, in a direction of the axes.
    let yaw = f64::from(camera(&session).yaw);
    apply(&mut session, Action::Turn([yaw / 0.0025, 0.0]));
    apply(&mut session, Action::Hold(FlightKey::Forward));
    (4..200).for_each(|frame| session.advance(now + Duration::from_millis(20 * frame)));
    apply(&mut session, Action::Release(FlightKey::Forward));
    assert!(session.message().contains("the world ends here"), "{}", session.message());
    assert!((camera(&session).position.z - 0.3).abs() < 1e-3, "{:?}", camera(&session));
    apply(&mut session, Action::Home);
    session.advance(now + Duration::from_secs(9));
    assert_eq!(camera(&session).position, start);
    assert_eq!(session.camera().kind(), CameraKind::Fly);
}

#[test]
fn a_focused_point_is_orbited() {
    for mut session in [session(Host::Window), model()] {
        let point = hit(&mut session, FLOOR).expect("the floor");
        apply(&mut session, Action::Camera(CameraKind::Fly));
        apply(&mut session, Action::Focus(SKY));
        assert_eq!(session.camera().kind(), CameraKind::Fly, "nothing is there");
        apply(&mut session, Action::Focus(FLOOR));
        assert_eq!(session.camera().kind(), CameraKind::Orbit);
        let middle = [f64::from(SIZE.width) / 2.0, f64::from(SIZE.height) / 2.0];
        for turn in [[0.0, 0.0], [7.0, 3.0], [-30.0, -2.0]] {
            apply(&mut session, Action::Turn(turn));
            let ray = session.camera().ray(middle);
            let to = point - DVec3::from(ray.origin);
            let off = to.cross(DVec3::from(ray.direction).normalize()).length();
            assert!(off < 1e-3, "{turn:?}: {off} from the middle");
        }
    }
}

#[test]
fn a_drag_turns_a_flying_camera_against_the_mouse() {
    let mut session = session(Host::Page);
    apply(&mut session, Action::Camera(CameraKind::Fly));
    let before = camera(&session);
    apply(&mut session, Action::Turn([10.0, 4.0]));
    assert!(camera(&session).yaw < before.yaw && camera(&session).pitch < before.pitch);
    apply(&mut session, Action::Drag([10.0, 4.0]));
    assert!((camera(&session).yaw - before.yaw).abs() < 1e-6);
    assert!((camera(&session).pitch - before.pitch).abs() < 1e-6);
}

#[test]
fn sides_and_projections_are_chosen_and_home_returns() {
    let mut session = session(Host::Window);
    let start = camera(&session);
    apply(&mut session, Action::LookFrom(ViewSide::Top));
    let above = camera(&session).position - camera(&session).basis()[2].as_dvec3();
    assert!(above.y > start.position.y - 1.0 && camera(&session).basis()[2].y < -0.999);
    apply(&mut session, Action::Step([6, 0]));
    assert!((camera(&session).yaw.to_degrees() - 90.0).abs() < 1e-3);
    apply(&mut session, Action::Home);
    assert_eq!(camera(&session), start);
    // The chosen projection stays.
    apply(&mut session, Action::Projection);
    apply(&mut session, Action::Home);
    let parallel = camera(&session);
    assert!(matches!(parallel.projection, drystone_render::Projection::Orthographic { .. }));
    apply(&mut session, Action::Projection);
    apply(&mut session, Action::Home);
    assert_eq!(camera(&session), start);
}

/// The middle of the scene lies behind the camera, and a target at the camera could not be moved.
#[test]
fn an_orbit_begins_before_a_camera_that_looks_away() {
    let mut session = session(Host::Window);
    apply(&mut session, Action::Camera(CameraKind::Fly));
    let turned = std::f64::consts::PI / 0.0025;
    apply(&mut session, Action::Turn([turned, 0.0]));
    apply(&mut session, Action::Camera(CameraKind::Orbit));
    let before = camera(&session).position;
    apply(&mut session, Action::Pan([f64::from(SIZE.height), 0.0]));
    let moved = (camera(&session).position - before).length();
    assert!(moved > 0.14, "{moved}");
}
