//! The article's naive program: one vertex array, three buffers and one draw call for each mesh.

use std::{cell::RefCell, ptr, rc::Rc};

use drystone_mesh::Quad;
use drystone_pool::Access;
use drystone_render::{
    Batch, BufferData, BufferKind, CopyRange, Device, DeviceInfo, DrawData, DrawSlots, Frame,
    GlConfig, GlDevice, Passes, Progress, RenderError, Submitted,
    gl_parts::{
        Context, FRAME, Program, SURFACE_FRAGMENT, VertexArray,
        bindings::{self as gl, Gl, types::*},
    },
};
use glam::{IVec3, Mat4, Vec3};

use super::{
    ATTRIBUTES, Expander, FAT_QUAD_BYTES, Layout, LayoutDevice, MAX_QUADS, VERTEX_SHADER,
    refuse_blended, refuse_other_kinds, whole_meshes_only,
};

/// The article's naive program as a device, for measurements.
///
/// Meshes must be written as a whole. The operations of a pool are refused: sharing and copies.
pub type ArticleDevice = LayoutDevice<Naive>;

/// Buffers for each mesh.
pub struct Naive {
    program: Program,
    scratch: Parts,
    /// Buffers of removed meshes, if they are kept for new ones.
    spare: Option<Spare>,
}

impl Layout for Naive {
    const ABOUT: &'static str = "one buffer of 40-byte vertices per mesh";

    fn info(gl: DeviceInfo) -> DeviceInfo {
        DeviceInfo { access: Access::Staged, max_quads: MAX_QUADS, ..gl }
    }
}

/// Buffers of removed meshes.
type Spare = Rc<RefCell<Vec<Buffers>>>;

/// A mesh's vertex array and buffers.
pub struct ArticleGeometry {
    /// Taken when the geometry is dropped.
    buffers: Option<Buffers>,
    spare: Option<Spare>,
    quad_capacity: u32,
    data: DrawData,
}

/// A vertex array and its three buffers.
struct Buffers {
    context: Rc<Context>,
    vertices: VertexArray,
    names: [GLuint; 3],
}

/// Vertices, with a list for each attribute.
#[derive(Default)]
struct Parts {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    colors: Vec<[f32; 4]>,
}

/// Vertex shader code for the position of a mesh.
const POSITION_SHADER: &str = "
layout(location = 0) uniform mat4 model;
vec3 relative_to_voxel(vec3 local) { return (model * vec4(local, 1.0)).xyz; }
";
const MODEL_LOCATION: GLint = 0;

impl ArticleDevice {
    /// Size of a quad in bytes.
    pub const QUAD_BYTES: u64 = FAT_QUAD_BYTES;

    /// Creates a device without a window that draws pictures of this size. It keeps the buffers of
    /// removed meshes for new ones, because the article's program generates its buffers once.
    ///
    /// # Errors
    /// The errors of [`GlDevice::headless`].
    pub fn headless(width: u32, height: u32) -> Result<Self, RenderError> {
        let gl = GlDevice::headless(GlConfig::default(), width, height)?;
        let vertex = [FRAME, POSITION_SHADER, VERTEX_SHADER];
        let program = Program::new(gl.context(), &vertex, &[FRAME, SURFACE_FRAGMENT])?;
        let (scratch, spare) = (Parts::default(), Some(Spare::default()));
        Ok(Self::new(gl, Naive { program, scratch, spare }))
    }

    /// Destroys the buffers of removed meshes from now on, and creates new ones for new meshes.
    #[must_use]
    pub fn without_spare_buffers(mut self) -> Self {
        self.layout.spare = None;
        self
    }
}

impl Buffers {
    fn new(device: &GlDevice) -> Result<Self, RenderError> {
        let context = device.context();
        let vertices = device.vertex_array()?;
        let gl = context.current()?;
        let mut names = [0; 3];
        // SAFETY: the context is current, and there is space for three names.
        unsafe { gl.CreateBuffers(3, names.as_mut_ptr()) };
        for ((attribute, count, _), name) in ATTRIBUTES.into_iter().zip(names) {
            vertices.add_floats(gl, attribute, attribute, (count, 0));
            vertices.set_buffer(gl, attribute, name, count * size_of::<f32>() as GLsizei);
        }
        Ok(Self { context: Rc::clone(context), vertices, names })
    }

    /// Replaces the vertices.
    fn fill(&self, gl: &Gl, parts: &Parts) {
        let Parts { positions, normals, colors } = parts;
        let parts: [&[u8]; 3] = [
            bytemuck::cast_slice(positions),
            bytemuck::cast_slice(normals),
            bytemuck::cast_slice(colors),
        ];
        for (name, bytes) in self.names.into_iter().zip(parts) {
            let (size, data) = (bytes.len() as GLsizeiptr, bytes.as_ptr().cast());
            // SAFETY: `gl` is of the context that is current, in which the buffer is; `data` has as
            // many bytes as `size` states.
            unsafe { gl.NamedBufferData(name, size, data, gl::STATIC_DRAW) };
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the names are ours.
            unsafe { gl.DeleteBuffers(3, self.names.as_ptr()) };
        }
    }
}

impl Drop for ArticleGeometry {
    fn drop(&mut self) {
        if let Some(spare) = &self.spare {
            spare.borrow_mut().extend(self.buffers.take());
        }
    }
}

impl Parts {
    fn expand(&mut self, expander: &Expander, quads: &[Quad]) {
        let Self { positions, normals, colors } = self;
        positions.clear();
        normals.clear();
        colors.clear();
        for vertex in quads.iter().flat_map(|&quad| expander.corners(quad)) {
            positions.push(vertex.position);
            normals.push(vertex.normal);
            colors.push(vertex.color);
        }
    }
}

fn draw_mesh(gl: &Gl, batch: &Batch<'_, ArticleGeometry>, camera_voxel: IVec3) {
    let geometry = batch.geometry;
    let Some(buffers) = &geometry.buffers else { return };
    buffers.vertices.bind(gl);
    let origin = IVec3::from_array(geometry.data.origin).wrapping_sub(camera_voxel);
    let scale = Mat4::from_scale(Vec3::splat((1_u32 << geometry.data.level) as f32));
    let model = (Mat4::from_translation(origin.as_vec3()) * scale).to_cols_array();
    // SAFETY: `gl` is of the context that is current, in which the program is in use that
    // has this matrix; it is of 16 numbers.
    unsafe { gl.UniformMatrix4fv(MODEL_LOCATION, 1, gl::FALSE, model.as_ptr()) };
    for command in batch.commands {
        // SAFETY: as above; the index pattern is bound and is longer than this.
        unsafe {
            gl.DrawElementsBaseVertex(
                gl::TRIANGLES,
                command.index_count as GLsizei,
                gl::UNSIGNED_INT,
                ptr::null(),
                command.base_vertex,
            );
        }
    }
}

impl Device for ArticleDevice {
    type Geometry = ArticleGeometry;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, ArticleGeometry>,
    ) -> Result<ArticleGeometry, RenderError> {
        refuse_other_kinds(kind)?;
        if let DrawSlots::SharedWith(_) = slots {
            return Err(whole_meshes_only());
        }
        let spare = self.layout.spare.clone();
        let buffers = match spare.as_ref().and_then(|spare| spare.borrow_mut().pop()) {
            Some(buffers) => buffers,
            None => Buffers::new(&self.gl)?,
        };
        let data = DrawData::default();
        Ok(ArticleGeometry { buffers: Some(buffers), spare, quad_capacity: count, data })
    }

    fn resize_draw_data(
        &mut self,
        _sharing: &mut [&mut ArticleGeometry],
        _slots: u32,
    ) -> Result<(), RenderError> {
        Err(whole_meshes_only())
    }

    fn write(&mut self, geometry: &mut ArticleGeometry, first: u32, data: BufferData<'_>) {
        match (first, data) {
            (0, BufferData::DrawData([data, ..])) => geometry.data = *data,
            (0, BufferData::Quads(quads))
                if quads.len() as u64 == u64::from(geometry.quad_capacity) =>
            {
                self.layout.scratch.expand(&self.expander, quads);
                if let (Some(buffers), Ok(gl)) = (&geometry.buffers, self.gl.context().current()) {
                    buffers.fill(gl, &self.layout.scratch);
                }
            }
            _ => self.gl.fail_next_frame(&whole_meshes_only()),
        }
    }

    fn copy(&mut self, _: Option<&ArticleGeometry>, _: &mut ArticleGeometry, _: CopyRange) {
        self.gl.fail_next_frame(&whole_meshes_only());
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, ArticleGeometry>,
    ) -> Result<Submitted, RenderError> {
        refuse_blended(passes)?;
        let Self { gl: device, layout, .. } = self;
        let camera_voxel = IVec3::from_array(frame.camera_voxel);
        device.draw_own(frame, &layout.program, std::iter::empty(), |gl, _| {
            for batch in passes.opaque {
                draw_mesh(gl, batch, camera_voxel);
            }
        })
    }

    fn progress(&mut self) -> Progress {
        self.gl.progress()
    }
}
