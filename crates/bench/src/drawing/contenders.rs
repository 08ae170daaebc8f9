//! Contenders that draw: a renderer on a backend, with their names in the tables.

use drystone_mesh::{Cube, Quad};
use drystone_render::{
    Api, Device, GlConfig, GlDevice, Image, InstancedRenderer, NaiveRenderer, PoolRenderer,
    RenderError, Renderer, SlotPolicy, View, WgpuDevice,
};

use super::{
    SIZE,
    article::{ArticleDevice, FatDevice},
};

/// A renderer on a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// drystone's pool on wgpu.
    PoolWgpu,
    /// Naive: buffers for each mesh and a call per face direction, on wgpu.
    NaiveWgpu,
    /// drystone's pool on OpenGL, written directly.
    PoolGl,
    /// The article's naive program: a vertex array, three buffers and a call per mesh.
    NaiveGl,
    /// drystone's pool with the article's vertices.
    PoolGlFat,
    /// One cube per voxel, on wgpu.
    InstancedWgpu,
    /// One cube per voxel, on OpenGL.
    InstancedGl,
}

impl Kind {
    /// All kinds that draw meshes. The others are compared with the first.
    pub(super) const ALL: [Self; 5] =
        [Self::PoolWgpu, Self::NaiveWgpu, Self::PoolGl, Self::NaiveGl, Self::PoolGlFat];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::PoolWgpu => "pool-wgpu",
            Self::NaiveWgpu => "naive-wgpu",
            Self::PoolGl => "pool-gl",
            Self::NaiveGl => "naive-gl",
            Self::PoolGlFat => "pool-gl-fat",
            Self::InstancedWgpu => "instanced-wgpu",
            Self::InstancedGl => "instanced-gl",
        }
    }

    /// GPU memory per quad in bytes, if the renderer counts a [`Quad`] differently.
    pub(super) const fn quad_bytes(self) -> u64 {
        match self {
            Self::PoolWgpu | Self::NaiveWgpu | Self::PoolGl => size_of::<Quad>() as u64,
            Self::InstancedWgpu | Self::InstancedGl => size_of::<Cube>() as u64,
            Self::NaiveGl => ArticleDevice::QUAD_BYTES,
            Self::PoolGlFat => FatDevice::QUAD_BYTES,
        }
    }

    /// Opens a renderer of this kind, with capacity for a scene.
    ///
    /// # Errors
    /// The error of its device: `NoAdapter` if the machine has none, `TooLarge` if the scene does
    /// not fit.
    pub(super) fn open(self, capacity: Capacity) -> Result<Box<dyn Renderer>, RenderError> {
        let [width, height] = SIZE;
        let gl = GlConfig::default();
        match self {
            Self::PoolWgpu => pool(WgpuDevice::headless(Api::Any, width, height)?, capacity),
            Self::NaiveWgpu => naive(WgpuDevice::headless(Api::Any, width, height)?),
            Self::PoolGl => pool(GlDevice::headless(gl, width, height)?, capacity),
            Self::NaiveGl => naive(ArticleDevice::headless(width, height)?),
            Self::PoolGlFat => pool(FatDevice::headless(gl, width, height)?, capacity),
            Self::InstancedWgpu => instanced(WgpuDevice::headless(Api::Any, width, height)?),
            Self::InstancedGl => instanced(GlDevice::headless(gl, width, height)?),
        }
    }
}

/// Capacity that a scene needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub(super) quads: u64,
    pub(super) meshes: u32,
}

fn pool<D: Device + 'static>(
    device: D,
    capacity: Capacity,
) -> Result<Box<dyn Renderer>, RenderError> {
    let Capacity { quads, meshes } = capacity;
    Ok(Box::new(PoolRenderer::new(device, quads, meshes)?))
}

fn naive<D: Device + 'static>(device: D) -> Result<Box<dyn Renderer>, RenderError> {
    Ok(Box::new(NaiveRenderer::new(device)))
}

fn instanced<D: Device + 'static>(device: D) -> Result<Box<dyn Renderer>, RenderError> {
    Ok(Box::new(InstancedRenderer::new(device, SlotPolicy::Lowest)?))
}

/// Returns the renderer. Without an adapter, or if the scene is too large, prints the reason and
/// returns `None`.
///
/// Any other error.
pub(super) fn available<T>(
    case: &str,
    contender: &str,
    opened: Result<T, RenderError>,
) -> Result<Option<T>, RenderError> {
    match opened {
        Ok(it) => Ok(Some(it)),
        Err(error @ (RenderError::NoAdapter { .. } | RenderError::TooLarge { .. })) => {
            eprintln!("skipped: {case}, {contender}: {error}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Largest number of pixels that may differ between the contenders' pictures. Faces of different
/// meshes with equal depth depend on the drawing order.
const DIFFERENT_PIXELS: u32 = SIZE[0] * SIZE[1] / 10_000;

/// Checks that all renderers draw the same picture, and that it is not empty. The error names the
/// renderer that differs.
pub(super) fn compare<'a>(
    renderers: impl Iterator<Item = (Kind, &'a mut dyn Renderer)>,
    view: &View,
) -> Result<(), (Kind, String)> {
    let mut first = None;
    for (kind, renderer) in renderers {
        let failed = |error: RenderError| (kind, error.to_string());
        let drawn = renderer.draw(view).map_err(failed)?;
        if drawn.quads == 0 {
            return Err((kind, "nothing was drawn".into()));
        }
        let picture = renderer.read_image().map_err(failed)?;
        let Some(first) = &first else {
            first = Some(picture);
            continue;
        };
        same_picture(first, &picture).map_err(|message| (kind, message))?;
    }
    Ok(())
}

/// Compares a picture with the first one, except for pixels that depend on the drawing order.
pub(super) fn same_picture(first: &Image, picture: &Image) -> Result<(), String> {
    let difference = picture.difference(first, 2).ok_or("the pictures' sizes differ")?;
    if difference.pixels > DIFFERENT_PIXELS {
        return Err(format!("{} pixels differ from the first", difference.pixels));
    }
    Ok(())
}
