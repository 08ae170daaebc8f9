//! Tests with a source that fails for a while.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::steps::check_shown_is_current;
use super::*;

/// A source with one chunk that cannot be read until `is_readable` is set.
struct Failing {
    world: Box<Derived>,
    chunk: ChunkPos,
    is_readable: Arc<AtomicBool>,
    /// Number of times that the chunk was requested.
    request_count: Arc<AtomicU32>,
}

impl Source for Failing {
    fn name(&self) -> &str {
        "failing"
    }
    fn materials(&self) -> &MaterialTable {
        self.world.materials()
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.world.chunk_positions()
    }
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        if position == self.chunk {
            self.request_count.fetch_add(1, Ordering::Relaxed);
        }
        if position == self.chunk && !self.is_readable.load(Ordering::Relaxed) {
            return Err(SourceError::NoThreads { count: 0, problem: "not readable yet".into() });
        }
        self.world.chunk(position)
    }
}

const SIZE: [u32; 3] = [8, 4, 8];

/// Creates a source that fails to read `chunk` until the flag is set.
fn failing(chunk: ChunkPos) -> (Box<Failing>, Arc<AtomicBool>) {
    let is_readable = Arc::new(AtomicBool::new(false));
    let world = derived(SIZE);
    let source = Failing {
        world,
        chunk,
        is_readable: Arc::clone(&is_readable),
        request_count: Arc::default(),
    };
    (Box::new(source), is_readable)
}

/// A skirt that was made while its neighbour could not be read is rebuilt by the next edit of the
/// node.
#[test]
fn an_edit_rebuilds_damaged_skirts_when_the_source_is_readable() {
    let near = camera([20.0, 50.0, 20.0], 150.0);
    let (mut whole, mut screen) = (tree(derived(SIZE), unlimited()), Screen::default());
    settle(&mut whole, &near, &mut screen);
    let is_fine = |(node, _): &&(NodePos, Face)| node.level == 0;
    let skirts = screen.skirts.iter().filter(|(_, quads)| !quads.is_empty());
    let skirts = skirts.map(|(skirt, _)| skirt).filter(is_fine);
    let &(node, face) = skirts.min_by_key(|(node, face)| (*node, face.index())).unwrap();

    let (source, is_readable) = failing(node.offset(face.normal()).unwrap().chunk);
    let (mut tree, mut screen) = (tree(source, unlimited()), Screen::default());
    settle(&mut tree, &near, &mut screen);
    assert!(screen.bodies.contains_key(&node));
    assert!(screen.skirts.get(&(node, face)).is_none_or(Vec::is_empty));

    is_readable.store(true, Ordering::Relaxed);
    let [x, y, z] = [node.chunk.x, node.chunk.y, node.chunk.z].map(|c| c * 32 + 16);
    let middle = VoxelPos::new(x, y, z);
    let other = Material(if tree.data().get(middle).is_air() { 1 } else { 0 });
    assert_eq!(tree.set([(middle, other)], &mut screen), Ok(1));
    let repaired = node_mesh::NodeMesher::new(Meshing::default()).mesh(tree.data(), node);
    assert!(!repaired.skirt(face).opaque.is_empty());
    assert_eq!(screen.skirts[&(node, face)], repaired.skirt(face).opaque.quads());
}

/// LOD voxels made without unreadable voxels are made again after a while, at every level.
#[test]
fn incomplete_lod_voxels_are_made_again_after_a_while() {
    let chunk = ChunkPos::new(3, 0, 3);
    let (source, is_readable) = failing(chunk);
    let data = LodData::new(source, 64 << 20);
    assert!(data.top_level() >= 2);
    let root = NodePos::from(chunk).ancestor(data.top_level());
    let whole = LodData::new(derived(SIZE), 64 << 20).chunk(root);
    let is_whole = || data.chunk(root).iter().eq(whole.iter());
    assert!(!is_whole(), "nothing is missing");
    is_readable.store(true, Ordering::Relaxed);
    assert!(!is_whole(), "read again too early");
    data.clock.pass(LodData::RETRY_AFTER);
    assert!(is_whole());
}

/// An unreadable chunk is requested once per retry interval. An edit requests it at once.
#[test]
fn unreadable_chunks_are_requested_once_per_retry_interval() {
    let chunk = ChunkPos::new(3, 0, 3);
    let (source, _) = failing(chunk);
    let request_count = Arc::clone(&source.request_count);
    let data = LodData::new(source, 64 << 20);
    let read_all_levels = || {
        for level in 0..=data.top_level() {
            drop(data.chunk(NodePos::from(chunk).ancestor(level)));
        }
    };
    for round in 1..4 {
        (0..20).for_each(|_| read_all_levels());
        assert_eq!(request_count.load(Ordering::Relaxed), round);
        data.clock.pass(LodData::RETRY_AFTER);
    }
    read_all_levels();
    let before = request_count.load(Ordering::Relaxed);
    data.set([(VoxelPos::new(1, 1, 1), Material(2))]);
    read_all_levels();
    assert_eq!(request_count.load(Ordering::Relaxed), before + 1);
    assert_eq!(data.faults().len(), 1);
}

/// Settles, and waits for damaged nodes to be read again.
fn settle_with_rereads(tree: &mut LodTree, camera: &LodCamera, screen: &mut Screen) {
    settle(tree, camera, screen);
    while tree.is_rereading() {
        tree.wait(Duration::ZERO);
        settle(tree, camera, screen);
    }
}

/// Shown nodes of all levels are repaired when they can be read again. Until then they are retried
/// now and then, and the tree is settled in between.
#[test]
fn shown_nodes_are_repaired_when_the_source_is_readable() {
    for near in [camera([20.0, 50.0, 20.0], 150.0), camera([128.0, 60.0, 1e4], 120.0)] {
        let (mut whole, mut expected) = (tree(derived(SIZE), unlimited()), Screen::default());
        settle(&mut whole, &near, &mut expected);
        let (source, is_readable) = failing(ChunkPos::new(1, 1, 1));
        let request_count = Arc::clone(&source.request_count);
        let (mut tree, mut screen) = (tree(source, unlimited()), Screen::default());
        settle(&mut tree, &near, &mut screen);
        assert!(screen.bodies != expected.bodies && tree.is_broken());
        for _ in 0..3 {
            let before = request_count.load(Ordering::Relaxed);
            for _ in 0..50 {
                tree.update(&near, &mut screen).unwrap();
                assert!(tree.is_settled(), "not settled while unreadable");
            }
            assert_eq!(request_count.load(Ordering::Relaxed), before);
            tree.data().clock.pass(LodData::RETRY_AFTER);
            settle_with_rereads(&mut tree, &near, &mut screen);
            assert!(
                request_count.load(Ordering::Relaxed) > before && screen.bodies != expected.bodies
            );
        }
        is_readable.store(true, Ordering::Relaxed);
        tree.data().clock.pass(LodData::RETRY_AFTER);
        settle_with_rereads(&mut tree, &near, &mut screen);
        assert!(screen.bodies == expected.bodies);
        check_shown_is_current(&tree, &screen);
        tree.data().clock.pass(LodData::RETRY_AFTER);
        tree.update(&near, &mut screen).unwrap();
        assert!(!tree.is_broken());
    }
}
