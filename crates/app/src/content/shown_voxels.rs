use std::sync::Arc;
use std::time::Duration;

use drystone_formats::SourceError;
use drystone_render::{RenderError, Renderer, View};
use drystone_world::{LodData, LodTree};
use web_time::Instant;

use super::{Content, LodLimits};
use crate::scene::{Meshing, OpenDevice, RendererKind, Size, VoxelScene};

/// Voxels with their limits, in a renderer. During a change of renderer they have meshes in both.
pub struct ShownVoxels {
    pub(super) scene: VoxelScene,
    pub(super) limits: LodLimits,
    change: Option<Change>,
    /// Whether the change of renderer waits: a large edit is applied in parts, to this tree only.
    pub(super) is_held: bool,
}

/// A change in progress. The picture stays as it is until the change is complete.
enum Change {
    /// To another renderer.
    Renderer(Box<Next>),
    /// Of the options of the mesher. Holds the old ones.
    Meshing(Meshing),
}

/// Scene in the renderer that takes over, while its meshes are made.
struct Next {
    scene: VoxelScene,
    kind: RendererKind,
    begun: Instant,
}

/// While the camera moves, neither renderer is complete. After this time, the next one only needs
/// every part at some level.
const MAX_CHANGE_TIME: Duration = Duration::from_secs(4);
/// Largest fraction of a change that is not complete.
const MAX_PART: f32 = 0.99;

impl ShownVoxels {
    /// Creates a scene without any meshes.
    pub(super) fn new(
        data: Arc<LodData>,
        limits: LodLimits,
        renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        let scene = scene(data, limits, renderer)?;
        Ok(Self { scene, limits, change: None, is_held: false })
    }

    /// Whether a part could not be read and is retried by drawing.
    pub(super) fn is_broken(&self) -> bool {
        self.scene.tree().is_broken()
    }

    pub(super) fn into_content(self) -> Content {
        Content::Voxels(self.scene.tree().shared_data(), self.limits)
    }

    /// Begins to mesh again with other options; [`follow`](Self::follow) continues. Pictures do not
    /// change while ambient occlusion has no strength, except for pixels at edges.
    pub(super) fn change_meshing(&mut self, meshing: Meshing) {
        let before = match self.change {
            Some(Change::Meshing(before)) => before,
            _ => self.limits.config.meshing,
        };
        self.set_meshing(meshing);
        self.change = Some(Change::Meshing(before));
    }

    fn set_meshing(&mut self, meshing: Meshing) {
        self.limits.config.meshing = meshing;
        self.scene.set_meshing(meshing);
    }

    /// Begins a change of renderer; [`follow`](Self::follow) continues.
    pub(super) fn change_renderer(
        &mut self,
        device: &OpenDevice,
        kind: RendererKind,
    ) -> Result<(), RenderError> {
        self.change = None;
        let data = self.scene.tree().shared_data();
        let content = Content::Voxels(Arc::clone(&data), self.limits);
        let renderer = device.renderer(kind, content.capacity())?;
        let scene = scene(data, self.limits, renderer)?;
        self.change = Some(Change::Renderer(Box::new(Next { scene, kind, begun: Instant::now() })));
        Ok(())
    }

    /// Cancels a change. Meshes that were already replaced are made again as before.
    pub(super) fn stop_change(&mut self) {
        if let Some(Change::Meshing(before)) = self.change.take() {
            self.set_meshing(before);
        }
    }

    /// Restarts a change of renderer after an edit, since edits go to one tree only.
    pub(super) fn edited(&mut self, device: &OpenDevice) -> Result<(), RenderError> {
        match &self.change {
            Some(Change::Renderer(next)) => self.change_renderer(device, next.kind),
            _ => Ok(()),
        }
    }

    /// Updates meshes for `view`, here and in the next renderer. Returns the finished fraction of a
    /// change, or `None` once it is complete or if there is none.
    ///
    /// # Cost
    /// The budget of the tree per frame. In full detail and without threads also up to `time`, in
    /// which this thread makes meshes.
    ///
    /// # Errors
    /// If a device failed, or the next renderer refuses such meshes. The change is cancelled then.
    pub(super) fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        // Full detail should be complete soon; at levels of detail, coarse meshes are there at once.
        let only_threads = self.limits.has_levels() && self.limits.config.threads > 0;
        let update = |scene: &mut VoxelScene| match only_threads {
            true => scene.update(view, size),
            false => scene.update_for(view, size, time),
        };
        update(&mut self.scene)?;
        match &mut self.change {
            None => Ok(None),
            Some(Change::Meshing(_)) => Ok(self.remeshed_part()),
            Some(Change::Renderer(next)) => match update(&mut next.scene) {
                Ok(()) => Ok(self.moved_part()),
                Err(error) => {
                    self.change = None;
                    Err(error)
                }
            },
        }
    }

    /// Returns the fraction of the meshes that are made with the new options. Ends the change and
    /// returns `None` once all are.
    fn remeshed_part(&mut self) -> Option<f32> {
        let tree = self.scene.tree();
        let (outdated, count) = (tree.outdated_count(), tree.shown().count());
        if outdated == 0 && !tree.has_waiting_edits() {
            self.change = None;
            return None;
        }
        Some((1.0 - outdated as f32 / count.max(1) as f32).clamp(0.0, MAX_PART))
    }

    /// Returns the fraction of the meshes that the next renderer has. Ends the change and returns
    /// `None` once it draws.
    fn moved_part(&mut self) -> Option<f32> {
        let Some(Change::Renderer(next)) = &mut self.change else { return None };
        let (now, then) = (self.scene.tree(), next.scene.tree());
        let is_late = !now.is_settled() && next.begun.elapsed() > MAX_CHANGE_TIME;
        if self.is_held || !then.is_whole() || !(then.is_settled() || is_late) {
            let bytes = |scene: &mut VoxelScene| scene.renderer().held().used_bytes;
            let part = bytes(&mut next.scene) as f32 / bytes(&mut self.scene).max(1) as f32;
            return Some(part.min(MAX_PART));
        }
        if let Some(Change::Renderer(next)) = self.change.take() {
            self.scene = next.scene;
        }
        None
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
    data.set_cache_bytes(limits.max_cache_bytes());
    let tree = LodTree::new(data, limits.config).map_err(no_threads)?;
    let mut scene = VoxelScene::new(tree, renderer)?;
    scene.set_max_bytes(limits.max_vertex_bytes());
    Ok(scene)
}

#[cfg(test)]
mod tests;
