use std::fmt;

use drystone_mesh::{CoordinateHandle, Corner, Error, VertexHandle};
use hashbrown::HashMap;

use super::fault::{SPLIT, malformed};
#[cfg(any(feature = "gltf", feature = "obj"))]
use super::texture::Images;
use super::weld::{VertexWelder, no_memory};
use super::{Model, ModelMaterial, ModelOptions, ModelPart, ModelUp, ModelVertex, WarningKind};
use crate::fault::Fault;

/// Maximum number of corners of a face. Triangulating a concave face takes O(corners²) in the worst
/// case: at this limit half a second for random corners, and a tenth for combs, stars and spirals.
pub(super) const MAX_FACE_CORNERS: usize = 1 << 14;
/// Maximum number of parts. A part takes a few bytes in a file, but some hundred bytes in memory.
const MAX_PARTS: usize = 1 << 18;

/// Builds a model face by face, and shares equal vertices.
pub(super) struct Builder {
    pub(super) model: Model,
    pub(super) welder: VertexWelder,
    /// The sources of the model's images, and their limits.
    #[cfg(any(feature = "gltf", feature = "obj"))]
    images: Images,
    max_corners: u64,
    corner_count: u64,
    /// Coordinate of each welded position, once a face uses it.
    coordinates: Vec<Option<CoordinateHandle>>,
    vertices: HashMap<VertexKey, VertexHandle>,
    parts: HashMap<(String, usize), usize>,
    /// Corners of the current face without repeated ones, and in the form for the store.
    kept: Vec<FaceCorner>,
    corners: Vec<Corner<ModelVertex>>,
}

/// A corner of a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceCorner {
    /// Index of the position in [`VertexWelder`].
    pub(super) position: u32,
    /// Texture coordinates, always finite.
    pub(super) uv: [f32; 2],
    pub(super) vertex: ModelVertex,
}

/// Key of a vertex. Corners with equal keys share one vertex.
type VertexKey = (u32, [u32; 2], ModelVertex);

impl FaceCorner {
    fn key(&self) -> VertexKey {
        (self.position, self.uv.map(|number| (number + 0.0).to_bits()), self.vertex)
    }
}

impl Builder {
    pub(super) fn new(name: &str, options: &ModelOptions, up: ModelUp) -> Result<Self, Fault> {
        let tolerance = options.merge_tolerance;
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            let problem = format!("a merge tolerance of {tolerance}");
            return Err(Fault::new("options", problem, "give 0 or a positive number"));
        }
        Ok(Self {
            model: Model { name: name.into(), up, ..Model::default() },
            welder: VertexWelder::new(tolerance),
            #[cfg(any(feature = "gltf", feature = "obj"))]
            images: Images::new(options.max_texture_bytes),
            max_corners: options.max_corners,
            corner_count: 0,
            coordinates: Vec::new(),
            vertices: HashMap::new(),
            parts: HashMap::new(),
            kept: Vec::new(),
            corners: Vec::new(),
        })
    }

    /// Turns a position of the file so that Y is up, and returns its index in the welder.
    pub(super) fn weld(&mut self, position: [f32; 3]) -> Result<u32, Fault> {
        self.welder.weld(self.model.up.axis.to_y_up(position))
    }

    /// Adds a material and returns its index.
    pub(super) fn add_material(&mut self, material: ModelMaterial) -> usize {
        self.model.materials.push(material);
        self.model.materials.len() - 1
    }

    /// The index of the image with this key. Reads and decodes it on first use; `None` if it is not
    /// shown, which is counted.
    #[cfg(any(feature = "gltf", feature = "obj"))]
    pub(super) fn image<'b>(
        &mut self,
        key: String,
        location: impl fmt::Display,
        read: impl FnOnce() -> Result<std::borrow::Cow<'b, [u8]>, WarningKind>,
    ) -> Option<usize> {
        if let Some(known) = self.images.known(&key) {
            return known;
        }
        let decoded = match read() {
            Ok(bytes) => self.images.decode(&bytes),
            Err(kind) => Err((kind, "")),
        };
        let image = match decoded {
            Ok(decoded) => {
                if decoded.is_scaled {
                    self.warn(WarningKind::ScaledTexture, location);
                }
                Some(self.add_image(decoded.image))
            }
            Err((kind, format)) => {
                let separator = if format.is_empty() { "" } else { ": " };
                self.warn(kind, format_args!("{location}{separator}{format}"));
                None
            }
        };
        self.images.set_known(key, image);
        image
    }

    /// Adds an image that was made from others, and returns its index; `None` if it exceeds the
    /// limit, which is counted.
    #[cfg(feature = "obj")]
    pub(super) fn derive_image(
        &mut self,
        size: [u32; 2],
        location: impl fmt::Display,
        image: impl FnOnce() -> super::ModelImage,
    ) -> Option<usize> {
        if !self.images.reserve(size) {
            self.warn(WarningKind::LargeTexture, location);
            return None;
        }
        Some(self.add_image(image()))
    }

    /// Adds an image and returns its index.
    #[cfg(any(feature = "gltf", feature = "obj"))]
    fn add_image(&mut self, image: super::ModelImage) -> usize {
        self.model.images.push(image);
        self.model.images.len() - 1
    }

    /// The index of the part with this name and material. Created on first use.
    pub(super) fn part(&mut self, name: String, material: usize) -> Result<usize, Fault> {
        let key = (name, material);
        if let Some(&part) = self.parts.get(&key) {
            return Ok(part);
        }
        let part = self.model.parts.len();
        if part == MAX_PARTS {
            let (found, limit) = (MAX_PARTS as u64 + 1, MAX_PARTS as u64);
            return Err(Fault::TooLarge { found, limit, unit: "parts", advice: SPLIT });
        }
        let name = key.0.clone();
        self.parts.insert(key, part);
        self.model.parts.push(ModelPart { name, material, polygons: Vec::new() });
        Ok(part)
    }

    /// Adds to the number of corners and checks the limit, before memory is allocated for them.
    pub(super) fn expect_corners(&mut self, count: u64) -> Result<(), Fault> {
        self.corner_count = self.corner_count.saturating_add(count);
        match self.corner_count <= self.max_corners {
            true => Ok(()),
            false => Err(Fault::TooLarge {
                found: self.corner_count,
                limit: self.max_corners,
                unit: "corners of faces",
                advice: SPLIT,
            }),
        }
    }

    /// Adds a face to a part, or counts why it is skipped. The caller has counted its corners with
    /// [`expect_corners`](Self::expect_corners).
    pub(super) fn add_face(
        &mut self,
        part: usize,
        corners: &[FaceCorner],
        location: impl fmt::Display,
    ) -> Result<(), Fault> {
        self.keep_distinct(corners, &location);
        if self.kept.len() < 3 {
            self.warn(WarningKind::TooFewCorners, location);
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
                self.warn(WarningKind::TouchesItself, location);
                Ok(())
            }
            Err(error) => Err(malformed(location, error.to_string())),
        }
    }

    pub(super) fn warn(&mut self, kind: WarningKind, location: impl fmt::Display) {
        self.model.warnings.add(kind, || location.to_string());
    }

    /// The model, without parts that have no faces.
    pub(super) fn finish(mut self) -> Result<Model, Fault> {
        self.model.parts.retain(|part| !part.polygons.is_empty());
        self.model.drop_unused_images();
        if self.model.polygons.is_empty() {
            let problem = "it has no polygons that can be shown";
            let advice = "check that it is a polygon model, and export faces, not lines";
            return Err(Fault::new("the whole file", problem, advice));
        }
        Ok(self.model)
    }

    /// Keeps the corners whose position differs from the previous one's.
    fn keep_distinct(&mut self, corners: &[FaceCorner], location: &impl fmt::Display) {
        self.kept.clear();
        for &corner in corners {
            if self.kept.last().is_none_or(|last| last.position != corner.position) {
                self.kept.push(corner);
            }
        }
        while let [first, .., last] = self.kept[..]
            && first.position == last.position
        {
            self.kept.pop();
        }
        for _ in self.kept.len()..corners.len() {
            self.warn(WarningKind::RepeatedCorner, location);
        }
    }

    fn corner_for_store(&self, corner: &FaceCorner) -> Corner<ModelVertex> {
        if let Some(&vertex) = self.vertices.get(&corner.key()) {
            return Corner::Shared(vertex);
        }
        let (uv, data) = (corner.uv, corner.vertex);
        match self.coordinates.get(corner.position as usize) {
            Some(&Some(coordinate)) => Corner::At { coordinate, uv, data },
            _ => Corner::New { position: self.welder.position(corner.position), uv, data },
        }
    }

    /// Stores the vertices and coordinates of a new polygon, so that later faces can share them.
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
            let position = corner.position as usize;
            if position >= coordinates.len() {
                let more = position + 1 - coordinates.len();
                coordinates.try_reserve(more).map_err(|_| no_memory())?;
                coordinates.resize(position + 1, None);
            }
            coordinates[position] = made.coordinate();
        }
        Ok(())
    }
}
