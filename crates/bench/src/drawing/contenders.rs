//! Those that draw: a renderer on a backend each, by the names that the tables use.

use drystone_mesh::{Cube, Quad};
use drystone_render::{
    Api, ArticleDevice, Device, FatDevice, GlConfig, GlDevice, Image, InstancedRenderer,
    NaiveRenderer, PoolRenderer, RenderError, Renderer, SlotPolicy, View, WgpuDevice,
};

use super::SIZE;

/// One that draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Our pool on wgpu.
    PoolWgpu,
    /// Buffers for each mesh and a call a facing, on wgpu.
    NaiveWgpu,
    /// Our pool on OpenGL, written in place.
    PoolGl,
    /// The article's naive program: a vertex array, three buffers and a call a mesh.
    NaiveGl,
    /// Our pool with the article's vertices.
    PoolGlFat,
    /// Cube by cube, on wgpu.
    InstancedWgpu,
    /// Cube by cube, on OpenGL.
    InstancedGl,
}

impl Kind {
    /// All that draw meshes; the first is what the others are compared with.
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

    /// Bytes of GPU memory that a quad takes, where a renderer counts those of a [`Quad`].
    pub(super) const fn quad_bytes(self) -> u64 {
        match self {
            Self::PoolWgpu | Self::NaiveWgpu | Self::PoolGl => size_of::<Quad>() as u64,
            Self::InstancedWgpu | Self::InstancedGl => size_of::<Cube>() as u64,
            Self::NaiveGl => ArticleDevice::QUAD_BYTES,
            Self::PoolGlFat => FatDevice::QUAD_BYTES,
        }
    }

    /// A renderer of this kind, with room for a scene.
    ///
    /// # Errors
    /// What its device says: `NoAdapter` where the machine has none, `TooLarge` where the
    /// scene is.
    pub(super) fn open(self, room: Capacity) -> Result<Box<dyn Renderer>, RenderError> {
        let [width, height] = SIZE;
        let gl = GlConfig::default();
        match self {
            Self::PoolWgpu => pool(WgpuDevice::headless(Api::Any, width, height)?, room),
            Self::NaiveWgpu => naive(WgpuDevice::headless(Api::Any, width, height)?),
            Self::PoolGl => pool(GlDevice::headless(gl, width, height)?, room),
            Self::NaiveGl => naive(ArticleDevice::headless(width, height)?),
            Self::PoolGlFat => pool(FatDevice::headless(gl, width, height)?, room),
            Self::InstancedWgpu => instanced(WgpuDevice::headless(Api::Any, width, height)?),
            Self::InstancedGl => instanced(GlDevice::headless(gl, width, height)?),
        }
    }
}

/// What a scene needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub(super) quads: u64,
    pub(super) meshes: u32,
}

fn pool<D: Device + 'static>(device: D, room: Capacity) -> Result<Box<dyn Renderer>, RenderError> {
    let Capacity { quads, meshes } = room;
    Ok(Box::new(PoolRenderer::new(device, quads, meshes)?))
}

fn naive<D: Device + 'static>(device: D) -> Result<Box<dyn Renderer>, RenderError> {
    Ok(Box::new(NaiveRenderer::new(device)))
}

fn instanced<D: Device + 'static>(device: D) -> Result<Box<dyn Renderer>, RenderError> {
    Ok(Box::new(InstancedRenderer::new(device, SlotPolicy::Lowest)?))
}

/// What was opened. Where the machine has no adapter for it or the scene is too large, that
/// is said and it takes no part.
///
/// # Errors
/// Any other.
pub(super) fn if_possible<T>(
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

/// Pixels that may differ between the contenders' pictures: faces of different meshes that
/// meet at one depth are decided by drawing order.
const DIFFERENT_PIXELS: u32 = SIZE[0] * SIZE[1] / 10_000;

/// Whether all renderers draw the same picture, and not an empty one; if not, which does
/// not.
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

/// Whether a picture is the first one, but for pixels that the drawing order decides.
pub(super) fn same_picture(first: &Image, picture: &Image) -> Result<(), String> {
    let difference = picture.difference(first, 2).ok_or("the pictures' sizes differ")?;
    if difference.pixels > DIFFERENT_PIXELS {
        return Err(format!("{} pixels differ from the first", difference.pixels));
    }
    Ok(())
}
