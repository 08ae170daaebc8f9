//! Contenders that draw: a renderer on a backend, with their names in the tables.

use drystone_mesh::Quad;
use drystone_render::{
    Api, GlConfig, GlDevice, Image, NaiveRenderer, PoolRenderer, RenderError, Renderer, View,
    WgpuDevice,
};

use super::{
    SIZE,
    article::{ArticleDevice, FatDevice, MergedDevice},
};
use crate::{Error, Failure, Run, error::By};

/// Opens wgpu without a window.
pub(super) fn wgpu_device() -> Result<WgpuDevice, RenderError> {
    WgpuDevice::headless(Api::Any, SIZE[0], SIZE[1])
}

/// Opens OpenGL without a window.
pub(super) fn gl_device() -> Result<GlDevice, RenderError> {
    GlDevice::headless(GlConfig::default(), SIZE[0], SIZE[1])
}

/// A renderer on a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// drystone's pool on wgpu.
    PoolWgpu,
    /// Naive: buffers for each mesh and one call per mesh, on wgpu.
    NaiveWgpu,
    /// drystone's pool on OpenGL, written directly.
    PoolGl,
    /// The article's naive program: a vertex array, three buffers and a call per mesh.
    NaiveGl,
    /// The article's naive program, but a changed mesh gets new buffers.
    NaiveGlCreating,
    /// drystone's pool with the article's vertices.
    PoolGlFat,
    /// One buffer with drystone's quads, uploaded whole when anything changes, and one call, on OpenGL.
    MergedGl,
}

impl Kind {
    /// All kinds, except those of one table alone.
    pub(super) const ALL: [Self; 6] = [
        Self::PoolWgpu,
        Self::NaiveWgpu,
        Self::PoolGl,
        Self::NaiveGl,
        Self::PoolGlFat,
        Self::MergedGl,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::PoolWgpu => "pool-wgpu",
            Self::NaiveWgpu => "naive-wgpu",
            Self::PoolGl => "pool-gl",
            Self::NaiveGl => "naive-gl",
            Self::NaiveGlCreating => "naive-gl-creating",
            Self::PoolGlFat => "pool-gl-fat",
            Self::MergedGl => "merged-gl",
        }
    }

    /// GPU memory per quad in bytes, if the renderer counts a [`Quad`] differently.
    pub(super) const fn quad_bytes(self) -> u64 {
        match self {
            Self::PoolWgpu | Self::NaiveWgpu | Self::PoolGl | Self::MergedGl => {
                size_of::<Quad>() as u64
            }
            Self::NaiveGl | Self::NaiveGlCreating => ArticleDevice::QUAD_BYTES,
            Self::PoolGlFat => FatDevice::QUAD_BYTES,
        }
    }

    /// Opens a renderer of this kind, with capacity for a scene.
    ///
    /// # Errors
    /// The error of its device: `NoAdapter` if the machine has none, `TooLarge` if the scene does
    /// not fit.
    pub(super) fn open(self, quads: u64, meshes: u32) -> Result<Box<dyn Renderer>, RenderError> {
        let [width, height] = SIZE;
        Ok(match self {
            Self::PoolWgpu => Box::new(PoolRenderer::new(wgpu_device()?, quads, meshes)?),
            Self::NaiveWgpu => Box::new(NaiveRenderer::new(wgpu_device()?)),
            Self::PoolGl => Box::new(PoolRenderer::new(gl_device()?, quads, meshes)?),
            Self::NaiveGl => Box::new(NaiveRenderer::new(ArticleDevice::headless(width, height)?)),
            Self::NaiveGlCreating => {
                let device = ArticleDevice::headless(width, height)?.without_spare_buffers();
                Box::new(NaiveRenderer::new(device))
            }
            Self::PoolGlFat => {
                let device = FatDevice::headless(GlConfig::default(), width, height)?;
                Box::new(PoolRenderer::new(device, quads, meshes)?)
            }
            Self::MergedGl => Box::new(NaiveRenderer::new(MergedDevice::headless(width, height)?)),
        })
    }
}

/// Returns the contenders that could be opened, with their names. Prints the names of the others:
/// those for which the machine has no adapter or too little memory.
///
/// # Errors
/// Any other error of an opened contender.
pub(super) fn available<N: AsRef<str>, T>(
    case: &str,
    opened: impl IntoIterator<Item = (N, Result<T, RenderError>)>,
) -> Result<Vec<(N, T)>, Failure> {
    let mut available = Vec::new();
    for (name, opened) in opened {
        match opened {
            Ok(it) => available.push((name, it)),
            Err(
                error @ (RenderError::NoAdapter { .. }
                | RenderError::NoCulling { .. }
                | RenderError::TooLarge { .. }),
            ) => eprintln!("skipped: {case}, {}: {error}", name.as_ref()),
            Err(error) => return Err(error).by(name.as_ref()),
        }
    }
    Ok(available)
}

/// A renderer with its scene.
pub(super) trait Drawing {
    fn renderer(&mut self) -> &mut dyn Renderer;

    /// Changes the scene before the pictures are compared, if it changes at all.
    fn change(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Checks the contenders of a case and notes their adapters: all draw the same picture, which is
/// not empty.
pub(super) fn prepare<N: AsRef<str>, D: Drawing>(
    run: &mut Run<'_>,
    case: &str,
    view: &View,
    opened: Result<Vec<(N, D)>, Failure>,
) -> Result<Vec<(N, D)>, Error> {
    let compared = opened.and_then(|mut drawings| {
        let mut pictures = SamePictures::default();
        for (name, drawing) in &mut drawings {
            let changed = drawing.change();
            changed.and_then(|()| pictures.draw(drawing.renderer(), view)).by(name.as_ref())?;
        }
        Ok(drawings)
    });
    let mut drawings = compared.map_err(|failure| run.error(case, failure))?;
    let mut adapters: Vec<_> =
        drawings.iter_mut().map(|(_, drawing)| drawing.renderer().output().describe()).collect();
    adapters.dedup();
    run.table.machine.gpu = adapters.join("; ");
    Ok(drawings)
}

/// Pictures of one case, which must be equal.
#[derive(Default)]
pub(super) struct SamePictures {
    first: Option<Image>,
}

impl SamePictures {
    /// Largest number of pixels that may differ. Faces of different meshes with equal depth depend on
    /// the drawing order.
    const DIFFERENT_PIXELS: u32 = SIZE[0] * SIZE[1] / 10_000;

    /// Draws a picture and compares it. An empty one is an error.
    pub(super) fn draw(&mut self, renderer: &mut dyn Renderer, view: &View) -> Result<(), Failure> {
        renderer.draw(view)?;
        let picture = renderer.read_image()?;
        // Counts of culling on the GPU are available after the picture is read.
        if renderer.drawn().quads == 0 {
            return Err("nothing was drawn".into());
        }
        self.compare(picture)
    }

    /// Compares a picture with the first one, except for pixels that depend on the drawing order.
    pub(super) fn compare(&mut self, picture: Image) -> Result<(), Failure> {
        let Some(first) = &self.first else {
            self.first = Some(picture);
            return Ok(());
        };
        let difference = picture.difference(first, 2).ok_or("the pictures' sizes differ")?;
        if difference.pixels > Self::DIFFERENT_PIXELS {
            return Err(format!("{} pixels differ from the first", difference.pixels).into());
        }
        Ok(())
    }
}
