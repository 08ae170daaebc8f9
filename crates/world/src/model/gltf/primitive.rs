use std::fmt;

use gltf::json::Index;
use gltf::json::accessor::{ComponentType, Type};
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::Checked;

use super::accessor::Elements;
use super::affine::Affine;
use super::materials::Materials;
use super::scene::Instance;
use super::triangles::triangles;
use super::{Document, no_memory};
use crate::model::builder::{Builder, FaceCorner};
use crate::model::fault::{Fault, name_of};
use crate::model::{ModelVertex, WarningKind};

/// Components of indices.
const UNSIGNED: [ComponentType; 3] = [ComponentType::U8, ComponentType::U16, ComponentType::U32];
/// Components of positions and the like; small integers by `KHR_mesh_quantization`.
const NUMBERS: [ComponentType; 5] = [
    ComponentType::F32,
    ComponentType::I8,
    ComponentType::U8,
    ComponentType::I16,
    ComponentType::U16,
];
/// What a part takes beside its corners, in corners.
const LEAST_CORNERS: u64 = 16;

/// A part of a mesh where a node shows it.
pub(super) struct Part<'a> {
    pub(super) instance: &'a Instance<'a>,
    pub(super) number: usize,
    pub(super) primitive: &'a Primitive,
}

/// What its corners are made of.
struct Vertices<'a> {
    places: Vec<u32>,
    normals: Option<Elements<'a>>,
    uvs: Option<Elements<'a>>,
    for_normals: Affine,
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, mesh {}, primitive {}",
            self.instance.place(),
            self.instance.mesh,
            self.number
        )
    }
}

impl Part<'_> {
    /// Adds its triangles to the model.
    pub(super) fn read(
        &self,
        document: &Document,
        materials: &mut Materials,
        builder: &mut Builder,
    ) -> Result<(), Fault> {
        // What is shown often and has no corners must come to an end, too.
        builder.expect_corners(LEAST_CORNERS)?;
        let Checked::Valid(mode) = self.primitive.mode else {
            return Err(Fault::new(self, "a mode that is not glTF's"));
        };
        if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
            builder.warn(WarningKind::NotPolygons, self);
            return Ok(());
        }
        self.warn_of_what_is_not_shown(builder);
        let Some(positions) = self.attribute(document, Semantic::Positions, Type::Vec3)? else {
            builder.warn(WarningKind::NotPolygons, self);
            return Ok(());
        };
        let indices = self.indices(document)?;
        let count = indices.as_ref().map_or(positions.count, |indices| indices.count);
        // Strips and fans make three corners of each index.
        let corners = match mode {
            Mode::Triangles => count,
            _ => count.saturating_sub(2).saturating_mul(3),
        };
        let corners = corners.max(count).max(positions.count);
        builder.expect_corners(corners.saturating_sub(LEAST_CORNERS))?;
        let material = materials.number(document.root, self.primitive.material, builder)?;
        let part = builder.part(name_of(self.instance.name.as_bytes()), material)?;
        let vertices = self.vertices(document, &positions, builder)?;
        if mode == Mode::Triangles && count % 3 != 0 {
            builder.warn(WarningKind::TooFewCorners, self);
        }
        let is_mirror = self.instance.transform.is_mirror();
        for corners in triangles(mode, count) {
            let mut face =
                [FaceCorner { place: 0, uv: [0.0; 2], vertex: ModelVertex::default() }; 3];
            for (corner, at) in face.iter_mut().zip(corners) {
                let index = indices.as_ref().map_or(at, |it| it.get::<1>(at)[0] as u64);
                *corner = self.corner(&vertices, index, builder)?;
            }
            if is_mirror {
                face.swap(1, 2);
            }
            builder.add_face(part, &face, self)?;
        }
        Ok(())
    }

    fn warn_of_what_is_not_shown(&self, builder: &mut Builder) {
        let has = |semantic| self.primitive.attributes.contains_key(&Checked::Valid(semantic));
        for (is_there, kind) in [
            (self.instance.has_skin, WarningKind::Skin),
            (
                self.primitive.targets.as_ref().is_some_and(|it| !it.is_empty()),
                WarningKind::MorphTargets,
            ),
            (has(Semantic::Colors(0)), WarningKind::VertexColors),
        ] {
            if is_there {
                builder.warn(kind, self);
            }
        }
    }

    fn indices<'a>(&self, document: &'a Document) -> Result<Option<Elements<'a>>, Fault> {
        let Some(index) = self.primitive.indices else { return Ok(None) };
        let indices = Elements::new(document, index)?.unscaled();
        if !indices.is_of(Type::Scalar, &UNSIGNED) {
            let problem = format!("accessor {} is not one of indices", indices.number);
            return Err(Fault::new(self, problem));
        }
        Ok(Some(indices))
    }

    fn attribute<'a>(
        &self,
        document: &'a Document,
        semantic: Semantic,
        kind: Type,
    ) -> Result<Option<Elements<'a>>, Fault> {
        let key = Checked::Valid(semantic);
        let Some(&index) = self.primitive.attributes.get(&key) else { return Ok(None) };
        let elements = Elements::new(document, Index::new(index.value() as u32))?;
        if !elements.is_of(kind, &NUMBERS) {
            let what = key.as_ref();
            let problem = format!("accessor {} is of no kind for {what:?}", elements.number);
            return Err(Fault::new(self, problem));
        }
        Ok(Some(elements))
    }

    /// Normals and texture coordinates, of which there must be as many as positions.
    fn vertices<'a>(
        &self,
        document: &'a Document,
        positions: &Elements,
        builder: &mut Builder,
    ) -> Result<Vertices<'a>, Fault> {
        let normals = self.attribute(document, Semantic::Normals, Type::Vec3)?;
        let uvs = self.attribute(document, Semantic::TexCoords(0), Type::Vec2)?;
        for other in [&normals, &uvs].into_iter().flatten() {
            if other.count != positions.count {
                let problem = format!(
                    "{} positions, but {} elements of accessor {}",
                    positions.count, other.count, other.number
                );
                return Err(Fault::new(self, problem));
            }
        }
        let places = self.places(positions, builder)?;
        Ok(Vertices { places, normals, uvs, for_normals: self.instance.transform.for_normals() })
    }

    /// The places of all positions, where the node puts them.
    fn places(&self, positions: &Elements, builder: &mut Builder) -> Result<Vec<u32>, Fault> {
        let mut places = Vec::new();
        places.try_reserve_exact(positions.count as usize).map_err(|_| no_memory("positions"))?;
        for index in 0..positions.count {
            let position = positions.get::<3>(index);
            if !position.iter().all(|number| number.is_finite()) {
                return Err(not_finite(positions, index));
            }
            let moved = self.instance.transform.point(position).map(|number| number as f32);
            if !moved.iter().all(|number| number.is_finite()) {
                let problem = format!("its transform takes position {index} beyond f32");
                return Err(Fault::new(self, problem));
            }
            places.push(builder.places.number(moved)?);
        }
        Ok(places)
    }

    fn corner(
        &self,
        vertices: &Vertices,
        index: u64,
        builder: &mut Builder,
    ) -> Result<FaceCorner, Fault> {
        let Vertices { places, normals, uvs, for_normals } = vertices;
        let place = usize::try_from(index).ok().and_then(|index| places.get(index));
        let Some(&place) = place else {
            return Err(Fault::new(self, format!("index {index} of {} positions", places.len())));
        };
        let mut corner = FaceCorner { place, uv: [0.0; 2], vertex: ModelVertex::default() };
        if let Some(normals) = normals {
            corner.vertex = ModelVertex::toward(for_normals.point(normals.get(index)));
            if corner.vertex.normal().is_none() {
                builder.warn(WarningKind::NoDirection, self);
            }
        }
        if let Some(uvs) = uvs {
            corner.uv = uvs.get::<2>(index).map(|number| number as f32);
            if !corner.uv.iter().all(|number| number.is_finite()) {
                return Err(not_finite(uvs, index));
            }
        }
        Ok(corner)
    }
}

fn not_finite(elements: &Elements, index: u64) -> Fault {
    let place = format!("accessor {}", elements.number);
    Fault::new(place, format!("element {index} is NaN or infinite"))
}
