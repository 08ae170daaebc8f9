//! Worlds whose data comes over a network, in simulated time. A read that waited would hang these tests.

use drystone_store::simulated_network::{Fault, Link, SimulatedServer};
use drystone_store::{EditAccess, EditOptions, EditedSource, PackOptions, PackedWorld, pack};

use super::*;

const LINK: Link = Link { round_trip: Duration::from_millis(50), bytes_per_s: 2_500_000 };
const FRAME: Duration = Duration::from_millis(16);

/// A packed world whose levels are downsampled.
fn packed(name: &str) -> Vec<u8> {
    let path = std::env::temp_dir().join(format!("arrivals-{name}-{}.dsw", std::process::id()));
    pack(derived([24, 4, 24]).as_ref(), &path, &PackOptions::default(), &mut |_| {}).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    bytes
}

fn server(bytes: Vec<u8>) -> (SimulatedServer, Box<dyn Source>) {
    let (server, ranges) = SimulatedServer::new(bytes, 64 << 10, 8 << 20, LINK);
    let world = PackedWorld::read(Box::new(ranges), "https://example.org/a.dsw").unwrap();
    (server, Box::new(world))
}

fn local(bytes: &[u8], config: LodConfig) -> LodTree {
    tree(Box::new(PackedWorld::read(Box::new(bytes.to_vec()), "a.dsw").unwrap()), config)
}

/// One frame: an update, all meshes that can be made, and what the network sends in that time.
fn frame(
    tree: &mut LodTree,
    at: &LodCamera,
    screen: &mut Screen,
    (server, time): (&mut SimulatedServer, Duration),
    fault: &mut dyn FnMut(u64) -> Fault,
) {
    tree.update(at, screen).unwrap();
    check_cover(tree, screen);
    while tree.work() {}
    server.pass(time, fault);
}

/// Shows what has come while the camera moves, and the same as a local file in the end, whatever happens on
/// the way.
#[test]
fn a_world_from_a_server_is_shown_as_the_local_one() {
    let bytes = packed("same");
    let cameras = [[40.0, 60.0, 40.0], [700.0, 90.0, 650.0], [380.0, 70.0, 90.0]];
    let cameras = cameras.map(|position| camera(position, 150.0));
    for (seed, meshing) in (0..8).zip(MESHINGS.into_iter().cycle()) {
        let mut expected = Screen::default();
        settle(&mut local(&bytes, unlimited_with(meshing)), &cameras[2], &mut expected);
        let (mut server, source) = server(bytes.clone());
        let mut tree = tree(source, unlimited_with(meshing));
        let mut screen = Screen::default();
        let mut random = Random::new(seed);
        let share = random.below(80);
        let mut fault = |number| match random.below(100) {
            roll if number > 60 || roll >= share => Fault::None,
            roll => {
                [Fault::Refused, Fault::Stalled, Fault::Cut, Fault::WrongByte][roll as usize % 4]
            }
        };
        for at in &cameras[..2] {
            (0..30).for_each(|_| {
                frame(&mut tree, at, &mut screen, (&mut server, FRAME), &mut fault);
            });
        }
        // From far away, where nothing is fine: what is shown does not depend on the earlier cameras then.
        for at in [&camera([40.0, 60.0, 1e6], 150.0), &cameras[2]] {
            loop {
                let is_failing = tree.data().arrival_state().unwrap().failure.is_some();
                let time = if is_failing { Duration::from_secs(1) } else { FRAME };
                frame(&mut tree, at, &mut screen, (&mut server, time), &mut fault);
                if tree.is_settled() {
                    break;
                }
                assert!(server.now() < Duration::from_secs(1_000), "{seed}: {tree:?}");
            }
        }
        assert_eq!(tree.data().faults(), [""; 0], "{seed}");
        assert!(screen.bodies == expected.bodies && screen.skirts == expected.skirts, "{seed}");
    }
}

/// Nothing is requested that no mesh needs, and what is behind the camera's goal is cancelled.
#[test]
fn the_network_is_quiet_when_everything_is_shown() {
    let (mut server, source) = server(packed("quiet"));
    let mut tree = tree(source, unlimited());
    let mut screen = Screen::default();
    let at = camera([40.0, 60.0, 40.0], 150.0);
    let mut none = |_| Fault::None;
    for _ in 0..10_000 {
        frame(&mut tree, &at, &mut screen, (&mut server, FRAME), &mut none);
    }
    assert!(tree.is_settled());
    let sent = server.sent_count;
    for _ in 0..100 {
        frame(&mut tree, &at, &mut screen, (&mut server, FRAME), &mut none);
    }
    assert_eq!(
        (server.sent_count, tree.data().arrival_state().unwrap().waiting_requests),
        (sent, 0)
    );
}

/// Voxels that have not come are neither changed nor overwritten. Those that have are edited, saved in a
/// local file, and shown at all levels.
#[test]
fn edits_wait_for_the_voxels_that_they_change() {
    let bytes = packed("edits");
    let path = std::env::temp_dir().join(format!("arrivals-{}.drystone", std::process::id()));
    let options = EditOptions::at(&path).with_access(EditAccess::Write);
    let (mut server, source) = server(bytes.clone());
    let source = EditedSource::open(source, &options).unwrap();
    let mut tree = tree(Box::new(source), unlimited());
    let mut screen = Screen::default();
    let near = camera([40.0, 60.0, 40.0], 150.0);
    let voxels = || (0..20).map(|x| (VoxelPos::new(40 + x, 60, 40), Material(1)));
    assert_eq!(tree.set(voxels(), &mut screen).unwrap(), 0, "before they have come");
    let mut none = |_| Fault::None;
    let mut settle_frames = |tree: &mut LodTree, screen: &mut Screen, server: &mut _, at| {
        for count in 0.. {
            frame(tree, at, screen, (&mut *server, FRAME), &mut none);
            if tree.is_settled() {
                break;
            }
            assert!(count < 10_000);
        }
    };
    settle_frames(&mut tree, &mut screen, &mut server, &near);
    let changed = tree.set(voxels(), &mut screen).unwrap();
    assert!(changed > 0);
    let store = tree.data().source().edit_store().unwrap();
    let unsaved = tree.data().unsaved();
    store.put_edited(unsaved.chunks.clone()).unwrap();
    store.flush().unwrap();
    tree.data().saved(&unsaved);
    let far = camera([700.0, 90.0, 650.0], 150.0);
    settle_frames(&mut tree, &mut screen, &mut server, &far);
    let mut expected = Screen::default();
    let mut whole = local(&bytes, unlimited());
    settle(&mut whole, &near, &mut expected);
    assert_eq!(whole.set(voxels(), &mut expected).unwrap(), changed);
    settle(&mut whole, &far, &mut expected);
    assert!(screen.bodies == expected.bodies && screen.skirts == expected.skirts);
    drop(tree);
    std::fs::remove_file(path).unwrap();
}

/// A tree whose file was replaced says that no update changes anything any more, so that no frames follow.
#[test]
fn a_world_whose_file_was_replaced_is_cut_off() {
    let bytes = packed("replaced");
    let at = camera([40.0, 60.0, 40.0], 150.0);
    for (answered, frame_bytes) in [(1, usize::MAX), (2, 1), (3, 4_000), (3, usize::MAX)] {
        let (mut server, source) = server(bytes.clone());
        let mut tree = tree(source, LodConfig { frame_bytes, ..unlimited() });
        let mut screen = Screen::default();
        let mut fault = |number| if number < answered { Fault::None } else { Fault::Replaced };
        let mut frames = 0;
        while !tree.is_cut_off() {
            frame(&mut tree, &at, &mut screen, (&mut server, FRAME), &mut fault);
            frames += 1;
            assert!(frames < 10_000 && !tree.is_settled(), "{tree:?}");
        }
        let (bodies, skirts) = (screen.bodies.clone(), screen.skirts.clone());
        let sent = server.sent_count;
        for _ in 0..100 {
            frame(&mut tree, &at, &mut screen, (&mut server, FRAME), &mut fault);
            assert!(tree.is_cut_off() && !tree.is_settled());
        }
        assert!(screen.bodies == bodies && screen.skirts == skirts, "{answered} {frame_bytes}");
        assert_eq!(server.sent_count, sent);
    }
}
