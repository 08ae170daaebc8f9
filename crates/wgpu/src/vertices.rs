use bytemuck::Pod;
use drystone_pool::{Access, Backend, BackendError, PoolConfig};

use crate::{
    elements::ElementBuffers,
    error::GpuError,
    gpu::{Gpu, max_buffer_bytes},
};

const DRAW_DATA: &str = "the per-draw data";

/// Path by which shaders read elements and per-draw data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexInput {
    /// Storage buffers in a bind group: the elements at binding 0, the table of per-draw data at
    /// binding 1. The shader selects the element by `vertex_index`, divided by the vertices of an
    /// element, and the per-draw data by `instance_index`.
    Pulled {
        /// Index of the bind group.
        group: u32,
    },
    /// Vertex buffers: the vertices in this slot, the per-draw data by instance in the next.
    Attributes {
        /// Slot of the vertices.
        slot: u32,
    },
}

impl Default for VertexInput {
    /// Vertices in slot 0, per-draw data in slot 1.
    fn default() -> Self {
        Self::Attributes { slot: 0 }
    }
}

impl VertexInput {
    const fn usage(self) -> wgpu::BufferUsages {
        match self {
            Self::Pulled { .. } => wgpu::BufferUsages::STORAGE,
            Self::Attributes { .. } => wgpu::BufferUsages::VERTEX,
        }
    }

    /// Checks the limits that do not depend on the size of buffers.
    fn check(self, limits: &wgpu::Limits, tables: u32) -> Result<(), GpuError> {
        let (limit, needed, allowed) = match self {
            Self::Pulled { group } if group >= limits.max_bind_groups => {
                ("max_bind_groups", group.saturating_add(1), limits.max_bind_groups)
            }
            Self::Pulled { .. } => {
                let allowed = limits.max_storage_buffers_per_shader_stage;
                ("max_storage_buffers_per_shader_stage", tables, allowed)
            }
            Self::Attributes { slot } => {
                ("max_vertex_buffers", slot.saturating_add(tables), limits.max_vertex_buffers)
            }
        };
        expect_limit(limit, "the vertex input", needed.into(), allowed.into())
    }
}

/// Vertices of a pool and their table of per-draw data, with the bind groups that bind both.
#[derive(Debug)]
pub(crate) struct VertexBuffers {
    pub(crate) elements: ElementBuffers,
    input: VertexInput,
    layout: Option<wgpu::BindGroupLayout>,
    /// Bind groups by buffer number, created when they are drawn.
    groups: Vec<Option<wgpu::BindGroup>>,
    /// Size of the per-draw data of a mesh, in bytes. 0: there is no table.
    data_bytes: u64,
    draw_data: Option<wgpu::Buffer>,
    /// Why something was not written. The next draw reports it.
    unwritten: Option<GpuError>,
}

impl VertexBuffers {
    /// Creates an empty store with per-draw data `D`.
    pub(crate) fn new<D: Pod>(gpu: &Gpu, input: VertexInput) -> Result<Self, GpuError> {
        let data_bytes = size_of::<D>() as u64;
        let tables = 1 + u32::from(data_bytes > 0);
        input.check(&gpu.device.limits(), tables)?;
        let layout = match input {
            VertexInput::Pulled { .. } => Some(layout(gpu, tables)?),
            VertexInput::Attributes { .. } => None,
        };
        let elements = ElementBuffers::new(gpu, "vertices", input.usage());
        let (groups, draw_data, unwritten) = (Vec::new(), None, None);
        Ok(Self { elements, input, layout, groups, data_bytes, draw_data, unwritten })
    }

    /// Layout of the bind group; `None` for attributes.
    pub(crate) const fn layout(&self) -> Option<&wgpu::BindGroupLayout> {
        self.layout.as_ref()
    }

    /// Begins a draw: submits the writes and copies gathered so far.
    ///
    /// # Errors
    /// The error of a write that was not carried out since the last draw.
    pub(crate) fn begin(&mut self) -> Result<(), GpuError> {
        self.flush();
        self.unwritten.take().map_or(Ok(()), Err)
    }

    /// Submits the writes and copies gathered so far. The next draw reports an error.
    pub(crate) fn flush(&mut self) {
        if let Err(error) = self.elements.flush() {
            self.unwritten = Some(error);
        }
    }

    /// Binds a buffer for draws of a pass.
    pub(crate) fn bind(
        &mut self,
        pass: &mut wgpu::RenderPass<'_>,
        buffer: u32,
    ) -> Result<(), GpuError> {
        if self.data_bytes > 0 && self.draw_data.is_none() {
            // Only commands of another pool can draw before the first mesh has its data.
            return Err(GpuError::NoSuchBuffer { buffer });
        }
        match self.input {
            VertexInput::Pulled { group } => {
                pass.set_bind_group(group, self.group(buffer)?, &[]);
            }
            VertexInput::Attributes { slot } => {
                pass.set_vertex_buffer(slot, self.elements.get(buffer)?.slice(..));
                if let Some(draw_data) = &self.draw_data {
                    pass.set_vertex_buffer(slot + 1, draw_data.slice(..));
                }
            }
        }
        Ok(())
    }

    fn group(&mut self, buffer: u32) -> Result<&wgpu::BindGroup, GpuError> {
        let missing = GpuError::NoSuchBuffer { buffer };
        let (Some(layout), at) = (&self.layout, buffer as usize) else { return Err(missing) };
        if self.groups.len() <= at {
            self.groups.resize_with(at + 1, || None);
        }
        let elements = self.elements.get(buffer)?;
        let group = match self.groups[at].take() {
            Some(group) => group,
            None => {
                bind_group(&self.elements.gpu, layout, [Some(elements), self.draw_data.as_ref()])?
            }
        };
        Ok(self.groups[at].insert(group))
    }
}

impl Backend for VertexBuffers {
    fn access(&self) -> Access {
        self.elements.access()
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        self.elements.create_buffer(buffer, size_bytes)
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        self.elements.destroy_buffer(buffer);
        if let Some(group) = self.groups.get_mut(buffer as usize) {
            *group = None;
        }
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        self.elements.write_elements(buffer, offset_bytes, bytes)
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        self.elements.copy_elements(from, to, size_bytes)
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        let size_bytes = u64::from(slots) * self.data_bytes;
        if size_bytes == 0 {
            return Ok(());
        }
        // Frames in flight keep the old table alive. The pool writes the whole new one.
        let usage = self.input.usage() | wgpu::BufferUsages::COPY_DST;
        let table = self.elements.gpu.buffer(DRAW_DATA, size_bytes, usage);
        let table = table.map_err(|error| self.elements.refuse(error, size_bytes))?;
        self.draw_data = Some(table);
        self.groups.clear();
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        if let Some(table) = &self.draw_data {
            let offset_bytes = u64::from(slot) * self.data_bytes;
            let ElementBuffers { gpu, transfers, .. } = &mut self.elements;
            let written = transfers.write(gpu, table, (DRAW_DATA, offset_bytes), bytes);
            if let Err(error) = written {
                self.elements.failure = Some(error.clone());
                self.unwritten = Some(error);
            }
        }
    }
}

/// Binds elements and the table of per-draw data.
fn bind_group(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    buffers: [Option<&wgpu::Buffer>; 2],
) -> Result<wgpu::BindGroup, GpuError> {
    let entries: Vec<_> = (0..)
        .zip(buffers.into_iter().flatten())
        .map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    let descriptor =
        wgpu::BindGroupDescriptor { label: Some("drystone pool"), layout, entries: &entries };
    gpu.scope(("the bind group of vertices", 0), || gpu.device.create_bind_group(&descriptor))
}

/// Layout of a bind group with elements and, if there are two tables, per-draw data.
fn layout(gpu: &Gpu, tables: u32) -> Result<wgpu::BindGroupLayout, GpuError> {
    let entries: Vec<_> = (0..tables)
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: true },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    let descriptor =
        wgpu::BindGroupLayoutDescriptor { label: Some("drystone pool"), entries: &entries };
    gpu.scope(("the layout of vertices", 0), || gpu.device.create_bind_group_layout(&descriptor))
}

/// Lowers the limits of a pool of elements and per-draw data of these sizes, in bytes, to those of a
/// device.
pub(crate) fn fit(
    config: PoolConfig,
    limits: &wgpu::Limits,
    [element_bytes, data_bytes]: [usize; 2],
    input: VertexInput,
) -> Result<PoolConfig, GpuError> {
    let (limit, allowed) = max_buffer_bytes(limits, input.usage());
    let lower = |what, requested: u32, bytes: usize| {
        let fits = allowed / (bytes as u64).max(1);
        expect_limit(limit, what, bytes as u64, if fits == 0 { allowed } else { u64::MAX })?;
        Ok(requested.min(u32::try_from(fits).unwrap_or(u32::MAX)))
    };
    let max_buffer_elements = lower("a vertex", config.max_buffer_elements, element_bytes)?;
    let max_slots = lower("per-draw data", config.max_slots, data_bytes)?;
    // The index pattern is one buffer.
    let pattern_bytes = u64::from(config.indices_per_element.max(1)) * size_of::<u32>() as u64;
    let pattern_limit = u32::try_from(limits.max_buffer_size / pattern_bytes).unwrap_or(u32::MAX);
    let pattern_elements = config.pattern_elements.min(pattern_limit);
    Ok(config
        .with_max_buffer_elements(max_buffer_elements)
        .with_max_slots(max_slots)
        .with_pattern_elements(pattern_elements))
}

pub(crate) fn expect_limit(
    limit: &'static str,
    what: &'static str,
    needed: u64,
    allowed: u64,
) -> Result<(), GpuError> {
    if needed > allowed { Err(GpuError::Limit { limit, what, needed, allowed }) } else { Ok(()) }
}
