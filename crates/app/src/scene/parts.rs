use std::collections::BTreeMap;

use drystone_render::RenderError;
use drystone_voxel::{ChunkMesh, ChunkPos};

use super::Scene;

/// Chunks that an edit has changed and that are shown together: each with its mesh, once that
/// is made.
#[derive(Default)]
pub(super) struct Parts {
    chunks: BTreeMap<ChunkPos, Option<ChunkMesh>>,
}

/// So many chunks are meshed at a time, on all cores: in a millisecond or two.
const CHUNKS_AT_A_TIME: usize = 8;

impl Parts {
    /// These chunks are others now.
    pub(super) fn extend(&mut self, chunks: Vec<ChunkPos>) {
        self.chunks.extend(chunks.into_iter().map(|chunk| (chunk, None)));
    }

    /// These chunks are shown anew, as they are now.
    pub(super) fn forget(&mut self, chunks: &[ChunkPos]) {
        if !self.chunks.is_empty() {
            chunks.iter().for_each(|chunk| drop(self.chunks.remove(chunk)));
        }
    }

    /// All meshes are to be made anew.
    pub(super) fn restart(&mut self) {
        self.chunks.values_mut().for_each(|mesh| *mesh = None);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    fn next(&self) -> Vec<ChunkPos> {
        let missing = self.chunks.iter().filter(|(_, mesh)| mesh.is_none());
        missing.map(|(&chunk, _)| chunk).take(CHUNKS_AT_A_TIME).collect()
    }
}

impl Scene {
    /// Makes some of the meshes that are to be shown together; when there is none left to be
    /// made, shows them. Whether that was so.
    ///
    /// # Errors
    /// The first of what the renderer says; whatever it does not take is shown as it was.
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
