use drystone_voxel::{ChunkMesh, ChunkPos, Material, MaterialTable, PaddedChunk, mesh_unit};
use drystone_world::World;

use super::{Areas, binary_greedy::Columns, block_mesh::BlockVoxel, ours::add_quads};
use std::rc::Rc;

/// A chunk in the formats of all contenders.
pub(super) struct Input {
    world: Rc<World>,
    position: ChunkPos,
    /// Filled from the world.
    padded: PaddedChunk,
    /// Copy of the padded voxels without the summary flags of whole chunks.
    unknown: PaddedChunk,
    block: Vec<BlockVoxel>,
    columns: Columns,
    expected: Areas,
}

impl Input {
    pub(super) fn new(world: &Rc<World>, position: ChunkPos) -> Self {
        let table = world.materials();
        let mut padded = PaddedChunk::new();
        world.pad(position, &mut padded);
        let mut mesh = ChunkMesh::new();
        mesh_unit(&padded, table, &mut mesh);
        let mut expected = Areas::default();
        add_quads(mesh.iter().map(|(quad, _)| quad), &mut expected);
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

    pub(super) fn side(&self) -> u32 {
        self.padded.side()
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

    pub(super) fn block(&self) -> &[BlockVoxel] {
        &self.block
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    pub(super) fn expected(&self) -> &Areas {
        &self.expected
    }

    /// Fills a padded chunk, as a program would.
    pub(super) fn fill(&self, padded: &mut PaddedChunk) {
        self.world.pad(self.position, padded);
    }
}
