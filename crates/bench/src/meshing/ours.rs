use drystone_mesh::Quad;
use drystone_voxel::{ChunkMesh, GreedyMesher, MesherOptions, PaddedChunk};

use super::{Areas, Input, Mesher};

/// Adds the quads of a drystone mesh.
pub(super) fn add_quads(quads: impl IntoIterator<Item = Quad>, areas: &mut Areas) {
    for quad in quads {
        let [width, height] = quad.size();
        if let Some(face) = quad.face() {
            areas.add(face, quad.material(), u64::from(width * height));
        }
    }
}

/// drystone's mesher and its mesh.
#[derive(Default)]
struct Greedy {
    mesher: GreedyMesher,
    mesh: ChunkMesh,
}

impl Greedy {
    fn mesh(&mut self, padded: &PaddedChunk, input: &Input) {
        self.mesher.mesh(padded, input.materials(), &mut self.mesh);
    }

    fn add_areas(&self, areas: &mut Areas) {
        add_quads(self.mesh.iter().map(|(quad, _)| quad), areas);
    }
}

/// drystone with a padded chunk that was filled from a world, which has summary flags of whole
/// chunks.
#[derive(Default)]
pub(super) struct Flagged(Greedy);

impl Mesher for Flagged {
    const NAME: &'static str = "drystone";

    fn mesh(&mut self, input: &Input) {
        self.0.mesh(input.padded(), input);
    }

    fn quad_count(&self) -> usize {
        self.0.mesh.len()
    }

    fn add_areas(&self, _: &Input, areas: &mut Areas) {
        self.0.add_areas(areas);
    }
}

/// drystone with a padded chunk without summary flags.
#[derive(Default)]
pub(super) struct Scanned(Greedy);

impl Mesher for Scanned {
    const NAME: &'static str = "drystone-scan";

    fn mesh(&mut self, input: &Input) {
        self.0.mesh(input.unknown(), input);
    }

    fn quad_count(&self) -> usize {
        self.0.mesh.len()
    }

    fn add_areas(&self, _: &Input, areas: &mut Areas) {
        self.0.add_areas(areas);
    }
}

/// drystone with ambient occlusion.
pub(super) struct Shaded(Greedy);

impl Default for Shaded {
    fn default() -> Self {
        let mesher = GreedyMesher::with_options(MesherOptions {
            ambient_occlusion: true,
            ..MesherOptions::default()
        });
        Self(Greedy { mesher, mesh: ChunkMesh::new() })
    }
}

impl Mesher for Shaded {
    const NAME: &'static str = "drystone-ao";

    fn mesh(&mut self, input: &Input) {
        self.0.mesh(input.padded(), input);
    }

    fn quad_count(&self) -> usize {
        self.0.mesh.len()
    }

    fn add_areas(&self, _: &Input, areas: &mut Areas) {
        self.0.add_areas(areas);
    }
}
