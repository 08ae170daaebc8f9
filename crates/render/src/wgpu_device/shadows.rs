//! Maps of shadows and of the sky: layers of depth textures, and the pipelines that draw them.

use drystone_mesh::QUAD_WGSL;
use wgpu::ShaderStages;

use super::{
    WgpuDevice, WgpuGeometry,
    adapter::Opened,
    encode::{Contents, Cursor},
    pipelines::{
        DEPTH_FORMAT, SKY_BINDING, SUN_BINDING, depth_state, layout, pipeline_layout, storage,
        uniform,
    },
    sources::{PLAIN_TRIANGLES, SHARED},
};
use crate::{
    buffers::BufferKind,
    error::RenderError,
    frame::{Frame, QuadStyle},
    material_look::MaterialEntry,
    passes::ShadowPass,
    shadows::{MAX_CASCADES, MapLayer, SKY_MAPS, SKY_SIDE, ShadowFrame},
};

/// The maps of the last picture that read any, and what is needed to draw and to read them.
pub(super) struct ShadowMaps {
    /// `None` without shadows.
    cascades: Option<Maps>,
    /// `None` without sky light.
    sky: Option<Maps>,
    casters: CasterPipelines,
    frame_layout: wgpu::BindGroupLayout,
    per_frame: PerFrame,
    /// Token of the renderer whose maps they are; 0 for none.
    pub(super) token: u64,
}

/// Maps of one size.
struct Maps {
    side: u32,
    layers: Vec<wgpu::TextureView>,
    all: wgpu::TextureView,
}

const CREATING: &str = "creating shadow maps";

/// Data that changes with each picture. A lent picture keeps its own.
struct PerFrame {
    shadow: wgpu::Buffer,
    /// Frames of the maps, by the index of their layer.
    cascades: Vec<(wgpu::Buffer, wgpu::BindGroup)>,
}

/// Pipelines that draw depth only.
struct CasterPipelines {
    quads: wgpu::RenderPipeline,
    cubes: wgpu::RenderPipeline,
    triangles: wgpu::RenderPipeline,
}

impl ShadowMaps {
    pub(super) fn new(opened: &Opened) -> Result<Self, RenderError> {
        let device = &opened.gpu.device;
        let both = ShaderStages::VERTEX_FRAGMENT;
        let frame_layout = layout(device, "frame", &[uniform(0, both), storage(1)]);
        let geometry_layout = layout(device, "geometry", &[storage(0), storage(1)]);
        let groups = [Some(&frame_layout), Some(&geometry_layout)];
        let create = || CasterPipelines::new(device, &pipeline_layout(device, &groups));
        let casters = opened.fault.scope(CREATING, create)?;
        let per_frame = PerFrame::new(opened, &frame_layout)?;
        Ok(Self { cascades: None, sky: None, casters, frame_layout, per_frame, token: 0 })
    }

    /// Uploads the data of a pass. `is_renewed`: what the last picture reads must not change.
    pub(super) fn prepare(
        &mut self,
        opened: &Opened,
        pass: &ShadowPass<'_, WgpuGeometry>,
        is_renewed: bool,
    ) -> Result<(), RenderError> {
        self.token = 0;
        let kinds = pass.kinds();
        let of_sun = kinds.sun.then_some((pass.side, MAX_CASCADES as u32));
        Maps::prepare(&mut self.cascades, opened, of_sun)?;
        Maps::prepare(&mut self.sky, opened, kinds.sky.then_some((SKY_SIDE, SKY_MAPS as u32)))?;
        if is_renewed {
            self.per_frame = PerFrame::new(opened, &self.frame_layout)?;
        }
        let PerFrame { shadow, cascades } = &self.per_frame;
        let write =
            |buffer, bytes| opened.gpu.write("the shadows", buffer, 0, std::iter::once(bytes));
        write(shadow, bytemuck::bytes_of(&pass.frame))?;
        for (cascade, (buffer, _)) in
            pass.redrawn.iter().filter_map(|it| Some((it, cascades.get(it.layer.index())?)))
        {
            write(buffer, bytemuck::bytes_of(&cascade.frame))?;
        }
        Ok(())
    }

    /// Encodes the shadow maps that have changed. Their batches come after those of the picture.
    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        device: &WgpuDevice,
        contents: &Contents<'_>,
    ) {
        let Some(drawn) = contents.passes.shadows else { return };
        let mut cursor = Cursor::new(contents);
        contents.passes.scene_batches().for_each(|batch| cursor.skip(batch));
        for cascade in &drawn.redrawn {
            let Some((view, group)) = self.layer(cascade.layer) else { continue };
            let load = wgpu::LoadOp::Clear(0.0);
            let depth_ops = Some(wgpu::Operations { load, store: wgpu::StoreOp::Store });
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("shadow map"),
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view,
                    depth_ops,
                    stencil_ops: None,
                }),
                ..Default::default()
            });
            pass.set_bind_group(0, group, &[]);
            let plain = Contents { style: QuadStyle::Plain, ..contents.clone() };
            let layer = (&self.pipelines()[..], &cascade.batches[..]);
            device.encode_layer(&mut pass, layer, &plain, &mut cursor);
        }
    }

    /// The data that pictures read.
    pub(super) const fn data(&self) -> &wgpu::Buffer {
        &self.per_frame.shadow
    }

    /// The maps that pictures read, with their bindings.
    pub(super) fn bindings(&self) -> Vec<(u32, &wgpu::TextureView)> {
        let both = [(SUN_BINDING, &self.cascades), (SKY_BINDING, &self.sky)];
        both.into_iter().filter_map(|(at, maps)| Some((at, &maps.as_ref()?.all))).collect()
    }

    /// The target of a layer, and the group with its frame.
    pub(super) fn layer(&self, layer: MapLayer) -> Option<(&wgpu::TextureView, &wgpu::BindGroup)> {
        let (maps, number) = match layer {
            MapLayer::Cascade(number) => (&self.cascades, number),
            MapLayer::Sky(number) => (&self.sky, number),
        };
        let target = maps.as_ref()?.layers.get(number)?;
        Some((target, &self.per_frame.cascades.get(layer.index())?.1))
    }

    /// The pipelines for each kind of entries.
    pub(super) fn pipelines(&self) -> [(BufferKind, &wgpu::RenderPipeline); 3] {
        let CasterPipelines { quads, cubes, triangles } = &self.casters;
        [(BufferKind::Quads, quads), (BufferKind::Cubes, cubes), (BufferKind::Vertices, triangles)]
    }
}

impl Maps {
    /// Keeps the maps of this side and number of layers, or creates them; frees them without.
    ///
    /// # Errors
    /// `Device` when the device is out of memory.
    fn prepare(
        kept: &mut Option<Self>,
        opened: &Opened,
        needed: Option<(u32, u32)>,
    ) -> Result<(), RenderError> {
        let is_same = |(side, _)| kept.as_ref().is_some_and(|maps| maps.side == side);
        if needed.is_some_and(is_same) {
            return Ok(());
        }
        *kept = None;
        if let Some(size) = needed {
            let create = || Self::new(&opened.gpu.device, size);
            *kept = Some(opened.fault.scope(CREATING, create)?);
        }
        Ok(())
    }

    fn new(device: &wgpu::Device, (side, layers): (u32, u32)) -> Self {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("shadow maps"),
            size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: layers },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: DEPTH_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let layer = |layer: u32| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2),
                base_array_layer: layer,
                array_layer_count: Some(1),
                ..Default::default()
            })
        };
        let all = texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            ..Default::default()
        });
        Self { side, layers: (0..layers).map(layer).collect(), all }
    }
}

impl PerFrame {
    fn new(opened: &Opened, layout: &wgpu::BindGroupLayout) -> Result<Self, RenderError> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let shadow = opened.buffer("shadows", size_of::<ShadowFrame>() as u64, usage)?;
        // Depth does not depend on colours, but the vertex shaders read them.
        let size_bytes = size_of::<MaterialEntry>() as u64;
        let materials = opened.buffer("no materials", size_bytes, wgpu::BufferUsages::STORAGE)?;
        let cascade = |_| {
            let frame = opened.buffer("frame of a shadow map", size_of::<Frame>() as u64, usage)?;
            let group = opened.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("frame of a shadow map"),
                layout,
                entries: &[
                    wgpu::BindGroupEntry { binding: 0, resource: frame.as_entire_binding() },
                    wgpu::BindGroupEntry { binding: 1, resource: materials.as_entire_binding() },
                ],
            });
            Ok((frame, group))
        };
        let cascades = (0..MapLayer::COUNT).map(cascade).collect::<Result<_, RenderError>>()?;
        Ok(Self { shadow, cascades })
    }
}

impl CasterPipelines {
    fn new(device: &wgpu::Device, layout: &wgpu::PipelineLayout) -> Self {
        let module = |label, source: &[&str]| {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(source.concat().into()),
            })
        };
        let quads = module("casters", &[QUAD_WGSL, SHARED]);
        let triangles = module("casting triangles", &PLAIN_TRIANGLES);
        let pipeline = |module, entry_point, cull_mode| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(entry_point),
                layout: Some(layout),
                vertex: wgpu::VertexState {
                    module,
                    entry_point: Some(entry_point),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState { cull_mode, ..Default::default() },
                depth_stencil: Some(depth_state(wgpu::CompareFunction::GreaterEqual, true)),
                multisample: wgpu::MultisampleState::default(),
                fragment: None,
                multiview_mask: None,
                cache: None,
            })
        };
        let back = Some(wgpu::Face::Back);
        Self {
            quads: pipeline(&quads, "opaque_vertex", back),
            cubes: pipeline(&quads, "cube_vertex", back),
            triangles: pipeline(&triangles, "triangle_vertex", None),
        }
    }
}
