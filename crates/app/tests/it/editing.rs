//! Editing without a window: edits show at once, can be undone, and are restored when the world is
//! opened again.

use std::{path::Path, sync::Arc};

use drystone::scene::{
    self, BackendKind, EditAction, EditSaver, EditScene, EditTarget, Edited, Editor, LodScene,
    RendererKind, SaveState, Scene, Size, ray_through,
};
use drystone_formats::Source;
use drystone_render::{Camera, Image, View};
use drystone_store::{
    EditAccess, EditOptions, EditedSource, ImportOptions, StoreOptions, StoredWorld, import,
};
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{
    GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree, OpenOptions, VoxelShape, World,
    open_voxels,
};
use glam::DVec3;

use crate::program::{data_or_skip, scratch};

const SIZE: Size = Size { width: 200, height: 140 };

/// Scene of either kind with its renderer.
trait Shown: EditScene {
    fn shot(&mut self, view: &View) -> Image;
}

impl Shown for Scene {
    fn shot(&mut self, view: &View) -> Image {
        self.picture(view).unwrap().0
    }
}

impl Shown for LodScene {
    fn shot(&mut self, view: &View) -> Image {
        self.settle(view, SIZE, |_| {}).unwrap();
        self.picture(view).unwrap().0
    }
}

fn world_scene(world: World) -> Scene {
    let quads = scene::mesh_world(&world);
    let capacity = scene::Capacity { quads: 1 << 18, meshes: 1 << 10 };
    let renderer =
        scene::open_renderer(RendererKind::Pool, BackendKind::Soft, SIZE, capacity).unwrap();
    Scene::new(world, &quads, renderer).unwrap()
}

fn lod_scene(data: Arc<LodData>) -> LodScene {
    let capacity = LodScene::CAPACITY;
    let renderer =
        scene::open_renderer(RendererKind::Pool, BackendKind::Soft, SIZE, capacity).unwrap();
    let tree = LodTree::new(data, LodConfig::default()).unwrap();
    LodScene::new(tree, renderer).unwrap()
}

fn generated() -> Box<dyn Source> {
    let config = GeneratorConfig { size_chunks: [6, 4, 6], ..GeneratorConfig::default() };
    Box::new(GeneratedWorld::new(config).unwrap())
}

/// View from above.
fn view() -> View {
    View::new(Camera::look_at(DVec3::new(60.0, 125.0, 50.0), DVec3::new(100.0, 40.0, 96.0)))
}

/// Edits the voxels at the middle of the picture and next to it, undoes and redoes that. Returns
/// the pictures before and after.
fn session(scene: &mut dyn Shown, editor: &mut Editor, view: &View) -> [Image; 2] {
    let ray = |x: f64| ray_through(&view.camera, [x, 0.0], SIZE.aspect());
    let before = scene.shot(view);
    editor.brush.radius_voxels = 4;
    editor.brush.next_form();
    editor.brush.next_form();
    let picked = editor.act(upcast(scene), EditAction::Pick, &ray(0.0)).unwrap();
    assert!(matches!(picked, Edited::Picked(material) if !material.is_air()), "{picked:?}");
    assert!(scene.shot(view) == before, "picking changes nothing");
    let mut pictures = vec![before];
    let steps = [(EditAction::Remove, 0.0), (EditAction::Place, 0.4), (EditAction::Place, -0.4)];
    for (action, x) in steps {
        let done = editor.act(upcast(scene), action, &ray(x)).unwrap();
        assert!(matches!(done, Edited::Voxels(count) if count > 1), "{action:?}: {done:?}");
        pictures.push(scene.shot(view));
        let [.., last, new] = pictures.as_slice() else { panic!() };
        assert!(new != last, "{action:?} shows");
    }
    for back in (0..3).rev() {
        assert!(matches!(editor.undo(upcast(scene)).unwrap(), Edited::Voxels(_)));
        assert!(scene.shot(view) == pictures[back], "undone to {back}");
    }
    assert_eq!(editor.undo(upcast(scene)).unwrap(), Edited::Nothing);
    for expected in pictures.iter().skip(1) {
        assert!(matches!(editor.redo(upcast(scene)).unwrap(), Edited::Voxels(_)));
        assert!(scene.shot(view) == *expected, "redone");
    }
    assert_eq!(editor.redo(upcast(scene)).unwrap(), Edited::Nothing);
    let after = pictures.pop().unwrap();
    [pictures.swap_remove(0), after]
}

fn upcast(scene: &mut dyn Shown) -> &mut dyn EditScene {
    scene
}

fn edits_in_file(source: Box<dyn Source>, path: &Path) -> Box<dyn Source> {
    Box::new(
        EditedSource::open(
            source,
            &EditOptions { access: EditAccess::Write, ..EditOptions::at(path) },
        )
        .unwrap(),
    )
}

/// Edits a world in memory, with its edits in a separate file.
fn a_world_session(source: impl Fn() -> Box<dyn Source>, view: &View, folder: &Path) {
    let path = folder.join("edits.drystone");
    let edited = edits_in_file(source(), &path);
    let mut scene = world_scene(World::load(edited.as_ref()).unwrap());
    let mut editor = Editor::new(EditSaver::new(EditTarget::Source(edited.into())));
    assert_eq!(editor.save_state(), SaveState::Unedited);
    let [before, after] = session(&mut scene, &mut editor, view);
    // The scene shows the voxels of its world.
    assert!(world_scene(scene.world().clone()).shot(view) == after);
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    drop(editor);
    let again = EditedSource::open(
        source(),
        &EditOptions { access: EditAccess::Read, ..EditOptions::at(&path) },
    )
    .unwrap();
    assert!(world_scene(World::load(&again).unwrap()).shot(view) == after, "opened again");
    assert!(world_scene(World::load(source().as_ref()).unwrap()).shot(view) == before);
}

#[test]
fn a_generated_world_is_edited_and_opened_again() {
    a_world_session(generated, &view(), &scratch("editing-world"));
}

#[test]
fn a_maze_is_edited_and_opened_again() {
    let Some(maze) = data_or_skip("a_maze_is_edited_and_opened_again", "maze.vox") else { return };
    let bytes = std::fs::read(&maze).unwrap();
    let source = || open_voxels(&maze, &OpenOptions::default()).unwrap();
    let default_view = scene::default_view(&World::load(source().as_ref()).unwrap(), SIZE.aspect());
    a_world_session(source, &View::new(default_view.camera), &scratch("editing-maze"));
    assert!(std::fs::read(&maze).unwrap() == bytes, "the source is unchanged");
}

/// Edits a world at levels of detail, with its edits in a separate file or in the stored world.
fn a_level_session(open: impl Fn() -> Box<dyn Source>) {
    let data = Arc::new(LodData::new(open(), 64 << 20));
    let mut editor = Editor::new(EditSaver::new(EditTarget::Levels(Arc::clone(&data))));
    let mut scene = lod_scene(Arc::clone(&data));
    let [_, after] = session(&mut scene, &mut editor, &view());
    assert!(lod_scene(Arc::clone(&data)).shot(&view()) == after, "shown by another scene");
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    drop((editor, scene));
    // Threads of the scene may hold it for a moment.
    let start = std::time::Instant::now();
    while Arc::strong_count(&data) > 1 && start.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(data);
    let again = Arc::new(LodData::new(open(), 64 << 20));
    assert!(lod_scene(again).shot(&view()) == after, "opened again");
}

#[test]
fn levels_are_edited_in_a_separate_file_and_opened_again() {
    let path = scratch("editing-levels").join("edits.drystone");
    a_level_session(|| edits_in_file(generated(), &path));
}

#[test]
fn levels_of_a_stored_world_are_edited_and_opened_again() {
    let path = scratch("editing-stored").join("world.drystone");
    let source = generated();
    let options = ImportOptions::default();
    import(source.as_ref(), &path, &options, &mut |_| {}).unwrap().0.close().unwrap();
    a_level_session(|| Box::new(StoredWorld::open(&path, &StoreOptions::default()).unwrap()));
}

/// For one mesh or many, near borders and far, the scene shows the voxels of its world.
#[test]
fn every_mesh_affected_by_an_edit_is_updated() {
    let world = World::load(generated().as_ref()).unwrap();
    let view = view();
    let mut scene = world_scene(world);
    let mut editor = Editor::new(EditSaver::new(EditTarget::None));
    let at = VoxelPos::new;
    for (center, radius_voxels) in [(at(96, 64, 96), 0), (at(95, 40, 90), 30), (at(64, 50, 64), 1)]
    {
        for material in [Material(2), Material::AIR] {
            let shape = VoxelShape::Sphere { center, radius_voxels };
            editor.fill(&mut scene, &shape, material).unwrap();
            editor.finish(&mut scene).unwrap();
            let fresh = world_scene(scene.world().clone()).shot(&view);
            assert!(scene.shot(&view) == fresh, "{shape:?} of {material:?}");
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
    let mut scene = lod_scene(data);
    let mut editor = Editor::new(EditSaver::new(EditTarget::None));
    let up = Camera::look_at(DVec3::new(50.0, 400.0, 50.0), DVec3::new(51.0, 900.0, 50.0));
    let ray = ray_through(&up, [0.0, 0.0], 1.0);
    for action in [EditAction::Remove, EditAction::Place, EditAction::Pick] {
        assert_eq!(editor.act(&mut scene, action, &ray).unwrap(), Edited::OutOfReach);
    }
    let sky = VoxelShape::cube(VoxelPos::new(40, 1_000, 40), 1);
    assert_eq!(editor.fill(&mut scene, &sky, Material(1)).unwrap(), Edited::Nothing);
    let vast = VoxelShape::cube(VoxelPos::new(0, 0, 0), 5_000);
    assert!(editor.fill(&mut scene, &vast, Material(1)).is_err());
    assert_eq!(editor.save_state(), SaveState::Unedited);
    assert_eq!(editor.history().undo_count(), 0);
}
