//! Table `shadows`: a landscape with and without shadows of the sun, in whole frames.
//!
//! - `still` draws one view again and again: no shadow map changes.
//! - `flight` moves the camera by a voxel each frame, low above the ground.
//! - `above` sees the whole landscape; the camera moves by a fraction of a pixel each frame.

use drystone::scene::quad_count;
use drystone_render::{PoolRenderer, RenderError, View};

use super::{
    chunk_scene::ChunkScene,
    contenders::{available, wgpu_device},
    culling::{CHUNKS, CameraPath, Landscape, QUICK_CHUNKS, ROUND_FRAMES, ROUND_SECONDS},
    frames::{FrameTimes, warm_up},
};
use crate::{Contender, Error, Figure, Run, rounds::Round};

const CASES: [(&str, CameraPath); 3] =
    [("still", CameraPath::Ground), ("flight", CameraPath::Flight), ("above", CameraPath::Above)];

const CONTENDERS: [(&str, bool); 2] = [("without", false), ("with", true)];

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    if !CASES.iter().any(|(case, _)| options.selects(case)) {
        return Ok(());
    }
    let opened = Landscape::new(options.size(CHUNKS, QUICK_CHUNKS)).and_then(|landscape| {
        let open = |(name, shadows)| (name, Drawn::open(shadows, &landscape));
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
            let mut contenders = Vec::new();
            for (name, one) in drawn {
                contenders.push(Contender::new(*name, || one.round(&landscape, (case, path))));
            }
            Ok(contenders)
        })?;
    }
    Ok(())
}

/// A contender with its scene.
struct Drawn {
    scene: ChunkScene,
    shadows: bool,
    /// Number of frames drawn so far.
    frame: u32,
}

impl Drawn {
    fn open(shadows: bool, landscape: &Landscape) -> Result<Self, RenderError> {
        let (world, quads) = landscape.meshed();
        let meshes = 2 * quads.len() as u32;
        let renderer = PoolRenderer::new(wgpu_device()?, quad_count(quads), meshes)?;
        let scene = ChunkScene::new(world.clone(), quads, Box::new(renderer))?;
        Ok(Self { scene, shadows, frame: 0 })
    }

    /// Draws frames and measures them.
    fn round(&mut self, landscape: &Landscape, (case, path): (&str, CameraPath)) -> Round {
        let (renderer, shadows) = (self.scene.renderer.as_mut(), self.shadows);
        let view = |frame: u32| {
            let view = landscape.view(path, if case == "still" { 0 } else { frame });
            View { shadows, ..view }
        };
        warm_up(renderer, &view(self.frame))?;
        let (mut times, mut maps) = (FrameTimes::default(), 0);
        while times.is_below(ROUND_FRAMES, ROUND_SECONDS) {
            self.frame += 1;
            times.draw(renderer, &view(self.frame))?;
            maps += renderer.drawn().shadow_maps;
        }
        let per_frame = f64::from(maps) / f64::from(times.frames.max(1));
        let mut figures = times.times();
        figures.push(times.in_flight(renderer, || {
            self.frame += 1;
            view(self.frame)
        })?);
        figures.push(Figure::new("maps", "maps/frame", per_frame));
        Ok(figures)
    }
}
