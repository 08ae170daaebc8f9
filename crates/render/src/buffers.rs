//! Content of a device's buffers: typed entries, tables of per-draw data, and ranges of them.

use drystone_mesh::{Cube, Quad};

use crate::{draw_data::DrawData, triangle_vertex::TriangleVertex};

/// Number of quads in the shared index pattern of every device: the maximum that one command draws.
/// Equal to the faces of a checkerboard of 32³ voxels, the largest mesh of such a chunk.
pub const PATTERN_QUADS: u32 = 98_304;

/// Number of quads that a cube is drawn as. At most one of two opposite faces points towards the
/// camera, and the vertex shader selects it.
pub const QUADS_PER_CUBE: u32 = 3;

const _: () = assert!(PATTERN_QUADS.is_multiple_of(QUADS_PER_CUBE));

/// Kind of the entries of a geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    /// Quads, drawn with the shared index pattern.
    Quads,
    /// Cubes, which contain their slots. A command draws [`QUADS_PER_CUBE`] quads of the index
    /// pattern for each cube. They are drawn in the opaque pass only; batches of cubes in the
    /// blended pass are ignored. Writes are always staged.
    Cubes,
    /// Vertices of triangles, drawn with their own indices. The per-draw data of a geometry of
    /// vertices are [`TriangleTransform`](crate::TriangleTransform)s.
    Vertices,
    /// Indices of triangles, three for each triangle. A geometry of indices has no draws.
    Indices,
}

impl BufferKind {
    /// Size of one entry in bytes.
    pub const fn entry_bytes(self) -> u64 {
        let bytes = match self {
            Self::Quads | Self::Cubes => size_of::<Quad>(),
            Self::Vertices => size_of::<TriangleVertex>(),
            Self::Indices => size_of::<u32>(),
        };
        bytes as u64
    }

    /// Entries of this kind with these bytes, which must be those of whole entries.
    pub(crate) fn data(self, bytes: &[u8]) -> BufferData<'_> {
        match self {
            Self::Quads => BufferData::Quads(bytemuck::cast_slice(bytes)),
            Self::Cubes => BufferData::Cubes(bytemuck::cast_slice(bytes)),
            Self::Vertices => BufferData::Vertices(bytemuck::cast_slice(bytes)),
            Self::Indices => BufferData::Indices(bytemuck::cast_slice(bytes)),
        }
    }

    /// Number of quads of the index pattern that draw `count` entries.
    pub(crate) const fn pattern_quads(self, count: u32) -> u32 {
        match self {
            Self::Quads => count,
            Self::Cubes => count.saturating_mul(QUADS_PER_CUBE),
            Self::Vertices | Self::Indices => 0,
        }
    }

    /// Whether commands over these entries can be drawn with these indices, or without indices.
    pub(crate) const fn is_drawn_by(self, indices: Option<Self>) -> bool {
        match self {
            Self::Quads | Self::Cubes => indices.is_none(),
            Self::Vertices => matches!(indices, Some(Self::Indices)),
            Self::Indices => false,
        }
    }
}

/// Values to be written to a geometry.
#[derive(Clone, Copy, Debug)]
pub enum BufferData<'a> {
    /// Entries of a geometry of quads.
    Quads(&'a [Quad]),
    /// Entries of a geometry of cubes.
    Cubes(&'a [Cube]),
    /// Entries of a geometry of vertices.
    Vertices(&'a [TriangleVertex]),
    /// Entries of a geometry of indices.
    Indices(&'a [u32]),
    /// Per-draw data by slot, of any geometry that has draws.
    DrawData(&'a [DrawData]),
}

impl<'a> BufferData<'a> {
    /// The bytes, as they are in memory.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Quads(quads) => bytemuck::cast_slice(quads),
            Self::Cubes(cubes) => bytemuck::cast_slice(cubes),
            Self::Vertices(vertices) => bytemuck::cast_slice(vertices),
            Self::Indices(indices) => bytemuck::cast_slice(indices),
            Self::DrawData(data) => bytemuck::cast_slice(data),
        }
    }

    /// The kind of the entries; `None` for per-draw data.
    pub const fn kind(self) -> Option<BufferKind> {
        match self {
            Self::Quads(_) => Some(BufferKind::Quads),
            Self::Cubes(_) => Some(BufferKind::Cubes),
            Self::Vertices(_) => Some(BufferKind::Vertices),
            Self::Indices(_) => Some(BufferKind::Indices),
            Self::DrawData(_) => None,
        }
    }
}

/// The table of per-draw data of a new geometry.
#[derive(Debug)]
pub enum DrawSlots<'a, G> {
    /// A new table with this number of slots.
    New(u32),
    /// The table of another geometry of the same kind: a slot written through one of them changes
    /// for both.
    SharedWith(&'a G),
}

/// Entries to be copied from one geometry to another, or within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRange {
    /// First entry to be copied.
    pub from: u32,
    /// First entry to be overwritten.
    pub to: u32,
    /// Number of entries.
    pub count: u32,
}

impl CopyRange {
    /// The range cut at the end of both geometries, which have these numbers of entries; `None` if
    /// nothing is left.
    pub(crate) fn cut(self, from_len: u32, to_len: u32) -> Option<Self> {
        let count = self.count.min(from_len.saturating_sub(self.from));
        let count = count.min(to_len.saturating_sub(self.to));
        (count > 0).then_some(Self { count, ..self })
    }
}
