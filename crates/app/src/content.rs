use std::{sync::Arc, time::Duration};

use drystone::scene::{
    self, Capacity, ChunkQuads, EditScene, EditTarget, LodScene, MemoryBudget, Meshing, ModelScene,
    ModelTriangles, OpenDevice, RendererKind, Scene, Size,
};
use drystone_formats::Source;
use drystone_render::{Atmosphere, DrawStats, Image, RenderError, Renderer, View};
use drystone_world::{LodData, World};

use crate::{
    AppError,
    cli::SceneOptions,
    commands::{self, Framed},
    progress::Progress,
};

mod levels;

use levels::ShownLevels;

/// Content of a window.
pub(crate) enum Content {
    World(Box<World>),
    /// A world at levels of detail: near parts fine, far parts coarse.
    Levels(Arc<LodData>, MemoryBudget),
    Model(ModelTriangles),
}

impl Content {
    /// Reads the content that the options name; `open` opens the source of a world. Also returns
    /// where its edits are saved. Reports to `progress`.
    pub(crate) fn open(
        options: &SceneOptions,
        open: impl FnOnce() -> Result<Arc<dyn Source>, AppError>,
        progress: &Progress,
    ) -> Result<(Self, EditTarget), AppError> {
        if let Some(path) = options.source.model_path() {
            let model = commands::open_model(options, path)?;
            let model = ModelTriangles::new(&model, options.shade)?;
            // Pieces small enough to be uploaded to another renderer within a frame.
            let content = Self::Model(model.in_pieces(ModelScene::PIECE_BYTES));
            return Ok((content, EditTarget::None));
        }
        let source = open()?;
        if commands::uses_levels(options, source.as_ref()) {
            let budget = options.memory_budget();
            let data = Arc::new(LodData::shared(source, budget.cache_bytes()));
            return Ok((Self::Levels(Arc::clone(&data), budget), EditTarget::Levels(data)));
        }
        let content =
            Self::World(Box::new(commands::load_with_progress(source.as_ref(), progress)?));
        let is_kept = commands::can_save_edits(source.as_ref());
        Ok((content, if is_kept { EditTarget::Source(source) } else { EditTarget::None }))
    }

    /// Returns a name for display.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::World(world) => world.name(),
            Self::Levels(data, _) => data.source().name(),
            Self::Model(model) => &model.name,
        }
    }

    /// Returns the framing for views.
    pub(crate) fn framed(&self) -> Framed {
        match self {
            Self::World(world) => Framed::world(world),
            Self::Levels(data, _) => Framed::levels(data),
            Self::Model(model) => Framed::model(model),
        }
    }

    /// Returns the atmosphere without the haze that hides the edge of a vast world. `None` if the
    /// haze does not follow the camera.
    pub(crate) fn clear_air(&self, options: &SceneOptions) -> Option<Atmosphere> {
        match self {
            Self::Levels(data, _) if options.air.haze.is_none() => {
                Some(Framed::levels(data).clear_view(options).atmosphere)
            }
            _ => None,
        }
    }

    /// Meshes a world; reports to `progress`.
    pub(crate) fn quads(&self, meshing: Meshing, progress: &Progress) -> Vec<ChunkQuads> {
        match self {
            Self::World(world) => {
                progress.begin(format!("meshing {}", world.name()), world.positions().len() as u64);
                scene::mesh_world_with_progress(world, meshing, || progress.step())
            }
            Self::Levels(..) | Self::Model(_) => Vec::new(),
        }
    }

    /// Returns the capacity that a renderer needs.
    pub(crate) fn capacity(&self, quads: &[ChunkQuads]) -> Capacity {
        match self {
            Self::Levels(..) => LodScene::CAPACITY,
            Self::World(_) | Self::Model(_) => quads.into(),
        }
    }
}

/// Content with the renderer that draws it.
pub(crate) enum Shown {
    World(Box<Scene>),
    Levels(Box<ShownLevels>),
    Model(ModelScene),
}

impl Shown {
    /// Uploads the content and its quads to a renderer; `meshing` is used for edited chunks.
    pub(crate) fn new(
        content: Content,
        quads: &[ChunkQuads],
        meshing: Meshing,
        renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        match content {
            Content::World(world) => {
                let mut scene = Scene::new(*world, quads, renderer)?;
                scene.set_meshing(meshing);
                Ok(Self::World(Box::new(scene)))
            }
            Content::Levels(data, budget) => {
                Ok(Self::Levels(Box::new(ShownLevels::new(data, budget, renderer)?)))
            }
            Content::Model(model) => Ok(Self::Model(ModelScene::new(model, renderer)?)),
        }
    }

    /// Whether every part of the content has a mesh, even a coarse one.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Self::World(_) | Self::Model(_) => true,
            Self::Levels(levels) => levels.scene.tree().is_whole(),
        }
    }

    pub(crate) fn into_content(self) -> Content {
        match self {
            Self::World(scene) => Content::World(Box::new(scene.into_world())),
            Self::Levels(levels) => {
                let (data, budget) = levels.into_parts();
                Content::Levels(data, budget)
            }
            Self::Model(scene) => Content::Model(scene.into_model()),
        }
    }

    /// Begins to mesh a whole world again; a model has no voxels. [`follow`](Self::follow)
    /// continues.
    pub(crate) fn change_meshing(&mut self, meshing: Meshing) {
        if let Self::World(scene) = self {
            scene.change_meshing(meshing);
        }
    }

    /// Begins to move the content to another renderer on the same device. The old one draws until
    /// the new one has everything: [`follow`](Self::follow) continues.
    pub(crate) fn change_renderer(
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
    pub(crate) fn stop_change(&mut self) {
        match self {
            Self::World(scene) => scene.stop_change(),
            Self::Levels(levels) => levels.stop_change(),
            Self::Model(scene) => scene.stop_change(),
        }
    }

    /// Handles edited voxels.
    pub(crate) fn edited(&mut self, device: &OpenDevice) -> Result<(), RenderError> {
        match self {
            Self::Levels(levels) => levels.edited(device),
            Self::World(_) | Self::Model(_) => Ok(()),
        }
    }

    pub(crate) fn renderer(&mut self) -> &mut dyn Renderer {
        match self {
            Self::World(scene) => scene.renderer(),
            Self::Levels(levels) => levels.scene.renderer(),
            Self::Model(scene) => scene.renderer(),
        }
    }

    /// Returns the data of a world at levels of detail, and whether its meshes lag behind the
    /// camera.
    pub(crate) fn levels(&self) -> Option<(&LodData, bool)> {
        match self {
            Self::Levels(levels) => {
                let tree = levels.scene.tree();
                Some((tree.data(), !tree.is_settled()))
            }
            Self::World(_) | Self::Model(_) => None,
        }
    }

    /// Returns the voxels for editing; a model has none.
    pub(crate) fn edit_scene(&mut self) -> Option<&mut dyn EditScene> {
        match self {
            Self::World(scene) => Some(scene.as_mut()),
            Self::Levels(levels) => Some(&mut levels.scene),
            Self::Model(_) => None,
        }
    }

    /// Updates meshes for `view` in a picture of this size, and continues a change of renderer or
    /// meshing for about `time`. Returns the finished fraction, or `None` once complete.
    pub(crate) fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        match self {
            Self::World(scene) => scene.change_for(time),
            Self::Levels(levels) => levels.follow(view, size),
            Self::Model(scene) => scene.change_for(time),
        }
    }

    /// Updates meshes until all that `view` needs is there, however long it takes.
    pub(crate) fn settle(&mut self, view: &View, size: Size) -> Result<(), RenderError> {
        match self {
            Self::Levels(levels) => levels.scene.settle(view, size, |_| {}),
            Self::World(_) | Self::Model(_) => Ok(()),
        }
    }

    pub(crate) fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        match self {
            Self::World(scene) => scene.draw(view),
            Self::Levels(levels) => levels.scene.draw(view),
            Self::Model(scene) => scene.draw(view),
        }
    }

    pub(crate) fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        match self {
            Self::World(scene) => scene.picture(view),
            Self::Levels(levels) => levels.scene.picture(view),
            Self::Model(scene) => scene.picture(view),
        }
    }
}
