use std::{mem, sync::Mutex};

use drystone_render::RenderError;
use drystone_voxel::{ChunkMesh, ChunkPos};
use drystone_world::World;

use super::{Meshing, quads::Scratch};

/// Meshing on all cores, while one thread uploads finished meshes.
///
/// ```text
///  all cores    mesh block 0 │ mesh block 1 │ mesh block 2 │
///  this thread               │ show block 0 │ show block 1 │ show block 2
/// ```
///
/// A renderer stays on its thread, which alone writes to its pool.
#[derive(Default)]
pub(super) struct SideBySide {
    /// Buffers, one per core.
    scratches: Vec<Scratch>,
    /// Meshes of the block that is shown and of the one that is meshed.
    ready: Vec<ChunkMesh>,
    next: Vec<ChunkMesh>,
}

/// Chunks of a block per core; several, since their times differ.
const CHUNKS_PER_CORE: usize = 4;

impl SideBySide {
    /// Creates buffers for `meshing`.
    pub(super) fn new(meshing: Meshing) -> Self {
        let cores = rayon::current_num_threads();
        let meshes = || vec![ChunkMesh::new(); CHUNKS_PER_CORE * cores];
        let scratches = (0..cores).map(|_| Scratch::new(meshing)).collect();
        Self { scratches, ready: meshes(), next: meshes() }
    }

    /// Number of chunks in a few blocks; smaller steps would leave cores idle.
    pub(super) fn chunks_per_step() -> usize {
        2 * CHUNKS_PER_CORE * rayon::current_num_threads()
    }

    /// Meshes chunks on all cores and passes them to `show`, in order.
    ///
    /// # Errors
    /// The first error of `show`, which is not called again then.
    pub(super) fn mesh(
        &mut self,
        world: &World,
        chunks: &[ChunkPos],
        mut show: impl FnMut(ChunkPos, &ChunkMesh) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        if self.next.is_empty() {
            *self = Self::new(Meshing::default());
        }
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
    use super::super::mesh_chunk;
    use super::*;
    use drystone_voxel::{Chunk, Material, MaterialTable};

    /// Chunks in a row, each with a different number of voxels.
    fn world(count: i32) -> World {
        let mut materials = MaterialTable::new();
        materials.insert("stone", [90, 90, 90, 255]).unwrap();
        let mut world = World::with_side("row", materials, 4);
        for x in 0..count {
            let solid = |at: u32| Material(u16::from(at * 7 % 64 <= x as u32));
            let at = |p: drystone_voxel::LocalPos| u32::from(p.x) + 4 * u32::from(p.y);
            let chunk = Chunk::from_fn(4, |p| solid(at(p) + 16 * u32::from(p.z)));
            world.insert(ChunkPos::new(x, 0, 0), chunk).unwrap();
        }
        world
    }

    #[test]
    fn meshes_are_those_of_single_chunks_in_order() {
        let mut meshing = SideBySide::new(Meshing::default());
        let block = meshing.next.len() as i32;
        for count in [0, 1, 2, block, block + 1, 3 * block - 1] {
            let world = world(count.min(60));
            // One chunk does not exist.
            let chunks: Vec<_> = (-1..count).map(|x| ChunkPos::new(x, 0, 0)).collect();
            let mut shown = Vec::new();
            let result = meshing.mesh(&world, &chunks, |chunk, mesh| {
                let expected = mesh_chunk(&world, chunk).mesh;
                assert!(mesh.iter().eq(expected.iter()), "{chunk:?}");
                shown.push(chunk);
                Ok(())
            });
            assert!(result.is_ok());
            assert_eq!(shown, chunks);
        }
    }

    #[test]
    fn nothing_is_shown_after_an_error() {
        let world = world(30);
        let chunks: Vec<_> = (0..30).map(|x| ChunkPos::new(x, 0, 0)).collect();
        for fails_at in [0, 9, 29] {
            let mut shown = 0;
            let result = SideBySide::default().mesh(&world, &chunks, |_, _| {
                shown += 1;
                let failed = RenderError::NoTriangles { renderer: "test" };
                if shown > fails_at { Err(failed) } else { Ok(()) }
            });
            assert!(matches!(result, Err(RenderError::NoTriangles { .. })));
            assert_eq!(shown, fails_at + 1);
        }
    }
}
