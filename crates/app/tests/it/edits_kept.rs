//! Saving of edits: failures, separate files, and the commands on edited worlds.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use drystone::scene::{
    BackendKind, EditSaver, Editor, RendererKind, SaveState, Size, VoxelScene, open_renderer,
};
use drystone_formats::{EditStore, MemoryFile, Saving, Source, SourceError};
use drystone_render::Image;
use drystone_store::{CommitPolicy, EditAccess, EditOptions, EditedSource, StoredWorld};
use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable, VoxelPos};
use drystone_world::{
    Edit, GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree, VoxelShape, World,
};

use crate::program::{one_line, run, scratch};

/// Store that fails on demand.
#[derive(Default)]
struct Faulty {
    materials: MaterialTable,
    is_broken: AtomicBool,
    /// Whether a commit failed: no edits are accepted until a retry succeeds.
    has_failed: AtomicBool,
    /// Number of calls to store edits.
    asked: AtomicU32,
    taken: Mutex<HashMap<ChunkPos, Chunk>>,
    on_disk: Mutex<HashMap<ChunkPos, Chunk>>,
}

impl Faulty {
    fn error() -> SourceError {
        let problem = "no space left on device".into();
        SourceError::NotCommitted { path: "faulty.drystone".into(), problem }
    }
}

impl EditStore for FaultySource {
    fn path(&self) -> PathBuf {
        "faulty.drystone".into()
    }
    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), SourceError> {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
        if self.0.has_failed.load(Ordering::Relaxed) {
            return Err(Faulty::error());
        }
        self.0.taken.lock().unwrap().extend(chunks);
        self.0.has_failed.store(self.0.is_broken.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }
    fn flush(&self) -> Result<(), SourceError> {
        let is_broken = self.0.is_broken.load(Ordering::Relaxed);
        self.0.has_failed.store(is_broken, Ordering::Relaxed);
        if is_broken {
            return Err(Faulty::error());
        }
        self.0.on_disk.lock().unwrap().extend(self.0.taken.lock().unwrap().drain());
        Ok(())
    }
    fn saving(&self) -> Saving {
        let has_failed = self.0.has_failed.load(Ordering::Relaxed);
        let failure = has_failed.then(|| "no space left on device".into());
        Saving { waiting_chunks: self.0.taken.lock().unwrap().len() as u64, failure }
    }
    fn waiting(&self) -> Vec<(ChunkPos, Chunk)> {
        self.0.taken.lock().unwrap().iter().map(|(&at, chunk)| (at, chunk.clone())).collect()
    }
}

struct FaultySource(Arc<Faulty>);

impl Source for FaultySource {
    fn name(&self) -> &str {
        "faulty"
    }
    fn materials(&self) -> &MaterialTable {
        &self.0.materials
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        let [taken, on_disk] = [&self.0.taken, &self.0.on_disk].map(|it| it.lock().unwrap());
        let positions: BTreeSet<ChunkPos> = taken.keys().chain(on_disk.keys()).copied().collect();
        positions.into_iter().collect()
    }
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let [taken, on_disk] = [&self.0.taken, &self.0.on_disk].map(|it| it.lock().unwrap());
        let newest = taken.get(&position).or_else(|| on_disk.get(&position)).cloned();
        Ok(newest.unwrap_or_else(|| Chunk::new(Chunk::SIDE, Material::AIR)))
    }
    fn edit_store(&self) -> Option<&dyn EditStore> {
        Some(self)
    }
}

/// Shows a source in full detail, in a picture of one pixel, with an editor of it.
fn open(source: Box<dyn Source>) -> (VoxelScene, Editor) {
    let data = Arc::new(LodData::new(source, usize::MAX));
    let (size, capacity) = (Size { width: 1, height: 1 }, VoxelScene::CAPACITY);
    let renderer = open_renderer(RendererKind::Naive, BackendKind::Soft, size, capacity).unwrap();
    let config = LodConfig::default().with_max_level(0).with_threads(0);
    let tree = LodTree::new(Arc::clone(&data), config).unwrap();
    (VoxelScene::new(tree, renderer).unwrap(), Editor::new(EditSaver::new(data)))
}

/// Compares saved chunks with those of a scene.
fn assert_saved(saved: &World, scene: &VoxelScene) {
    let mut count = 0;
    for position in scene.data().chunk_positions() {
        let chunk = scene.data().chunk(position.into());
        if !chunk.is_empty() {
            assert!(saved.chunk(position).is_some_and(|it| it.iter().eq(chunk.iter())));
            count += 1;
        }
    }
    assert_eq!(saved.chunk_count(), count);
}

/// No edit is lost while the disk is full, however often saving is retried.
#[test]
fn edits_stay_in_memory_after_a_failure_and_are_saved_later() {
    let store = Arc::new(Faulty::default());
    let (mut world, mut editor) = open(Box::new(FaultySource(Arc::clone(&store))));
    let edit = |editor: &mut Editor, world: &mut VoxelScene, x: i32| {
        let shape = VoxelShape::cube(VoxelPos::new(x, 5, 5), 3);
        editor.fill(world, &shape, Material(1)).unwrap();
    };
    edit(&mut editor, &mut world, 10);
    assert_eq!(editor.save_state(), SaveState::Unsaved(1));
    store.is_broken.store(true, Ordering::Relaxed);
    for x in [50, 100, 12, 300] {
        edit(&mut editor, &mut world, x);
        assert!(matches!(editor.save_state(), SaveState::Unsaved(_) | SaveState::Failed(_)));
    }
    assert!(matches!(editor.save_state(), SaveState::Failed(reason) if reason.contains("space")));
    // During a brush stroke, a store that refused is retried only after a while.
    let asked = || store.asked.load(Ordering::Relaxed);
    let before = asked();
    let start = std::time::Instant::now();
    for x in 0..300 {
        edit(&mut editor, &mut world, 400 + x);
    }
    let most = start.elapsed().as_secs() as u32 / 2 + 1;
    assert!(asked() - before <= most, "{} of 300", asked() - before);
    for _ in 0..3 {
        let line = editor.saver().save().unwrap_err().to_string();
        assert!(line.contains("faulty.drystone") && line.contains("space"), "{line}");
        assert!(matches!(editor.save_state(), SaveState::Failed(_)));
    }
    for _ in 0..300 {
        editor.undo(&mut world).unwrap();
    }
    editor.undo(&mut world).unwrap();
    store.is_broken.store(false, Ordering::Relaxed);
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    let on_disk = store.on_disk.lock().unwrap().clone();
    // Undone voxels are stored as air.
    let mut solid_count = 0;
    for (position, chunk) in &on_disk {
        assert!(chunk.iter().eq(world.data().chunk((*position).into()).iter()), "{position:?}");
        solid_count += usize::from(!chunk.is_empty());
    }
    assert_eq!(solid_count, world.data().solid_chunk_count());
    assert!(on_disk.len() > solid_count);
}

/// The commands show, count and bake edits, and refuse edits of another source.
#[test]
fn commands_show_count_and_bake_edits() {
    let folder = scratch("editing-commands");
    let name = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let edits = name("edits.drystone");
    let source = || {
        let config = GeneratorConfig::default().with_size_chunks([3, 4, 3]);
        Box::new(GeneratedWorld::new(config).unwrap())
    };
    let policy = CommitPolicy::default();
    let store = EditedSource::open(
        source(),
        &EditOptions::at(Path::new(&edits)).with_access(EditAccess::Write).with_policy(policy),
    )
    .unwrap();
    let world = World::load(&store).unwrap();
    let shape = VoxelShape::cube(VoxelPos::new(48, 60, 48), 16);
    let edit = Edit::fill(&world, &shape, Material(1)).unwrap();
    let chunks = edit.chunks().map(|(position, _)| {
        let mut chunk = store.chunk(position).unwrap();
        edit.apply_to(position, &mut chunk);
        (position, chunk)
    });
    store.edit_store().unwrap().put_edited(chunks.collect()).unwrap();
    store.edit_store().unwrap().flush().unwrap();
    let shot = |words: &[&str], picture: &str| {
        let picture = name(picture);
        let view = ["--backend", "soft", "--size", "200x140", "-o", picture.as_str()];
        let output = run(&[&["shot"], words, &view[..]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Image::load_png(Path::new(&picture)).unwrap()
    };
    let words = ["--chunks", "3x4x3"];
    let with = [&words[..], &["--edits", &edits]].concat();
    // Saved edits are shown while another process goes on editing.
    let held = shot(&with, "held.png");
    drop(store);
    assert!(shot(&with, "edited.png") == held);
    let (plain, edited) = (shot(&words, "plain.png"), shot(&with, "edited.png"));
    assert!(plain.difference(&edited, 4).unwrap().pixels > 500);
    let levels = shot(&[&with[..], &["--levels", "on"]].concat(), "levels.png");
    let plain_levels = shot(&[&words[..], &["--levels", "on"]].concat(), "plain-levels.png");
    assert!(plain_levels.difference(&levels, 4).unwrap().pixels > 500);

    let info = run(&[&["info", "--json"], &with[..]].concat());
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(info["edits"]["chunks"], edit.chunks().len());
    let text = run(&[&["info"], &with[..]].concat());
    assert!(String::from_utf8_lossy(&text.stdout).contains("edits"));
    let baked = name("baked.drystone");
    let output = run(&[&["import"], &with[..], &[baked.as_str()]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(shot(&[&baked], "baked.png") == edited);

    let refused = |words: &[&str]| {
        let view = ["--backend", "soft", "-o", "never.png", "--edits", &edits];
        one_line(&run(&[&["shot"], words, &view[..]].concat()), 1)
    };
    let line = refused(&["--chunks", "4x4x3"]);
    assert!(line.contains("edits.drystone"), "{line}");
    let lost = name("lost.drystone");
    let line = one_line(&run(&["shot", "-o", "never.png", "--edits", &lost]), 1);
    assert!(line.contains("lost.drystone"), "{line}");
}

fn source() -> Box<GeneratedWorld> {
    let config = GeneratorConfig::default().with_size_chunks([2, 3, 2]);
    Box::new(GeneratedWorld::new(config).unwrap())
}

/// Returns a world with an editor whose edits are not saved.
fn unsaved() -> (VoxelScene, Editor) {
    open(Box::new(EditedSource::open(source(), &EditOptions::default()).unwrap()))
}

fn edit(editor: &mut Editor, world: &mut VoxelScene, x: i32) {
    let shape = VoxelShape::cube(VoxelPos::new(x, 30, 20), 9);
    editor.fill(world, &shape, Material(x as u16 % 3)).unwrap();
}

/// Unsaved edits are all written to a file that is created later.
#[test]
fn edits_are_written_to_a_file_created_later() {
    let folder = scratch("edits-later");
    let path = folder.join("edits.drystone");
    let (mut world, mut editor) = unsaved();
    for x in [12, 40] {
        edit(&mut editor, &mut world, x);
        editor.saver().save().unwrap();
        assert_eq!(editor.save_state(), SaveState::NotSaved);
    }
    std::fs::write(&path, "something else").unwrap();
    assert!(editor.saver().save_at(&path).is_err());
    assert_eq!(editor.save_state(), SaveState::NotSaved);
    assert!(std::fs::read(&path).unwrap() == b"something else");
    std::fs::remove_file(&path).unwrap();
    editor.saver().save_at(&path).unwrap();
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    edit(&mut editor, &mut world, 50);
    editor.saver().save().unwrap();
    drop(editor);
    let saved = World::load(
        &EditedSource::open(source(), &EditOptions::at(&path).with_access(EditAccess::Read))
            .unwrap(),
    )
    .unwrap();
    assert_saved(&saved, &world);
}

/// Edits are saved to a file in memory, as in a web page. A full memory is reported, and edits
/// wait.
#[test]
fn edits_are_written_to_a_file_in_memory_created_later() {
    let (mut world, mut editor) = unsaved();
    edit(&mut editor, &mut world, 12);
    let refused = editor.saver().save_in(&MemoryFile::new("tiny", 100)).unwrap_err();
    assert!(refused.to_string().contains("reached its limit"), "{refused}");
    assert_eq!((editor.save_state(), editor.edit_count()), (SaveState::NotSaved, 1));

    let file = MemoryFile::new("edits.drystone", 16 << 20);
    editor.saver().save_in(&file).unwrap();
    assert!(matches!(editor.save_state(), SaveState::Unsaved(_)));
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    edit(&mut editor, &mut world, 40);
    // Only `save` commits.
    assert!(matches!(editor.save_state(), SaveState::Unsaved(_)));
    editor.saver().save().unwrap();
    assert_eq!(editor.edit_count(), 2);

    let path = scratch("edits-in-memory").join("edits.drystone");
    std::fs::write(&path, StoredWorld::finished_bytes(&file).unwrap()).unwrap();
    let saved = World::load(
        &EditedSource::open(source(), &EditOptions::at(&path).with_access(EditAccess::Read))
            .unwrap(),
    )
    .unwrap();
    assert_saved(&saved, &world);
}
