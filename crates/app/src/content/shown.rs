use std::time::Duration;

use drystone_render::{DrawStats, Image, RenderError, Renderer, View};
use drystone_world::{LodCount, LodData};

use super::{Content, levels::ShownLevels};
use crate::scene::{
    Capacity, ChunkQuads, EditScene, Meshing, ModelScene, OpenDevice, RendererKind, Scene, Size,
};

/// Limit of the work on levels of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A window that draws frame after frame.
    Frames,
    /// Single pictures: no frame waits, so that there are no limits per frame.
    Pictures,
}

/// Content with the renderer that draws it.
pub enum Shown {
    /// A world in memory.
    World(Box<Scene>),
    /// A world at levels of detail.
    Levels(Box<ShownLevels>),
    /// A polygon model.
    Model(ModelScene),
}

/// Amounts of shown content.
#[derive(Clone, Debug, PartialEq)]
pub enum Amounts {
    /// Voxels.
    Voxels {
        /// Number of chunks.
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
    /// Uploads the content and its quads to a renderer; `meshing` is used for edited chunks.
    ///
    /// # Errors
    /// Errors of the renderer, or if no threads can be started.
    pub fn new(
        content: Content,
        quads: &[ChunkQuads],
        meshing: Meshing,
        renderer: Box<dyn Renderer>,
        pace: Pace,
    ) -> Result<Self, RenderError> {
        match content {
            Content::World(world) => {
                let mut scene = Scene::new(*world, quads, renderer)?;
                scene.set_meshing(meshing);
                Ok(Self::World(Box::new(scene)))
            }
            Content::Levels(data, limits) => {
                let limits = limits.at(pace);
                Ok(Self::Levels(Box::new(ShownLevels::new(data, limits, renderer)?)))
            }
            Content::Model(model) => Ok(Self::Model(ModelScene::new(model, renderer)?)),
        }
    }

    /// Whether every part of the content has a mesh, even a coarse one.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::World(_) | Self::Model(_) => true,
            Self::Levels(levels) => levels.scene.tree().is_whole(),
        }
    }

    /// Returns the content, without its meshes.
    pub fn into_content(self) -> Content {
        match self {
            Self::World(scene) => Content::World(Box::new(scene.into_world())),
            Self::Levels(levels) => {
                let (data, limits) = levels.into_parts();
                Content::Levels(data, limits)
            }
            Self::Model(scene) => Content::Model(scene.into_model()),
        }
    }

    /// Begins to mesh a whole world again; a model has no voxels. [`follow`](Self::follow)
    /// continues.
    pub fn change_meshing(&mut self, meshing: Meshing) {
        if let Self::World(scene) = self {
            scene.change_meshing(meshing);
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
            Self::World(scene) => scene.change_renderer(device.renderer(kind, scene.capacity())?),
            Self::Levels(levels) => levels.change_renderer(device, kind),
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
            Self::World(scene) => scene.stop_change(),
            Self::Levels(levels) => levels.stop_change(),
            Self::Model(scene) => scene.stop_change(),
        }
    }

    /// Handles edited voxels.
    pub fn edited(&mut self, device: &OpenDevice) -> Result<(), RenderError> {
        match self {
            Self::Levels(levels) => levels.edited(device),
            Self::World(_) | Self::Model(_) => Ok(()),
        }
    }

    /// Returns the renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        match self {
            Self::World(scene) => scene.renderer(),
            Self::Levels(levels) => levels.scene.renderer(),
            Self::Model(scene) => scene.renderer(),
        }
    }

    /// Whether a part could not be read and is retried by drawing.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Levels(levels) if levels.is_broken())
    }

    /// Holds or releases a change of renderer while an edit is applied in parts.
    pub(crate) fn hold(&mut self, is_held: bool) {
        if let Self::Levels(levels) = self {
            levels.is_held = is_held;
        }
    }

    /// Returns the amounts for reports.
    pub fn amounts(&self) -> Amounts {
        match self {
            Self::World(scene) => Amounts::Voxels {
                chunks: scene.world().chunk_count(),
                quads: scene.capacity().quads,
                levels: Vec::new(),
            },
            Self::Levels(levels) => {
                let levels = levels.scene.tree().counts();
                let chunks = levels.iter().map(|level| level.nodes as usize).sum();
                let quads = levels.iter().map(|level| level.quads).sum();
                Amounts::Voxels { chunks, quads, levels }
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
        matches!(self, Self::Levels(levels) if levels.scene.coarsening() > 1.0)
    }

    /// Returns the data of a world at levels of detail, and whether its meshes lag behind the
    /// camera.
    pub fn levels(&self) -> Option<(&LodData, bool)> {
        match self {
            Self::Levels(levels) => {
                let tree = levels.scene.tree();
                Some((tree.data(), !tree.is_settled()))
            }
            Self::World(_) | Self::Model(_) => None,
        }
    }

    /// Returns the voxels for editing; a model has none.
    pub fn edit_scene(&mut self) -> Option<&mut dyn EditScene> {
        match self {
            Self::World(scene) => Some(scene.as_mut()),
            Self::Levels(levels) => Some(&mut levels.scene),
            Self::Model(_) => None,
        }
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
            Self::World(scene) => scene.change_for(time),
            Self::Levels(levels) => levels.follow(view, size, time),
            Self::Model(scene) => scene.change_for(time),
        }
    }

    /// Updates meshes until all that `view` needs is there, however long it takes.
    pub fn settle(&mut self, view: &View, size: Size) -> Result<(), RenderError> {
        match self {
            Self::Levels(levels) => levels.scene.settle(view, size, |_| {}),
            Self::World(_) | Self::Model(_) => Ok(()),
        }
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// If the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        match self {
            Self::World(scene) => scene.draw(view),
            Self::Levels(levels) => levels.scene.draw(view),
            Self::Model(scene) => scene.draw(view),
        }
    }

    /// Draws one picture and reads it back, with its statistics.
    ///
    /// # Errors
    /// If the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        match self {
            Self::World(scene) => scene.picture(view),
            Self::Levels(levels) => levels.scene.picture(view),
            Self::Model(scene) => scene.picture(view),
        }
    }
}
