use std::{fmt, path::Path};

use drystone::scene::{self, ModelScene, ModelTriangles};
use drystone_render::{Cull, DrawStats, HeldStats};
use serde_json::{Value, json};

use super::{Clock, note};
use crate::{
    AppError,
    allocator::AllocatorReport,
    cli::SceneOptions,
    commands::{Framed, culled_by, open_model, set_cull},
    output,
    report::StageTimes,
};

/// Draws the polygon model at `source` to `path` and prints a report.
pub(super) fn run(options: &SceneOptions, source: &Path, path: &Path) -> Result<(), AppError> {
    let mut clock = Clock::start();
    let model = open_model(options, source)?;
    let mut times = StageTimes { load_ms: clock.lap(), ..StageTimes::default() };
    note(options, || format!("loaded {} polygons of {}", model.polygons.len(), model.name));

    let triangles = ModelTriangles::new(&model, options.shade)?;
    times.mesh_ms = clock.lap();
    note(options, || format!("triangulated into {} triangles", triangles.triangle_count()));

    let view = Framed::model(&triangles).view(options);
    let capacity = scene::Capacity::default();
    let mut renderer =
        scene::open_renderer(options.renderer, options.backend, options.size, capacity)?;
    set_cull(renderer.as_mut(), options.cull)?;
    times.open_ms = clock.lap();
    note(options, || {
        format!("drawing with {} on {}", renderer.name(), renderer.output().describe())
    });

    let mut scene = ModelScene::new(triangles, renderer)?;
    times.upload_ms = clock.lap();
    let (picture, drawn) = scene.picture(&view)?;
    times.draw_ms = clock.lap();
    picture.save_png(path)?;
    times.write_ms = clock.lap();

    let held = scene.renderer().held();
    let report = ModelReport {
        output: output::plain(&path.display().to_string()),
        renderer: scene.renderer().name(),
        backend: scene.renderer().output().describe(),
        cull: culled_by(scene.renderer()),
        model: scene.model(),
        drawn,
        held,
        times,
    };
    let allocator = AllocatorReport::now();
    if options.json {
        let mut json = report.to_json();
        json["allocator"] = allocator.to_json();
        return output::print(&format!("{json}\n"));
    }
    note(options, || allocator.to_string());
    output::print(&format!("{report}\n"))
}

/// Report of `shot` for a polygon model.
struct ModelReport<'a> {
    output: String,
    renderer: &'static str,
    backend: String,
    cull: Cull,
    model: &'a ModelTriangles,
    drawn: DrawStats,
    held: HeldStats,
    times: StageTimes,
}

impl ModelReport<'_> {
    fn to_json(&self) -> Value {
        let Self { model, drawn, held, times, .. } = self;
        json!({
            "output": self.output,
            "renderer": self.renderer,
            "backend": self.backend,
            "cull": self.cull.name(),
            "polygons": model.polygon_count,
            "triangles": model.triangle_count(),
            "triangles_drawn": drawn.triangles,
            "vertices": model.vertex_count(),
            "draw_commands": drawn.commands,
            "draw_commands_of_all": held.commands,
            "meshes": held.meshes,
            "meshes_drawn": drawn.meshes,
            "vertex_bytes": held.used_bytes,
            "vertex_bytes_reserved": held.reserved_bytes,
            "ms": times.to_json(),
        })
    }
}

impl fmt::Display for ModelReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { output, model, drawn, held, times, renderer, backend, .. } = self;
        write!(
            f,
            "{output}: {} polygons, {} triangles, {} draw commands, {} bytes of vertices and \
             indices; {times}; {renderer} on {backend}",
            model.polygon_count,
            model.triangle_count(),
            drawn.commands,
            held.used_bytes,
        )
    }
}
