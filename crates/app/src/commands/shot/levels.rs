use std::{path::Path, sync::Arc};

use drystone::scene::{self, LodScene};
use drystone_formats::Source;
use drystone_world::{LodConfig, LodData, LodTree};

use super::{Clock, note};
use crate::{
    AppError,
    allocator::AllocatorReport,
    cli::SceneOptions,
    commands, output,
    report::{ShotReport, StageTimes},
};

/// Draws a world at levels of detail and prints a report.
pub(super) fn run(
    options: &SceneOptions,
    source: Box<dyn Source>,
    path: &Path,
) -> Result<(), AppError> {
    let (mut clock, budget) = (Clock::start(), options.memory_budget());
    let data = Arc::new(LodData::new(source, budget.cache_bytes()));
    let view = commands::Framed::levels(&data).view(options);
    let (renderer, backend, size) = (options.renderer, options.backend, options.size);
    let mut renderer = scene::open_renderer(renderer, backend, size, LodScene::CAPACITY)?;
    commands::set_cull(renderer.as_mut(), options.cull)?;
    let mut times = StageTimes { open_ms: clock.lap(), ..StageTimes::default() };
    note(options, || {
        format!("drawing with {} on {}", renderer.name(), renderer.output().describe())
    });

    // No window waits for a frame here, so the limits per frame are lifted.
    let config = LodConfig {
        frame_bytes: usize::MAX,
        frame_time: std::time::Duration::from_secs(1),
        ..budget.level_config()
    };
    let tree = LodTree::new(Arc::clone(&data), config)?;
    let mut scene = LodScene::new(tree, renderer)?;
    scene.set_max_bytes(budget.vertex_bytes());
    scene.settle(&view, size, |_| {})?;
    times.load_ms = clock.lap();
    commands::note_faults(data.source().name(), &data.faults());

    let (picture, drawn) = scene.picture(&view)?;
    times.draw_ms = clock.lap();
    picture.save_png(path)?;
    times.write_ms = clock.lap();

    let levels = scene.tree().counts();
    let held = scene.renderer().held();
    let report = ShotReport {
        output: path.to_path_buf(),
        renderer: scene.renderer().name(),
        backend: scene.renderer().output().describe(),
        cull: commands::culled_by(scene.renderer()),
        chunks: levels.iter().map(|level| level.nodes as usize).sum(),
        quads: levels.iter().map(|level| level.quads).sum(),
        drawn,
        held,
        levels,
        times,
    };
    note(options, || report.drawn_of_all());
    for level in &report.levels {
        note(options, || {
            format!(
                "level {}: {} chunks, {} with a mesh, {} quads, {} bytes",
                level.level,
                level.nodes,
                level.meshes,
                level.quads,
                level.quads * size_of::<drystone_mesh::Quad>() as u64,
            )
        });
    }
    if scene.coarsening() > 1.0 {
        output::note(
            "drawn coarser than requested: the limit of vertex memory is reached; raise --memory",
        );
    }
    if options.json {
        let mut json = report.to_json();
        json["allocator"] = AllocatorReport::now().to_json();
        return output::print(&format!("{json}\n"));
    }
    output::print(&format!("{report}\n"))
}
