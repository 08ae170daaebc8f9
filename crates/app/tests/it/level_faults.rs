//! Levels of detail on a renderer with random failures: no mesh is lost or leaked.

use std::{cell::RefCell, rc::Rc, sync::Arc, time::Instant};

use drystone::scene::{BackendKind, RendererKind, Size, VoxelScene, open_renderer};
use drystone_mesh::Quad;
use drystone_pool::VertexPool;
use drystone_render::{
    Camera, Cull, DrawData, DrawStats, HeldStats, Image, MeshData, MeshId, Output, Projection,
    RenderError, Renderer, TriangleMesh, TrianglesId, View,
};
use drystone_testing::Random;
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree};
use glam::DVec3;

use crate::window::MAX_WAIT;

const SIZE: Size = Size { width: 160, height: 120 };

const QUAD_BYTES: usize = size_of::<Quad>();

/// Calls that fail, and how.
#[derive(Clone, Copy)]
enum Fault {
    None,
    /// One in this many inserts and replacements runs out of memory.
    Full(u32),
    /// One in this many calls of any kind fails with a device error.
    Refused(u32),
    /// Capacity in quads.
    Capacity(usize),
}

struct Faults {
    fault: Fault,
    random: Random,
    failed: u32,
    /// Meshes of the renderer.
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

    /// Returns an error if a call that needs capacity for `quads` more quads has to fail.
    fn check(&mut self, quads: Option<usize>) -> Result<(), RenderError> {
        let full = || RenderError::OutOfMemory { requested_bytes: 1, reason: "a test".into() };
        let fault = self.fault;
        match fault {
            Fault::Full(one_of) if quads.is_some() && self.roll(one_of) => Err(full()),
            Fault::Capacity(capacity) => {
                let is_full = quads.is_some_and(|quads| self.quads() + quads > capacity);
                self.failed += u32::from(is_full);
                if is_full { Err(full()) } else { Ok(()) }
            }
            Fault::Refused(one_of) if self.roll(one_of) => {
                Err(RenderError::Device { during: "a test", reason: "injected by the test".into() })
            }
            _ => Ok(()),
        }
    }
}

/// Renderer that fails on demand.
struct Faulty {
    renderer: Box<dyn Renderer>,
    faults: Rc<RefCell<Faults>>,
}

impl drystone_render::sealed::Sealed for Faulty {}

impl Renderer for Faulty {
    fn name(&self) -> &'static str {
        self.renderer.name()
    }
    fn output(&mut self) -> &mut dyn Output {
        self.renderer.output()
    }
    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        self.faults.borrow_mut().check(Some(mesh.quads.len()))?;
        let id = self.renderer.insert(mesh)?;
        self.faults.borrow_mut().note(id, mesh.quads.len());
        Ok(id)
    }
    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        // The new mesh may be allocated before the old one is freed.
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
    fn max_triangle_bytes(&self) -> u64 {
        self.renderer.max_triangle_bytes()
    }
    fn insert_triangles(&mut self, mesh: &TriangleMesh<'_>) -> Result<TrianglesId, RenderError> {
        self.renderer.insert_triangles(mesh)
    }
    fn replace_triangles(
        &mut self,
        id: TrianglesId,
        mesh: &TriangleMesh<'_>,
    ) -> Result<(), RenderError> {
        self.renderer.replace_triangles(id, mesh)
    }
    fn remove_triangles(&mut self, id: TrianglesId) -> Result<(), RenderError> {
        self.renderer.remove_triangles(id)
    }
    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError> {
        self.renderer.set_cull(cull)
    }
    fn cull(&self) -> Cull {
        self.renderer.cull()
    }
    fn take_culling_error(&mut self) -> Option<RenderError> {
        self.renderer.take_culling_error()
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
    fn held(&self) -> HeldStats {
        self.renderer.held()
    }
    fn pool(&self) -> Option<&VertexPool<Quad, DrawData>> {
        self.renderer.pool()
    }
}

fn faults() -> Rc<RefCell<Faults>> {
    let faults =
        Faults { fault: Fault::None, random: Random::new(7), failed: 0, meshes: Vec::new() };
    Rc::new(RefCell::new(faults))
}

fn data() -> Arc<LodData> {
    let config = GeneratorConfig::default().with_size_chunks([8, 4, 8]);
    Arc::new(LodData::new(Box::new(GeneratedWorld::new(config).unwrap()), 64 << 20))
}

/// Creates a scene without hysteresis, so that the picture does not depend on the camera's path.
fn scene_of(data: &Arc<LodData>, faults: &Rc<RefCell<Faults>>) -> VoxelScene {
    scene_with(data, faults, LodConfig::default())
}

fn scene_with(data: &Arc<LodData>, faults: &Rc<RefCell<Faults>>, config: LodConfig) -> VoxelScene {
    let config = config.with_hysteresis(1.0).with_frame_time(std::time::Duration::from_secs(1));
    let tree = LodTree::new(Arc::clone(data), config).unwrap();
    let capacity = VoxelScene::CAPACITY;
    let renderer = open_renderer(RendererKind::Pool, BackendKind::Soft, SIZE, capacity).unwrap();
    let faulty = Faulty { renderer, faults: Rc::clone(faults) };
    VoxelScene::new(tree, Box::new(faulty)).unwrap()
}

fn view(step: i32) -> View {
    let eye = DVec3::new(10.0 + f64::from(step) * 6.0, 110.0, 20.0);
    View::new(Camera::look_at(eye, DVec3::new(128.0, 40.0, 128.0)))
}

/// Returns the settled picture without failures, and the renderer's statistics.
fn settled(scene: &mut VoxelScene) -> (Image, HeldStats) {
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
fn failed_meshes_are_shown_later_and_none_leaks() {
    for fault in [Fault::Full(3), Fault::Full(20), Fault::Refused(4), Fault::Refused(25)] {
        let faults = faults();
        let data = data();
        let mut scene = scene_of(&data, &faults);
        scene.settle(&view(0), SIZE, |_| {}).unwrap();
        faults.borrow_mut().fault = fault;
        let start = Instant::now();
        for step in (0..40).cycle() {
            // The failure is expected.
            let _ = scene.update(&view(step), SIZE);
            let at = |n: i32| VoxelPos::new(60 + step + n, 60 + n % 3, 70 + n * 2);
            let _ = scene.set((0..20).map(|n| (at(n), Material((step % 3) as u16))));
            scene.draw(&view(step)).unwrap();
            if step == 39 && faults.borrow().failed > 5 {
                break;
            }
            assert!(start.elapsed() < MAX_WAIT, "{} failures", faults.borrow().failed);
        }
        faults.borrow_mut().fault = Fault::None;
        let (found, held) = settled(&mut scene);
        let (expected, expected_held) = settled(&mut scene_of(&data, &faults));
        assert_eq!(held.meshes, expected_held.meshes);
        assert_eq!(held.used_bytes, expected_held.used_bytes);
        assert_eq!(found.difference(&expected, 0).unwrap().pixels, 0);
    }
}

/// View of the land from above: no pixel shows the background.
fn above() -> View {
    let mut camera =
        Camera::look_at(DVec3::new(128.0, 300.0, 127.0), DVec3::new(128.0, 0.0, 128.0));
    camera.projection = Projection::Orthographic { height_voxels: 90.0 };
    View::new(camera)
}

/// Checks that no part is missing in the picture from above.
fn check_whole(scene: &mut VoxelScene, nothing: &Image, during: &str) {
    let found = scene.picture(&above()).unwrap().0;
    let pixels = SIZE.width * SIZE.height;
    assert_eq!(found.difference(nothing, 0).unwrap().pixels, pixels, "{during}");
}

/// Returns the number of quads at the coarsest level.
fn coarsest_quads(data: &Arc<LodData>, view: &View) -> usize {
    let config = LodConfig::default().with_max_voxel_pixels(1e9);
    let mut scene = scene_with(data, &faults(), config);
    scene.settle(view, SIZE, |_| {}).unwrap();
    scene.renderer().held().used_bytes as usize / QUAD_BYTES
}

#[test]
fn with_little_memory_the_picture_is_whole_and_refined_with_more() {
    let data = data();
    let mut free = scene_of(&data, &faults());
    let nothing = free.picture(&above()).unwrap().0;
    let (expected, expected_held) = settled(&mut free);
    let quads = expected_held.used_bytes as usize / QUAD_BYTES;
    for capacity in [quads / 2, quads / 3, coarsest_quads(&data, &view(0)) * 5 / 4] {
        let faults = faults();
        faults.borrow_mut().fault = Fault::Capacity(capacity);
        let mut scene = scene_of(&data, &faults);
        for step in [0, 40, 3] {
            let settled = scene.settle(&view(step), SIZE, |_| {});
            assert!(settled.is_ok(), "capacity {capacity} of {quads} quads, step {step}");
            for step in step..step + 10 {
                scene.update(&view(step), SIZE).unwrap();
                check_whole(&mut scene, &nothing, &format!("capacity {capacity}, step {step}"));
            }
        }
        assert!(faults.borrow().failed > 5 && scene.coarsening() > 1.0);
        assert!(faults.borrow().quads() <= capacity);
        faults.borrow_mut().fault = Fault::None;
        let (found, held) = settled(&mut scene);
        assert_eq!(held.used_bytes, expected_held.used_bytes);
        assert_eq!(found.difference(&expected, 0).unwrap().pixels, 0);
    }
}

/// Builds meshes one at a time without threads, near ones first. They fill the memory before
/// the coarsest far ones are built.
#[test]
fn early_details_are_removed_to_fit_the_whole_world() {
    let data = data();
    let config = LodConfig::default().with_threads(0);
    for step in 0..20 {
        let view = view(step * 4);
        let coarsest = coarsest_quads(&data, &view);
        for percent in [105, 115, 125, 140] {
            let faults = faults();
            faults.borrow_mut().fault = Fault::Capacity(coarsest * percent / 100);
            let mut scene = scene_with(&data, &faults, config);
            let settled = scene.settle(&view, SIZE, |_| {});
            assert!(settled.is_ok(), "step {step}: {percent} % of {coarsest} quads");
            assert!(scene.tree().is_whole());
        }
    }
}

#[test]
fn a_permanent_device_error_is_returned_and_meshes_stay() {
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
        assert!(start.elapsed() < MAX_WAIT, "{refused} refusals");
    }
    faults.borrow_mut().fault = Fault::None;
    let (found, held) = settled(&mut scene);
    let (expected, expected_held) = settled(&mut scene_of(&data, &faults));
    assert_eq!(held.used_bytes, expected_held.used_bytes);
    assert_eq!(found.difference(&expected, 0).unwrap().pixels, 0);
}

#[test]
fn no_memory_at_all_is_an_error() {
    let (faults, data) = (faults(), data());
    faults.borrow_mut().fault = Fault::Capacity(10);
    let error = scene_of(&data, &faults).settle(&view(0), SIZE, |_| {}).unwrap_err();
    assert!(error.to_string().contains("limit of vertex memory"), "{error}");
}
