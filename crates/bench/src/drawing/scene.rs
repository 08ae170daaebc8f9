//! The article's scene: cubes of chunks full of random voxels, the worst case for a mesher.

use std::borrow::Cow;

use drystone::scene::{ChunkQuads, mesh_world, quad_count};
use drystone_mesh::{Face, Quad};
use drystone_render::{Camera, DrawData, Layer, MeshData, Projection, View};
use drystone_voxel::{Chunk, ChunkMesh, ChunkPos, Material, MaterialTable, VoxelPos};
use drystone_world::World;
use glam::DVec3;

use crate::{Failure, Random};

/// Probability that a voxel is filled.
pub(super) const FILL: f64 = 0.1;

/// Colours of voxels, equally likely.
pub(super) type Colors = &'static [[u8; 4]];

/// The article's three colours.
pub(super) const COLORS: Colors = &[[208, 92, 60, 255], [84, 148, 92, 255], [70, 110, 190, 255]];
/// The four colours of its main result.
pub(super) const FOUR_COLORS: Colors =
    &[[208, 92, 60, 255], [84, 148, 92, 255], [70, 110, 190, 255], [214, 190, 110, 255]];
/// The one colour of the article's noise.
pub(super) const NOISE_COLOR: [u8; 4] = COLORS[1];
/// One of two filled voxels is translucent.
pub(super) const HALF_GLASS: Colors = &[[208, 92, 60, 255], [120, 170, 220, 110]];

/// Mean number of quads per chunk in the article, by chunk side. They are close to the article's upper
/// bound, [`max_quads`].
const ARTICLE_QUADS: [(u32, f64); 2] = [(16, 2_200.0), (32, 16_600.0)];

/// Largest deviation of the mean from the article's approximate value. drystone hides faces between
/// chunks, which the article does not, so it has fewer quads.
const QUADS_TOLERANCE: f64 = 0.08;

/// A scene of chunks of random voxels, meshed.
pub(crate) struct RandomScene {
    pub(crate) world: World,
    pub(crate) quads: Vec<ChunkQuads>,
    /// Chunks along each axis.
    pub(crate) chunks: [u32; 3],
    /// View of the whole scene in parallel projection, as in the article.
    pub(crate) view: View,
}

impl RandomScene {
    /// Creates the article's scene: `chunks_per_side`³ chunks of `side`³ voxels.
    pub(crate) fn new(side: u32, chunks_per_side: u32) -> Result<Self, Failure> {
        Self::with(side, [chunks_per_side; 3], COLORS)
    }

    /// Creates a scene of any number of chunks and any colours.
    pub(super) fn with(side: u32, chunks: [u32; 3], colors: Colors) -> Result<Self, Failure> {
        let scene = Self::of_chunks(side, chunks, colors, random_chunks(side, chunks, colors))?;
        check_mean(side, scene.mean_quads())?;
        Ok(scene)
    }

    /// Meshes chunks of any content with these colours.
    pub(super) fn of_chunks(
        side: u32,
        chunks: [u32; 3],
        colors: &[[u8; 4]],
        filled: impl Iterator<Item = (ChunkPos, Chunk)>,
    ) -> Result<Self, Failure> {
        let mut materials = MaterialTable::new();
        for &color in colors {
            materials.insert("color", color).ok_or("the material table is full")?;
        }
        let mut world = World::with_side("chunks", materials, side);
        for (position, chunk) in filled {
            world.insert(position, chunk)?;
        }
        let quads = mesh_world(&world);
        let max = DVec3::from_array(chunks.map(|count| f64::from(side * count)));
        Ok(Self { world, quads, chunks, view: view_of_all(max) })
    }

    /// Returns the mean number of quads per chunk.
    pub(crate) fn mean_quads(&self) -> f64 {
        f64::from(self.quad_count()) / self.world.chunk_count().max(1) as f64
    }

    pub(super) fn quad_count(&self) -> u32 {
        quad_count(&self.quads) as u32
    }

    /// Iterates over all filled voxels.
    pub(super) fn voxels(&self) -> impl Iterator<Item = (VoxelPos, Material)> {
        let side = self.world.side();
        self.world.iter().flat_map(move |(position, chunk)| {
            let origin = position.origin(side);
            chunk.iter_solid().map(move |(local, material)| {
                let [x, y, z] = [local.x, local.y, local.z].map(i32::from);
                (VoxelPos::new(origin.x + x, origin.y + y, origin.z + z), material)
            })
        })
    }

    /// Returns the renderer's input.
    pub(super) fn meshes(&self) -> Meshes<'_> {
        let palette = self.world.materials().iter().map(|(_, kind)| kind.color).collect();
        let side = self.world.side();
        let list = self.quads.iter().flat_map(|chunk| {
            let draw_data = draw_data(chunk.position, side);
            let ChunkMesh { opaque, shapes, translucent } = &chunk.mesh;
            let layers =
                [(Layer::Opaque, opaque), (Layer::Opaque, shapes), (Layer::Blended, translucent)];
            layers.into_iter().filter(|(_, quads)| !quads.is_empty()).map(move |(layer, it)| {
                let (quads, counts) = (Cow::Borrowed(it.quads()), it.counts());
                Mesh { quads, counts, draw_data, layer }
            })
        });
        Meshes { palette, list: list.collect() }
    }
}

/// Returns the draw data of a chunk with this side.
pub(super) fn draw_data(chunk: ChunkPos, side: u32) -> DrawData {
    DrawData { origin: chunk.origin(side).to_array(), level: 0, extent: side, sort_rank: 0 }
}

/// Input of a renderer: meshes and their colours.
pub(super) struct Meshes<'a> {
    pub(super) palette: Vec<[u8; 4]>,
    pub(super) list: Vec<Mesh<'a>>,
}

/// Creates the input for one mesh.
pub(super) struct Mesh<'a> {
    quads: Cow<'a, [Quad]>,
    counts: [u32; Face::COUNT],
    draw_data: DrawData,
    pub(super) layer: Layer,
}

impl Meshes<'_> {
    /// Returns the meshes with every other one blended.
    pub(super) fn every_other_blended(mut self) -> Self {
        self.list.iter_mut().step_by(2).for_each(|mesh| mesh.layer = Layer::Blended);
        self
    }

    pub(super) fn quad_count(&self) -> u32 {
        self.list.iter().map(|mesh| mesh.quads.len() as u32).sum()
    }
}

impl Mesh<'_> {
    pub(super) fn data(&self) -> MeshData<'_> {
        let Self { quads, counts, draw_data, layer } = self;
        MeshData { quads, counts: *counts, draw_data: *draw_data, layer: *layer }
    }
}

/// Cells per side of the scene of small meshes. Each cell has a mesh for each face direction, so
/// that the number of draw commands is that of the article's largest scene.
const SMALL_CELLS: i32 = 15;
/// Distance between two cells, in voxels.
const SMALL_CELL_VOXELS: i32 = 16;
/// Quads of a small mesh.
const SMALL_QUADS: u32 = 8;

/// Creates 20,250 meshes of 8 quads, each of one face direction, and a view of all of them.
pub(super) fn small_meshes() -> (Meshes<'static>, View) {
    many_small_meshes(SMALL_CELLS.pow(3) as usize * Face::COUNT)
}

/// Creates this number of meshes of 8 quads in a cube of cells, each of one face direction, and a view of
/// all of them.
pub(super) fn many_small_meshes(count: usize) -> (Meshes<'static>, View) {
    let cells = count.div_ceil(Face::COUNT) as i32;
    let side = (1..).find(|side: &i32| side.pow(3) >= cells).unwrap_or(1);
    let meshes = (0..cells).flat_map(|cell| Face::ALL.map(|face| small_mesh(side, cell, face)));
    let list = meshes.take(count).collect();
    let max = DVec3::splat(f64::from(side * SMALL_CELL_VOXELS));
    let palette = [[0; 4]].into_iter().chain(COLORS.iter().copied()).collect();
    (Meshes { palette, list }, view_of_all(max))
}

/// Places unit squares as steps, away from those of the cell's other directions.
fn small_mesh(cells_per_side: i32, cell: i32, face: Face) -> Mesh<'static> {
    let index = [1, cells_per_side, cells_per_side.pow(2)].map(|n| cell / n % cells_per_side);
    let origin = index.map(|i| i * SMALL_CELL_VOXELS);
    let material = 1 + face.index() as u16 % COLORS.len() as u16;
    let quads = (0..SMALL_QUADS).map(|step| {
        let mut position = [step; 3];
        position[face.axis()] = step + if face.is_positive() { SMALL_QUADS } else { 0 };
        Quad::new(position, [1, 1], face, material)
    });
    let mut counts = [0; Face::COUNT];
    counts[face.index()] = SMALL_QUADS;
    let draw_data = DrawData { origin, level: 0, extent: SMALL_CELL_VOXELS as u32, sort_rank: 0 };
    Mesh { quads: quads.collect(), counts, draw_data, layer: Layer::Opaque }
}

/// Returns a view of everything between the origin and `max`, in parallel projection, as in the
/// article.
fn view_of_all(max: DVec3) -> View {
    let projection = Projection::Orthographic { height_voxels: 1.0 };
    View::new(Camera::fit(DVec3::ZERO, max, projection, 1.0))
}

/// Fills chunks with random voxels.
fn random_chunks(
    side: u32,
    chunks: [u32; 3],
    colors: Colors,
) -> impl Iterator<Item = (ChunkPos, Chunk)> {
    let chunk = move |(i, position)| (position, random_chunk(side, i, colors.len()));
    (0..).zip(chunk_positions(chunks)).map(chunk)
}

/// Returns the positions of this number of chunks along each axis. X is fastest, then Y, then Z.
pub(super) fn chunk_positions(chunks: [u32; 3]) -> impl Iterator<Item = ChunkPos> {
    let [nx, ny, nz] = chunks.map(|count| count as i32);
    (0..nx * ny * nz).map(move |i| ChunkPos::new(i % nx, i / nx % ny, i / nx / ny))
}

/// Creates a chunk of random voxels with a number of materials. The same seed gives the same chunk.
fn random_chunk(side: u32, seed: u64, materials: usize) -> Chunk {
    let mut random = Random::new(u64::from(side) << 56 ^ seed);
    Chunk::from_fn(side, |_| {
        let bits = random.bits();
        let is_filled = (bits >> 32) as f64 / 2f64.powi(32) < FILL;
        if is_filled {
            Material(1 + (bits as u32 % materials as u32) as u16)
        } else {
            Material::AIR
        }
    })
}

/// Creates a chunk in the article's colours that is not part of the initial scene.
pub(super) fn new_chunk(side: u32, number: u32) -> Chunk {
    random_chunk(side, u64::from(number) << 32, COLORS.len())
}

/// Expected number of visible faces in a chunk of random voxels. A filled voxel has six faces, and the
/// voxel beyond a face is empty with the probability `1 - FILL`. It bounds the quads of a greedy mesher.
fn max_quads(side: u32) -> f64 {
    f64::from(side.pow(3)) * 6.0 * FILL * (1.0 - FILL)
}

/// Checks that the scene is the article's. Otherwise, figures cannot be compared.
fn check_mean(side: u32, mean: f64) -> Result<(), String> {
    let Some(&(_, article)) = ARTICLE_QUADS.iter().find(|(of, _)| *of == side) else {
        return Ok(());
    };
    if (mean / article - 1.0).abs() <= QUADS_TOLERANCE && mean <= max_quads(side) {
        return Ok(());
    }
    Err(format!("{mean:.0} quads per chunk of {side}³; the article has about {article}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_match_those_of_the_article() {
        let scene = RandomScene::new(16, 2).unwrap();
        let solid = scene.world.solid_count() as f64 / (32f64).powi(3);
        assert!((solid - FILL).abs() < 0.005, "{solid}");
        let counts = scene.world.count_by_material();
        let third = scene.world.solid_count() as f64 / 3.0;
        assert!(counts.iter().all(|&(_, n)| (n as f64 / third - 1.0).abs() < 0.1), "{counts:?}");
        assert_eq!([16, 32].map(|side| max_quads(side).round()), [2_212.0, 17_695.0]);
        assert!(check_mean(16, 2_000.0).is_err() && check_mean(32, 16_600.0).is_ok());
    }
}
