use std::fmt;

use gltf::json::Index;
use gltf::json::accessor::{ComponentType, Type};
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::validation::Checked;

use super::accessor::Elements;
use super::affine::Affine;
use super::materials::{Materials, byte, to_srgb};
use super::scene::Instance;
use super::{Document, no_memory};
use crate::fault::Fault;
use crate::model::builder::{Builder, FaceCorner};
use crate::model::fault::{malformed, name_of};
use crate::model::{ModelVertex, WarningKind};

/// Component types of indices.
const UNSIGNED: [ComponentType; 3] = [ComponentType::U8, ComponentType::U16, ComponentType::U32];
/// Component types of other attributes; small integers by `KHR_mesh_quantization`.
const NUMBERS: [ComponentType; 5] = [
    ComponentType::F32,
    ComponentType::I8,
    ComponentType::U8,
    ComponentType::I16,
    ComponentType::U16,
];
/// Fixed cost of an instance of a primitive, counted as corners.
const MIN_CORNERS: u64 = 16;

/// A primitive of a mesh instance.
pub(super) struct Part<'a> {
    pub(super) instance: &'a Instance<'a>,
    pub(super) number: usize,
    pub(super) primitive: &'a Primitive,
}

/// Vertex attributes of a primitive.
struct Vertices<'a> {
    /// Welded index of each position.
    welded: Vec<u32>,
    normals: Option<Elements<'a>>,
    uvs: Option<Elements<'a>>,
    colors: Option<Elements<'a>>,
    for_normals: Affine,
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, mesh {}, primitive {}",
            self.instance.location(),
            self.instance.mesh,
            self.number
        )
    }
}

impl Part<'_> {
    /// Adds the triangles of this primitive to the model.
    pub(super) fn read(
        &self,
        document: &Document,
        materials: &mut Materials<'_, '_>,
        builder: &mut Builder,
    ) -> Result<(), Fault> {
        // Limits instances without corners too.
        builder.expect_corners(MIN_CORNERS)?;
        let Checked::Valid(mode) = self.primitive.mode else {
            return Err(malformed(self, "a mode unknown to glTF"));
        };
        if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
            builder.warn(WarningKind::NotPolygons, self);
            return Ok(());
        }
        self.warn_of_unsupported_features(builder);
        let Some(positions) = self.attribute(document, Semantic::Positions, Type::Vec3)? else {
            builder.warn(WarningKind::NotPolygons, self);
            return Ok(());
        };
        let indices = self.indices(document)?;
        let count = indices.as_ref().map_or(positions.count, |indices| indices.count);
        // Strips and fans have three corners for each index but two.
        let corners = match mode {
            Mode::Triangles => count,
            _ => count.saturating_sub(2).saturating_mul(3),
        };
        let corners = corners.max(count).max(positions.count);
        builder.expect_corners(corners.saturating_sub(MIN_CORNERS))?;
        let (material, uv_set) = materials.number(document, self.primitive.material, builder)?;
        let part = builder.part(name_of(self.instance.name.as_bytes()), material)?;
        let vertices = self.vertices(document, (&positions, uv_set), builder)?;
        if mode == Mode::Triangles && count % 3 != 0 {
            builder.warn(WarningKind::TooFewCorners, self);
        }
        let is_mirror = self.instance.transform.is_mirror();
        for corners in triangles(mode, count) {
            let mut face =
                [FaceCorner { position: 0, uv: [0.0; 2], vertex: ModelVertex::default() }; 3];
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

    fn warn_of_unsupported_features(&self, builder: &mut Builder) {
        for (is_there, kind) in [
            (self.instance.has_skin, WarningKind::Skin),
            (
                self.primitive.targets.as_ref().is_some_and(|it| !it.is_empty()),
                WarningKind::MorphTargets,
            ),
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
            let problem = format!("accessor {} does not hold indices", indices.number);
            return Err(malformed(self, problem));
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
            let problem = format!("accessor {} has no type for {what:?}", elements.number);
            return Err(malformed(self, problem));
        }
        Ok(Some(elements))
    }

    /// Reads the vertex attributes. Each must have one element per position.
    fn vertices<'a>(
        &self,
        document: &'a Document,
        (positions, uv_set): (&Elements, u32),
        builder: &mut Builder,
    ) -> Result<Vertices<'a>, Fault> {
        let normals = self.attribute(document, Semantic::Normals, Type::Vec3)?;
        let uvs = self.attribute(document, Semantic::TexCoords(uv_set), Type::Vec2)?;
        let colors = self.colors(document)?;
        for other in [&normals, &uvs, &colors].into_iter().flatten() {
            if other.count != positions.count {
                let problem = format!(
                    "{} positions, but {} elements of accessor {}",
                    positions.count, other.count, other.number
                );
                return Err(malformed(self, problem));
            }
        }
        let welded = self.weld(positions, builder)?;
        let for_normals = self.instance.transform.for_normals();
        Ok(Vertices { welded, normals, uvs, colors, for_normals })
    }

    /// The colours, with or without opacity.
    fn colors<'a>(&self, document: &'a Document) -> Result<Option<Elements<'a>>, Fault> {
        let key = Checked::Valid(Semantic::Colors(0));
        let Some(index) = self.primitive.attributes.get(&key) else { return Ok(None) };
        let kind = document.root.accessors.get(index.value()).map(|it| &it.type_);
        let kind = match kind {
            Some(Checked::Valid(Type::Vec4)) => Type::Vec4,
            _ => Type::Vec3,
        };
        self.attribute(document, Semantic::Colors(0), kind)
    }

    /// Transforms and welds all positions.
    fn weld(&self, positions: &Elements, builder: &mut Builder) -> Result<Vec<u32>, Fault> {
        let mut welded = Vec::new();
        welded.try_reserve_exact(positions.count as usize).map_err(|_| no_memory("positions"))?;
        for index in 0..positions.count {
            let position = positions.get::<3>(index);
            if !position.iter().all(|number| number.is_finite()) {
                return Err(not_finite(positions, index));
            }
            let moved = self.instance.transform.point(position).map(|number| number as f32);
            if !moved.iter().all(|number| number.is_finite()) {
                let problem = format!("its transform moves position {index} beyond f32");
                return Err(malformed(self, problem));
            }
            welded.push(builder.weld(moved)?);
        }
        Ok(welded)
    }

    fn corner(
        &self,
        vertices: &Vertices,
        index: u64,
        builder: &mut Builder,
    ) -> Result<FaceCorner, Fault> {
        let Vertices { welded, normals, uvs, colors, for_normals } = vertices;
        let position = usize::try_from(index).ok().and_then(|index| welded.get(index));
        let Some(&position) = position else {
            return Err(malformed(self, format!("index {index} of {} positions", welded.len())));
        };
        let mut corner = FaceCorner { position, uv: [0.0; 2], vertex: ModelVertex::default() };
        if let Some(normals) = normals {
            let normal = builder.model.up.axis.to_y_up(for_normals.point(normals.get(index)));
            corner.vertex = ModelVertex::toward(normal);
            if corner.vertex.normal().is_none() {
                builder.warn(WarningKind::NoDirection, self);
            }
        }
        if let Some(colors) = colors {
            let [red, green, blue, opacity] = colors.get::<4>(index).map(|number| number as f32);
            let opacity = if colors.kind == Type::Vec3 { 1.0 } else { opacity };
            let [red, green, blue] = [red, green, blue].map(to_srgb);
            // NaN becomes black.
            corner.vertex = corner.vertex.with_color([red, green, blue, opacity].map(byte));
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
    let location = format!("accessor {}", elements.number);
    malformed(location, format!("element {index} is NaN or infinite"))
}

/// Corners of the triangles that `count` indices form, as positions in the list of indices. Empty
/// for modes that are no triangles.
fn triangles(mode: Mode, count: u64) -> impl Iterator<Item = [u64; 3]> {
    let triangles = match mode {
        Mode::Triangles => count / 3,
        Mode::TriangleStrip | Mode::TriangleFan => count.saturating_sub(2),
        _ => 0,
    };
    (0..triangles).map(move |n| match mode {
        // Every second triangle of a strip has the opposite winding.
        Mode::TriangleStrip => [n, n + 1 + n % 2, n + 2 - n % 2],
        Mode::TriangleFan => [n + 1, n + 2, 0],
        _ => [3 * n, 3 * n + 1, 3 * n + 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_of_each_mode() {
        let list = |mode, count| triangles(mode, count).collect::<Vec<_>>();
        assert_eq!(list(Mode::Triangles, 7), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(list(Mode::TriangleStrip, 5), [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
        assert_eq!(list(Mode::TriangleFan, 4), [[1, 2, 0], [2, 3, 0]]);
        for mode in [Mode::Triangles, Mode::TriangleStrip, Mode::TriangleFan] {
            assert!(list(mode, 2).is_empty());
        }
        assert!(list(Mode::LineStrip, 9).is_empty());
    }
}
