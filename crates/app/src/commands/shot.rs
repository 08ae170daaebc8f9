use std::{path::Path, time::Instant};

use drystone::{Content, Framed, Progress, scene};

use super::{culled_by, open_renderer, show};
use crate::{
    AppError,
    allocator::AllocatorReport,
    cli::SceneOptions,
    output,
    report::{ShotReport, StageTimes},
    source,
};

/// Draws the source to `path` and prints a report.
pub(crate) fn run(options: &SceneOptions, path: &Path) -> Result<(), AppError> {
    let (mut clock, mut times) = (Clock::start(), StageTimes::default());
    let opened = source::open_edited(&options.source, &options.edits)?;
    times.load_ms = clock.lap();
    let content = source::load(opened, options, &Progress::default())?.content;
    match &content {
        // The polygons are read; triangulating them is their meshing.
        Content::Model(_) => times.mesh_ms = clock.lap(),
        Content::World(_) | Content::Levels(..) => times.load_ms += clock.lap(),
    }
    note_loaded(options, &content);
    let quads = content.quads(options.meshing(), &Progress::default());
    times.mesh_ms += clock.lap();
    if let Content::World(_) = content {
        note(options, || format!("meshed {} quads", scene::quad_count(&quads)));
    }

    let view = Framed::new(&content).view(&options.view_options());
    let mut renderer = open_renderer(&content, &quads, options)?;
    times.open_ms = clock.lap();
    note(options, || {
        format!("drawing with {} on {}", renderer.name(), renderer.output().describe())
    });

    let mut shown = show(content, &quads, options, renderer)?;
    times.upload_ms = clock.lap();
    shown.settle(&view, options.camera.size)?;
    times.load_ms += clock.lap();
    if let Some((data, _)) = shown.levels() {
        source::note_faults(data.source().name(), &data.faults());
    }
    let (picture, drawn) = shown.picture(&view)?;
    times.draw_ms = clock.lap();
    picture.save_png(path)?;
    times.write_ms = clock.lap();

    let amounts = shown.amounts();
    let is_coarsened = shown.is_coarsened();
    let renderer = shown.renderer();
    let report = ShotReport {
        output: path.to_path_buf(),
        renderer: renderer.name(),
        backend: renderer.output().describe(),
        held: renderer.held(),
        cull: culled_by(renderer),
        amounts,
        drawn,
        times,
    };
    report.details().into_iter().for_each(|line| note(options, || line));
    if is_coarsened {
        output::note(
            "drawn coarser than requested: the limit of vertex memory is reached; raise --memory",
        );
    }
    let allocator = AllocatorReport::now();
    if options.json {
        let mut json = report.to_json();
        json["allocator"] = allocator.to_json();
        return output::print(&format!("{json}\n"));
    }
    note(options, || allocator.to_string());
    output::print(&format!("{report}\n"))
}

fn note_loaded(options: &SceneOptions, content: &Content) {
    match content {
        Content::World(world) => {
            note(options, || format!("loaded {} chunks of {}", world.chunk_count(), world.name()));
        }
        Content::Model(model) => {
            note(options, || format!("loaded {} polygons of {}", model.polygon_count, model.name));
            note(options, || format!("triangulated into {} triangles", model.triangle_count()));
        }
        // Chunks are read when they are needed.
        Content::Levels(..) => {}
    }
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
