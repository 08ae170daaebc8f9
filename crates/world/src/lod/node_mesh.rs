use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, Material, MesherOptions, NodePos, PaddedChunk, Remesher,
    ShapeMesher, SurfaceMesher, mesh_skirt,
};

use super::config::Meshing;
use super::data::LodData;
use super::data::reading::LoadedChunk;

/// Mesh of a node: a body, and the skirts that close its border where a neighbour is shown at
/// another level.
#[derive(Clone, Debug)]
pub(super) struct NodeMesh {
    /// Faces that are visible if all six neighbours are shown at the same level.
    pub(super) body: ChunkMesh,
    /// Whether the node is empty at this level and all levels below.
    pub(super) is_air: bool,
    pub(super) skirts: Skirts,
}

/// Skirts of a node, stored while the sink has the body. The type is small, because tables of
/// thousands of nodes are copied when they grow.
#[derive(Clone, Debug)]
pub(super) struct Skirts {
    /// `None` if all skirts are empty.
    all: Option<Box<[ChunkMesh; Face::COUNT]>>,
    /// Skirts that were not made because they did not change: those of the replaced mesh stay.
    pub(super) kept: FaceSet,
    /// Whether all chunks that the mesh depends on could be read.
    pub(super) is_whole: bool,
}

impl NodeMesh {
    /// Creates an empty mesh for a node that could not be read.
    pub(super) const fn unread() -> Self {
        let skirts = Skirts { all: None, kept: FaceSet::EMPTY, is_whole: false };
        Self { body: ChunkMesh::new(), is_air: false, skirts }
    }

    /// Whether all chunks that the mesh depends on could be read.
    pub(super) const fn is_whole(&self) -> bool {
        self.skirts.is_whole
    }

    /// Returns the skirt on the side `face`, which is shown while the neighbour there is not shown
    /// at the same level. It has the opaque quads of that face direction, and the translucent quads
    /// at the border.
    #[cfg(test)]
    pub(super) fn skirt(&self, face: Face) -> &ChunkMesh {
        self.skirts.get(face)
    }

    /// Size of the quads in the body and all skirts, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let skirts: usize =
            self.skirts.all.iter().flat_map(|all| all.iter()).map(ChunkMesh::len).sum();
        (self.body.len() + skirts) * size_of::<drystone_mesh::Quad>()
    }
}

impl Skirts {
    /// Returns the skirt on the side `face`.
    pub(super) fn get(&self, face: Face) -> &ChunkMesh {
        static NONE: ChunkMesh = ChunkMesh::new();
        self.all.as_ref().map_or(&NONE, |all| &all[face.index()])
    }

    fn put(&mut self, face: Face, skirt: ChunkMesh) {
        if self.all.is_some() || !skirt.is_empty() {
            self.all.get_or_insert_default()[face.index()] = skirt;
        }
    }

    /// Moves the unchanged skirts from the mesh that this one replaces.
    pub(super) fn keep(&mut self, old: &mut Self) {
        let kept = std::mem::take(&mut self.kept);
        for face in Face::ALL.into_iter().filter(|&face| kept.contains(face)) {
            let skirt = old.all.as_mut().map(|all| std::mem::take(&mut all[face.index()]));
            self.put(face, skirt.unwrap_or_default());
        }
    }
}

/// Parts of a node's mesh that an edit may have changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    pub(super) skirts: FaceSet,
    /// Lowest and highest changed voxels. They lie beyond the border if a neighbour has changed.
    pub(super) voxels: [[i32; 3]; 2],
}

impl Touched {
    /// Extends this to include `other`.
    pub(super) fn join(&mut self, other: &Self) {
        self.skirts = self.skirts.union(other.skirts);
        let ([low, high], [other_low, other_high]) = (&mut self.voxels, other.voxels);
        for axis in 0..3 {
            low[axis] = low[axis].min(other_low[axis]);
            high[axis] = high[axis].max(other_high[axis]);
        }
    }
}

/// Reusable buffers of one thread that makes meshes.
#[derive(Default)]
pub(super) struct NodeMesher {
    options: MesherOptions,
    padded: PaddedChunk,
    mesher: GreedyMesher,
    remesher: Remesher,
    shapes: ShapeMesher,
    surfaces: SurfaceMesher,
    /// Output buffer. The result is copied to an allocation of exact size.
    made: ChunkMesh,
}

impl NodeMesher {
    pub(super) fn new(meshing: Meshing) -> Self {
        let options = MesherOptions::from(meshing);
        let mesher = GreedyMesher::with_options(options);
        Self { options, mesher, remesher: Remesher::with_options(options), ..Self::default() }
    }

    /// Changes the options. The buffers are lost if they differ.
    pub(super) fn set_meshing(&mut self, meshing: Meshing) {
        if self.options != meshing.into() {
            *self = Self::new(meshing);
        }
    }

    /// Returns the offsets of the nodes that a mesh also needs.
    pub(super) const fn neighbors(&self) -> &'static [[i32; 3]] {
        self.options.neighbors()
    }

    /// Makes the mesh of a node with all skirts.
    #[cfg(test)]
    pub(super) fn mesh(&mut self, data: &LodData, node: NodePos) -> NodeMesh {
        self.remesh(data, node, FaceSet::ALL, None)
    }

    /// Makes the mesh of a node from its chunk and the neighbours of its level: six, or 26 for
    /// ambient occlusion. Neighbours outside the world are air. Only the given skirts are made, those
    /// that may have changed. With the old body and the bounds of the changed voxels, only the changed
    /// layers are rebuilt, unless the world has materials with shapes, or the node has partial
    /// materials. Shapes are drawn in full detail; at higher levels, thin ones are air and the others
    /// cubes, and translucent surfaces have the height of full detail.
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
        let mut around = [const { None }; 27];
        for &offset in self.options.neighbors() {
            let Some(LoadedChunk { chunk, is_whole }) = node.offset(offset).map(made) else {
                continue;
            };
            mesh.skirts.is_whole &= is_whole;
            around[index(offset)] = Some(chunk);
        }
        let neighbor = |offset: [i32; 3]| around[index(offset)].as_ref();
        mesh.skirts.kept = FaceSet::ALL.without(skirts);
        let Self { options, padded, mesher, remesher, shapes, surfaces, made } = self;
        let materials = data.meshed_materials(node.level);
        let by_layers = old.filter(|&(old, voxels)| {
            let is_possible = mesh.is_whole() && !materials.any_shaped();
            if !is_possible || !remesher.is_cheaper(Chunk::SIDE, voxels) {
                return false;
            }
            remesher.fill(&center, neighbor, voxels, skirts);
            let is_lowered = || old.translucent.quads().iter().any(|quad| quad.is_fine());
            node.level == 0 || !(remesher.has_partials(materials) || is_lowered())
        });
        match by_layers {
            Some((old, _)) => remesher.remesh(old, materials, made),
            None => {
                padded.fill(&center, neighbor);
                if node.level == 0 {
                    shapes.take(padded, materials);
                } else {
                    padded.remove_thin(materials);
                    surfaces.take(padded, materials, node.level);
                }
                mesher.mesh(padded, materials, made);
                if node.level == 0 {
                    shapes.add_to(padded, materials, made);
                } else {
                    surfaces.lower(padded, materials, made);
                }
            }
        }
        mesh.body = made.clone();
        for face in Face::ALL.into_iter().filter(|&face| skirts.contains(face)) {
            made.clear();
            match by_layers {
                Some(_) => remesher.mesh_skirt(face, materials, made),
                None => {
                    mesh_skirt(padded, face, *options, materials, made);
                    if node.level > 0 {
                        surfaces.lower_skirt(padded, made);
                    }
                }
            }
            mesh.skirts.put(face, made.clone());
        }
        mesh
    }
}

/// Index of a neighbour at an offset of −1, 0 or 1 along each axis.
const fn index([x, y, z]: [i32; 3]) -> usize {
    (x + 1 + 3 * (y + 1) + 9 * (z + 1)) as usize
}
