//! Damaged worlds that are edited.

use drystone_voxel::{NodePos, VoxelPos};

use super::*;

/// A chunk whose record takes several pages.
fn noise(seed: u16) -> Chunk {
    Chunk::from_fn(Chunk::SIDE, |at| {
        let at = u32::from(at.x) + 61 * u32::from(at.y) + 3001 * u32::from(at.z);
        Material((at.wrapping_mul(2_654_435_761) >> 16) as u16 % 300 + seed % 2)
    })
}

/// Changes a group's value in the database, but not its pages.
fn change(path: &Path, group: GroupPos, work: impl FnOnce(&mut Vec<u8>)) {
    let store = Store::open(path, Access::Write, CACHE_BYTES).unwrap();
    store
        .write(|it| {
            let mut table = it.open_table(pages::CHUNKS.values)?;
            let mut value = table.get(&group.key())?.unwrap().value().to_vec();
            work(&mut value);
            table.insert(&group.key(), value.as_slice())?;
            Ok(())
        })
        .unwrap();
}

/// Damages the record of a chunk.
pub(crate) fn damage_chunk(path: &Path, at: ChunkPos) {
    let (group, slot) = GroupPos::of(at);
    change(path, group, |value| {
        // Its checksum: after the head; each entry begins with a length of four bytes.
        let before = (value[1] & ((1 << slot) - 1)).count_ones() as usize;
        assert!(value[0] == 1 && value[1] >> slot & 1 != 0);
        value[2 + 12 * before + 4] ^= 1;
    });
}

/// Number of pages of all chunks.
fn page_count(path: &Path) -> usize {
    let store = Store::open(path, Access::Read, CACHE_BYTES).unwrap();
    store.read(|it| Ok(it.open_table(pages::CHUNKS.pages)?.iter()?.count())).unwrap()
}

/// For any damage in a group, edits of the group and of others are saved. The group's other
/// chunks are reported as lost.
#[test]
fn a_damaged_group_does_not_block_edits() {
    let at = |n: i32| ChunkPos::new(n & 1, n >> 1 & 1, n >> 2);
    let (far, stone) = (ChunkPos::new(9, 0, 9), Chunk::new(Chunk::SIDE, Material(2)));
    let damages: [fn(&mut Vec<u8>); 5] = [
        |value| value[0] = 9,
        |value| value[1] = 0x81,
        |value| value[3] ^= 0x40,
        |value| value.truncate(3),
        Vec::clear,
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        let folder = Folder::new();
        let path = folder.file();
        let world = StoredWorld::create(&path, "", &materials(301)).unwrap();
        world.put((0..6).map(|n| (at(n), noise(n as u16)))).unwrap();
        world.close().unwrap();
        assert!(page_count(&path) > 10, "{}", page_count(&path));
        let group = GroupPos::of(at(0)).0;
        change(&path, group, damage);

        let world = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
        assert!((0..6).any(|n| world.chunk(at(n)).is_err()), "damage {n}");
        // Edits an empty slot of the group, a lost chunk, and another group.
        let edits = [(at(7), noise(7)), (at(1), stone.clone()), (far, noise(3))];
        world.put(edits.clone()).unwrap();
        world.flush().unwrap();
        world.put([(far, stone.clone())]).unwrap();
        world.close().unwrap();

        let world = StoredWorld::open(&path, &StoreOptions::read_only()).unwrap();
        assert!(world.chunk(at(7)).unwrap() == noise(7), "damage {n}");
        assert!(world.chunk(at(1)).unwrap() == stone && world.chunk(far).unwrap() == stone);
        let lost: Vec<_> = [0, 2, 3, 4, 5].map(at).into_iter().collect();
        for &at in &lost {
            let message = world.chunk(at).unwrap_err().to_string();
            assert!(message.contains(&location_of(at)), "damage {n}: {message}");
        }
        drop(world);
        let mut found = StoredWorld::check(&path).unwrap().lost;
        found.sort_by_key(|it| (it.z, it.y, it.x));
        assert_eq!(found, lost, "damage {n}");
        // No pages of the damaged value remain.
        let one_chunk = noise(7);
        let alone = folder.0.join("alone.drystone");
        let world = StoredWorld::create(&alone, "", &materials(301)).unwrap();
        world.put([(at(7), one_chunk), (at(1), stone.clone())]).unwrap();
        world.close().unwrap();
        assert_eq!(page_count(&path), page_count(&alone), "damage {n}");

        let (report, kept) = StoredWorld::repair(&path).unwrap();
        assert_eq!((report.chunks, kept.is_some()), (3, true), "damage {n}");
        assert_eq!(StoredWorld::check(&path).unwrap().damage, [""; 0]);
    }
}

/// A chunk that cannot be loaded is not air, and edits must not replace it.
#[test]
fn a_chunk_that_could_not_be_loaded_is_not_edited() {
    use drystone_world::{Edit, VoxelAccess, VoxelShape};
    let folder = Folder::new();
    let (lost, whole) = (ChunkPos::new(0, 0, 0), ChunkPos::new(1, 0, 0));
    let stone = Chunk::new(Chunk::SIDE, Material(1));
    let stored = StoredWorld::create(&folder.file(), "", &materials(3)).unwrap();
    stored.put([lost, whole].map(|at| (at, stone.clone()))).unwrap();
    stored.close().unwrap();
    damage_chunk(&folder.file(), lost);
    let stored = StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap();
    let mut world = World::load(&stored).unwrap();
    assert!(world.unreadable().eq([lost]));
    assert_eq!(world.chunk_at(lost), None);
    assert_eq!(world.chunk_at(whole), Some(stone.clone()));
    assert_eq!(world.chunk_at(ChunkPos::new(0, 1, 0)).map(|it| it.is_empty()), Some(true));

    let shape = VoxelShape::Sphere { center: VoxelPos::new(31, 5, 5), radius_voxels: 4 };
    let edit = Edit::fill(&world, &shape, Material(2)).unwrap();
    assert!(edit.chunks().all(|(at, _)| at != lost) && edit.voxel_count() > 20);
    world.apply(&edit);
    // An edit made elsewhere, and a single voxel.
    let plain = World::from_chunks("", materials(3), [(lost, stone.clone())]).unwrap();
    world.apply(&Edit::fill(&plain, &shape, Material(2)).unwrap());
    assert_eq!(world.set(VoxelPos::new(1, 1, 1), Material(2)), Material::AIR);
    assert!(world.chunk(lost).is_none() && world.chunk(whole).is_some_and(|it| *it != stone));
    // A whole chunk replaces it.
    world.insert(lost, stone.clone()).unwrap();
    assert_eq!((world.unreadable().len(), world.chunk_at(lost)), (0, Some(stone)));
}

/// Reading LOD chunks does not wait for a slow disk.
#[test]
fn reading_lod_chunks_waits_for_no_commit() {
    use std::sync::mpsc::channel;
    let folder = Folder::new();
    let policy = CommitPolicy { max_delay: Duration::ZERO, max_bytes: 1 };
    let stone = |n| [(ChunkPos::new(n, 0, 0), Chunk::new(Chunk::SIDE, Material(1)))];
    let world = StoredWorld::create(&folder.file(), "", &materials(3)).unwrap();
    world.put(stone(0)).unwrap();
    world.close().unwrap();
    let world = StoredWorld::open(&folder.file(), &policy.into()).unwrap();
    let ((begun, is_begun), (end, ended), (read, is_read)) = (channel(), channel(), channel());
    std::thread::scope(|scope| {
        let world = &world;
        scope.spawn(move || {
            // Blocks commits until the other transaction ends.
            let held = world.contents.store.write(|_| {
                begun.send(()).unwrap();
                Ok(ended.recv())
            });
            held.unwrap().unwrap();
        });
        is_begun.recv().unwrap();
        world.put(stone(8)).unwrap();
        // One batch is being written; what is put now is pending and exceeds the limit.
        while world.contents.committer.as_ref().is_some_and(|it| !it.is_writing()) {
            std::thread::yield_now();
        }
        world.put(stone(16)).unwrap();
        scope.spawn(move || {
            let node = NodePos::from(ChunkPos::new(0, 0, 0)).parent();
            read.send(world.coarse_chunk(node).unwrap().unwrap().is_empty()).unwrap();
        });
        let found = is_read.recv_timeout(Duration::from_secs(20));
        end.send(()).unwrap();
        assert_eq!(found, Ok(false));
    });
    // `derive_levels` waits, and stores all of them.
    world.derive_levels(&mut |_, _| {}).unwrap();
    world.close().unwrap();
    let world = StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap();
    for at in world.chunk_positions() {
        assert!(world.coarse_chunk(NodePos::from(at).parent()).is_some(), "{at:?}");
    }
}

/// Beyond the range of coordinates there are no chunks below a node.
#[test]
fn nodes_beyond_the_coordinate_range_are_air() {
    let folder = Folder::new();
    let world = StoredWorld::create(&folder.file(), "", &materials(3)).unwrap();
    let stone = Chunk::new(Chunk::SIDE, Material(1));
    let ends = [i32::MIN, i32::MAX].map(|x| ChunkPos::new(x, 0, 0));
    world.put(ends.map(|at| (at, stone.clone()))).unwrap();
    for at in ends {
        assert!(world.chunk(at).unwrap() == stone);
        for level in [1, 5, NodePos::MAX_LEVEL] {
            let node = NodePos::new(level, at);
            assert!(world.coarse_chunk(node).unwrap().unwrap().is_empty(), "{node:?}");
        }
    }
}

/// Encodes a chunk in the format from before brick storage: a list of runs.
fn old_record(chunk: &Chunk) -> Vec<u8> {
    let mut runs: Vec<(usize, Material)> = Vec::new();
    for (_, material) in chunk {
        match runs.last_mut() {
            Some((len, last)) if *last == material => *len += 1,
            _ => runs.push((1, material)),
        }
    }
    let mut materials: Vec<Material> = runs.iter().map(|it| it.1).collect();
    materials.sort_unstable();
    materials.dedup();
    // Uncompressed, in run storage. Every length is at the end, as if it were a long one.
    let mut record = vec![0, 255];
    record.extend((materials.len() as u16 - 1).to_le_bytes());
    record.extend(materials.iter().flat_map(|it| it.0.to_le_bytes()));
    record.extend((runs.len() as u16 - 1).to_le_bytes());
    let indices = runs.iter().map(|(_, it)| materials.binary_search(it).unwrap());
    record.extend(indices.clone().map(|index| (index.min(7) as u8) << 5));
    let far: Vec<usize> = indices.filter(|&index| index >= 7).collect();
    record.extend((far.len() as u16).to_le_bytes());
    record.extend(far.iter().flat_map(|&index| (index as u16).to_le_bytes()));
    for &(len, _) in &runs {
        record.extend([len as u8 | 0x80, (len >> 7) as u8 | 0x80, (len >> 14) as u8]);
    }
    record
}

/// Reads, edits and checks a file with uncut values and records of runs.
#[test]
fn a_file_from_before_bricks_and_pages_is_readable_and_editable() {
    let folder = Folder::new();
    let path = folder.file();
    let at = |n: i32| ChunkPos::new(n & 1, n >> 1 & 1, n >> 2);
    let chunk = |n: i32| match n {
        0 => Chunk::from_fn(Chunk::SIDE, |at| Material(u16::from(at.y < 9))),
        _ => noise(n as u16),
    };
    let world = StoredWorld::create(&path, "", &materials(301)).unwrap();
    world.put((0..3).map(|n| (at(n), chunk(n)))).unwrap();
    world.close().unwrap();
    let group = GroupPos::of(at(0)).0;
    let records = std::array::from_fn(|n| (n < 3).then(|| old_record(&chunk(n as i32))));
    let old = group::Group::replaced(group, None, &records).unwrap();
    assert!(old.len() > 1 << 16, "longer than any page");
    let store = Store::open(&path, Access::Write, CACHE_BYTES).unwrap();
    store.write(|it| Ok(it.open_table(pages::CHUNKS.pages)?.retain(|_, _| false)?)).unwrap();
    drop(store);
    change(&path, group, |value| *value = old);

    let check = StoredWorld::check(&path).unwrap();
    assert_eq!((check.chunks, check.damage.len()), (3, 0), "{:?}", check.damage);
    let world = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
    (0..3).for_each(|n| assert!(world.chunk(at(n)).unwrap() == chunk(n), "{n}"));
    world.put([(at(5), chunk(5))]).unwrap();
    world.close().unwrap();
    let world = StoredWorld::open(&path, &StoreOptions::read_only()).unwrap();
    [0, 1, 2, 5].into_iter().for_each(|n| assert!(world.chunk(at(n)).unwrap() == chunk(n)));
    drop(world);
    assert_eq!(StoredWorld::check(&path).unwrap().damage, [""; 0]);
    assert!(page_count(&path) > 0, "newly written values are cut");
}
