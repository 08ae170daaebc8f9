use std::fmt;

use drystone_formats::Model;
use drystone_mesh::PolygonStats;
use serde_json::{Value, json};

use crate::{output::plain, report::material_line};

/// Contents of a polygon model, for `info`.
#[derive(Debug)]
pub(super) struct ModelReport<'a> {
    model: &'a Model,
    stats: PolygonStats,
    /// Polygon count by material.
    polygons: Vec<usize>,
}

impl<'a> ModelReport<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let mut polygons = vec![0; model.materials.len()];
        for part in &model.parts {
            if let Some(count) = polygons.get_mut(part.material) {
                *count += part.polygons.len();
            }
        }
        Self { model, stats: model.polygons.stats(), polygons }
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { model, stats, polygons } = self;
        let materials = model.materials.iter().zip(polygons).map(|(material, polygons)| {
            json!({"name": material.name, "rgba": material.color, "polygons": polygons})
        });
        let warnings = model.warnings.iter().map(|warning| {
            let first = warning.first_location;
            json!({"kind": warning.kind.name(), "count": warning.count, "first": first})
        });
        let bounds = model.bounds();
        json!({
            "source": model.name,
            "min": bounds.map(|bounds| bounds.min),
            "max": bounds.map(|bounds| bounds.max),
            "parts": model.parts.len(),
            "polygons": stats.polygons,
            "corners": stats.corners,
            "triangles": model.triangle_count(),
            "vertices": stats.vertices,
            "coordinates": stats.coordinates,
            "polygon_bytes": stats.bytes,
            "polygon_bytes_unshared": stats.unshared_bytes,
            "sharing_ratio": model.sharing_ratio(),
            "materials": materials.collect::<Vec<_>>(),
            "warnings": warnings.collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for ModelReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, stats, polygons } = self;
        writeln!(f, "{}", plain(&model.name))?;
        if let Some(bounds) = model.bounds() {
            let [x, y, z] = bounds.size().map(|side| side as f32);
            writeln!(f, "  size      {x} x {y} x {z}")?;
        }
        writeln!(f, "  parts     {}", model.parts.len())?;
        let (corners, triangles) = (stats.corners, model.triangle_count());
        writeln!(f, "  polygons  {} of {corners} corners, {triangles} triangles", stats.polygons)?;
        writeln!(f, "  vertices  {} at {} coordinates", stats.vertices, stats.coordinates)?;
        let percent = 100.0 * model.sharing_ratio();
        let PolygonStats { bytes, unshared_bytes, .. } = stats;
        writeln!(f, "  memory    {bytes} bytes, {percent:.1} % of {unshared_bytes} unshared")?;
        for (material, polygons) in model.materials.iter().zip(polygons) {
            material_line(f, *polygons as u64, material.color, &material.name)?;
        }
        for warning in model.warnings.iter() {
            let place = plain(&warning.first_location);
            writeln!(f, "  warning   {} {}, first: {place}", warning.count, warning.kind)?;
        }
        Ok(())
    }
}
