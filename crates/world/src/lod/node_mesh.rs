use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{Chunk, ChunkMesh, GreedyMesher, Material, PaddedChunk, Remesher, mesh_skirt};

use super::LodData;
use super::data::LoadedChunk;
use crate::NodePos;

/// What is drawn of a node: its mesh, and the skirts that close its hull where a neighbour is
/// drawn at another level.
#[derive(Clone, Debug)]
pub struct NodeMesh {
    /// The faces that show when all six neighbours are drawn at the same level.
    pub body: ChunkMesh,
    /// Whether there is nothing at this level nor at any below.
    pub(super) is_air: bool,
    pub(super) skirts: Skirts,
}

/// The skirts of a node: what is kept of its mesh when the sink has the body. Small, since the
/// tables of thousands of nodes are copied as they grow.
#[derive(Clone, Debug)]
pub(super) struct Skirts {
    /// `None` while all are empty.
    all: Option<Box<[ChunkMesh; Face::COUNT]>>,
    /// Those that were not made, since they are as they were.
    kept: FaceSet,
    /// Whether all that the mesh follows from could be read.
    is_whole: bool,
}

impl NodeMesh {
    /// A mesh without quads, of which nothing is known.
    pub(super) const fn unread() -> Self {
        let skirts = Skirts { all: None, kept: FaceSet::EMPTY, is_whole: false };
        Self { body: ChunkMesh::new(), is_air: false, skirts }
    }

    /// Whether all that it follows from could be read.
    pub(super) const fn is_whole(&self) -> bool {
        self.skirts.is_whole()
    }

    /// What shows on the border to the neighbour that `face` looks at when that is not drawn
    /// at the same level: opaque quads of that facing, and the rim of what is translucent.
    pub fn skirt(&self, face: Face) -> &ChunkMesh {
        self.skirts.get(face)
    }

    /// Bytes of quads in the body and in all skirts.
    pub fn size_bytes(&self) -> usize {
        let skirts: usize =
            self.skirts.all.iter().flat_map(|all| all.iter()).map(ChunkMesh::len).sum();
        (self.body.len() + skirts) * size_of::<drystone_mesh::Quad>()
    }
}

impl Skirts {
    /// The skirt that looks along `face`.
    pub(super) fn get(&self, face: Face) -> &ChunkMesh {
        static NONE: ChunkMesh = ChunkMesh::new();
        self.all.as_ref().map_or(&NONE, |all| &all[face.index()])
    }

    fn put(&mut self, face: Face, skirt: ChunkMesh) {
        if self.all.is_some() || !skirt.is_empty() {
            self.all.get_or_insert_default()[face.index()] = skirt;
        }
    }

    /// Whether all that the mesh follows from could be read.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Those that a mesh which replaces this one must make anew if these may have changed: all,
    /// where a part of what it follows from could not be read.
    pub(super) const fn to_make(&self, changed: FaceSet) -> FaceSet {
        if self.is_whole { changed } else { FaceSet::ALL }
    }

    /// Those that are as they were: of the mesh that this one replaces.
    pub(super) const fn kept(&self) -> FaceSet {
        self.kept
    }

    /// Takes those that are as they were out of the mesh that this one replaces.
    pub(super) fn keep(&mut self, old: &mut Self) {
        let kept = std::mem::take(&mut self.kept);
        for face in Face::ALL.into_iter().filter(|&face| kept.contains(face)) {
            let skirt = old.all.as_mut().map(|all| std::mem::take(&mut all[face.index()]));
            self.put(face, skirt.unwrap_or_default());
        }
    }
}

/// What of a node's mesh may be another after an edit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    pub(super) skirts: FaceSet,
    /// The first voxels that may be others, and the last: those of neighbours beyond its border.
    pub(super) voxels: [[i32; 3]; 2],
}

impl Touched {
    /// Of both.
    pub(super) fn join(&mut self, other: &Self) {
        self.skirts = self.skirts.union(other.skirts);
        let ([low, high], [other_low, other_high]) = (&mut self.voxels, other.voxels);
        for axis in 0..3 {
            low[axis] = low[axis].min(other_low[axis]);
            high[axis] = high[axis].max(other_high[axis]);
        }
    }
}

/// What one thread meshes nodes with, kept warm from one to the next.
#[derive(Default)]
pub(super) struct NodeMesher {
    padded: PaddedChunk,
    mesher: GreedyMesher,
    remesher: Remesher,
    /// What is made, before it is kept in no more memory than it needs.
    made: ChunkMesh,
}

impl NodeMesher {
    /// The mesh of a node, which follows from the node's chunk and its neighbours of the same
    /// level alone. Neighbours beyond the end of the world are air.
    pub(super) fn mesh(&mut self, data: &LodData, node: NodePos) -> NodeMesh {
        self.remesh(data, node, FaceSet::ALL, None)
    }

    /// The same for a node that has a mesh, of whose skirts no others than these may have changed.
    /// Where its body is given and the voxels that may have changed, only layers are made anew.
    pub(super) fn remesh(
        &mut self,
        data: &LodData,
        node: NodePos,
        skirts: FaceSet,
        old: Option<(&ChunkMesh, [[i32; 3]; 2])>,
    ) -> NodeMesh {
        let mut mesh = NodeMesh::unread();
        let air = || LoadedChunk { chunk: Chunk::new(Chunk::SIDE, Material::AIR), is_whole: false };
        let made = |node: NodePos| data.load(node).unwrap_or_else(air);
        let LoadedChunk { chunk: center, is_whole } = made(node);
        mesh.skirts.is_whole = is_whole;
        if center.is_empty() {
            mesh.is_air = data.is_air_below(node);
            return mesh;
        }
        // Only shades, which these meshes have none of, would look past edges and corners.
        let around = Face::ALL.map(|face| Some(made(node.offset(face.normal())?)));
        mesh.skirts.is_whole &= around.iter().flatten().all(|made| made.is_whole);
        let around = around.map(|made| made.map(|made| made.chunk));
        let neighbor = |offset: [i32; 3]| {
            let face = Face::ALL.into_iter().find(|face| face.normal() == offset)?;
            around[face.index()].as_ref()
        };
        mesh.skirts.kept = FaceSet::ALL.without(skirts);
        let Self { padded, mesher, remesher, made } = self;
        let materials = data.materials();
        let by_layers =
            old.filter(|&(_, voxels)| mesh.is_whole() && Remesher::pays(Chunk::SIDE, voxels));
        match by_layers {
            Some((old, voxels)) => {
                remesher.look(&center, neighbor, voxels, skirts);
                remesher.remesh(old, materials, made);
            }
            None => {
                padded.fill(&center, neighbor);
                mesher.mesh(padded, materials, made);
            }
        }
        mesh.body = made.clone();
        for face in Face::ALL.into_iter().filter(|&face| skirts.contains(face)) {
            made.clear();
            match by_layers {
                Some(_) => remesher.mesh_skirt(face, materials, made),
                None => mesh_skirt(padded, face, materials, made),
            }
            mesh.skirts.put(face, made.clone());
        }
        mesh
    }
}
