use drystone_mesh::{Face, QuadBuffer};
use drystone_voxel::{Chunk, ChunkMesh, GreedyMesher, PaddedChunk, mesh_wall};

use super::LevelData;
use crate::NodePos;

/// What is drawn of a node: its mesh, and the walls that close its hull where a neighbour is
/// drawn at another level.
#[derive(Clone, Debug, Default)]
pub struct NodeMesh {
    /// The faces that show when all six neighbours are drawn at the same level.
    pub body: ChunkMesh,
    /// Whether there is nothing at this level nor at any below.
    pub(super) is_air: bool,
    walls: [QuadBuffer; Face::COUNT],
}

impl NodeMesh {
    /// What shows on the border to the neighbour that `face` looks at when that is not drawn
    /// at the same level: opaque quads of that facing.
    pub const fn wall(&self, face: Face) -> &QuadBuffer {
        &self.walls[face as usize]
    }

    /// Bytes of quads in the body and in all walls.
    pub fn size_bytes(&self) -> usize {
        let walls: usize = self.walls.iter().map(QuadBuffer::len).sum();
        (self.body.len() + walls) * size_of::<drystone_mesh::Quad>()
    }
}

/// What one thread meshes nodes with, kept warm from one to the next.
#[derive(Default)]
pub(super) struct NodeMesher {
    padded: PaddedChunk,
    mesher: GreedyMesher,
}

impl NodeMesher {
    /// The mesh of a node, which follows from the node's chunk and its neighbours of the same
    /// level alone. Neighbours beyond the end of the world are air.
    pub(super) fn mesh(&mut self, data: &LevelData, node: NodePos) -> NodeMesh {
        let mut mesh = NodeMesh::default();
        let center = data.chunk(node);
        if center.is_empty() {
            mesh.is_air = data.is_air_below(node);
            return mesh;
        }
        // Only shades, which these meshes have none of, would look past edges and corners.
        let around: [Option<Chunk>; Face::COUNT] =
            Face::ALL.map(|face| Some(data.chunk(node.offset(face.normal())?)));
        let neighbor = |offset: [i32; 3]| {
            let face = Face::ALL.into_iter().find(|face| face.normal() == offset)?;
            around[face.index()].as_ref()
        };
        self.padded.fill(&center, neighbor);
        self.mesher.mesh(&self.padded, data.materials(), &mut mesh.body);
        for face in Face::ALL {
            mesh_wall(&self.padded, face, data.materials(), &mut mesh.walls[face.index()]);
        }
        mesh
    }
}
