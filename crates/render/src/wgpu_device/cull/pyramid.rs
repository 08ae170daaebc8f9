//! The depth pyramid: ever coarser pictures of the depth buffer.

use super::{
    super::adapter::Opened,
    pipelines::{self, CullPipelines},
};
use crate::error::RenderError;

/// Number of levels that one dispatch makes.
const LEVELS_A_DISPATCH: usize = 4;
/// Side of the square of first-level texels that one workgroup makes.
const WORKGROUP_SIDE: u32 = 8;
/// Maximum number of levels, as in the shaders' table: enough for pictures of 65,536 pixels a side.
const MAX_LEVELS: usize = 16;

/// A depth pyramid on the GPU. It is stored in a buffer, level after level, because textures round
/// odd sizes down and buffers can round them up.
pub(super) struct Pyramid {
    /// Offset and size of each level, as shaders read them.
    pub(super) levels: wgpu::Buffer,
    pub(super) texels: wgpu::Buffer,
    /// The depth buffer that it is made from.
    depth: wgpu::TextureView,
    dispatches: Vec<Dispatch>,
}

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
    pub(super) fn new(
        opened: &Opened,
        pipelines: &CullPipelines,
        picture: [u32; 2],
        depth: &wgpu::TextureView,
    ) -> Result<Self, RenderError> {
        use wgpu::BufferUsages as Usage;
        let layout = levels(picture);
        let texel_count: u64 =
            layout.iter().map(|Level { size: [w, h], .. }| u64::from(*w) * u64::from(*h)).sum();
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let texels = opened.buffer("depth pyramid", texel_count * 4, usage)?;
        let levels = uniform(opened, &table(picture, &layout))?;
        let mut dispatches = Vec::new();
        for base in (0..layout.len()).step_by(LEVELS_A_DISPATCH) {
            let base_uniform = uniform(opened, &[[base as u32, 0, 0, 0]])?;
            let resources = [
                levels.as_entire_binding(),
                texels.as_entire_binding(),
                base_uniform.as_entire_binding(),
                wgpu::BindingResource::TextureView(depth),
            ];
            let group = pipelines::bind(
                &opened.gpu.device,
                &pipelines.pyramid_layout,
                resources.into_iter(),
            );
            let workgroups = layout[base].size.map(|side| side.div_ceil(WORKGROUP_SIDE));
            dispatches.push(Dispatch { group, workgroups });
        }
        Ok(Self { levels, texels, depth: depth.clone(), dispatches })
    }

    /// Whether the pyramid is made from this depth buffer.
    pub(super) fn is_of(&self, depth: &wgpu::TextureView) -> bool {
        self.depth == *depth
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

fn uniform(opened: &Opened, words: &[[u32; 4]]) -> Result<wgpu::Buffer, RenderError> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let bytes: &[u8] = bytemuck::cast_slice(words);
    let buffer = opened.buffer("depth pyramid's layout", bytes.len() as u64, usage)?;
    opened.gpu.queue.write_buffer(&buffer, 0, bytes);
    Ok(buffer)
}
