use drystone_mesh::{Face, Quad, QuadSink};

use super::layer::{Layer, Lines};
use super::row_bits::low_bits;
use super::{position, quad};
use crate::{ChunkMesh, Material, MaterialTable, PaddedChunk, face_is_visible};

const MAX_SIDE: usize = Quad::MAX_SIDE as usize;

/// Meshes a chunk of one material: only its border can show, and nothing of the chunk
/// itself needs a look.
pub(super) fn mesh_uniform(
    chunk: &PaddedChunk,
    material: Material,
    table: &MaterialTable,
    mesh: &mut ChunkMesh,
) {
    let sink = mesh.sink(table.is_see_through(material));
    let side = chunk.side();
    let mut layer = Layer::new();
    for face in Face::ALL {
        let at = if face.is_positive() { side - 1 } else { 0 };
        let same = &[u64::MAX; MAX_SIDE];
        let visible = &border(chunk, material, table, face, at);
        let lines = Lines { visible, along: same, across: same, first: 0, step: 1 };
        layer.load(side as usize, &lines);
        layer.merge(side as usize, &lines, |patch| {
            let position = position(face.axis(), at, patch.row, patch.bit);
            sink.push(quad(face, position, patch, material));
        });
    }
}

/// The visible faces of the outermost layer, in rows of bits.
fn border(
    chunk: &PaddedChunk,
    material: Material,
    table: &MaterialTable,
    face: Face,
    at: u32,
) -> [u64; MAX_SIDE] {
    let side = chunk.side();
    let shows = |halo| face_is_visible(material, halo, table);
    match chunk.uniform_beyond(face) {
        Some(halo) if shows(halo) => [low_bits(side as usize); MAX_SIDE],
        Some(_) => [0; MAX_SIDE],
        None => core::array::from_fn(|row| {
            let bit_count = if row < side as usize { side } else { 0 };
            (0..bit_count).rev().fold(0, |bits, bit| {
                let inside = position(face.axis(), at, row as u32, bit);
                bits << 1 | u64::from(shows(chunk.beyond(inside, face)))
            })
        }),
    }
}
