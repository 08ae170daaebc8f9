//! drystone's mesher, and the article's.

use drystone_mesh::{Face, Quad, QuadBuffer, QuadSink};
use drystone_voxel::{
    ChunkMesh, GreedyMesher, Halo, Material, MaterialTable, PaddedChunk, VoxelArray,
    face_is_visible,
};

use super::{Areas, Input, Mesher};

/// drystone's mesher and its mesh.
pub(super) struct Greedy {
    mesher: GreedyMesher,
    mesh: ChunkMesh,
    /// Returns the padded chunk to mesh.
    chunk: fn(&Input) -> &PaddedChunk,
}

impl Greedy {
    pub(super) fn new(mesher: GreedyMesher, chunk: fn(&Input) -> &PaddedChunk) -> Self {
        Self { mesher, mesh: ChunkMesh::new(), chunk }
    }
}

impl Mesher for Greedy {
    fn mesh(&mut self, input: &Input) {
        self.mesher.mesh((self.chunk)(input), input.materials(), &mut self.mesh);
    }

    fn quad_count(&self) -> usize {
        self.mesh.len()
    }

    fn add_areas(&self, _: &Input, areas: &mut Areas) {
        areas.add_quads(self.mesh.iter().map(|(quad, _)| quad));
    }
}

/// drystone's mesher over a stored chunk and its neighbours.
#[derive(Default)]
pub(super) struct Stored {
    padded: PaddedChunk,
    mesher: GreedyMesher,
    mesh: ChunkMesh,
}

impl Mesher for Stored {
    fn mesh(&mut self, input: &Input) {
        input.fill(&mut self.padded);
        self.mesher.mesh(&self.padded, input.materials(), &mut self.mesh);
    }

    fn quad_count(&self) -> usize {
        self.mesh.len()
    }

    fn add_areas(&self, _: &Input, areas: &mut Areas) {
        areas.add_quads(self.mesh.iter().map(|(quad, _)| quad));
    }
}

/// drystone's mesher over the voxels of `block-mesh`, in place.
pub(super) struct Array {
    mesher: GreedyMesher,
    mesh: ChunkMesh,
}

impl Array {
    pub(super) fn new(mesher: GreedyMesher) -> Self {
        Self { mesher, mesh: ChunkMesh::new() }
    }
}

impl Mesher for Array {
    fn mesh(&mut self, input: &Input) {
        let extents = [input.padded.side(); 3];
        let array = VoxelArray::new(&input.block, extents, Halo::One);
        // An error leaves no mesh, which the comparison of areas reports.
        self.mesh.clear();
        let _ = array.and_then(|array| self.mesher.mesh_array(&array, &mut self.mesh));
    }

    fn quad_count(&self) -> usize {
        self.mesh.len()
    }

    fn add_areas(&self, _: &Input, areas: &mut Areas) {
        areas.add_quads(self.mesh.iter().map(|(quad, _)| quad));
    }
}

/// The article's algorithm without optimisations. The visible faces of a layer form a mask of
/// materials. Rectangles are taken from it, extended first in width and then in height. The quads
/// have the same format as drystone's.
#[derive(Default)]
pub(super) struct Classic {
    quads: QuadBuffer,
    /// Material of each visible face of a layer that is not in a quad yet, or air.
    mask: Vec<Material>,
}

impl Mesher for Classic {
    fn mesh(&mut self, input: &Input) {
        self.quads.clear();
        for face in Face::ALL {
            for layer in 0..input.padded.side() {
                if self.load(&input.padded, input.materials(), face, layer) {
                    self.merge(face, layer, input.padded.side());
                }
            }
        }
    }

    fn quad_count(&self) -> usize {
        self.quads.len()
    }

    fn add_areas(&self, _: &Input, areas: &mut Areas) {
        areas.add_quads(self.quads.quads().iter().copied());
    }
}

impl Classic {
    /// Fills the mask. Returns whether it has any face.
    fn load(&mut self, chunk: &PaddedChunk, table: &MaterialTable, face: Face, layer: u32) -> bool {
        let n = chunk.side();
        let p = n as usize + 2;
        let strides = [1, p, p * p];
        let [u, v] = face.span_axes();
        let axis = face.axis();
        let voxels = chunk.voxels();
        self.mask.clear();
        let mut any = false;
        for row in 0..n as usize {
            for bit in 0..n as usize {
                let at = (bit + 1) * strides[u]
                    + (row + 1) * strides[v]
                    + (layer as usize + 1) * strides[axis];
                let beyond =
                    if face.is_positive() { at + strides[axis] } else { at - strides[axis] };
                let shows = face_is_visible(voxels[at], voxels[beyond], table);
                any |= shows;
                self.mask.push(if shows { voxels[at] } else { Material::AIR });
            }
        }
        any
    }

    fn merge(&mut self, face: Face, layer: u32, side: u32) {
        let n = side as usize;
        for at in 0..n * n {
            let material = self.mask[at];
            if material.is_air() {
                continue;
            }
            let (row, bit) = (at / n, at % n);
            let same = |voxel: &Material| *voxel == material;
            let width = self.mask[at..(row + 1) * n].iter().take_while(|voxel| same(voxel)).count();
            let goes_on = |row: &usize| self.mask[row * n + bit..][..width].iter().all(same);
            let height = 1 + (row + 1..n).take_while(goes_on).count();
            for row in row..row + height {
                self.mask[row * n + bit..][..width].fill(Material::AIR);
            }
            let [u, v] = face.span_axes();
            let mut position = [layer; 3];
            position[u] = bit as u32;
            position[v] = row as u32;
            self.quads.push(Quad::new(position, [width as u32, height as u32], face, material.0));
        }
    }
}
