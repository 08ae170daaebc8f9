//! Identity of a world: its own id, not its name or path.

use super::*;
use crate::edited::{EditAccess, EditOptions, EditedSource};

fn stone() -> Vec<(ChunkPos, Chunk)> {
    vec![(ChunkPos::default(), Chunk::new(Chunk::SIDE, Material(1)))]
}

/// Creates a closed world with this name and one chunk.
fn world(path: &Path, name: &str) {
    let world = StoredWorld::create(path, name, &materials(3)).unwrap();
    world.put(stone()).unwrap();
    world.close().unwrap();
}

fn identity(path: &Path) -> String {
    StoredWorld::open(path, &StoreOptions::read_only()).unwrap().identity()
}

fn set_id(path: &Path, bytes: Option<&[u8]>) {
    let store = Store::open(path, Access::Write, CACHE_BYTES).unwrap();
    let set = store.write(|it| {
        let mut table = it.open_table(META)?;
        match bytes {
            Some(bytes) => drop(table.insert(ID, bytes)?),
            None => drop(table.remove(ID)?),
        }
        Ok(())
    });
    set.unwrap();
    store.close().unwrap();
}

fn open_edits(world: &Path, edits: &Path) -> Result<EditedSource, SourceError> {
    let source = Box::new(StoredWorld::open(world, &StoreOptions::read_only())?);
    EditedSource::open(source, &EditOptions { access: EditAccess::Write, ..EditOptions::at(edits) })
}

#[test]
fn edits_are_accepted_over_moved_and_copied_worlds_and_refused_over_others_of_the_same_name() {
    let folder = Folder::new();
    let at = |name: &str| folder.0.join(name);
    let (first, second, edits) = (at("first"), at("second"), at("edits"));
    world(&first, "one name");
    world(&second, "one name");
    assert_ne!(identity(&first), identity(&second));

    let edited = open_edits(&first, &edits).unwrap();
    drystone_formats::EditStore::put_edited(&edited, stone()).unwrap();
    drystone_formats::EditStore::flush(&edited).unwrap();
    drop(edited);
    let refused = open_edits(&second, &edits).unwrap_err();
    assert!(matches!(refused, SourceError::OtherEdits { .. }), "{refused}");

    let (copied, moved) = (at("copied"), at("moved"));
    fs::copy(&first, &copied).unwrap();
    fs::rename(&first, &moved).unwrap();
    let identities = [&copied, &moved].map(|path| open_edits(path, &edits).unwrap().identity());
    assert_eq!(identities[0], identities[1]);
    // Changing the world keeps its identity.
    let changed = StoredWorld::open(&moved, &StoreOptions::default()).unwrap();
    changed.put([(ChunkPos::new(7, 0, 0), stone()[0].1.clone())]).unwrap();
    changed.close().unwrap();
    StoredWorld::compact(&moved).unwrap();
    assert_eq!(identity(&moved), identity(&copied));
    open_edits(&moved, &edits).unwrap();
}

/// Files from before worlds had ids are identified by their names.
#[test]
fn a_world_without_an_id_is_identified_by_its_name() {
    let folder = Folder::new();
    let (path, edits) = (folder.file(), folder.0.join("edits"));
    world(&path, "old");
    set_id(&path, None);
    assert_eq!(identity(&path), "old");
    assert_eq!(StoredWorld::check(&path).unwrap().damage, Vec::<String>::new());
    drop(open_edits(&path, &edits).unwrap());
    let written = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
    written.put(stone()).unwrap();
    written.close().unwrap();
    open_edits(&path, &edits).unwrap();
    assert_eq!(identity(&path), "old");
}

#[test]
fn a_repaired_world_keeps_its_id_unless_the_id_is_lost() {
    let folder = Folder::new();
    let path = folder.file();
    world(&path, "broken");
    let before = identity(&path);
    let store = Store::open(&path, Access::Write, CACHE_BYTES).unwrap();
    let set = store.write(|it| {
        it.open_table(META)?.insert(MATERIALS, [1; 9].as_slice())?;
        Ok(())
    });
    set.unwrap();
    store.close().unwrap();
    assert!(StoredWorld::repair(&path).unwrap().1.is_some());
    assert_eq!(identity(&path), before);

    fs::remove_file(with_suffix(&path, "damaged")).unwrap();
    set_id(&path, Some(&[1; 24]));
    let damaged = StoredWorld::open(&path, &StoreOptions::read_only()).unwrap_err();
    assert!(damaged.to_string().contains("id: "), "{damaged}");
    let (check, kept) = StoredWorld::repair(&path).unwrap();
    assert!(kept.is_some() && check.damage[0].contains("id: "), "{:?}", check.damage);
    let after = identity(&path);
    assert!(after.starts_with("broken, id ") && after != before, "{after}");
    assert_eq!(StoredWorld::check(&path).unwrap().chunks, 1);
}
