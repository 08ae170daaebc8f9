//! Trees of full detail, or with a highest level below that of the world.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use drystone_voxel::{GreedyMesher, VoxelBox};

use super::edits::voxels;
use super::steps::check_meshes_are_current;
use super::*;
use crate::world::World;

const SIZE: [u32; 3] = [4, 4, 3];

fn full_detail(meshing: Meshing) -> LodConfig {
    LodConfig { max_level: 0, ..unlimited_with(meshing) }
}

fn view() -> LodCamera {
    camera([60.0, 50.0, -40.0], 90.0)
}

fn quads(mesh: &ChunkMesh) -> Vec<Quad> {
    mesh.iter().map(|(quad, _)| quad).collect()
}

/// Compares what is shown with meshes of a world in memory, chunk by chunk.
fn assert_shows(screen: &Screen, world: &World, meshing: Meshing) {
    let mut mesher = GreedyMesher::with_options(meshing.into());
    let (mut padded, mut mesh) = (PaddedChunk::new(), ChunkMesh::new());
    assert!(screen.skirts.is_empty());
    let mut shown: HashMap<NodePos, &Vec<Quad>> =
        screen.bodies.iter().map(|(&node, body)| (node, body)).collect();
    for position in world.positions() {
        world.pad(position, &mut padded);
        mesh.clear();
        mesher.mesh(&padded, world.materials(), &mut mesh);
        assert_eq!(shown.remove(&position.into()), Some(&quads(&mesh)), "{position:?}");
    }
    assert!(shown.values().all(|body| body.is_empty()), "air has a mesh");
}

/// Sources that make levels and that do not, with both kinds of meshes.
#[test]
fn full_detail_shows_every_chunk_as_a_world_in_memory() {
    for meshing in MESHINGS {
        for source in [generated(SIZE) as Box<dyn Source>, derived(SIZE)] {
            let world = World::load(source.as_ref()).unwrap();
            let (mut tree, mut screen) = (tree(source, full_detail(meshing)), Screen::default());
            settle_full(&mut tree, &mut screen);
            assert!(tree.counts().iter().all(|count| count.level == 0));
            assert!(tree.shown().count() >= world.chunk_count());
            assert_shows(&screen, &world, meshing);
        }
    }
}

fn settle_full(tree: &mut LodTree, screen: &mut Screen) {
    for _ in 0..10_000 {
        tree.update(&view(), screen).unwrap();
        if tree.is_settled() {
            assert!(tree.is_whole());
            return;
        }
        tree.wait(Duration::ZERO);
    }
    panic!("never settled");
}

/// Edits show before the call returns, in chunks that exist, in air and outside the world.
#[test]
fn edits_of_full_detail_are_shown_at_once_and_extend_the_world() {
    for meshing in MESHINGS {
        let source = derived(SIZE);
        let mut world = World::load(source.as_ref()).unwrap();
        let (mut tree, mut screen) = (tree(source, full_detail(meshing)), Screen::default());
        settle_full(&mut tree, &mut screen);
        let before = tree.data().extent().unwrap();
        let places = [[40, 60, 40], [40, 127, 40], [-1, 20, 20], [70, 200, 9], [500, -90, -700]];
        for (n, [x, y, z]) in places.into_iter().enumerate() {
            let ball =
                VoxelShape::Sphere { center: VoxelPos::new(x, y, z), radius_voxels: 2 + n as u32 };
            fill(&mut tree, &ball, Material(1), &mut screen).unwrap();
            voxels(ball).for_each(|at| _ = world.set(at, Material(1)));
            assert!(!tree.has_waiting_edits() && tree.is_whole(), "{ball:?}");
            assert_shows(&screen, &world, meshing);
        }
        let after = tree.data().extent().unwrap();
        assert!(!before.contains(after.min) && !before.contains(after.max));
        // A tree made later shows the same, and so does the world that a reader of chunks finds.
        let mut again = LodTree::new(tree.shared_data(), *tree.config()).unwrap();
        let mut other = Screen::default();
        settle_full(&mut again, &mut other);
        assert_shows(&other, &world, meshing);
        assert_eq!(tree.data().bounds(), world.bounds());
    }
}

/// An edit of many chunks outside the world appears as a whole.
#[test]
fn a_large_edit_outside_the_world_is_shown_as_a_whole() {
    for config in [full_detail(Meshing::default()), unlimited()] {
        let (mut tree, mut screen) = (tree(derived(SIZE), config), Screen::default());
        settle_full(&mut tree, &mut screen);
        let min = VoxelPos::new(-40, 100, 20);
        let block = VoxelShape::Box(VoxelBox { min, max: VoxelPos::new(150, 290, 200) });
        fill(&mut tree, &block, Material(1), &mut screen).unwrap();
        assert!(tree.has_waiting_edits());
        let is_outside = |node: &NodePos| node.chunk.y << node.level >= 4;
        let mut updates = 0;
        while tree.has_waiting_edits() {
            assert_eq!(screen.bodies.keys().filter(|it| is_outside(it)).count(), 0, "{updates}");
            tree.wait(Duration::ZERO);
            tree.update(&view(), &mut screen).unwrap();
            updates += 1;
        }
        assert!(updates > 9 && screen.bodies.keys().any(is_outside));
        settle_full(&mut tree, &mut screen);
        check_meshes_are_current(&tree, &screen);
    }
}

/// Levels above the highest are never shown, and the rest is as in a tree without a limit.
#[test]
fn no_node_above_the_highest_level_is_shown() {
    let far = camera([60.0, 5_000.0, -40.0], 90.0);
    for (max_level, expected) in [(0, 0), (1, 1), (2, 2), (NodePos::MAX_LEVEL, 2)] {
        let mut tree = tree(derived([6, 4, 3]), LodConfig { max_level, ..unlimited() });
        let mut screen = Screen::default();
        for _ in 0..10_000 {
            tree.update(&far, &mut screen).unwrap();
            assert!(tree.shown().all(|node| node.level <= max_level));
            if tree.is_settled() {
                break;
            }
            tree.wait(Duration::ZERO);
        }
        assert!(tree.is_settled() && tree.is_whole());
        let levels: Vec<u8> = tree.counts().iter().map(|count| count.level).collect();
        assert_eq!(levels, [expected]);
        check_meshes_are_current(&tree, &screen);
    }
}

/// An edit that a full sink refuses is shown when the sink has memory.
#[test]
fn refused_edits_outside_the_world_are_shown_later() {
    let (mut tree, mut screen) =
        (tree(derived(SIZE), full_detail(Meshing::default())), Screen::default());
    let mut world = World::load(derived(SIZE).as_ref()).unwrap();
    settle_full(&mut tree, &mut screen);
    screen.max_quads = Some(screen.len());
    let block = VoxelShape::Sphere { center: VoxelPos::new(-90, 40, 20), radius_voxels: 9 };
    assert_eq!(fill(&mut tree, &block, Material(1), &mut screen), Err(Full));
    voxels(block).for_each(|at| _ = world.set(at, Material(1)));
    for _ in 0..9 {
        assert_eq!(tree.update(&view(), &mut screen), Err(Full));
        assert!(!tree.is_whole() && !tree.is_settled());
    }
    screen.max_quads = None;
    settle_full(&mut tree, &mut screen);
    assert_shows(&screen, &world, Meshing::default());
}

#[test]
fn read_all_leaves_nothing_to_read() {
    let source = generated(SIZE);
    let world = World::load(source.as_ref()).unwrap();
    let data = LodData::new(source, usize::MAX);
    let count = AtomicU64::new(0);
    data.read_all(|| _ = count.fetch_add(1, Relaxed)).unwrap();
    assert_eq!(count.into_inner(), data.source().chunk_count());
    for position in world.positions() {
        assert_eq!(data.cached(position.into()).as_ref(), world.chunk(position), "{position:?}");
    }
    assert_eq!(data.bounds(), world.bounds());
}

/// Threads that finish meshes in any order do not change the order in which the sink gets them.
#[test]
fn uncovered_nodes_are_shown_by_priority_whatever_is_finished_first() {
    let mut orders = Vec::new();
    for threads in [0, 1, 3] {
        let data = Arc::new(LodData::new(derived(SIZE), 64 << 20));
        let config = LodConfig { threads, ..full_detail(Meshing::default()) };
        let (mut tree, mut screen) = (LodTree::new(data, config).unwrap(), Ordered::default());
        for _ in 0..10_000 {
            tree.update(&view(), &mut screen).unwrap();
            if tree.is_settled() {
                break;
            }
            tree.wait(Duration::from_millis(1));
        }
        assert!(tree.is_settled());
        orders.push(screen.0);
    }
    assert!(orders[0].len() > 30 && orders[0] == orders[1] && orders[1] == orders[2]);
}

/// A sink that records the order of bodies.
#[derive(Default)]
struct Ordered(Vec<NodePos>);

impl NodeSink for Ordered {
    type Error = Full;

    fn set_body(&mut self, node: NodePos, _: Option<&ChunkMesh>) -> Result<(), Full> {
        self.0.push(node);
        Ok(())
    }

    fn set_skirt(&mut self, _: NodePos, _: Face, _: Option<&ChunkMesh>) -> Result<(), Full> {
        Ok(())
    }
}

/// While the sink refuses meshes, only a few more than the limit are made and wait.
#[test]
fn a_full_sink_does_not_fill_memory_with_waiting_meshes() {
    let config = LodConfig { waiting_bytes: 64 << 10, ..full_detail(Meshing::default()) };
    let (mut tree, mut screen) = (tree(derived([8, 4, 8]), config), Screen::default());
    screen.max_quads = Some(2_000);
    let mut last = 0;
    for _ in 0..400 {
        let _ = tree.update(&view(), &mut screen);
        last = tree.waiting_bytes();
        while tree.work() {}
    }
    assert!(!tree.is_whole() && !tree.is_waiting());
    assert!(last < 4 * config.waiting_bytes, "{last}");
    screen.max_quads = None;
    settle_full(&mut tree, &mut screen);
}
