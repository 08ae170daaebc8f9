use drystone_mesh::Face;

use crate::{MaterialTable, PaddedChunk};

/// How much three neighbours darken a corner of a face: the two that share an edge with it
/// and the one between them, all in the layer that the face looks at. 0 is open; 3 is the
/// angle between two walls, whatever lies behind it.
#[inline(always)]
pub(crate) const fn darkness(sides: [bool; 2], between: bool) -> u8 {
    if sides[0] && sides[1] { 3 } else { sides[0] as u8 + sides[1] as u8 + between as u8 }
}

/// The occlusion of a face of the voxel at `position`, from its neighbours one by one: the
/// twin of what the greedy mesher finds in bits.
pub(crate) fn face_occlusion(
    chunk: &PaddedChunk,
    table: &MaterialTable,
    position: [u32; 3],
    face: Face,
) -> u8 {
    let axes = face.span_axes();
    let mut front = position.map(|c| c + 1);
    front[face.axis()] = front[face.axis()].wrapping_add_signed(face.normal()[face.axis()]);
    let is_opaque = |step: [i32; 2]| {
        let mut place = front;
        for (axis, step) in axes.into_iter().zip(step) {
            place[axis] = place[axis].wrapping_add_signed(step);
        }
        let voxel = chunk.get(place);
        !voxel.is_air() && !table.is_translucent(voxel)
    };
    (0..4).fold(0, |occlusion, corner| {
        let [u, v] = corner_steps(face, corner);
        let sides = [is_opaque([u, 0]), is_opaque([0, v])];
        occlusion | darkness(sides, is_opaque([u, v])) << (2 * corner)
    })
}

/// Where a corner of a quad lies: −1 or 1 along each of the axes that span the face, as
/// [`Quad::corner`](drystone_mesh::Quad::corner) counts corners.
pub(crate) const fn corner_steps(face: Face, corner: u32) -> [i32; 2] {
    let [low, high] = [(corner & 1) as i32 * 2 - 1, (corner >> 1 & 1) as i32 * 2 - 1];
    if face.is_positive() { [low, high] } else { [high, low] }
}
