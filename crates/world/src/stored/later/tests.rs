use std::fs;

use super::*;

const PLACE: ChunkPos = ChunkPos::new(-1, 2, 3);

fn uniform(material: u16) -> Chunk {
    Chunk::new(Chunk::SIDE, Material(material))
}

/// The file that the first edit makes is there already: it is never removed. It is written once
/// nobody else has it, if nothing was put into it.
#[test]
fn a_file_that_another_made_first_is_written_only_if_it_is_empty() {
    let name = format!("drystone-made-{}.drystone", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = fs::remove_file(&path);
    let (materials, policy) = (MaterialTable::new(), CommitPolicy::default());
    let absent = || StoredLater::absent(Some(&path), "w".into(), materials.clone(), policy);
    let (later, latest) = (absent(), absent());
    let put = |later: &StoredLater| later.put_edited(vec![(PLACE, uniform(0))]);
    let other = StoredWorld::create(&path, "w", &materials).unwrap();
    assert!(matches!(put(&later), Err(WorldError::InUse { .. })));
    other.flush().unwrap();
    other.close().unwrap();
    put(&later).unwrap();
    later.flush().unwrap();

    assert!(matches!(put(&latest), Err(WorldError::InUse { .. })));
    drop(later);
    assert!(matches!(put(&latest), Err(WorldError::ChangedElsewhere { .. })));
    fs::write(&path, "no world").unwrap();
    assert!(matches!(put(&latest), Err(WorldError::Unsupported { .. })));
    fs::remove_file(&path).unwrap();
    put(&latest).unwrap();
    drop(latest);
    fs::remove_file(path).unwrap();
}

/// Another takes the file just when it is closed to be opened for writing, leaves it as it was,
/// or changes it.
#[test]
fn what_another_took_is_read_again_and_written_only_as_it_was() {
    let name = format!("drystone-lost-{}.drystone", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = fs::remove_file(&path);
    let mut materials = MaterialTable::new();
    materials.insert("stone", [1, 2, 3, 255]).unwrap();
    let world = StoredWorld::create(&path, "w", &materials).unwrap();
    world.put([(PLACE, uniform(1))]).unwrap();
    world.close().unwrap();

    let later = StoredLater::open(&path, CommitPolicy::default()).unwrap();
    let lose = || *later.lock() = State::Lost;
    let put = || later.put_edited(vec![(PLACE, uniform(0))]);
    // Another has it open, and changes nothing.
    lose();
    let other = StoredWorld::open(&path).unwrap();
    assert!(matches!(put(), Err(WorldError::InUse { .. })));
    assert_eq!(later.chunk(PLACE).unwrap().uniform(), Some(Material(1)));
    other.close().unwrap();
    lose();
    // As if it had not been looked for yet.
    *later.looked.lock().unwrap() = None;
    assert!(!later.is_air(PLACE.into()) && later.coarse_chunk(PLACE.into()).is_some());

    // Each changes it so that only one thing tells.
    let change = |chunks: &[u16]| {
        let other = StoredWorld::open(&path).unwrap();
        for &material in chunks {
            other.put([(PLACE, uniform(material))]).unwrap();
            other.flush().unwrap();
        }
        other.close().unwrap();
    };
    let original = fs::read(&path).unwrap();
    lose();
    change(&[1]);
    assert!(matches!(put(), Err(WorldError::ChangedElsewhere { .. })));
    assert!(matches!(later.chunk(PLACE), Err(WorldError::InUse { .. })));
    assert!(!later.is_air(PLACE.into()), "nobody knows");
    let above = NodePos::from(PLACE).ancestor(3);
    assert!(matches!(later.coarse_chunk(above), Some(Err(WorldError::InUse { .. }))));
    // Made anew: as often committed, as many chunks.
    fs::remove_file(&path).unwrap();
    StoredWorld::create(&path, "w", &materials).unwrap().close().unwrap();
    change(&[1]);
    assert!(matches!(put(), Err(WorldError::ChangedElsewhere { .. })));
    // Put back, it is what it was.
    fs::write(&path, original).unwrap();
    put().unwrap();
    later.flush().unwrap();
    assert!(later.is_writing() && later.chunk(PLACE).unwrap().is_empty());
    drop(later);
    fs::remove_file(path).unwrap();
}
