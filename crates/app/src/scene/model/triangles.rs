use std::{collections::HashMap, str::FromStr};

use drystone_formats::{AlphaMode, Model, ModelMaterial, ModelPart};
use drystone_mesh::{Error, Handle, PolygonHandle, Triangulator};
use drystone_render::{Layer, TextureSet, TriangleMesh, TriangleVertex};
use glam::DVec3;

use super::{
    ModelTransform,
    normals::{SmoothNormals, area_vector, position},
    surfaces::{Surfaces, is_blended, vertex_color},
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
    /// Textures and materials of textured parts; empty if there are none.
    pub textures: TextureSet,
}

/// Triangles of one part.
#[derive(Clone, Debug, Default)]
pub struct PartTriangles {
    /// Vertices, relative to the model's middle. With smooth shading, one for each vertex of the
    /// model; with flat shading, one for each corner of a polygon.
    pub vertices: Vec<TriangleVertex>,
    /// Three indices per triangle.
    pub indices: Vec<u32>,
    /// Blended if the material is translucent.
    pub layer: Layer,
    /// Whether vertices have corners in the textures instead of colours.
    pub is_textured: bool,
}

impl ModelTriangles {
    /// Triangulates the polygons of all parts: convex ones as fans, others by ear clipping.
    ///
    /// A triangle whose front points away from its smooth normals gets the opposite winding. Both
    /// sides are drawn; the side of the normals is lit as the front.
    ///
    /// Parts have textures, emitted light or no light if their material has. Parts that exceed a limit
    /// of [`TextureSet`] keep only their colours.
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
        let (name, textures) = (model.name.clone(), triangulation.surfaces.set);
        Ok(Self { name, parts, transform, polygon_count, textures })
    }

    /// Returns the mesh of a part for renderers.
    pub fn mesh<'a>(&self, part: &'a PartTriangles) -> TriangleMesh<'a> {
        TriangleMesh {
            vertices: &part.vertices,
            indices: &part.indices,
            transform: self.transform.triangle_transform(),
            layer: part.layer,
            is_textured: part.is_textured,
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
    surfaces: Surfaces<'a>,
    triangulator: Triangulator,
    /// Triangles of the current polygon, and positions, normals and vertices of its corners.
    triangles: Vec<[u32; 3]>,
    corners: Vec<(DVec3, DVec3, u32)>,
    /// Index here by vertex of the model, for the current part.
    numbers: HashMap<u32, u32>,
    /// Numbers of materials in the textures.
    materials: HashMap<usize, Option<u32>>,
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
            surfaces: Surfaces::new(model),
            triangulator: Triangulator::new(),
            triangles: Vec::new(),
            corners: Vec::new(),
            numbers: HashMap::new(),
            materials: HashMap::new(),
        })
    }

    fn part(&mut self, part: &ModelPart) -> Result<PartTriangles, Error> {
        let none = ModelMaterial::new("", ModelMaterial::DEFAULT_COLOR);
        let material = self.model.materials.get(part.material).unwrap_or(&none);
        let surface = self.surface(part.material, material);
        match self.cut(part, material, surface)? {
            Some(cut) => Ok(cut),
            // There are too many corners.
            None => Ok(self.cut(part, material, None)?.unwrap_or_default()),
        }
    }

    /// The number of a material in the textures.
    fn surface(&mut self, number: usize, material: &ModelMaterial) -> Option<u32> {
        let Self { surfaces, materials, .. } = self;
        *materials.entry(number).or_insert_with(|| surfaces.material(material))
    }

    /// Triangulates a part, with its material in the textures if it has one. `None` if they have too
    /// many corners.
    fn cut(
        &mut self,
        part: &ModelPart,
        material: &ModelMaterial,
        surface: Option<u32>,
    ) -> Result<Option<PartTriangles>, Error> {
        let mut cut = PartTriangles { is_textured: surface.is_some(), ..PartTriangles::default() };
        let mut is_blended = is_blended(material, self.model);
        self.numbers.clear();
        for &polygon in &part.polygons {
            let Some(opacity) =
                self.take_corners(polygon, (material, surface), &mut cut.vertices)?
            else {
                return Ok(None);
            };
            is_blended |= opacity < u8::MAX && !is_masked(material);
            self.triangles.clear();
            let store = &self.model.polygons;
            self.triangulator.triangulate(store, polygon, &[], &mut self.triangles)?;
            for &triangle in &self.triangles {
                cut.indices.extend(self.wound(triangle));
            }
        }
        cut.layer = if is_blended { Layer::Blended } else { Layer::Opaque };
        Ok(Some(cut))
    }

    /// Adds the vertices of a polygon's corners, sharing existing ones. Returns the lowest opacity;
    /// `None` if there are too many corners of textures.
    fn take_corners(
        &mut self,
        polygon: PolygonHandle,
        (material, surface): (&ModelMaterial, Option<u32>),
        vertices: &mut Vec<TriangleVertex>,
    ) -> Result<Option<u8>, Error> {
        let own = area_vector(self.model, polygon)?;
        self.corners.clear();
        let mut opacity = u8::MAX;
        for corner in self.model.polygons.corners(polygon)? {
            let smooth = self.smooth.as_ref().and_then(|smooth| smooth.of(&corner));
            let normal = smooth.unwrap_or(own);
            let known = corner.vertex().filter(|_| smooth.is_some()).map(Handle::index);
            let color = vertex_color(material, corner.data().color());
            opacity = opacity.min(color[3]);
            let shared = known.and_then(|vertex| self.numbers.get(&vertex)).copied();
            let number = match shared {
                Some(number) => number,
                None => {
                    let position = self.transform.vertex(corner.position());
                    let unit = normal.normalize_or_zero().as_vec3().to_array();
                    vertices.push(match surface {
                        None => TriangleVertex::new(position, unit, color),
                        Some(surface) => {
                            let found = self.surfaces.corner(corner.uv(), color, surface);
                            let Some(found) = found else { return Ok(None) };
                            TriangleVertex::with_corner(position, unit, found)
                        }
                    });
                    vertices.len() as u32 - 1
                }
            };
            if let Some(vertex) = known {
                self.numbers.insert(vertex, number);
            }
            self.corners.push((position(&corner), normal, number));
        }
        Ok(Some(opacity))
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

/// Whether the opacity of a material only makes holes.
const fn is_masked(material: &ModelMaterial) -> bool {
    matches!(material.alpha, AlphaMode::Mask { .. }) && material.base_texture.is_some()
}

#[cfg(test)]
mod tests;
