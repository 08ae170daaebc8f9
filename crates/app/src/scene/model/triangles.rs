use std::{collections::HashMap, str::FromStr};

use drystone_mesh::{Error, PolygonHandle, Triangulator};
use drystone_render::{Layer, TriangleMesh, TriangleVertex};
use drystone_world::{Model, ModelMaterial, ModelPart};
use glam::DVec3;

use super::{
    ModelTransform,
    normals::{SmoothNormals, area_vector, place},
};

/// How light runs over a model's polygons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shade {
    /// Each polygon by itself, with its own normal.
    Flat,
    /// From polygon to polygon, with the file's normals, and where it has none with the
    /// mean of those of the polygons around.
    #[default]
    Smooth,
}

impl FromStr for Shade {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "flat" => Ok(Self::Flat),
            "smooth" => Ok(Self::Smooth),
            _ => Err("it is flat or smooth".into()),
        }
    }
}

/// A model, cut into triangles and ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct ModelTriangles {
    /// A name to show.
    pub name: String,
    /// What is drawn by a command each, in the order of the model's parts; a part of no
    /// triangles is left out.
    pub parts: Vec<PartTriangles>,
    /// Where it stands.
    pub place: ModelTransform,
    /// Polygons that it was cut from.
    pub polygon_count: u64,
}

/// The triangles of one part.
#[derive(Clone, Debug)]
pub struct PartTriangles {
    /// Corners, relative to the model's middle. Smoothly shaded, a vertex of the model is
    /// one here; flat, it is one for each polygon that has it.
    pub vertices: Vec<TriangleVertex>,
    /// Three each triangle.
    pub indices: Vec<u32>,
    /// Blended where the material lets light through.
    pub layer: Layer,
}

impl ModelTriangles {
    /// Cuts the polygons of all parts into triangles: fans of convex ones, ears of others.
    ///
    /// A triangle that turns its back to where its smooth normals point is wound the other
    /// way round: both sides are drawn, and the one that is lit as the front is the one of
    /// its normals.
    ///
    /// # Cost
    /// O(corners), but for polygons that are not convex ([`Triangulator`]).
    ///
    /// # Errors
    /// `Stale` where a part names a polygon that is gone; `Full` for one of more than 2²⁴
    /// corners.
    pub fn new(model: &Model, shade: Shade) -> Result<Self, Error> {
        let place =
            model.bounds().map_or_else(ModelTransform::default, |it| ModelTransform::of(&it));
        let mut cutter = Cutter::new(model, place, shade)?;
        let parts: Result<Vec<_>, Error> =
            model.parts.iter().map(|part| cutter.cut(part)).collect();
        let parts = parts?.into_iter().filter(|part| !part.indices.is_empty()).collect();
        let polygon_count = model.parts.iter().map(|part| part.polygons.len() as u64).sum();
        Ok(Self { name: model.name.clone(), parts, place, polygon_count })
    }

    /// What renderers are given of a part.
    pub fn mesh<'a>(&self, part: &'a PartTriangles) -> TriangleMesh<'a> {
        TriangleMesh {
            vertices: &part.vertices,
            indices: &part.indices,
            transform: self.place.triangle_transform(),
            layer: part.layer,
        }
    }

    /// Triangles of all parts.
    pub fn triangle_count(&self) -> u64 {
        self.parts.iter().map(|part| part.indices.len() as u64 / 3).sum()
    }

    /// Vertices of all parts.
    pub fn vertex_count(&self) -> u64 {
        self.parts.iter().map(|part| part.vertices.len() as u64).sum()
    }
}

/// Cuts parts.
struct Cutter<'a> {
    model: &'a Model,
    place: ModelTransform,
    /// Where light runs smoothly.
    smooth: Option<SmoothNormals>,
    triangulator: Triangulator,
    /// Of one polygon: its triangles, and its corners' normals, places and vertices.
    triangles: Vec<[u32; 3]>,
    corners: Vec<(DVec3, DVec3, u32)>,
    /// Of one part: the number here of a vertex of the model.
    numbers: HashMap<u32, u32>,
}

impl<'a> Cutter<'a> {
    fn new(model: &'a Model, place: ModelTransform, shade: Shade) -> Result<Self, Error> {
        let smooth = match shade {
            Shade::Flat => None,
            Shade::Smooth => Some(SmoothNormals::new(model)?),
        };
        Ok(Self {
            model,
            place,
            smooth,
            triangulator: Triangulator::new(),
            triangles: Vec::new(),
            corners: Vec::new(),
            numbers: HashMap::new(),
        })
    }

    fn cut(&mut self, part: &ModelPart) -> Result<PartTriangles, Error> {
        let material = self.model.materials.get(part.material);
        let color = material.map_or(ModelMaterial::DEFAULT_COLOR, |material| material.color);
        let layer = if color[3] < u8::MAX { Layer::Blended } else { Layer::Opaque };
        let mut cut = PartTriangles { vertices: Vec::new(), indices: Vec::new(), layer };
        self.numbers.clear();
        for &polygon in &part.polygons {
            self.take_corners(polygon, color, &mut cut.vertices)?;
            self.triangles.clear();
            let store = &self.model.polygons;
            self.triangulator.triangulate(store, polygon, &[], &mut self.triangles)?;
            for &triangle in &self.triangles {
                cut.indices.extend(self.wound(triangle));
            }
        }
        Ok(cut)
    }

    /// The vertices of a polygon's corners, new ones and those that are there.
    fn take_corners(
        &mut self,
        polygon: PolygonHandle,
        color: [u8; 4],
        vertices: &mut Vec<TriangleVertex>,
    ) -> Result<(), Error> {
        let own = area_vector(self.model, polygon)?;
        self.corners.clear();
        for corner in self.model.polygons.corners(polygon)? {
            let normal = self.smooth.as_ref().map_or(own, |smooth| smooth.of(&corner));
            let mut number = || {
                let position = self.place.vertex(corner.position());
                let unit = normal.normalize_or_zero().as_vec3().to_array();
                vertices.push(TriangleVertex::new(position, unit, color));
                vertices.len() as u32 - 1
            };
            let shared = corner.vertex().filter(|_| self.smooth.is_some());
            let number = match shared {
                Some(vertex) => *self.numbers.entry(vertex.index()).or_insert_with(number),
                None => number(),
            };
            self.corners.push((place(&corner), normal, number));
        }
        Ok(())
    }

    /// The vertices of a triangle of the polygon's corners, wound so that its front is on
    /// the side of its normals.
    fn wound(&self, triangle: [u32; 3]) -> [u32; 3] {
        let corner = |nth: usize| self.corners.get(triangle[nth] as usize).copied();
        let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) else {
            return [0; 3];
        };
        let front = (b.0 - a.0).cross(c.0 - a.0);
        let is_back = self.smooth.is_some() && front.dot(a.1 + b.1 + c.1) < 0.0;
        if is_back { [a.2, c.2, b.2] } else { [a.2, b.2, c.2] }
    }
}

#[cfg(test)]
mod tests;
