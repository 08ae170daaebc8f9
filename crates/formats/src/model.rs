use std::path::Path;

use drystone_mesh::{PolygonHandle, PolygonStats, PolygonStore};

use crate::error::SourceError;
use crate::file::read_file;
#[cfg(any(feature = "gltf", feature = "obj"))]
use crate::format::Format;

mod builder;
mod fault;
mod files;
#[cfg(feature = "gltf")]
mod gltf;
mod material;
#[cfg(feature = "obj")]
mod obj;
mod options;
#[cfg(any(feature = "gltf", feature = "obj"))]
mod texture;
mod up;
mod vertex;
mod warning;
mod weld;

pub use files::ReadNamedFile;
pub use material::{AlphaMode, ModelImage, ModelMaterial, ModelTexture, Wrap};
pub use options::ModelOptions;
pub use up::{ModelUp, UpReason};
pub use vertex::ModelVertex;
pub use warning::{ModelWarning, WarningKind, Warnings};

/// A polygon model from an `.obj`, `.gltf` or `.glb` file.
///
/// ```text
///  parts ──► polygons ──► vertices ──► coordinates      each stored once, with a use count
///    └► materials         uv, normal   position
/// ```
/// Y is up and coordinates are right-handed. Front faces are counter-clockwise. Positions are
/// `f32`, in the file's unit and the model's own space. A model with Z up is turned when it is read;
/// see [`ModelOptions::up`].
///
/// Each polygon belongs to exactly one part. A caller that removes polygons must also remove them
/// from their part. Temporary polygons ([`PolygonStore::clip`]) belong to no part.
#[derive(Debug, Default)]
pub struct Model {
    /// Display name: the file's name.
    pub name: String,
    /// The polygons of all parts.
    pub polygons: PolygonStore<ModelVertex>,
    /// Groups of polygons with the same name and material.
    pub parts: Vec<ModelPart>,
    /// The materials, indexed by [`ModelPart::material`].
    pub materials: Vec<ModelMaterial>,
    /// The images, indexed by [`ModelTexture::image`].
    pub images: Vec<ModelImage>,
    /// Axis that points up in the file.
    pub up: ModelUp,
    /// Features of the file that the model does not have.
    pub warnings: Warnings,
}

/// Polygons with the same name and material.
#[derive(Clone, Debug, Default)]
pub struct ModelPart {
    /// Object and group of an `.obj` file, or node of a glTF file. May be empty. Names are cut to
    /// 255 bytes.
    pub name: String,
    /// Index into the model's materials.
    pub material: usize,
    /// The polygons, in file order.
    pub polygons: Vec<PolygonHandle>,
}

impl Model {
    /// Reads a model file, and the files that it names: materials of an `.obj` file, buffers of a
    /// glTF file, and textures.
    ///
    /// Named files must be plain files in the model's folder or below it. A name is refused if it
    /// is absolute, begins with a drive or URL scheme, or contains `..`, a colon or a control
    /// character. Names of Windows devices are refused too. Percent escapes in glTF are decoded
    /// before the check. Refused names are counted as [`WarningKind::OutsideFolder`]. Symbolic
    /// links are followed, even to other folders: the owner of the folder created them, not the
    /// author of the model.
    ///
    /// # Errors
    /// A file that cannot be read, is no polygon model, is too large or damaged. The message names
    /// the file, the location in it, and what to do.
    pub fn open(path: &Path, options: &ModelOptions) -> Result<Self, SourceError> {
        if !Self::is_model(path) {
            let found = "its name does not end in .obj, .gltf or .glb".into();
            return Err(SourceError::Unsupported { path: path.into(), found });
        }
        let read = |path: &Path, limit| read_file(path, b"", "a model", limit, fault::SPLIT);
        let bytes = read(path, options.max_file_bytes)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut read_file = |name: &str, limit: u64| read(&folder.join(name), limit);
        Self::parse_any(&bytes, &path.display().to_string(), options, &mut read_file)
    }

    /// Whether the path has an extension of a polygon model: `.obj`, `.gltf` or `.glb`, in any
    /// case.
    pub fn is_model(path: &Path) -> bool {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        ["obj", "gltf", "glb"].iter().any(|known| extension == *known)
    }

    /// Parses the bytes of a model file without the files that it names, which count as missing.
    /// The extension of `name` selects the format.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn parse(bytes: &[u8], name: &str, options: &ModelOptions) -> Result<Self, SourceError> {
        let mut missing = |file: &str, _| {
            let problem = std::io::ErrorKind::NotFound.into();
            Err(SourceError::Unreadable { path: file.into(), problem })
        };
        Self::parse_any(bytes, name, options, &mut missing)
    }

    fn parse_any(
        bytes: &[u8],
        name: &str,
        options: &ModelOptions,
        read_file: &mut ReadNamedFile,
    ) -> Result<Self, SourceError> {
        let extension = Path::new(name).extension();
        match extension.is_some_and(|extension| extension.eq_ignore_ascii_case("obj")) {
            #[cfg(feature = "obj")]
            true => Self::parse_obj(bytes, name, options, read_file),
            #[cfg(feature = "gltf")]
            false => Self::parse_gltf(bytes, name, options, read_file),
            #[cfg(not(all(feature = "gltf", feature = "obj")))]
            _ => {
                let _ = (bytes, options, read_file);
                let found = "a polygon model, whose format is not part of this build".into();
                Err(SourceError::Unsupported { path: name.into(), found })
            }
        }
    }

    /// Parses a Wavefront `.obj` file. `name` is used in messages.
    ///
    /// `read_file` reads the files that the model names, with a limit in bytes.
    /// [`open`](Self::open) lists the names that are refused. A file for which `read_file` returns
    /// [`SourceError::Unreadable`] or [`SourceError::Unsupported`] is counted as missing.
    ///
    /// Faces keep all of their corners. Numbers may be negative, which count back, and positive
    /// numbers may refer to later lines. A backslash continues a statement on the next line.
    /// Objects, groups and materials form parts. Texture coordinates and normals are optional.
    /// Colours are those of `Kd` and of vertices, taken as sRGB, with the opacity of `d` or `Tr`.
    /// Textures are those of `map_Kd`, `map_d` and `map_Ke` with their options `-o`, `-s` and
    /// `-clamp`; names are relative to the material file. The opacity of `map_d` is that of its
    /// image if it has one, else its brightness. It is blended, or cuts out if few of its texels
    /// are neither clear nor opaque. `s` sets smoothing groups.
    ///
    /// The following is skipped and counted in [`Model::warnings`], as most readers do: corners
    /// that repeat the previous one, faces with fewer than three remaining corners or that touch
    /// themselves, points, lines and curves, unknown statements, missing materials, and textures
    /// that are missing, damaged, too large or in another format than PNG, JPEG and WebP. Invalid,
    /// NaN and infinite numbers and numbers out of range are errors.
    ///
    /// # Cost
    /// O(bytes). Parses the file twice: once for positions, normals and texture coordinates, once
    /// for faces.
    ///
    /// # Errors
    /// `Malformed` with the line, also for a `.mtl` file; `TooLarge`; errors of `read_file`.
    ///
    /// # Limits
    /// 2¹⁴ corners per face, 256 material files, and the limits of `options`.
    ///
    /// # Examples
    /// ```
    /// use drystone_formats::{Model, ModelOptions, SourceError};
    ///
    /// let text = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\n\
    ///              f 1 2 3 4\nf 2 5 6 3\n";
    /// let mut nothing = |name: &str, _| {
    ///     Err(SourceError::Unsupported { path: name.into(), found: "nothing".into() })
    /// };
    /// let model = Model::parse_obj(text, "two.obj", &ModelOptions::default(), &mut nothing)?;
    /// let stats = model.polygons.stats();
    /// assert_eq!((stats.polygons, stats.corners, stats.coordinates), (2, 8, 6));
    ///
    /// let error = Model::parse_obj(b"f 1 2 9", "cut.obj", &ModelOptions::default(), &mut nothing);
    /// assert!(error.is_err_and(|e| e.to_string().starts_with("cut.obj: line 1: ")));
    /// # Ok::<(), SourceError>(())
    /// ```
    #[cfg(feature = "obj")]
    pub fn parse_obj(
        bytes: &[u8],
        name: &str,
        options: &ModelOptions,
        read_file: &mut ReadNamedFile,
    ) -> Result<Self, SourceError> {
        let left_bytes = options.max_file_bytes.saturating_sub(bytes.len() as u64);
        let named_files = files::NamedFiles::new(read_file, left_bytes);
        obj::parse(bytes, name, options, named_files)
            .map_err(|fault| fault.in_file(Format::Model, name))
    }

    /// Parses a glTF 2.0 file, as text (`.gltf`) or binary (`.glb`); the first bytes distinguish
    /// them. `name` is used in messages.
    ///
    /// `read_file` reads the buffers and textures that the model names, with a limit in bytes.
    /// [`open`](Self::open) lists the names that are refused.
    ///
    /// Reads the scene that the file names, or else the first one, and applies the transforms of
    /// its nodes. Mirrored parts keep their front. Supports triangles, strips and fans, with and
    /// without indices, sparse accessors and quantised attributes. Coordinates are in scene space.
    ///
    /// Materials have base colours and emitted light with their textures, alpha modes, colours of
    /// vertices, and `KHR_materials_unlit`; textures have wrap modes and `KHR_texture_transform`.
    /// Factors are converted to sRGB and multiplied there, as everywhere in the renderers.
    ///
    /// The following is skipped and counted in [`Model::warnings`]: primitives that are no
    /// triangles, triangles with two equal positions, skins and morph targets (meshes keep their
    /// base shape), emissive textures with other texture coordinates than the base texture, and
    /// textures that are missing, damaged, too large or in another format than PNG, JPEG and WebP.
    ///
    /// # Cost
    /// O(bytes), and O(vertices) for each instance of a mesh.
    ///
    /// # Errors
    /// `Malformed` with the part of the file, or with the name of a required extension that is not
    /// supported; `TooLarge`; errors of `read_file`.
    ///
    /// # Limits
    /// 2²⁰ objects and 2²² values in the JSON, and the limits of `options`.
    ///
    /// # Examples
    /// ```
    /// use drystone_formats::{Model, ModelOptions, SourceError};
    ///
    /// // Three corners of 32-bit floats: 0 0 0, 1 0 0, 0 1 0.
    /// let text = br#"{"asset": {"version": "2.0"},
    ///   "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],
    ///   "bufferViews": [{"buffer": 0, "byteLength": 36}],
    ///   "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
    ///   "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    ///   "nodes": [{"name": "flag", "mesh": 0, "scale": [2, 2, 2]}]}"#;
    /// let mut nothing = |name: &str, _| {
    ///     Err(SourceError::Unsupported { path: name.into(), found: "nothing".into() })
    /// };
    /// let model = Model::parse_gltf(text, "flag.gltf", &ModelOptions::default(), &mut nothing)?;
    /// assert_eq!((model.triangle_count(), model.parts[0].name.as_str()), (1, "flag"));
    /// assert_eq!(model.bounds().unwrap().max, [2.0, 2.0, 0.0]);
    /// # Ok::<(), SourceError>(())
    /// ```
    #[cfg(feature = "gltf")]
    pub fn parse_gltf(
        bytes: &[u8],
        name: &str,
        options: &ModelOptions,
        read_file: &mut ReadNamedFile,
    ) -> Result<Self, SourceError> {
        let left_bytes = options.max_file_bytes.saturating_sub(bytes.len() as u64);
        let named_files = files::NamedFiles::new(read_file, left_bytes);
        gltf::parse(bytes, name, options, named_files)
            .map_err(|fault| fault.in_file(Format::Model, name))
    }

    /// Number of triangles of all polygons: a polygon of n corners is n - 2 triangles.
    ///
    /// # Cost
    /// O(1). Includes temporary polygons of the store.
    pub fn triangle_count(&self) -> u64 {
        let PolygonStats { corners, polygons, .. } = self.polygons.stats();
        corners.saturating_sub(2 * u64::from(polygons))
    }

    /// Memory of polygons, vertices and coordinates ([`PolygonStats::bytes`]), divided by the
    /// memory without sharing ([`PolygonStats::unshared_bytes`]). Without sharing, each corner has
    /// a vertex and a coordinate of its own. The ratio is 1 without shared corners and for an empty
    /// model, and about a third for a closed surface of quads.
    ///
    /// After removals the ratio may exceed 1, but is always below 2. A removed polygon whose
    /// coordinates are still used by others keeps its record, without vertices of its own.
    ///
    /// # Cost
    /// O(1).
    pub fn sharing_ratio(&self) -> f64 {
        let PolygonStats { bytes, unshared_bytes, .. } = self.polygons.stats();
        if unshared_bytes == 0 { 1.0 } else { bytes as f64 / unshared_bytes as f64 }
    }

    /// Smallest axis-aligned box around the polygons of all parts; `None` if there are none.
    ///
    /// # Cost
    /// O(corners).
    pub fn bounds(&self) -> Option<ModelBounds> {
        let polygons = self.parts.iter().flat_map(|part| &part.polygons);
        let corners = polygons.filter_map(|&polygon| self.polygons.corners(polygon).ok()).flatten();
        ModelBounds::around(corners.map(|corner| corner.position()))
    }
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelBounds {
    /// Lowest coordinates.
    pub min: [f32; 3],
    /// Highest coordinates.
    pub max: [f32; 3],
}

impl ModelBounds {
    /// The smallest box around `positions`; `None` if there are none.
    fn around(positions: impl IntoIterator<Item = [f32; 3]>) -> Option<Self> {
        let mut positions = positions.into_iter();
        let first = positions.next()?;
        let start = Self { min: first, max: first };
        Some(positions.fold(start, |Self { min, max }, position| Self {
            min: [0, 1, 2].map(|axis| f32::min(min[axis], position[axis])),
            max: [0, 1, 2].map(|axis| f32::max(max[axis], position[axis])),
        }))
    }

    /// Lengths of the three sides, in `f64`, where the difference of two `f32` cannot overflow.
    pub fn size(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| f64::from(self.max[axis]) - f64::from(self.min[axis]))
    }
}

#[cfg(test)]
mod tests {
    use drystone_mesh::Corner;

    use super::*;

    #[test]
    fn removing_the_creators_of_coordinates_raises_the_ratio_above_one() {
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
    fn statistics_of_a_model_made_by_hand() {
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
