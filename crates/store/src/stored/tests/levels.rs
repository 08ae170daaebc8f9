//! Stored LOD chunks, compared with LOD voxels that are computed one by one.

use std::collections::HashMap;

use drystone_voxel::{NodePos, VoxelPos, downsample_block};
use drystone_world::LodData;

use super::*;
use crate::stored::meta::Head;
use crate::stored::nodes::{node_at_stored_position, stored_position};

/// Computes single LOD voxels recursively from the eight voxels below. Never downsamples whole
/// chunks.
struct Dumb<'a> {
    chunks: &'a BTreeMap<ChunkPos, Chunk>,
    materials: &'a MaterialTable,
    known: HashMap<(u8, VoxelPos), Material>,
}

impl Dumb<'_> {
    fn voxel(&mut self, level: u8, at: VoxelPos) -> Material {
        let (chunk, local) = at.split(Chunk::SIDE);
        if level == 0 {
            return self.chunks.get(&chunk).map_or(Material::AIR, |chunk| chunk.get(local));
        }
        if !self.chunks.keys().any(|&it| NodePos::from(it).ancestor(level).chunk == chunk) {
            return Material::AIR;
        }
        if let Some(&known) = self.known.get(&(level, at)) {
            return known;
        }
        let block = std::array::from_fn(|i| {
            let [dx, dy, dz] = [i & 1, i >> 1 & 1, i >> 2].map(|far| far as i32);
            self.voxel(level - 1, VoxelPos::new(2 * at.x + dx, 2 * at.y + dy, 2 * at.z + dz))
        });
        let found = downsample_block(block, self.materials);
        self.known.insert((level, at), found);
        found
    }

    /// Compares `chunk` with computed voxels at positions all over it.
    fn assert_is(&mut self, node: NodePos, chunk: &Chunk) {
        let ChunkPos { x, y, z } = node.chunk;
        let side = Chunk::SIDE as i32;
        for n in 0..500 {
            let at = [n * 7 % side, n * 11 / 3 % side, n * 13 / 5 % side];
            let voxel = VoxelPos::new(x * side + at[0], y * side + at[1], z * side + at[2]);
            let local = LocalPos::new(at[0] as u8, at[1] as u8, at[2] as u8);
            assert_eq!(chunk.get(local), self.voxel(node.level, voxel), "{node:?} {at:?}");
        }
    }
}

/// All nodes above the chunks, up to the root level.
fn nodes(chunks: &BTreeMap<ChunkPos, Chunk>) -> Vec<NodePos> {
    let top = ChunkBox::around(chunks.keys().copied()).map_or(0, |it| it.top_level());
    let all = (1..=top)
        .flat_map(|level| chunks.keys().map(move |&chunk| NodePos::from(chunk).ancestor(level)));
    let all: std::collections::BTreeSet<_> = all.collect();
    all.into_iter().collect()
}

/// Nodes whose LOD chunks are stored in the file.
fn stored_nodes(path: &Path) -> Vec<NodePos> {
    let store = Store::open(path, Access::Read, CACHE_BYTES).unwrap();
    store
        .read(|transaction| {
            let mut nodes = Vec::new();
            let values = pages::Values::open(transaction, pages::LEVELS)?.unwrap();
            for entry in values.values.iter()? {
                let (key, value) = entry?;
                let group = GroupPos::of_key(*key.value());
                let value = values.joined(key.value(), value.value(), None)?;
                let value = group::Group::parse(group, &value).unwrap();
                let slots = (0..group::SLOTS).filter(|&slot| value.record(slot).is_some());
                nodes.extend(slots.map(|slot| node_at_stored_position(group.chunk(slot)).unwrap()));
            }
            Ok(nodes)
        })
        .unwrap()
}

/// Random sequence of edits, derivations, flushes and reopenings. LOD chunks always follow from the
/// chunks, for writers and for readers.
#[test]
fn lod_chunks_follow_from_the_chunks_after_any_operations() {
    let folder = Folder::new();
    let (mut random, mut shadow) = (Random::new(5), BTreeMap::new());
    StoredWorld::create(&folder.file(), "", &materials(300)).unwrap().close().unwrap();
    let mut kept_count = 0;
    for round in 0..14 {
        let world = StoredWorld::open(&folder.file(), &StoreOptions::default()).unwrap();
        for _ in 0..3 {
            let mut c = |side: i32| random.below(side) - side / 2;
            let at = ChunkPos::new(c(9), c(3), c(9));
            let chunk = some_chunk(&mut random);
            shadow.insert(at, chunk.clone());
            world.put([(at, chunk)]).unwrap();
            match random.below(4) {
                0 => world.flush().unwrap(),
                1 => world.derive_levels(&mut |_, _| {}).unwrap(),
                _ => {}
            }
            shadow.retain(|_, chunk| !chunk.is_empty());
            let mut dumb =
                Dumb { chunks: &shadow, materials: world.materials(), known: HashMap::new() };
            for node in nodes(&shadow).into_iter().filter(|_| random.below(3) == 0) {
                dumb.assert_is(node, &world.coarse_chunk(node).unwrap().unwrap());
            }
        }
        world.close().unwrap();
        let world = StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap();
        let mut dumb =
            Dumb { chunks: &shadow, materials: world.materials(), known: HashMap::new() };
        for node in nodes(&shadow) {
            if let Some(chunk) = world.coarse_chunk(node) {
                dumb.assert_is(node, &chunk.unwrap());
                kept_count += 1;
            }
        }
        drop(world);
        // No LOD chunk is stored where there are no chunks.
        let there = nodes(&shadow);
        assert!(
            stored_nodes(&folder.file()).iter().all(|node| there.contains(node)),
            "round {round}"
        );
    }
    assert!(kept_count > 20, "{kept_count}");
}

/// Compares an imported generated world with the same chunks without stored LOD data, at every
/// level.
#[test]
fn stored_lod_chunks_equal_those_of_the_source() {
    let folder = Folder::new();
    let config = GeneratorConfig::default().with_size_chunks([10, 4, 9]);
    let made = GeneratedWorld::new(config).unwrap();
    let (world, _) = crate::import::import(
        &made,
        &folder.file(),
        &crate::import::ImportOptions::default(),
        &mut |_| {},
    )
    .unwrap();
    let positions = world.chunk_positions();
    world.close().unwrap();
    let mut chunks = BTreeMap::new();
    chunks.extend(positions.iter().map(|&at| (at, made.chunk(at).unwrap())));
    let mut expected = nodes(&chunks);
    expected.sort();
    let mut found = stored_nodes(&folder.file());
    found.sort();
    assert_eq!(found, expected, "an import makes all LOD chunks");

    let open = || StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap();
    let with = LodData::new(Box::new(open()), 1 << 20);
    let without = LodData::new(Box::new(WithoutLevels(open())), 64 << 20);
    assert_eq!(with.roots(), without.roots());
    for level in 0..=with.top_level() {
        let low = NodePos::from(ChunkPos::new(-1, -1, -1)).ancestor(level).chunk;
        let high = NodePos::from(ChunkPos::new(10, 4, 9)).ancestor(level).chunk;
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                for z in low.z..=high.z {
                    let node = NodePos::new(level, ChunkPos::new(x, y, z));
                    assert!(with.chunk(node) == without.chunk(node), "{node:?}");
                }
            }
        }
    }
    let mut dumb = Dumb { chunks: &chunks, materials: made.materials(), known: HashMap::new() };
    for node in with.roots() {
        dumb.assert_is(node, &with.chunk(node));
    }
}

/// A source with the same chunks and no LOD data.
struct WithoutLevels(StoredWorld);

impl Source for WithoutLevels {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn materials(&self) -> &MaterialTable {
        self.0.materials()
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.0.chunk_positions()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        self.0.chunk(position)
    }
}

/// A distant view with LOD data reads one chunk instead of all chunks below.
#[test]
fn a_distant_view_reads_few_chunks() {
    let folder = Folder::new();
    let config = GeneratorConfig::default().with_size_chunks([16, 4, 16]);
    let made = GeneratedWorld::new(config).unwrap();
    let (world, _) = crate::import::import(
        &made,
        &folder.file(),
        &crate::import::ImportOptions::default(),
        &mut |_| {},
    )
    .unwrap();
    world.close().unwrap();
    // Removes every chunk. The LOD chunks remain.
    let store = Store::open(&folder.file(), Access::Write, CACHE_BYTES).unwrap();
    store
        .write(|it| {
            it.open_table(pages::CHUNKS.values)?.retain(|_, _| false)?;
            Ok(())
        })
        .unwrap();
    drop(store);
    let world = StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap();
    let data = LodData::new(Box::new(world), 1 << 20);
    assert!(data.roots().iter().any(|&root| !data.chunk(root).is_empty()));
    assert_eq!(data.faults(), [""; 0]);
    let lowest = data.chunk(NodePos::from(ChunkPos::new(0, 0, 0)));
    assert!(lowest.is_empty() && data.faults().len() == 1, "{:?}", data.faults());
}

/// A LOD chunk above a damaged chunk is shown but not stored.
#[test]
fn lod_chunks_above_damage_are_not_stored() {
    let folder = Folder::new();
    let world = StoredWorld::create(&folder.file(), "", &materials(3)).unwrap();
    let stone = || Chunk::new(Chunk::SIDE, Material(1));
    world.put([0, 1, 4].map(|x| (ChunkPos::new(x, 0, 0), stone()))).unwrap();
    world.close().unwrap();
    let store = Store::open(&folder.file(), Access::Write, CACHE_BYTES).unwrap();
    let group = GroupPos::of(ChunkPos::new(0, 0, 0)).0;
    store
        .write(|it| {
            let mut table = it.open_table(pages::CHUNKS.values)?;
            let mut value = table.get(&group.key())?.unwrap().value().to_vec();
            *value.last_mut().unwrap() ^= 1;
            table.insert(&group.key(), value.as_slice())?;
            Ok(())
        })
        .unwrap();
    drop(store);
    let world = StoredWorld::open(&folder.file(), &StoreOptions::default()).unwrap();
    world.derive_levels(&mut |_, _| {}).unwrap();
    let parent = world.coarse_chunk(NodePos::new(1, ChunkPos::new(0, 0, 0))).unwrap().unwrap();
    assert_eq!(parent.get(LocalPos::new(0, 0, 0)), Material(1), "intact chunks are visible");
    assert_eq!(parent.get(LocalPos::new(16, 0, 0)), Material::AIR);
    world.close().unwrap();
    let beside = NodePos::from(ChunkPos::new(4, 0, 0));
    assert_eq!(stored_nodes(&folder.file()), [1, 2].map(|level| beside.ancestor(level)));
}

/// Damaged LOD chunks lose no data: they are reported and rebuilt.
#[test]
fn damaged_lod_chunks_are_reported_and_rebuilt() {
    let folder = Folder::new();
    let world = StoredWorld::create(&folder.file(), "", &materials(3)).unwrap();
    let noise =
        |seed: u16| Chunk::from_fn(Chunk::SIDE, |at| Material((u16::from(at.x ^ at.y) + seed) % 4));
    world.put((0..5).map(|n| (ChunkPos::new(2 * n, 0, 0), noise(n as u16)))).unwrap();
    world.derive_levels(&mut |_, _| {}).unwrap();
    world.close().unwrap();
    let whole = StoredWorld::check(&folder.file()).unwrap();
    let all = stored_nodes(&folder.file());
    assert_eq!((whole.levels, whole.damage.len()), (all.len() as u64, 0), "{:?}", whole.damage);

    let node = NodePos::new(1, ChunkPos::new(4, 0, 0));
    let group = GroupPos::of(stored_position(node).unwrap()).0;
    let store = Store::open(&folder.file(), Access::Write, CACHE_BYTES).unwrap();
    store
        .write(|it| {
            let mut table = it.open_table(pages::LEVELS.values)?;
            let mut value = table.get(&group.key())?.unwrap().value().to_vec();
            *value.last_mut().unwrap() ^= 1;
            table.insert(&group.key(), value.as_slice())?;
            // And a group at a position that belongs to no node.
            table.insert(&GroupPos::of(ChunkPos::default()).0.key(), value.as_slice())?;
            Ok(())
        })
        .unwrap();
    drop(store);
    let world = StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap();
    assert!(world.coarse_chunk(node).is_none(), "the caller makes it of the chunks below");
    assert!(world.faults()[0].contains("level 1, chunk 4,0,0"), "{:?}", world.faults());
    drop(world);

    let (found, damaged) = StoredWorld::repair(&folder.file()).unwrap();
    assert_eq!((found.damage.len(), found.lost.len()), (2, 0), "{:?}", found.damage);
    assert_eq!((found.chunks, found.levels), (5, whole.levels - 1));
    assert!(damaged.is_some());
    assert_eq!(StoredWorld::check(&folder.file()).unwrap(), whole);
    assert_eq!(stored_nodes(&folder.file()), all);
}

/// Edits chunks while other threads make LOD chunks of the content before the edit.
#[test]
fn a_concurrent_edit_is_never_overwritten_by_an_older_lod_chunk() {
    use std::sync::atomic::AtomicBool;
    let folder = Folder::new();
    let policy = CommitPolicy { max_delay: Duration::ZERO, ..CommitPolicy::default() };
    StoredWorld::create(&folder.file(), "", &materials(300)).unwrap().close().unwrap();
    let world = StoredWorld::open(&folder.file(), &policy.into()).unwrap();
    let is_done = AtomicBool::new(false);
    let (mut random, mut shadow) = (Random::new(17), BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let roots =
                    [NodePos::new(2, ChunkPos::default()), NodePos::new(3, ChunkPos::default())];
                while !is_done.load(Ordering::Relaxed) {
                    roots.iter().for_each(|&root| drop(world.coarse_chunk(root)));
                }
            });
        }
        for _ in 0..150 {
            let mut c = || random.below(4);
            let at = ChunkPos::new(c(), c(), c());
            let chunk = some_chunk(&mut random);
            shadow.insert(at, chunk.clone());
            world.put([(at, chunk)]).unwrap();
            if random.below(4) == 0 {
                (0..random.below(1_000)).for_each(|_| std::thread::yield_now());
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    world.derive_levels(&mut |_, _| {}).unwrap();
    world.close().unwrap();
    shadow.retain(|_, chunk| !chunk.is_empty());
    let world = StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap();
    let mut dumb = Dumb { chunks: &shadow, materials: world.materials(), known: HashMap::new() };
    for node in nodes(&shadow) {
        dumb.assert_is(node, &world.coarse_chunk(node).unwrap().unwrap());
    }
}

/// LOD data of version 2 is not read, and the next commit deletes it.
#[test]
fn lod_data_of_an_earlier_version_is_deleted() {
    let folder = Folder::new();
    let world = StoredWorld::create(&folder.file(), "", &materials(3)).unwrap();
    world.put([(ChunkPos::default(), Chunk::new(Chunk::SIDE, Material(1)))]).unwrap();
    world.close().unwrap();
    let key = GroupPos::of(ChunkPos::default()).0.key();
    let store = Store::open(&folder.file(), Access::Write, CACHE_BYTES).unwrap();
    store
        .write(|it| {
            let stored = it.open_table(META)?.get(HEAD)?.map(|head| head.value().to_vec());
            let mut stored = Head::of_bytes(&stored.unwrap()).unwrap();
            stored.version = 2;
            it.open_table(META)?.insert(HEAD, stored.to_bytes().as_slice())?;
            it.open_table(pages::OLD_LEVELS.values)?.insert(&key, [7_u8].as_slice())?;
            it.open_table(pages::OLD_LEVELS.pages)?.insert(&[0; 14], [7_u8].as_slice())?;
            Ok(())
        })
        .unwrap();
    drop(store);
    let has_old = || {
        let store = Store::open(&folder.file(), Access::Read, CACHE_BYTES).unwrap();
        store.read(|it| pages::Values::open(it, pages::OLD_LEVELS)).unwrap().is_some()
    };
    assert!(has_old());
    let world = StoredWorld::open(&folder.file(), &StoreOptions::default()).unwrap();
    world.put([(ChunkPos::new(1, 0, 0), Chunk::new(Chunk::SIDE, Material(2)))]).unwrap();
    world.close().unwrap();
    assert!(!has_old());
    assert!(StoredWorld::check(&folder.file()).unwrap().damage.is_empty());
}
