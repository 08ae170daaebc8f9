//! Layouts and pipelines of the compute shaders.

use super::CullList;
use crate::{error::GpuError, gpu::Gpu};

/// Maximum number of storage buffers that one shader binds.
pub(super) const STORAGE_BUFFERS: u32 = 7;
/// Size of the largest workgroup.
pub(super) const WIDEST_WORKGROUP: u32 = 256;

/// Shader source of the stages that cull.
pub(super) const CULL: &str = concat!(include_str!("cull.wgsl"), include_str!("commands.wgsl"));
/// Shader source of the depth pyramid.
pub(super) const PYRAMID: &str = include_str!("pyramid.wgsl");

/// Objects that are created once.
#[derive(Debug)]
pub(super) struct CullPipelines {
    /// Layout of frame and pyramid, as the judge stage reads them.
    pub(super) view_layout: wgpu::BindGroupLayout,
    /// Layout of records, commands and intermediate data.
    pub(super) region_layout: wgpu::BindGroupLayout,
    /// Layout of a pyramid that is being made.
    pub(super) pyramid_layout: wgpu::BindGroupLayout,
    /// Judge, scan, emit.
    all: [wgpu::ComputePipeline; 3],
    known: [wgpu::ComputePipeline; 3],
    new: [wgpu::ComputePipeline; 3],
    pub(super) from_depth: wgpu::ComputePipeline,
    pub(super) from_level: wgpu::ComputePipeline,
}

impl CullPipelines {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let view_layout = layout(device, "view", &[UNIFORM, UNIFORM, READ]);
        let region = [UNIFORM, READ, WRITE, WRITE, WRITE, WRITE, WRITE];
        let region_layout = layout(device, "region", &region);
        let pyramid_layout = layout(device, "pyramid", &[UNIFORM, WRITE, UNIFORM, DEPTH]);
        let cull = Stages::new(device, "cull", CULL, &[Some(&view_layout), Some(&region_layout)]);
        let pyramid = Stages::new(device, "pyramid", PYRAMID, &[Some(&pyramid_layout)]);
        let known = ["judge_known", "scan_known", "emit_known"].map(|entry| cull.pipeline(entry));
        let [_, scan, emit] = known.clone();
        Self {
            all: [cull.pipeline("judge_all"), scan, emit],
            known,
            new: ["judge_new", "scan_new", "emit_new"].map(|entry| cull.pipeline(entry)),
            from_depth: pyramid.pipeline("from_depth"),
            from_level: pyramid.pipeline("from_level"),
            view_layout,
            region_layout,
            pyramid_layout,
        }
    }

    /// Binds what the judge stage reads: the view, and the levels and texels of the pyramid.
    pub(super) fn bind_view(
        &self,
        gpu: &Gpu,
        buffers: [&wgpu::Buffer; 3],
    ) -> Result<wgpu::BindGroup, GpuError> {
        bind_buffers(gpu, &self.view_layout, buffers)
    }

    /// The stages that make a list: judge, scan, emit.
    pub(super) const fn of(&self, list: CullList) -> &[wgpu::ComputePipeline; 3] {
        match list {
            CullList::All => &self.all,
            CullList::Known => &self.known,
            CullList::New => &self.new,
        }
    }
}

/// A shader whose entry points share a layout.
struct Stages<'a> {
    device: &'a wgpu::Device,
    module: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
}

impl<'a> Stages<'a> {
    fn new(
        device: &'a wgpu::Device,
        label: &str,
        source: &str,
        groups: &[Option<&wgpu::BindGroupLayout>],
    ) -> Self {
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: groups,
            immediate_size: 0,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        Self { device, module, layout }
    }

    fn pipeline(&self, entry_point: &str) -> wgpu::ComputePipeline {
        let options = wgpu::PipelineCompilationOptions {
            // Every lane writes its own value before any lane reads.
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        };
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: Some(&self.layout),
            module: &self.module,
            entry_point: Some(entry_point),
            compilation_options: options,
            cache: None,
        })
    }
}

const UNIFORM: wgpu::BindingType = buffer(wgpu::BufferBindingType::Uniform);
const READ: wgpu::BindingType = buffer(wgpu::BufferBindingType::Storage { read_only: true });
const WRITE: wgpu::BindingType = buffer(wgpu::BufferBindingType::Storage { read_only: false });
const DEPTH: wgpu::BindingType = wgpu::BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Depth,
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};

const fn buffer(ty: wgpu::BufferBindingType) -> wgpu::BindingType {
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

fn layout(
    device: &wgpu::Device,
    label: &str,
    bindings: &[wgpu::BindingType],
) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0..)
        .zip(bindings)
        .map(|(binding, &ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty,
            count: None,
        })
        .collect();
    let label = Some(label);
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries })
}

/// Binds whole buffers, in order.
pub(super) fn bind_buffers<const N: usize>(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    buffers: [&wgpu::Buffer; N],
) -> Result<wgpu::BindGroup, GpuError> {
    bind(gpu, layout, buffers.into_iter().map(wgpu::Buffer::as_entire_binding))
}

/// Binds resources, in order.
pub(super) fn bind<'a>(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    resources: impl Iterator<Item = wgpu::BindingResource<'a>>,
) -> Result<wgpu::BindGroup, GpuError> {
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    let descriptor = wgpu::BindGroupDescriptor { label: Some("cull"), layout, entries: &entries };
    gpu.scope(("the bind group of culling", 0), || gpu.device.create_bind_group(&descriptor))
}
