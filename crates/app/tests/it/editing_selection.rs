//! Editing by selection: boxes are copied, turned, placed, saved and restored, on every backend.

use std::{collections::HashMap, path::Path, sync::Arc};

use drystone::scene::{
    self, BackendKind, EditAction, EditError, EditSaver, EditTool, Edited, Editor, Mirror,
    MirrorPlanes, RendererKind, SaveState, Size, VoxelScene,
};
use drystone_formats::Source;
use drystone_render::{Camera, Image, View};
use drystone_store::{EditAccess, EditOptions, EditedSource};
use drystone_voxel::{Material, VoxelBox, VoxelPos};
use drystone_world::{
    Axis, GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree, VoxelRay,
};
use glam::DVec3;

use crate::pictures::{HEIGHT, WIDTH, compare};
use crate::program::scratch;

const SIZE: Size = Size { width: WIDTH, height: HEIGHT };
const BACKENDS: [BackendKind; 3] = [BackendKind::Soft, BackendKind::Wgpu, BackendKind::Gl];
/// Selected corners: ground, cave and air, over borders of chunks.
const CORNERS: [VoxelPos; 2] = [VoxelPos::new(59, 62, 90), VoxelPos::new(70, 20, 97)];

fn source(edits: &Path) -> Box<dyn Source> {
    let config = GeneratorConfig::default().with_size_chunks([6, 4, 6]);
    let world = Box::new(GeneratedWorld::new(config).unwrap());
    let options = EditOptions::at(edits).with_access(EditAccess::Write);
    Box::new(EditedSource::open(world, &options).unwrap())
}

fn unsaved() -> Arc<LodData> {
    let config = GeneratorConfig::default().with_size_chunks([6, 4, 6]);
    Arc::new(LodData::new(Box::new(GeneratedWorld::new(config).unwrap()), 64 << 20))
}

fn scene_of(data: &Arc<LodData>, backend: BackendKind) -> VoxelScene {
    let renderer =
        scene::open_renderer(RendererKind::Pool, backend, SIZE, VoxelScene::CAPACITY).unwrap();
    let config = LodConfig::default().with_max_level(0);
    VoxelScene::new(LodTree::new(Arc::clone(data), config).unwrap(), renderer).unwrap()
}

fn view() -> View {
    View::new(Camera::look_at(DVec3::new(60.0, 135.0, 40.0), DVec3::new(90.0, 50.0, 96.0)))
}

fn shot(scene: &mut VoxelScene) -> Image {
    scene.settle(&view(), SIZE, |_| {}).unwrap();
    scene.picture(&view()).unwrap().0
}

fn down(x: i32, z: i32) -> VoxelRay {
    let origin = [f64::from(x) + 0.5, 200.0, f64::from(z) + 0.5];
    VoxelRay { origin, direction: [0.0, -1.0, 0.0] }
}

fn places(bounds: VoxelBox) -> impl Iterator<Item = VoxelPos> {
    let VoxelBox { min, max } = bounds;
    (min.x..max.x).flat_map(move |x| {
        (min.y..max.y).flat_map(move |y| (min.z..max.z).map(move |z| VoxelPos::new(x, y, z)))
    })
}

/// Returns the voxels of a box, turned by a quarter about Y, by position after it is placed on the ground
/// at x and z. Computed voxel by voxel.
fn turned(data: &LodData, bounds: VoxelBox, [x, z]: [i32; 2]) -> HashMap<VoxelPos, Material> {
    let ground = down(x, z).cast(data, 300.0).unwrap();
    let [width, _, depth] = bounds.size_voxels().map(|side| side as i32);
    let low = [x - (depth - 1) / 2, ground.voxel.y + 1, z - (width - 1) / 2];
    let moved = |at: VoxelPos| {
        let VoxelPos { x, y, z } = bounds.min;
        let [x, y, z] = [at.z - z, at.y - y, width - 1 - (at.x - x)];
        VoxelPos::new(low[0] + x, low[1] + y, low[2] + z)
    };
    places(bounds).map(|at| (moved(at), data.get(at))).collect()
}

fn holds(data: &LodData, voxels: &HashMap<VoxelPos, Material>) -> bool {
    voxels.iter().all(|(&at, &material)| data.get(at) == material)
}

/// Selects, copies and pastes with a quarter turn; undoes and redoes; saves, and opens again. Returns the
/// pictures before and after.
fn copied_and_opened_again(backend: BackendKind) -> [Image; 2] {
    let path = scratch(&format!("editing-selection-{backend:?}")).join("edits.drystone");
    let data = Arc::new(LodData::new(source(&path), 64 << 20));
    let mut editor = Editor::new(EditSaver::new(Arc::clone(&data)));
    let mut scene = scene_of(&data, backend);
    let before = shot(&mut scene);
    editor.selection.select(CORNERS[0], CORNERS[1]);
    let bounds = editor.selection.bounds().unwrap();
    assert_eq!(bounds.size_voxels(), [12, 43, 8]);
    let solid = places(bounds).filter(|&at| !data.get(at).is_air()).count() as u64;
    let expected = turned(&data, bounds, [100, 96]);
    assert!(solid > 100 && !holds(&data, &expected));

    assert_eq!(editor.copy(&mut scene).unwrap(), Edited::Copied(solid));
    editor.selection.turn(Axis::Y, 1);
    assert_eq!(editor.switch_tool(EditTool::Paste), Edited::Tool(EditTool::Paste));
    editor.click(&mut scene, EditAction::Remove, &down(100, 96)).unwrap();
    editor.finish(&mut scene).unwrap();
    assert!(holds(&data, &expected), "{backend:?}");
    let after = shot(&mut scene);
    assert!(after != before, "the copy shows");
    assert!(matches!(editor.undo(&mut scene).unwrap(), Edited::Voxels(_)));
    assert!(shot(&mut scene) == before && !holds(&data, &expected), "undone");
    editor.redo(&mut scene).unwrap();
    assert!(shot(&mut scene) == after && holds(&data, &expected), "redone");
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    drop((editor, scene));
    // Threads of the scene may hold it for a moment.
    let start = std::time::Instant::now();
    while Arc::strong_count(&data) > 1 && start.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(data);
    let data = Arc::new(LodData::new(source(&path), 64 << 20));
    assert!(holds(&data, &expected), "saved");
    assert!(shot(&mut scene_of(&data, backend)) == after, "opened again");
    [before, after]
}

#[test]
fn a_turned_copy_is_placed_saved_and_opened_again_on_every_backend() {
    let [soft, others @ ..] = BACKENDS.map(copied_and_opened_again);
    for (index, (want, backend)) in others.iter().zip(&BACKENDS[1..]).enumerate() {
        for (got, want) in want.iter().zip(&soft) {
            let different = compare("editing-selection", index, &format!("{backend:?}"), want, got);
            assert_eq!(different, None);
        }
    }
}

/// Clicks with the tools select, replace, cut and mirror. Each edit is undone in one step.
#[test]
fn tools_select_replace_cut_and_mirror() {
    let data = unsaved();
    let mut editor = Editor::new(EditSaver::new(Arc::clone(&data)));
    let mut scene = scene_of(&data, BackendKind::Soft);
    let hit = |x, z| down(x, z).cast(&*data, 300.0).unwrap();
    for without in [Editor::copy, Editor::cut] {
        assert_eq!(without(&mut editor, &mut scene).unwrap(), Edited::NothingSelected);
    }
    assert_eq!(editor.switch_tool(EditTool::Paste), Edited::NothingCopied);
    assert_eq!(editor.switch_tool(EditTool::Replace), Edited::NothingSelected);
    editor.switch_tool(EditTool::Select);
    let (one, other) = (hit(40, 50), hit(52, 41));
    let click = |editor: &mut Editor, scene: &mut VoxelScene, action, x, z| {
        let done = editor.click(scene, action, &down(x, z)).unwrap();
        editor.finish(scene).unwrap();
        done
    };
    assert_eq!(click(&mut editor, &mut scene, EditAction::Remove, 40, 50), Edited::Corner);
    let selected = click(&mut editor, &mut scene, EditAction::Place, 52, 41);
    let high = one.voxel.y.abs_diff(other.voxel.y + 1) + 1;
    assert_eq!(selected, Edited::Selected([13, high, 10]), "the right click takes the air");
    let bounds = editor.selection.bounds().unwrap();

    let before: Vec<Material> = places(bounds).map(|at| data.get(at)).collect();
    editor.brush.material = Material(3);
    editor.switch_tool(EditTool::Replace);
    click(&mut editor, &mut scene, EditAction::Remove, 40, 50);
    let replaced = |before: &Material| {
        if *before == one.material { Material(3) } else { *before }
    };
    assert!(places(bounds).map(|at| data.get(at)).eq(before.iter().map(replaced)));
    assert_eq!(editor.history().undo_count(), 1);

    editor.selection.set_tool(EditTool::Brush);
    editor.brush.mirror = Mirror { planes: MirrorPlanes::Both, through: VoxelPos::new(90, 0, 90) };
    let digs = [[100, 93], [80, 93], [100, 87], [80, 87]];
    let top = hit(100, 93).voxel.y;
    let ends = digs.map(|[x, z]| VoxelPos::new(x, top, z));
    click(&mut editor, &mut scene, EditAction::Remove, 100, 93);
    assert!(ends.iter().all(|&at| data.get(at).is_air()), "mirrored along both axes");
    assert_eq!(editor.history().undo_count(), 2, "in one edit");

    assert!(matches!(editor.cut(&mut scene).unwrap(), Edited::Voxels(_)));
    assert!(places(bounds).all(|at| data.get(at).is_air()));
    for _ in 0..3 {
        assert!(matches!(editor.undo(&mut scene).unwrap(), Edited::Voxels(_)));
    }
    assert!(places(bounds).map(|at| data.get(at)).eq(before));
    assert!(editor.selection.cancel() && !editor.selection.cancel());
    assert_eq!(editor.selection.bounds(), None);
}

/// A large copy takes several frames; a cut that is refused removes nothing; and copies count against the
/// memory for edits.
#[test]
fn large_copies_are_begun_and_those_beyond_the_memory_are_refused() {
    let data = unsaved();
    let mut scene = scene_of(&data, BackendKind::Soft);
    let mut editor = Editor::new(EditSaver::new(Arc::clone(&data)));
    editor.selection.select(VoxelPos::new(0, 0, 0), VoxelPos::new(150, 100, 150));
    assert_eq!(editor.copy(&mut scene).unwrap(), Edited::Begun);
    // Waits for the copy.
    assert_eq!(editor.paste(&mut scene, &down(90, 90)).unwrap(), Edited::Begun);
    assert!(matches!(editor.finish(&mut scene).unwrap(), Some(Edited::Voxels(_))));
    let bytes = editor.selection.clipboard().unwrap().size_bytes();
    assert!(bytes > 100 << 10, "{bytes}");
    editor.undo(&mut scene).unwrap();
    editor.finish(&mut scene).unwrap();

    let bounds = editor.selection.bounds().unwrap();
    let solid = |data: &LodData| places(bounds).filter(|&at| !data.get(at).is_air()).count();
    let count = solid(&data);
    let saver = EditSaver::new(Arc::clone(&data));
    let mut editor = Editor::new(saver).with_memory(2 * bytes - 2);
    editor.selection.select(bounds.min, VoxelPos::new(150, 100, 150));
    assert_eq!(editor.cut(&mut scene).unwrap(), Edited::Begun);
    let refused = editor.finish(&mut scene);
    assert!(matches!(refused, Err(EditError::LargeCopy { .. })), "{refused:?}");
    assert_eq!((solid(&data), editor.history().undo_count()), (count, 0), "nothing is removed");
    assert!(editor.selection.clipboard().is_none());

    // A paste that waits for a refused copy places nothing, also not what was copied before.
    editor.selection.select(bounds.min, bounds.min);
    editor.copy(&mut scene).unwrap();
    let small = Arc::clone(editor.selection.clipboard().unwrap());
    editor.selection.select(bounds.min, VoxelPos::new(150, 100, 150));
    assert_eq!(editor.copy(&mut scene).unwrap(), Edited::Begun);
    for x in [90, 91] {
        assert_eq!(editor.paste(&mut scene, &down(x, 90)).unwrap(), Edited::Begun);
    }
    let refused = editor.finish(&mut scene).unwrap_err().to_string();
    assert!(refused.contains("nothing is copied or placed"), "{refused}");
    assert_eq!((solid(&data), editor.history().undo_count()), (count, 0), "nothing is placed");
    assert!(Arc::ptr_eq(editor.selection.clipboard().unwrap(), &small));
    // A paste after the next copy is its own.
    editor.copy(&mut scene).unwrap();
    editor.selection.select(bounds.min, bounds.min);
    editor.copy(&mut scene).unwrap();
    editor.paste(&mut scene, &down(90, 90)).unwrap();
    assert!(editor.finish(&mut scene).is_err());
    assert_eq!(editor.history().undo_count(), 1);
    editor.undo(&mut scene).unwrap();

    editor.selection.select(VoxelPos::new(0, 0, 0), VoxelPos::new(1 << 20, 1 << 20, 1 << 20));
    assert!(matches!(editor.copy(&mut scene), Err(EditError::World(_))));
    assert!(matches!(editor.fill_selection(&mut scene, Material(1)), Err(EditError::World(_))));
}

/// An edit that would fit is refused if copied voxels take the rest of the memory.
#[test]
fn copies_count_against_the_memory_for_edits() {
    let data = unsaved();
    let mut scene = scene_of(&data, BackendKind::Soft);
    let mut editor = Editor::new(EditSaver::new(Arc::clone(&data))).with_memory(1 << 20);
    editor.selection.select(VoxelPos::new(0, 10, 0), VoxelPos::new(100, 63, 100));
    editor.copy(&mut scene).unwrap();
    editor.finish(&mut scene).unwrap();
    let bytes = editor.selection.clipboard().unwrap().size_bytes();
    assert!((64 << 10..512 << 10).contains(&bytes), "{bytes}");
    let mut voxels = (0..96).map(|n| VoxelPos::new(n % 6 * 32, n / 36 * 32, n / 6 % 6 * 32));
    let full = voxels.find_map(|at| {
        editor.selection.select(at, at);
        match editor.fill_selection(&mut scene, Material(4)) {
            Err(error @ EditError::Full { .. }) => Some((at, error.to_string())),
            _ => None,
        }
    });
    let (full, words) = full.expect("the memory is full");
    let expected = "1 MiB of unsaved edits and 1 MiB of copied voxels, limit 1 MiB";
    assert!(words.contains(expected), "{words}");
    let mut plain = Editor::new(EditSaver::new(data)).with_memory(1 << 20);
    plain.selection.select(full, full);
    assert!(plain.fill_selection(&mut scene, Material(4)).is_ok());
}
