use std::{sync::Arc, time::Duration};

use drystone::scene::{
    self, Capacity, DefaultView, EditScene, LodScene, Meshing, RendererKind, Scene, Size,
    open_window_async,
};
use drystone_render::{DrawStats, RenderError, Renderer, View, WindowTarget};
use drystone_formats::SourceError;
use drystone_world::{LodConfig, LodData, LodTree, World};
use glam::DVec3;
use web_sys::HtmlCanvasElement;

/// Limit for vertices on the GPU, in bytes. Browsers do not report the size of GPU memory.
const MAX_VERTEX_BYTES: u64 = 256 << 20;

/// A world without a renderer.
pub(crate) enum Content {
    World(Box<World>),
    Levels(Arc<LodData>),
}

impl Content {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::World(world) => world.name(),
            Self::Levels(data) => data.source().name(),
        }
    }

    /// Returns the lowest and highest corner, in voxels.
    pub(crate) fn corners(&self) -> (DVec3, DVec3) {
        match self {
            Self::World(world) => scene::corners(world),
            Self::Levels(data) => scene::level_corners(data),
        }
    }

    /// Returns a view of the whole world.
    pub(crate) fn view(&self, size: Size) -> View {
        let DefaultView { camera, atmosphere } =
            scene::default_view_of_box(self.corners(), size.aspect());
        View { atmosphere, ..View::new(camera) }
    }

    /// Opens a renderer that draws the world to the canvas.
    pub(crate) async fn show(
        self,
        kind: RendererKind,
        canvas: HtmlCanvasElement,
        size: Size,
    ) -> Result<Shown, RenderError> {
        let quads = match &self {
            Self::World(world) => scene::mesh_world(world),
            Self::Levels(_) => Vec::new(),
        };
        let capacity = match &self {
            Self::World(_) => Capacity::from(&quads),
            Self::Levels(_) => LodScene::CAPACITY,
        };
        let target = WindowTarget { window: canvas, vsync: true };
        let renderer = open_window_async(kind, target, size, capacity).await?;
        match self {
            Self::World(world) => Ok(Shown::World(Box::new(Scene::new(*world, &quads, renderer)?))),
            Self::Levels(data) => Ok(Shown::Levels(Box::new(lod_scene(data, renderer)?))),
        }
    }
}

fn lod_scene(data: Arc<LodData>, renderer: Box<dyn Renderer>) -> Result<LodScene, RenderError> {
    let config = LodConfig { threads: 0, waiting_bytes: 16 << 20, ..LodConfig::default() };
    let tree = LodTree::new(data, config).map_err(|error: SourceError| RenderError::Device {
        during: "creating the LOD tree",
        reason: error.to_string(),
    })?;
    let mut scene = LodScene::new(tree, renderer)?;
    scene.set_max_bytes(MAX_VERTEX_BYTES);
    Ok(scene)
}

/// A world with a renderer that draws it.
pub(crate) enum Shown {
    World(Box<Scene>),
    Levels(Box<LodScene>),
}

impl Shown {
    /// Returns the current voxels, without the renderer. They are shared, not copied.
    pub(crate) fn content(&self) -> Content {
        match self {
            Self::World(scene) => Content::World(Box::new(scene.world().clone())),
            Self::Levels(scene) => Content::Levels(scene.tree().shared_data()),
        }
    }

    /// Returns descriptions of the parts that could not be read so far. `None` for a world that was
    /// read completely before it was shown.
    pub(crate) fn faults(&self) -> Option<Vec<String>> {
        match self {
            Self::World(_) => None,
            Self::Levels(scene) => Some(scene.tree().data().faults()),
        }
    }

    pub(crate) fn renderer(&mut self) -> &mut dyn Renderer {
        match self {
            Self::World(scene) => scene.renderer(),
            Self::Levels(scene) => scene.renderer(),
        }
    }

    /// Returns the scene for editing.
    pub(crate) fn edit_scene(&mut self) -> &mut dyn EditScene {
        match self {
            Self::World(scene) => scene.as_mut(),
            Self::Levels(scene) => scene.as_mut(),
        }
    }

    /// Whether meshes for the current camera position are still missing.
    pub(crate) fn lags(&self) -> bool {
        match self {
            Self::World(_) => false,
            Self::Levels(scene) => !scene.tree().is_settled(),
        }
    }

    /// Meshes the whole world again. Returns `false` for a world with levels of detail, where that
    /// is not possible.
    pub(crate) fn remesh(&mut self, meshing: Meshing) -> Result<bool, RenderError> {
        match self {
            Self::World(scene) => scene.remesh_all(meshing).map(|()| true),
            Self::Levels(_) => Ok(false),
        }
    }

    /// Makes meshes that `view` needs, for at most `time`.
    pub(crate) fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<(), RenderError> {
        match self {
            Self::World(_) => Ok(()),
            Self::Levels(scene) => scene.update_for(view, size, time),
        }
    }

    pub(crate) fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        match self {
            Self::World(scene) => scene.draw(view),
            Self::Levels(scene) => scene.draw(view),
        }
    }
}
