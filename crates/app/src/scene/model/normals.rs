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
/// a coordinate that have the same smoothing group, weighted by area.
pub(super) struct SmoothNormals {
    /// Means by the coordinate's index and the smoothing group.
    means: HashMap<(u32, Option<u32>), DVec3>,
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
            for corner in model.polygons.corners(polygon)? {
                let group = corner.data().smoothing_group();
                let is_smooth = corner.data().normal().is_none() && group != Some(0);
                if let Some(coordinate) = corner.coordinate().filter(|_| is_smooth) {
                    *means.entry((coordinate.index(), group)).or_insert(DVec3::ZERO) += area;
                }
            }
        }
        Ok(Self { means })
    }

    /// Returns the normal at a corner, not normalized; `None` in a polygon that is shaded flat.
    pub(super) fn of(&self, corner: &CornerRef<'_, ModelVertex>) -> Option<DVec3> {
        if let Some(normal) = corner.data().normal() {
            return Some(DVec3::from(normal.map(f64::from)));
        }
        let group = corner.data().smoothing_group();
        if group == Some(0) {
            return None;
        }
        let mean = corner.coordinate().and_then(|it| self.means.get(&(it.index(), group)));
        Some(mean.copied().unwrap_or(DVec3::ZERO))
    }
}
