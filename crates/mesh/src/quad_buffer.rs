use alloc::vec::Vec;

use crate::{Face, Quad};

/// Whatever a mesher can write quads into.
pub trait QuadSink {
    /// Takes one quad. Meshers push facing by facing, in the order of [`Face::ALL`].
    fn push(&mut self, quad: Quad);
}

/// A growing list of quads, facings side by side, that keeps its memory when cleared.
///
/// # Cost
/// One copy of 8 bytes a push; memory is asked for only beyond the largest mesh so far.
#[derive(Clone, Debug, Default)]
pub struct QuadBuffer {
    quads: Vec<Quad>,
    counts: [u32; Face::COUNT],
}

impl QuadBuffer {
    /// An empty buffer.
    pub const fn new() -> Self {
        Self { quads: Vec::new(), counts: [0; Face::COUNT] }
    }

    /// Forgets the quads and keeps the memory.
    pub fn clear(&mut self) {
        self.quads.clear();
        self.counts = [0; Face::COUNT];
    }

    /// The quads, facing by facing in the order of [`Face::ALL`].
    pub fn quads(&self) -> &[Quad] {
        &self.quads
    }

    /// How many quads each facing has.
    pub const fn counts(&self) -> [u32; Face::COUNT] {
        self.counts
    }

    /// How many quads `face` has.
    pub const fn count(&self, face: Face) -> u32 {
        self.counts[face.index()]
    }

    /// How many quads there are in all.
    pub fn len(&self) -> usize {
        self.quads.len()
    }

    /// Whether there is no quad.
    pub fn is_empty(&self) -> bool {
        self.quads.is_empty()
    }
}

impl QuadSink for QuadBuffer {
    #[inline]
    fn push(&mut self, quad: Quad) {
        let face = quad.face().unwrap_or(Face::NegX);
        debug_assert!(
            self.counts[face.index() + 1..].iter().all(|&later| later == 0),
            "facings must be pushed in order"
        );
        self.counts[face.index()] += 1;
        self.quads.push(quad);
    }
}
