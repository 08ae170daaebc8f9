//! LOD chunks of edited sources: with damage, with little memory, and above stored levels.

use super::*;
use crate::edited::{EditAccess, EditOptions};
use crate::stored::CommitPolicy;

/// At higher levels, a damaged edit counts as not edited. Its surroundings and other edits are
/// shown.
#[test]
fn a_damaged_edit_does_not_empty_higher_levels() {
    let folder = folder("damaged");
    let path = folder.join("edits.drystone");
    let (lost, whole) = (ChunkPos::new(1, 1, 1), ChunkPos::new(0, 1, 1));
    let stone = Chunk::new(Chunk::SIDE, Material(2));
    let edited = open(generated(3), &path);
    edited.put_edited([lost, whole].map(|at| (at, stone.clone())).to_vec()).unwrap();
    edited.flush().unwrap();
    drop(edited);
    crate::stored::tests::damage::damage_chunk(&path, lost);
    // For comparison, only the undamaged edit.
    let alone = open(generated(3), &folder.join("alone.drystone"));
    alone.put_edited(vec![(whole, stone.clone())]).unwrap();
    let edited = open(generated(3), &path);
    assert!(edited.chunk(lost).is_err());
    for level in 1..=4 {
        let node = NodePos::from(lost).ancestor(level);
        let found = edited.coarse_chunk(node).unwrap().unwrap();
        assert!(same(&found, &alone.coarse_chunk(node).unwrap().unwrap()), "{node:?}");
        assert!(!found.is_empty());
    }
    assert!(edited.faults().iter().any(|it| it.contains("chunk 1,1,1")), "{:?}", edited.faults());
    fs::remove_dir_all(folder).unwrap();
}

/// The cache of LOD voxels stays within its limit for any number of reads.
#[test]
fn the_cache_of_lod_voxels_stays_within_its_limit() {
    let folder = folder("bounded");
    let mut edited = open(generated(3), &folder.join("w.drystone"));
    let positions = edited.source().chunk_positions();
    let stone = Chunk::new(Chunk::SIDE, Material(2));
    edited
        .put_edited(positions.iter().map(|&at| (at, stone.clone())).step_by(3).collect())
        .unwrap();
    let read = |edited: &EditedSource| -> Vec<Chunk> {
        let nodes = (1..=3)
            .flat_map(|level| positions.iter().map(move |&at| NodePos::from(at).ancestor(level)));
        nodes.map(|node| edited.coarse_chunk(node).unwrap().unwrap()).collect()
    };
    let expected = read(&edited);
    let all = edited.coarse().size_bytes();
    assert!(all > 0 && all <= CommitPolicy::default().cache_bytes());
    for limit in [all / 2, 0] {
        edited.coarse = Mutex::new(ChunkCache::new(limit));
        assert!(read(&edited).iter().zip(&expected).all(|(a, b)| same(a, b)));
        assert!(edited.coarse().size_bytes() <= limit);
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Edits of a stored world that has LOD chunks, on both sides of the origin.
#[test]
fn edits_of_a_world_with_stored_levels_are_shown_at_higher_levels() {
    let folder = folder("kept");
    let path = folder.join("world.drystone");
    let made = generated(3);
    let world = StoredWorld::create(&path, "both sides", made.materials()).unwrap();
    let moved = |at: ChunkPos| ChunkPos::new(at.x - 2, at.y - 1, at.z - 2);
    let chunks = made.chunk_positions().into_iter();
    world.put(chunks.map(|at| (moved(at), made.chunk(at).unwrap()))).unwrap();
    world.derive_levels(&mut |_, _| {}).unwrap();
    world.close().unwrap();
    let source = || Box::new(StoredWorld::open(&path, &StoreOptions::read_only()).unwrap());
    let edits = folder.join("edits.drystone");
    let edited = open(source(), &edits);
    let air = Chunk::new(Chunk::SIDE, Material::AIR);
    let stone = Chunk::new(Chunk::SIDE, Material(2));
    let put = [([-2, 0, -2], &air), ([-1, 0, -1], &stone), ([1, 2, -1], &stone)];
    let put = put.map(|([x, y, z], chunk)| (ChunkPos::new(x, y, z), chunk.clone()));
    edited.put_edited(put.to_vec()).unwrap();
    edited.flush().unwrap();
    drop(edited);
    let edited = EditedSource::open(
        source(),
        &EditOptions { access: EditAccess::Read, ..EditOptions::at(&edits) },
    )
    .unwrap();
    for (at, chunk) in &put {
        assert!(same(&edited.chunk(*at).unwrap(), chunk), "{at:?}");
        assert!(
            edited.coarse_chunk(NodePos::from(*at).parent()).is_none(),
            "stored LOD data was not replaced"
        );
    }
    let untouched = NodePos::from(ChunkPos::new(1, 0, 1)).parent();
    assert!(edited.coarse_chunk(untouched).is_some(), "stored LOD data of unedited nodes");
    let all: HashMap<ChunkPos, Chunk> =
        edited.chunk_positions().into_iter().map(|at| (at, edited.chunk(at).unwrap())).collect();
    levels_show_edits(edited, &all);
    fs::remove_dir_all(folder).unwrap();
}
