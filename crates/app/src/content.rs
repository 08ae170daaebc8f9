use std::{sync::Arc, time::Duration};

use drystone::scene::{
    self, Capacity, ChunkQuads, EditScene, KeptBy, LodScene, MemoryBudget, Meshing, ModelScene,
    ModelTriangles, OpenDevice, RendererKind, Scene, Size,
};
use drystone_render::{Atmosphere, DrawStats, Image, RenderError, Renderer, View};
use drystone_world::{LodData, Source, World};

use crate::{
    AppError,
    cli::SceneOptions,
    commands::{self, Framed},
    progress::Progress,
};

mod levels;

use levels::ShownLevels;

/// What a window shows.
pub(crate) enum Content {
    World(Box<World>),
    /// A world near parts of which are fine and far ones coarse.
    Levels(Arc<LodData>, MemoryBudget),
    Model(ModelTriangles),
}

impl Content {
    /// Reads what the options name, a world from the source that `open` opens; says what keeps
    /// edits of it, and tells `progress` how far it is.
    pub(crate) fn open(
        options: &SceneOptions,
        open: impl FnOnce() -> Result<Arc<dyn Source>, AppError>,
        progress: &Progress,
    ) -> Result<(Self, KeptBy), AppError> {
        if let Some(path) = options.source.model_path() {
            let model = commands::open_model(options, path)?;
            let model = ModelTriangles::new(&model, options.shade)?;
            // Small enough to be handed to another renderer within frames.
            let content = Self::Model(model.in_pieces(ModelScene::PIECE_BYTES));
            return Ok((content, KeptBy::Nobody));
        }
        let source = open()?;
        if commands::wants_levels(options, source.as_ref()) {
            let budget = options.memory_budget();
            let data = Arc::new(LodData::shared(source, budget.cache_bytes()));
            return Ok((Self::Levels(Arc::clone(&data), budget), KeptBy::Levels(data)));
        }
        let content =
            Self::World(Box::new(commands::load_with_progress(source.as_ref(), progress)?));
        let is_kept = commands::can_save_edits(source.as_ref());
        Ok((content, if is_kept { KeptBy::Source(source) } else { KeptBy::Nobody }))
    }

    /// A name to show.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::World(world) => world.name(),
            Self::Levels(data, _) => data.source().name(),
            Self::Model(model) => &model.name,
        }
    }

    /// What fits it into pictures.
    pub(crate) fn framed(&self) -> Framed {
        match self {
            Self::World(world) => Framed::world(world),
            Self::Levels(data, _) => Framed::levels(data),
            Self::Model(model) => Framed::model(model),
        }
    }

    /// The air of it where it hides no end of the world, if it could: the haze then follows the
    /// eye.
    pub(crate) fn clear_air(&self, options: &SceneOptions) -> Option<Atmosphere> {
        match self {
            Self::Levels(data, _) if options.air.haze.is_none() => {
                Some(Framed::levels(data).clear_view(options).atmosphere)
            }
            _ => None,
        }
    }

    /// The quads of a world; `progress` is told how far they are.
    pub(crate) fn quads(&self, meshing: Meshing, progress: &Progress) -> Vec<ChunkQuads> {
        match self {
            Self::World(world) => {
                progress.begin(format!("meshing {}", world.name()), world.positions().len() as u64);
                scene::mesh_world_with_progress(world, meshing, || progress.step())
            }
            Self::Levels(..) | Self::Model(_) => Vec::new(),
        }
    }

    /// What a renderer is to have room for.
    pub(crate) fn room(&self, quads: &[ChunkQuads]) -> Capacity {
        match self {
            Self::Levels(..) => LodScene::CAPACITY,
            Self::World(_) | Self::Model(_) => quads.into(),
        }
    }
}

/// The same with a renderer that draws it.
pub(crate) enum Shown {
    World(Box<Scene>),
    Levels(Box<ShownLevels>),
    Model(ModelScene),
}

impl Shown {
    /// Hands the content, and the quads that it has, to a renderer; `meshing` is how edited
    /// chunks are meshed.
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

    /// Whether something is shown in every place of it, however coarse.
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

    /// Begins to mesh all of a world anew; a model has no voxels. [`follow`](Self::follow) goes on.
    pub(crate) fn change_meshing(&mut self, meshing: Meshing) {
        if let Self::World(scene) = self {
            scene.change_meshing(meshing);
        }
    }

    /// Begins to show the same with another renderer on the same device. The old one draws until
    /// the other has everything: [`follow`](Self::follow) goes on.
    pub(crate) fn change_renderer(
        &mut self,
        device: &OpenDevice,
        kind: RendererKind,
    ) -> Result<(), RenderError> {
        match self {
            Self::World(scene) => scene.change_renderer(device.renderer(kind, scene.room())?),
            Self::Levels(levels) => levels.change_renderer(device, kind),
            // There is nothing to be made of a model, it is only handed over.
            Self::Model(scene) => {
                scene.change_renderer(device.renderer(kind, Capacity::default())?);
                Ok(())
            }
        }
    }

    /// Goes on as it is.
    pub(crate) fn stop_change(&mut self) {
        match self {
            Self::World(scene) => scene.stop_change(),
            Self::Levels(levels) => levels.stop_change(),
            Self::Model(scene) => scene.stop_change(),
        }
    }

    /// Voxels were set.
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

    /// The world, where what is shown of it follows the eye, and whether that lags behind.
    pub(crate) fn levels(&self) -> Option<(&LodData, bool)> {
        match self {
            Self::Levels(levels) => {
                let tree = levels.scene.tree();
                Some((tree.data(), !tree.is_settled()))
            }
            Self::World(_) | Self::Model(_) => None,
        }
    }

    /// The voxels, to be changed; a model has none.
    pub(crate) fn edit_scene(&mut self) -> Option<&mut dyn EditScene> {
        match self {
            Self::World(scene) => Some(scene.as_mut()),
            Self::Levels(levels) => Some(&mut levels.scene),
            Self::Model(_) => None,
        }
    }

    /// Brings what is shown closer to what `view` should see, in a picture of this size, and goes
    /// on with a change for about `time`. Returns which part of that is done, and `None` when all
    /// is.
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

    /// Brings what is shown to what `view` should see, however long it takes.
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
