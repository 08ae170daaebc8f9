use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use drystone_formats::{Source, SourceError};
use drystone_voxel::{
    Chunk, ChunkBox, ChunkPos, Material, MaterialKind, MaterialTable, NodePos, Shape, ShapeBox,
    ShapeKind,
};
use drystone_world::{GeneratedWorld, GeneratorConfig};
use tempfile::TempDir;

use super::*;
use crate::packed::PackedWorld;
use crate::{ImportOptions, StoredWorld, import};

/// Options with which each cell is a step, and saved.
pub(super) fn small_steps() -> PackOptions {
    PackOptions::default().with_memory_bytes(0).with_save_interval(Duration::ZERO)
}

pub(super) fn land(size_chunks: [u32; 3]) -> GeneratedWorld {
    let config = GeneratorConfig::default().with_seed(5).with_size_chunks(size_chunks);
    GeneratedWorld::new(config.with_relief_voxels(160)).unwrap()
}

/// Packs a source with a number of threads.
fn packed(source: &dyn Source, path: &Path, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let options = PackOptions::default();
    let progress = pool.install(|| pack(source, path, &options, &mut |_| {})).unwrap();
    assert_eq!((progress.done, progress.lost), (progress.total, 0));
    assert!(!folder_of(path).exists());
}

/// All nodes above the chunks of a source, with the chunks.
fn nodes(source: &dyn Source) -> Vec<NodePos> {
    let top_level = source.extent().map_or(0, |extent| extent.top_level());
    let mut nodes: Vec<NodePos> = Vec::new();
    for level in 0..=top_level {
        nodes.extend(
            source.chunk_positions().into_iter().map(|at| NodePos::from(at).ancestor(level)),
        );
    }
    nodes.sort();
    nodes.dedup();
    nodes
}

/// Compares every node of a packed world with the world that an import of the same source stores.
fn assert_equals_stored(source: &dyn Source, folder: &TempDir) -> (PackedWorld, u64) {
    let (path, stored_path) = (folder.path().join("a.dsw"), folder.path().join("a.drystone"));
    packed(source, &path, 2);
    let (stored, _) = import(source, &stored_path, &ImportOptions::default(), &mut |_| {}).unwrap();
    let world = PackedWorld::open(&path).unwrap();
    assert!(source.name().ends_with(world.name()) && !world.name().contains('/'));
    assert_eq!(world.chunk_positions(), stored.chunk_positions());
    assert_eq!(world.chunk_count(), stored.chunk_count());
    assert_eq!(world.extent(), stored.extent());
    for node in nodes(&stored) {
        let expected = stored.coarse_chunk(node).unwrap().unwrap();
        let found = world.coarse_chunk(node).unwrap().unwrap();
        assert!(found == expected, "{node:?}");
        assert!(!world.is_air(node));
        let table = stored.materials();
        for (_, material) in found.iter_solid().filter(|(_, it)| table.get(*it).is_some()) {
            let whole = table.whole(material);
            assert_eq!(world.materials().get(whole), table.get(whole), "{material:?} in {node:?}");
        }
        let beside =
            NodePos::new(node.level, ChunkPos::new(node.chunk.x, node.chunk.y + 1, node.chunk.z));
        assert_eq!(world.is_air(beside), stored.is_air(beside), "{beside:?}");
    }
    let check = PackedWorld::check(&path).unwrap();
    assert_eq!(check.damage, Vec::<String>::new());
    assert_eq!(check.chunks, world.chunk_count());
    stored.close().unwrap();
    StoredWorld::compact(&stored_path).unwrap();
    let stored_bytes = fs::metadata(&stored_path).unwrap().len();
    (world, stored_bytes)
}

#[test]
fn a_packed_world_equals_the_stored_one_at_every_node_and_is_smaller() {
    let folder = TempDir::new().unwrap();
    let (world, stored_bytes) = assert_equals_stored(&land([20, 8, 20]), &folder);
    assert!(
        world.file_bytes() * 10 <= stored_bytes * 9,
        "{} of {stored_bytes}",
        world.file_bytes()
    );
    assert!(world.front_bytes() * 100 <= world.file_bytes(), "{} bytes", world.front_bytes());
}

/// Real files of each kind, as far as they are here.
#[test]
fn packed_files_equal_the_stored_ones() {
    let Some(data) = std::env::var_os("DRYSTONE_DATA") else {
        println!("skipped: DRYSTONE_DATA is not set");
        return;
    };
    for name in ["r.0.0.mca", "jacksboro-dem-16bit.png", "dragon.vox", "robo.qb"] {
        let folder = TempDir::new().unwrap();
        let path = Path::new(&data).join(name);
        let options = drystone_world::OpenOptions::default();
        let source = drystone_world::open_voxels(&path, &options).unwrap();
        let (world, stored_bytes) = assert_equals_stored(source.as_ref(), &folder);
        println!("{name}: {} bytes packed, {stored_bytes} stored", world.file_bytes());
        assert!(world.file_bytes() * 10 <= stored_bytes * 9, "{name}");
    }
}

/// A source that fails after some chunks, as a disk that is pulled out, and counts calls.
pub(super) struct Failing<'a> {
    source: &'a GeneratedWorld,
    left: AtomicU64,
}

impl Source for Failing<'static> {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn identity(&self) -> String {
        self.source.identity()
    }

    fn materials(&self) -> &MaterialTable {
        self.source.materials()
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.source.chunk_positions()
    }

    fn extent(&self) -> Option<ChunkBox> {
        self.source.extent()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map_err(|_| SourceError::Stopped { path: "pulled out".into() })?;
        self.source.chunk(position)
    }
}

pub(super) fn failing(source: &'static GeneratedWorld, left: u64) -> Failing<'static> {
    Failing { source, left: AtomicU64::new(left) }
}

pub(super) fn leaked(source: GeneratedWorld) -> &'static GeneratedWorld {
    Box::leak(Box::new(source))
}

#[test]
fn the_same_source_gives_the_same_bytes_with_any_threads_and_interruptions() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("once.dsw");
    let source = leaked(land([18, 8, 20]));
    packed(source, &path, 1);
    let expected = fs::read(&path).unwrap();
    packed(source, &path, 3);
    assert!(fs::read(&path).unwrap() == expected, "an older file is replaced");
    let count = source.chunk_count();
    let path = folder.path().join("often.dsw");
    let mut runs = 0;
    loop {
        runs += 1;
        let source = failing(source, 700);
        let options = small_steps();
        match pack(&source, &path, &options, &mut |_| {}) {
            Err(SourceError::Stopped { .. }) => assert!(!path.exists() && runs < count),
            Err(error) => panic!("{error}"),
            Ok(progress) => {
                assert!(progress.resumed > 0 && progress.done == count);
                break;
            }
        }
    }
    assert!(runs > 3, "{runs}");
    assert!(fs::read(&path).unwrap() == expected);
}

/// A kill leaves what was written after the last saved state, or only a part of it.
#[test]
fn a_killed_run_resumes_from_the_last_saved_state() {
    let folder = TempDir::new().unwrap();
    let source = leaked(land([18, 4, 18]));
    let path = folder.path().join("a.dsw");
    packed(source, &path, 1);
    let expected = fs::read(&path).unwrap();
    let path = folder.path().join("b.dsw");
    let options = small_steps();
    let half = failing(source, source.chunk_count() / 2);
    pack(&half, &path, &options, &mut |_| {}).unwrap_err();
    for entry in fs::read_dir(folder_of(&path)).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_string_lossy().starts_with("level") {
            let mut bytes = fs::read(entry.path()).unwrap();
            bytes.extend([0xab; 77]);
            fs::write(entry.path(), bytes).unwrap();
        }
    }
    let progress = pack(source, &path, &options, &mut |_| {}).unwrap();
    assert!(progress.resumed > 0);
    assert!(fs::read(&path).unwrap() == expected);
}

#[test]
fn a_run_of_another_source_or_process_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.dsw");
    let source = leaked(land([18, 4, 18]));
    let options = small_steps();
    let half = failing(source, source.chunk_count() / 2);
    pack(&half, &path, &options, &mut |_| {}).unwrap_err();
    let error = pack(&land([17, 4, 18]), &path, &options, &mut |_| {}).unwrap_err();
    assert!(matches!(error, SourceError::NotResumed { .. }), "{error}");
    let progress = folder_of(&path).join("progress");
    let mut bytes = fs::read(&progress).unwrap();
    bytes[40] ^= 1;
    fs::write(&progress, bytes).unwrap();
    let error = pack(source, &path, &options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("progress file is damaged"), "{error}");
    fs::write(&progress, crate::codec::sealed(b"another version's progress".to_vec())).unwrap();
    let error = pack(source, &path, &options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("another source or version"), "{error}");
    let spools = Spools::open(&folder.path().join("b.dsw"), 1).unwrap();
    let error = pack(source, &folder.path().join("b.dsw"), &options, &mut |_| {}).unwrap_err();
    assert!(matches!(error, SourceError::InUse { .. }), "{error}");
    drop(spools);
    let error = pack(source, folder.path(), &options, &mut |_| {}).unwrap_err();
    assert!(matches!(error, SourceError::Unwritable { .. }), "{error}");
}

/// Chunks at given positions, each of one voxel.
pub(super) struct Dots(Vec<ChunkPos>, MaterialTable);

impl Source for Dots {
    fn name(&self) -> &str {
        "dots"
    }

    fn materials(&self) -> &MaterialTable {
        &self.1
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.0.clone()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let mut chunk = Chunk::new(Chunk::SIDE, Material::AIR);
        if self.0.contains(&position) {
            chunk.set(drystone_voxel::LocalPos::new(3, 4, 5), Material(1));
        }
        Ok(chunk)
    }
}

pub(super) fn dots(positions: &[[i32; 3]]) -> Dots {
    let mut table = MaterialTable::new();
    table.insert("stone", [1, 2, 3, 255]).unwrap();
    let mut positions: Vec<_> = positions.iter().map(|&[x, y, z]| ChunkPos::new(x, y, z)).collect();
    positions.sort();
    Dots(positions, table)
}

#[test]
fn worlds_of_any_shape_are_packed() {
    const FAR: i32 = 1 << 25;
    for positions in [
        vec![[0, 0, 0]],
        vec![[-1, -1, -1], [0, 0, 0]],
        vec![[-1, 0, 0], [0, -1, 0], [0, 0, -1], [7, 7, 7], [8, 8, 8], [-9, 3, 100]],
        vec![[FAR, FAR, FAR], [FAR - 3, FAR, FAR]],
        vec![[-FAR, 0, FAR], [FAR, 5, -FAR]],
    ] {
        let folder = TempDir::new().unwrap();
        assert_equals_stored(&dots(&positions), &folder);
    }
}

/// Chunks of one thin block each.
pub(super) fn torches(positions: &[[i32; 3]]) -> Dots {
    let mut table = MaterialTable::new();
    let part = ShapeBox { min: [6, 0, 6], max: [10, 16, 10] };
    let shape = Shape::new(vec![part], ShapeKind::Opaque).unwrap();
    let torch = MaterialKind::new("torch", [255, 200, 0, 255]).with_shape(shape);
    assert_eq!(table.insert_kind(torch), Some(Material(1)));
    Dots(dots(positions).0, table)
}

/// Thin blocks are left out of LOD voxels, so that a LOD chunk may be air above chunks that are not.
#[test]
fn plants_above_all_else_are_packed_twice() {
    let torches = torches(&[[0, 0, 0], [9, 9, 9], [17, 0, 0]]);
    let folder = TempDir::new().unwrap();
    let (world, _) = assert_equals_stored(&torches, &folder);
    assert!(
        world.coarse_chunk(NodePos::new(3, ChunkPos::new(1, 1, 1))).unwrap().unwrap().is_empty()
    );
    let again = folder.path().join("again.dsw");
    packed(&world, &again, 2);
    assert_eq!(PackedWorld::open(&again).unwrap().chunk_count(), 3);
    // Above the highest level only the box decides.
    let above = |x| world.is_air(NodePos::new(20, ChunkPos::new(x, 0, 0)));
    assert_eq!([above(0), above(1)], [false, true]);
}

/// A stored world that is edited between two runs.
#[test]
fn a_run_of_an_edited_world_is_refused() {
    let folder = TempDir::new().unwrap();
    let (path, stored) = (folder.path().join("a.dsw"), folder.path().join("a.drystone"));
    let source = dots(&[[0, 0, 0], [100, 0, 0]]);
    let (world, _) = import(&source, &stored, &ImportOptions::default(), &mut |_| {}).unwrap();
    // Where the folder would become the file.
    fs::create_dir(&path).unwrap();
    pack(&world, &path, &small_steps(), &mut |_| {}).unwrap_err();
    fs::remove_dir(&path).unwrap();
    let mut spools = Spools::open(&path, state_of(&world, None)).unwrap();
    spools.save(Begun::default(), &Pyramid::new(0).to_bytes()).unwrap();
    drop(spools);
    let edited = Chunk::new(Chunk::SIDE, Material(1));
    world.put([(ChunkPos::new(0, 0, 0), edited)]).unwrap();
    world.flush().unwrap();
    let error = pack(&world, &path, &small_steps(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, SourceError::NotResumed { .. }), "{error}");
}

/// Files of others in the folder stay.
#[test]
fn only_the_own_files_are_removed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.dsw");
    fs::create_dir(folder_of(&path)).unwrap();
    let other = folder_of(&path).join("notes.txt");
    fs::write(&other, "mine").unwrap();
    pack(&dots(&[[0, 0, 0]]), &path, &small_steps(), &mut |_| {}).unwrap();
    assert_eq!(fs::read_dir(folder_of(&path)).unwrap().count(), 1);
    assert_eq!(fs::read(other).unwrap(), b"mine");
}

#[test]
fn an_empty_world_is_packed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("empty.dsw");
    packed(&dots(&[]), &path, 1);
    let world = PackedWorld::open(&path).unwrap();
    assert_eq!((world.chunk_count(), world.extent(), world.chunk_positions()), (0, None, vec![]));
    assert!(
        world.is_air(NodePos::default()) && world.chunk(ChunkPos::new(1, 2, 3)).unwrap().is_empty()
    );
    assert_eq!(PackedWorld::check(&path).unwrap().damage, Vec::<String>::new());
}

#[test]
fn an_import_reads_a_packed_world_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.dsw");
    let source = land([9, 4, 9]);
    packed(&source, &path, 2);
    let world = PackedWorld::open(&path).unwrap();
    let stored = folder.path().join("a.drystone");
    let (stored, progress) =
        import(&world, &stored, &ImportOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(progress.lost, 0);
    for position in source.chunk_positions() {
        assert!(stored.chunk(position).unwrap() == source.chunk(position).unwrap());
    }
    let again = folder.path().join("again.dsw");
    packed(&stored, &again, 2);
    assert_eq!(fs::read(again).unwrap(), fs::read(path).unwrap(), "stored and packed again");
}
