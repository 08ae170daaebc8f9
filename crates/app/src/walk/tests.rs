use std::f32::consts::FRAC_PI_2;

use drystone_voxel::{Material, MaterialTable};
use drystone_world::World;

use super::*;
use crate::scene::{self, BackendKind, Capacity, Meshing, RendererKind, Size};

mod random;

/// Ground up to 0, a step of one voxel from x = 4, a wall of two from x = 8, and a roof from z =
/// 20.
fn world() -> World {
    let mut world = World::new("steps", MaterialTable::new());
    for (x, z) in (-4..12).flat_map(|x| (-4..30).map(move |z| (x, z))) {
        let top = i32::from(x >= 4) + 2 * i32::from(x >= 8);
        for y in -2..top {
            world.set(VoxelPos::new(x, y, z), Material(1));
        }
        if z >= 20 {
            world.set(VoxelPos::new(x, top + 2, z), Material(1));
        }
    }
    world
}

/// The box of that world.
const CORNERS: (DVec3, DVec3) = (DVec3::new(-4.0, -2.0, -4.0), DVec3::new(12.0, 6.0, 30.0));
/// No key is held.
const STILL: Stride = Stride { direction: DVec3::ZERO, jumps: false, boost: 1.0 };

fn walk(eye: DVec3, direction: DVec3, jumps: bool, seconds: f64) -> (DVec3, Walk, f64) {
    let world = world();
    let (mut eye, mut walk, mut highest) = (eye, Walk::default(), eye.y);
    let stride = Stride { direction, jumps, boost: 1.0 };
    let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
    for _ in 0..(seconds / 0.02) as u32 {
        walk.step(&mut eye, stride, 0.02, CORNERS, &mut is_solid);
        assert!(!overlaps_solid(eye, &mut is_solid), "{eye:?}");
        highest = highest.max(eye.y);
    }
    (eye, walk, highest)
}

const STANDING: DVec3 = DVec3::new(0.5, EYE_HEIGHT + GAP, 0.5);

#[test]
fn a_falling_walker_comes_to_rest_on_the_ground() {
    for height in [0.5, 7.3, 120.0] {
        let (eye, walk, _) = walk(STANDING + DVec3::Y * height, DVec3::ZERO, false, 8.0);
        assert!((eye - STANDING).length() < 1e-5, "{eye:?}");
        assert!(walk.is_on_ground());
    }
    // Beyond the side of the world, on the ground beside it.
    let far = DVec3::new(99.0, 50.0, 0.5);
    let (eye, walk, _) = walk(far, DVec3::ZERO, false, 8.0);
    let side = DVec3::new(12.0 - HALF_WIDTH, STANDING.y + 3.0, 0.5);
    assert!((eye - side).length() < 1e-4 && walk.is_on_ground(), "{eye:?}");
}

/// Returns the position where a walk from `eye` lands, and the seconds until then.
fn landing(scene: &VoxelScene, eye: DVec3, corners: (DVec3, DVec3)) -> (DVec3, f64) {
    let (mut camera, flight) = (Camera { position: eye, ..Camera::default() }, Flight::new(100.0));
    let mut walk = Walk::start(&mut camera, scene, corners);
    let frame = Duration::from_millis(20);
    for frames in 0..500_u32 {
        walk.travel(&mut camera, &flight, scene, corners, frame);
        if walk.is_on_ground() {
            return (camera.position, f64::from(frames) * frame.as_secs_f64());
        }
    }
    panic!("still falling from {eye} at {}", camera.position);
}

fn scene(world: World) -> VoxelScene {
    let size = Size { width: 8, height: 8 };
    let (kind, backend) = (RendererKind::Pool, BackendKind::Soft);
    let renderer = scene::open_renderer(kind, backend, size, Capacity::default()).unwrap();
    VoxelScene::of_world(world, Meshing::default(), renderer).unwrap()
}

/// A walk that starts anywhere above or next to a scene stands in it: on the ground, or on the
/// scene's floor.
#[test]
fn a_walk_starts_on_the_ground_from_anywhere() {
    let mut beam = World::new("a beam without ground", MaterialTable::new());
    for x in 0..9 {
        beam.set(VoxelPos::new(x, 40, 0), Material(1));
    }
    beam.set(VoxelPos::new(0, 0, 8), Material(1));
    for (world, has_ground) in [(world(), true), (beam, false)] {
        let scene = scene(world);
        let (min, max) = scene::tight_corners(scene.data().bounds());
        let eyes = [[0.5, 9.0, 3.5], [5.5, 30.0, 5.5], [7.2, 9e3, 7.9], [1e5, 8e4, 1e5]];
        let beside = [[-9e5, -70.0, 2.0], [4.5, 1e9, -20.0], [30.0, 0.5, 40.0]];
        // Within the ground of the first world.
        let within = [[0.5, -0.7, 3.5], [9.5, -1.5, 25.5]];
        for eye in eyes.into_iter().chain(beside).chain(within).map(DVec3::from) {
            let (at, seconds) = landing(&scene, eye, (min, max));
            let inside = at.cmpge(min).all() && at.x <= max.x && at.z <= max.z;
            assert!(inside && seconds < 0.1, "{eye}: {at} after {seconds} s");
            let is_on = |it: f64| (at.y - EYE_HEIGHT - it).abs() < 1e-3;
            let is_stood_on = match has_ground {
                true => is_on((at.y - EYE_HEIGHT).round()) && at.y > min.y + EYE_HEIGHT,
                false => is_on(min.y) || is_on(1.0) || is_on(41.0),
            };
            assert!(is_stood_on, "{eye}: {at}");
        }
    }
}

#[test]
fn a_walker_climbs_one_voxel_and_is_stopped_by_two() {
    let (eye, _, _) = walk(STANDING, DVec3::X, false, 4.0);
    assert!((eye.y - STANDING.y - 1.0).abs() < 1e-4, "{eye:?}");
    assert!(eye.x > 7.2 && eye.x <= 8.0 - HALF_WIDTH, "{eye:?}");
    // A jump does not clear it either; moving along the wall continues.
    let (eye, _, highest) = walk(STANDING, DVec3::X, true, 4.0);
    assert!(eye.x <= 8.0 - HALF_WIDTH && highest < STANDING.y + 1.0 + 1.5, "{eye:?}");
    let (eye, _, _) = walk(STANDING, DVec3::new(1.0, 0.0, 1.0), false, 4.0);
    assert!(eye.x <= 8.0 - HALF_WIDTH && eye.z > 10.0, "{eye:?}");
}

#[test]
fn jumps_are_one_voxel_high_and_end_at_a_roof() {
    let (_, _, highest) = walk(STANDING, DVec3::ZERO, true, 2.0);
    assert!((1.05..1.5).contains(&(highest - STANDING.y)), "{highest}");
    let (_, _, highest) = walk(STANDING + DVec3::Z * 22.0, DVec3::ZERO, true, 2.0);
    assert!(highest - STANDING.y < 2.0 - EYE_HEIGHT - ABOVE_EYE + 1e-6, "{highest}");
}

/// A voxel placed within the body lifts it if there is space, but not through a roof.
#[test]
fn a_walker_inside_a_solid_voxel_rises_at_most_two_voxels() {
    let roofed = STANDING + DVec3::Z * 22.0;
    let cases = [
        (STANDING, vec![0], Some(1.0)),
        (STANDING, vec![1], Some(2.0)),
        (STANDING, vec![0, 1, 2], None),
        (roofed, vec![0], None),
        (roofed, vec![1], None),
    ];
    for (start, placed, rise) in cases {
        let mut world = world();
        let [x, _, z] = start.floor().as_ivec3().to_array();
        for &y in &placed {
            world.set(VoxelPos::new(x, y, z), Material(1));
        }
        for seconds in [0.003, 0.02, 0.1] {
            let (mut eye, mut walk) = (start, Walk::default());
            let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
            for _ in 0..(2.0 / seconds) as u32 {
                walk.step(&mut eye, STILL, seconds, CORNERS, &mut is_solid);
            }
            let expected = start + DVec3::Y * rise.unwrap_or(0.0);
            assert!((eye - expected).length() < 1e-5, "{placed:?}: {start:?} to {eye:?}");
            assert_eq!(overlaps_solid(eye, &mut is_solid), rise.is_none(), "{placed:?}");
            assert!(walk.is_on_ground(), "{placed:?}: moves without a stride");
        }
    }
}

/// World without readable chunks.
struct Damaged;

impl VoxelAccess for Damaged {
    fn side(&self) -> u32 {
        Chunk::SIDE
    }

    fn chunk_at(&self, _: ChunkPos) -> Option<Chunk> {
        None
    }
}

#[test]
fn a_walker_does_not_fall_through_unreadable_chunks() {
    let materials = MaterialTable::new();
    let side = Chunk::SIDE as i32;
    let [min, max] = [VoxelPos::new(0, -side, 0), VoxelPos::new(side, 0, side)];
    for (bounds, rests_at) in [(Some(VoxelBox { min, max }), 0.0), (None, 8.0)] {
        let (voxels, materials) = (&Damaged, &materials);
        let mut reader = VoxelReader { voxels, materials, bounds, last: None };
        let (mut eye, mut walk) = (STANDING + DVec3::Y * 8.0, Walk::default());
        for _ in 0..200 {
            let corners = (DVec3::new(-9.0, -f64::from(side), -9.0), DVec3::splat(9.0));
            walk.step(&mut eye, STILL, 0.02, corners, &mut |at| reader.is_solid(at));
        }
        assert!((eye - STANDING - DVec3::Y * rests_at).length() < 1e-5, "{eye:?}");
    }
}

/// The body passes no wall and no ground, however long a frame took.
#[test]
fn long_frames_do_not_pass_walls() {
    let world = world();
    let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
    let stride = Stride { direction: DVec3::X, boost: RUN, ..STILL };
    for seconds in [0.001, 0.1, 1.0] {
        let (mut eye, mut walk) = (STANDING, Walk::default());
        for _ in 0..(5.0 / seconds) as u32 {
            walk.step(&mut eye, stride, seconds, CORNERS, &mut is_solid);
        }
        assert!(eye.x <= 8.0 - HALF_WIDTH && eye.x > 7.0, "{seconds}: {eye:?}");
        assert!((eye.y - STANDING.y - 1.0).abs() < 1e-4, "{seconds}: {eye:?}");
    }
}

/// A wall is touched, and the way along it is as long as without it.
#[test]
fn a_walker_slides_along_walls_without_a_gap() {
    let world = world();
    let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
    for frame in [0.001, 0.02, 0.1] {
        let (mut eye, mut walk) = (STANDING + DVec3::new(5.0, 1.0, 0.0), Walk::default());
        let stride = Stride { direction: DVec3::new(0.8, 0.0, 0.6), ..STILL };
        for _ in 0..(2.0_f64 / frame) as u32 {
            let before = eye;
            walk.step(&mut eye, stride, frame, CORNERS, &mut is_solid);
            let along = (eye.z - before.z) / (0.6 * SPEED * frame);
            assert!((along - 1.0).abs() < 1e-9, "{frame}: {along}");
        }
        assert!((eye.x - (8.0 - HALF_WIDTH)).abs() < 1e-5, "{frame}: {eye}");
    }
}

/// The camera follows a step up in a few frames, inside the body.
#[test]
fn the_camera_rises_smoothly_with_a_step() {
    let scene = scene(world());
    let mut flight = Flight::new(100.0);
    let mut camera = Camera { position: STANDING, yaw: -FRAC_PI_2, ..Camera::default() };
    let mut walk = Walk::start(&mut camera, &scene, CORNERS);
    flight.press(crate::FlightKey::Forward);
    let mut heights = Vec::new();
    for _ in 0..200 {
        walk.travel(&mut camera, &flight, &scene, CORNERS, Duration::from_millis(8));
        heights.push(camera.position.y);
    }
    let rises: Vec<f64> = heights.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(rises.iter().all(|rise| (-1e-9..0.12).contains(rise)), "{rises:?}");
    let is_up = |height: &f64| (height - STANDING.y - 1.0).abs() < 1e-4;
    assert!(is_up(&heights[199]) && walk.is_at_rest(), "{heights:?}");
    let frames = heights.iter().filter(|height| !is_up(height) && **height > STANDING.y + 1e-3);
    assert!((10..80).contains(&frames.count()), "{heights:?}");
}

/// The sides of the world stop a walker, which is reported once.
#[test]
fn the_edge_of_the_world_stops_a_walker() {
    let scene = scene(world());
    let mut flight = Flight::new(100.0);
    let mut camera = Camera { position: STANDING, yaw: FRAC_PI_2, ..Camera::default() };
    let mut walk = Walk::start(&mut camera, &scene, CORNERS);
    flight.press(crate::FlightKey::Forward);
    let mut reports = 0;
    for _ in 0..200 {
        let frame = Duration::from_millis(20);
        reports += u32::from(walk.travel(&mut camera, &flight, &scene, CORNERS, frame));
    }
    let stopped = DVec3::new(-4.0 + HALF_WIDTH, STANDING.y, STANDING.z);
    assert!((camera.position - stopped).length() < 1e-3, "{camera:?}");
    assert!(reports == 1 && walk.is_at_rest(), "{reports}");
}

#[test]
fn a_walker_inside_the_ground_comes_out() {
    let world = world();
    let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
    let (mut eye, mut walk) = (STANDING - DVec3::Y * 1.5, Walk::default());
    for _ in 0..200 {
        walk.step(&mut eye, STILL, 0.02, CORNERS, &mut is_solid);
    }
    assert!((eye - STANDING).length() < 1e-5, "{eye:?}");
}
