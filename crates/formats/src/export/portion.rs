//! Portions: the vertices and faces that are written in one step. Trait and errors of all writers.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use drystone_mesh::Face as Direction;

use crate::error::SourceError;
use crate::up_axis::UpAxis;

/// Vertices and faces of one chunk, or of one part of a model or a piece of it.
#[derive(Debug, Default)]
pub(super) struct Portion {
    pub(super) name: String,
    /// Whether the portion belongs to the mesh of the portion before it.
    pub(super) is_continued: bool,
    pub(super) vertices: Vec<Vertex>,
    pub(super) faces: Vec<Face>,
    /// Patches of a baked texture. Empty if colours are those of a palette.
    pub(super) patches: Vec<Patch>,
    /// Positions of the vertices in their patches, in texels. Empty without patches.
    pub(super) texels: Vec<[f32; 2]>,
}

impl Portion {
    pub(super) fn triangle_count(&self) -> u64 {
        self.faces.iter().map(|face| if face.corners[3] == Face::NONE { 1 } else { 2 }).sum()
    }

    /// Returns the memory of the lists in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        fn list<T>(items: &Vec<T>) -> usize {
            items.capacity() * size_of::<T>()
        }
        let colors: usize = self.patches.iter().map(|patch| list(&patch.colors)).sum();
        let lists = list(&self.vertices) + list(&self.faces) + list(&self.texels);
        (lists + list(&self.patches) + colors) as u64
    }

    /// Returns the positions of a triangle's corners.
    pub(super) fn positions(&self, triangle: [u32; 3]) -> [[f32; 3]; 3] {
        triangle.map(|corner| self.vertices[corner as usize].position)
    }
}

/// Vertex in the axes and units of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vertex {
    pub(super) position: [f32; 3],
    pub(super) normal: [f32; 3],
    /// Index in the palette, or of the patch.
    pub(super) color: u32,
}

/// Triangle or rectangle, counter-clockwise seen from its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Face {
    /// Indices of vertices. The last is [`NONE`](Self::NONE) for a triangle.
    pub(super) corners: [u32; 4],
    /// Index in the palette. A baked face has the index of one of its materials.
    pub(super) color: u32,
    pub(super) is_translucent: bool,
    /// Face direction of a voxel face, in the source's axes. Faces of models have none.
    pub(super) direction: Option<Direction>,
}

impl Face {
    pub(super) const NONE: u32 = u32::MAX;

    pub(super) fn corners(&self) -> &[u32] {
        let count = if self.corners[3] == Self::NONE { 3 } else { 4 };
        &self.corners[..count]
    }

    pub(super) fn triangles(&self) -> impl Iterator<Item = [u32; 3]> {
        let [a, b, c, d] = self.corners;
        [[a, b, c], [a, c, d]].into_iter().take(self.corners().len() - 2)
    }
}

/// Rectangle of a baked texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    /// Width and height. The width is not below the height.
    pub(super) size: [u32; 2],
    /// Indices in the palette, row by row.
    pub(super) colors: Vec<u16>,
}

/// Colours of faces, by index, with the names of their materials. The first indices are the numbers
/// of materials.
#[derive(Clone, Debug, Default)]
pub(super) struct Palette {
    pub(super) colors: Vec<[u8; 4]>,
    pub(super) names: Vec<String>,
    /// Emission by index, 0 to 255; shorter if the rest emits no light.
    pub(super) emissions: Vec<u8>,
    /// Index by face direction, of materials whose directions differ in colour.
    pub(super) faces: BTreeMap<u32, [u32; Direction::COUNT]>,
    /// Whether faces are visible from both sides.
    pub(super) is_double_sided: bool,
}

impl Palette {
    pub(super) fn push(&mut self, name: &str, color: [u8; 4]) {
        self.colors.push(color);
        self.names.push(name.into());
    }

    /// Returns the index of a material's colour on a face.
    pub(super) fn of_face(&self, material: u32, direction: Option<Direction>) -> u32 {
        let faces = self.faces.get(&material).zip(direction);
        faces.map_or(material, |(faces, direction)| faces[direction.index()])
    }

    /// Returns the emission of a colour, 0 to 255.
    pub(super) fn emission(&self, index: u32) -> u8 {
        self.emissions.get(index as usize).copied().unwrap_or(0)
    }

    pub(super) fn color(&self, index: u32) -> [u8; 4] {
        /// Colour of materials that are not in the table.
        const UNKNOWN: [u8; 4] = [255, 0, 255, 255];
        self.colors.get(index as usize).copied().unwrap_or(UNKNOWN)
    }

    pub(super) fn is_translucent(&self, index: u32) -> bool {
        self.color(index)[3] < u8::MAX
    }
}

/// Map from the source's space to that of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub(super) scale: f64,
    pub(super) up: UpAxis,
}

impl Placement {
    /// Returns a position in the file. Coordinates beyond the range of `f32` are clamped.
    pub(super) fn position(&self, at: [f64; 3]) -> [f32; 3] {
        self.turned(at.map(|c| (c * self.scale).clamp(f32::MIN.into(), f32::MAX.into()) as f32))
    }

    /// Rotates a vector to the axes of the file.
    pub(super) fn turned(&self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        match self.up {
            UpAxis::Y => [x, y, z],
            // Adding 0 turns -0 into 0.
            UpAxis::Z => [x, 0.0 - z, y],
        }
    }
}

/// Vertex attributes that a format stores. Vertices that differ in others only are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) normals: bool,
    pub(super) colors: bool,
}

/// Writer of one file.
pub(super) trait PortionWriter {
    fn attributes(&self) -> Attributes;

    fn write(&mut self, portion: &Portion) -> Result<(), WriteFault>;

    /// Completes the file. Returns the text of its material file, for formats that have one.
    /// `go_on` is called for each MiB that is copied, and its errors are returned.
    fn finish(self: Box<Self>, go_on: &mut GoOn<'_>) -> Result<Option<String>, WriteFault>;
}

/// Function that returns [`WriteFault::Stopped`] if the export has to stop.
pub(super) type GoOn<'a> = dyn FnMut() -> Result<(), WriteFault> + 'a;

/// Reason why a file cannot be written. The caller adds the file's name.
#[derive(Debug)]
pub(super) enum WriteFault {
    Io(io::Error),
    /// The content exceeds what the format can number.
    TooLarge {
        found: u64,
        limit: u64,
        unit: &'static str,
    },
    /// The texture has too few rows for the colours of all faces.
    TextureFull {
        found: u64,
        limit: u64,
    },
    /// A problem of the source.
    Source(SourceError),
    /// There is no face or voxel.
    Empty,
    /// The caller stopped the export.
    Stopped,
}

impl WriteFault {
    /// Returns an error if `found` exceeds `limit`.
    pub(super) fn check(found: u64, limit: u64, unit: &'static str) -> Result<(), Self> {
        if found > limit { Err(Self::TooLarge { found, limit, unit }) } else { Ok(()) }
    }

    /// Returns the error of a file. `advice` is for content that is too large.
    pub(super) fn in_file(self, path: &Path, advice: &'static str) -> SourceError {
        let what = || path.display().to_string();
        match self {
            Self::Io(problem) => SourceError::Unwritable { path: path.into(), problem },
            Self::TooLarge { found, limit, unit } => {
                SourceError::TooLarge { what: what(), found, limit, unit, advice }
            }
            Self::TextureFull { found, limit } => SourceError::TooLarge {
                what: what(),
                found,
                limit,
                unit: "rows of the texture",
                advice: "allow more memory, or do not bake",
            },
            Self::Source(error) => error,
            Self::Empty => SourceError::Empty { path: path.into() },
            Self::Stopped => SourceError::Stopped { path: path.into() },
        }
    }
}

impl From<io::Error> for WriteFault {
    fn from(problem: io::Error) -> Self {
        Self::Io(problem)
    }
}

impl From<SourceError> for WriteFault {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}
