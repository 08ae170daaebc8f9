use std::fmt;

use drystone_formats::{Model, ModelTexture};
use drystone_mesh::PolygonStats;
use serde_json::{Value, json};

use crate::{output::plain, report::material_line};

/// Contents of a polygon model, for `info`.
#[derive(Debug)]
pub(super) struct ModelReport<'a> {
    model: &'a Model,
    stats: PolygonStats,
    corners: CornerCounts,
    /// Polygon count by material.
    polygons: Vec<usize>,
}

/// Corners of the polygons of a model.
#[derive(Clone, Copy, Debug, Default)]
struct CornerCounts {
    triangles: u32,
    quads: u32,
    /// Corners of the polygon that has the most.
    max: usize,
}

impl CornerCounts {
    fn of(model: &Model) -> Self {
        let polygons = &model.polygons;
        let lengths = polygons.polygons().filter_map(|it| Some(polygons.corners(it).ok()?.len()));
        lengths.fold(Self::default(), |counts, len| Self {
            triangles: counts.triangles + u32::from(len == 3),
            quads: counts.quads + u32::from(len == 4),
            max: counts.max.max(len),
        })
    }
}

/// Returns the corners for each of `count` polygons, coordinates or vertices; 0 if there are none.
fn mean_corners(stats: &PolygonStats, count: u32) -> f64 {
    stats.corners as f64 / f64::from(count.max(1))
}

/// Returns the bytes of all decoded images.
fn image_bytes(model: &Model) -> usize {
    model.images.iter().map(|image| image.rgba.len()).sum()
}

impl<'a> ModelReport<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let mut polygons = vec![0; model.materials.len()];
        for part in &model.parts {
            if let Some(count) = polygons.get_mut(part.material) {
                *count += part.polygons.len();
            }
        }
        Self { model, stats: model.polygons.stats(), corners: CornerCounts::of(model), polygons }
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { model, stats, corners, polygons } = self;
        let materials = model.materials.iter().zip(polygons).map(|(material, polygons)| {
            let image = |texture: &Option<ModelTexture>| texture.map(|texture| texture.image);
            json!({
                "name": material.name,
                "rgba": material.color,
                "polygons": polygons,
                "base_image": image(&material.base_texture),
                "emissive_image": image(&material.emissive_texture),
                "unlit": material.is_unlit,
            })
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
            "up": model.up.axis.to_string(),
            "up_is_guess": model.up.is_guess(),
            "parts": model.parts.len(),
            "polygons": stats.polygons,
            "corners": stats.corners,
            "triangles": model.triangle_count(),
            "corners_per_polygon": mean_corners(stats, stats.polygons),
            "polygons_of_3": corners.triangles,
            "polygons_of_4": corners.quads,
            "max_corners": corners.max,
            "vertices": stats.vertices,
            "coordinates": stats.coordinates,
            "polygons_per_vertex": mean_corners(stats, stats.vertices),
            "polygons_per_coordinate": mean_corners(stats, stats.coordinates),
            "polygon_bytes": stats.bytes,
            "polygon_bytes_unshared": stats.unshared_bytes,
            "sharing_ratio": model.sharing_ratio(),
            "materials": materials.collect::<Vec<_>>(),
            "images": model.images.iter().map(|image| image.size).collect::<Vec<_>>(),
            "image_bytes": image_bytes(model),
            "warnings": warnings.collect::<Vec<_>>(),
        })
    }

    /// Writes the lengths of polygons, the vertices, and how many polygons share one.
    fn write_sharing(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stats, corners: CornerCounts { triangles, quads, max }, .. } = self;
        let percent = |count: &u32| 100.0 * f64::from(*count) / f64::from(stats.polygons.max(1));
        let mean = mean_corners(stats, stats.polygons);
        let [of_3, of_4] = [triangles, quads].map(percent);
        let lengths = format!("{of_3:.1} % have 3, {of_4:.1} % have 4, at most {max}");
        writeln!(f, "  corners   {mean:.2} a polygon: {lengths}")?;
        let PolygonStats { vertices, coordinates, .. } = *stats;
        writeln!(f, "  vertices  {vertices} at {coordinates} coordinates")?;
        let [vertex, coordinate] = [vertices, coordinates].map(|it| mean_corners(stats, it));
        writeln!(f, "  sharing   {vertex:.2} polygons a vertex, {coordinate:.2} a coordinate")
    }
}

impl fmt::Display for ModelReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, stats, polygons, .. } = self;
        writeln!(f, "{}", plain(&model.name))?;
        if let Some(bounds) = model.bounds() {
            let [x, y, z] = bounds.size().map(|side| side as f32);
            writeln!(f, "  size      {x} x {y} x {z}")?;
        }
        writeln!(f, "  up        {}", model.up)?;
        writeln!(f, "  parts     {}", model.parts.len())?;
        let (corners, triangles) = (stats.corners, model.triangle_count());
        writeln!(f, "  polygons  {} of {corners} corners, {triangles} triangles", stats.polygons)?;
        self.write_sharing(f)?;
        let percent = 100.0 * model.sharing_ratio();
        let PolygonStats { bytes, unshared_bytes, .. } = stats;
        writeln!(f, "  memory    {bytes} bytes, {percent:.1} % of {unshared_bytes} unshared")?;
        if !model.images.is_empty() {
            let (count, bytes) = (model.images.len(), image_bytes(model));
            let plural = if count == 1 { "" } else { "s" };
            writeln!(f, "  textures  {count} image{plural}, {bytes} bytes")?;
        }
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
