use drystone::scene::{self, ChunkQuads, Meshing, ModelScene, ModelTriangles, Scene};
use drystone_render::{DrawStats, Image, RenderError, Renderer, View};
use drystone_world::World;
use glam::DVec3;

use crate::{cli::SceneOptions, commands};

/// What a window shows.
pub(super) enum Content {
    World(Box<World>),
    Model(ModelTriangles),
}

impl Content {
    /// A name to show.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::World(world) => world.name(),
            Self::Model(model) => &model.name,
        }
    }

    /// The lowest and highest corner, in voxels.
    pub(super) fn corners(&self) -> (DVec3, DVec3) {
        match self {
            Self::World(world) => scene::corners(world),
            Self::Model(model) => model.place.corners(),
        }
    }

    /// What the options see of it.
    pub(super) fn view(&self, options: &SceneOptions) -> View {
        match self {
            Self::World(world) => commands::view_of(world, options),
            Self::Model(model) => commands::view_of_model(model, options),
        }
    }

    /// The quads of a world.
    pub(super) fn quads(&self, meshing: Meshing) -> Vec<ChunkQuads> {
        match self {
            Self::World(world) => scene::mesh_world_with(world, meshing),
            Self::Model(_) => Vec::new(),
        }
    }
}

/// The same with a renderer that draws it.
pub(super) enum Shown {
    World(Box<Scene>),
    Model(ModelScene),
}

impl Shown {
    /// Hands the content, and the quads that it has, to a renderer; `meshing` is how edited
    /// chunks are meshed.
    pub(super) fn new(
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
            Content::Model(model) => Ok(Self::Model(ModelScene::new(model, renderer)?)),
        }
    }

    pub(super) fn into_content(self) -> Content {
        match self {
            Self::World(scene) => Content::World(Box::new(scene.into_world())),
            Self::Model(scene) => Content::Model(scene.into_model()),
        }
    }

    /// Meshes all of a world anew; a model has no voxels.
    pub(super) fn remesh(&mut self, meshing: Meshing) -> Result<(), RenderError> {
        match self {
            Self::World(scene) => scene.remesh_all(meshing),
            Self::Model(_) => Ok(()),
        }
    }

    pub(super) fn renderer(&mut self) -> &mut dyn Renderer {
        match self {
            Self::World(scene) => scene.renderer(),
            Self::Model(scene) => scene.renderer(),
        }
    }

    pub(super) fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        match self {
            Self::World(scene) => scene.draw(view),
            Self::Model(scene) => scene.draw(view),
        }
    }

    pub(super) fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        match self {
            Self::World(scene) => scene.picture(view),
            Self::Model(scene) => scene.picture(view),
        }
    }
}
