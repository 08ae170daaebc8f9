use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::Arc,
};

use drystone::{
    Content,
    scene::{MemoryBudget, SaveState},
};
use drystone_formats::Source;
use drystone_store::{EditAccess, EditOptions, EditedSource};
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{
    Edit, GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree, VoxelShape,
};
use winit::error::EventLoopError;

use super::{Opened, Viewer, WindowRequests, opening::options_for, reading::First};
use crate::{
    AppError,
    cli::{self, LevelsKind, SavedEdits},
    settings::Settings,
};

fn generated() -> Box<dyn Source> {
    Box::new(GeneratedWorld::new(GeneratorConfig::default()).unwrap())
}

/// Returns an empty folder for a test.
fn scratch(test: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("drystone-viewer-{test}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Creates a viewer without a window, with a world that has unsaved edits and no file for them.
fn edited(source_path: &Path) -> Viewer {
    let Ok(parsed) = cli::parse(["drystone".into(), source_path.into()]) else { panic!("path") };
    let unsaved = EditedSource::open(generated(), &EditOptions::default()).unwrap();
    let data = Arc::new(LodData::new(Box::new(unsaved), usize::MAX));
    let config = LodConfig::default().with_threads(0);
    let mut tree = LodTree::new(Arc::clone(&data), config).unwrap();
    let shape = VoxelShape::cube(VoxelPos::new(9, 9, 9), 3);
    let edit = Edit::fill(tree.data(), &shape, Material(1)).unwrap();
    tree.apply_part(&edit);
    let content = Content::Voxels(data, MemoryBudget::default().into());
    let opened = Opened { options: parsed.scene, content, note: None };
    let first = First::Ready(Box::new(opened), None);
    let requests = WindowRequests::new(|_| false);
    let mut viewer = Viewer::begin(first, parsed.save, Settings::default(), requests);
    viewer.session.saver().take(&edit);
    assert_eq!(viewer.session.saver().state(), SaveState::NotSaved);
    viewer
}

fn saved_count(path: &Path) -> u64 {
    EditedSource::open(generated(), &EditOptions::at(path).with_access(EditAccess::Read))
        .unwrap()
        .edited_count()
}

/// Cmd+Q on macOS: the event loop reports its end, and then the process ends.
#[test]
fn the_last_event_saves_edits_once() {
    let folder = scratch("last-event");
    let mut viewer = edited(&folder.join("a.vox"));
    viewer.leave();
    assert!(viewer.ending.failure.is_none());
    // No later event writes to disk.
    assert_eq!(saved_count(&folder.join("a.vox.edits.drystone")), 1);

    // A failed last save is not retried if the event loop returns after all.
    let missing = folder.join("no folder");
    let mut viewer = edited(&missing.join("a.vox"));
    viewer.run(|viewer| {
        viewer.leave();
        assert!(matches!(viewer.ending.failure.take(), Some(AppError::NotSaved(_))));
        fs::create_dir(&missing).unwrap();
        Ok(())
    });
    assert!(viewer.ending.failure.is_none() && fs::read_dir(&missing).unwrap().next().is_none());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn edits_are_saved_after_a_panic_of_the_window_thread() {
    let folder = scratch("panic");
    let mut viewer = edited(&folder.join("a.vox"));
    let ran = AssertUnwindSafe(|| viewer.run(|_| panic::panic_any("of the window")));
    let payload = panic::catch_unwind(ran).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"of the window"), "the panic is passed on");
    drop(viewer);
    assert_eq!(saved_count(&folder.join("a.vox.edits.drystone")), 1);
    fs::remove_dir_all(folder).unwrap();
}

/// A file that is opened again has its saved edits, and further edits go to the same file.
#[test]
fn a_file_is_remembered_with_the_edits_that_were_saved() {
    let folder = scratch("remembered");
    let (path, edits) = (folder.join("a.vox"), folder.join("a.vox.edits.drystone"));
    let mut viewer = edited(&path);
    assert_eq!(viewer.preferences.settings.recent_file(&path).edits, None);
    viewer.save();
    viewer.note_source();
    assert_eq!(
        viewer.preferences.settings.recent_file(&path).edits.as_deref(),
        Some(edits.as_path())
    );
    let again = options_for(
        viewer.preferences.settings.recent_file(&path),
        &viewer.options,
        LevelsKind::Auto,
    );
    assert_eq!(again.edits.saved, SavedEdits::Newest(Some(edits)));
    drop(viewer);
    fs::remove_dir_all(folder).unwrap();
}

/// The bare command draws a picture if no window can be opened, but not after a window has failed.
#[test]
fn only_a_window_that_never_opened_is_replaced_by_a_picture() {
    let folder = scratch("failed");
    let [never, later] = [false, true].map(|was_shown| {
        let mut viewer = edited(&folder.join("a.vox"));
        viewer.screen.was_shown = was_shown;
        viewer.run(|_| Err(EventLoopError::ExitFailure(3)));
        viewer.outcome().unwrap_err()
    });
    assert!(matches!(never, AppError::Window(_)), "{never}");
    assert!(matches!(later, AppError::WindowFailed(_)), "{later}");
    fs::remove_dir_all(folder).unwrap();
}
