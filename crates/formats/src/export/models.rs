//! Portions of polygon models: the triangles of one part, or of a piece of it.

use std::collections::HashMap;
use std::{io, mem};

use drystone_mesh::{CornerRef, Error, PolygonHandle, Triangulator};

use super::portion::{Attributes, Face, Palette, Placement, Portion, Vertex, WriteFault};
use crate::model::{Model, ModelPart, ModelVertex};

/// Number of faces at which a portion ends. One polygon more has at most 2¹⁴ faces. A portion then
/// needs about 16 MiB.
const MAX_FACES: usize = 1 << 16;

/// Maker of the portions of a model.
pub(super) struct ModelPortions<'a> {
    model: &'a Model,
    palette: Palette,
    attributes: Attributes,
    placement: Placement,
    triangulator: Triangulator,
    triangles: Vec<[u32; 3]>,
}

impl<'a> ModelPortions<'a> {
    pub(super) fn new(model: &'a Model, attributes: Attributes, placement: Placement) -> Self {
        let (triangulator, triangles) = (Triangulator::new(), Vec::new());
        let palette = palette(model);
        Self { model, palette, attributes, placement, triangulator, triangles }
    }

    /// Passes the portions of a part to `take`. Vertices that two portions share are stored twice.
    pub(super) fn make(
        &mut self,
        part: &ModelPart,
        mut take: impl FnMut(Portion) -> Result<(), WriteFault>,
    ) -> Result<(), WriteFault> {
        let mut portion = Portion { name: part.name.clone(), ..Portion::default() };
        let mut known = HashMap::new();
        for &polygon in &part.polygons {
            self.push(polygon, part.material as u32, &mut known, &mut portion).map_err(
                |error| {
                    let problem = format!("cannot be triangulated: {error}");
                    WriteFault::Io(io::Error::other(problem))
                },
            )?;
            if portion.faces.len() >= MAX_FACES {
                known.clear();
                let name = part.name.clone();
                let next = Portion { name, is_continued: true, ..Portion::default() };
                take(mem::replace(&mut portion, next))?;
            }
        }
        take(portion)
    }

    /// Appends the triangles of a polygon.
    fn push(
        &mut self,
        polygon: PolygonHandle,
        color: u32,
        known: &mut HashMap<(u32, [u32; 3]), u32>,
        to: &mut Portion,
    ) -> Result<(), Error> {
        let polygons = &self.model.polygons;
        let front = front(polygons.corners(polygon)?.map(|corner| corner.position()));
        let corners: Vec<u32> = polygons
            .corners(polygon)?
            .map(|corner| {
                let vertex = self.vertex(&corner, front, color);
                let has_normals = self.attributes.normals;
                let normal = if has_normals { vertex.normal.map(f32::to_bits) } else { [0; 3] };
                let mut insert = || {
                    to.vertices.push(vertex);
                    to.vertices.len() as u32 - 1
                };
                match corner.coordinate() {
                    Some(it) => *known.entry((it.index(), normal)).or_insert_with(insert),
                    None => insert(),
                }
            })
            .collect();
        self.triangles.clear();
        self.triangulator.triangulate(polygons, polygon, &[], &mut self.triangles)?;
        let is_translucent = self.palette.is_translucent(color);
        to.faces.extend(self.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(|corner| corners[corner as usize]);
            Face { corners: [a, b, c, Face::NONE], color, is_translucent, direction: None }
        }));
        Ok(())
    }

    /// Returns the vertex of a corner. If the model has no normal there, `front` is used.
    fn vertex(&self, corner: &CornerRef<'_, ModelVertex>, front: [f32; 3], color: u32) -> Vertex {
        let normal = corner.data().normal().unwrap_or(front);
        Vertex {
            position: self.placement.position(corner.position().map(f64::from)),
            normal: self.placement.turned(normal),
            color,
        }
    }
}

/// Returns the colours of a model, by material.
pub(super) fn palette(model: &Model) -> Palette {
    // Surfaces of models may be open.
    let mut palette = Palette { is_double_sided: true, ..Palette::default() };
    model.materials.iter().for_each(|it| palette.push(&it.name, it.color));
    palette
}

/// Returns the unit normal of a polygon by Newell's method; up, if it has no area.
fn front(corners: impl Iterator<Item = [f32; 3]> + Clone) -> [f32; 3] {
    let positions = corners.map(|corner| corner.map(f64::from));
    let Some(first) = positions.clone().next() else { return [0.0, 1.0, 0.0] };
    let (mut sum, mut last) = ([0.0; 3], [0.0; 3]);
    for position in positions {
        let next = [0, 1, 2].map(|axis| position[axis] - first[axis]);
        for (axis, total) in sum.iter_mut().enumerate() {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            *total += last[u] * next[v] - last[v] * next[u];
        }
        last = next;
    }
    let length = sum.iter().map(|c| c * c).sum::<f64>().sqrt();
    if length > 0.0 { sum.map(|c| (c / length) as f32) } else { [0.0, 1.0, 0.0] }
}
