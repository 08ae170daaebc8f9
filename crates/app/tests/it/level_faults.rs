//! Levels on a renderer that fails now and then: nothing is lost, and nothing is left over.

use std::{cell::RefCell, rc::Rc, sync::Arc, time::Instant};

use drystone::scene::{BackendKind, LodScene, RendererKind, Size, open_renderer};
use drystone_render::{
    Camera, Cull, DrawStats, HeldStats, Image, MeshData, MeshId, Projection, RenderError, Renderer,
    View,
};
use drystone_testing::Random;
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree};
use glam::DVec3;

use crate::window::PATIENCE;

const SIZE: Size = Size { width: 160, height: 120 };

const QUAD_BYTES: usize = size_of::<drystone_mesh::Quad>();

/// Which calls fail, and how.
#[derive(Clone, Copy)]
enum Fault {
    None,
    /// One of so many inserts and replacements finds no room.
    Full(u32),
    /// One of so many calls of any kind is refused by the device.
    Refused(u32),
    /// There is room for so many quads.
    Room(usize),
}

struct Faults {
    fault: Fault,
    random: Random,
    failed: u32,
    /// What the renderer has.
    meshes: Vec<(MeshId, usize)>,
}

impl Faults {
    fn roll(&mut self, one_of: u32) -> bool {
        let fails = self.random.below(one_of) == 0;
        self.failed += u32::from(fails);
        fails
    }

    fn quads(&self) -> usize {
        self.meshes.iter().map(|&(_, quads)| quads).sum()
    }

    fn note(&mut self, id: MeshId, quads: usize) {
        self.meshes.retain(|&(other, _)| other != id);
        self.meshes.extend((quads > 0).then_some((id, quads)));
    }

    /// Whether a call fails that needs room for so many quads beside what there is.
    fn check(&mut self, quads: Option<usize>) -> Result<(), RenderError> {
        let full = || RenderError::OutOfMemory { requested_bytes: 1, reason: "a test".into() };
        let fault = self.fault;
        match fault {
            Fault::Full(one_of) if quads.is_some() && self.roll(one_of) => Err(full()),
            Fault::Room(room) => {
                let is_full = quads.is_some_and(|quads| self.quads() + quads > room);
                self.failed += u32::from(is_full);
                if is_full { Err(full()) } else { Ok(()) }
            }
            Fault::Refused(one_of) if self.roll(one_of) => {
                Err(RenderError::Device { during: "a test", reason: "it was told to".into() })
            }
            _ => Ok(()),
        }
    }
}

/// A renderer that fails as it is told.
struct Faulty {
    renderer: Box<dyn Renderer>,
    faults: Rc<RefCell<Faults>>,
}

impl Renderer for Faulty {
    fn name(&self) -> &'static str {
        self.renderer.name()
    }
    fn backend(&self) -> String {
        self.renderer.backend()
    }
    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.renderer.set_palette(colors)
    }
    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        self.faults.borrow_mut().check(Some(mesh.quads.len()))?;
        let id = self.renderer.insert(mesh)?;
        self.faults.borrow_mut().note(id, mesh.quads.len());
        Ok(id)
    }
    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        // The new one is placed before the old one goes.
        self.faults.borrow_mut().check(Some(mesh.quads.len()))?;
        self.renderer.replace(id, mesh)?;
        self.faults.borrow_mut().note(id, mesh.quads.len());
        Ok(())
    }
    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        self.faults.borrow_mut().check(None)?;
        self.renderer.remove(id)?;
        self.faults.borrow_mut().note(id, 0);
        Ok(())
    }
    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.renderer.resize(width, height)
    }
    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError> {
        self.renderer.set_cull(cull)
    }
    fn cull(&self) -> Cull {
        self.renderer.cull()
    }
    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.renderer.draw(view)
    }
    fn drawn(&mut self) -> DrawStats {
        self.renderer.drawn()
    }
    fn finish(&mut self) -> Result<(), RenderError> {
        self.renderer.finish()
    }
    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.renderer.read_image()
    }
    fn held(&self) -> HeldStats {
        self.renderer.held()
    }
}

fn faults() -> Rc<RefCell<Faults>> {
    let faults =
        Faults { fault: Fault::None, random: Random::new(7), failed: 0, meshes: Vec::new() };
    Rc::new(RefCell::new(faults))
}

fn data() -> Arc<LodData> {
    let config = GeneratorConfig { size_chunks: [8, 4, 8], ..GeneratorConfig::default() };
    Arc::new(LodData::new(Box::new(GeneratedWorld::new(config).unwrap()), 64 << 20))
}

/// A scene that shows the same from wherever the eye came: levels have no hysteresis.
fn scene_of(data: &Arc<LodData>, faults: &Rc<RefCell<Faults>>) -> LodScene {
    scene_with(data, faults, LodConfig::default())
}

fn scene_with(data: &Arc<LodData>, faults: &Rc<RefCell<Faults>>, config: LodConfig) -> LodScene {
    let config =
        LodConfig { hysteresis: 1.0, frame_time: std::time::Duration::from_secs(1), ..config };
    let tree = LodTree::new(Arc::clone(data), config).unwrap();
    let room = LodScene::CAPACITY;
    let renderer = open_renderer(RendererKind::Pool, BackendKind::Soft, SIZE, room).unwrap();
    let faulty = Faulty { renderer, faults: Rc::clone(faults) };
    LodScene::new(tree, Box::new(faulty)).unwrap()
}

fn view(step: i32) -> View {
    let eye = DVec3::new(10.0 + f64::from(step) * 6.0, 110.0, 20.0);
    View::new(Camera::look_at(eye, DVec3::new(128.0, 40.0, 128.0)))
}

/// What is shown when all is as it should be, and what the renderer then holds.
fn settled(scene: &mut LodScene) -> (Image, HeldStats) {
    let view = view(3);
    loop {
        scene.settle(&view, SIZE, |_| {}).unwrap();
        if scene.coarsening() == 1.0 {
            break;
        }
    }
    (scene.picture(&view).unwrap().0, scene.renderer().held())
}

#[test]
fn what_fails_is_shown_later_and_nothing_is_left_over() {
    for fault in [Fault::Full(3), Fault::Full(20), Fault::Refused(4), Fault::Refused(25)] {
        let faults = faults();
        let data = data();
        let mut scene = scene_of(&data, &faults);
        scene.settle(&view(0), SIZE, |_| {}).unwrap();
        faults.borrow_mut().fault = fault;
        let start = Instant::now();
        for step in (0..40).cycle() {
            // Fails, as it should.
            let _ = scene.update(&view(step), SIZE);
            let at = |n: i32| VoxelPos::new(60 + step + n, 60 + n % 3, 70 + n * 2);
            let _ = scene.set((0..20).map(|n| (at(n), Material((step % 3) as u16))));
            scene.draw(&view(step)).unwrap();
            if step == 39 && faults.borrow().failed > 5 {
                break;
            }
            assert!(start.elapsed() < PATIENCE, "{} failures", faults.borrow().failed);
        }
        faults.borrow_mut().fault = Fault::None;
        let (found, held) = settled(&mut scene);
        let (expected, expected_held) = settled(&mut scene_of(&data, &faults));
        assert_eq!(held.meshes, expected_held.meshes);
        assert_eq!(held.used_bytes, expected_held.used_bytes);
        assert_eq!(found.difference(&expected, 0).unwrap().pixels, 0);
    }
}

/// The land from above: whatever is shown of it, no pixel shows what is behind.
fn above() -> View {
    let mut camera =
        Camera::look_at(DVec3::new(128.0, 300.0, 127.0), DVec3::new(128.0, 0.0, 128.0));
    camera.projection = Projection::Orthographic { height_voxels: 90.0 };
    View::new(camera)
}

/// Checks that nothing is missing in the picture from above.
fn check_whole(scene: &mut LodScene, nothing: &Image, during: &str) {
    let found = scene.picture(&above()).unwrap().0;
    let pixels = SIZE.width * SIZE.height;
    assert_eq!(found.difference(nothing, 0).unwrap().pixels, pixels, "{during}");
}

/// What the largest voxels that there are take.
fn coarsest_quads(data: &Arc<LodData>, view: &View) -> usize {
    let config = LodConfig { max_voxel_pixels: 1e9, ..LodConfig::default() };
    let mut scene = scene_with(data, &faults(), config);
    scene.settle(view, SIZE, |_| {}).unwrap();
    scene.renderer().held().used_bytes as usize / QUAD_BYTES
}

#[test]
fn without_room_the_picture_is_whole_and_finer_when_there_is_again() {
    let data = data();
    let mut free = scene_of(&data, &faults());
    let nothing = free.picture(&above()).unwrap().0;
    let (expected, expected_held) = settled(&mut free);
    let quads = expected_held.used_bytes as usize / QUAD_BYTES;
    for room in [quads / 2, quads / 3, coarsest_quads(&data, &view(0)) * 5 / 4] {
        let faults = faults();
        faults.borrow_mut().fault = Fault::Room(room);
        let mut scene = scene_of(&data, &faults);
        for step in [0, 40, 3] {
            let settled = scene.settle(&view(step), SIZE, |_| {});
            assert!(settled.is_ok(), "room for {room} of {quads} quads, step {step}");
            for step in step..step + 10 {
                scene.update(&view(step), SIZE).unwrap();
                check_whole(&mut scene, &nothing, &format!("room for {room}, step {step}"));
            }
        }
        assert!(faults.borrow().failed > 5 && scene.coarsening() > 1.0);
        assert!(faults.borrow().quads() <= room);
        faults.borrow_mut().fault = Fault::None;
        let (found, held) = settled(&mut scene);
        assert_eq!(held.used_bytes, expected_held.used_bytes);
        assert_eq!(found.difference(&expected, 0).unwrap().pixels, 0);
    }
}

/// Without threads, meshes are made one at a time, those near the camera first: they fill the
/// memory before the coarsest ones far away are made.
#[test]
fn details_that_came_first_make_room_for_the_whole_world() {
    let data = data();
    let config = LodConfig { threads: 0, ..LodConfig::default() };
    for step in 0..20 {
        let view = view(step * 4);
        let coarsest = coarsest_quads(&data, &view);
        for percent in [105, 115, 125, 140] {
            let faults = faults();
            faults.borrow_mut().fault = Fault::Room(coarsest * percent / 100);
            let mut scene = scene_with(&data, &faults, config);
            let settled = scene.settle(&view, SIZE, |_| {});
            assert!(settled.is_ok(), "step {step}: {percent} % of {coarsest} quads");
            assert!(scene.tree().is_whole());
        }
    }
}

#[test]
fn what_refuses_for_good_says_so_and_shows_what_it_has() {
    let (faults, data) = (faults(), data());
    let mut scene = scene_of(&data, &faults);
    let nothing = scene.picture(&above()).unwrap().0;
    scene.settle(&view(0), SIZE, |_| {}).unwrap();
    faults.borrow_mut().fault = Fault::Refused(1);
    let (mut refused, start) = (0, Instant::now());
    for step in (0..60).cycle() {
        refused += u32::from(scene.update(&view(step * 3), SIZE).is_err());
        check_whole(&mut scene, &nothing, &format!("step {step}"));
        if step == 59 && refused > 5 {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{refused} refusals");
    }
    faults.borrow_mut().fault = Fault::None;
    let (found, held) = settled(&mut scene);
    let (expected, expected_held) = settled(&mut scene_of(&data, &faults));
    assert_eq!(held.used_bytes, expected_held.used_bytes);
    assert_eq!(found.difference(&expected, 0).unwrap().pixels, 0);
}

#[test]
fn no_room_at_all_is_an_error() {
    let (faults, data) = (faults(), data());
    faults.borrow_mut().fault = Fault::Room(10);
    let error = scene_of(&data, &faults).settle(&view(0), SIZE, |_| {}).unwrap_err();
    assert!(error.to_string().contains("limit of vertex memory"), "{error}");
}
