use std::collections::HashMap;

use drystone_mesh::{CornerRef, Error, PolygonHandle};
use drystone_world::{Model, ModelVertex};
use glam::DVec3;

/// Twice the area of a polygon, as a vector that points to where it is seen
/// counter-clockwise from; of one that is not flat, what it is on average.
pub(super) fn area_vector(model: &Model, polygon: PolygonHandle) -> Result<DVec3, Error> {
    let mut positions = model.polygons.corners(polygon)?.map(|corner| place(&corner));
    let Some(first) = positions.next() else { return Ok(DVec3::ZERO) };
    let (mut sum, mut last) = (DVec3::ZERO, DVec3::ZERO);
    for position in positions {
        let next = position - first;
        sum += last.cross(next);
        last = next;
    }
    Ok(sum)
}

pub(super) fn place(corner: &CornerRef<'_, ModelVertex>) -> DVec3 {
    DVec3::from(corner.position().map(f64::from))
}

/// The normals of a model that is shaded smoothly: those of its file, and where it has none
/// the mean of all polygons around a coordinate, each by its area.
pub(super) struct SmoothNormals {
    /// By the coordinate's number.
    means: HashMap<u32, DVec3>,
}

impl SmoothNormals {
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

    /// The normal at a corner, of any length.
    pub(super) fn of(&self, corner: &CornerRef<'_, ModelVertex>) -> DVec3 {
        if let Some(normal) = corner.data().normal() {
            return DVec3::from(normal.map(f64::from));
        }
        let mean = corner.coordinate().and_then(|it| self.means.get(&it.index()));
        mean.copied().unwrap_or(DVec3::ZERO)
    }
}
