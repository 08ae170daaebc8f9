//! Editing without a window: edits show at once, can be undone, and are restored when the world is
//! opened again.

use std::{path::Path, sync::Arc};

use drystone::scene::{
    self, BackendKind, EditAction, EditSaver, Edited, Editor, RendererKind, SaveState, Size,
    VoxelScene, ray_through,
};
use drystone_formats::Source;
use drystone_render::{Camera, Image, Projection, View};
use drystone_store::{
    EditAccess, EditOptions, EditedSource, ImportOptions, StoreOptions, StoredWorld, import,
};
use drystone_voxel::{Material, NodePos, VoxelPos};
use drystone_world::{
    GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree, OpenOptions, VoxelShape,
    open_voxels,
};
use glam::DVec3;

use crate::program::{data_or_skip, scratch};

const SIZE: Size = Size { width: 200, height: 140 };

fn shot(scene: &mut VoxelScene, view: &View) -> Image {
    scene.settle(view, SIZE, |_| {}).unwrap();
    scene.picture(view).unwrap().0
}

fn scene_of(data: Arc<LodData>, max_level: u8) -> VoxelScene {
    let capacity = VoxelScene::CAPACITY;
    let renderer =
        scene::open_renderer(RendererKind::Pool, BackendKind::Soft, SIZE, capacity).unwrap();
    let config = LodConfig::default().with_max_level(max_level);
    VoxelScene::new(LodTree::new(data, config).unwrap(), renderer).unwrap()
}

/// Draws a source in a new scene with levels up to `max_level`.
fn fresh_shot(source: Box<dyn Source>, max_level: u8, view: &View) -> Image {
    shot(&mut scene_of(Arc::new(LodData::new(source, 64 << 20)), max_level), view)
}

fn generated() -> Box<dyn Source> {
    let config = GeneratorConfig::default().with_size_chunks([6, 4, 6]);
    Box::new(GeneratedWorld::new(config).unwrap())
}

/// View from above.
fn view() -> View {
    View::new(Camera::look_at(DVec3::new(60.0, 125.0, 50.0), DVec3::new(100.0, 40.0, 96.0)))
}

/// Edits the voxels at the middle of the picture and next to it, undoes and redoes that. Returns
/// the pictures before and after.
fn session(scene: &mut VoxelScene, editor: &mut Editor, view: &View) -> [Image; 2] {
    let ray = |x: f64| ray_through(&view.camera, [x, 0.0], SIZE.aspect());
    let before = shot(scene, view);
    editor.brush.radius_voxels = 4;
    editor.brush.next_form();
    editor.brush.next_form();
    let picked = editor.act(scene, EditAction::Pick, &ray(0.0)).unwrap();
    assert!(matches!(picked, Edited::Picked(material) if !material.is_air()), "{picked:?}");
    assert!(shot(scene, view) == before, "picking changes nothing");
    let mut pictures = vec![before];
    let steps = [(EditAction::Remove, 0.0), (EditAction::Place, 0.4), (EditAction::Place, -0.4)];
    for (action, x) in steps {
        let done = editor.act(scene, action, &ray(x)).unwrap();
        assert!(matches!(done, Edited::Voxels(count) if count > 1), "{action:?}: {done:?}");
        pictures.push(shot(scene, view));
        let [.., last, new] = pictures.as_slice() else { panic!() };
        assert!(new != last, "{action:?} shows");
    }
    for back in (0..3).rev() {
        assert!(matches!(editor.undo(scene).unwrap(), Edited::Voxels(_)));
        assert!(shot(scene, view) == pictures[back], "undone to {back}");
    }
    assert_eq!(editor.undo(scene).unwrap(), Edited::Nothing);
    for expected in pictures.iter().skip(1) {
        assert!(matches!(editor.redo(scene).unwrap(), Edited::Voxels(_)));
        assert!(shot(scene, view) == *expected, "redone");
    }
    assert_eq!(editor.redo(scene).unwrap(), Edited::Nothing);
    let after = pictures.pop().unwrap();
    [pictures.swap_remove(0), after]
}

fn edits_in_file(source: Box<dyn Source>, path: &Path) -> Box<dyn Source> {
    Box::new(
        EditedSource::open(source, &EditOptions::at(path).with_access(EditAccess::Write)).unwrap(),
    )
}

/// Edits a world with its edits in a separate file or in the stored world, and opens it again.
fn edited_and_opened_again(open: impl Fn() -> Box<dyn Source>, max_level: u8, view: &View) {
    let data = Arc::new(LodData::new(open(), 64 << 20));
    let mut editor = Editor::new(EditSaver::new(Arc::clone(&data)));
    assert_eq!(editor.save_state(), SaveState::Unedited);
    let mut scene = scene_of(Arc::clone(&data), max_level);
    let [_, after] = session(&mut scene, &mut editor, view);
    let mut other = scene_of(Arc::clone(&data), max_level);
    assert!(shot(&mut other, view) == after, "shown by another scene");
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    drop((editor, scene, other));
    // Threads of the scenes may hold it for a moment.
    let start = std::time::Instant::now();
    while Arc::strong_count(&data) > 1 && start.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(data);
    assert!(fresh_shot(open(), max_level, view) == after, "opened again");
}

#[test]
fn a_generated_world_is_edited_and_opened_again() {
    let path = scratch("editing-world").join("edits.drystone");
    edited_and_opened_again(|| edits_in_file(generated(), &path), 0, &view());
    let unedited = fresh_shot(generated(), 0, &view());
    assert!(fresh_shot(edits_in_file(generated(), &path), 0, &view()) != unedited);
}

#[test]
fn a_maze_is_edited_and_opened_again() {
    let Some(maze) = data_or_skip("a_maze_is_edited_and_opened_again", "maze.vox") else { return };
    let bytes = std::fs::read(&maze).unwrap();
    let source = || open_voxels(&maze, &OpenOptions::default()).unwrap();
    // Bars are in the middle of the picture and beside it, not gaps.
    let mut camera = Camera::look_at(DVec3::new(104.0, 66.0, 113.0), DVec3::new(51.0, 34.0, 59.0));
    camera.projection = Projection::Perspective { fov_y: 50f32.to_radians() };
    let path = scratch("editing-maze").join("edits.drystone");
    let open = || edits_in_file(source(), &path);
    edited_and_opened_again(open, 0, &View::new(camera));
    assert!(std::fs::read(&maze).unwrap() == bytes, "the source is unchanged");
}

#[test]
fn levels_are_edited_in_a_separate_file_and_opened_again() {
    let path = scratch("editing-levels").join("edits.drystone");
    let open = || edits_in_file(generated(), &path);
    edited_and_opened_again(open, NodePos::MAX_LEVEL, &view());
}

#[test]
fn levels_of_a_stored_world_are_edited_and_opened_again() {
    let path = scratch("editing-stored").join("world.drystone");
    let source = generated();
    let options = ImportOptions::default();
    import(source.as_ref(), &path, &options, &mut |_| {}).unwrap().0.close().unwrap();
    let open =
        || Box::new(StoredWorld::open(&path, &StoreOptions::default()).unwrap()) as Box<dyn Source>;
    edited_and_opened_again(open, NodePos::MAX_LEVEL, &view());
}

/// For one mesh or many, near borders and far, the scene shows the voxels of its world.
#[test]
fn every_mesh_affected_by_an_edit_is_updated() {
    let data = Arc::new(LodData::new(generated(), usize::MAX));
    let view = view();
    let mut scene = scene_of(Arc::clone(&data), 0);
    let mut editor = Editor::new(EditSaver::new(Arc::clone(&data)));
    let at = VoxelPos::new;
    for (center, radius_voxels) in [(at(96, 64, 96), 0), (at(95, 40, 90), 30), (at(64, 50, 64), 1)]
    {
        for material in [Material(2), Material::AIR] {
            let shape = VoxelShape::Sphere { center, radius_voxels };
            editor.fill(&mut scene, &shape, material).unwrap();
            editor.finish(&mut scene).unwrap();
            let fresh = shot(&mut scene_of(Arc::clone(&data), 0), &view);
            assert!(shot(&mut scene, &view) == fresh, "{shape:?} of {material:?}");
        }
    }
    assert_eq!(editor.save_state(), SaveState::NotSaved);
    let touched = editor.touched().unwrap();
    assert!(touched.contains(at(95, 40, 60)) && touched.contains(at(95, 70, 90)), "{touched:?}");
    assert!(!touched.contains(at(95, 71, 90)), "{touched:?}");
}

/// Actions that change nothing return the reason.
#[test]
fn actions_without_effect_return_the_reason() {
    let data = Arc::new(LodData::new(generated(), 16 << 20));
    let mut editor = Editor::new(EditSaver::new(Arc::clone(&data)));
    let mut scene = scene_of(data, NodePos::MAX_LEVEL);
    let up = Camera::look_at(DVec3::new(50.0, 400.0, 50.0), DVec3::new(51.0, 900.0, 50.0));
    let ray = ray_through(&up, [0.0, 0.0], 1.0);
    for action in [EditAction::Remove, EditAction::Place, EditAction::Pick] {
        assert_eq!(editor.act(&mut scene, action, &ray).unwrap(), Edited::OutOfReach);
    }
    let sky = VoxelShape::cube(VoxelPos::new(40, 1_000, 40), 1);
    assert_eq!(editor.fill(&mut scene, &sky, Material::AIR).unwrap(), Edited::Nothing);
    let vast = VoxelShape::cube(VoxelPos::new(0, 0, 0), 5_000);
    assert!(editor.fill(&mut scene, &vast, Material(1)).is_err());
    assert_eq!(editor.save_state(), SaveState::Unedited);
    assert_eq!(editor.history().undo_count(), 0);
}
