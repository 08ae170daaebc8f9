//! Properties of a height map, for `info`.

use drystone_formats::{HeightMapSummary, Voids};
use serde_json::{Value, json};

pub(super) fn to_json(summary: &HeightMapSummary) -> Value {
    json!({
        "format": summary.format,
        "samples": summary.size_samples,
        "metres_per_sample": summary.metres_per_sample,
        "metres_per_voxel": summary.metres_per_voxel,
        "vertical_scale": summary.vertical_scale,
        "metres": summary.range_metres,
        "voids": summary.void_count,
        "voids_are": are(summary.voids),
    })
}

pub(super) fn to_text(summary: &HeightMapSummary) -> String {
    let [width, height] = summary.size_samples;
    let [east, south] = summary.metres_per_sample;
    let range = summary
        .range_metres
        .map_or_else(|| "no heights".to_owned(), |[low, high]| format!("{low} to {high} m"));
    format!(
        "  heights   {}: {width} x {height} samples, {east:.3} x {south:.3} m apart; {range}; \
         {} voids, {}\n  scale     {:.3} m per voxel, heights times {}\n",
        summary.format,
        summary.void_count,
        are(summary.voids),
        summary.metres_per_voxel,
        summary.vertical_scale,
    )
}

fn are(voids: Voids) -> &'static str {
    match voids {
        Voids::Holes => "holes",
        Voids::Filled => "filled",
    }
}
