use std::{path::Path, time::Instant};

use drystone::{Amounts, Content, Framed, Progress, Shown};

use super::{culled_by, note_faults, open_renderer, show};
use drystone_render::{RenderError, View};

use crate::{
    AppError,
    allocator::AllocatorReport,
    cli::SceneOptions,
    output,
    report::{Place, ShotReport, StageTimes},
    source,
};

/// Draws the source to `path` and prints a report.
pub(crate) fn run(options: &SceneOptions, path: &Path) -> Result<(), AppError> {
    let (mut clock, mut times) = (Clock::start(), StageTimes::default());
    let opened = source::open_edited(&options.source, &options.edits)?;
    times.load_ms = clock.lap();
    let content = source::read(opened, options, &Progress::default())?;
    match &content {
        // The polygons are read; triangulating them is their meshing.
        Content::Model(_) => times.mesh_ms = clock.lap(),
        Content::Voxels(..) => times.load_ms += clock.lap(),
    }
    note_loaded(options, &content);

    let (framed, view_options) = (Framed::new(&content), options.view_options());
    let (view, place) = (framed.view(&view_options), Place::new(&framed, &view_options));
    let mut renderer = open_renderer(&content, options)?;
    times.open_ms = clock.lap();
    note(options, || {
        format!("drawing with {} on {}", renderer.name(), renderer.output().describe())
    });

    let mut shown = show(content, options, renderer)?;
    times.upload_ms = clock.lap();
    settle(&mut shown, &view, options)?;
    // At levels of detail, most of this time is spent reading voxels.
    let settled_ms = if shown.has_levels() { &mut times.load_ms } else { &mut times.mesh_ms };
    *settled_ms += clock.lap();
    note_faults(&shown);
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
        place,
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

/// Makes all meshes of the view.
fn settle(shown: &mut Shown, view: &View, options: &SceneOptions) -> Result<(), RenderError> {
    shown.settle_picture(view, options.camera.size)?;
    if let (Amounts::Voxels { quads, .. }, false) = (shown.amounts(), shown.has_levels()) {
        note(options, || format!("meshed {quads} quads"));
    }
    Ok(())
}

fn note_loaded(options: &SceneOptions, content: &Content) {
    match content {
        Content::Voxels(data, limits) if !limits.has_levels() => {
            let (count, name) = (data.solid_chunk_count(), data.source().name());
            note(options, || format!("loaded {count} chunks of {name}"));
        }
        Content::Model(model) => {
            note(options, || format!("loaded {} polygons of {}", model.polygon_count, model.name));
            note(options, || format!("triangulated into {} triangles", model.triangle_count()));
        }
        // Chunks are read when they are needed.
        Content::Voxels(..) => {}
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
