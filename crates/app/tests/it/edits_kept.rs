//! Saving of edits: failures, separate files, and the commands on edited worlds.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use drystone::scene::{EditSaver, EditScene, EditTarget, Editor, Reread, SaveState};
use drystone_formats::{EditStore, MemoryFile, Saving, Source, SourceError};
use drystone_render::{Image, RenderError};
use drystone_store::{CommitPolicy, EditAccess, EditOptions, EditedSource, StoredWorld};
use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable, VoxelPos};
use drystone_world::{Edit, GeneratedWorld, GeneratorConfig, VoxelAccess, VoxelShape, World};

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

/// World without a picture.
struct EditOnlyScene(World);

impl EditScene for EditOnlyScene {
    fn voxels(&self) -> &dyn VoxelAccess {
        &self.0
    }
    fn materials(&self) -> &MaterialTable {
        self.0.materials()
    }
    fn reach_voxels(&self) -> f64 {
        1_000.0
    }
    fn apply(&mut self, edit: &Edit) -> Result<(), RenderError> {
        self.0.apply(edit);
        Ok(())
    }
}

/// No edit is lost while the disk is full, however often saving is retried.
#[test]
fn edits_stay_in_memory_after_a_failure_and_are_saved_later() {
    let store = Arc::new(Faulty::default());
    let source = Arc::new(FaultySource(Arc::clone(&store)));
    let mut editor = Editor::new(EditSaver::new(EditTarget::Source(source)));
    let mut world = EditOnlyScene(World::new("faulty", MaterialTable::new()));
    let edit = |editor: &mut Editor, world: &mut EditOnlyScene, x: i32| {
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
    let on_disk = store.on_disk.lock().unwrap();
    for (position, chunk) in world.0.iter() {
        assert!(on_disk.get(&position).is_some_and(|it| it.iter().eq(chunk.iter())));
    }
    // Undone voxels are stored as air.
    assert!(on_disk.len() > world.0.chunk_count());
    for (position, chunk) in on_disk.iter() {
        assert_eq!(chunk.is_empty(), world.0.chunk(*position).is_none());
    }
}

/// If the store accepts edits while its source is read again, the content lacks them, and the next
/// edit of the same chunks would overwrite them.
#[test]
fn a_source_that_took_edits_while_it_was_read_is_read_again() {
    let store = Arc::new(Faulty::default());
    let source: Arc<dyn Source> = Arc::new(FaultySource(Arc::clone(&store)));
    let kept_by = || EditTarget::Source(Arc::clone(&source));
    let read = || EditOnlyScene(World::load(source.as_ref()).unwrap());
    let (mut editor, mut world) = (Editor::new(EditSaver::new(kept_by())), read());
    let edit = |editor: &mut Editor, world: &mut EditOnlyScene, x: i32| {
        let shape = VoxelShape::cube(VoxelPos::new(x, 5, 5), 3);
        editor.fill(world, &shape, Material(1)).unwrap();
    };
    store.is_broken.store(true, Ordering::Relaxed);
    // The store accepts the first edit and fails to write it; then it accepts no more.
    edit(&mut editor, &mut world, 10);
    assert!(matches!(editor.save_state(), SaveState::Failed(_)));
    let lacked = editor.saver().lacked_count();
    assert_eq!((lacked, read().0.solid_count()), (0, world.0.solid_count()));
    assert_eq!(editor.saver().reread(lacked), Reread::Whole);

    edit(&mut editor, &mut world, 20);
    let lacked = editor.saver().lacked_count();
    let outdated = read();
    assert_eq!(editor.saver().reread(lacked), Reread::Without(1));
    store.is_broken.store(false, Ordering::Relaxed);
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    assert!(outdated.0.solid_count() < world.0.solid_count());
    assert_eq!(editor.saver().reread(lacked), Reread::Outdated);

    let lacked = editor.saver().lacked_count();
    let mut world = read();
    assert_eq!(editor.saver().reread(lacked), Reread::Whole);
    editor.set_saver(EditSaver::new(kept_by()));
    assert_eq!((editor.edit_count(), editor.save_state()), (2, SaveState::Saved));
    edit(&mut editor, &mut world, 25);
    editor.undo(&mut world).unwrap();
    editor.undo(&mut world).unwrap();
    editor.redo(&mut world).unwrap();
    editor.saver().save().unwrap();
    assert_eq!((editor.edit_count(), read().0.solid_count()), (6, world.0.solid_count()));
    assert_eq!(world.0.solid_count(), 2 * outdated.0.solid_count());
}

/// The commands show, count and bake edits, and refuse edits of another source.
#[test]
fn commands_show_count_and_bake_edits() {
    let folder = scratch("editing-commands");
    let name = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let edits = name("edits.drystone");
    let source = || {
        let config = GeneratorConfig { size_chunks: [3, 4, 3], ..GeneratorConfig::default() };
        Box::new(GeneratedWorld::new(config).unwrap())
    };
    let policy = CommitPolicy::default();
    let store = EditedSource::open(
        source(),
        &EditOptions { access: EditAccess::Write, policy, ..EditOptions::at(Path::new(&edits)) },
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
    let config = GeneratorConfig { size_chunks: [2, 3, 2], ..GeneratorConfig::default() };
    Box::new(GeneratedWorld::new(config).unwrap())
}

/// Returns a world with an editor whose edits are not saved.
fn unsaved() -> (EditOnlyScene, Editor) {
    let unsaved = EditedSource::open(source(), &EditOptions::default()).unwrap();
    let world = EditOnlyScene(World::load(&unsaved).unwrap());
    (world, Editor::new(EditSaver::new(EditTarget::Source(Arc::new(unsaved)))))
}

fn edit(editor: &mut Editor, world: &mut EditOnlyScene, x: i32) {
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
        &EditedSource::open(
            source(),
            &EditOptions { access: EditAccess::Read, ..EditOptions::at(&path) },
        )
        .unwrap(),
    )
    .unwrap();
    assert_eq!(saved.solid_count(), world.0.solid_count());
    for (position, chunk) in world.0.iter() {
        assert!(saved.chunk(position).is_some_and(|it| it.iter().eq(chunk.iter())));
    }
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
        &EditedSource::open(
            source(),
            &EditOptions { access: EditAccess::Read, ..EditOptions::at(&path) },
        )
        .unwrap(),
    )
    .unwrap();
    assert_eq!(saved.solid_count(), world.0.solid_count());
    for (position, chunk) in world.0.iter() {
        assert!(saved.chunk(position).is_some_and(|it| it.iter().eq(chunk.iter())));
    }
}
