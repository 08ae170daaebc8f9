//! A world in chunks whose meshes follow its changes, for tables in which chunks change.

use std::{collections::HashMap, mem, sync::Mutex};

use drystone::scene::{ChunkQuads, Meshing};
use drystone_render::{Layer, MeshData, MeshId, RenderError, Renderer};
use drystone_voxel::{ChunkMesh, ChunkPos, GreedyMesher, PaddedChunk};
use drystone_world::World;

use super::scene::draw_data;

/// World in memory with the renderer that shows it, of chunks of any side.
pub(super) struct ChunkScene {
    pub(super) world: World,
    pub(super) renderer: Box<dyn Renderer>,
    /// Opaque and blended mesh of each chunk that has any.
    meshes: HashMap<ChunkPos, [Option<MeshId>; 2]>,
    scratch: Scratch,
    side_by_side: SideBySide,
}

impl ChunkScene {
    /// Uploads `quads`, the meshes of `world`, to `renderer`.
    pub(super) fn new(
        world: World,
        quads: &[ChunkQuads],
        mut renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        let colors: Vec<_> = world.materials().iter().map(|(_, kind)| kind.color).collect();
        renderer.set_palette(&colors)?;
        let (meshes, scratch, side_by_side) =
            (HashMap::new(), Scratch::default(), SideBySide::new());
        let mut scene = Self { world, renderer, meshes, scratch, side_by_side };
        for ChunkQuads { position, mesh } in quads {
            scene.show(*position, mesh)?;
        }
        Ok(scene)
    }

    /// Meshes a chunk again and shows it.
    pub(super) fn remesh(&mut self, chunk: ChunkPos) -> Result<(), RenderError> {
        let mut mesh = mem::take(&mut self.scratch.mesh);
        self.scratch.mesh_into(&self.world, chunk, &mut mesh);
        let shown = self.show(chunk, &mesh);
        self.scratch.mesh = mesh;
        shown
    }

    /// Meshes many chunks on this thread and shows them.
    pub(super) fn remesh_each(&mut self, chunks: &[ChunkPos]) -> Result<(), RenderError> {
        chunks.iter().try_for_each(|&chunk| self.remesh(chunk))
    }

    /// Meshes many chunks on all cores and shows them, while this thread uploads finished meshes.
    pub(super) fn remesh_many(&mut self, chunks: &[ChunkPos]) -> Result<(), RenderError> {
        let Self { world, renderer, meshes, side_by_side, .. } = self;
        let side = world.side();
        side_by_side.mesh(world, chunks, |chunk, mesh| {
            show(side, renderer.as_mut(), meshes.entry(chunk).or_default(), (chunk, mesh))
        })
    }

    fn show(&mut self, chunk: ChunkPos, mesh: &ChunkMesh) -> Result<(), RenderError> {
        let ids = self.meshes.entry(chunk).or_default();
        show(self.world.side(), self.renderer.as_mut(), ids, (chunk, mesh))
    }
}

/// Inserts, replaces or removes the meshes of a chunk of this side.
fn show(
    side: u32,
    renderer: &mut dyn Renderer,
    [opaque, blended]: &mut [Option<MeshId>; 2],
    (chunk, mesh): (ChunkPos, &ChunkMesh),
) -> Result<(), RenderError> {
    let layers =
        [(opaque, Layer::Opaque, &mesh.opaque), (blended, Layer::Blended, &mesh.translucent)];
    for (id, layer, quads) in layers {
        let draw_data = draw_data(chunk, side);
        let mesh = MeshData { quads: quads.quads(), counts: quads.counts(), draw_data, layer };
        match (*id, mesh.quads.is_empty()) {
            (None, true) => {}
            (None, false) => *id = Some(renderer.insert(&mesh)?),
            (Some(old), false) => renderer.replace(old, &mesh)?,
            (Some(old), true) => {
                renderer.remove(old)?;
                *id = None;
            }
        }
    }
    Ok(())
}

/// Buffers for meshing on one thread, reused from chunk to chunk.
struct Scratch {
    padded: PaddedChunk,
    mesher: GreedyMesher,
    mesh: ChunkMesh,
}

impl Default for Scratch {
    /// Meshes as those of other scenes.
    fn default() -> Self {
        let mesher = GreedyMesher::with_options(Meshing::default().into());
        Self { padded: PaddedChunk::default(), mesher, mesh: ChunkMesh::default() }
    }
}

impl Scratch {
    /// Replaces `mesh` by the mesh of a chunk.
    fn mesh_into(&mut self, world: &World, position: ChunkPos, mesh: &mut ChunkMesh) {
        mesh.clear();
        if world.chunk(position).is_some() {
            world.pad(position, &mut self.padded);
            self.mesher.mesh(&self.padded, world.materials(), mesh);
        }
    }
}

/// Meshing on all cores, while one thread uploads finished meshes.
///
/// ```text
///  all cores    mesh block 0 │ mesh block 1 │ mesh block 2 │
///  this thread               │ show block 0 │ show block 1 │ show block 2
/// ```
///
/// A renderer stays on its thread, which alone writes to its pool.
struct SideBySide {
    /// Buffers, one per core.
    scratches: Vec<Scratch>,
    /// Meshes of the block that is shown and of the one that is meshed.
    ready: Vec<ChunkMesh>,
    next: Vec<ChunkMesh>,
}

/// Chunks of a block per core; several, since their times differ.
const CHUNKS_PER_CORE: usize = 4;

impl SideBySide {
    /// Creates buffers for all cores.
    fn new() -> Self {
        let cores = rayon::current_num_threads();
        let meshes = || vec![ChunkMesh::new(); CHUNKS_PER_CORE * cores];
        let scratches = (0..cores).map(|_| Scratch::default()).collect();
        Self { scratches, ready: meshes(), next: meshes() }
    }

    /// Meshes chunks on all cores and passes them to `show`, in order.
    ///
    /// # Errors
    /// The first error of `show`, which is not called again then.
    fn mesh(
        &mut self,
        world: &World,
        chunks: &[ChunkPos],
        mut show: impl FnMut(ChunkPos, &ChunkMesh) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        let mut block: &[ChunkPos] = &[];
        for next_block in chunks.chunks(self.next.len()).chain([&[][..]]) {
            let work = Mutex::new(next_block.iter().zip(&mut self.next));
            let next = &|| work.lock().ok().and_then(|mut work| work.next());
            rayon::in_place_scope(|scope| {
                for scratch in &mut self.scratches {
                    scope.spawn(move |_| {
                        while let Some((&chunk, mesh)) = next() {
                            scratch.mesh_into(world, chunk, mesh);
                        }
                    });
                }
                let mut meshed = block.iter().zip(&self.ready);
                meshed.try_for_each(|(&chunk, mesh)| show(chunk, mesh))
            })?;
            block = next_block;
            mem::swap(&mut self.ready, &mut self.next);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use drystone::scene::mesh_chunk;

    use super::*;
    use crate::drawing::scene::RandomScene;

    #[test]
    fn meshes_are_those_of_single_chunks_in_order() {
        let scene = RandomScene::new(16, 3).unwrap();
        let mut side_by_side = SideBySide::new();
        let block = side_by_side.next.len();
        // One chunk does not exist.
        let all: Vec<ChunkPos> =
            [ChunkPos::new(-1, 0, 0)].into_iter().chain(scene.world.positions()).collect();
        for count in [0, 1, block, block + 1, 27] {
            let mut shown = Vec::new();
            let chunks = &all[..count.min(all.len())];
            let result = side_by_side.mesh(&scene.world, chunks, |chunk, mesh| {
                assert!(mesh.iter().eq(mesh_chunk(&scene.world, chunk).mesh.iter()), "{chunk:?}");
                shown.push(chunk);
                Ok(())
            });
            assert!(result.is_ok());
            assert_eq!(shown, chunks);
        }
        // After an error nothing more is shown.
        let mut calls = 0;
        let result = side_by_side.mesh(&scene.world, &all, |_, _| {
            calls += 1;
            let failed = RenderError::NoTriangles { renderer: "test" };
            if calls > 9 { Err(failed) } else { Ok(()) }
        });
        assert!(result.is_err() && calls == 10);
    }
}
