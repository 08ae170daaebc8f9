//! The order of changes, and limits for waiting meshes.

use super::*;

/// A sink with a limit that records the order of shown bodies.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) screen: Screen,
    pub(super) shown_bodies: Vec<NodePos>,
}

impl NodeSink for Recorder {
    type Error = Full;

    fn set_body(&mut self, node: NodePos, mesh: Option<&ChunkMesh>) -> Result<(), Full> {
        self.screen.set_body(node, mesh)?;
        if mesh.is_some() {
            self.shown_bodies.push(node);
        }
        Ok(())
    }

    fn set_skirt(
        &mut self,
        node: NodePos,
        face: Face,
        skirt: Option<&ChunkMesh>,
    ) -> Result<(), Full> {
        self.screen.set_skirt(node, face, skirt)
    }
}

fn make_all(tree: &mut LodTree) {
    // More meshes than these tests ever request at once.
    (0..2_000).for_each(|_| tree.wait(Duration::ZERO));
}

/// Returns the nodes that should be split, with their priorities.
fn coarse(tree: &LodTree, camera: &LodCamera) -> HashMap<NodePos, f64> {
    let is_coarse = |node: &NodePos| {
        let is_large = camera.voxel_pixels(*node) > tree.config().max_voxel_pixels;
        let is_air = tree.data().chunk(*node).is_empty() && tree.data().is_air_below(*node);
        is_large && node.level > 0 && !is_air
    };
    tree.shown().filter(is_coarse).map(|node| (node, tree::plan::priority(node, camera))).collect()
}

/// If all meshes are finished, a small budget is spent on the largest nodes in the picture.
#[test]
fn changes_with_the_highest_priority_come_first() {
    let mut tree = tree(generated([16, 4, 16]), unlimited());
    let mut recorder = Recorder::default();
    settle(&mut tree, &camera([-1e5, 200.0, -1e5], 10.0), &mut recorder.screen);
    tree.set_config(LodConfig { frame_bytes: 0, ..unlimited() });
    let near = camera([250.0, 60.0, 250.0], 150.0);
    let mut evaluated: HashSet<NodePos> = tree.shown().collect();
    tree.update(&near, &mut recorder).unwrap();
    let mut steps = 0;
    while !tree.is_settled() {
        make_all(&mut tree);
        // Nodes of the last update are evaluated by the next one. Until then no mesh is requested
        // for them.
        let mut coarse = coarse(&tree, &near);
        coarse.retain(|node, _| evaluated.contains(node));
        evaluated = tree.shown().collect();
        recorder.shown_bodies.clear();
        tree.update(&near, &mut recorder).unwrap();
        if let Some(first) = recorder.shown_bodies.first() {
            // One change per update. A split shows at most eight nodes.
            assert!(recorder.shown_bodies.len() <= 8, "{:?}", recorder.shown_bodies);
            let most = coarse.values().copied().fold(0.0, f64::max);
            assert_eq!(coarse[&first.parent()], most, "{first:?} was shown before a larger node");
            steps += 1;
        }
    }
    assert!(steps > 30, "{steps}");
}

/// The meshes of a refused split are kept, and shown when memory is free.
#[test]
fn a_refused_split_keeps_its_meshes() {
    let mut tree = tree(generated([16, 4, 16]), unlimited());
    let mut screen = Screen::default();
    settle(&mut tree, &camera([250.0, 1_500.0, 250.0], 150.0), &mut screen);
    let near = camera([250.0, 100.0, 250.0], 150.0);
    assert!(tree.update(&near, &mut screen).is_ok());
    make_all(&mut tree);
    let before: HashSet<NodePos> = tree.shown().collect();
    screen.max_quads = Some(screen.len() + 10);
    assert_eq!(tree.update(&near, &mut screen), Err(Full));
    let waiting = tree.waiting_bytes();
    assert!(waiting > 0);
    for _ in 0..5 {
        assert_eq!(tree.update(&near, &mut screen), Err(Full));
        assert_eq!(tree.waiting_bytes(), waiting);
        assert!(tree.shown().all(|node| before.contains(&node)));
    }
    screen.max_quads = None;
    tree.update(&near, &mut screen).unwrap();
    assert!(tree.shown().filter(|node| !before.contains(node)).count() >= 8);
    assert_eq!(tree.waiting_bytes(), 0);
    check(&tree, &screen, 1);
}

/// If two views do not fit together, the memory that one frees is used by the other.
#[test]
fn memory_freed_by_a_merge_is_used() {
    let mut tree = tree(generated([16, 4, 16]), unlimited());
    let mut screen = Screen::default();
    let [here, there] = [[60.0, 60.0, 60.0], [450.0, 60.0, 450.0]].map(|at| camera(at, 120.0));
    let (mut most, mut both) = (0, HashMap::new());
    for at in [&there, &here] {
        settle(&mut tree, at, &mut screen);
        most = most.max(screen.len());
        both.extend(screen.bodies.clone());
    }
    let max_quads = most + most / 4;
    screen.max_quads = Some(max_quads);
    let together: usize = both.values().map(Vec::len).sum();
    assert!(together > max_quads, "{together} quads fit");
    let mut refused = 0;
    for _ in 0..20_000 {
        refused += u32::from(tree.update(&there, &mut screen).is_err());
        check(&tree, &screen, usize::MAX);
        assert!(screen.len() <= max_quads);
        if tree.is_settled() {
            assert!(refused > 0, "there was always enough memory");
            return check(&tree, &screen, 1);
        }
        tree.wait(Duration::ZERO);
    }
    panic!("never settled");
}

/// Finished meshes that are not taken stay within their limit while the threads run.
#[test]
fn waiting_meshes_stay_within_their_limit() {
    let data = Arc::new(LodData::new(generated([16, 4, 16]), 64 << 20));
    let waiting_bytes = 60_000;
    let config = LodConfig { threads: 2, waiting_bytes, frame_bytes: 1, ..unlimited() };
    let mut tree = LodTree::new(data, config).unwrap();
    let mut screen = Screen::default();
    let near = camera([250.0, 60.0, 250.0], 200.0);
    let mut max_waiting = 0;
    for round in 0..2_000 {
        tree.update(&near, &mut screen).unwrap();
        if round % 20 == 0 {
            tree.wait_for_threads();
        }
        tree.wait(Duration::from_millis(1));
        max_waiting = max_waiting.max(tree.waiting_bytes());
        if tree.is_settled() {
            break;
        }
    }
    let largest = screen.bodies.values().map(Vec::len).max().unwrap() * size_of::<Quad>() * 2;
    // Meshes that may always wait, here and in the threads, and those taken before the limit was
    // reached.
    assert!(max_waiting <= waiting_bytes + 2 * 11 * largest, "{max_waiting}, {largest} each");
    assert!(max_waiting > 0 && tree.is_settled());
}
