//! Drystone's pool with the article's vertices.

use drystone_mesh::Quad;
use drystone_pool::Access;
use drystone_render::{
    Device, DrawData, Frame, GlConfig, GlDevice, GlGeometry, Image, Passes, RenderError,
    gl_parts::{FRAME, Program, SURFACE_FRAGMENT, VertexArray, draw_indirect},
};

use super::{ATTRIBUTES, Expander, FAT_QUAD_BYTES, VERTEX_SHADER, Vertex, refuse_blended};

/// A [`GlDevice`] that stores the article's 160 bytes for each quad instead of 8, for measurements.
pub struct FatDevice {
    gl: GlDevice,
    expander: Expander,
    program: Program,
    vertices: VertexArray,
    /// Kept for its memory.
    scratch: Vec<[Vertex; 4]>,
}

/// Bindings of vertices and per-draw data.
const VERTEX_BINDING: u32 = 0;
const DRAW_BINDING: u32 = 1;
const DRAW_ATTRIBUTE: u32 = 3;

/// Vertex shader code for the position of a mesh.
const POSITION_SHADER: &str = "
layout(location = 3) in ivec4 draw;
vec3 relative_to_voxel(vec3 local) {
    return vec3(draw.xyz - frame.camera_voxel.xyz) + local * voxel_scale(uint(draw.w));
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
        let (expander, scratch) = (Expander::default(), Vec::new());
        Ok(Self { gl: device, expander, program, vertices, scratch })
    }

    /// Checks that this many bytes of vertices can be addressed.
    fn check_quads(&self, quads: u32) -> Result<(), RenderError> {
        if quads <= self.max_quads() {
            return Ok(());
        }
        let bytes = |quads| u64::from(quads) * FAT_QUAD_BYTES;
        let (requested, limit) = (bytes(quads), bytes(self.max_quads()));
        Err(RenderError::TooLarge { what: "vertices", requested, limit })
    }
}

impl Device for FatDevice {
    type Geometry = GlGeometry;

    fn describe(&self) -> String {
        format!("{}, vertices of 40 bytes", self.gl.describe())
    }

    fn access(&self) -> Access {
        self.gl.access()
    }

    fn submitted(&self) -> u64 {
        self.gl.submitted()
    }

    fn completed(&mut self) -> u64 {
        self.gl.completed()
    }

    fn max_quads(&self) -> u32 {
        // Drivers use 31 bits for sizes in bytes.
        (i32::MAX as u64 / FAT_QUAD_BYTES) as u32
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.expander.set_palette(colors);
        Ok(())
    }

    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<GlGeometry, RenderError> {
        self.check_quads(quads)?;
        self.gl.create_elements(FAT_QUAD_BYTES, quads, slots)
    }

    fn create_sharing(
        &mut self,
        other: &GlGeometry,
        quads: u32,
    ) -> Result<GlGeometry, RenderError> {
        self.check_quads(quads)?;
        self.gl.create_elements_sharing(other, quads)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut GlGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        self.gl.resize_draw_data(sharing, slots)
    }

    fn write_quads(&mut self, geometry: &mut GlGeometry, first: u32, quads: &[Quad]) {
        self.scratch.clear();
        self.scratch.extend(quads.iter().map(|&quad| self.expander.corners(quad)));
        self.gl.write_bytes(geometry, first, bytemuck::cast_slice(&self.scratch));
    }

    fn copy_quads(
        &mut self,
        from: &GlGeometry,
        from_first: u32,
        to: &mut GlGeometry,
        to_first: u32,
        count: u32,
    ) {
        self.gl.copy_quads(from, from_first, to, to_first, count);
    }

    fn copy_quads_within(
        &mut self,
        geometry: &mut GlGeometry,
        from_first: u32,
        to_first: u32,
        count: u32,
    ) {
        self.gl.copy_quads_within(geometry, from_first, to_first, count);
    }

    fn write_draw_data(&mut self, geometry: &mut GlGeometry, first: u32, data: &[DrawData]) {
        self.gl.write_draw_data(geometry, first, data);
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.gl.resize(width, height)
    }

    fn size(&self) -> [u32; 2] {
        self.gl.size()
    }

    fn draw(&mut self, frame: &Frame, passes: &Passes<'_, GlGeometry>) -> Result<(), RenderError> {
        refuse_blended(passes)?;
        let Self { gl: device, program, vertices, .. } = self;
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

    fn finish(&mut self) -> Result<(), RenderError> {
        self.gl.finish()
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.gl.read_image()
    }
}
