use alloc::vec::Vec;

use drystone_mesh::Quad;

use crate::ChunkMesh;

/// Quad with a merge key of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct KeyedQuad {
    /// The quad. Its material is the low half of the key.
    pub quad: Quad,
    /// Merge key of its voxels ([`Voxel::key`](crate::Voxel::key)).
    pub key: u32,
}

const _: () = assert!(size_of::<KeyedQuad>() == 12);

/// Quads of an array whose merge keys need more than 16 bits. The order is that of
/// [`ChunkMesh`](crate::ChunkMesh).
///
/// # Cost
/// 12 bytes per quad. Reuse the value for many meshes; it keeps its memory.
///
/// # Examples
/// ```
/// use drystone_voxel::{GreedyMesher, Halo, KeyedMesh, VoxelArray};
///
/// // Colours as merge keys; 0 is empty.
/// let colors = [0xff20_4080_u32, 0xff20_4080, 0];
/// let array = VoxelArray::new(&colors, [3, 1, 1], Halo::None)?;
/// let mut mesh = KeyedMesh::new();
/// GreedyMesher::new().mesh_array_keyed(&array, &mut mesh);
/// assert_eq!(mesh.opaque().len(), 6);
/// assert_eq!(mesh.opaque()[0].key, 0xff20_4080);
/// # Ok::<(), drystone_voxel::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct KeyedMesh {
    /// Quads of opaque voxels, then those of translucent ones.
    quads: Vec<KeyedQuad>,
    opaque_count: usize,
}

impl KeyedMesh {
    /// Creates a mesh without quads.
    pub const fn new() -> Self {
        Self { quads: Vec::new(), opaque_count: 0 }
    }

    /// Returns the quads of opaque voxels.
    pub fn opaque(&self) -> &[KeyedQuad] {
        &self.quads[..self.opaque_count]
    }

    /// Returns the quads of translucent voxels.
    pub fn translucent(&self) -> &[KeyedQuad] {
        &self.quads[self.opaque_count..]
    }

    /// Replaces the quads by those of `mesh`, with their merge keys.
    pub(crate) fn fill(&mut self, mesh: &ChunkMesh, mut key_of: impl FnMut(Quad) -> u32) {
        let quads = mesh.opaque.quads().iter().chain(mesh.translucent.quads());
        self.quads.clear();
        self.quads.extend(quads.map(|&quad| KeyedQuad { quad, key: key_of(quad) }));
        self.opaque_count = mesh.opaque.len();
    }
}
