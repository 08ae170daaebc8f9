use std::sync::Arc;
use std::time::Duration;

use drystone_formats::SourceError;
use drystone_render::{RenderError, Renderer, View};
use drystone_world::{LodData, LodTree};

use super::{Content, LodLimits};
use crate::scene::{Meshing, Size, VoxelScene};

/// Voxels with their limits, in a renderer.
pub(super) struct ShownVoxels {
    pub(super) scene: VoxelScene,
    pub(super) limits: LodLimits,
    /// The options of the mesher before a change that is not complete. The picture stays as it is
    /// until then.
    before: Option<Meshing>,
}

/// Largest fraction of a change that is not complete.
const MAX_PART: f32 = 0.99;

impl ShownVoxels {
    /// Creates a scene without any meshes.
    pub(super) fn new(
        data: Arc<LodData>,
        limits: LodLimits,
        renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        let voxels = Self { scene: scene(data, limits, renderer)?, limits, before: None };
        voxels.limit_cache();
        Ok(voxels)
    }

    /// Sets the limit of the cache, which scenes of the same voxels share.
    pub(super) fn limit_cache(&self) {
        self.scene.data().set_cache_bytes(self.limits.max_cache_bytes());
    }

    /// Returns the voxels with other limits, without meshes.
    pub(super) fn content(&self, limits: LodLimits) -> Content {
        Content::Voxels(self.scene.tree().shared_data(), limits)
    }

    /// Begins to mesh again with other options; [`follow`](Self::follow) continues. Pictures do not
    /// change while ambient occlusion has no strength, except for pixels at edges.
    pub(super) fn change_meshing(&mut self, meshing: Meshing) {
        let before = self.before.unwrap_or(self.limits.config.meshing);
        self.set_meshing(meshing);
        self.before = Some(before);
    }

    fn set_meshing(&mut self, meshing: Meshing) {
        self.limits.config.meshing = meshing;
        self.scene.set_meshing(meshing);
    }

    /// Cancels a change. Meshes that were already replaced are made again as before.
    pub(super) fn stop_change(&mut self) {
        if let Some(before) = self.before.take() {
            self.set_meshing(before);
        }
    }

    /// Updates meshes for `view`. Returns the finished fraction of a change of meshing, or `None`
    /// once it is complete or if there is none.
    ///
    /// # Cost
    /// The budget of the tree per frame. In full detail, without threads and in a page also up to `time`, in
    /// which this thread makes meshes.
    ///
    /// # Errors
    /// If the device failed, or the renderer refuses such meshes.
    pub(super) fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        // Full detail should be complete soon; at levels of detail, coarse meshes are there at once.
        // In a page, threads that make meshes are also those that draw.
        let has_threads = self.limits.config.threads > 0 && !cfg!(target_arch = "wasm32");
        match self.limits.has_levels() && has_threads {
            true => self.scene.update(view, size)?,
            false => self.scene.update_for(view, size, time)?,
        }
        Ok(self.before.and_then(|_| self.remeshed_part()))
    }

    /// Returns the fraction of the meshes that are made with the new options. Ends the change and
    /// returns `None` once all are.
    fn remeshed_part(&mut self) -> Option<f32> {
        let tree = self.scene.tree();
        let (outdated, count) = (tree.outdated_count(), tree.shown().count());
        if outdated == 0 && !tree.has_waiting_edits() {
            self.before = None;
            return None;
        }
        Some((1.0 - outdated as f32 / count.max(1) as f32).clamp(0.0, MAX_PART))
    }

    /// Returns the fraction of the meshes of `now`, the scene that this one replaces, that this one
    /// has. It is below 1.
    pub(super) fn part_of(&mut self, now: &mut Self) -> f32 {
        let part = match self.limits.has_levels() {
            true => {
                let bytes = |voxels: &mut Self| voxels.scene.renderer().held().used_bytes as f32;
                bytes(self) / bytes(now).max(1.0)
            }
            false => {
                let chunks = self.scene.data().source().chunk_count();
                self.scene.tree().shown().count() as f32 / chunks.max(1) as f32
            }
        };
        part.min(MAX_PART)
    }
}

fn scene(
    data: Arc<LodData>,
    limits: LodLimits,
    renderer: Box<dyn Renderer>,
) -> Result<VoxelScene, RenderError> {
    let no_threads = |error: SourceError| RenderError::Device {
        during: "starting the threads that make meshes",
        reason: error.to_string(),
    };
    let tree = LodTree::new(data, limits.config).map_err(no_threads)?;
    let mut scene = VoxelScene::new(tree, renderer)?;
    scene.set_max_bytes(limits.max_vertex_bytes());
    Ok(scene)
}
