use alloc::vec::Vec;

use drystone_mesh::{Face, Quad, QuadBuffer, QuadSink};

use crate::ChunkMesh;

/// Rectangle of a face, in sixteenths of a voxel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Piece {
    pub(crate) is_translucent: bool,
    /// Index of the face direction.
    pub(crate) face: u8,
    pub(crate) plane: u16,
    pub(crate) material: u16,
    /// Lowest cells and lengths along the axes of [`Face::span_axes`].
    pub(crate) low: [u16; 2],
    pub(crate) size: [u16; 2],
}

/// Maximum length of a quad, in sixteenths.
pub(crate) const MAX_CELLS: u16 = Quad::MAX_SIDE as u16;

/// Pieces of one chunk, which become [fine](Quad::fine) quads of its mesh.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    all: Vec<Piece>,
    /// Quads of one face direction.
    quads: Vec<Quad>,
    /// Replaces a buffer of the mesh.
    joined: QuadBuffer,
}

impl Pieces {
    pub(crate) fn push(&mut self, piece: Piece) {
        self.all.push(piece);
    }

    /// Moves all pieces to a mesh, merged and in the order of [`ChunkMesh`].
    pub(crate) fn add_to(&mut self, mesh: &mut ChunkMesh) {
        if self.all.is_empty() {
            return;
        }
        self.merge(0);
        self.merge(1);
        let opaque_count = self.all.partition_point(|piece| !piece.is_translucent);
        self.join(0..opaque_count, &mut mesh.shapes);
        self.join(opaque_count..self.all.len(), &mut mesh.translucent);
        self.all.clear();
    }

    /// Merges adjacent pieces along their width (0) or their height (1).
    fn merge(&mut self, along: usize) {
        let across = 1 - along;
        self.all.sort_unstable_by_key(|piece| {
            let Piece { is_translucent, face, plane, material, low, size } = *piece;
            let line = (low[across], size[across]);
            (is_translucent, face, plane, material, line, low[along])
        });
        self.all.dedup_by(|next, piece| {
            let is_next = Piece { low: next.low, size: next.size, ..*piece } == *next
                && (next.low[across], next.size[across]) == (piece.low[across], piece.size[across])
                && next.low[along] == piece.low[along] + piece.size[along]
                && piece.size[along] + next.size[along] <= MAX_CELLS;
            if is_next {
                piece.size[along] += next.size[along];
            }
            is_next
        });
    }

    /// Adds a range of the pieces to a buffer. Layers are sorted back to front.
    fn join(&mut self, range: core::ops::Range<usize>, buffer: &mut QuadBuffer) {
        if range.is_empty() {
            return;
        }
        let mut rest = buffer.quads();
        let mut pieces = self.all[range].iter().peekable();
        self.joined.clear();
        for face in Face::ALL {
            let (own, others) = rest.split_at(buffer.count(face) as usize);
            rest = others;
            self.quads.clear();
            self.quads.extend_from_slice(own);
            while let Some(piece) = pieces.next_if(|piece| usize::from(piece.face) == face.index())
            {
                self.quads.push(piece.quad(face));
            }
            self.quads.sort_by_key(|quad| {
                let cells = quad.position()[face.axis()];
                let is_positive = face.is_positive();
                let plane = match quad.is_fine() {
                    true => cells + u32::from(is_positive),
                    false => (cells + u32::from(is_positive)) * Quad::FINE_CELLS,
                };
                if is_positive { plane } else { u32::MAX - plane }
            });
            self.joined.append(face, &self.quads);
        }
        core::mem::swap(&mut self.joined, buffer);
    }
}

impl Piece {
    fn quad(&self, face: Face) -> Quad {
        let [u, v] = face.span_axes();
        let mut position = [u32::from(self.plane) - u32::from(face.is_positive()); 3];
        position[u] = self.low[0].into();
        position[v] = self.low[1].into();
        Quad::fine(position, self.size.map(u32::from), face, self.material)
    }
}
