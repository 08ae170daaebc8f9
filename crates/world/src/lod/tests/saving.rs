//! After saving, the source returns the saved chunks, and no difference is visible.

use std::sync::Mutex;

use drystone_voxel::ChunkBox;

use super::*;
use crate::shape::VoxelShape;

/// A source that stores chunks, as a stored world does. The lowest two chunks of each column come
/// from the generated world below it.
#[derive(Clone)]
struct Store {
    below: Arc<GeneratedWorld>,
    kept: Arc<Mutex<HashMap<ChunkPos, Chunk>>>,
    makes_levels: bool,
}

const SIZE: [u32; 3] = [3, 4, 3];

impl Store {
    fn new(makes_levels: bool) -> Self {
        Self { below: Arc::new(*generated(SIZE)), kept: Arc::default(), makes_levels }
    }

    fn put(&self, unsaved: &Unsaved) {
        self.kept.lock().unwrap().extend(unsaved.chunks.iter().cloned());
    }
}

impl Source for Store {
    fn name(&self) -> &str {
        "store"
    }
    fn materials(&self) -> &MaterialTable {
        self.below.materials()
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        let mut positions = self.below.chunk_positions();
        positions.retain(|position| position.y < 2);
        positions.extend(self.kept.lock().unwrap().keys());
        positions
    }
    fn extent(&self) -> Option<ChunkBox> {
        self.below.extent()
    }
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        match self.kept.lock().unwrap().get(&position) {
            Some(chunk) => Ok(chunk.clone()),
            None if position.y < 2 => self.below.chunk(position),
            None => Ok(Chunk::new(Chunk::SIDE, Material::AIR)),
        }
    }
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        if self.makes_levels { self.below.coarse_chunk(node) } else { None }
    }
    fn makes_levels(&self) -> bool {
        self.makes_levels
    }
}

pub(super) fn every_node(data: &LodData) -> Vec<NodePos> {
    let mut nodes = data.roots();
    let mut next = 0;
    while next < nodes.len() {
        let children = nodes[next].children().into_iter().flatten();
        nodes.extend(children.filter(|&child| data.is_inside(child)));
        next += 1;
    }
    nodes
}

pub(super) fn roller(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut random = Random::new(seed);
    move |below| random.below(below)
}

/// A random voxel, mostly in a few regions where edits overlap.
fn any_voxel(roll: &mut impl FnMut(u32) -> u32) -> VoxelPos {
    let [x, y, z] = SIZE.map(|chunks| {
        let all = chunks * 32;
        if roll(3) == 0 { roll(all) as i32 } else { 30 + roll(5) as i32 }
    });
    VoxelPos::new(x, if roll(4) == 0 { 70 + roll(50) as i32 } else { y }, z)
}

/// Edits, some of them between taking a snapshot and saving it. Compares voxels with a map, and all
/// nodes with newly made levels.
fn saving_changes_nothing(cache_bytes: usize) {
    let store = Store::new(false);
    let data = LodData::new(Box::new(store.clone()), cache_bytes);
    let (mut shadow, mut roll) = (HashMap::new(), roller(5));
    let materials = data.materials().len() as u32;
    let edit = |shadow: &mut HashMap<_, _>, roll: &mut dyn FnMut(u32) -> u32| {
        for _ in 0..20 {
            let at = any_voxel(&mut |below| roll(below));
            let material = Material(if roll(3) == 0 { 0 } else { roll(materials) as u16 });
            data.set([(at, material)]);
            shadow.insert(at, material);
        }
    };
    for round in 0..30 {
        edit(&mut shadow, &mut roll);
        let unsaved = data.unsaved();
        assert_eq!(unsaved.chunks.len(), data.unsaved_count());
        if round % 3 == 0 {
            edit(&mut shadow, &mut roll);
        }
        if round % 2 == 0 {
            store.put(&unsaved);
            data.saved(&unsaved);
        }
        for (&at, &material) in &shadow {
            assert_eq!(data.get(at), material, "{at:?} in round {round}");
        }
        if round % 10 == 9 {
            let copy = Store {
                kept: Arc::new(store.kept.lock().unwrap().clone().into()),
                ..store.clone()
            };
            copy.put(&data.unsaved());
            let rebuilt = LodData::new(Box::new(copy), 64 << 20);
            for node in every_node(&data) {
                assert_eq!(data.chunk(node), rebuilt.chunk(node), "{node:?} in round {round}");
            }
        }
    }
    let unsaved = data.unsaved();
    assert!(!unsaved.chunks.is_empty());
    store.put(&unsaved);
    data.saved(&unsaved);
    assert_eq!((data.unsaved_count(), data.edit_count()), (0, 0), "saved chunks are released");
    assert!(data.cached_bytes() <= cache_bytes);
}

#[test]
fn saving_changes_no_chunk() {
    saving_changes_nothing(64 << 20);
}

#[test]
fn saving_changes_no_chunk_with_a_small_cache() {
    saving_changes_nothing(100_000);
    saving_changes_nothing(0);
}

/// Edits stay in memory if the source makes its own LOD voxels, because it returns these without edits.
#[test]
fn lod_voxels_made_by_the_source_keep_their_edits() {
    let store = Store::new(true);
    let data = LodData::new(Box::new(store.clone()), 1 << 20);
    let (mut roll, materials) = (roller(9), data.materials().len() as u32);
    for _ in 0..60 {
        let at = any_voxel(&mut roll);
        data.set([(at, Material(roll(materials) as u16))]);
    }
    let before: Vec<Chunk> = every_node(&data).into_iter().map(|node| data.chunk(node)).collect();
    let unsaved = data.unsaved();
    store.put(&unsaved);
    data.saved(&unsaved);
    assert_eq!(data.unsaved_count(), 0);
    assert!(data.edit_count() > 0);
    let after: Vec<Chunk> = every_node(&data).into_iter().map(|node| data.chunk(node)).collect();
    assert!(before == after);
}

/// A chunk that is made on a thread during an edit and save is never cached in its old state.
#[test]
fn threads_cache_no_outdated_chunks() {
    let store = Store::new(false);
    let data = LodData::new(Box::new(store.clone()), 60_000);
    let nodes = every_node(&data);
    let (mut shadow, mut roll) = (HashMap::new(), roller(3));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for first in 0..2 {
            let (data, nodes, is_over) = (&data, &nodes, &is_over);
            scope.spawn(move || {
                let mut read = first;
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    data.chunk(nodes[read * 7 % nodes.len()]);
                    read += 1;
                }
            });
        }
        for round in 0..300 {
            let at = any_voxel(&mut roll);
            let material = Material(1 + roll(3) as u16);
            data.set([(at, material)]);
            shadow.insert(at, material);
            if round % 3 == 0 {
                let unsaved = data.unsaved();
                store.put(&unsaved);
                data.saved(&unsaved);
            }
            if round % 50 == 0 {
                shadow.iter().for_each(|(&at, &material)| assert_eq!(data.get(at), material));
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    store.put(&data.unsaved());
    let rebuilt = LodData::new(Box::new(store.clone()), 64 << 20);
    for node in nodes {
        assert_eq!(data.chunk(node), rebuilt.chunk(node), "{node:?}");
    }
}

/// One thread edits, one saves, one reads. No edit is lost at any level.
#[test]
fn edits_during_a_save_are_kept() {
    let store = Store::new(false);
    let data = LodData::new(Box::new(store.clone()), 60_000);
    let nodes = every_node(&data);
    let (mut shadow, mut roll) = (HashMap::new(), roller(11));
    let [is_over, saved] = [const { std::sync::atomic::AtomicUsize::new(0) }; 2];
    let order = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|scope| {
        let (data, nodes, is_over, saved, store) = (&data, &nodes, &is_over, &saved, &store);
        scope.spawn(move || {
            while is_over.load(order) == 0 {
                let unsaved = data.unsaved();
                store.put(&unsaved);
                data.saved(&unsaved);
                saved.fetch_add(unsaved.chunks.len(), order);
            }
        });
        scope.spawn(move || {
            for read in (0..).take_while(|_| is_over.load(order) == 0) {
                data.chunk(nodes[read * 7 % nodes.len()]);
            }
        });
        for round in 0..600 {
            let at = any_voxel(&mut roll);
            let material = Material(1 + roll(3) as u16);
            if round % 40 == 0 {
                let shape = VoxelShape::Sphere { center: at, radius_voxels: 3 };
                fill_data(data, &shape, material);
                let [x, y, z] = at.to_array().map(|c| c - 3..=c + 3);
                let rows = x.flat_map(|x| y.clone().map(move |y| (x, y)));
                let all = rows.flat_map(|(x, y)| z.clone().map(move |z| VoxelPos::new(x, y, z)));
                let inside = all.filter(|&at| shape.contains(at));
                shadow.extend(inside.map(|at| (at, material)));
            }
            data.set([(at, material)]);
            assert_eq!(data.get(at), material, "{at:?} in round {round}");
            shadow.insert(at, material);
        }
        is_over.store(1, order);
    });
    assert!(saved.into_inner() > 20, "nothing was saved meanwhile");
    shadow.retain(|&at, _| data.is_inside(at.split(Chunk::SIDE).0.into()));
    for (&at, &material) in &shadow {
        assert_eq!(data.get(at), material, "{at:?}");
    }
    store.put(&data.unsaved());
    let rebuilt = LodData::new(Box::new(store.clone()), 64 << 20);
    for node in nodes {
        assert_eq!(data.chunk(node), rebuilt.chunk(node), "{node:?}");
    }
}
