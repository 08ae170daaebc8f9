use std::{fs, path::PathBuf, sync::Arc};

use drystone_formats::Source;
use drystone_store::{EditAccess, EditOptions, EditedSource, StoredWorld};
use drystone_voxel::{Chunk, ChunkPos, Material, VoxelPos};
use drystone_world::{
    Edit, GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree, OpenOptions, VoxelShape,
    World, open_voxels,
};

use super::*;
use crate::{cli, source::open_to_edit};

fn generated() -> Box<dyn Source> {
    Box::new(GeneratedWorld::new(GeneratorConfig::default()).unwrap())
}

/// Edits of a generated world without a file.
fn edited() -> EditSaver {
    let unsaved = EditedSource::open(generated(), &EditOptions::default()).unwrap();
    let mut opened = Opened::of(Box::new(unsaved));
    opened.fill(&VoxelShape::cube(VoxelPos::new(9, 9, 9), 3), Material(1));
    assert_eq!(opened.saver.state(), SaveState::NotSaved);
    opened.saver
}

/// An unexpected end, such as a failed device, saves the edits; closing twice discards them.
#[test]
fn edits_without_a_file_are_saved_to_a_new_one_at_the_end() {
    let folder = std::env::temp_dir().join(format!("drystone-last-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.vox.edits.drystone");
    let source = |path: &std::path::Path| {
        let Ok(options) = cli::parse(["drystone".into(), path.into()]) else { panic!("path") };
        options.scene.source
    };
    let (source_here, mut messages) = (source(&folder.join("a.vox")), Vec::new());
    let notify = &mut |line: String| messages.push(line);
    let (mut saving, mut saver) = (Saving::new(), edited());
    saving.is_left = true;
    saving.save_last(&mut saver, &source_here, notify).unwrap();
    assert!(!file.exists());
    saving.is_left = false;
    let lost = source(&folder.join("no folder/a.vox"));
    assert!(saving.save_last(&mut saver, &lost, notify).is_err());
    saving.save_last(&mut saver, &source_here, notify).unwrap();
    assert_eq!(saver.state(), SaveState::Saved);
    // A second call saves nothing more.
    saving.save_last(&mut saver, &source_here, notify).unwrap();
    drop(saver);
    assert_eq!(messages, [format!("edits are saved in {}", file.display())]);
    let kept =
        EditedSource::open(generated(), &EditOptions::at(&file).with_access(EditAccess::Read))
            .unwrap();
    assert_eq!(kept.edited_count(), 1);
    drop(kept);
    fs::remove_dir_all(folder).unwrap();
}

/// A warning about closing does not replace the warning about opening a file.
#[test]
fn each_way_to_leave_has_its_own_warning() {
    let Ok(options) = cli::parse(["drystone".into()]) else { panic!("no options") };
    let (source, notify) = (&options.scene.source, &mut |_: String| {});
    let (mut saving, mut saver) = (Saving::new(), edited());
    let mut leave =
        |leaving| saving.warning(leaving, &mut saver, (source, false), notify).is_none();
    let (close, open) = (Leaving::Close, Leaving::Open);
    assert_eq!([close, open, open].map(&mut leave), [false, false, true]);
    assert_eq!([close, close].map(&mut leave), [false, true]);
    saving.edited(1);
    assert!(saving.warning(close, &mut saver, (source, false), notify).is_some());
    assert!(saving.title(&saver).contains("close again"));
    assert!(saving.warning(open, &mut saver, (source, false), notify).is_some());
    assert!(saving.title(&saver).contains("open again"));
}

/// World of one chunk that two viewers have open.
struct Two {
    folder: PathBuf,
    options: cli::Options,
    first: Opened,
    second: Opened,
}

struct Opened {
    tree: LodTree,
    saver: EditSaver,
}

impl Opened {
    fn new(options: &cli::Options) -> Self {
        let (opened, _) = open_to_edit(&options.scene, &options.save).unwrap();
        let drystone_world::Opened::Voxels(source) = opened else { panic!("a model") };
        Self::of(source)
    }

    fn of(source: Box<dyn Source>) -> Self {
        let data = Arc::new(LodData::new(source, usize::MAX));
        let config = LodConfig::default().with_threads(0);
        Self { tree: LodTree::new(Arc::clone(&data), config).unwrap(), saver: EditSaver::new(data) }
    }

    fn fill(&mut self, shape: &VoxelShape, material: Material) {
        let edit = Edit::fill(self.tree.data(), shape, material).unwrap();
        self.tree.apply_part(&edit);
        self.saver.take(&edit);
    }

    fn set(&mut self, x: i32, material: u16) {
        self.fill(&VoxelShape::voxel(VoxelPos::new(x, 5, 5)), Material(material));
    }

    /// Closes the file.
    fn close(&mut self) {
        *self = Self::of(generated());
    }
}

impl Two {
    /// Opens both viewers, with `--edits` and a file that does not exist yet if `has_edits`.
    fn open(name: &str, has_edits: bool) -> Self {
        let folder = std::env::temp_dir().join(format!("drystone-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("w.drystone");
        let materials = generated().materials().clone();
        let stored = StoredWorld::create(&path, "w", &materials).unwrap();
        let all = [(ChunkPos::default(), Chunk::new(Chunk::SIDE, Material(1)))];
        stored.put(all).unwrap();
        stored.close().unwrap();
        let edits = [std::ffi::OsString::from("--edits"), folder.join("e.drystone").into()];
        let words = ["drystone".into(), path.into()].into_iter();
        let words = words.chain(edits.into_iter().filter(|_| has_edits));
        let Ok(options) = cli::parse(words) else { panic!("path") };
        let [first, second] = [0; 2].map(|_| Opened::new(&options));
        Self { folder, options, first, second }
    }

    /// Returns the materials of a row of voxels in the world with a file of edits.
    fn row(&self, edits: &str) -> [u16; 4] {
        let [path, edits_path] = ["w.drystone", edits].map(|it| self.folder.join(it));
        let source = open_voxels(&path, &OpenOptions::default()).unwrap();
        let edited =
            EditedSource::open(source, &EditOptions::at(&edits_path).with_access(EditAccess::Read))
                .unwrap();
        let world = World::load(&edited).unwrap();
        [0, 1, 2, 40].map(|x| world.get(VoxelPos::new(x, 5, 5)).0)
    }

    /// Ends the second viewer, by closing its window or without.
    fn end_second(&mut self, closes: bool) {
        let (mut saving, source) = (Saving::new(), &self.options.scene.source);
        let (mut messages, saver) = (Vec::new(), &mut self.second.saver);
        let notify = &mut |line| messages.push(line);
        if closes {
            assert_eq!(saving.warning(Leaving::Close, saver, (source, false), notify), None);
            saving.is_left = true;
        }
        saving.save_last(saver, source, notify).unwrap();
        assert_eq!(saver.state(), SaveState::Saved);
        assert!(messages.len() == 1 && messages[0].contains(FALLBACK_FILE), "{messages:?}");
    }

    /// Closes both.
    fn close(&mut self) {
        self.first.close();
        self.second.close();
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        self.close();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The file that is created if the named one cannot be written.
const FALLBACK_FILE: &str = "w.drystone.edits.drystone";

/// The second viewer to edit gets an error with the reason. Ctrl+S then saves next to the world,
/// whether the first viewer still runs or not, and later edits go there too.
#[test]
fn the_second_viewer_to_edit_saves_to_another_file() {
    for (leaves, has_edits) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut two = Two::open(&format!("second-{leaves}-{has_edits}"), has_edits);
        two.first.set(40, 2);
        assert_eq!(two.first.saver.state(), SaveState::Unsaved(1));
        two.second.set(0, 3);
        let SaveState::Failed(why) = two.second.saver.state() else { panic!("it is taken") };
        assert!(why.contains("another program has this world open"), "{why}");
        two.first.saver.save().unwrap();
        if leaves {
            two.first.close();
        }
        let mut messages = Vec::new();
        let mut save = |two: &mut Two| {
            let source = &two.options.scene.source;
            Saving::save(&mut two.second.saver, source, false, &mut |line| messages.push(line))
        };
        assert!(matches!(save(&mut two), Saved::Silent));
        assert_eq!(two.second.saver.state(), SaveState::Saved);
        two.second.set(1, 4);
        assert_eq!(two.second.saver.state(), SaveState::Unsaved(1));
        assert!(matches!(save(&mut two), Saved::Silent));
        let [line] = messages.as_slice() else { panic!("{messages:?}") };
        let why =
            if leaves { "another program has changed" } else { "another program has this world" };
        assert!(line.contains(why) && line.contains("--edits"), "{line}");
        two.close();
        // Edits of whole chunks have the state of the second viewer.
        if has_edits {
            assert_eq!(two.row(FALLBACK_FILE), [3, 4, 1, 0]);
            assert_eq!(two.row("e.drystone"), [1, 1, 1, 2]);
        } else {
            assert_eq!(two.row(FALLBACK_FILE), [3, 4, 1, 2]);
        }
    }
}

/// The second viewer ends without Ctrl+S.
#[test]
fn the_second_viewer_to_end_saves_to_another_file() {
    for (closes, has_edits) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut two = Two::open(&format!("ends-{closes}-{has_edits}"), has_edits);
        two.first.set(40, 2);
        two.second.set(2, 5);
        two.end_second(closes);
        two.close();
        assert_eq!(two.row(FALLBACK_FILE)[..3], [1, 1, 5]);
    }
}

/// The folder of the named file is gone, as after its disk was removed.
#[test]
fn edits_are_saved_next_to_the_world_if_their_folder_is_gone() {
    for closes in [false, true] {
        let mut two = Two::open(&format!("gone-{closes}"), false);
        let gone = two.folder.join("gone");
        fs::create_dir(&gone).unwrap();
        two.options.scene.edits.edits = Some(gone.join("e.drystone"));
        two.second = Opened::new(&two.options);
        fs::remove_dir(&gone).unwrap();
        two.second.set(2, 5);
        let SaveState::Failed(why) = two.second.saver.state() else { panic!("it is gone") };
        assert!(why.contains("e.drystone: cannot be written"), "{why}");
        two.end_second(closes);
        two.close();
        assert_eq!(two.row(FALLBACK_FILE)[..3], [1, 1, 5]);
    }
}
