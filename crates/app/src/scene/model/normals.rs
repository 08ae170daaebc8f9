use std::collections::HashMap;

use drystone_formats::{Model, ModelVertex};
use drystone_mesh::{CornerRef, Error, PolygonHandle};
use glam::DVec3;

/// Returns the area vector of a polygon: twice its area, along its front normal. For a polygon that
/// is not flat, the average.
pub(super) fn area_vector(model: &Model, polygon: PolygonHandle) -> Result<DVec3, Error> {
    let mut positions = model.polygons.corners(polygon)?.map(|corner| position(&corner));
    let Some(first) = positions.next() else { return Ok(DVec3::ZERO) };
    let (mut sum, mut last) = (DVec3::ZERO, DVec3::ZERO);
    for position in positions {
        let next = position - first;
        sum += last.cross(next);
        last = next;
    }
    Ok(sum)
}

pub(super) fn position(corner: &CornerRef<'_, ModelVertex>) -> DVec3 {
    DVec3::from(corner.position().map(f64::from))
}

/// Normals of a smoothly shaded model: those of its file, or else the mean over all polygons around
/// a coordinate, weighted by area.
pub(super) struct SmoothNormals {
    /// Means by the coordinate's index.
    means: HashMap<u32, DVec3>,
}

impl SmoothNormals {
    /// Computes the means.
    ///
    /// # Cost
    /// O(corners).
    pub(super) fn new(model: &Model) -> Result<Self, Error> {
        let mut means = HashMap::new();
        for &polygon in model.parts.iter().flat_map(|part| &part.polygons) {
            let area = area_vector(model, polygon)?;
            let missing =
                model.polygons.corners(polygon)?.filter(|it| it.data().normal().is_none());
            for coordinate in missing.filter_map(|corner| corner.coordinate()) {
                *means.entry(coordinate.index()).or_insert(DVec3::ZERO) += area;
            }
        }
        Ok(Self { means })
    }

    /// Returns the normal at a corner, not normalized.
    pub(super) fn of(&self, corner: &CornerRef<'_, ModelVertex>) -> DVec3 {
        if let Some(normal) = corner.data().normal() {
            return DVec3::from(normal.map(f64::from));
        }
        let mean = corner.coordinate().and_then(|it| self.means.get(&it.index()));
        mean.copied().unwrap_or(DVec3::ZERO)
    }
}
