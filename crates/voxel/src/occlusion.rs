use core::array;

use drystone_mesh::Face;

use crate::{MaterialTable, PaddedChunk};

/// Returns the ambient occlusion of a corner of a face, from three neighbours in the layer in front
/// of the face. `sides` are the two that share an edge with the corner; `between` is the diagonal
/// one. 0 is open. 3 is a corner between two solid sides, whatever is between them.
#[inline(always)]
pub(crate) const fn darkness(sides: [bool; 2], between: bool) -> u8 {
    if sides[0] && sides[1] { 3 } else { sides[0] as u8 + sides[1] as u8 + between as u8 }
}

/// Computes the ambient occlusion of a face of the voxel at `position`, neighbour by neighbour.
/// Reference for the bitwise computation of the greedy mesher.
pub(crate) fn face_occlusion(
    chunk: &PaddedChunk,
    table: &MaterialTable,
    position: [u32; 3],
    face: Face,
) -> u8 {
    occlusion_of(position, face, |position| table.covers(chunk.get(position)))
}

/// Computes the ambient occlusion of a face from the voxels in front of it. `is_opaque` takes padded
/// positions.
pub(crate) fn occlusion_of(
    position: [u32; 3],
    face: Face,
    is_opaque: impl Fn([u32; 3]) -> bool,
) -> u8 {
    let axes = face.span_axes();
    let mut front = position.map(|c| c + 1);
    front[face.axis()] = front[face.axis()].wrapping_add_signed(face.normal()[face.axis()]);
    let is_opaque = |step: [i32; 2]| {
        let mut position = front;
        for (axis, step) in axes.into_iter().zip(step) {
            position[axis] = position[axis].wrapping_add_signed(step);
        }
        is_opaque(position)
    };
    let around = array::from_fn(|v| {
        array::from_fn(|u| [u, v] != [1, 1] && is_opaque([u as i32 - 1, v as i32 - 1]))
    });
    occlusion_from(face, around)
}

/// Computes the ambient occlusion of a face from the voxels around the one in front of it: rows along
/// the second axis that spans the face, each along the first.
#[inline]
pub(crate) fn occlusion_from(face: Face, around: [[bool; 3]; 3]) -> u8 {
    let at = |[u, v]: [i32; 2]| around[(v + 1) as usize][(u + 1) as usize];
    (0..4).fold(0, |occlusion, corner| {
        let [u, v] = corner_steps(face, corner);
        let sides = [at([u, 0]), at([0, v])];
        occlusion | darkness(sides, at([u, v])) << (2 * corner)
    })
}

/// Returns the position of a corner relative to the face: −1 or 1 along each axis that spans the
/// face. Corners are numbered as in [`Quad::corner`](drystone_mesh::Quad::corner).
pub(crate) const fn corner_steps(face: Face, corner: u32) -> [i32; 2] {
    let [low, high] = [(corner & 1) as i32 * 2 - 1, (corner >> 1 & 1) as i32 * 2 - 1];
    if face.is_positive() { [low, high] } else { [high, low] }
}
