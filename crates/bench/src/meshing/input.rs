use std::{collections::BTreeSet, rc::Rc};

use binary_greedy_meshing::{compute_opaque_mask, compute_transparent_mask};
use block_mesh::{MergeVoxel, Voxel, VoxelVisibility};
use drystone_voxel::{
    ChunkMesh, ChunkPos, Material, MaterialTable, PaddedChunk, Visibility, mesh_unit,
};
use drystone_world::World;

use super::Areas;

/// A chunk in the formats of all contenders.
pub(super) struct Input {
    world: Rc<World>,
    position: ChunkPos,
    /// Filled from the world, with the summary flags of whole chunks.
    pub(super) padded: PaddedChunk,
    /// Copy of the padded voxels without summary flags.
    unknown: PaddedChunk,
    pub(super) block: Vec<BlockVoxel>,
    pub(super) columns: Columns,
    pub(super) expected: Areas,
}

impl Input {
    pub(super) fn new(world: &Rc<World>, position: ChunkPos) -> Self {
        let table = world.materials();
        let mut padded = PaddedChunk::new();
        world.pad(position, &mut padded);
        let mut mesh = ChunkMesh::new();
        mesh_unit(&padded, table, &mut mesh);
        let mut expected = Areas::default();
        expected.add_quads(mesh.iter().map(|(quad, _)| quad));
        let block_voxel = |&material: &Material| BlockVoxel::new(material, table);
        Self {
            world: Rc::clone(world),
            position,
            unknown: PaddedChunk::from_fn(padded.side(), |position| padded.get(position)),
            block: padded.voxels().iter().map(block_voxel).collect(),
            columns: Columns::new(&padded, table),
            expected,
            padded,
        }
    }

    pub(super) fn materials(&self) -> &MaterialTable {
        self.world.materials()
    }

    pub(super) fn padded(&self) -> &PaddedChunk {
        &self.padded
    }

    pub(super) fn unknown(&self) -> &PaddedChunk {
        &self.unknown
    }

    /// Fills a padded chunk, as a program would.
    pub(super) fn fill(&self, padded: &mut PaddedChunk) {
        self.world.pad(self.position, padded);
    }
}

/// A voxel in the format of `block-mesh` and `block-mesh-bgm`, which drystone takes too.
#[derive(Clone, Copy)]
pub(super) struct BlockVoxel {
    pub(super) material: u16,
    pub(super) visibility: VoxelVisibility,
}

impl BlockVoxel {
    fn new(material: Material, table: &MaterialTable) -> Self {
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

impl drystone_voxel::Voxel for BlockVoxel {
    #[inline]
    fn visibility(self) -> Visibility {
        match self.visibility {
            VoxelVisibility::Empty => Visibility::Empty,
            VoxelVisibility::Translucent => Visibility::Translucent,
            VoxelVisibility::Opaque => Visibility::Opaque,
        }
    }

    #[inline]
    fn key(self) -> u32 {
        self.material.into()
    }
}

/// A chunk in the format of `binary-greedy-meshing`: Z changes fastest, then X, then Y, with a word
/// of bits per column. The crate requires its users to store these words next to the voxels.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) voxels: Vec<u16>,
    pub(super) opaque: Box<[u64]>,
    pub(super) translucent: Box<[u64]>,
}

impl Columns {
    fn new(padded: &PaddedChunk, table: &MaterialTable) -> Self {
        let p = padded.side() + 2;
        let positions =
            (0..p).flat_map(|y| (0..p).flat_map(move |x| (0..p).map(move |z| [x, y, z])));
        let voxels: Vec<u16> = positions.map(|position| padded.get(position).0).collect();
        let translucent: BTreeSet<u16> = table
            .iter()
            .map(|(material, _)| material)
            .filter(|&material| table.is_translucent(material))
            .map(|Material(id)| id)
            .collect();
        let masks = |voxels| match padded.side() {
            16 => masks::<16>(voxels, &translucent),
            32 => masks::<32>(voxels, &translucent),
            _ => masks::<62>(voxels, &translucent),
        };
        let [opaque, translucent] = masks(&voxels);
        Self { voxels, opaque, translucent }
    }
}

fn masks<const N: usize>(voxels: &[u16], translucent: &BTreeSet<u16>) -> [Box<[u64]>; 2] {
    [
        compute_opaque_mask::<N>(voxels, translucent),
        compute_transparent_mask::<N>(voxels, translucent),
    ]
}
