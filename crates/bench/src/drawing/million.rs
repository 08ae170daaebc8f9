//! Table `million`: 1,000,000 meshes of 8 quads, and a picture of 64 × 64 pixels that shows about a hundredth
//! of them. The pool culls on the CPU or on the GPU.
//!
//! `submit` is the CPU time of a frame on the calling thread, replaced meshes included, and `beyond-empty` the
//! part of it that a renderer of the same kind without meshes does not take. Frames of both alternate. `replace`
//! is the part of `submit` in which the renderer is given the replaced meshes. The GPU's own time is not measured:
//! a software driver draws on the same cores. `memory` is resident memory of the process; run that case alone,
//! because memory freed before it is used again and not counted.

use drystone_mesh::Quad;
use drystone_pool::{NullBackend, PoolConfig, VertexPool};
use drystone_render::{
    Api, Cull, DrawData, MeshData, MeshId, PoolRenderer, Projection, RenderError, Renderer, View,
    WgpuDevice,
};
use drystone_wgpu::{CullBounds, CullTable};

use super::{
    contenders::available,
    frames::{FrameTimes, warm_up},
    scene::{Meshes, many_small_meshes},
    still::moved,
};
use crate::{
    Contender, Error, Failure, Figure, Random, Run,
    error::By,
    rounds::{Round, resident_bytes, thread_cpu_ns},
};

/// Number of meshes in a full and in a quick run.
const MESHES: usize = 1_000_000;
const QUICK_MESHES: usize = 6_000;
/// Number of meshes that are replaced before a frame of the case `replaced`, in a full and in a quick run.
const REPLACED: usize = 1_000;
const QUICK_REPLACED: usize = 100;
/// Side of the picture, in pixels.
const SIDE: u32 = 64;
/// Part of the scene's height and width that is in view: a software driver draws all of it in seconds.
const VISIBLE_PART: f32 = 0.1;
/// Frames of a round.
const FRAMES: u32 = 4;
/// Largest number of pixels that may differ between two renderers: faces with equal depth.
const DIFFERENT_PIXELS: u32 = 8;

const CONTENDERS: [(&str, Cull); 2] = [("pool-wgpu-culled", Cull::Gpu), ("pool-wgpu", Cull::Cpu)];

/// Change before a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Nothing,
    /// The camera moves, so that the CPU masks and sorts again.
    Camera,
    /// The camera moves, and meshes are replaced by others of the same size.
    Meshes,
}

const CASES: [(&str, Change); 3] =
    [("still", Change::Nothing), ("moving", Change::Camera), ("replaced", Change::Meshes)];

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    let (meshes, mut view) = many_small_meshes(options.size(MESHES, QUICK_MESHES));
    if let Projection::Orthographic { height_voxels } = &mut view.camera.projection {
        *height_voxels *= VISIBLE_PART;
    }
    if let Some(bytes) = run.prepare("memory", || table_bytes(&meshes))? {
        let each = bytes / meshes.list.len() as f64;
        run.push_once("memory", "pool-wgpu-culled", Figure::new("memory", "bytes/mesh", each));
    }
    if !CASES.iter().any(|(case, _)| options.selects(case)) {
        return Ok(());
    }
    let open = |(name, cull)| (name, Scene::open(cull, &meshes));
    let opened = available("all", CONTENDERS.map(open));
    let mut scenes = opened.map_err(|failure| run.error("all", failure))?;
    if let Some((_, scene)) = scenes.first_mut() {
        run.table.machine.gpu = scene.full.output().describe();
    }
    let replaced = options.size(REPLACED, QUICK_REPLACED);
    for (case, change) in CASES {
        let (scenes, meshes, view) = (&mut scenes, &meshes, &view);
        run.case(case, || {
            let mut all: Vec<_> = scenes.iter_mut().map(|(name, scene)| (*name, scene)).collect();
            compare(&mut all, view)?;
            let contenders = scenes.iter_mut().map(|(name, scene)| {
                Contender::new(*name, move || scene.round(meshes, view, (change, replaced)))
            });
            Ok(contenders.collect())
        })?;
    }
    check_replaced(&mut scenes, &meshes, &view).map_err(|failure| run.error("replaced", failure))
}

/// Checks that a renderer whose meshes were replaced draws what a new one with the same meshes does.
fn check_replaced(
    scenes: &mut [(&str, Scene)],
    meshes: &Meshes<'_>,
    view: &View,
) -> Result<(), Failure> {
    for (name, scene) in scenes {
        let mut new = Scene::open(scene.cull, meshes).by(name)?;
        for (&id, &like) in new.ids.iter().zip(&scene.content) {
            new.full.replace(id, &meshes.list[like].data())?;
        }
        compare(&mut [("replaced", scene), ("new", &mut new)], view)?;
    }
    Ok(())
}

/// Checks that all contenders draw the same picture.
fn compare(scenes: &mut [(&str, &mut Scene)], view: &View) -> Result<(), Failure> {
    let mut first = None;
    for (name, scene) in scenes {
        scene.full.draw(view).map_err(Failure::from).by(name)?;
        let picture = scene.full.read_image()?;
        if scene.full.drawn().quads == 0 {
            return Err("nothing was drawn").by(name);
        }
        let first = first.get_or_insert_with(|| picture.clone());
        let difference = picture.difference(first, 2).ok_or("the pictures' sizes differ")?;
        if difference.pixels > DIFFERENT_PIXELS {
            return Err(format!("{} pixels differ", difference.pixels)).by(name);
        }
    }
    Ok(())
}

/// Returns the memory of a pool and its table for the GPU, without the GPU's buffers, in bytes.
fn table_bytes(meshes: &Meshes<'_>) -> Result<f64, Failure> {
    let before = resident_bytes().ok_or("this system does not report resident memory")?;
    let (mut pool, backend) =
        (VertexPool::new(PoolConfig::default())?, &mut NullBackend::default());
    let mut table = CullTable::new(pool.config(), |_, data: &DrawData| {
        CullBounds::of_voxels(data.origin, [data.extent; 3])
    });
    for mesh in &meshes.list {
        let data = mesh.data();
        let handle = pool.insert(data.quads, &data.counts, data.draw_data, backend)?;
        table.set(&pool, handle);
    }
    let after = resident_bytes().ok_or("this system does not report resident memory")?;
    if table.len() != meshes.list.len() {
        return Err("a mesh is missing".into());
    }
    Ok(after - before)
}

/// A renderer with the meshes, and one without any.
struct Scene {
    cull: Cull,
    full: Box<dyn Renderer>,
    empty: Box<dyn Renderer>,
    ids: Vec<MeshId>,
    /// Number of the mesh in the list that each one was replaced by.
    content: Vec<usize>,
    random: Random,
    /// Number of frames drawn so far, which determines the camera's position.
    frame: u32,
}

impl Scene {
    fn open(cull: Cull, meshes: &Meshes<'_>) -> Result<Self, RenderError> {
        let open = |quads: u32, count: usize| -> Result<Box<dyn Renderer>, RenderError> {
            let device = WgpuDevice::headless(Api::Any, SIDE, SIDE)?;
            let mut renderer = PoolRenderer::new(device, quads.into(), count as u32)?;
            renderer.set_cull(cull)?;
            renderer.set_palette(&meshes.palette)?;
            Ok(Box::new(renderer))
        };
        let (mut full, empty) = (open(meshes.quad_count(), meshes.list.len())?, open(0, 0)?);
        let inserted = meshes.list.iter().map(|mesh| full.insert(&mesh.data()));
        let ids = inserted.collect::<Result<_, _>>()?;
        let content = (0..meshes.list.len()).collect();
        Ok(Self { cull, full, empty, ids, content, random: Random::new(5), frame: 0 })
    }

    /// Draws frames with and without the meshes in turn, and measures them.
    fn round(
        &mut self,
        meshes: &Meshes<'_>,
        view: &View,
        (change, replaced): (Change, usize),
    ) -> Round {
        warm_up(self.full.as_mut(), view)?;
        warm_up(self.empty.as_mut(), view)?;
        let (mut full, mut empty) = (FrameTimes::default(), FrameTimes::default());
        let mut replace_ns = 0.0;
        for _ in 0..FRAMES {
            self.frame += 1;
            let view = if change == Change::Nothing { *view } else { moved(view, self.frame) };
            let mut quads = Vec::new();
            let others = match change {
                Change::Meshes => self.replacements(meshes, replaced, &mut quads),
                _ => Vec::new(),
            };
            full.time(
                self.full.as_mut(),
                |renderer| {
                    let start_ns = thread_cpu_ns();
                    for (id, data) in &others {
                        renderer.replace(*id, data)?;
                    }
                    replace_ns += thread_cpu_ns() - start_ns;
                    renderer.draw(&view).map(drop)
                },
                Renderer::finish,
            )?;
            empty.draw(self.empty.as_mut(), &view)?;
        }
        let per_frame_us = |ns: f64| ns / f64::from(FRAMES) / 1e3;
        let beyond = full.submit_ns - empty.submit_ns;
        let mut figures = vec![
            Figure::new("beyond-empty", "us/frame", per_frame_us(beyond)),
            Figure::new("submit", "us/frame", per_frame_us(full.submit_ns)),
            Figure::new("draw", "us/frame", per_frame_us(full.draw_ns)),
        ];
        if change == Change::Meshes {
            figures.push(Figure::new("replace", "us/frame", per_frame_us(replace_ns)));
        }
        Ok(figures)
    }

    /// Chooses meshes, and others of the list that replace them. Copies the quads of these to `quads`, so
    /// that they are in the cache as after meshing.
    fn replacements<'a>(
        &mut self,
        meshes: &Meshes<'_>,
        count: usize,
        quads: &'a mut Vec<Quad>,
    ) -> Vec<(MeshId, MeshData<'a>)> {
        let pairs: Vec<_> = (0..count).map(|_| self.pair()).collect();
        quads.extend(pairs.iter().flat_map(|&(_, like)| meshes.list[like].data().quads));
        let mut rest = &quads[..];
        let replacement = |(at, like): (usize, usize)| {
            let data = meshes.list[like].data();
            let (own, others) = rest.split_at(data.quads.len());
            rest = others;
            self.content[at] = like;
            (self.ids[at], MeshData { quads: own, ..data })
        };
        pairs.into_iter().map(replacement).collect()
    }

    /// Returns the numbers of a mesh and of the one that replaces it.
    fn pair(&mut self) -> (usize, usize) {
        let count = self.ids.len();
        (self.random.below(count), self.random.below(count))
    }
}
