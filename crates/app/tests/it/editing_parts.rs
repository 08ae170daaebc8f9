//! Edits of many chunks are applied in parts, over frames. The result equals that of a simple twin
//! that edits voxel by voxel, at once, whatever is requested in between.

use std::{sync::Arc, time::Duration};

use drystone::scene::{
    BackendKind, EditSaver, EditStep, Edited, Editor, RendererKind, SaveState, Size, VoxelScene,
    open_renderer,
};
use drystone_formats::Source;
use drystone_render::{Camera, Image, View};
use drystone_store::{EditAccess, EditOptions, EditedSource};
use drystone_testing::Random;
use drystone_voxel::{Chunk, ChunkPos, Material, NodePos, VoxelBox, VoxelPos};
use drystone_world::{
    GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree, VoxelAccess, VoxelShape, World,
};
use glam::DVec3;

use crate::program::scratch;

const SIZE: Size = Size { width: 64, height: 48 };
const CHUNKS: [u32; 3] = [4, 4, 4];

fn generated() -> Box<dyn Source> {
    let config = GeneratorConfig::default().with_size_chunks(CHUNKS);
    Box::new(GeneratedWorld::new(config).unwrap())
}

fn scene(data: Arc<LodData>, max_level: u8) -> VoxelScene {
    let (kind, capacity) = (RendererKind::Pool, VoxelScene::CAPACITY);
    let renderer = open_renderer(kind, BackendKind::Soft, SIZE, capacity).unwrap();
    let config = LodConfig::default().with_threads(0).with_max_level(max_level);
    VoxelScene::new(LodTree::new(data, config).unwrap(), renderer).unwrap()
}

pub(crate) fn lod_scene(data: Arc<LodData>) -> VoxelScene {
    scene(data, NodePos::MAX_LEVEL)
}

/// Shows a source in full detail.
pub(crate) fn full_scene(source: Box<dyn Source>) -> VoxelScene {
    let mut scene = scene(Arc::new(LodData::new(source, usize::MAX)), 0);
    scene.settle(&view(), SIZE, |_| {}).unwrap();
    scene
}

/// Creates an editor of a scene whose edits are not saved.
pub(crate) fn editor_of(scene: &VoxelScene) -> Editor {
    Editor::new(EditSaver::new(scene.tree().shared_data()))
}

/// Draws the same voxels in a new scene of full detail.
fn fresh_picture(of: &VoxelScene) -> Image {
    let mut fresh = scene(of.tree().shared_data(), 0);
    fresh.settle(&view(), SIZE, |_| {}).unwrap();
    fresh.picture(&view()).unwrap().0
}

fn view() -> View {
    View::new(Camera::look_at(DVec3::new(-60.0, 190.0, -40.0), DVec3::new(70.0, 50.0, 64.0)))
}

/// Simple twin: applies edits voxel by voxel before it returns.
struct Twin {
    world: World,
    done: Vec<Vec<[Change; 2]>>,
    undone: Vec<Vec<[Change; 2]>>,
}

/// Voxel and its material.
type Change = (VoxelPos, Material);

impl Twin {
    fn fill(&mut self, shape: &VoxelShape, material: Material, scene: &VoxelScene) -> Edited {
        let VoxelBox { min, max } = shape.bounds().unwrap();
        let mut changes = Vec::new();
        for x in min.x..max.x {
            for (y, z) in (min.y..max.y).flat_map(|y| (min.z..max.z).map(move |z| (y, z))) {
                let at = VoxelPos::new(x, y, z);
                let old = self.world.get(at);
                let is_other = old != material && shape.contains(at);
                if is_other && scene.data().chunk_at(at.split(32).0).is_some() {
                    changes.push([(at, old), (at, material)]);
                    self.world.set(at, material);
                }
            }
        }
        let count = changes.len() as u64;
        if count == 0 {
            return Edited::Nothing;
        }
        self.undone.clear();
        self.done.push(changes);
        Edited::Voxels(count)
    }

    fn step(&mut self, forward: bool) -> Edited {
        let (from, to) = match forward {
            true => (&mut self.undone, &mut self.done),
            false => (&mut self.done, &mut self.undone),
        };
        let Some(changes) = from.pop() else { return Edited::Nothing };
        for change in &changes {
            let (at, material) = change[usize::from(forward)];
            self.world.set(at, material);
        }
        let count = changes.len() as u64;
        to.push(changes);
        Edited::Voxels(count)
    }

    fn is_same(&self, chunk_at: impl Fn(ChunkPos) -> Chunk) {
        let [x, y, z] = CHUNKS.map(|count| -1..=count as i32);
        for at in x.flat_map(|x| {
            y.clone().flat_map({
                let z = z.clone();
                move |y| z.clone().map(move |z| ChunkPos::new(x, y, z))
            })
        }) {
            let air = Chunk::new(32, Material::AIR);
            let expected = self.world.chunk(at).unwrap_or(&air);
            assert!(chunk_at(at).iter().eq(expected.iter()), "{at:?}");
        }
    }
}

fn shape(random: &mut Random) -> VoxelShape {
    let [x, y, z] = CHUNKS.map(|count| random.below(32 * count) as i32);
    let center = VoxelPos::new(x, y, z);
    match random.below(4) {
        0 => VoxelShape::Sphere { center, radius_voxels: 2 + random.below(4_u32) },
        1 => VoxelShape::cube(center, 8 + random.below(16_u32)),
        _ => VoxelShape::Sphere { center, radius_voxels: 20 + random.below(14_u32) },
    }
}

/// Requests random actions, with a few frames between them, of the editor and of the twin. `save`
/// checks that the file has the voxels of the twin.
fn run(
    seed: u32,
    scene: &mut VoxelScene,
    editor: &mut Editor,
    save: &mut dyn FnMut(&mut Editor, &Twin),
) {
    let world = World::load(generated().as_ref()).unwrap();
    let mut twin = Twin { world, done: Vec::new(), undone: Vec::new() };
    let (mut random, mut begun, mut frames, mut saves) = (Random::new(seed.into()), 0, 0, 0);
    // Results of the editor, and of the twin.
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for round in 0..36 {
        let (step, done, expected_result) = match random.below(8) {
            0 | 1 => (EditStep::Undo, editor.undo(scene).unwrap(), twin.step(false)),
            2 => (EditStep::Redo, editor.redo(scene).unwrap(), twin.step(true)),
            _ => {
                let (shape, material) = (shape(&mut random), Material(random.below(4) as u16));
                let done = editor.fill(scene, &shape, material).unwrap();
                (EditStep::Edit, done, twin.fill(&shape, material, scene))
            }
        };
        expected.push((step, expected_result));
        match done {
            Edited::Begun => begun += 1,
            done => found.push((step, done)),
        }
        for _ in 0..random.below(12) {
            frames += 1;
            let done = editor.update(scene, Duration::ZERO);
            found.extend(done.map(|(step, done)| (step, done.unwrap())));
        }
        if round % 9 == 8 {
            while editor.is_busy() {
                let done = editor.update(scene, Duration::MAX);
                found.extend(done.map(|(step, done)| (step, done.unwrap())));
            }
            save(editor, &twin);
            saves += 1;
        }
        if !editor.is_busy() {
            assert_eq!(found, expected);
            twin.is_same(|at| scene.data().chunk_at(at).unwrap_or(Chunk::new(32, Material::AIR)));
        }
    }
    assert_eq!((found.len(), saves), (36, 4));
    assert!(begun > 12 && frames > 100, "{begun} begun, {frames} frames");
}

#[test]
fn full_detail_edited_in_parts_equals_that_edited_at_once() {
    for seed in [1, 2] {
        let mut scene = full_scene(generated());
        let mut editor = editor_of(&scene);
        run(seed, &mut scene, &mut editor, &mut |_, _| {});
        scene.finish(|_| {}).unwrap();
        let fresh = fresh_picture(&scene);
        assert!(scene.picture(&view()).unwrap().0 == fresh, "the scene shows its voxels");
    }
}

#[test]
fn levels_edited_in_parts_equal_those_edited_at_once() {
    for seed in [3, 4] {
        let path = scratch("editing-parts").join(format!("edits-{seed}.drystone"));
        let source =
            EditedSource::open(generated(), &EditOptions::at(&path).with_access(EditAccess::Write))
                .unwrap();
        let data = Arc::new(LodData::new(Box::new(source), 64 << 20));
        let mut editor = Editor::new(EditSaver::new(Arc::clone(&data)));
        let mut scene = lod_scene(Arc::clone(&data));
        scene.settle(&view(), SIZE, |_| {}).unwrap();
        run(seed, &mut scene, &mut editor, &mut |editor, twin| {
            editor.saver().save().unwrap();
            assert_eq!(editor.save_state(), SaveState::Saved);
            let again = EditedSource::open(
                generated(),
                &EditOptions::at(&path).with_access(EditAccess::Read),
            )
            .unwrap();
            let again = World::load(&again).unwrap();
            let air = Chunk::new(32, Material::AIR);
            twin.is_same(|at| again.chunk(at).unwrap_or(&air).clone());
        });
        scene.settle(&view(), SIZE, |_| {}).unwrap();
        let fresh = {
            let mut fresh = lod_scene(data);
            fresh.settle(&view(), SIZE, |_| {}).unwrap();
            fresh.picture(&view()).unwrap().0
        };
        assert!(scene.picture(&view()).unwrap().0 == fresh, "the scene shows its voxels");
    }
}

/// While an edit is applied in parts, the scene shows the old voxels.
#[test]
fn a_world_shows_an_edit_as_a_whole() {
    let mut scene = full_scene(generated());
    let before = scene.picture(&view()).unwrap().0;
    let mut editor = editor_of(&scene);
    let ball = VoxelShape::Sphere { center: VoxelPos::new(64, 60, 64), radius_voxels: 40 };
    assert_eq!(editor.fill(&mut scene, &ball, Material(1)).unwrap(), Edited::Begun);
    let (mut frames, mut fraction) = (0, 0.0);
    let (step, done) = loop {
        let done = editor.update(&mut scene, Duration::ZERO);
        assert!(scene.picture(&view()).unwrap().0 == before, "in frame {frames}");
        let now = editor.fraction().unwrap_or(1.0);
        assert!((fraction..=1.0).contains(&now), "after {fraction}: {now}");
        fraction = now;
        if let Some(done) = done {
            break done;
        }
        scene.update_for(&view(), SIZE, Duration::from_millis(1)).unwrap();
        frames += 1;
    };
    assert!(matches!((step, done), (EditStep::Edit, Ok(Edited::Voxels(count))) if count > 100_000));
    assert!(frames > 40, "only {frames} frames");
    assert_eq!((fraction, editor.fraction()), (1.0, None));
    // All parts show in the same frame.
    let fresh = fresh_picture(&scene);
    assert!(fresh != before);
    while scene.tree().has_waiting_edits() {
        assert!(scene.picture(&view()).unwrap().0 == before, "in frame {frames}");
        scene.update_for(&view(), SIZE, Duration::from_millis(1)).unwrap();
        frames += 1;
    }
    assert!(scene.picture(&view()).unwrap().0 == fresh);
}

/// Actions beyond the queue's limit are refused and have no effect.
#[test]
fn actions_beyond_the_queue_limit_are_refused() {
    let mut scene = full_scene(generated());
    let mut editor = editor_of(&scene);
    let ball = VoxelShape::Sphere { center: VoxelPos::new(64, 60, 64), radius_voxels: 40 };
    assert_eq!(editor.fill(&mut scene, &ball, Material(1)).unwrap(), Edited::Begun);
    let one = |n: i32| VoxelShape::voxel(VoxelPos::new(n, 120, 3));
    let results = (0..100).map(|n| editor.fill(&mut scene, &one(n), Material(2)).unwrap());
    let begun = results.filter(|done| *done == Edited::Begun).count();
    assert!((10..100).contains(&begun), "{begun}");
    assert_eq!(editor.finish(&mut scene).unwrap(), Some(Edited::Voxels(1)));
    let set = |n: &i32| scene.data().get(VoxelPos::new(*n, 120, 3)) == Material(2);
    assert_eq!((0..100).filter(set).count(), begun);
    assert_eq!(editor.history().undo_count(), begun + 1);
}
