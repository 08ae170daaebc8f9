use std::{collections::HashMap, str::FromStr};

use drystone_formats::{Model, ModelMaterial, ModelPart};
use drystone_mesh::{Error, PolygonHandle, Triangulator};
use drystone_render::{Layer, TriangleMesh, TriangleVertex};
use glam::DVec3;

use super::{
    ModelTransform,
    normals::{SmoothNormals, area_vector, position},
};

/// Shading of a model's polygons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shade {
    /// One normal per polygon.
    Flat,
    /// The file's normals, or else the mean of the polygons around a vertex.
    #[default]
    Smooth,
}

impl FromStr for Shade {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "flat" => Ok(Self::Flat),
            "smooth" => Ok(Self::Smooth),
            _ => Err("shading is flat or smooth".into()),
        }
    }
}

/// Triangulated model, ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct ModelTriangles {
    /// Name for display.
    pub name: String,
    /// Parts with one draw command each, in the order of the model's parts; parts without triangles
    /// are left out.
    pub parts: Vec<PartTriangles>,
    /// Transform to the world.
    pub transform: ModelTransform,
    /// Number of polygons before triangulation.
    pub polygon_count: u64,
}

/// Triangles of one part.
#[derive(Clone, Debug)]
pub struct PartTriangles {
    /// Vertices, relative to the model's middle. With smooth shading, one for each vertex of the
    /// model; with flat shading, one for each corner of a polygon.
    pub vertices: Vec<TriangleVertex>,
    /// Three indices per triangle.
    pub indices: Vec<u32>,
    /// Blended if the material is translucent.
    pub layer: Layer,
}

impl ModelTriangles {
    /// Triangulates the polygons of all parts: convex ones as fans, others by ear clipping.
    ///
    /// A triangle whose front points away from its smooth normals gets the opposite winding. Both
    /// sides are drawn; the side of the normals is lit as the front.
    ///
    /// # Cost
    /// O(corners), except for polygons that are not convex ([`Triangulator`]).
    ///
    /// # Errors
    /// `Stale` if a part contains a removed polygon; `Full` for a polygon of more than 2²⁴ corners.
    pub fn new(model: &Model, shade: Shade) -> Result<Self, Error> {
        let transform =
            model.bounds().map_or_else(ModelTransform::default, |it| ModelTransform::of(&it));
        let mut triangulation = PartTriangulator::new(model, transform, shade)?;
        let parts: Result<Vec<_>, Error> =
            model.parts.iter().map(|part| triangulation.part(part)).collect();
        let parts = parts?.into_iter().filter(|part| !part.indices.is_empty()).collect();
        let polygon_count = model.parts.iter().map(|part| part.polygons.len() as u64).sum();
        Ok(Self { name: model.name.clone(), parts, transform, polygon_count })
    }

    /// Returns the mesh of a part for renderers.
    pub fn mesh<'a>(&self, part: &'a PartTriangles) -> TriangleMesh<'a> {
        TriangleMesh {
            vertices: &part.vertices,
            indices: &part.indices,
            transform: self.transform.triangle_transform(),
            layer: part.layer,
        }
    }

    /// Returns the number of triangles of all parts.
    pub fn triangle_count(&self) -> u64 {
        self.parts.iter().map(|part| part.indices.len() as u64 / 3).sum()
    }

    /// Returns the number of vertices of all parts.
    pub fn vertex_count(&self) -> u64 {
        self.parts.iter().map(|part| part.vertices.len() as u64).sum()
    }
}

/// Triangulates parts one by one.
struct PartTriangulator<'a> {
    model: &'a Model,
    transform: ModelTransform,
    /// Normals for smooth shading.
    smooth: Option<SmoothNormals>,
    triangulator: Triangulator,
    /// Triangles of the current polygon, and positions, normals and vertices of its corners.
    triangles: Vec<[u32; 3]>,
    corners: Vec<(DVec3, DVec3, u32)>,
    /// Index here by vertex of the model, for the current part.
    numbers: HashMap<u32, u32>,
}

impl<'a> PartTriangulator<'a> {
    fn new(model: &'a Model, transform: ModelTransform, shade: Shade) -> Result<Self, Error> {
        let smooth = match shade {
            Shade::Flat => None,
            Shade::Smooth => Some(SmoothNormals::new(model)?),
        };
        Ok(Self {
            model,
            transform,
            smooth,
            triangulator: Triangulator::new(),
            triangles: Vec::new(),
            corners: Vec::new(),
            numbers: HashMap::new(),
        })
    }

    fn part(&mut self, part: &ModelPart) -> Result<PartTriangles, Error> {
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

    /// Adds the vertices of a polygon's corners, sharing existing ones.
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
                let position = self.transform.vertex(corner.position());
                let unit = normal.normalize_or_zero().as_vec3().to_array();
                vertices.push(TriangleVertex::new(position, unit, color));
                vertices.len() as u32 - 1
            };
            let shared = corner.vertex().filter(|_| self.smooth.is_some());
            let number = match shared {
                Some(vertex) => *self.numbers.entry(vertex.index()).or_insert_with(number),
                None => number(),
            };
            self.corners.push((position(&corner), normal, number));
        }
        Ok(())
    }

    /// Returns a triangle with the winding that matches its normals.
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
