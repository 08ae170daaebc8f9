use block_mesh::{
    GreedyQuadsBuffer, MergeVoxel, QuadBuffer, RIGHT_HANDED_Y_UP_CONFIG, Voxel, VoxelVisibility,
    greedy_quads,
    ndshape::{ConstShape, ConstShape3u32},
};
use block_mesh_bgm::{BinaryGreedyQuadsBuffer, binary_greedy_quads, binary_greedy_quads_ao_safe};
use drystone_mesh::Face;
use drystone_voxel::{Material, MaterialTable};

use super::{Areas, Input, Mesher};

/// A voxel in the format of `block-mesh` and `block-mesh-bgm`.
#[derive(Clone, Copy)]
pub(super) struct BlockVoxel {
    material: u16,
    visibility: VoxelVisibility,
}

impl BlockVoxel {
    pub(super) fn new(material: Material, table: &MaterialTable) -> Self {
        let visibility = match material {
            Material::AIR => VoxelVisibility::Empty,
            other if table.is_translucent(other) => VoxelVisibility::Translucent,
            _ => VoxelVisibility::Opaque,
        };
        Self { material: material.0, visibility }
    }
}

impl Voxel for BlockVoxel {
    fn get_visibility(&self) -> VoxelVisibility {
        self.visibility
    }
}

impl MergeVoxel for BlockVoxel {
    type MergeValue = u16;

    fn merge_value(&self) -> u16 {
        self.material
    }
}

/// Face directions of the crate, which are in drystone's order.
fn add_areas<const P: u32>(quads: &QuadBuffer, input: &Input, areas: &mut Areas) {
    for (face, group) in Face::ALL.into_iter().zip(&quads.groups) {
        for quad in group {
            let at = ConstShape3u32::<P, P, P>::linearize(quad.minimum) as usize;
            areas.add(face, input.block()[at].material, u64::from(quad.width * quad.height));
        }
    }
}

/// `block-mesh-bgm`, of padded side `P`.
#[derive(Default)]
pub(super) struct Bgm<const P: u32>(BinaryGreedyQuadsBuffer);

impl<const P: u32> Mesher for Bgm<P> {
    const NAME: &'static str = "block-mesh-bgm";

    fn mesh(&mut self, input: &Input) {
        let faces = &RIGHT_HANDED_Y_UP_CONFIG.faces;
        let shape = &ConstShape3u32::<P, P, P> {};
        binary_greedy_quads(input.block(), shape, [0; 3], [P - 1; 3], faces, &mut self.0);
    }

    fn quad_count(&self) -> usize {
        self.0.quads.num_quads()
    }

    fn add_areas(&self, input: &Input, areas: &mut Areas) {
        add_areas::<P>(&self.0.quads, input, areas);
    }
}

/// `block-mesh-bgm` with merging only for faces of equal ambient occlusion. The crate does not
/// compute the occlusion itself.
#[derive(Default)]
pub(super) struct BgmShaded<const P: u32>(BinaryGreedyQuadsBuffer);

impl<const P: u32> Mesher for BgmShaded<P> {
    const NAME: &'static str = "block-mesh-bgm-ao";

    fn mesh(&mut self, input: &Input) {
        let faces = &RIGHT_HANDED_Y_UP_CONFIG.faces;
        let shape = &ConstShape3u32::<P, P, P> {};
        binary_greedy_quads_ao_safe(input.block(), shape, [0; 3], [P - 1; 3], faces, &mut self.0);
    }

    fn quad_count(&self) -> usize {
        self.0.quads.num_quads()
    }

    fn add_areas(&self, input: &Input, areas: &mut Areas) {
        add_areas::<P>(&self.0.quads, input, areas);
    }
}

/// `block-mesh` with its greedy mesher, of padded side `P`.
pub(super) struct BlockMesh<const P: u32>(GreedyQuadsBuffer);

impl<const P: u32> BlockMesh<P> {
    pub(super) fn new() -> Self {
        Self(GreedyQuadsBuffer::new((P * P * P) as usize))
    }
}

impl<const P: u32> Mesher for BlockMesh<P> {
    const NAME: &'static str = "block-mesh";

    fn mesh(&mut self, input: &Input) {
        let faces = &RIGHT_HANDED_Y_UP_CONFIG.faces;
        let shape = &ConstShape3u32::<P, P, P> {};
        greedy_quads(input.block(), shape, [0; 3], [P - 1; 3], faces, &mut self.0);
    }

    fn quad_count(&self) -> usize {
        self.0.quads.num_quads()
    }

    fn add_areas(&self, input: &Input, areas: &mut Areas) {
        add_areas::<P>(&self.0.quads, input, areas);
    }
}
