use std::time::Duration;

use drystone_render::{DrawStats, Image, RenderError, Renderer, View};
use drystone_world::{LodConfig, LodCount, LodData};

use super::{Content, LodLimits, shown_voxels::ShownVoxels};
use crate::scene::{Capacity, Meshing, ModelScene, OpenDevice, RendererKind, Size, VoxelScene};

/// Limit of the work on meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A window that draws frame after frame.
    Frames,
    /// Single pictures: no frame waits, so that there are no limits per frame.
    Pictures,
}

/// Content with the renderer that draws it.
pub enum Shown {
    /// Voxels.
    Voxels(Box<ShownVoxels>),
    /// A polygon model.
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
                let config = LodConfig { meshing, ..limits.config };
                let limits = LodLimits { config, ..limits };
                Ok(Self::Voxels(Box::new(ShownVoxels::new(data, limits, renderer)?)))
            }
            Content::Model(model) => Ok(Self::Model(ModelScene::new(model, renderer)?)),
        }
    }

    /// Whether every part of the content has a mesh, even a coarse one.
    pub fn is_whole(&self) -> bool {
        self.voxels().is_none_or(|voxels| voxels.scene.tree().is_whole())
    }

    /// Whether the meshes lag behind the camera.
    pub fn lags(&self) -> bool {
        self.voxels().is_some_and(|voxels| !voxels.scene.tree().is_settled())
    }

    fn voxels(&self) -> Option<&ShownVoxels> {
        match self {
            Self::Voxels(voxels) => Some(voxels),
            Self::Model(_) => None,
        }
    }

    /// Returns the content, without its meshes.
    pub fn into_content(self) -> Content {
        match self {
            Self::Voxels(voxels) => voxels.into_content(),
            Self::Model(scene) => Content::Model(scene.into_model()),
        }
    }

    /// Begins to mesh all voxels again; a model has none. [`follow`](Self::follow) continues.
    pub fn change_meshing(&mut self, meshing: Meshing) {
        if let Self::Voxels(voxels) = self {
            voxels.change_meshing(meshing);
        }
    }

    /// Begins to move the content to another renderer on the same device. The old one draws until
    /// the new one has everything: [`follow`](Self::follow) continues.
    pub fn change_renderer(
        &mut self,
        device: &OpenDevice,
        kind: RendererKind,
    ) -> Result<(), RenderError> {
        match self {
            Self::Voxels(voxels) => voxels.change_renderer(device, kind),
            // A finished model is only uploaded.
            Self::Model(scene) => {
                scene.change_renderer(device.renderer(kind, Capacity::default())?);
                Ok(())
            }
        }
    }

    /// Cancels a change of renderer or meshing.
    pub fn stop_change(&mut self) {
        match self {
            Self::Voxels(voxels) => voxels.stop_change(),
            Self::Model(scene) => scene.stop_change(),
        }
    }

    /// Handles edited voxels.
    pub fn edited(&mut self, device: &OpenDevice) -> Result<(), RenderError> {
        match self {
            Self::Voxels(voxels) => voxels.edited(device),
            Self::Model(_) => Ok(()),
        }
    }

    /// Returns the renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        match self {
            Self::Voxels(voxels) => voxels.scene.renderer(),
            Self::Model(scene) => scene.renderer(),
        }
    }

    /// Whether a part could not be read and is retried by drawing.
    pub fn is_broken(&self) -> bool {
        self.voxels().is_some_and(ShownVoxels::is_broken)
    }

    /// Holds or releases a change of renderer while an edit is applied in parts.
    pub(crate) fn hold(&mut self, is_held: bool) {
        if let Self::Voxels(voxels) = self {
            voxels.is_held = is_held;
        }
    }

    /// Returns the amounts for reports.
    pub fn amounts(&self) -> Amounts {
        match self {
            Self::Voxels(voxels) => {
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
            Self::Model(scene) => {
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

    /// Whether the renderer has no memory for voxels in full detail.
    pub fn is_full(&self) -> bool {
        self.voxels().is_some_and(|voxels| voxels.scene.is_full())
    }

    /// Whether voxels are shown at levels of detail.
    pub fn has_levels(&self) -> bool {
        self.voxels().is_some_and(|voxels| voxels.limits.has_levels())
    }

    /// Returns the voxels; a model has none.
    pub fn data(&self) -> Option<&LodData> {
        self.voxels().map(|voxels| voxels.scene.data())
    }

    /// Returns the scene of the voxels, for editing; a model has none.
    pub fn voxel_scene(&mut self) -> Option<&mut VoxelScene> {
        match self {
            Self::Voxels(voxels) => Some(&mut voxels.scene),
            Self::Model(_) => None,
        }
    }

    /// Returns the same voxels with other limits, for another scene; a model has none.
    pub(crate) fn with_limits(&self, limits: fn(LodLimits) -> LodLimits) -> Option<Content> {
        let voxels = self.voxels()?;
        Some(Content::Voxels(voxels.scene.tree().shared_data(), limits(voxels.limits)))
    }

    /// Updates meshes for `view` in a picture of this size, and continues a change of renderer or
    /// meshing for about `time`. Returns the finished fraction, or `None` once complete.
    pub fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        match self {
            Self::Voxels(voxels) => voxels.follow(view, size, time),
            Self::Model(scene) => scene.change_for(time),
        }
    }

    /// Updates meshes until all that `view` needs is there, however long it takes.
    pub fn settle(&mut self, view: &View, size: Size) -> Result<(), RenderError> {
        match self {
            Self::Voxels(voxels) => voxels.scene.settle(view, size, |_| {}),
            Self::Model(_) => Ok(()),
        }
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// If the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        match self {
            Self::Voxels(voxels) => voxels.scene.draw(view),
            Self::Model(scene) => scene.draw(view),
        }
    }

    /// Draws one picture and reads it back, with its statistics.
    ///
    /// # Errors
    /// If the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        match self {
            Self::Voxels(voxels) => voxels.scene.picture(view),
            Self::Model(scene) => scene.picture(view),
        }
    }
}
