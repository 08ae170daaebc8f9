use std::time::Duration;

use drystone_render::{DrawStats, Image, RenderError, Renderer, View};
use drystone_world::{LodCount, LodData, VoxelRay};
use glam::DVec3;

use super::{Content, LodLimits, shown_voxels::ShownVoxels};
use crate::scene::{self, Meshing, ModelScene, Size, VoxelScene};

/// Limit of the work on meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A window that draws frame after frame.
    Frames,
    /// Single pictures: no frame waits, so that there are no limits per frame.
    Pictures,
}

/// Number of triangles up to which a ray takes less than about a millisecond.
const MAX_RAY_TRIANGLES: u64 = 100_000;

/// Content with the renderer that draws it.
pub struct Shown(Scene);

enum Scene {
    Voxels(Box<ShownVoxels>),
    Model(ModelScene),
}

/// Amounts of shown content.
#[derive(Clone, Debug, PartialEq)]
pub enum Amounts {
    /// Voxels.
    Voxels {
        /// Number of shown chunks that are not all air; with levels of detail, of all shown chunks.
        chunks: usize,
        /// Number of quads.
        quads: u64,
        /// Meshes and quads at each level of detail; empty without levels.
        levels: Vec<LodCount>,
    },
    /// A polygon model.
    Model {
        /// Number of polygons.
        polygons: u64,
        /// Number of triangles.
        triangles: u64,
        /// Number of vertices.
        vertices: u64,
    },
}

impl Shown {
    /// Shows content in a renderer, with voxels meshed as `meshing` says. A model is uploaded;
    /// meshes of voxels are made by [`follow`](Self::follow) and [`settle`](Self::settle).
    ///
    /// # Errors
    /// Errors of the renderer, or if no threads can be started.
    pub fn new(
        content: Content,
        meshing: Meshing,
        renderer: Box<dyn Renderer>,
        pace: Pace,
    ) -> Result<Self, RenderError> {
        match content {
            Content::Voxels(data, limits) => {
                let limits = limits.at(pace);
                let config = limits.config.with_meshing(meshing);
                let limits = LodLimits { config, ..limits };
                Ok(Self(Scene::Voxels(Box::new(ShownVoxels::new(data, limits, renderer)?))))
            }
            Content::Model(model) => Ok(Self(Scene::Model(ModelScene::new(model, renderer)?))),
        }
    }

    /// Returns the renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        match &mut self.0 {
            Scene::Voxels(voxels) => voxels.scene.renderer(),
            Scene::Model(scene) => scene.renderer(),
        }
    }

    /// Returns the amounts for reports.
    pub fn amounts(&self) -> Amounts {
        match &self.0 {
            Scene::Voxels(voxels) => {
                let counts = voxels.scene.tree().counts();
                let quads = counts.iter().map(|level| level.quads).sum();
                let count = |count: fn(&LodCount) -> u32| counts.iter().map(count).sum::<u32>();
                if voxels.limits.has_levels() {
                    let chunks = count(|level| level.nodes) as usize;
                    return Amounts::Voxels { chunks, quads, levels: counts };
                }
                let chunks = count(|level| level.solid_nodes) as usize;
                Amounts::Voxels { chunks, quads, levels: Vec::new() }
            }
            Scene::Model(scene) => {
                let model = scene.model();
                Amounts::Model {
                    polygons: model.polygon_count,
                    triangles: model.triangle_count(),
                    vertices: model.vertex_count(),
                }
            }
        }
    }

    /// Whether voxels are larger than requested because vertex memory is limited.
    pub fn is_coarsened(&self) -> bool {
        self.voxels().is_some_and(|voxels| voxels.scene.coarsening() > 1.0)
    }

    /// Whether voxels are shown at levels of detail.
    pub fn has_levels(&self) -> bool {
        self.voxels().is_some_and(|voxels| voxels.limits.has_levels())
    }

    /// Returns the voxels; a model has none.
    pub fn data(&self) -> Option<&LodData> {
        self.voxels().map(|voxels| voxels.scene.data())
    }

    /// Returns the distance, in voxels, at which a ray hits the content. Voxels that are far away may
    /// be out of reach.
    ///
    /// # Cost
    /// For voxels, O(voxels that the ray crosses within reach); for a model, O(its triangles).
    pub fn hit(&self, ray: &VoxelRay) -> Option<f64> {
        match &self.0 {
            Scene::Voxels(voxels) => scene::hit_distance(&voxels.scene, ray),
            Scene::Model(scene) => scene.model().hit(ray),
        }
    }

    /// Returns about how far the nearest surface is from `at`, in voxels; for a model, the one in the
    /// direction `ahead`. `None` if that is unknown.
    ///
    /// # Cost
    /// For voxels, O(shown chunks), plus a few chunks to read; for a model, O(its triangles), at most
    /// 100,000.
    pub(crate) fn clearance(&self, at: DVec3, ahead: DVec3) -> Option<f64> {
        match &self.0 {
            Scene::Voxels(voxels) => scene::clearance(&voxels.scene, at, ahead),
            Scene::Model(scene) if scene.model().triangle_count() > MAX_RAY_TRIANGLES => None,
            Scene::Model(scene) => {
                let (origin, direction) = (at.to_array(), ahead.to_array());
                scene.model().hit(&VoxelRay { origin, direction })
            }
        }
    }

    /// Updates meshes for `view` in a picture of this size, and continues a change of meshing, or
    /// of the renderer of a model, for about `time`. Returns the finished fraction, or `None` once complete.
    pub fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        match &mut self.0 {
            Scene::Voxels(voxels) => voxels.follow(view, size, time),
            Scene::Model(scene) => scene.change_for(time),
        }
    }

    /// Moves voxels that change by themselves to their next frame. Returns false if nothing moves.
    ///
    /// # Errors
    /// Errors of the renderer.
    pub fn advance(&mut self) -> Result<bool, RenderError> {
        match &mut self.0 {
            Scene::Voxels(voxels) => voxels.scene.advance(),
            Scene::Model(_) => Ok(false),
        }
    }

    /// Updates meshes until everything around the camera is as fine as `view` requires, however long it
    /// takes.
    pub fn settle(&mut self, view: &View, size: Size) -> Result<(), RenderError> {
        match &mut self.0 {
            Scene::Voxels(voxels) => voxels.scene.settle(view, size, |_| {}),
            Scene::Model(_) => Ok(()),
        }
    }

    /// Updates meshes until the picture of `view` is complete, however long it takes. Everything
    /// else may stay coarse.
    pub fn settle_picture(&mut self, view: &View, size: Size) -> Result<(), RenderError> {
        match &mut self.0 {
            Scene::Voxels(voxels) => voxels.scene.settle_picture(view, size, |_| {}),
            Scene::Model(_) => Ok(()),
        }
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// If the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        match &mut self.0 {
            Scene::Voxels(voxels) => voxels.scene.draw(view),
            Scene::Model(scene) => scene.draw(view),
        }
    }

    /// Draws one picture and reads it back, with its statistics.
    ///
    /// # Errors
    /// If the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        match &mut self.0 {
            Scene::Voxels(voxels) => voxels.scene.picture(view),
            Scene::Model(scene) => scene.picture(view),
        }
    }
}

/// Parts for a session, which changes the renderer, the meshing and the limits while it draws.
impl Shown {
    /// Whether every part of the content has a mesh, even a coarse one.
    pub(crate) fn is_whole(&self) -> bool {
        self.voxels().is_none_or(|voxels| voxels.scene.tree().is_whole())
    }

    /// Whether the meshes lag behind the camera.
    pub(crate) fn lags(&self) -> bool {
        self.voxels().is_some_and(|voxels| !voxels.scene.tree().is_settled())
    }

    /// Whether all missing meshes need data that never comes.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.voxels().is_some_and(|voxels| voxels.scene.tree().is_cut_off())
    }

    /// Whether a part could not be read and is retried by drawing.
    pub(crate) fn is_broken(&self) -> bool {
        self.voxels().is_some_and(|voxels| voxels.scene.tree().is_broken())
    }

    /// Whether the renderer has no memory for voxels in full detail.
    pub(crate) fn is_full(&self) -> bool {
        self.voxels().is_some_and(|voxels| voxels.scene.is_full())
    }

    /// Returns the scene of the voxels, for editing; a model has none.
    pub(crate) fn voxel_scene(&mut self) -> Option<&mut VoxelScene> {
        match &mut self.0 {
            Scene::Voxels(voxels) => Some(&mut voxels.scene),
            Scene::Model(_) => None,
        }
    }

    /// Sets the limit of the cache of voxels again, after another scene of the same voxels is gone.
    pub(crate) fn limit_cache(&self) {
        if let Some(voxels) = self.voxels() {
            voxels.limit_cache();
        }
    }

    /// Returns the limits of the voxels; a model has none.
    pub(crate) fn limits(&self) -> Option<LodLimits> {
        self.voxels().map(|voxels| voxels.limits)
    }

    /// Returns the same voxels with other limits, for another scene; a model cannot be shown twice.
    pub(crate) fn content(&self, limits: LodLimits) -> Option<Content> {
        self.voxels().map(|voxels| voxels.content(limits))
    }

    /// Returns the content, without its meshes.
    pub(crate) fn into_content(self) -> Content {
        match self.0 {
            Scene::Voxels(voxels) => voxels.content(voxels.limits),
            Scene::Model(scene) => Content::Model(scene.into_model()),
        }
    }

    /// Begins to mesh all voxels again; a model has none. [`follow`](Self::follow) continues.
    pub(crate) fn change_meshing(&mut self, meshing: Meshing) {
        if let Scene::Voxels(voxels) = &mut self.0 {
            voxels.change_meshing(meshing);
        }
    }

    /// Begins to upload a model to another renderer. The old one draws until the new one has
    /// everything: [`follow`](Self::follow) continues.
    pub(crate) fn change_model_renderer(&mut self, renderer: Box<dyn Renderer>) {
        if let Scene::Model(scene) = &mut self.0 {
            scene.change_renderer(renderer);
        }
    }

    /// Cancels a change of meshing, or of the renderer of a model.
    pub(crate) fn stop_change(&mut self) {
        match &mut self.0 {
            Scene::Voxels(voxels) => voxels.stop_change(),
            Scene::Model(scene) => scene.stop_change(),
        }
    }

    /// Returns the fraction of the meshes of `now`, the scene that this one replaces, that this one
    /// has. It is below 1.
    pub(crate) fn part_of(&mut self, now: &mut Self) -> f32 {
        match (&mut self.0, &mut now.0) {
            (Scene::Voxels(next), Scene::Voxels(now)) => next.part_of(now),
            _ => 0.0,
        }
    }

    fn voxels(&self) -> Option<&ShownVoxels> {
        match &self.0 {
            Scene::Voxels(voxels) => Some(voxels),
            Scene::Model(_) => None,
        }
    }
}
