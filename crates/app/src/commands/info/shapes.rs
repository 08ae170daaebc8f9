use std::fmt;

use drystone::scene::ChunkQuads;
use drystone_formats::MinecraftWorld;
use drystone_mesh::Quad;
use drystone_voxel::{ChunkPos, Face, Material, MaterialTable, PaddedChunk, face_is_visible};
use drystone_world::World;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Blocks with a shape, for `info`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShapeReport {
    /// Voxels that have a visible face.
    visible: u64,
    /// Visible voxels in the shape of their block.
    exact: u64,
    /// Visible voxels that are not cubes.
    shaped: u64,
    /// Quads of shapes.
    quads: u64,
    /// Chunks with such quads.
    chunks: u64,
}

impl ShapeReport {
    /// Counts the shapes of a world; `None` if no material has any.
    pub(super) fn new(
        world: &World,
        quads: &[ChunkQuads],
        minecraft: Option<&MinecraftWorld>,
    ) -> Option<Self> {
        if !world.materials().any_shaped() {
            return None;
        }
        let positions: Vec<ChunkPos> = world.positions().collect();
        let count = |padded: &mut PaddedChunk, at| Self::of_chunk(world, at, minecraft, padded);
        let counts = positions.into_par_iter().map_init(PaddedChunk::new, count);
        let mut all = counts.reduce(Self::default, |a, b| Self {
            visible: a.visible + b.visible,
            exact: a.exact + b.exact,
            shaped: a.shaped + b.shaped,
            ..a
        });
        for chunk in quads {
            let fine = chunk.mesh.iter().filter(|(quad, _)| quad.is_fine()).count() as u64;
            (all.quads, all.chunks) = (all.quads + fine, all.chunks + u64::from(fine > 0));
        }
        Some(all)
    }

    fn of_chunk(
        world: &World,
        at: ChunkPos,
        minecraft: Option<&MinecraftWorld>,
        padded: &mut PaddedChunk,
    ) -> Self {
        world.pad(at, padded);
        let (table, side) = (world.materials(), padded.side());
        let mut counts = Self::default();
        for (z, y) in (1..=side).flat_map(|z| (1..=side).map(move |y| (z, y))) {
            for x in 1..=side {
                let material = padded.get([x, y, z]);
                if material.is_air() || !is_visible(padded, [x, y, z], table) {
                    continue;
                }
                counts.visible += 1;
                counts.exact += u64::from(minecraft.is_none_or(|it| it.has_block_shape(material)));
                counts.shaped += u64::from(table.is_shaped(material));
            }
        }
        counts
    }

    pub(super) fn to_json(self) -> Value {
        json!({
            "visible_voxels": self.visible,
            "with_their_shape": self.exact,
            "not_cubes": self.shaped,
            "quads": self.quads,
            "bytes": self.bytes(),
            "chunks": self.chunks,
        })
    }

    const fn bytes(self) -> u64 {
        self.quads * size_of::<Quad>() as u64
    }
}

impl fmt::Display for ShapeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { visible, exact, shaped, chunks, .. } = *self;
        let percent = 100.0 * exact as f64 / visible.max(1) as f64;
        writeln!(
            f,
            "  shapes    {exact} of {visible} visible voxels have the shape of their block \
             ({percent:.2} %), {shaped} are not cubes"
        )?;
        let each = self.bytes() / chunks.max(1);
        writeln!(f, "            {} bytes in {chunks} chunks, {each} bytes per chunk", self.bytes())
    }
}

/// Whether a voxel at a padded position shows a face.
fn is_visible(padded: &PaddedChunk, at: [u32; 3], table: &MaterialTable) -> bool {
    let material = padded.get(at);
    let without_shape = |it: Material| if table.is_shaped(it) { Material::AIR } else { it };
    Face::ALL.into_iter().any(|face| {
        let mut beside = at;
        let c = &mut beside[face.axis()];
        *c = if face.is_positive() { *c + 1 } else { *c - 1 };
        let beyond = padded.get(beside);
        // A body of one fluid has no inner faces.
        !(table.is_shaped(material) && table.is_translucent(material) && beyond == material)
            && face_is_visible(material, without_shape(beyond), table)
    })
}
