use std::fs;

use drystone_formats::{EditDestination, EditStore};
use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, MaterialTable};

use super::*;
use crate::{cli, source};

/// A folder with a world of one chunk of stone.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("drystone-saved-edits-{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let folder = Self(folder);
        folder.write_world("w.drystone");
        folder
    }

    fn write_world(&self, name: &str) {
        let mut materials = MaterialTable::new();
        for name in ["stone", "grass"] {
            materials.insert(name, [9; 4]).unwrap();
        }
        let world = StoredWorld::create(&self.path(name), name, &materials).unwrap();
        world.put([(ChunkPos::default(), Chunk::new(Chunk::SIDE, Material(1)))]).unwrap();
        world.flush().unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Saves an edit of the voxel at the origin of a world in a file.
    fn save_edit(&self, world: &str, edits: &str, material: u16) {
        let source =
            Box::new(StoredWorld::open(&self.path(world), &StoreOptions::read_only()).unwrap());
        let path = self.path(edits);
        let options = EditOptions::at(&path).with_access(EditAccess::Write);
        let edited = EditedSource::open(source, &options).unwrap();
        let mut chunk = Chunk::new(Chunk::SIDE, Material(1));
        chunk.set(LocalPos::new(0, 0, 0), Material(material));
        edited.put_edited(vec![(ChunkPos::default(), chunk)]).unwrap();
        edited.flush().unwrap();
    }

    /// Opens the world with these options; returns the source and the line for the user.
    fn open(&self, words: &[&str], saved: SavedEdits) -> (Box<dyn Source>, Option<Note>) {
        let path = self.path("w.drystone").into_os_string();
        let words = words.iter().map(std::ffi::OsString::from);
        let words = ["drystone".into(), path].into_iter().chain(words);
        let Ok(mut options) = cli::parse(words) else { panic!("options") };
        options.scene.edits.saved = saved;
        let (opened, note) = source::open_to_edit(&options.scene, &options.save).unwrap();
        let Opened::Voxels(source) = opened else { panic!("a model") };
        (source, note)
    }

    /// Returns the material of the edited voxel and the line, after opening with these options.
    fn seen(&self, words: &[&str]) -> (u16, Option<Note>) {
        let (source, note) = self.open(words, SavedEdits::default());
        (material(source.as_ref()), note)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn material(source: &dyn Source) -> u16 {
    source.chunk(ChunkPos::default()).unwrap().get(LocalPos::new(0, 0, 0)).0
}

fn destination(source: &dyn Source) -> EditDestination {
    source.separate_edits().unwrap().destination()
}

/// Whether a line has the kind and all of the words.
fn says(note: &Option<Note>, kind: MessageKind, words: &[&str]) -> bool {
    note.as_ref().is_some_and(|(is, line)| *is == kind && words.iter().all(|it| line.contains(it)))
}

#[test]
fn opening_a_file_loads_its_newest_edits() {
    let folder = Folder::new("newest");
    assert_eq!(folder.seen(&[]), (1, None));
    folder.save_edit("w.drystone", "w.drystone.edits.drystone", 2);
    let (first, note) = folder.seen(&[]);
    assert_eq!(first, 2);
    let words = ["edits loaded from", "w.drystone.edits.drystone", "--no-edits"];
    assert!(says(&note, MessageKind::Hint, &words), "{note:?}");
    folder.save_edit("w.drystone", "w.drystone.edits-2.drystone", 0);
    assert_eq!(folder.seen(&[]).0, 0);
    // Further edits go to that file, unless it is only read.
    let newest = folder.path("w.drystone.edits-2.drystone");
    let (source, _) = folder.open(&[], SavedEdits::default());
    assert_eq!(destination(source.as_ref()), EditDestination::File(newest));
    assert!(source.edit_store().is_some());
    drop(source);
    let (source, _) = folder.open(&["--read-only"], SavedEdits::default());
    assert_eq!((material(source.as_ref()), source.edit_store().is_some()), (0, false));
}

#[test]
fn saved_edits_can_be_left_out() {
    let folder = Folder::new("left-out");
    folder.save_edit("w.drystone", "w.drystone.edits.drystone", 2);
    for words in [&["--no-edits"][..], &["--no-edits", "--read-only"]] {
        assert_eq!(folder.seen(words), (1, None));
    }
    let (source, note) = folder.open(&[], SavedEdits::Ignored);
    assert_eq!(material(source.as_ref()), 1);
    assert!(says(&note, MessageKind::Problem, &["exist in", "--edits"]), "{note:?}");
}

/// Files that cannot be used are named, and are not changed by later edits.
#[test]
fn damaged_or_foreign_edits_do_not_prevent_opening() {
    let folder = Folder::new("unusable");
    folder.write_world("other.drystone");
    folder.save_edit("other.drystone", "foreign", 2);
    fs::write(folder.path("text"), "something else").unwrap();
    folder.save_edit("w.drystone", "torn", 2);
    let torn = fs::read(folder.path("torn")).unwrap();
    fs::write(folder.path("torn"), &torn[..torn.len() / 3]).unwrap();
    for (name, why) in [("foreign", "another source"), ("text", "edits.drystone"), ("torn", "")] {
        let [file, older] = ["w.drystone.edits-2.drystone", "w.drystone.edits.drystone"]
            .map(|name| folder.path(name));
        fs::copy(folder.path(name), &older).unwrap();
        let before = fs::read(&older).unwrap();
        let (source, note) = folder.open(&[], SavedEdits::default());
        assert_eq!(material(source.as_ref()), 1, "{name}");
        let words = ["opened without edits", "w.drystone.edits.drystone", why];
        assert!(says(&note, MessageKind::Problem, &words), "{name}: {note:?}");
        assert_eq!(destination(source.as_ref()), EditDestination::Source, "{name}");
        drop(source);
        assert!(fs::read(&older).unwrap() == before, "{name} has changed");
        // Edits behind an unusable file are loaded.
        fs::rename(&older, &file).unwrap();
        folder.save_edit("w.drystone", "w.drystone.edits.drystone", 2);
        let (seen, note) = folder.seen(&[]);
        assert_eq!(seen, 2, "{name}");
        let (kind, words) = match name {
            "foreign" => (MessageKind::Hint, "--no-edits"),
            _ => (MessageKind::Problem, "not loaded: "),
        };
        assert!(says(&note, kind, &["edits loaded from", words]), "{name}: {note:?}");
        [file, older].iter().for_each(|path| fs::remove_file(path).unwrap());
    }
}

/// The file in which the edits were saved last is preferred, and may be created again.
#[test]
fn the_remembered_file_of_edits_is_loaded_first() {
    let folder = Folder::new("remembered");
    folder.save_edit("w.drystone", "w.drystone.edits.drystone", 0);
    folder.save_edit("w.drystone", "mine", 2);
    let remembered = |name: &str| SavedEdits::Newest(Some(folder.path(name)));
    let (source, note) = folder.open(&[], remembered("mine"));
    assert_eq!(material(source.as_ref()), 2);
    assert!(says(&note, MessageKind::Hint, &["mine"]), "{note:?}");
    drop(source);
    assert_eq!(material(folder.open(&[], remembered("gone")).0.as_ref()), 0);
    fs::remove_file(folder.path("w.drystone.edits.drystone")).unwrap();
    let (source, note) = folder.open(&[], remembered("gone"));
    assert_eq!((material(source.as_ref()), note), (1, None));
    assert_eq!(destination(source.as_ref()), EditDestination::File(folder.path("gone")));
    drop(source);
    assert!(!folder.path("gone").exists(), "there is no edit yet");
    let (source, note) = folder.open(&["--read-only"], remembered("gone"));
    assert_eq!((source.edit_store().is_some(), note), (false, None));
    drop(source);
    let (source, note) = folder.open(&[], remembered("no folder/gone"));
    assert_eq!(material(source.as_ref()), 1);
    assert!(says(&note, MessageKind::Problem, &["opened without edits", "no folder"]), "{note:?}");
}

#[test]
fn a_missing_number_does_not_hide_later_edits() {
    let folder = Folder::new("gap");
    folder.save_edit("w.drystone", "w.drystone.edits.drystone", 2);
    folder.save_edit("w.drystone", "w.drystone.edits-10.drystone", 0);
    fs::write(folder.path("w.drystone.edits-x.drystone"), "something else").unwrap();
    assert_eq!(folder.seen(&[]).0, 0);
}

/// Two windows show the same edits. Only the first one can save to their file; edits of the second one
/// are refused, and it writes nothing on its own.
#[test]
fn edits_that_another_window_writes_to_are_shown_and_not_replaced() {
    let folder = Folder::new("two-windows");
    folder.save_edit("w.drystone", "w.drystone.edits.drystone", 2);
    let path = folder.path("w.drystone.edits.drystone");
    let first = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
    let (source, note) = folder.open(&[], SavedEdits::default());
    assert!(says(&note, MessageKind::Hint, &["edits loaded from"]), "{note:?}");
    assert_eq!(material(source.as_ref()), 2);
    let store = source.edit_store().unwrap();
    let edit = vec![(ChunkPos::default(), Chunk::new(Chunk::SIDE, Material(0)))];
    let refused = store.put_edited(edit.clone()).and_then(|()| store.flush()).unwrap_err();
    assert!(refused.to_string().contains("another program"), "{refused}");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2, "no other file of edits");
    drop(first);
    store.put_edited(edit).and_then(|()| store.flush()).unwrap();
    drop(source);
    assert_eq!(folder.seen(&[]).0, 0);
}
