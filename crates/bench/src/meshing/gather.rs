//! Peers that start from a stored chunk and its neighbours, as a program that uses drystone's chunks would feed them.

use block_mesh::{MergeVoxel, Voxel, VoxelVisibility};
use drystone_voxel::{Material, MaterialTable, PaddedChunk};

use super::{
    Areas, Mesher,
    input::{Columns, Input},
    peers::{BinaryGreedy, BlockMesh, Quads},
};

/// Translucent materials of a table.
fn translucent_of(table: &MaterialTable) -> Vec<Material> {
    let materials = table.iter().map(|(material, _)| material);
    materials.filter(|&material| table.is_translucent(material)).collect()
}

/// A material, with its highest bit set if it is translucent: the smallest voxel that the crates can have.
#[derive(Clone, Copy)]
pub(super) struct FlaggedVoxel(u16);

impl FlaggedVoxel {
    const TRANSLUCENT: u16 = 1 << 15;
}

impl Voxel for FlaggedVoxel {
    #[inline]
    fn get_visibility(&self) -> VoxelVisibility {
        match self.0 {
            0 => VoxelVisibility::Empty,
            1..Self::TRANSLUCENT => VoxelVisibility::Opaque,
            _ => VoxelVisibility::Translucent,
        }
    }
}

impl MergeVoxel for FlaggedVoxel {
    type MergeValue = u16;

    #[inline]
    fn merge_value(&self) -> u16 {
        self.0
    }
}

/// `block-mesh` or `block-mesh-bgm`. Padded voxels are copied, and those of each translucent material flagged in a pass of
/// their own, all with vector instructions.
pub(super) struct GatheredBlocks<const P: u32, B> {
    mesher: BlockMesh<P, B, FlaggedVoxel>,
    padded: PaddedChunk,
    voxels: Vec<FlaggedVoxel>,
    translucent: Vec<Material>,
}

impl<const P: u32, B> GatheredBlocks<P, B> {
    pub(super) fn new(mesher: BlockMesh<P, B, FlaggedVoxel>, table: &MaterialTable) -> Self {
        let (padded, voxels) = (PaddedChunk::new(), Vec::new());
        Self { mesher, padded, voxels, translucent: translucent_of(table) }
    }

    fn gather(&mut self, input: &Input) {
        input.fill(&mut self.padded);
        self.voxels.clear();
        self.voxels.extend(self.padded.voxels().iter().map(|it| FlaggedVoxel(it.0)));
        for material in &self.translucent {
            for voxel in &mut self.voxels {
                let flag = if voxel.0 == material.0 { FlaggedVoxel::TRANSLUCENT } else { 0 };
                voxel.0 |= flag;
            }
        }
    }
}

impl<const P: u32, B: Quads> Mesher for GatheredBlocks<P, B> {
    fn mesh(&mut self, input: &Input) {
        self.gather(input);
        self.mesher.mesh_voxels(&self.voxels);
    }

    fn quad_count(&self) -> usize {
        self.mesher.quads().num_quads()
    }

    fn add_areas(&self, input: &Input, areas: &mut Areas) {
        self.mesher.add_areas_of(input, areas);
    }
}

/// `binary-greedy-meshing`. Each padded voxel is written to its place in the order of the crate, and counted in one of
/// the masks.
pub(super) struct GatheredColumns<const N: usize> {
    mesher: BinaryGreedy<N>,
    padded: PaddedChunk,
    columns: Columns,
    /// Whether each material is opaque, and translucent.
    kinds: Vec<[bool; 2]>,
}

impl<const N: usize> GatheredColumns<N> {
    pub(super) fn new(mesher: BinaryGreedy<N>, table: &MaterialTable) -> Self {
        let p = N + 2;
        let masks = || vec![0; p * p].into_boxed_slice();
        let columns = Columns { voxels: vec![0; p * p * p], opaque: masks(), translucent: masks() };
        let kind = |(material, _): (Material, _)| {
            let is_translucent = table.is_translucent(material);
            [material != Material::AIR && !is_translucent, is_translucent]
        };
        let kinds = table.iter().map(kind).collect();
        Self { mesher, padded: PaddedChunk::new(), columns, kinds }
    }

    fn gather(&mut self, input: &Input) {
        input.fill(&mut self.padded);
        let p = N + 2;
        let Columns { voxels, opaque, translucent } = &mut self.columns;
        // In this order, the plane that is written stays in the fastest cache.
        for y in 0..p {
            let (opaque, translucent) = (&mut opaque[y * p..][..p], &mut translucent[y * p..][..p]);
            let plane = &mut voxels[y * p * p..][..p * p];
            opaque.fill(0);
            translucent.fill(0);
            for z in 0..p {
                let row = &self.padded.voxels()[(z * p + y) * p..][..p];
                for (x, &material) in row.iter().enumerate() {
                    plane[x * p + z] = material.0;
                    let [is_opaque, is_translucent] = self.kinds[usize::from(material.0)];
                    opaque[x] |= u64::from(is_opaque) << z;
                    translucent[x] |= u64::from(is_translucent) << z;
                }
            }
        }
    }
}

impl<const N: usize> Mesher for GatheredColumns<N> {
    fn mesh(&mut self, input: &Input) {
        self.gather(input);
        self.mesher.mesh_columns(&self.columns);
    }

    fn quad_count(&self) -> usize {
        self.mesher.quad_count()
    }

    fn add_areas(&self, input: &Input, areas: &mut Areas) {
        self.mesher.add_areas(input, areas);
    }
}
