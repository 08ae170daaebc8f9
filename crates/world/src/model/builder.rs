use std::fmt;

use drystone_mesh::{CoordinateHandle, Corner, Error, VertexHandle};
use hashbrown::HashMap;

use super::fault::Fault;
use super::places::{Places, no_memory};
use super::{Model, ModelMaterial, ModelOptions, ModelPart, ModelVertex, WarningKind};

/// The most corners of one face. A concave one is cut into triangles in O(corners²) at the worst:
/// at this limit half a second for corners at random, a tenth for combs, stars and spirals.
pub(super) const MAX_FACE_CORNERS: usize = 1 << 14;
/// The most parts of a model: a part takes some hundred bytes, and a few in a file.
const MAX_PARTS: usize = 1 << 18;

/// Puts a model together face by face; what is equal is shared.
pub(super) struct Builder {
    pub(super) model: Model,
    pub(super) places: Places,
    max_corners: u64,
    corner_count: u64,
    /// Of each place, from the first face on that has it.
    coordinates: Vec<Option<CoordinateHandle>>,
    vertices: HashMap<VertexKey, VertexHandle>,
    parts: HashMap<(String, usize), usize>,
    /// The corners of the face in the making, without repeated ones, and as the store takes
    /// them.
    kept: Vec<FaceCorner>,
    corners: Vec<Corner<ModelVertex>>,
}

/// A corner of a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceCorner {
    /// The number of its place in [`Places`].
    pub(super) place: u32,
    /// Finite.
    pub(super) uv: [f32; 2],
    pub(super) vertex: ModelVertex,
}

/// What two corners have in common that share a vertex.
type VertexKey = (u32, [u32; 2], ModelVertex);

impl FaceCorner {
    fn key(&self) -> VertexKey {
        (self.place, self.uv.map(|number| (number + 0.0).to_bits()), self.vertex)
    }
}

impl Builder {
    pub(super) fn new(name: &str, options: &ModelOptions) -> Result<Self, Fault> {
        let tolerance = options.merge_tolerance;
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            let problem = format!("a tolerance of {tolerance} merges nothing");
            return Err(Fault::with_advice("options", problem, "give 0 or a positive number"));
        }
        Ok(Self {
            model: Model { name: name.into(), ..Model::default() },
            places: Places::new(tolerance),
            max_corners: options.max_corners,
            corner_count: 0,
            coordinates: Vec::new(),
            vertices: HashMap::new(),
            parts: HashMap::new(),
            kept: Vec::new(),
            corners: Vec::new(),
        })
    }

    /// A new material, by its number.
    pub(super) fn add_material(&mut self, name: String, color: [u8; 4]) -> usize {
        self.model.materials.push(ModelMaterial { name, color });
        self.model.materials.len() - 1
    }

    /// The part of this name and material, made for the first that asks.
    pub(super) fn part(&mut self, name: String, material: usize) -> Result<usize, Fault> {
        let key = (name, material);
        if let Some(&part) = self.parts.get(&key) {
            return Ok(part);
        }
        let part = self.model.parts.len();
        if part == MAX_PARTS {
            let (found, limit) = (MAX_PARTS as u64 + 1, MAX_PARTS as u64);
            return Err(Fault::TooLarge { found, limit, unit: "parts" });
        }
        let name = key.0.clone();
        self.parts.insert(key, part);
        self.model.parts.push(ModelPart { name, material, polygons: Vec::new() });
        Ok(part)
    }

    /// Counts corners that are to come, before any memory is spent on them.
    pub(super) fn expect_corners(&mut self, count: u64) -> Result<(), Fault> {
        self.corner_count = self.corner_count.saturating_add(count);
        match self.corner_count <= self.max_corners {
            true => Ok(()),
            false => Err(Fault::TooLarge {
                found: self.corner_count,
                limit: self.max_corners,
                unit: "corners of faces",
            }),
        }
    }

    /// Adds a face to a part, or counts why it is left out. Its corners are expected
    /// already.
    pub(super) fn add_face(
        &mut self,
        part: usize,
        corners: &[FaceCorner],
        place: impl fmt::Display,
    ) -> Result<(), Fault> {
        self.keep_different(corners, &place);
        if self.kept.len() < 3 {
            self.warn(WarningKind::TooFewCorners, place);
            return Ok(());
        }
        self.corners.clear();
        for corner in &self.kept {
            self.corners.push(self.corner_for_store(corner));
        }
        match self.model.polygons.insert(&self.corners) {
            Ok(polygon) => {
                if let Some(part) = self.model.parts.get_mut(part) {
                    part.polygons.try_reserve(1).map_err(|_| no_memory())?;
                    part.polygons.push(polygon);
                }
                self.remember(polygon)
            }
            Err(Error::RepeatedCorner { .. }) => {
                self.warn(WarningKind::TouchesItself, place);
                Ok(())
            }
            Err(error) => Err(Fault::new(place, error.to_string())),
        }
    }

    pub(super) fn warn(&mut self, kind: WarningKind, place: impl fmt::Display) {
        self.model.warnings.add(kind, || place.to_string());
    }

    /// The model, without parts that got no face.
    pub(super) fn finish(mut self) -> Result<Model, Fault> {
        self.model.parts.retain(|part| !part.polygons.is_empty());
        if self.model.polygons.is_empty() {
            let problem = "there is no polygon in it that can be shown";
            let advice = "check that it is a polygon model, and export faces, not lines";
            return Err(Fault::with_advice("the whole file", problem, advice));
        }
        Ok(self.model)
    }

    /// Keeps the corners that are not where the one before is.
    fn keep_different(&mut self, corners: &[FaceCorner], place: &impl fmt::Display) {
        self.kept.clear();
        for &corner in corners {
            if self.kept.last().is_none_or(|last| last.place != corner.place) {
                self.kept.push(corner);
            }
        }
        while let [first, .., last] = self.kept[..]
            && first.place == last.place
        {
            self.kept.pop();
        }
        for _ in self.kept.len()..corners.len() {
            self.warn(WarningKind::RepeatedCorner, place);
        }
    }

    fn corner_for_store(&self, corner: &FaceCorner) -> Corner<ModelVertex> {
        if let Some(&vertex) = self.vertices.get(&corner.key()) {
            return Corner::Shared(vertex);
        }
        let (uv, data) = (corner.uv, corner.vertex);
        match self.coordinates.get(corner.place as usize) {
            Some(&Some(coordinate)) => Corner::At { coordinate, uv, data },
            _ => Corner::New { position: self.places.position(corner.place), uv, data },
        }
    }

    /// Remembers the vertices and coordinates of a new polygon, for those that follow.
    fn remember(&mut self, polygon: drystone_mesh::PolygonHandle) -> Result<(), Fault> {
        let Self { kept, corners, vertices, coordinates, model, .. } = self;
        vertices.try_reserve(kept.len()).map_err(|_| no_memory())?;
        let Ok(made) = model.polygons.corners(polygon) else { return Ok(()) };
        for ((corner, given), made) in kept.iter().zip(corners).zip(made) {
            if matches!(given, Corner::Shared(_)) {
                continue;
            }
            if let Some(vertex) = made.vertex() {
                vertices.insert(corner.key(), vertex);
            }
            let place = corner.place as usize;
            if place >= coordinates.len() {
                let more = place + 1 - coordinates.len();
                coordinates.try_reserve(more).map_err(|_| no_memory())?;
                coordinates.resize(place + 1, None);
            }
            coordinates[place] = made.coordinate();
        }
        Ok(())
    }
}
