use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::ThreadId;

use drystone_formats::{HeightMap, HeightMapOptions, Model, ModelOptions, VoxelModel};
use drystone_voxel::{ChunkBox, LocalPos, Material, MaterialTable};
use drystone_world::{GeneratedWorld, GeneratorConfig, World};

use super::*;

struct File(PathBuf);

impl File {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("drystone-import-{}-{count}.drystone", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A source that fails after a number of requests, like a killed import.
struct Failing<S = GeneratedWorld> {
    source: S,
    left: AtomicU64,
}

impl<S: Source> Source for Failing<S> {
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

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match left {
            Ok(_) => self.source.chunk(position),
            Err(_) => Err(SourceError::ChunkSide { found: 0, expected: 1 }),
        }
    }
}

fn source(size_chunks: [u32; 3]) -> GeneratedWorld {
    GeneratedWorld::new(GeneratorConfig::default().with_size_chunks(size_chunks)).unwrap()
}

#[test]
fn a_resumed_import_equals_an_uninterrupted_one() {
    let [whole, parts] = [File::new(), File::new()];
    let size = [20, 4, 9];
    let options = ImportOptions::default();
    let (world, _) = import(&source(size), &whole.0, &options, &mut |_| {}).unwrap();
    let expected = World::load(&world).unwrap();
    assert!(expected.iter().eq(World::load(&source(size)).unwrap().iter()));

    let mut resumed = Vec::new();
    loop {
        let failing = Failing { source: source(size), left: AtomicU64::new(300) };
        match import(&failing, &parts.0, &options, &mut |_| {}) {
            Ok((world, progress)) => {
                resumed.push(progress.resumed);
                assert_eq!(progress.done, progress.total);
                let loaded = World::load(&world).unwrap();
                assert!(loaded.iter().eq(expected.iter()));
                break;
            }
            Err(error) => assert!(matches!(error, SourceError::ChunkSide { .. }), "{error}"),
        }
        let begun = StoredWorld::open(&parts.0, &StoreOptions::default())
            .unwrap()
            .import_progress()
            .unwrap()
            .unwrap();
        resumed.push(Mark::of_bytes(&begun).unwrap().done);
    }
    assert!(resumed.is_sorted() && resumed[0] > 0 && resumed.len() > 2, "{resumed:?}");
}

/// While an import is stopped, a voxel is edited in each chunk of a column: imported chunks, later
/// ones, and chunks that are air in the source.
#[test]
fn a_resumed_import_keeps_edits() {
    let file = File::new();
    let (size, options) = ([20, 4, 9], ImportOptions::default());
    let failing = Failing { source: source(size), left: AtomicU64::new(300) };
    assert!(import(&failing, &file.0, &options, &mut |_| {}).is_err());

    let (edited, stone) = (LocalPos::new(7, 8, 9), Material(1));
    let columns = [0, 19].map(|x| (0..4).map(move |y| ChunkPos::new(x, y, 8)));
    let edited_chunks: Vec<ChunkPos> = columns.into_iter().flatten().collect();
    let world = StoredWorld::open(&file.0, &StoreOptions::default()).unwrap();
    let is_imported = |at: &&ChunkPos| world.chunk_positions().contains(at);
    assert!((1..7).contains(&edited_chunks.iter().filter(is_imported).count()));
    for &at in &edited_chunks {
        let mut chunk = world.chunk(at).unwrap();
        chunk.set(edited, stone);
        world.put([(at, chunk)]).unwrap();
    }
    world.close().unwrap();

    let (world, _) = import(&source(size), &file.0, &options, &mut |_| {}).unwrap();
    let (imported, source) = (World::load(&world).unwrap(), source(size));
    for at in source.chunk_positions() {
        let mut expected = source.chunk(at).unwrap();
        if edited_chunks.contains(&at) {
            expected.set(edited, stone);
        }
        let same = match imported.chunk(at) {
            Some(chunk) => chunk.iter().eq(expected.iter()),
            None => expected.is_empty(),
        };
        assert!(same, "{at:?}");
    }
}

#[test]
fn another_source_and_another_file_are_refused() {
    let file = File::new();
    let options = ImportOptions::default();
    let failing = Failing { source: source([20, 4, 9]), left: AtomicU64::new(200) };
    assert!(import(&failing, &file.0, &options, &mut |_| {}).is_err());
    let refused = |source: &dyn Source| {
        let error = import(source, &file.0, &options, &mut |_| {}).unwrap_err();
        assert!(matches!(error, SourceError::NotResumed { .. }), "{error}");
    };
    refused(&source([20, 4, 10]));
    import(&source([20, 4, 9]), &file.0, &options, &mut |_| {}).unwrap();
    // A complete world cannot be imported into.
    refused(&source([20, 4, 9]));
}

/// Begins an import, then resumes it from a source with the same name, positions and materials but
/// other options, and from the same source.
fn assert_others_are_refused<S: Source>(make: impl Fn(bool) -> S) {
    let file = File::new();
    let options = ImportOptions::default();
    let [source, other] = [false, true].map(&make);
    assert_eq!(source.name(), other.name());
    assert_eq!(source.chunk_positions(), other.chunk_positions());
    let failing = Failing { source, left: AtomicU64::new(0) };
    assert!(import(&failing, &file.0, &options, &mut |_| {}).is_err());
    let refused = import(&other, &file.0, &options, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, SourceError::NotResumed { .. }), "{refused}");
    import(&make(false), &file.0, &options, &mut |_| {}).unwrap();
}

#[test]
fn other_options_make_another_identity() {
    let generated = |relief_voxels| {
        GeneratorConfig::default().with_relief_voxels(relief_voxels).with_size_chunks([2, 4, 2])
    };
    assert_others_are_refused(|other| {
        GeneratedWorld::new(generated(if other { 127 } else { 128 })).unwrap()
    });
    let tile = [0, 100].repeat(1201 * 1201);
    assert_others_are_refused(|other| {
        let options = HeightMapOptions::default()
            .with_metres_per_voxel(Some(2000.0))
            .with_snow_line_metres(if other { 90.0 } else { 110.0 });
        HeightMap::parse(&tile, "N47E011.hgt", &options).unwrap()
    });
    let text = b"v 0 0 0\nv 4 0 0\nv 4 2 0\nf 1 2 3\n";
    let mut nothing = |name: &str, _| {
        Err(SourceError::Unsupported { path: name.into(), found: "nothing".into() })
    };
    let model = Model::parse_obj(text, "m.obj", &ModelOptions::default(), &mut nothing).unwrap();
    assert_others_are_refused(|other| {
        VoxelModel::new(&model, if other { 20 } else { 21 }).unwrap()
    });
}

/// A stored world with damaged chunks, which fails completely after a number of requests.
struct Damaged {
    source: GeneratedWorld,
    left: AtomicU64,
}

impl Source for Damaged {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn materials(&self) -> &MaterialTable {
        self.source.materials()
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.source.chunk_positions()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        let place = match left {
            Ok(_) if position.x + position.z != 3 => return self.source.chunk(position),
            Ok(_) => "chunk".into(),
            Err(_) => "database".into(),
        };
        Err(SourceError::BadStored {
            path: PathBuf::new(),
            location: place,
            problem: String::new(),
        })
    }
}

#[test]
fn damaged_chunks_are_skipped_and_a_damaged_file_ends_the_import() {
    let file = File::new();
    let options = ImportOptions::default();
    let source = |left| Damaged { source: source([20, 4, 9]), left: AtomicU64::new(left) };
    let stopped = import(&source(300), &file.0, &options, &mut |_| {}).unwrap_err();
    assert!(matches!(stopped, SourceError::BadStored { .. }), "{stopped}");
    let begun = StoredWorld::open(&file.0, &StoreOptions::default())
        .unwrap()
        .import_progress()
        .unwrap()
        .unwrap();
    let begun = Mark::of_bytes(&begun).unwrap();
    assert!(begun.done > 0 && begun.lost > 0, "{} {}", begun.done, begun.lost);
    let (_, progress) = import(&source(u64::MAX), &file.0, &options, &mut |_| {}).unwrap();
    // Four positions per column, four columns along that line.
    assert_eq!((progress.done, progress.resumed, progress.lost), (720, begun.done, 16));
}

/// A source with more chunks than a list may hold, nearly all of air.
struct Wide(MaterialTable);

impl Source for Wide {
    fn name(&self) -> &str {
        "wide"
    }

    fn materials(&self) -> &MaterialTable {
        &self.0
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        panic!("they are too many to be listed")
    }

    fn extent(&self) -> Option<ChunkBox> {
        let (min, max) = (ChunkPos::new(-150, 0, 0), ChunkPos::new(149, 1, 149));
        Some(ChunkBox { min, max })
    }

    fn chunk_count(&self) -> u64 {
        300 * 2 * 150
    }

    fn chunk(&self, at: ChunkPos) -> Result<Chunk, SourceError> {
        let fill = if at.x == at.z { Material(1) } else { Material::AIR };
        Ok(Chunk::new(Chunk::SIDE, fill))
    }
}

#[test]
fn a_large_source_is_never_listed() {
    let file = File::new();
    let mut materials = MaterialTable::new();
    materials.insert("stone", [1, 2, 3, 255]).unwrap();
    let mut seen = (0, 0);
    let (world, progress) =
        import(&Wide(materials), &file.0, &ImportOptions::default(), &mut |progress| {
            let now = (progress.done, progress.levels_done);
            assert!(now > seen && progress.levels_done <= progress.levels_total);
            seen = now;
        })
        .unwrap();
    assert_eq!((seen.0, progress.total), (90_000, 90_000));
    assert!(seen.1 > 0 && seen.1 == progress.levels_total);
    assert_eq!(world.chunk_count(), 300);
}

/// The worst-case memory is within the limit on any machine.
#[test]
fn shares_stay_within_the_memory() {
    for memory_bytes in (0..400).map(|mib| mib << 20) {
        for cores in [0, 1, 2, 3, 8, 64, 1000] {
            let Shares { threads, max_bytes } = Shares::of(memory_bytes, cores);
            let all = FIXED_BYTES + threads as u64 * THREAD_BYTES + GATHERED_TIMES * max_bytes;
            assert!(all <= memory_bytes.max(ImportOptions::MIN_MEMORY_BYTES), "{memory_bytes}");
            assert!((1..=cores.max(1)).contains(&threads), "{threads} of {cores}");
            assert!(max_bytes >= 512 << 10, "{max_bytes}");
        }
    }
    assert_eq!(Shares::of(64 << 20, 64).threads, 1);
    assert_eq!(Shares::of(256 << 20, 8).threads, 8);
}

/// Records the threads that request chunks.
struct ThreadRecorder(GeneratedWorld, Mutex<HashSet<ThreadId>>);

impl Source for ThreadRecorder {
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
        self.1.lock().unwrap().insert(std::thread::current().id());
        self.0.chunk(position)
    }
}

#[test]
fn little_memory_means_few_threads() {
    let config = GeneratorConfig::default().with_size_chunks([12, 4, 12]);
    for (memory_bytes, most) in [(64 << 20, 1), (1 << 30, 64)] {
        let file = File::new();
        let source = ThreadRecorder(GeneratedWorld::new(config.clone()).unwrap(), Mutex::default());
        let options = ImportOptions { memory_bytes, ..ImportOptions::default() };
        let (world, _) = import(&source, &file.0, &options, &mut |_| {}).unwrap();
        assert!(world.chunk_count() > 0);
        let threads = source.1.lock().unwrap().len();
        assert!((1..=most).contains(&threads), "{threads} with {memory_bytes} bytes");
    }
}
