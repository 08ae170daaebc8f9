//! Layouts and pipelines, one set for each number of samples a pixel.

use drystone_wgpu::{GpuError, parts::Gpu};
use wgpu::ShaderStages;

use super::sources::{
    STYLE, TEXTURED, WIRED_TEXTURED, WIRED_TRIANGLES, entry_points, quad_source, triangle_source,
};
use crate::{frame::QuadStyle, shadows::MapKinds};

pub(super) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Bindings of the maps.
pub(super) const SUN_BINDING: u32 = 4;
pub(super) const SKY_BINDING: u32 = 5;
/// Binding of the textures of quads.
pub(super) const TILES_BINDING: u32 = 6;

/// Number of storage buffers that triangles with lines use in the vertex stage: materials, textures,
/// vertices, indices, a table with each, and draws.
pub(super) const WIRED_STORAGE_BUFFERS: u32 = 7;

/// Objects that are created once and bound every frame.
pub(super) struct Pipelines {
    pub(super) frame_layout: wgpu::BindGroupLayout,
    pub(super) geometry_layout: wgpu::BindGroupLayout,
    pub(super) sky: wgpu::RenderPipeline,
    /// Opaque and blended pipeline of triangles.
    triangles: [wgpu::RenderPipeline; 2],
    /// Pipelines of triangles with textures, created when the first frame needs them.
    textured: Option<[wgpu::RenderPipeline; 2]>,
    plain: QuadPipelines,
    /// Created when the first frame needs them.
    shaded: Option<QuadPipelines>,
    wired: Option<QuadPipelines>,
    wired_triangles: Option<WiredTriangles>,
    quads: QuadParts,
    /// Pipelines for other numbers of samples. Their layouts are compatible with these.
    others: Vec<Self>,
}

/// Pipelines for triangles with lines along their edges.
pub(super) struct WiredTriangles {
    /// Layout of the draws that contain indices. The indices are bound like any geometry.
    pub(super) draws_layout: wgpu::BindGroupLayout,
    /// Opaque and blended pipeline.
    pub(super) both: [wgpu::RenderPipeline; 2],
    layout: wgpu::PipelineLayout,
    /// Pipelines with lines and textures, created when the first frame needs them.
    textured: Option<[wgpu::RenderPipeline; 2]>,
}

/// Pipelines for quads, and for cubes, which are drawn as three quads each.
pub(super) struct QuadPipelines {
    pub(super) cubes: wgpu::RenderPipeline,
    pub(super) opaque: wgpu::RenderPipeline,
    pub(super) blended: wgpu::RenderPipeline,
}

/// Common parts of the pipelines for quads.
struct QuadParts {
    shader: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    attachment: Attachment,
}

/// Properties of the attachments that pipelines draw to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Attachment {
    /// Format of the colours.
    pub(super) format: wgpu::TextureFormat,
    /// Number of samples in a pixel.
    pub(super) samples: u32,
    /// Maps that surfaces read.
    pub(super) maps: MapKinds,
    /// Whether quads have textures.
    pub(super) is_tiled: bool,
}

/// Settings in which one pipeline differs from the others.
#[derive(Clone, Copy)]
struct Stage<'a> {
    label: &'static str,
    vertex: &'static str,
    fragment: &'static str,
    depth_write: bool,
    blend: Option<wgpu::BlendState>,
    cull: Option<wgpu::Face>,
    /// Values of the shader's constants.
    constants: &'a [(&'a str, f64)],
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device, attachment: Attachment) -> Self {
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("quads"),
            source: wgpu::ShaderSource::Wgsl(
                quad_source(attachment.maps, attachment.is_tiled).into(),
            ),
        });
        let frame_layout = layout(device, "frame", &frame_entries(attachment));
        let geometry_layout = layout(device, "geometry", &[storage(0), storage(1)]);
        let quad_layout = pipeline_layout(device, &[Some(&frame_layout), Some(&geometry_layout)]);
        // The sky is drawn over an empty scene too, where no geometry is bound.
        let sky_layout = pipeline_layout(device, &[Some(&frame_layout)]);
        let quads = QuadParts { shader, layout: quad_layout, attachment };
        let sky = Stage {
            label: "sky",
            vertex: "sky_vertex",
            fragment: "sky_fragment",
            depth_write: false,
            blend: None,
            cull: None,
            constants: &[],
        };
        let sky = pipeline(device, &quads.shader, &sky_layout, attachment, &sky);
        let plain = quads.pipelines(device, QuadStyle::Plain, None);
        let names = ["triangle_vertex", "triangle_fragment"];
        let source = triangle_source(attachment.maps, &[]);
        let triangles = triangles(device, (&source, names), &quads.layout, attachment);
        Self {
            frame_layout,
            geometry_layout,
            sky,
            triangles,
            textured: None,
            plain,
            shaded: None,
            wired: None,
            wired_triangles: None,
            quads,
            others: Vec::new(),
        }
    }

    /// Selects the pipelines for pictures with this number of samples a pixel that read these maps.
    /// Creates them on first use.
    ///
    /// # Errors
    /// `Refused` if the device does not offer this number of samples, `OutOfMemory`.
    pub(super) fn select(&mut self, gpu: &Gpu, attachment: Attachment) -> Result<(), GpuError> {
        if attachment == self.quads.attachment {
            return Ok(());
        }
        let known = self.others.iter().position(|other| other.quads.attachment == attachment);
        let mut selected = match known {
            Some(known) => self.others.swap_remove(known),
            None => gpu.scope(("pipelines", 0), || Self::new(&gpu.device, attachment))?,
        };
        selected.others = std::mem::take(&mut self.others);
        let last = std::mem::replace(self, selected);
        self.others.push(last);
        Ok(())
    }

    /// Creates the pipelines that a frame of this style needs.
    pub(super) fn prepare(&mut self, device: &wgpu::Device, style: QuadStyle) {
        let Self { quads, plain, shaded, wired, .. } = self;
        // Cubes have no ambient occlusion.
        let (made, cubes) = match style {
            QuadStyle::Plain => return,
            QuadStyle::Shaded => (shaded, Some(&plain.cubes)),
            QuadStyle::Wired => (wired, None),
        };
        made.get_or_insert_with(|| quads.pipelines(device, style, cubes));
    }

    /// Creates the pipelines for triangles with textures, if they do not exist.
    pub(super) fn prepare_textured(&mut self, device: &wgpu::Device) {
        let Self { quads, textured, .. } = self;
        textured.get_or_insert_with(|| {
            let names = ["textured_vertex", "textured_fragment"];
            let source = triangle_source(quads.attachment.maps, TEXTURED);
            triangles(device, (&source, names), &quads.layout, quads.attachment)
        });
    }

    /// Creates the pipelines for triangles with lines, if they do not exist.
    pub(super) fn prepare_wired_triangles(
        &mut self,
        device: &wgpu::Device,
        has_textures: bool,
    ) -> &WiredTriangles {
        let Self { frame_layout, geometry_layout, quads, wired_triangles, .. } = self;
        let wired = wired_triangles.get_or_insert_with(|| {
            let draws_layout = layout(device, "draws with lines", &[storage(0)]);
            let geometry = Some(&*geometry_layout);
            let groups = [Some(&*frame_layout), geometry, geometry, Some(&draws_layout)];
            let names = ["wired_triangle_vertex", "wired_triangle_fragment"];
            let source = triangle_source(quads.attachment.maps, WIRED_TRIANGLES);
            let whole = pipeline_layout(device, &groups);
            let both = triangles(device, (&source, names), &whole, quads.attachment);
            WiredTriangles { draws_layout, both, layout: whole, textured: None }
        });
        if has_textures && wired.textured.is_none() {
            let names = ["wired_textured_vertex", "wired_textured_fragment"];
            let source = triangle_source(quads.attachment.maps, WIRED_TEXTURED);
            let made = triangles(device, (&source, names), &wired.layout, quads.attachment);
            wired.textured = Some(made);
        }
        wired
    }

    /// Pipelines for opaque and blended triangles, with lines and textures if those pipelines were
    /// prepared.
    pub(super) fn of_triangles(
        &self,
        is_wired: bool,
        has_textures: bool,
    ) -> [&wgpu::RenderPipeline; 2] {
        let (plain, textured) = match self.wired_triangles.as_ref().filter(|_| is_wired) {
            Some(WiredTriangles { both, textured, .. }) => (both, textured),
            None => (&self.triangles, &self.textured),
        };
        textured.as_ref().filter(|_| has_textures).unwrap_or(plain).each_ref()
    }

    /// Pipelines for quads that were prepared for such a frame.
    pub(super) fn of_quads(&self, style: QuadStyle) -> &QuadPipelines {
        let made = match style {
            QuadStyle::Plain => None,
            QuadStyle::Shaded => self.shaded.as_ref(),
            QuadStyle::Wired => self.wired.as_ref(),
        };
        made.unwrap_or(&self.plain)
    }
}

impl QuadParts {
    /// Creates pipelines of this style. `cubes` is that of cubes if it exists.
    fn pipelines(
        &self,
        device: &wgpu::Device,
        style: QuadStyle,
        cubes: Option<&wgpu::RenderPipeline>,
    ) -> QuadPipelines {
        let Self { shader, layout, attachment } = self;
        let [opaque, blended, cube, fragment] =
            entry_points(style, attachment.maps, attachment.is_tiled);
        let constants = [(STYLE, f64::from(style as u8))];
        let is_styled = attachment.maps.any() || attachment.is_tiled;
        let solid = Stage {
            label: "opaque",
            vertex: opaque,
            fragment,
            depth_write: true,
            blend: None,
            cull: Some(wgpu::Face::Back),
            constants: if is_styled { &constants } else { &[] },
        };
        let blend = Some(wgpu::BlendState::ALPHA_BLENDING);
        let label = "blended";
        let blended = Stage { label, vertex: blended, depth_write: false, blend, ..solid };
        let pipeline = |stage: &Stage<'_>| pipeline(device, shader, layout, *attachment, stage);
        let make_cubes = || pipeline(&Stage { label: "cubes", vertex: cube, ..solid });
        QuadPipelines {
            cubes: cubes.cloned().unwrap_or_else(make_cubes),
            opaque: pipeline(&solid),
            blended: pipeline(&blended),
        }
    }
}

/// Creates the pipelines of opaque and of blended triangles. Neither culls faces: both sides are
/// visible.
fn triangles(
    device: &wgpu::Device,
    (source, [vertex, fragment]): (&str, [&'static str; 2]),
    layout: &wgpu::PipelineLayout,
    attachment: Attachment,
) -> [wgpu::RenderPipeline; 2] {
    let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("triangles"),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let blending = Some(wgpu::BlendState::ALPHA_BLENDING);
    [("triangles", None), ("blended triangles", blending)].map(|(label, blend)| {
        let depth_write = blend.is_none();
        let constants = &[];
        let stage = Stage { label, vertex, fragment, depth_write, blend, cull: None, constants };
        pipeline(device, &shader, layout, attachment, &stage)
    })
}

fn pipeline(
    device: &wgpu::Device,
    shader: &wgpu::ShaderModule,
    layout: &wgpu::PipelineLayout,
    attachment: Attachment,
    stage: &Stage<'_>,
) -> wgpu::RenderPipeline {
    let compilation_options =
        wgpu::PipelineCompilationOptions { constants: stage.constants, ..Default::default() };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(stage.label),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module: shader,
            entry_point: Some(stage.vertex),
            compilation_options: compilation_options.clone(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState { cull_mode: stage.cull, ..Default::default() },
        // Depth is reversed: nearer is greater.
        depth_stencil: Some(depth_state(wgpu::CompareFunction::GreaterEqual, stage.depth_write)),
        multisample: multisample(attachment.samples),
        fragment: Some(wgpu::FragmentState {
            module: shader,
            entry_point: Some(stage.fragment),
            compilation_options,
            targets: &[Some(wgpu::ColorTargetState {
                format: attachment.format,
                blend: stage.blend,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// State of the depth test.
pub(super) fn depth_state(compare: wgpu::CompareFunction, writes: bool) -> wgpu::DepthStencilState {
    wgpu::DepthStencilState {
        format: DEPTH_FORMAT,
        depth_write_enabled: Some(writes),
        depth_compare: Some(compare),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    }
}

/// State of pictures with this number of samples a pixel.
pub(super) fn multisample(samples: u32) -> wgpu::MultisampleState {
    wgpu::MultisampleState { count: samples, ..Default::default() }
}

pub(super) fn pipeline_layout(
    device: &wgpu::Device,
    groups: &[Option<&wgpu::BindGroupLayout>],
) -> wgpu::PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: groups,
        immediate_size: 0,
    })
}

pub(super) fn layout(
    device: &wgpu::Device,
    label: &str,
    entries: &[wgpu::BindGroupLayoutEntry],
) -> wgpu::BindGroupLayout {
    let label = Some(label);
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries })
}

pub(super) fn uniform(binding: u32, visibility: ShaderStages) -> wgpu::BindGroupLayoutEntry {
    entry(binding, visibility, wgpu::BufferBindingType::Uniform)
}

/// Textures, which both stages of triangles read.
pub(super) fn textures(binding: u32) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { visibility: ShaderStages::VERTEX_FRAGMENT, ..storage(binding) }
}

/// Textures of quads.
pub(super) fn tiles() -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { visibility: ShaderStages::FRAGMENT, ..storage(TILES_BINDING) }
}

pub(super) fn storage(binding: u32) -> wgpu::BindGroupLayoutEntry {
    let read = wgpu::BufferBindingType::Storage { read_only: true };
    entry(binding, ShaderStages::VERTEX, read)
}

/// Data of a frame, then the maps and the textures of quads that its surfaces read.
fn frame_entries(
    Attachment { maps: kinds, is_tiled, .. }: Attachment,
) -> Vec<wgpu::BindGroupLayoutEntry> {
    let both = ShaderStages::VERTEX_FRAGMENT;
    let mut entries = vec![uniform(0, both), storage(1), textures(2)];
    entries.extend(kinds.any().then(|| uniform(3, ShaderStages::FRAGMENT)));
    entries.extend(kinds.sun.then(|| maps(SUN_BINDING)));
    entries.extend(kinds.sky.then(|| maps(SKY_BINDING)));
    entries.extend(is_tiled.then(tiles));
    entries
}

/// An array of maps. Bound as numbers, not as depths, which OpenGL reads only by comparison.
fn maps(binding: u32) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: false },
        view_dimension: wgpu::TextureViewDimension::D2Array,
        multisampled: false,
    };
    wgpu::BindGroupLayoutEntry { binding, visibility: ShaderStages::FRAGMENT, ty, count: None }
}

fn entry(
    binding: u32,
    visibility: ShaderStages,
    ty: wgpu::BufferBindingType,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}
