use drystone_mesh::{Face, Quad, QuadBuffer, QuadSink};

/// Quads of one chunk, as written by meshers: opaque quads, those of opaque shapes, and translucent
/// quads to blend over them.
///
/// # Order
/// In each buffer, the face directions follow each other in the order of [`Face::ALL`]. Within a
/// direction, layers are sorted back to front for every camera that sees them: by ascending
/// coordinate for positive directions, by descending coordinate for negative ones. So translucent
/// quads of one direction blend correctly in this order, for any camera position.
///
/// # Cost
/// 8 bytes per quad. Reuse the value for many meshes; it keeps its memory.
///
/// [`Face::ALL`]: drystone_mesh::Face::ALL
#[derive(Clone, Debug, Default)]
pub struct ChunkMesh {
    /// Quads of opaque cubes.
    pub opaque: QuadBuffer,
    /// [Fine](Quad::fine) quads of opaque shapes. A [`ShapeMesher`](crate::ShapeMesher) writes them.
    pub shapes: QuadBuffer,
    /// Quads of translucent materials: of cubes, and fine ones of shapes.
    pub translucent: QuadBuffer,
}

impl ChunkMesh {
    /// Creates a mesh without quads.
    pub const fn new() -> Self {
        Self {
            opaque: QuadBuffer::new(),
            shapes: QuadBuffer::new(),
            translucent: QuadBuffer::new(),
        }
    }

    /// Removes the quads and keeps the memory.
    pub fn clear(&mut self) {
        self.opaque.clear();
        self.shapes.clear();
        self.translucent.clear();
    }

    /// Number of all quads.
    pub fn len(&self) -> usize {
        self.opaque.len() + self.shapes.len() + self.translucent.len()
    }

    /// Returns whether there are no quads.
    pub fn is_empty(&self) -> bool {
        self.opaque.is_empty() && self.shapes.is_empty() && self.translucent.is_empty()
    }

    /// Iterates over all quads, opaque ones first, with a flag for translucent ones.
    pub fn iter(&self) -> impl Iterator<Item = (Quad, bool)> {
        let opaque = self.opaque.quads().iter().chain(self.shapes.quads());
        let opaque = opaque.map(|&quad| (quad, false));
        opaque.chain(self.translucent.quads().iter().map(|&quad| (quad, true)))
    }

    /// Returns the buffer for translucent or for opaque quads.
    #[inline]
    pub(crate) fn sink(&mut self, translucent: bool) -> &mut impl QuadSink {
        if translucent { &mut self.translucent } else { &mut self.opaque }
    }

    /// Returns the buffers for opaque and for translucent quads.
    #[inline]
    pub(crate) fn sinks(&mut self) -> [Sink<'_>; 2] {
        [Sink::Buffer(&mut self.opaque), Sink::Buffer(&mut self.translucent)]
    }
}

/// Destination of the opaque or of the translucent quads of a chunk.
///
/// One type for all destinations keeps one copy of the mesher's code. Quads of a [`QuadBuffer`] need
/// no indirect call.
pub(crate) enum Sink<'a> {
    Buffer(&'a mut QuadBuffer),
    Other(&'a mut dyn QuadSink),
}

impl QuadSink for Sink<'_> {
    #[inline]
    fn reserve(&mut self, count: usize) -> &mut [Quad] {
        match self {
            Self::Buffer(buffer) => buffer.reserve(count),
            Self::Other(sink) => sink.reserve(count),
        }
    }

    #[inline]
    fn commit(&mut self, face: Face, count: usize) {
        match self {
            Self::Buffer(buffer) => buffer.commit(face, count),
            Self::Other(sink) => sink.commit(face, count),
        }
    }
}
