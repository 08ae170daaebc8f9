use std::collections::BTreeMap;

use drystone_render::RenderError;
use drystone_voxel::{ChunkMesh, ChunkPos};

use super::Scene;

/// Chunks of an edit that are shown together, each with its mesh once that is built.
#[derive(Default)]
pub(super) struct Parts {
    chunks: BTreeMap<ChunkPos, Option<ChunkMesh>>,
}

/// Number of chunks that are meshed at a time, on all cores; takes a millisecond or two.
const CHUNKS_PER_STEP: usize = 8;

impl Parts {
    /// Adds changed chunks.
    pub(super) fn extend(&mut self, chunks: Vec<ChunkPos>) {
        self.chunks.extend(chunks.into_iter().map(|chunk| (chunk, None)));
    }

    /// Removes chunks that are shown separately with their current voxels.
    pub(super) fn forget(&mut self, chunks: &[ChunkPos]) {
        if !self.chunks.is_empty() {
            chunks.iter().for_each(|chunk| drop(self.chunks.remove(chunk)));
        }
    }

    /// Discards all meshes, which have to be built again.
    pub(super) fn restart(&mut self) {
        self.chunks.values_mut().for_each(|mesh| *mesh = None);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    fn next(&self) -> Vec<ChunkPos> {
        let missing = self.chunks.iter().filter(|(_, mesh)| mesh.is_none());
        missing.map(|(&chunk, _)| chunk).take(CHUNKS_PER_STEP).collect()
    }
}

impl Scene {
    /// Builds some of the missing meshes; once none is missing, shows all. Returns whether it did.
    ///
    /// # Errors
    /// The first error of the renderer; chunks that it does not accept keep their old meshes.
    pub(super) fn show_some_parts(&mut self) -> Result<bool, RenderError> {
        let next = self.parts.next();
        if next.is_empty() {
            let mut shown = Ok(true);
            for (chunk, mesh) in std::mem::take(&mut self.parts.chunks) {
                let updated = mesh.map_or(Ok(()), |mesh| self.update(chunk, &mesh));
                shown = shown.and_then(|is_last| updated.map(|()| is_last));
            }
            return shown;
        }
        let Self { side_by_side, world, parts, .. } = self;
        side_by_side.mesh(world, &next, |chunk, mesh| {
            parts.chunks.insert(chunk, Some(mesh.clone()));
            Ok(())
        })?;
        Ok(false)
    }
}
