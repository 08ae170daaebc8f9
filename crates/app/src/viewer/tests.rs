use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::Arc,
};

use drystone::scene::{KeptBy, SaveState};
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{CommitPolicy, Edit, EditedSource, VoxelShape, World, open_source};
use winit::error::EventLoopError;

use super::{
    Loaded, Viewer, WindowRequests,
    opening::{First, options_for},
};
use crate::{
    AppError,
    cli::{self, LevelsKind},
    content::Content,
    settings::Settings,
};

/// A folder of a test's own, empty.
fn scratch(test: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("drystone-viewer-{test}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A viewer without a window, of a world that was edited and that no file keeps.
fn edited(source_path: &Path) -> Viewer {
    let Ok(asked) = cli::parse(["drystone".into(), source_path.into()]) else { panic!("path") };
    let source = open_source(None).unwrap();
    let mut world = World::new("edited", source.materials().clone());
    let shape = VoxelShape::cube(VoxelPos::new(9, 9, 9), 3);
    let edit = Edit::fill(&world, &shape, Material(1)).unwrap();
    world.apply(&edit);
    let unkept = EditedSource::without_file(source, CommitPolicy::default()).unwrap();
    let loaded = Loaded {
        options: asked.scene,
        content: Content::World(Box::new(World::new("shown", world.materials().clone()))),
        kept_by: KeptBy::Source(Arc::new(unkept)),
        quads: Vec::new(),
    };
    let first = First::Ready(Box::new(loaded));
    let wishes = WindowRequests::new(|_| false);
    let mut viewer = Viewer::begin(first, asked.save, Settings::default(), wishes);
    viewer.editing.editor.saver().take(&world, &edit);
    assert_eq!(viewer.editing.editor.saver().state(), SaveState::NotKept);
    viewer
}

fn kept_count(path: &Path) -> u64 {
    EditedSource::open_read_only(open_source(None).unwrap(), path).unwrap().edited_count()
}

/// Cmd+Q on macOS: the event loop says that it ends, and then the process does.
#[test]
fn the_last_event_saves_once() {
    let folder = scratch("last-event");
    let mut viewer = edited(&folder.join("a.vox"));
    viewer.leave();
    assert!(viewer.failure.is_none());
    // What is on disk now is all that there will be.
    assert_eq!(kept_count(&folder.join("a.vox.edits.drystone")), 1);

    // What could not be saved then is not tried again where the event loop returns after all.
    let missing = folder.join("no folder");
    let mut viewer = edited(&missing.join("a.vox"));
    viewer.run(|viewer| {
        viewer.leave();
        assert!(matches!(viewer.failure.take(), Some(AppError::NotSaved(_))));
        fs::create_dir(&missing).unwrap();
        Ok(())
    });
    assert!(viewer.failure.is_none() && fs::read_dir(&missing).unwrap().next().is_none());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_panic_of_the_windows_thread_saves() {
    let folder = scratch("panic");
    let mut viewer = edited(&folder.join("a.vox"));
    let ran = AssertUnwindSafe(|| viewer.run(|_| panic::panic_any("of the window")));
    let payload = panic::catch_unwind(ran).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"of the window"), "it is not held back");
    drop(viewer);
    assert_eq!(kept_count(&folder.join("a.vox.edits.drystone")), 1);
    fs::remove_dir_all(folder).unwrap();
}

/// Who comes back to a file has the edits that were saved meanwhile, and goes on in the same file.
#[test]
fn a_file_is_remembered_with_the_edits_that_were_saved() {
    let folder = scratch("remembered");
    let (path, edits) = (folder.join("a.vox"), folder.join("a.vox.edits.drystone"));
    let mut viewer = edited(&path);
    assert_eq!(viewer.settings.recent_file(&path).edits, None);
    viewer.save();
    viewer.note_source();
    assert_eq!(viewer.settings.recent_file(&path).edits.as_deref(), Some(edits.as_path()));
    let again = options_for(viewer.settings.recent_file(&path), &viewer.options, LevelsKind::Auto);
    assert_eq!(again.edits.edits, Some(edits));
    drop(viewer);
    fs::remove_dir_all(folder).unwrap();
}

/// The bare command draws a picture where no window can be opened, not where one has failed.
#[test]
fn only_a_window_that_never_was_is_done_without() {
    let folder = scratch("failed");
    let [never, later] = [false, true].map(|was_shown| {
        let mut viewer = Viewer { was_shown, ..edited(&folder.join("a.vox")) };
        viewer.run(|_| Err(EventLoopError::ExitFailure(3)));
        viewer.outcome().unwrap_err()
    });
    assert!(matches!(never, AppError::Window(_)), "{never}");
    assert!(matches!(later, AppError::WindowFailed(_)), "{later}");
    fs::remove_dir_all(folder).unwrap();
}
