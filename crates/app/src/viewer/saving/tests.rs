use std::{fs, path::PathBuf, sync::Arc};

use drystone::scene::KeptBy;
use drystone_voxel::{Chunk, ChunkPos, Material, VoxelPos};
use drystone_world::{
    CommitPolicy, Edit, EditedSource, StoredWorld, VoxelShape, World, open_source,
};

use super::*;
use crate::cli;

/// An edit of a generated world that nothing keeps.
fn edited() -> EditSaver {
    let source = open_source(None).unwrap();
    let mut world = World::new("edited", source.materials().clone());
    let unkept = EditedSource::without_file(source, CommitPolicy::default()).unwrap();
    let mut saver = EditSaver::new(KeptBy::Source(Arc::new(unkept)));
    let shape = VoxelShape::cube(VoxelPos::new(9, 9, 9), 3);
    let edit = Edit::fill(&world, &shape, Material(1)).unwrap();
    world.apply(&edit);
    saver.take(&world, &edit);
    assert_eq!(saver.state(), SaveState::NotKept);
    saver
}

/// What ends by itself, as when the device fails, keeps the edits; who closes it twice does not.
#[test]
fn edits_that_nothing_keeps_get_a_file_at_the_end() {
    let folder = std::env::temp_dir().join(format!("drystone-last-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.vox.edits.drystone");
    let source = |path: &std::path::Path| {
        let Ok(options) = cli::parse(["drystone".into(), path.into()]) else { panic!("path") };
        options.scene.source
    };
    let (beside, mut said) = (source(&folder.join("a.vox")), Vec::new());
    let say = &mut |line: String| said.push(line);
    let (mut saving, mut saver) = (Saving::new(), edited());
    saving.is_left = true;
    saving.save_last(&mut saver, &beside, say).unwrap();
    assert!(!file.exists());
    saving.is_left = false;
    let lost = source(&folder.join("no folder/a.vox"));
    assert!(saving.save_last(&mut saver, &lost, say).is_err());
    saving.save_last(&mut saver, &beside, say).unwrap();
    assert_eq!(saver.state(), SaveState::Saved);
    // Once is enough.
    saving.save_last(&mut saver, &beside, say).unwrap();
    drop(saver);
    assert_eq!(said, [format!("edits are kept in {}", file.display())]);
    let kept = EditedSource::open_read_only(open_source(None).unwrap(), &file).unwrap();
    assert_eq!(kept.edited_count(), 1);
    drop(kept);
    fs::remove_dir_all(folder).unwrap();
}

/// Who was told what closing the window loses was not told what opening a file does.
#[test]
fn each_way_to_leave_is_warned_of() {
    let Ok(options) = cli::parse(["drystone".into()]) else { panic!("no options") };
    let (source, say) = (&options.scene.source, &mut |_: String| {});
    let (mut saving, mut saver) = (Saving::new(), edited());
    let mut leave = |leaving| saving.warning(leaving, &mut saver, (source, false), say).is_none();
    let (close, open) = (Leaving::Close, Leaving::Open);
    assert_eq!([close, open, open].map(&mut leave), [false, false, true]);
    assert_eq!([close, close].map(&mut leave), [false, true]);
    saving.edited();
    assert!(saving.warning(close, &mut saver, (source, false), say).is_some());
    assert!(saving.title(&saver).contains("close again"));
    assert!(saving.warning(open, &mut saver, (source, false), say).is_some());
    assert!(saving.title(&saver).contains("open again"));
}

/// A world of one chunk that two viewers have open.
struct Two {
    folder: PathBuf,
    options: cli::Options,
    first: Opened,
    second: Opened,
}

struct Opened {
    world: World,
    saver: EditSaver,
}

impl Opened {
    fn new(options: &cli::Options) -> Self {
        let source = commands::open_to_edit(&options.scene, &options.save).unwrap();
        let world = World::load(source.as_ref()).unwrap();
        Self { world, saver: EditSaver::new(KeptBy::Source(source.into())) }
    }

    fn set(&mut self, x: i32, material: u16) {
        let shape = VoxelShape::voxel(VoxelPos::new(x, 5, 5));
        let edit = Edit::fill(&self.world, &shape, Material(material)).unwrap();
        self.world.apply(&edit);
        self.saver.take(&self.world, &edit);
    }
}

impl Two {
    /// With the edits in a file that is not there yet where that is said.
    fn open(name: &str, has_edits: bool) -> Self {
        let folder = std::env::temp_dir().join(format!("drystone-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("w.drystone");
        let materials = open_source(None).unwrap().materials().clone();
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

    /// What the world and the edits in a file have together along a row.
    fn row(&self, edits: &str) -> [u16; 4] {
        let [path, beside] = ["w.drystone", edits].map(|it| self.folder.join(it));
        let source = open_source(Some(&path)).unwrap();
        let edited = EditedSource::open_read_only(source, &beside).unwrap();
        let world = World::load(&edited).unwrap();
        [0, 1, 2, 40].map(|x| world.get(VoxelPos::new(x, 5, 5)).0)
    }

    /// Ends the second by closing its window, or without being asked.
    fn end_second(&mut self, closes: bool) {
        let (mut saving, source) = (Saving::new(), &self.options.scene.source);
        let (mut said, saver) = (Vec::new(), &mut self.second.saver);
        let say = &mut |line| said.push(line);
        if closes {
            assert_eq!(saving.warning(Leaving::Close, saver, (source, false), say), None);
            saving.is_left = true;
        }
        saving.save_last(saver, source, say).unwrap();
        assert_eq!(saver.state(), SaveState::Saved);
        assert!(said.len() == 1 && said[0].contains(BESIDE), "{said:?}");
    }

    /// Closes both.
    fn close(&mut self) {
        for opened in [&mut self.first, &mut self.second] {
            opened.saver = EditSaver::new(KeptBy::Nobody);
        }
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        self.close();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The file that is made where the one that was named cannot be written.
const BESIDE: &str = "w.drystone.edits.drystone";

/// Who edits second is told who has the world, or the file of its edits, and Ctrl+S saves beside
/// the world, whether the first is still there or has left; from then on edits go there.
#[test]
fn who_edits_second_saves_beside_the_world() {
    for (leaves, has_edits) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut two = Two::open(&format!("second-{leaves}-{has_edits}"), has_edits);
        two.first.set(40, 2);
        assert_eq!(two.first.saver.state(), SaveState::Unsaved(1));
        two.second.set(0, 3);
        let SaveState::Failed(why) = two.second.saver.state() else { panic!("it is taken") };
        assert!(why.contains("another program has this world open"), "{why}");
        two.first.saver.save().unwrap();
        if leaves {
            two.first.saver = EditSaver::new(KeptBy::Nobody);
        }
        let mut said = Vec::new();
        let mut save = |two: &mut Two| {
            let source = &two.options.scene.source;
            Saving::save(&mut two.second.saver, source, false, &mut |line| said.push(line))
        };
        assert!(matches!(save(&mut two), Saved::Silent));
        assert_eq!(two.second.saver.state(), SaveState::Saved);
        two.second.set(1, 4);
        assert_eq!(two.second.saver.state(), SaveState::Unsaved(1));
        assert!(matches!(save(&mut two), Saved::Silent));
        let [line] = said.as_slice() else { panic!("{said:?}") };
        let why =
            if leaves { "another program has changed" } else { "another program has this world" };
        assert!(line.contains(why) && line.contains("--edits"), "{line}");
        two.close();
        // What was edited as a whole chunk is as the second has it.
        if has_edits {
            assert_eq!(two.row(BESIDE), [3, 4, 1, 0]);
            assert_eq!(two.row("e.drystone"), [1, 1, 1, 2]);
        } else {
            assert_eq!(two.row(BESIDE), [3, 4, 1, 2]);
        }
    }
}

/// However the second ends, without Ctrl+S.
#[test]
fn whoever_ends_second_saves_beside_the_world() {
    for (closes, has_edits) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut two = Two::open(&format!("ends-{closes}-{has_edits}"), has_edits);
        two.first.set(40, 2);
        two.second.set(2, 5);
        two.end_second(closes);
        two.close();
        assert_eq!(two.row(BESIDE)[..3], [1, 1, 5]);
    }
}

/// The folder of the named file is gone, as when its disk was removed.
#[test]
fn edits_are_saved_beside_the_world_when_their_folder_is_gone() {
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
        assert_eq!(two.row(BESIDE)[..3], [1, 1, 5]);
    }
}
