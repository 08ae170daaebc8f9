//! Drystone's pool with the article's vertices.

use drystone_render::{
    BufferData, BufferKind, CopyRange, Device, DeviceInfo, DrawData, DrawSlots, Frame, GlConfig,
    GlDevice, GlGeometry, Passes, Progress, RenderError, Submitted,
    gl_parts::{FRAME, Program, SURFACE_FRAGMENT, VertexArray, draw_indirect},
};

use super::{
    ATTRIBUTES, FAT_QUAD_BYTES, Layout, LayoutDevice, MAX_QUADS, VERTEX_SHADER, Vertex,
    refuse_blended, refuse_other_kinds,
};

/// A [`GlDevice`] that stores the article's 160 bytes for each quad instead of 8, for measurements.
pub type FatDevice = LayoutDevice<Pooled>;

/// The article's vertices in shared buffers.
pub struct Pooled {
    program: Program,
    vertices: VertexArray,
    /// Buffer for the vertices of written quads, reused by every write.
    scratch: Vec<[Vertex; 4]>,
}

impl Layout for Pooled {
    const ABOUT: &'static str = "vertices of 40 bytes";

    fn info(gl: DeviceInfo) -> DeviceInfo {
        DeviceInfo { max_quads: MAX_QUADS, ..gl }
    }
}

/// Bindings of vertices and per-draw data.
const VERTEX_BINDING: u32 = 0;
const DRAW_BINDING: u32 = 1;
const DRAW_ATTRIBUTE: u32 = 3;

/// Vertex shader code for the position of a mesh.
const POSITION_SHADER: &str = "
layout(location = 3) in ivec4 draw;
vec3 relative_to_voxel(vec3 local) {
    return vec3(draw.xyz - frame.camera_voxel) + local * voxel_scale(uint(draw.w));
}
";

impl FatDevice {
    /// Size of a quad in bytes.
    pub const QUAD_BYTES: u64 = FAT_QUAD_BYTES;

    /// Creates a device without a window that draws pictures of this size.
    ///
    /// # Errors
    /// The errors of [`GlDevice::headless`].
    pub fn headless(config: GlConfig, width: u32, height: u32) -> Result<Self, RenderError> {
        let device = GlDevice::headless(config, width, height)?;
        let context = device.context();
        let program = Program::new(
            context,
            &[FRAME, POSITION_SHADER, VERTEX_SHADER],
            &[FRAME, SURFACE_FRAGMENT],
        )?;
        let vertices = device.vertex_array()?;
        let gl = context.current()?;
        for (attribute, count, offset_bytes) in ATTRIBUTES {
            vertices.add_floats(gl, attribute, VERTEX_BINDING, (count, offset_bytes));
        }
        vertices.add_integers(gl, DRAW_ATTRIBUTE, DRAW_BINDING);
        Ok(Self::new(device, Pooled { program, vertices, scratch: Vec::new() }))
    }
}

impl Device for FatDevice {
    type Geometry = GlGeometry;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, GlGeometry>,
    ) -> Result<GlGeometry, RenderError> {
        refuse_other_kinds(kind)?;
        if count > MAX_QUADS {
            let [requested, limit] =
                [count, MAX_QUADS].map(|quads| u64::from(quads) * FAT_QUAD_BYTES);
            return Err(RenderError::TooLarge { what: "vertices", requested, limit });
        }
        self.gl.create_elements(FAT_QUAD_BYTES, count, slots)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut GlGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        self.gl.resize_draw_data(sharing, slots)
    }

    fn write(&mut self, geometry: &mut GlGeometry, first: u32, data: BufferData<'_>) {
        let BufferData::Quads(quads) = data else {
            return self.gl.write(geometry, first, data);
        };
        let scratch = &mut self.layout.scratch;
        scratch.clear();
        scratch.extend(quads.iter().map(|&quad| self.expander.corners(quad)));
        self.gl.write_bytes(geometry, first, bytemuck::cast_slice(scratch));
    }

    fn copy(&mut self, from: Option<&GlGeometry>, to: &mut GlGeometry, copy_range: CopyRange) {
        self.gl.copy(from, to, copy_range);
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, GlGeometry>,
    ) -> Result<Submitted, RenderError> {
        refuse_blended(passes)?;
        let Self { gl: device, layout: Pooled { program, vertices, .. }, .. } = self;
        let commands = passes.opaque.iter().map(|batch| batch.commands);
        device.draw_own(frame, program, commands, |gl, mut commands_bytes| {
            vertices.bind(gl);
            for batch in passes.opaque.iter().filter(|batch| !batch.commands.is_empty()) {
                let geometry = batch.geometry;
                let [vertex, draw] = [size_of::<Vertex>(), DrawData::SHADER_BYTES];
                vertices.set_buffer(gl, VERTEX_BINDING, geometry.elements_name(), vertex as i32);
                vertices.set_buffer(gl, DRAW_BINDING, geometry.draw_data_name(), draw as i32);
                draw_indirect(gl, commands_bytes, batch.commands.len());
                commands_bytes += size_of_val(batch.commands) as u64;
            }
        })
    }

    fn progress(&mut self) -> Progress {
        self.gl.progress()
    }
}
