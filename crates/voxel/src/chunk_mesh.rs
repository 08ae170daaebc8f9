use drystone_mesh::{Quad, QuadBuffer, QuadSink};

/// The quads of one chunk, as a mesher leaves them: what is opaque, and what must be
/// blended over it.
///
/// # Order
/// In both buffers facings lie side by side in the order of [`Face::ALL`]. Within a
/// facing, layers come back to front for every camera that sees them: by ascending
/// coordinate for a positive facing, by descending coordinate for a negative one. So the
/// translucent quads of one facing blend correctly as they lie, wherever the camera is.
///
/// # Cost
/// 8 bytes a quad. The memory is kept from one mesh to the next: give the same value to
/// a mesher again and again.
///
/// [`Face::ALL`]: drystone_mesh::Face::ALL
#[derive(Clone, Debug, Default)]
pub struct ChunkMesh {
    /// Quads of opaque materials.
    pub opaque: QuadBuffer,
    /// Quads of translucent materials.
    pub translucent: QuadBuffer,
}

impl ChunkMesh {
    /// A mesh without quads.
    pub const fn new() -> Self {
        Self { opaque: QuadBuffer::new(), translucent: QuadBuffer::new() }
    }

    /// Forgets the quads and keeps the memory.
    pub fn clear(&mut self) {
        self.opaque.clear();
        self.translucent.clear();
    }

    /// How many quads there are in all.
    pub fn len(&self) -> usize {
        self.opaque.len() + self.translucent.len()
    }

    /// Whether there is no quad.
    pub fn is_empty(&self) -> bool {
        self.opaque.is_empty() && self.translucent.is_empty()
    }

    /// All quads with whether they are translucent, the opaque ones first.
    pub fn iter(&self) -> impl Iterator<Item = (Quad, bool)> {
        let opaque = self.opaque.quads().iter().map(|&quad| (quad, false));
        opaque.chain(self.translucent.quads().iter().map(|&quad| (quad, true)))
    }

    /// The buffer for quads of this kind.
    #[inline]
    pub(crate) fn sink(&mut self, translucent: bool) -> &mut impl QuadSink {
        if translucent { &mut self.translucent } else { &mut self.opaque }
    }

    /// The buffers for opaque and for translucent quads.
    #[inline]
    pub(crate) fn sinks(&mut self) -> [&mut (impl QuadSink + use<>); 2] {
        [&mut self.opaque, &mut self.translucent]
    }
}
