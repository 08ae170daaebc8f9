use drystone_mesh::{Face, Quad, QuadSink};

use crate::occlusion::{face_occlusion, occlusion_of};
use crate::{
    ChunkMesh, MaterialTable, PaddedChunk, Visibility, Voxel, VoxelArray, face_is_visible,
};

/// Meshes a chunk with one quad per visible face, in the order documented at [`ChunkMesh`].
///
/// The algorithm is the rule [`face_is_visible`] in three loops. It is the reference in tests of
/// [`GreedyMesher`](crate::GreedyMesher). Use it if vertices of adjacent faces must coincide.
///
/// # Cost
/// Reads each voxel about six times. 8 bytes per visible face, up to six times the memory of the
/// voxels. No allocation if `mesh` has sufficient capacity.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkMesh, Material, MaterialTable, PaddedChunk, mesh_unit};
///
/// let mut padded = PaddedChunk::new();
/// padded.fill(&Chunk::new(4, Material(1)), |_| None);
/// let mut mesh = ChunkMesh::new();
/// mesh_unit(&padded, &MaterialTable::new(), &mut mesh);
/// assert_eq!(mesh.len(), 6 * 4 * 4);
/// ```
pub fn mesh_unit(chunk: &PaddedChunk, table: &MaterialTable, mesh: &mut ChunkMesh) {
    mesh_faces(chunk, table, mesh, |_, _| 0);
}

/// Meshes a chunk with one quad per visible face, with ambient occlusion as in
/// [`MesherOptions::ambient_occlusion`](crate::MesherOptions::ambient_occlusion).
///
/// # Cost
/// Cost of [`mesh_unit`], plus twelve reads of voxels per visible face.
///
/// # Examples
/// ```
/// use drystone_mesh::Face;
/// use drystone_voxel::{
///     ChunkMesh, Material, MaterialTable, PaddedChunk, mesh_unit_shaded,
/// };
///
/// // A floor of two voxels, and one on top of the first. Positions include the halo, so voxel
/// // (x, y, z) of the chunk is (x + 1, y + 1, z + 1) here.
/// let padded = PaddedChunk::from_fn(2, |at| {
///     Material(u16::from([[1, 1, 1], [2, 1, 1], [1, 2, 1]].contains(&at)))
/// });
/// let mut mesh = ChunkMesh::new();
/// mesh_unit_shaded(&padded, &MaterialTable::new(), &mut mesh);
/// let is_floor = |quad: &&drystone_mesh::Quad| {
///     quad.face() == Some(Face::PosY) && quad.position() == [1, 0, 0]
/// };
/// let floor = mesh.opaque.quads().iter().find(is_floor).map(|quad| quad.ambient_occlusion());
/// // One level for each of the two corners at the foot of the upper voxel.
/// assert_eq!(floor, Some(0b00_00_01_01));
/// ```
pub fn mesh_unit_shaded(chunk: &PaddedChunk, table: &MaterialTable, mesh: &mut ChunkMesh) {
    mesh_faces(chunk, table, mesh, |position, face| face_occlusion(chunk, table, position, face));
}

fn mesh_faces(
    chunk: &PaddedChunk,
    table: &MaterialTable,
    mesh: &mut ChunkMesh,
    occlusion: impl Fn([u32; 3], Face) -> u8,
) {
    mesh.clear();
    if !chunk.has_solid() {
        return;
    }
    for_each_face([chunk.side(); 3], |position, face| {
        let material = chunk.inner(position);
        if face_is_visible(material, chunk.beyond(position, face), table) {
            let quad = Quad::new(position, [1, 1], face, material.0)
                .with_ambient_occlusion(occlusion(position, face));
            mesh.sink(table.is_translucent(material)).push(quad);
        }
    });
}

/// Meshes an array with one quad per visible face, in the order documented at [`ChunkMesh`]. Materials
/// are the low halves of the merge keys. Reference for meshing arrays in few quads.
pub(crate) fn mesh_array_unit<V: Voxel>(
    array: &VoxelArray<'_, V>,
    is_shaded: bool,
    mesh: &mut ChunkMesh,
) {
    let is_opaque = |padded: [u32; 3]| {
        let voxel = array.get(padded.map(|c| c as i32 - 1));
        voxel.is_some_and(|voxel| voxel.visibility() == Visibility::Opaque)
    };
    for_each_face(array.extents(), |position, face| {
        let Some(voxel) = array.get(position.map(|c| c as i32)) else { return };
        let (visibility, key) = (voxel.visibility(), voxel.key());
        let is_visible = match array.beyond(position, face) {
            (Visibility::Empty | Visibility::CutOut, _) => true,
            (Visibility::Translucent, beyond) => {
                visibility != Visibility::Translucent || key != beyond
            }
            (Visibility::Opaque, _) => false,
        };
        if is_visible && visibility != Visibility::Empty {
            let occlusion = if is_shaded { occlusion_of(position, face, is_opaque) } else { 0 };
            let quad = Quad::new(position, [1, 1], face, key as u16);
            let sink = mesh.sink(visibility == Visibility::Translucent);
            sink.push(quad.with_ambient_occlusion(occlusion));
        }
    });
}

/// Passes each face of each voxel to `visit`, in the order documented at [`ChunkMesh`].
fn for_each_face(extents: [u32; 3], mut visit: impl FnMut([u32; 3], Face)) {
    for face in Face::ALL {
        let [u, v] = face.span_axes();
        for step in 0..extents[face.axis()] {
            let layer = if face.is_positive() { step } else { extents[face.axis()] - 1 - step };
            for across in 0..extents[v] {
                for along in 0..extents[u] {
                    let mut position = [layer; 3];
                    position[u] = along;
                    position[v] = across;
                    visit(position, face);
                }
            }
        }
    }
}
