//! Maps of shadows and of the sky: layers of depth textures, and the pipelines that draw them.

use drystone_mesh::QUAD_WGSL;
use wgpu::ShaderStages;

use super::{
    WgpuDevice, WgpuGeometry,
    adapter::Opened,
    encode::{Contents, Cursor},
    pipelines::{
        DEPTH_FORMAT, SKY_BINDING, SUN_BINDING, TILES_BINDING, depth_state, layout,
        pipeline_layout, storage, textures, tiles, uniform,
    },
    sources::{CUT_OUT_CASTERS, MASKED_CASTERS, PLAIN_TRIANGLES, SHARED},
};
use crate::{
    buffers::BufferKind,
    error::RenderError,
    frame::{Frame, QuadStyle},
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
    layout: wgpu::PipelineLayout,
    /// Pipeline of triangles with holes. `None` if no material has any.
    masked: Option<wgpu::RenderPipeline>,
    /// Pipelines of quads and of cubes with holes. `None` if no material has any.
    cut_out: Option<[wgpu::RenderPipeline; 2]>,
    per_frame: PerFrame,
    /// Token of the renderer whose maps they are; 0 for none.
    pub(super) token: u64,
}

/// Materials and textures, which decide where casters have holes.
#[derive(Clone, Copy)]
pub(super) struct Holes<'a> {
    pub(super) materials: &'a wgpu::Buffer,
    /// Textures of triangles, and whether a material of these has holes.
    pub(super) textures: (&'a wgpu::Buffer, bool),
    /// Textures of quads, if a material of these has holes.
    pub(super) tiles: Option<&'a wgpu::Buffer>,
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
    /// Frames of the maps, by the index of their layer, with the group of the last picture.
    cascades: Vec<(wgpu::Buffer, Option<wgpu::BindGroup>)>,
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
        let entries = [uniform(0, both), storage(1), textures(2), tiles()];
        let frame_layout = layout(device, "frame", &entries);
        let geometry_layout = layout(device, "geometry", &[storage(0), storage(1)]);
        let groups = [Some(&frame_layout), Some(&geometry_layout)];
        let layout = pipeline_layout(device, &groups);
        let create = || CasterPipelines::new(device, &layout);
        let casters = opened.fault.scope(CREATING, create)?;
        let per_frame = PerFrame::new(opened)?;
        Ok(Self {
            cascades: None,
            sky: None,
            casters,
            frame_layout,
            layout,
            masked: None,
            cut_out: None,
            per_frame,
            token: 0,
        })
    }

    /// Uploads the data of a pass, whose casters have these holes. `is_renewed`: what the last picture
    /// reads must not change.
    pub(super) fn prepare(
        &mut self,
        opened: &Opened,
        pass: &ShadowPass<'_, WgpuGeometry>,
        holes: Holes<'_>,
        is_renewed: bool,
    ) -> Result<(), RenderError> {
        self.token = 0;
        let kinds = pass.kinds();
        let of_sun = kinds.sun.then_some((pass.side, MAX_CASCADES as u32));
        Maps::prepare(&mut self.cascades, opened, of_sun)?;
        Maps::prepare(&mut self.sky, opened, kinds.sky.then_some((SKY_SIDE, SKY_MAPS as u32)))?;
        if is_renewed {
            self.per_frame = PerFrame::new(opened)?;
        }
        self.prepare_holes(opened, holes)?;
        let Self { per_frame: PerFrame { shadow, cascades }, frame_layout, .. } = self;
        let write = |buffer: &wgpu::Buffer, bytes: &[u8]| {
            opened.gpu.write("the shadows", buffer, 0, std::iter::once(bytes))
        };
        write(shadow, bytemuck::bytes_of(&pass.frame))?;
        for cascade in &pass.redrawn {
            let Some((frame, group)) = cascades.get_mut(cascade.layer.index()) else { continue };
            write(frame, bytemuck::bytes_of(&cascade.frame))?;
            let (textures, _) = holes.textures;
            let buffers = (0..).zip([&*frame, holes.materials, textures]);
            // Without quads with holes, no pipeline reads their textures.
            let tiles = (TILES_BINDING, holes.tiles.unwrap_or(textures));
            let buffers = buffers.chain([tiles]).map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            });
            *group = Some(opened.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("frame of a shadow map"),
                layout: frame_layout,
                entries: &buffers.collect::<Vec<_>>(),
            }));
        }
        Ok(())
    }

    /// Creates the pipelines of casters with holes that are needed, and frees the others.
    fn prepare_holes(&mut self, opened: &Opened, holes: Holes<'_>) -> Result<(), RenderError> {
        let (device, layout) = (&opened.gpu.device, &self.layout);
        let (_, has_masks) = holes.textures;
        self.masked = self.masked.take().filter(|_| has_masks);
        if has_masks && self.masked.is_none() {
            let create = || {
                let source = [&PLAIN_TRIANGLES[..], &MASKED_CASTERS].concat();
                let module = module(device, "triangles with holes", &source);
                let fragment = Some("masked_caster_fragment");
                caster_pipeline(device, layout, (&module, "textured_vertex", fragment), None)
            };
            self.masked = Some(opened.fault.scope(CREATING, create)?);
        }
        self.cut_out = self.cut_out.take().filter(|_| holes.tiles.is_some());
        if holes.tiles.is_some() && self.cut_out.is_none() {
            let create = || {
                let module = module(device, "quads with holes", &CUT_OUT_CASTERS);
                ["cut_out_vertex", "cut_out_cube_vertex"].map(|vertex| {
                    let stages = (&module, vertex, Some("cut_out_fragment"));
                    caster_pipeline(device, layout, stages, Some(wgpu::Face::Back))
                })
            };
            self.cut_out = Some(opened.fault.scope(CREATING, create)?);
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
        Some((target, self.per_frame.cascades.get(layer.index())?.1.as_ref()?))
    }

    /// The pipelines for each kind of entries.
    pub(super) fn pipelines(&self) -> [(BufferKind, &wgpu::RenderPipeline); 3] {
        let CasterPipelines { quads, cubes, triangles } = &self.casters;
        let triangles = self.masked.as_ref().unwrap_or(triangles);
        let [quads, cubes] = self.cut_out.as_ref().map_or([quads, cubes], <[_; 2]>::each_ref);
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
    fn new(opened: &Opened) -> Result<Self, RenderError> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let shadow = opened.buffer("shadows", size_of::<ShadowFrame>() as u64, usage)?;
        let frame = |_| opened.buffer("frame of a shadow map", size_of::<Frame>() as u64, usage);
        let cascades = (0..MapLayer::COUNT).map(|layer| Ok((frame(layer)?, None)));
        Ok(Self { shadow, cascades: cascades.collect::<Result<_, RenderError>>()? })
    }
}

impl CasterPipelines {
    fn new(device: &wgpu::Device, layout: &wgpu::PipelineLayout) -> Self {
        let quads = module(device, "casters", &[QUAD_WGSL, SHARED]);
        let triangles = module(device, "casting triangles", &PLAIN_TRIANGLES);
        let pipeline = |module, entry_point, cull_mode| {
            caster_pipeline(device, layout, (module, entry_point, None), cull_mode)
        };
        let back = Some(wgpu::Face::Back);
        Self {
            quads: pipeline(&quads, "opaque_vertex", back),
            cubes: pipeline(&quads, "cube_vertex", back),
            triangles: pipeline(&triangles, "triangle_vertex", None),
        }
    }
}

fn module(device: &wgpu::Device, label: &str, source: &[&str]) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(source.concat().into()),
    })
}

/// Creates a pipeline that draws depth only, with a fragment stage if there are holes.
fn caster_pipeline(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    (module, vertex, fragment): (&wgpu::ShaderModule, &str, Option<&str>),
    cull_mode: Option<wgpu::Face>,
) -> wgpu::RenderPipeline {
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(vertex),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(vertex),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState { cull_mode, ..Default::default() },
        depth_stencil: Some(depth_state(wgpu::CompareFunction::GreaterEqual, true)),
        multisample: wgpu::MultisampleState::default(),
        fragment: fragment.map(|entry_point| wgpu::FragmentState {
            module,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[],
        }),
        multiview_mask: None,
        cache: None,
    })
}
