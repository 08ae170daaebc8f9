use drystone_voxel::ChunkBox;

use super::saving::roller;
use super::*;

#[test]
fn near_nodes_are_fine_and_far_nodes_are_coarse() {
    let mut tree = tree(generated([20, 4, 20]), unlimited());
    let mut screen = Screen::default();
    let near = camera([40.0, 60.0, 40.0], 120.0);
    settle(&mut tree, &near, &mut screen);
    for node in tree.shown() {
        let is_fine = near.voxel_pixels(node) <= tree.config().max_voxel_pixels;
        assert!(is_fine || node.level == 0 || tree.data().chunk(node).is_empty(), "{node:?}");
    }
    let counts = tree.counts();
    assert!(counts.len() >= 3, "{counts:?}");
    assert_eq!(counts.iter().map(|it| it.nodes).sum::<u32>() as usize, screen.bodies.len());
    assert_eq!(counts.iter().map(|it| it.quads).sum::<u64>() as usize, screen.len());
    // Far away: few pixels need few nodes.
    settle(&mut tree, &camera([40.0, 60.0, 1e6], 120.0), &mut screen);
    assert!(tree.shown().all(|node| node.level == tree.data().top_level()));
    // Moving back shows the same nodes as before.
    settle(&mut tree, &near, &mut screen);
    assert_eq!(tree.counts(), counts);
}

/// Small camera movements change nothing.
#[test]
fn small_camera_movements_change_nothing() {
    let mut tree = tree(generated([10, 4, 10]), unlimited());
    let mut screen = Screen::default();
    settle(&mut tree, &camera([200.0, 50.0, 200.0], 150.0), &mut screen);
    let before: HashSet<NodePos> = tree.shown().collect();
    for i in 0..6 {
        let by = f64::from(i % 2) * 1.5;
        settle(&mut tree, &camera([200.0 + by, 50.0, 200.0 - by], 150.0), &mut screen);
    }
    let after: HashSet<NodePos> = tree.shown().collect();
    // Only the first step to the other side changes a few nodes.
    assert!(before.symmetric_difference(&after).count() < before.len() / 10);
    let mut update_count = 0;
    for i in 0..4 {
        let by = f64::from(i % 2) * 1.5;
        update_count +=
            settle(&mut tree, &camera([200.0 + by, 50.0, 200.0 - by], 150.0), &mut screen);
    }
    assert_eq!(update_count, 4, "an update each, and nothing to do");
}

/// An update shows at most its budget and one change.
#[test]
fn an_update_stays_within_its_budget() {
    let budget = 40_000;
    let config = LodConfig { frame_bytes: budget, ..unlimited() };
    let mut tree = tree(generated([16, 4, 16]), config);
    let mut screen = Screen::default();
    let near = camera([200.0, 50.0, 200.0], 200.0);
    let mut last: HashMap<NodePos, usize> = HashMap::new();
    for _ in 0..100_000 {
        for _ in 0..20 {
            tree.wait(Duration::ZERO);
        }
        tree.update(&near, &mut screen).unwrap();
        check(&tree, &screen, 97);
        let bytes = |quads: &Vec<Quad>| quads.len() * size_of::<Quad>();
        let now: HashMap<NodePos, usize> =
            screen.bodies.iter().map(|(&node, quads)| (node, bytes(quads))).collect();
        let new: Vec<usize> =
            now.iter().filter(|(node, _)| !last.contains_key(node)).map(|(_, &it)| it).collect();
        // Eight children may be shown after the budget is used.
        let largest = now.values().max().copied().unwrap_or(0);
        assert!(new.iter().sum::<usize>() <= budget + 8 * largest, "{new:?}");
        last = now;
        if tree.is_settled() {
            return;
        }
    }
    panic!("never settled");
}

/// A full screen stays as it is, and shows more when memory is free.
#[test]
fn a_full_screen_keeps_what_it_shows() {
    let mut tree = tree(generated([16, 4, 16]), unlimited());
    let mut screen = Screen::default();
    settle(&mut tree, &camera([200.0, 1e6, 200.0], 120.0), &mut screen);
    let max_quads = screen.len() + 9_000;
    screen.max_quads = Some(max_quads);
    let [here, there] = [200.0, 400.0].map(|at| camera([at, 50.0, at], 200.0));
    let (mut refused, mut kept) = (0, 0);
    for round in 0..400 {
        tree.wait(Duration::ZERO);
        let before = screen.bodies.clone();
        let is_refused =
            tree.update(if round % 200 < 100 { &here } else { &there }, &mut screen).is_err();
        refused += u32::from(is_refused);
        // All covered roots stay covered, and each mesh stays the same.
        check_cover(&tree, &screen);
        assert!(screen.len() <= max_quads);
        for (node, quads) in &screen.bodies {
            assert!(before.get(node).is_none_or(|it| it == quads), "{node:?} is another");
        }
        let is_same = before.len() == screen.bodies.len()
            && before.keys().all(|node| screen.bodies.contains_key(node));
        kept += u32::from(is_refused && is_same);
    }
    assert!(refused > 100 && kept > 50, "{refused} refused, {kept} without any change");
    screen.max_quads = None;
    settle(&mut tree, &here, &mut screen);
    assert!(screen.len() > max_quads, "nothing was missing");
}

/// Trees with and without threads show the same.
#[test]
fn threads_show_the_same() {
    let near = camera([100.0, 50.0, 300.0], 100.0);
    // Within the hysteresis, the level would depend on the camera's previous positions.
    let config = LodConfig { hysteresis: 1.0, ..unlimited() };
    let mut alone = tree(generated([12, 4, 12]), config);
    let mut expected = Screen::default();
    settle(&mut alone, &near, &mut expected);
    let data = Arc::new(LodData::new(generated([12, 4, 12]), 64 << 20));
    let mut threaded = LodTree::new(data, LodConfig { threads: 3, ..config }).unwrap();
    let mut screen = Screen::default();
    // Starts at another position, whose requests are then dropped.
    for _ in 0..5 {
        threaded.update(&camera([380.0, 20.0, 0.0], 400.0), &mut screen).unwrap();
        threaded.wait(Duration::from_millis(5));
    }
    while update_unsettled(&mut threaded, &near, &mut screen) {
        threaded.wait(Duration::from_millis(50));
    }
    check(&threaded, &screen, 1);
    assert!(screen.bodies.len() > 100 && screen.bodies == expected.bodies);
    assert!(screen.skirts == expected.skirts && screen.rims == expected.rims);
}

fn update_unsettled(tree: &mut LodTree, camera: &LodCamera, screen: &mut Screen) -> bool {
    tree.update(camera, screen).unwrap();
    !tree.is_settled()
}

/// A chunk that cannot be read is reported once, and everything else is shown.
#[test]
fn damaged_chunks_are_reported_and_the_rest_is_shown() {
    struct Damaged(Box<GeneratedWorld>);
    impl Source for Damaged {
        fn name(&self) -> &str {
            "damaged"
        }
        fn materials(&self) -> &MaterialTable {
            self.0.materials()
        }
        fn chunk_positions(&self) -> Vec<ChunkPos> {
            self.0.chunk_positions()
        }
        fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
            if position == ChunkPos::new(2, 1, 2) {
                return Err(SourceError::ChunkSide { found: 3, expected: 32 });
            }
            self.0.chunk(position)
        }
    }
    let source = Damaged(generated([5, 4, 5]));
    assert_eq!(source.extent().map(|it: ChunkBox| it.size_chunks()), Some([5, 4, 5]));
    let mut tree = tree(Box::new(source), unlimited());
    let mut screen = Screen::default();
    settle(&mut tree, &camera([80.0, 60.0, 80.0], 900.0), &mut screen);
    assert_eq!(tree.data().faults().len(), 1);
    assert!(screen.bodies.len() > 50);
}

#[test]
fn an_empty_world_settles_at_once() {
    let mut tree = tree(generated([0, 4, 4]), unlimited());
    let mut screen = Screen::default();
    assert_eq!(settle(&mut tree, &camera([0.0; 3], 100.0), &mut screen), 1);
    assert!(screen.bodies.is_empty());
}

/// After any edit, every level shows what a new tree would show.
#[test]
fn edits_are_shown_at_once_at_every_level() {
    for meshing in MESHINGS {
        edits_show_at_once(tree(derived([8, 4, 8]), unlimited_with(meshing)), 60, true);
    }
    // Without a cache, most of the world would have to be read at once.
    edits_show_at_once(tree_with(derived([4, 4, 4]), unlimited(), 0), 6, false);
}

/// Edits are shown at once while threads make outdated meshes.
#[test]
fn edits_are_shown_at_once_while_threads_work() {
    let data = Arc::new(LodData::new(derived([6, 4, 6]), 32 << 20));
    let mut tree = LodTree::new(data, LodConfig { threads: 2, ..unlimited() }).unwrap();
    let mut screen = Screen::default();
    let materials = tree.data().materials().len() as i32;
    for round in 0..200 {
        let position = f64::from(round) * 0.9;
        let near =
            camera([position, 50.0, 200.0 - position], if round % 40 < 20 { 90.0 } else { 30.0 });
        tree.update(&near, &mut screen).unwrap();
        tree.wait(Duration::from_millis(1));
        let at = [round * 37 % 192, round * 11 % 128, round * 53 % 192];
        let material = Material((round % materials) as u16);
        tree.set([(VoxelPos::new(at[0], at[1], at[2]), material)], &mut screen).unwrap();
    }
    let near = camera([60.0, 50.0, 60.0], 60.0);
    while update_unsettled(&mut tree, &near, &mut screen) {
        tree.wait(Duration::from_millis(20));
    }
    check_shown_is_current(&tree, &screen);
}

fn edits_show_at_once(mut tree: LodTree, rounds: u32, is_kept: bool) {
    let mut screen = Screen::default();
    let near = camera([20.0, 50.0, 20.0], 90.0);
    settle(&mut tree, &near, &mut screen);
    assert!(tree.counts().len() >= 2);
    let mut roll = roller(7);
    let materials = tree.data().materials().len() as u32;
    let size = tree.data().extent().unwrap().size_chunks().map(|chunks| chunks as u32 * 32);
    for round in 0..rounds {
        let [x, y, z] = size.map(|side| roll(side) as i32);
        let at = VoxelPos::new(x, y, z);
        let material = Material(if round % 3 == 0 { 0 } else { roll(materials) as u16 });
        let side = 1 + roll(9) as i32;
        let cube = (0..side.pow(3)).map(|i| {
            let [x, y, z] = [i % side, i / side % side, i / side / side];
            (VoxelPos::new(at.x + x, at.y + y, at.z + z), material)
        });
        tree.set(cube, &mut screen).unwrap();
        assert_eq!(tree.data().get(at), material);
        assert!(!is_kept || !tree.has_waiting_edits());
        while tree.has_waiting_edits() {
            tree.wait(Duration::ZERO);
            tree.update(&near, &mut screen).unwrap();
        }
        check(&tree, &screen, 7);
    }
    check_shown_is_current(&tree, &screen);
    assert_eq!(tree.set([(VoxelPos::new(i32::MIN, 0, 0), Material(0))], &mut screen), Ok(0));
}

/// Every mesh is current, and every level is downsampled from the level below.
pub(super) fn check_shown_is_current(tree: &LodTree, screen: &Screen) {
    check_meshes_are_current(tree, screen);
    check_levels_follow(tree);
}

/// Every mesh is current.
pub(super) fn check_meshes_are_current(tree: &LodTree, screen: &Screen) {
    let mut mesher = node_mesh::NodeMesher::new(tree.config().meshing);
    for (&node, quads) in &screen.bodies {
        let mesh = mesher.mesh(tree.data(), node);
        let now: Vec<Quad> = mesh.body.iter().map(|(quad, _)| quad).collect();
        assert_eq!(&now, quads, "{node:?}");
        for face in Face::ALL {
            if let Some(skirt) = screen.skirts.get(&(node, face)) {
                assert_eq!(mesh.skirt(face).opaque.quads(), skirt, "{node:?} {face:?}");
                let rim = &screen.rims[&(node, face)];
                assert_eq!(mesh.skirt(face).translucent.quads(), rim, "{node:?} {face:?}");
            }
        }
    }
}

fn check_levels_follow(tree: &LodTree) {
    for (position, _) in tree.data().unsaved().chunks {
        let mut node = NodePos::from(position);
        while node.level < tree.data().top_level() {
            node = node.parent();
            let children = node.children().unwrap().map(|child| tree.data().chunk(child));
            let expected = drystone_voxel::downsample(
                Chunk::SIDE,
                children.each_ref().map(Some),
                tree.data().materials(),
            )
            .unwrap();
            assert!(tree.data().chunk(node).iter().eq(expected.iter()), "{node:?}");
        }
    }
}
