mod levels;
mod model;

use std::{path::Path, time::Instant};

use drystone::scene::{self, Scene};

use super::{Framed, culled_by, load, open_edited, set_cull, uses_levels};
use crate::{
    AppError,
    allocator::AllocatorReport,
    cli::SceneOptions,
    output,
    report::{ShotReport, StageTimes},
};

/// Draws the source to `path` and prints a report.
pub(crate) fn run(options: &SceneOptions, path: &Path) -> Result<(), AppError> {
    if let Some(source) = options.source.model_path() {
        return model::run(options, source, path);
    }
    let mut clock = Clock::start();
    let source = open_edited(&options.source, &options.edits)?;
    if uses_levels(options, source.as_ref()) {
        return levels::run(options, source, path);
    }
    let world = load(source.as_ref())?;
    let mut times = StageTimes { load_ms: clock.lap(), ..StageTimes::default() };
    note(options, || format!("loaded {} chunks of {}", world.chunk_count(), world.name()));

    let quads = scene::mesh_world_with(&world, options.meshing());
    times.mesh_ms = clock.lap();
    note(options, || format!("meshed {} quads", scene::quad_count(&quads)));

    let view = Framed::world(&world).view(options);
    let mut renderer =
        scene::open_renderer(options.renderer, options.backend, options.size, &quads)?;
    set_cull(renderer.as_mut(), options.cull)?;
    times.open_ms = clock.lap();
    note(options, || {
        format!("drawing with {} on {}", renderer.name(), renderer.output().describe())
    });

    let mut scene = Scene::new(world, &quads, renderer)?;
    times.upload_ms = clock.lap();
    let (picture, drawn) = scene.picture(&view)?;
    times.draw_ms = clock.lap();
    picture.save_png(path)?;
    times.write_ms = clock.lap();

    let held = scene.renderer().held();
    let report = ShotReport {
        output: path.to_path_buf(),
        renderer: scene.renderer().name(),
        backend: scene.renderer().output().describe(),
        cull: culled_by(scene.renderer()),
        chunks: scene.world().chunk_count(),
        quads: scene::quad_count(&quads),
        drawn,
        held,
        levels: Vec::new(),
        times,
    };
    note(options, || report.drawn_of_all());
    let allocator = AllocatorReport::now();
    if options.json {
        let mut json = report.to_json();
        json["allocator"] = allocator.to_json();
        return output::print(&format!("{json}\n"));
    }
    note(options, || allocator.to_string());
    output::print(&format!("{report}\n"))
}

fn note(options: &SceneOptions, text: impl FnOnce() -> String) {
    if options.verbose {
        output::note(&text());
    }
}

/// Stopwatch for consecutive stages.
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the milliseconds since the last lap.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let lap = now - std::mem::replace(&mut self.0, now);
        lap.as_secs_f64() * 1e3
    }
}
