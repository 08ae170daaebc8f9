use std::collections::BTreeSet;

use binary_greedy_meshing::{Mesher as Peer, compute_opaque_mask, compute_transparent_mask};
use drystone_mesh::Face;
use drystone_voxel::{Material, MaterialTable, PaddedChunk};

use super::{Areas, Input, Mesher};

/// A chunk in the format of `binary-greedy-meshing`: Z changes fastest, then X, then Y, with a word
/// of bits per column. The crate requires its users to store these words next to the voxels.
pub(super) struct Columns {
    voxels: Vec<u16>,
    opaque: Box<[u64]>,
    translucent: Box<[u64]>,
}

impl Columns {
    pub(super) fn new(padded: &PaddedChunk, table: &MaterialTable) -> Self {
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

/// Face directions in the order of the crate's lists.
const FACES: [Face; 6] = [Face::PosY, Face::NegY, Face::PosX, Face::NegX, Face::PosZ, Face::NegZ];

/// `binary-greedy-meshing`, of side `N`.
pub(super) struct BinaryGreedy<const N: usize>(Peer<N>);

impl<const N: usize> Default for BinaryGreedy<N> {
    fn default() -> Self {
        Self(Peer::new())
    }
}

impl<const N: usize> Mesher for BinaryGreedy<N> {
    const NAME: &'static str = "binary-greedy-meshing";

    fn mesh(&mut self, input: &Input) {
        let Columns { voxels, opaque, translucent } = input.columns();
        self.0.clear();
        self.0.fast_mesh(voxels, opaque, translucent);
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
