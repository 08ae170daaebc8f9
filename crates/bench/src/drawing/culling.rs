//! Table `culling`: a landscape with much hidden geometry. One pool culls back faces and chunks
//! outside the view on the CPU. The other one also culls occluded meshes on the GPU.
//!
//! The camera moves before every frame, so that no result of the last frame can be reused.

use std::f64::consts::TAU;

use drystone::scene::{self, ChunkQuads, DefaultView, mesh_world, quad_count};
use drystone_render::{Camera, Cull, PoolRenderer, RenderError, Renderer, View};
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{GeneratedWorld, GeneratorConfig, World};
use glam::DVec3;

use super::{
    SIZE,
    chunk_scene::ChunkScene,
    contenders::{SamePictures, available, wgpu_device},
    frames::{FrameTimes, warm_up},
    still::moved,
};
use crate::{Contender, Error, Failure, Figure, Run, error::By, rounds::Round};

/// Chunks of 32³ along each axis, in a full and in a quick run.
pub(super) const CHUNKS: [u32; 3] = [24, 4, 24];
pub(super) const QUICK_CHUNKS: [u32; 3] = [6, 4, 6];

/// Time limit of a round, in seconds.
pub(super) const ROUND_SECONDS: f64 = 0.5;
/// Largest number of frames per round.
pub(super) const ROUND_FRAMES: u32 = 16;

/// Movement per frame of the flying camera, in voxels.
const FLIGHT_VOXELS: f64 = 1.0;
/// Height of the camera above the ground, in voxels.
const CAMERA_HEIGHT_VOXELS: f64 = 3.0;

/// Position of the camera.
#[derive(Clone, Copy)]
pub(super) enum CameraPath {
    /// High above one corner: everything is in view, and caves are hidden.
    Above,
    /// Standing in the middle: hills hide the land behind them.
    Ground,
    /// Flying in a circle around the middle, low above the ground.
    Flight,
}

const CASES: [(&str, CameraPath); 3] =
    [("above", CameraPath::Above), ("ground", CameraPath::Ground), ("flight", CameraPath::Flight)];

const CONTENDERS: [(&str, Cull); 2] = [("pool-wgpu", Cull::Cpu), ("pool-wgpu-culled", Cull::Gpu)];

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    if !CASES.iter().any(|(case, _)| options.selects(case)) {
        return Ok(());
    }
    let opened = Landscape::new(options.size(CHUNKS, QUICK_CHUNKS)).and_then(|landscape| {
        let open = |(name, cull)| (name, Drawn::open(cull, &landscape));
        let drawn = available("all", CONTENDERS.map(open))?;
        Ok((drawn, landscape))
    });
    let (mut drawn, landscape) = opened.map_err(|failure| run.error("all", failure))?;
    if let Some((_, one)) = drawn.first_mut() {
        run.table.machine.gpu = one.scene.renderer.output().describe();
    }
    for (case, path) in CASES {
        let drawn = &mut drawn;
        run.case(case, || {
            compare(drawn, &landscape, path)?;
            let mut contenders = Vec::new();
            for (name, one) in drawn {
                contenders.push(Contender::new(*name, || one.round(&landscape, path)));
            }
            Ok(contenders)
        })?;
    }
    Ok(())
}

/// A generated world, meshed.
pub(super) struct Landscape {
    world: World,
    quads: Vec<ChunkQuads>,
    default_view: DefaultView,
    /// Lowest and highest corner of the world.
    corners: (DVec3, DVec3),
}

impl Landscape {
    pub(super) fn new(size_chunks: [u32; 3]) -> Result<Self, Failure> {
        let config = GeneratorConfig::default().with_size_chunks(size_chunks);
        let source = GeneratedWorld::new(config)?;
        let world = World::load(&source)?;
        let quads = mesh_world(&world);
        eprintln!("{} chunks with {} quads", quads.len(), quad_count(&quads));
        let default_view = scene::default_view(&world, SIZE[0] as f32 / SIZE[1] as f32);
        let corners = scene::corners(&world);
        Ok(Self { world, quads, default_view, corners })
    }

    /// The voxels and their meshes.
    pub(super) const fn meshed(&self) -> (&World, &Vec<ChunkQuads>) {
        (&self.world, &self.quads)
    }

    /// Returns the view of frame number `frame`.
    pub(super) fn view(&self, path: CameraPath, frame: u32) -> View {
        let (default_view, (min, max)) = (self.default_view, self.corners);
        let middle = (min + max) / 2.0;
        let mut camera = match path {
            CameraPath::Above => default_view.camera,
            CameraPath::Ground => self.on_ground(middle, DVec3::new(0.8, 0.0, 0.6)),
            CameraPath::Flight => {
                let radius = (max.x - min.x) / 4.0;
                let angle = f64::from(frame) * FLIGHT_VOXELS / radius % TAU;
                let forward = DVec3::new(-angle.sin(), 0.0, angle.cos());
                self.on_ground(middle + radius * DVec3::new(forward.z, 0.0, -forward.x), forward)
            }
        };
        scene::reach(&mut camera, min, max);
        moved(&View { atmosphere: default_view.atmosphere, ..View::new(camera) }, frame)
    }

    /// Creates a camera at a position that looks straight ahead.
    fn on_ground(&self, position: DVec3, forward: DVec3) -> Camera {
        let [x, z] = [position.x, position.z].map(|c| c.floor() as i32);
        let (min, max) = self.corners;
        let heights = min.y as i32..max.y as i32;
        let is_solid = |y: &i32| self.world.get(VoxelPos::new(x, *y, z)) != Material::AIR;
        let ground = heights.rev().find(is_solid).map_or(0.0, |y| f64::from(y + 1));
        let camera = DVec3::new(position.x, ground + CAMERA_HEIGHT_VOXELS, position.z);
        Camera::look_at(camera, camera + forward)
    }
}

/// Checks that all contenders draw the same pictures, and that they are not empty.
fn compare(
    drawn: &mut [(&str, Drawn)],
    landscape: &Landscape,
    path: CameraPath,
) -> Result<(), Failure> {
    /// The frames are far apart, so that the last one helps little with the next.
    const STEP: u32 = 97;
    for frame in 0..4 {
        let view = landscape.view(path, frame * STEP);
        let mut pictures = SamePictures::default();
        for (name, one) in &mut *drawn {
            pictures.draw(one.scene.renderer.as_mut(), &view).by(name)?;
        }
    }
    Ok(())
}

/// A contender with its scene.
struct Drawn {
    scene: ChunkScene,
    /// Number of frames drawn so far.
    frame: u32,
}

impl Drawn {
    fn open(cull: Cull, landscape: &Landscape) -> Result<Self, RenderError> {
        let quads = quad_count(&landscape.quads);
        let meshes = 2 * landscape.quads.len() as u32;
        let mut renderer = PoolRenderer::new(wgpu_device()?, quads, meshes)?;
        renderer.set_cull(cull)?;
        let scene = ChunkScene::new(landscape.world.clone(), &landscape.quads, Box::new(renderer))?;
        Ok(Self { scene, frame: 0 })
    }

    /// Draws frames and measures them.
    fn round(&mut self, landscape: &Landscape, path: CameraPath) -> Round {
        let renderer = self.scene.renderer.as_mut();
        warm_up(renderer, &landscape.view(path, self.frame))?;
        let (mut times, mut quads) = (FrameTimes::default(), 0);
        while times.is_below(ROUND_FRAMES, ROUND_SECONDS) {
            self.frame += 1;
            times.draw(renderer, &landscape.view(path, self.frame))?;
            quads += renderer.drawn().quads;
        }
        let per_frame = quads as f64 / f64::from(times.frames.max(1));
        let mut figures = times.times();
        figures.push(times.in_flight(renderer, || {
            self.frame += 1;
            landscape.view(path, self.frame)
        })?);
        figures.push(Figure::new("quads", "quads/frame", per_frame));
        Ok(figures)
    }
}
