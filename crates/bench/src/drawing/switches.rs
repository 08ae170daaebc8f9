//! Table `switches`: a landscape with each switch of a picture on and off, in whole frames.
//!
//! - `still` draws one view again and again: no shadow map changes.
//! - `flight` moves the camera by a voxel each frame, low above the ground.
//! - `above` sees the whole landscape; the camera moves by a fraction of a pixel each frame.

use drystone::scene::{ChunkQuads, Meshing, mesh_world_with, quad_count};
use drystone_render::{
    Api, Atmosphere, GlConfig, GlDevice, MaterialLook, PoolRenderer, RenderError, Renderer,
    Samples, SoftDevice, View, WgpuDevice,
};
use drystone_world::World;

use super::{
    chunk_scene::ChunkScene,
    contenders::available,
    culling::{CHUNKS, CameraPath, Landscape, QUICK_CHUNKS, ROUND_FRAMES, ROUND_SECONDS},
    frames::{FrameTimes, warm_up},
};
use crate::{Contender, Error, Failure, Figure, Run, rounds::Round};

/// Sizes of the pictures of full and quick runs, in pixels.
const SIZE: [u32; 2] = [1280, 720];
const QUICK_SIZE: [u32; 2] = [320, 180];

#[derive(Clone, Copy)]
enum Backend {
    Wgpu,
    Gl,
    Soft,
}

const CASES: [(&str, Backend, CameraPath); 5] = [
    ("wgpu-still", Backend::Wgpu, CameraPath::Ground),
    ("gl-still", Backend::Gl, CameraPath::Ground),
    ("soft-still", Backend::Soft, CameraPath::Ground),
    ("wgpu-flight", Backend::Wgpu, CameraPath::Flight),
    ("wgpu-above", Backend::Wgpu, CameraPath::Above),
];

/// Settings of a picture.
#[derive(Clone, Copy)]
struct Switches {
    samples: Samples,
    /// Whether meshes and view have ambient occlusion.
    occlusion: bool,
    /// Sets the switches of a view that has none on.
    view: fn(View) -> View,
}

const NONE: Switches = Switches { samples: Samples::One, occlusion: false, view: |view| view };

/// The reference is the first one, without any switch.
const CONTENDERS: [(&str, Switches); 9] = [
    ("none", NONE),
    ("samples-4", Switches { samples: Samples::Four, ..NONE }),
    ("samples-8", Switches { samples: Samples::Eight, ..NONE }),
    ("shadows", Switches { view: |view| View { shadows: true, ..view }, ..NONE }),
    ("sky-light", Switches { view: |view| View { sky_light: true, ..view }, ..NONE }),
    ("occlusion", Switches { occlusion: true, ..NONE }),
    ("far-fade", Switches { view: |view| View { fade_far: true, ..view }, ..NONE }),
    ("bloom", Switches { view: |view| View { bloom: true, ..view }, ..NONE }),
    // The defaults of the viewer on a GPU.
    (
        "all",
        Switches {
            samples: Samples::Four,
            occlusion: true,
            view: |view| View { shadows: true, sky_light: true, fade_far: true, ..view },
        },
    ),
];

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    if !CASES.iter().any(|(case, ..)| options.selects(case)) {
        return Ok(());
    }
    let prepared = Landscape::new(options.size(CHUNKS, QUICK_CHUNKS)).map(|landscape| {
        let occluded = mesh_world_with(landscape.meshed().0, Meshing { occlusion: true });
        (landscape, occluded)
    });
    let (landscape, occluded) = prepared.map_err(|failure| run.error("all", failure))?;
    let mut adapters = Vec::new();
    for (case, backend, path) in CASES.into_iter().filter(|(case, ..)| options.selects(case)) {
        let target = (backend, options.size(SIZE, QUICK_SIZE));
        let open = |(name, switches)| (name, Drawn::open(target, switches, &landscape, &occluded));
        let opened = available(case, CONTENDERS.map(open)).map_err(|it| run.error(case, it))?;
        let mut drawn: Vec<_> = opened.into_iter().filter(|it| has_samples(case, it)).collect();
        if let Some((_, one)) = drawn.first_mut() {
            adapters.push(one.scene.renderer.output().describe());
            adapters.dedup();
            run.table.machine.gpu = adapters.join("; ");
        }
        run.case(case, || {
            check_differences(&mut drawn, &landscape)?;
            let mut contenders = Vec::new();
            for (name, one) in &mut drawn {
                contenders.push(Contender::new(*name, || one.round(&landscape, path)));
            }
            Ok(contenders)
        })?;
    }
    Ok(())
}

/// Whether the device draws the number of samples of a contender. Prints the contender if not.
fn has_samples(case: &str, (name, one): &(&str, Drawn)) -> bool {
    let (requested, drawn) = (one.switches.samples, one.samples);
    if drawn < requested {
        eprintln!("skipped: {case}, {name}: the device draws at most {drawn} samples");
    }
    drawn == requested
}

/// Checks that every switch changes the picture.
fn check_differences(drawn: &mut [(&str, Drawn)], landscape: &Landscape) -> Result<(), Failure> {
    let mut first = None;
    for (name, one) in drawn {
        // From above, far faces and steps are in view.
        let view = one.view(landscape, (CameraPath::Above, 0));
        let renderer = one.scene.renderer.as_mut();
        renderer.draw(&view)?;
        let picture = renderer.read_image()?;
        match &first {
            None => first = Some(picture),
            Some(first) if *first == picture => {
                return Err(format!("{name} changes nothing").into());
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A contender with its scene.
struct Drawn {
    scene: ChunkScene,
    switches: Switches,
    /// Number of samples that the device draws.
    samples: Samples,
    /// Number of frames drawn so far.
    frame: u32,
}

impl Drawn {
    /// Opens a device with the meshes of the landscape. `occluded` has those with ambient occlusion.
    fn open(
        target: (Backend, [u32; 2]),
        switches: Switches,
        landscape: &Landscape,
        occluded: &[ChunkQuads],
    ) -> Result<Self, RenderError> {
        let (world, quads) = landscape.meshed();
        let quads = if switches.occlusion { occluded } else { quads };
        let mut renderer = open_pool(target, quads)?;
        renderer.output().set_samples(switches.samples)?;
        let samples = renderer.output().info().samples;
        let mut scene = ChunkScene::new(world.clone(), quads, renderer)?;
        scene.renderer.set_materials(&lamps(world))?;
        Ok(Self { scene, switches, samples, frame: 0 })
    }

    /// Returns the view of a frame.
    fn view(&self, landscape: &Landscape, (path, frame): (CameraPath, u32)) -> View {
        let view = landscape.view(path, frame);
        let ambient_occlusion = if self.switches.occlusion { Atmosphere::OCCLUSION } else { 0.0 };
        let atmosphere = Atmosphere { ambient_occlusion, ..view.atmosphere };
        let off = View {
            shadows: false,
            sky_light: false,
            fade_far: false,
            bloom: false,
            atmosphere,
            ..view
        };
        (self.switches.view)(off)
    }

    /// Returns the view of the next frame. A camera on the ground stands still at the `first` view.
    fn next_view(&mut self, landscape: &Landscape, path: CameraPath, first: &View) -> View {
        self.frame += 1;
        match path {
            CameraPath::Ground => *first,
            _ => self.view(landscape, (path, self.frame)),
        }
    }

    /// Draws frames and measures them.
    fn round(&mut self, landscape: &Landscape, path: CameraPath) -> Round {
        let (mut times, mut maps) = (FrameTimes::default(), 0);
        let first = self.view(landscape, (path, self.frame));
        warm_up(self.scene.renderer.as_mut(), &first)?;
        while times.is_below(ROUND_FRAMES, ROUND_SECONDS) {
            let view = self.next_view(landscape, path, &first);
            times.draw(self.scene.renderer.as_mut(), &view)?;
            maps += self.scene.renderer.drawn().shadow_maps;
        }
        let views: Vec<_> =
            (0..times.frames).map(|_| self.next_view(landscape, path, &first)).collect();
        let mut views = views.into_iter();
        let renderer = self.scene.renderer.as_mut();
        let in_flight = times.in_flight(renderer, || views.next().unwrap_or(first))?;
        let per_frame = f64::from(maps) / f64::from(times.frames.max(1));
        let mut figures = times.times();
        figures.push(in_flight);
        figures.push(Figure::new("maps", "maps/frame", per_frame));
        Ok(figures)
    }
}

/// Appearance of the materials. Every fourth one emits light, for bloom.
fn lamps(world: &World) -> Vec<MaterialLook> {
    let look = |(index, color)| {
        MaterialLook::new(color).with_emission(if index % 4 == 1 { 255 } else { 0 })
    };
    world.materials().iter().map(|(_, kind)| kind.color).enumerate().map(look).collect()
}

/// Opens a pool on a backend, for pictures of a size, with capacity for these meshes.
fn open_pool(
    (backend, [width, height]): (Backend, [u32; 2]),
    quads: &[ChunkQuads],
) -> Result<Box<dyn Renderer>, RenderError> {
    let count = quad_count(quads);
    let meshes = 2 * quads.len() as u32;
    Ok(match backend {
        Backend::Wgpu => {
            let device = WgpuDevice::headless(Api::Any, width, height)?;
            Box::new(PoolRenderer::new(device, count, meshes)?)
        }
        Backend::Gl => {
            let device = GlDevice::headless(GlConfig::default(), width, height)?;
            Box::new(PoolRenderer::new(device, count, meshes)?)
        }
        Backend::Soft => {
            Box::new(PoolRenderer::new(SoftDevice::new(width, height)?, count, meshes)?)
        }
    })
}
