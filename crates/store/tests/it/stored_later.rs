//! Worlds opened for reading: shared, unchanged, and written only after the first edit.

use std::{
    fs,
    path::{Path, PathBuf},
};

use drystone_formats::{EditDestination, EditStore, SeparateEdits, Source, SourceError, WorldFile};
use drystone_store::{
    CommitPolicy, EditAccess, EditOptions, EditedSource, StoredLater, StoredWorld,
};
use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};
use drystone_world::{GeneratedWorld, GeneratorConfig};

const POSITION: ChunkPos = ChunkPos::new(1, 2, 3);

fn file(name: &str) -> PathBuf {
    let name = format!("drystone-later-{name}-{}.drystone", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = fs::remove_file(&path);
    path
}

fn uniform(material: u16) -> Chunk {
    Chunk::new(Chunk::SIDE, Material(material))
}

fn lacks_file(edited: &EditedSource) -> bool {
    edited.destination() == EditDestination::None
}

fn later(path: &Path) -> Result<StoredLater, SourceError> {
    StoredLater::open(path, CommitPolicy::default())
}

/// Any number of processes may read. The first edit takes the file for writing. The others still
/// see the previous content and can no longer edit.
#[test]
fn worlds_are_read_by_many_and_edited_by_one() {
    let path = file("together");
    let mut materials = MaterialTable::new();
    materials.insert("stone", [1, 2, 3, 255]).unwrap();
    let world = StoredWorld::create(&path, "w", &materials).unwrap();
    world.put([(POSITION, uniform(1))]).unwrap();
    world.close().unwrap();
    let before = fs::read(&path).unwrap();
    let (first, second) = (later(&path).unwrap(), later(&path).unwrap());
    let edit = |material: u16| vec![(POSITION, uniform(material))];
    let seen = |world: &StoredLater| world.chunk(POSITION).unwrap().uniform().unwrap().0;
    assert_eq!([&first, &second].map(seen), [1, 1]);
    assert!(!first.is_writing() && first.edit_store().is_some());
    assert!(fs::read(&path).unwrap() == before, "looking changes nothing");
    first.put_edited(edit(0)).unwrap();
    for round in 0..20 {
        // More than enough to overwrite the pages that the other process reads, if they were not
        // protected.
        let some = |i: i32| {
            (
                ChunkPos::new(i, 0, round),
                Chunk::from_fn(Chunk::SIDE, |at| {
                    Material(u16::from(at.x ^ at.y ^ at.z) + i as u16 % 7)
                }),
            )
        };
        first.put_edited((0..40).map(some).collect()).unwrap();
        first.flush().unwrap();
        assert_eq!([&first, &second].map(seen), [0, 1]);
        assert_eq!(second.chunk_count(), 1);
        assert!(matches!(second.put_edited(edit(2)), Err(SourceError::InUse { .. })));
        // A process that opens the file now sees the saved edits and cannot save.
        let third = later(&path).unwrap();
        assert!(third.is_air(POSITION.into()) && third.chunk_count() == first.chunk_count());
        assert!(matches!(third.put_edited(edit(2)), Err(SourceError::InUse { .. })));
    }
    drop(first);
    assert!(matches!(second.put_edited(edit(2)), Err(SourceError::ChangedElsewhere { .. })));
    assert!(!second.is_writing() && seen(&second) == 1);
    drop(second);
    let last = later(&path).unwrap();
    assert!(last.is_air(POSITION.into()) && last.chunk_count() == 800);
    last.put_edited(edit(2)).unwrap();
    assert_eq!(seen(&last), 2);
    drop(last);
    fs::remove_file(path).unwrap();
}

fn generated() -> Box<dyn Source> {
    let config = GeneratorConfig::default().with_size_chunks([2, 4, 4]);
    Box::new(GeneratedWorld::new(config).unwrap())
}

/// The first edit creates a file of edits, and never overwrites a file.
#[test]
fn files_of_edits_are_made_by_the_first_edit() {
    let path = file("first");
    let policy = CommitPolicy::default();
    let edited =
        EditedSource::open(generated(), &EditOptions::at(&path).with_policy(policy)).unwrap();
    let original = edited.chunk(POSITION).unwrap();
    edited.put_edited(Vec::new()).unwrap();
    assert!(!path.exists() && original.iter().eq(edited.source().chunk(POSITION).unwrap().iter()));
    edited.put_edited(vec![(POSITION, uniform(2))]).unwrap();
    edited.flush().unwrap();
    assert!(path.exists());
    drop(edited);
    let open =
        || EditedSource::open(generated(), &EditOptions::at(&path).with_policy(policy)).unwrap();
    for edited in [open(), open()] {
        assert_eq!(edited.chunk(POSITION).unwrap().uniform(), Some(Material(2)));
    }
    // A source without a file takes a new one, even after failed attempts.
    let unkept =
        EditedSource::open(generated(), &EditOptions::default().with_policy(policy)).unwrap();
    assert!(lacks_file(&unkept) && unkept.edit_store().is_none());
    assert!(unkept.save_to(WorldFile::Path(&path)).is_err() && lacks_file(&unkept));
    let other = file("other");
    unkept.save_to(WorldFile::Path(&other)).unwrap();
    unkept.edit_store().unwrap().put_edited(vec![(POSITION, uniform(3))]).unwrap();
    assert_eq!(unkept.chunk(POSITION).unwrap().uniform(), Some(Material(3)));
    drop(unkept);
    let edited =
        EditedSource::open(generated(), &EditOptions::at(&other).with_access(EditAccess::Read))
            .unwrap();
    assert_eq!(edited.chunk(POSITION).unwrap().uniform(), Some(Material(3)));
    drop(edited);
    [path, other].into_iter().for_each(|path| fs::remove_file(path).unwrap());
}

/// If two processes use one file of edits, whether it existed before or not, the second cannot
/// write it. That process saves its previous and new edits to another file.
#[test]
fn edits_can_be_saved_to_another_file() {
    let policy = CommitPolicy::default();
    let [before, own, last] = [0, 1, 3].map(|x| ChunkPos::new(x, 0, 0));
    let put = |edited: &EditedSource, at, material| {
        edited.put_edited(vec![(at, uniform(material))]).and_then(|()| edited.flush())
    };
    for is_there in [false, true] {
        let [path, other] = ["taken", "elsewhere"].map(file);
        let open = || {
            EditedSource::open(generated(), &EditOptions::at(&path).with_policy(policy)).unwrap()
        };
        if is_there {
            put(&open(), before, 2).unwrap();
        }
        let (first, second) = (open(), open());
        put(&first, POSITION, 2).unwrap();
        assert!(matches!(put(&second, own, 3), Err(SourceError::InUse { .. })));
        assert!(second.save_to(WorldFile::Path(&path)).is_err(), "it is there already");
        drop(first);
        assert!(matches!(put(&second, own, 3), Err(SourceError::ChangedElsewhere { .. })));
        let written = fs::read(&path).unwrap();
        second.save_to(WorldFile::Path(&other)).unwrap();
        assert_eq!(EditStore::path(&second), other);
        put(&second, own, 3).unwrap();
        // Also after it has its own file.
        fs::remove_file(&other).unwrap();
        second.save_to(WorldFile::Path(&other)).unwrap();
        put(&second, last, 4).unwrap();
        drop(second);
        assert!(fs::read(&path).unwrap() == written, "the first's stays as it is");

        let edited =
            EditedSource::open(generated(), &EditOptions::at(&other).with_access(EditAccess::Read))
                .unwrap();
        let seen = |at| edited.chunk(at).unwrap().uniform().map(|it| it.0);
        assert_eq!((seen(own), seen(last)), (Some(3), Some(4)));
        assert_eq!(
            (seen(before) == Some(2), edited.edited_count()),
            (is_there, 2 + u64::from(is_there))
        );
        assert!(matches!(
            edited.save_to(WorldFile::Path(&file("never"))),
            Err(SourceError::ReadOnly { .. })
        ));
        drop(edited);
        [path, other].into_iter().for_each(|path| fs::remove_file(path).unwrap());
    }
}
