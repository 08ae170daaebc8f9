//! Meshers of other crates.

use binary_greedy_meshing::Mesher as Peer;
use block_mesh::{
    GreedyQuadsBuffer, OrientedBlockFace, QuadBuffer, RIGHT_HANDED_Y_UP_CONFIG,
    ndshape::{ConstShape, ConstShape3u32},
};
use block_mesh_bgm::BinaryGreedyQuadsBuffer;
use drystone_mesh::Face;

use super::{
    Areas, Mesher,
    input::{BlockVoxel, Columns, Input},
};

/// A mesh of `block-mesh` or `block-mesh-bgm`.
pub(super) trait Quads {
    fn quads(&self) -> &QuadBuffer;
}

impl Quads for GreedyQuadsBuffer {
    fn quads(&self) -> &QuadBuffer {
        &self.quads
    }
}

impl Quads for BinaryGreedyQuadsBuffer {
    fn quads(&self) -> &QuadBuffer {
        &self.quads
    }
}

/// Function of the crates that meshes the voxels between two corners.
type MeshFn<const P: u32, B, T> =
    fn(&[T], &ConstShape3u32<P, P, P>, [u32; 3], [u32; 3], &[OrientedBlockFace; 6], &mut B);

/// `block-mesh` or `block-mesh-bgm`, of padded side `P`. With ambient occlusion, the latter merges
/// only faces of equal occlusion, but does not compute the occlusion itself. `T` is the type of its voxels.
pub(super) struct BlockMesh<const P: u32, B, T = BlockVoxel> {
    buffer: B,
    mesh: MeshFn<P, B, T>,
}

impl<const P: u32, B: Quads, T> BlockMesh<P, B, T> {
    pub(super) fn new(buffer: B, mesh: MeshFn<P, B, T>) -> Self {
        Self { buffer, mesh }
    }

    /// Meshes padded voxels.
    pub(super) fn mesh_voxels(&mut self, voxels: &[T]) {
        let faces = &RIGHT_HANDED_Y_UP_CONFIG.faces;
        let shape = &ConstShape3u32::<P, P, P> {};
        (self.mesh)(voxels, shape, [0; 3], [P - 1; 3], faces, &mut self.buffer);
    }

    pub(super) fn quads(&self) -> &QuadBuffer {
        self.buffer.quads()
    }

    /// Adds the area of each quad. The crates have drystone's order of face directions.
    pub(super) fn add_areas_of(&self, input: &Input, areas: &mut Areas) {
        for (face, group) in Face::ALL.into_iter().zip(&self.buffer.quads().groups) {
            for quad in group {
                let at = ConstShape3u32::<P, P, P>::linearize(quad.minimum) as usize;
                areas.add(face, input.block[at].material, u64::from(quad.width * quad.height));
            }
        }
    }
}

impl<const P: u32, B: Quads> Mesher for BlockMesh<P, B> {
    fn mesh(&mut self, input: &Input) {
        self.mesh_voxels(&input.block);
    }

    fn quad_count(&self) -> usize {
        self.buffer.quads().num_quads()
    }

    fn add_areas(&self, input: &Input, areas: &mut Areas) {
        self.add_areas_of(input, areas);
    }
}

/// Face directions in the order of the crate's lists.
const FACES: [Face; 6] = [Face::PosY, Face::NegY, Face::PosX, Face::NegX, Face::PosZ, Face::NegZ];

/// `binary-greedy-meshing`, of side `N`.
pub(super) struct BinaryGreedy<const N: usize>(Peer<N>);

impl<const N: usize> Default for BinaryGreedy<N> {
    fn default() -> Self {
        Self(Peer::new())
    }
}

impl<const N: usize> BinaryGreedy<N> {
    /// Meshes padded voxels with their masks.
    pub(super) fn mesh_columns(&mut self, columns: &Columns) {
        let Columns { voxels, opaque, translucent } = columns;
        self.0.clear();
        self.0.fast_mesh(voxels, opaque, translucent);
    }
}

impl<const N: usize> Mesher for BinaryGreedy<N> {
    fn mesh(&mut self, input: &Input) {
        self.mesh_columns(&input.columns);
    }

    fn quad_count(&self) -> usize {
        self.0.quads.iter().map(Vec::len).sum()
    }

    fn add_areas(&self, _: &Input, areas: &mut Areas) {
        for (face, quads) in FACES.into_iter().zip(&self.0.quads) {
            for quad in quads {
                areas.add(face, quad.voxel_id() as u16, quad.width() * quad.height());
            }
        }
    }
}
