//! Worlds of which something is damaged, and goes on to be edited.

use super::*;
use crate::NodePos;

/// A chunk whose record takes several pages.
fn noise(seed: u16) -> Chunk {
    Chunk::from_fn(Chunk::SIDE, |at| {
        let place = u32::from(at.x) + 61 * u32::from(at.y) + 3001 * u32::from(at.z);
        Material((place.wrapping_mul(2_654_435_761) >> 16) as u16 % 300 + seed % 2)
    })
}

/// Changes a group's value as the database holds it, without its pages.
fn change(path: &Path, group: GroupPos, work: impl FnOnce(&mut Vec<u8>)) {
    let store = Store::open(path, Access::Write).unwrap();
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

/// The pages of all chunks.
fn page_count(path: &Path) -> usize {
    let store = Store::open(path, Access::Read).unwrap();
    store.read(|it| Ok(it.open_table(pages::CHUNKS.pages)?.iter()?.count())).unwrap()
}

/// Whatever is wrong with a group, edits of it and of others are saved, and its other chunks
/// are told to be lost.
#[test]
fn a_damaged_group_is_in_no_edits_way() {
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

        let world = StoredWorld::open(&path).unwrap();
        assert!((0..6).any(|n| world.chunk(at(n)).is_err()), "damage {n}");
        // Into the group's empty slots, in the place of what is lost, and elsewhere.
        let edits = [(at(7), noise(7)), (at(1), stone.clone()), (far, noise(3))];
        world.put(edits.clone()).unwrap();
        world.flush().unwrap();
        world.put([(far, stone.clone())]).unwrap();
        world.close().unwrap();

        let world = StoredWorld::open_read_only(&path).unwrap();
        assert!(world.chunk(at(7)).unwrap() == noise(7), "damage {n}");
        assert!(world.chunk(at(1)).unwrap() == stone && world.chunk(far).unwrap() == stone);
        let lost: Vec<_> = [0, 2, 3, 4, 5].map(at).into_iter().collect();
        for &at in &lost {
            let told = world.chunk(at).unwrap_err().to_string();
            assert!(told.contains(&place_of(at)), "damage {n}: {told}");
        }
        drop(world);
        let mut found = StoredWorld::check(&path).unwrap().lost;
        found.sort_by_key(|it| (it.z, it.y, it.x));
        assert_eq!(found, lost, "damage {n}");
        // What the damaged value had in pages is not left behind, where no value is.
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
