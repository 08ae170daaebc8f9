use std::path::Path;

use drystone_mesh::{PolygonHandle, PolygonStats, PolygonStore};

use crate::WorldError;

mod bounds;
mod builder;
mod fault;
mod files;
mod gltf;
mod obj;
mod options;
mod places;
mod vertex;
mod warning;

pub use bounds::ModelBounds;
pub use files::ReadBeside;
pub use options::ModelOptions;
pub use vertex::ModelVertex;
pub use warning::{ModelWarning, WarningKind, Warnings};

/// A model of polygons: what an `.obj`, `.gltf` or `.glb` file holds.
///
/// ```text
///  parts ──► polygons ──► vertices ──► coordinates      each kept once, counted
///    └► materials         uv, normal   position
/// ```
/// Y is up and coordinates are right-handed; a front face is seen counter-clockwise. The
/// unit is the file's, and numbers are `f32`, in the model's own space.
///
/// The model is the one owner of each polygon. Whoever removes some takes them out of their
/// part too; temporaries ([`PolygonStore::clip`]) are in no part.
#[derive(Debug, Default)]
pub struct Model {
    /// A name to show: the file's.
    pub name: String,
    /// The polygons of all parts.
    pub polygons: PolygonStore<ModelVertex>,
    /// What belongs together: polygons of one name and one material.
    pub parts: Vec<ModelPart>,
    /// The materials that parts number.
    pub materials: Vec<ModelMaterial>,
    /// What the file has and the model has not.
    pub warnings: Warnings,
}

/// Polygons of one name and one material.
#[derive(Clone, Debug, Default)]
pub struct ModelPart {
    /// The object and group of an `.obj`, the node of a glTF file; may be empty. Names
    /// longer than 255 bytes are cut.
    pub name: String,
    /// Which of the model's materials.
    pub material: usize,
    /// In the order of the file.
    pub polygons: Vec<PolygonHandle>,
}

/// What polygons are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelMaterial {
    /// Its name in the file; may be empty. Names longer than 255 bytes are cut.
    pub name: String,
    /// Red, green, blue and opacity, as shown on screen.
    pub color: [u8; 4],
}

impl ModelMaterial {
    /// What polygons have that name no material: light grey.
    pub const DEFAULT_COLOR: [u8; 4] = [204, 204, 204, 255];
}

impl Model {
    /// Whether a file's name is that of a polygon model: ends in `.obj`, `.gltf` or `.glb`,
    /// in any case.
    pub fn is_model(path: &Path) -> bool {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        ["obj", "gltf", "glb"].iter().any(|known| extension == *known)
    }

    /// Reads a file, and the files that it names: materials of an `.obj`, buffers of a glTF
    /// file.
    ///
    /// Those files must lie in the folder of the model or below it, and be plain files. A name
    /// is refused if it is absolute, begins with a drive or the scheme of an address, contains
    /// `..`, a colon or a control character, or is that of a device on Windows. Percent escapes
    /// of glTF are decoded before that check. Names that are refused are counted as
    /// [`WarningKind::OutsideFolder`]. Symbolic links are followed, wherever they lead: the
    /// owner of the folder made them, not the author of the model.
    ///
    /// # Errors
    /// A file that cannot be read, is no polygon model, is too large or damaged. The message
    /// names the file, the place in it and what to do.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self, WorldError> {
        if !Self::is_model(path) {
            let found = "a name of no polygon model".into();
            return Err(WorldError::Unsupported { path: path.into(), found });
        }
        let bytes = files::read(path, options.max_file_bytes)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut beside = |name: &str, limit: u64| files::read(&folder.join(name), limit);
        let name = path.display().to_string();
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("obj")) {
            true => Self::parse_obj(&bytes, &name, options, &mut beside),
            false => Self::parse_gltf(&bytes, &name, options, &mut beside),
        }
    }

    /// Reads the bytes of a Wavefront `.obj` file; `name` stands in messages. `beside` gives
    /// the bytes of the `.mtl` files that it names in its folder ([`open`](Self::open) says
    /// which names are refused), at most as many as it is told; one that it gives as [`WorldError::Unreadable`] or [`WorldError::Unsupported`] is counted as missing.
    ///
    /// Faces keep all of their corners, numbers may be negative, and what a statement goes
    /// on with in the next line belongs to it. Objects, groups and materials make parts.
    /// Positive numbers may name what comes later in the file. Texture coordinates and
    /// normals may be missing; colours are those of `Kd`, taken as shown on screen, with
    /// the opacity of `d` or `Tr`.
    ///
    /// What readers of `.obj` leave out is left out and counted in [`Model::warnings`]:
    /// corners that repeat the one before, faces with fewer than three corners left or that
    /// touch themselves, points, lines and curves, statements that nobody knows, missing
    /// materials. Everything else that is wrong is an error: numbers that are none, NaN or
    /// infinite, and those that name nothing.
    ///
    /// # Cost
    /// O(bytes). The file is gone through twice: for its numbers and for its faces.
    ///
    /// # Errors
    /// `BadModel` with the line, also of a `.mtl` file; `TooLarge`; what `beside` says.
    ///
    /// # Limits
    /// 2¹⁴ corners a face, 256 files of materials; and those of the options.
    ///
    /// # Examples
    /// ```
    /// use drystone_world::{Model, ModelOptions, WorldError};
    ///
    /// let text = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\n\
    ///              f 1 2 3 4\nf 2 5 6 3\n";
    /// let mut nothing = |name: &str, _| {
    ///     Err(WorldError::Unsupported { path: name.into(), found: "nothing".into() })
    /// };
    /// let model = Model::parse_obj(text, "two.obj", &ModelOptions::default(), &mut nothing)?;
    /// let stats = model.polygons.stats();
    /// assert_eq!((stats.polygons, stats.corners, stats.coordinates), (2, 8, 6));
    ///
    /// let error = Model::parse_obj(b"f 1 2 9", "cut.obj", &ModelOptions::default(), &mut nothing);
    /// assert!(error.is_err_and(|e| e.to_string().starts_with("cut.obj: line 1: ")));
    /// # Ok::<(), WorldError>(())
    /// ```
    pub fn parse_obj(
        bytes: &[u8],
        name: &str,
        options: &ModelOptions,
        beside: &mut ReadBeside,
    ) -> Result<Self, WorldError> {
        let left_bytes = options.max_file_bytes.saturating_sub(bytes.len() as u64);
        let beside = files::Beside::new(beside, left_bytes);
        obj::parse(bytes, name, options, beside).map_err(|fault| fault.in_file(name))
    }

    /// Reads the bytes of a glTF 2.0 file, as text (`.gltf`) or binary (`.glb`), told apart
    /// by their beginning; `name` stands in messages. `beside` gives the bytes of the
    /// buffers that it names in its folder ([`open`](Self::open) says which names are refused),
    /// at most as many as it is told.
    ///
    /// The first scene that there is, or the one that the file names, is put together as
    /// its nodes say: mirrored parts keep their front. Triangles, strips and fans, indexed or
    /// not, sparse accessors and quantised numbers are read; colours are base colours, as
    /// shown on screen, with their opacity where the material blends. Coordinates are those
    /// of the scene, after the nodes' transforms. Left out and counted in
    /// [`Model::warnings`]: what is no triangle or names a place twice, bones and morph targets (the
    /// mesh stands as it was made), textures, vertices' own colours.
    ///
    /// # Cost
    /// O(bytes), and O(vertices) for each time that a mesh is shown.
    ///
    /// # Errors
    /// `BadModel` with the part of the file; an extension that the file requires and that
    /// is not known, by its name; `TooLarge`; what `beside` says.
    ///
    /// # Limits
    /// 2²⁰ objects and 2²² values in the
    /// JSON; and those of the options.
    ///
    /// # Examples
    /// ```
    /// use drystone_world::{Model, ModelOptions, WorldError};
    ///
    /// // Three corners of 32-bit floats: 0 0 0, 1 0 0, 0 1 0.
    /// let text = br#"{"asset": {"version": "2.0"},
    ///   "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],
    ///   "bufferViews": [{"buffer": 0, "byteLength": 36}],
    ///   "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
    ///   "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    ///   "nodes": [{"name": "flag", "mesh": 0, "scale": [2, 2, 2]}]}"#;
    /// let mut nothing = |name: &str, _| {
    ///     Err(WorldError::Unsupported { path: name.into(), found: "nothing".into() })
    /// };
    /// let model = Model::parse_gltf(text, "flag.gltf", &ModelOptions::default(), &mut nothing)?;
    /// assert_eq!((model.triangle_count(), model.parts[0].name.as_str()), (1, "flag"));
    /// assert_eq!(model.bounds().unwrap().max, [2.0, 2.0, 0.0]);
    /// # Ok::<(), WorldError>(())
    /// ```
    pub fn parse_gltf(
        bytes: &[u8],
        name: &str,
        options: &ModelOptions,
        beside: &mut ReadBeside,
    ) -> Result<Self, WorldError> {
        let left_bytes = options.max_file_bytes.saturating_sub(bytes.len() as u64);
        let beside = files::Beside::new(beside, left_bytes);
        gltf::parse(bytes, name, options, beside).map_err(|fault| fault.in_file(name))
    }

    /// How many triangles the parts' polygons are cut into when they are drawn: two less
    /// than corners each.
    ///
    /// # Cost
    /// O(1). It counts temporaries of the store as well.
    pub fn triangle_count(&self) -> u64 {
        let PolygonStats { corners, polygons, .. } = self.polygons.stats();
        corners.saturating_sub(2 * u64::from(polygons))
    }

    /// Bytes of polygons, vertices and coordinates as they are, divided by the bytes that
    /// they would take if each corner had a vertex and a coordinate of its own
    /// ([`PolygonStats::bytes`], [`PolygonStats::unshared_bytes`]): 1 where nothing is
    /// shared, about a third for a closed surface of quads. 1 for an empty model.
    ///
    /// It may be more than 1, and is always less than 2, after polygons were removed: of one
    /// that made a coordinate which vertices of others are at, the record stays as long as
    /// those do, without a vertex of its own.
    ///
    /// # Cost
    /// O(1).
    pub fn sharing_ratio(&self) -> f64 {
        let PolygonStats { bytes, unshared_bytes, .. } = self.polygons.stats();
        if unshared_bytes == 0 { 1.0 } else { bytes as f64 / unshared_bytes as f64 }
    }

    /// The smallest box, parallel to the axes, around the parts' polygons; `None` where
    /// there are none.
    ///
    /// # Cost
    /// O(corners).
    pub fn bounds(&self) -> Option<ModelBounds> {
        let polygons = self.parts.iter().flat_map(|part| &part.polygons);
        let corners = polygons.filter_map(|&polygon| self.polygons.corners(polygon).ok()).flatten();
        ModelBounds::around(corners.map(|corner| corner.position()))
    }
}

#[cfg(test)]
mod tests {
    use drystone_mesh::Corner;

    use super::*;

    #[test]
    fn removing_the_makers_of_coordinates_leaves_more_than_is_unshared() {
        let mut model = Model::default();
        let data = ModelVertex::default();
        let corners = [[0.0; 3], [2.0, 0.0, 0.0], [2.0, 3.0, 0.0]].map(|position| Corner::New {
            position,
            uv: [0.0; 2],
            data,
        });
        let maker = model.polygons.insert(&corners).unwrap();
        let coordinates = model.polygons.corners(maker).unwrap();
        let seams: Vec<_> = coordinates
            .map(|it| Corner::At { coordinate: it.coordinate().unwrap(), uv: [0.5; 2], data })
            .collect();
        let other = model.polygons.insert(&seams).unwrap();
        assert!(model.sharing_ratio() < 1.0, "{}", model.sharing_ratio());
        model.polygons.remove(maker).unwrap();
        let ratio = model.sharing_ratio();
        assert!(ratio > 1.0 && ratio < 2.0, "{ratio}");
        model.polygons.remove(other).unwrap();
        assert_eq!(model.sharing_ratio(), 1.0);
    }

    #[test]
    fn figures_of_a_model_made_by_hand() {
        let mut model = Model::default();
        assert_eq!((model.triangle_count(), model.sharing_ratio()), (0, 1.0));
        assert_eq!(model.bounds(), None);
        let data = ModelVertex::default();
        let corners = [[0.0, 0.0, 5.0], [2.0, 0.0, 5.0], [2.0, 3.0, 5.0], [0.0, 3.0, -5.0]]
            .map(|position| Corner::New { position, uv: [0.0; 2], data });
        let quad = model.polygons.insert(&corners).unwrap();
        model.parts.push(ModelPart { polygons: vec![quad], ..ModelPart::default() });
        assert_eq!((model.triangle_count(), model.sharing_ratio()), (2, 1.0));
        let bounds = model.bounds().unwrap();
        assert_eq!((bounds.min, bounds.max), ([0.0, 0.0, -5.0], [2.0, 3.0, 5.0]));
    }
}
