use drystone_mesh::{Face, Quad, QuadSink};

use super::grid::axes;
use super::layer::{Layer, Patch};
use super::steps::add_steps;
use crate::simd::Portable;
use crate::{Material, MaterialTable, PaddedChunk, face_is_visible};

const MAX_SIDE: usize = Quad::MAX_SIDE as usize;

/// Meshes a chunk of one material, whose quads all go to `sink`, with steps if that is set. Only its
/// border can be visible, so its voxels are not read.
pub(super) fn mesh_uniform(
    chunk: &PaddedChunk,
    material: Material,
    (table, steps): (&MaterialTable, bool),
    sink: &mut impl QuadSink,
) {
    let side = chunk.side();
    for face in Face::ALL {
        let at = if face.is_positive() { side - 1 } else { 0 };
        let shows = |halo| face_is_visible(material, halo, table);
        match chunk.uniform_beyond(face) {
            Some(halo) if shows(halo) => {
                let whole = Patch { row: 0, bit: 0, row_count: side, bit_count: side };
                sink.push(quad(face, at, whole, material));
            }
            Some(_) => {}
            None => {
                let visible = border(chunk, face, at, shows);
                mesh_border(&visible, chunk, |patch| {
                    let mut quad = quad(face, at, patch, material);
                    if steps {
                        let extents = [side as usize; 2];
                        add_steps(face, &visible, extents, core::slice::from_mut(&mut quad));
                    }
                    sink.push(quad);
                });
            }
        }
    }
}

/// Merges the visible faces of the outermost layer.
fn mesh_border(visible: &[u64; MAX_SIDE], chunk: &PaddedChunk, mut emit: impl FnMut(Patch)) {
    let side = chunk.side();
    let same = &[u64::MAX; MAX_SIDE];
    let mut layer = Layer::<u64>::new::<Portable>(visible, same, same, None);
    for row in 0..side {
        let mut single = layer.single(row as usize);
        while single != 0 {
            emit(Patch { row, bit: single.trailing_zeros(), row_count: 1, bit_count: 1 });
            single &= single - 1;
        }
    }
    layer.merge(emit);
}

/// Returns the visible faces of the outermost layer, as rows of bits.
fn border(
    chunk: &PaddedChunk,
    face: Face,
    at: u32,
    shows: impl Fn(Material) -> bool,
) -> [u64; MAX_SIDE] {
    let side = chunk.side();
    core::array::from_fn(|row| {
        let bit_count = if row < side as usize { side } else { 0 };
        (0..bit_count).rev().fold(0, |bits, bit| {
            let inside = position(face, at, row as u32, bit);
            bits << 1 | u64::from(shows(chunk.beyond(inside, face)))
        })
    })
}

/// Returns the voxel at a row and bit of layer `at` of a face direction.
fn position(face: Face, at: u32, row: u32, bit: u32) -> [u32; 3] {
    let [bit_axis, row_axis] = axes(face.axis());
    let mut position = [at; 3];
    position[bit_axis] = bit;
    position[row_axis] = row;
    position
}

/// Returns the quad of a patch in layer `at` of a face direction.
fn quad(face: Face, at: u32, patch: Patch, material: Material) -> Quad {
    let Patch { row, bit, row_count, bit_count } = patch;
    let bits_are_wide = face.span_axes()[0] == axes(face.axis())[0];
    let size = if bits_are_wide { [bit_count, row_count] } else { [row_count, bit_count] };
    Quad::new(position(face, at, row, bit), size, face, material.0)
}
