mod model;
mod packed;
mod shapes;
mod stored;

use std::any::Any;

use drystone::scene::{self, ModelTransform, Size};
use drystone::{Framed, ViewOptions};
use drystone_formats::{
    EditStore, HeightMap, HeightMapSummary, MinecraftWorld, Source, Voids, VoxFile,
};
use drystone_store::{EditedSource, PackedWorld, StoredWorld};
use drystone_world::Opened;
use model::ModelReport;
use packed::PackedReport;
use serde_json::{Value, json};
use shapes::ShapeReport;
use stored::StoredReport;

use crate::{
    AppError,
    allocator::AllocatorReport,
    cli::InfoOptions,
    output,
    report::{InfoReport, Place},
    source,
};

/// Prints the contents of the source.
pub(crate) fn run(options: &InfoOptions) -> Result<(), AppError> {
    let source = match source::open_edited(&options.source, &options.edits)? {
        Opened::Voxels(source) => source,
        Opened::Model(model) => {
            let report = ModelReport::new(&model);
            let transform =
                model.bounds().map_or_else(ModelTransform::default, |it| ModelTransform::of(&it));
            let place = default_place(&Framed::of_model(transform));
            let json = || place.added_to(report.to_json());
            return print(options, json, || report.to_string());
        }
    };
    let any: &dyn Any = source.as_ref();
    if let Some(world) = any.downcast_ref::<StoredWorld>() {
        let summary = world.summary()?;
        source::note_faults(world.name(), &world.faults());
        let report = StoredReport { world, summary };
        return print(options, || report.to_json(), || report.to_string());
    }
    if let Some(world) = any.downcast_ref::<PackedWorld>() {
        let report = PackedReport(world);
        return print(options, || report.to_json(), || report.to_string());
    }
    let world = source::load_world(source.as_ref())?;
    let quads = scene::mesh_world(&world);
    let edited = any.downcast_ref::<EditedSource>();
    // The summaries of formats are those of the source below the edits.
    let below: &dyn Any = edited.map_or(any, |edited| edited.source());
    let vox = below.downcast_ref::<VoxFile>().map(VoxFile::summary);
    let heights = below.downcast_ref::<HeightMap>().map(HeightMap::summary);
    let report = InfoReport::new(&world, &quads, vox);
    let shapes = ShapeReport::new(&world, &quads, below.downcast_ref::<MinecraftWorld>());
    let place = default_place(&Framed::of_world(&world));
    let json = || {
        let mut json = place.added_to(report.to_json());
        if let Some(heights) = heights {
            json["height_map"] = heights_json(heights);
        }
        if let Some(shapes) = shapes {
            json["shapes"] = shapes.to_json();
        }
        if let Some(edited) = edited {
            json["edits"] = edits_json(edited);
        }
        json
    };
    let text = || {
        let heights = heights.map(heights_text).unwrap_or_default();
        let shapes = shapes.map(|shapes| shapes.to_string()).unwrap_or_default();
        format!("{report}{shapes}{heights}{}", edited.map(edits_text).unwrap_or_default())
    };
    print(options, json, text)
}

/// Returns the box of a scene and the camera of its default picture.
fn default_place(framed: &Framed) -> Place {
    Place::new(framed, &ViewOptions::new(Size { width: 1280, height: 720 }))
}

/// Prints a report as text or JSON, and the statistics of the allocator.
fn print(
    options: &InfoOptions,
    json: impl Fn() -> Value,
    text: impl Fn() -> String,
) -> Result<(), AppError> {
    let allocator = AllocatorReport::now();
    if options.json {
        let mut json = json();
        json["allocator"] = allocator.to_json();
        return output::print(&format!("{json}\n"));
    }
    output::print(&text())?;
    if allocator.is_small() { output::print(&format!("  {allocator}\n")) } else { Ok(()) }
}

fn edits_json(edited: &EditedSource) -> Value {
    json!({
        "file": edited.path().display().to_string(),
        "chunks": edited.edited_count(),
        "revision": edited.revision(),
    })
}

fn edits_text(edited: &EditedSource) -> String {
    let file = output::plain(&edited.path().display().to_string());
    let (chunks, revision) = (edited.edited_count(), edited.revision());
    format!("  edits     {chunks} chunks, saved {revision} times, in {file}\n")
}

fn heights_json(summary: &HeightMapSummary) -> Value {
    json!({
        "format": summary.format,
        "samples": summary.size_samples,
        "metres_per_sample": summary.metres_per_sample,
        "metres_per_voxel": summary.metres_per_voxel,
        "vertical_scale": summary.vertical_scale,
        "metres": summary.range_metres,
        "voids": summary.void_count,
        "voids_are": voids_are(summary.voids),
    })
}

fn heights_text(summary: &HeightMapSummary) -> String {
    let [width, height] = summary.size_samples;
    let [east, south] = summary.metres_per_sample;
    let found = match (summary.range_metres, summary.void_count) {
        (Some([low, high]), Some(voids)) => format!("; {low} to {high} m; {voids} voids"),
        (None, Some(voids)) => format!("; no heights; {voids} voids"),
        // A folder is not read whole.
        (_, None) => "; voids".into(),
    };
    format!(
        "  heights   {}: {width} x {height} samples, {east:.3} x {south:.3} m apart{found} are {}\n  \
         scale     {:.3} m per voxel, heights times {}\n",
        summary.format,
        voids_are(summary.voids),
        summary.metres_per_voxel,
        summary.vertical_scale,
    )
}

fn voids_are(voids: Voids) -> &'static str {
    match voids {
        Voids::Holes => "holes",
        Voids::Filled => "filled",
    }
}
