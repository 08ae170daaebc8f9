use std::fs;

use super::*;

const POSITION: ChunkPos = ChunkPos::new(-1, 2, 3);

fn uniform(material: u16) -> Chunk {
    Chunk::new(Chunk::SIDE, Material(material))
}

/// The first edit finds that the file exists and never removes it. The file is written once it is
/// not open elsewhere, if it was never changed.
#[test]
fn an_existing_file_is_written_only_if_it_was_never_changed() {
    let name = format!("drystone-made-{}.drystone", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = fs::remove_file(&path);
    let (materials, policy) = (MaterialTable::new(), CommitPolicy::default());
    let absent = || StoredLater::absent(Some(&path), "w".into(), materials.clone(), policy);
    let (later, latest) = (absent(), absent());
    let put = |later: &StoredLater| later.put_edited(vec![(POSITION, uniform(0))]);
    let other = StoredWorld::create(&path, "w", &materials).unwrap();
    assert!(matches!(put(&later), Err(SourceError::InUse { .. })));
    other.flush().unwrap();
    other.close().unwrap();
    put(&later).unwrap();
    later.flush().unwrap();

    assert!(matches!(put(&latest), Err(SourceError::InUse { .. })));
    drop(later);
    assert!(matches!(put(&latest), Err(SourceError::ChangedElsewhere { .. })));
    fs::write(&path, "no world").unwrap();
    assert!(matches!(put(&latest), Err(SourceError::Unsupported { .. })));
    fs::remove_file(&path).unwrap();
    put(&latest).unwrap();
    drop(latest);
    fs::remove_file(path).unwrap();
}

/// The file is opened by another program while it is closed to be opened for writing. That program
/// leaves it unchanged or changes it.
#[test]
fn a_file_opened_elsewhere_is_read_again_and_written_only_if_unchanged() {
    let name = format!("drystone-lost-{}.drystone", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = fs::remove_file(&path);
    let mut materials = MaterialTable::new();
    materials.insert("stone", [1, 2, 3, 255]).unwrap();
    let world = StoredWorld::create(&path, "w", &materials).unwrap();
    world.put([(POSITION, uniform(1))]).unwrap();
    world.close().unwrap();

    let later = StoredLater::open(&path, CommitPolicy::default()).unwrap();
    let lose = || *later.lock() = State::Lost;
    let put = || later.put_edited(vec![(POSITION, uniform(0))]);
    // Open elsewhere, unchanged.
    lose();
    let other = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
    assert!(matches!(put(), Err(SourceError::InUse { .. })));
    assert_eq!(later.chunk(POSITION).unwrap().uniform(), Some(Material(1)));
    other.close().unwrap();
    lose();
    // Resets the retry interval.
    *later.last_retry.lock().unwrap() = None;
    assert!(!later.is_air(POSITION.into()) && later.coarse_chunk(POSITION.into()).is_some());

    // Each change affects only one part of the stamp.
    let change = |chunks: &[u16]| {
        let other = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
        for &material in chunks {
            other.put([(POSITION, uniform(material))]).unwrap();
            other.flush().unwrap();
        }
        other.close().unwrap();
    };
    let original = fs::read(&path).unwrap();
    lose();
    change(&[1]);
    assert!(matches!(put(), Err(SourceError::ChangedElsewhere { .. })));
    assert!(matches!(later.chunk(POSITION), Err(SourceError::InUse { .. })));
    assert!(!later.is_air(POSITION.into()), "a lost file may have chunks");
    let above = NodePos::from(POSITION).ancestor(3);
    assert!(matches!(later.coarse_chunk(above), Some(Err(SourceError::InUse { .. }))));
    // A new file with the same number of commits and chunks.
    fs::remove_file(&path).unwrap();
    StoredWorld::create(&path, "w", &materials).unwrap().close().unwrap();
    change(&[1]);
    assert!(matches!(put(), Err(SourceError::ChangedElsewhere { .. })));
    // Restored, it equals its first state.
    fs::write(&path, original).unwrap();
    put().unwrap();
    later.flush().unwrap();
    assert!(later.is_writing() && later.chunk(POSITION).unwrap().is_empty());
    drop(later);
    fs::remove_file(path).unwrap();
}
