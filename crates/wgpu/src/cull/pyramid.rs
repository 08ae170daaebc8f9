//! The depth pyramid: ever coarser pictures of the depth buffer.

use super::pipelines::{self, CullPipelines};
use crate::{error::GpuError, gpu::Gpu};

const WHAT: &str = "the depth pyramid";

/// Number of levels that one dispatch makes.
const LEVELS_A_DISPATCH: usize = 4;
/// Side of the square of first-level texels that one workgroup makes.
const WORKGROUP_SIDE: u32 = 8;
/// Maximum number of levels, as in the shaders' table: enough for pictures of 65,536 pixels a side.
const MAX_LEVELS: usize = 16;

/// Depth attachment of the caller that meshes are culled by. Depth is reversed: 1 is the near plane,
/// 0 the farthest. The texture needs `TEXTURE_BINDING`, one sample a pixel and a depth format.
#[derive(Clone, Copy, Debug)]
pub struct CullDepth<'a> {
    /// The attachment.
    pub view: &'a wgpu::TextureView,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

impl CullDepth<'_> {
    pub(super) fn check(&self) -> Result<(), GpuError> {
        let texture = self.view.texture();
        let reason = if !texture.usage().contains(wgpu::TextureUsages::TEXTURE_BINDING) {
            "the depth texture was created without TEXTURE_BINDING"
        } else if texture.sample_count() != 1 {
            "the depth texture has several samples a pixel"
        } else if !texture.format().has_depth_aspect() {
            "the texture has no depth"
        } else if self.size[0] > texture.width() || self.size[1] > texture.height() {
            "the depth texture is smaller than the picture"
        } else {
            return Ok(());
        };
        Err(GpuError::Unsupported { what: "culling by depth", reason })
    }
}

/// A depth pyramid on the GPU. It is stored in a buffer, level after level, because textures round
/// odd sizes down and buffers can round them up.
#[derive(Debug)]
pub(super) struct Pyramid {
    /// Offset and size of each level, as shaders read them.
    pub(super) levels: wgpu::Buffer,
    pub(super) texels: wgpu::Buffer,
    /// Size of the picture; 0 without a picture.
    size: [u32; 2],
    /// The depth buffer that it is made from.
    depth: Option<wgpu::TextureView>,
    dispatches: Vec<Dispatch>,
}

#[derive(Debug)]
struct Dispatch {
    group: wgpu::BindGroup,
    workgroups: [u32; 2],
}

/// Offset and size of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) first_texel: u32,
    pub(super) size: [u32; 2],
}

/// Offsets and sizes of the levels for a picture of this size. Each is half the size of the one
/// before, rounded up, down to a single texel.
pub(super) fn levels(picture: [u32; 2]) -> Vec<Level> {
    let (mut first_texel, mut size) = (0, picture);
    let mut levels = Vec::new();
    while levels.len() < MAX_LEVELS && (levels.is_empty() || size != [1, 1]) {
        size = size.map(|side| side.div_ceil(2));
        levels.push(Level { first_texel, size });
        first_texel += size[0] * size[1];
    }
    levels
}

impl Pyramid {
    /// A pyramid without levels, for culling without depth.
    pub(super) fn empty(gpu: &Gpu) -> Result<Self, GpuError> {
        Self::with_levels(gpu, [0; 2], &[])
    }

    /// Creates the pyramid of a picture of this size.
    pub(super) fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, GpuError> {
        Self::with_levels(gpu, size, &levels(size))
    }

    fn with_levels(gpu: &Gpu, size: [u32; 2], layout: &[Level]) -> Result<Self, GpuError> {
        use wgpu::BufferUsages as Usage;
        let texel_count: u64 =
            layout.iter().map(|Level { size: [w, h], .. }| u64::from(*w) * u64::from(*h)).sum();
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let texels = gpu.buffer(WHAT, texel_count.max(1) * 4, usage)?;
        let levels = uniform(gpu, &table(size, layout))?;
        Ok(Self { levels, texels, size, depth: None, dispatches: Vec::new() })
    }

    /// Size of the picture.
    pub(super) const fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Makes it from this depth buffer from now on.
    pub(super) fn set_depth(
        &mut self,
        gpu: &Gpu,
        pipelines: &CullPipelines,
        depth: &wgpu::TextureView,
    ) -> Result<(), GpuError> {
        if self.depth.as_ref() == Some(depth) {
            return Ok(());
        }
        self.depth = None;
        self.dispatches.clear();
        let layout = levels(self.size);
        for base in (0..layout.len()).step_by(LEVELS_A_DISPATCH) {
            let base_uniform = uniform(gpu, &[[base as u32, 0, 0, 0]])?;
            let resources = [
                self.levels.as_entire_binding(),
                self.texels.as_entire_binding(),
                base_uniform.as_entire_binding(),
                wgpu::BindingResource::TextureView(depth),
            ];
            let group = pipelines::bind(gpu, &pipelines.pyramid_layout, resources.into_iter())?;
            let workgroups = layout[base].size.map(|side| side.div_ceil(WORKGROUP_SIDE));
            self.dispatches.push(Dispatch { group, workgroups });
        }
        self.depth = Some(depth.clone());
        Ok(())
    }

    /// Encodes the computation from the current depth.
    pub(super) fn encode(&self, pass: &mut wgpu::ComputePass<'_>, pipelines: &CullPipelines) {
        for (index, dispatch) in self.dispatches.iter().enumerate() {
            let is_first = index == 0;
            pass.set_pipeline(if is_first { &pipelines.from_depth } else { &pipelines.from_level });
            pass.set_bind_group(0, &dispatch.group, &[]);
            let [x, y] = dispatch.workgroups;
            pass.dispatch_workgroups(x, y, 1);
        }
    }
}

/// The levels as shaders read them, preceded by the picture's size and the number of levels.
fn table([width, height]: [u32; 2], layout: &[Level]) -> [[u32; 4]; 1 + MAX_LEVELS] {
    let mut table = [[0; 4]; 1 + MAX_LEVELS];
    table[0] = [width, height, layout.len() as u32, 0];
    for (entry, level) in table[1..].iter_mut().zip(layout) {
        *entry = [level.first_texel, level.size[0], level.size[1], 0];
    }
    table
}

fn uniform(gpu: &Gpu, words: &[[u32; 4]]) -> Result<wgpu::Buffer, GpuError> {
    gpu.filled_buffer(WHAT, bytemuck::cast_slice(words), wgpu::BufferUsages::UNIFORM)
}
