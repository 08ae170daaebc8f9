//! The calls of one frame.

use std::{ptr, rc::Rc};

use drystone_mesh::quad_index_pattern;
use drystone_pool::DrawCommand;

use super::{
    bindings::{self as gl, Gl, types::*},
    buffer::{Buffer, Kind},
    context::Context,
    geometry::{GlGeometry, is_drawn},
    program::{Needs, Program, Programs, QuadPrograms},
    upload::UploadRange,
    vertex_array::VertexArray,
};
use crate::{
    buffers::{BufferKind, PATTERN_QUADS},
    draw_data::DrawData,
    error::RenderError,
    frame::{Frame, QuadStyle},
    material_look::{MaterialEntry, MaterialLook},
    passes::{Batch, Passes, ShadowPass},
    quad_textures::{QuadTextures, TileWords},
    shadows::MapKinds,
    texture_set::TextureSet,
};

/// Bindings of the shaders, as in `shaders/`.
pub(super) const FRAME_BINDING: GLuint = 0;
const QUADS_BINDING: GLuint = 0;
const MATERIALS_BINDING: GLuint = 1;
/// The table of per-draw data, for cubes, which contain their slots.
const DRAWS_BINDING: GLuint = 2;
/// Index data for triangles with lines, as a storage buffer, and the uniform with its first index.
const INDICES_BINDING: GLuint = 3;
const FIRST_UNIFORM: GLint = 0;
const TEXTURES_BINDING: GLuint = 4;
/// Textures of quads.
const TILES_BINDING: GLuint = 5;
const DRAW_ATTRIBUTE: GLuint = 0;
/// The vertex buffer that the attribute is read from.
const DRAW_BINDING: GLuint = 0;

/// Objects that are created once and used in every frame.
pub(super) struct Painter {
    context: Rc<Context>,
    programs: Programs,
    materials: Buffer,
    /// Textures of materials; `None` without any.
    tiles: Option<Buffer>,
    /// Whether these have holes.
    has_holes: bool,
    /// `None` without textures.
    textures: Option<Buffer>,
    texture_set: TextureSet,
    /// Whether a material of the table emits light.
    emits: bool,
    /// The shared index pattern.
    pub(super) pattern: Buffer,
    vertices: VertexArray,
    /// Vertex array with the same attributes, and the indices of the triangles being drawn.
    triangles: VertexArray,
    /// Vertex array without attributes, for corners that are computed from their numbers.
    no_vertices: VertexArray,
}

impl Painter {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, RenderError> {
        let programs = Programs::new(context)?;
        let indices = quad_index_pattern(PATTERN_QUADS);
        let bytes: &[u8] = bytemuck::cast_slice(&indices);
        let size_bytes = bytes.len() as u64;
        let pattern = Buffer::new(context, "index pattern", size_bytes, Kind::Filled(bytes))?;
        let materials = material_buffer(context, &[], &[])?;
        let vertices = vertex_array(context, &pattern)?;
        let triangles = vertex_array(context, &pattern)?;
        let no_vertices = VertexArray::new(context, &pattern)?;
        let context = Rc::clone(context);
        let (textures, texture_set) = (None, TextureSet::default());
        Ok(Self {
            context,
            programs,
            materials,
            tiles: None,
            has_holes: false,
            textures,
            texture_set,
            emits: false,
            pattern,
            vertices,
            triangles,
            no_vertices,
        })
    }

    pub(super) fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.set_tiles(materials, TileWords::default())
    }

    pub(super) fn set_textured_materials(
        &mut self,
        materials: &[MaterialLook],
        textures: &QuadTextures,
    ) -> Result<(), RenderError> {
        self.set_tiles(materials, textures.words(materials, self.context.limits.storage_bytes)?)
    }

    fn set_tiles(
        &mut self,
        materials: &[MaterialLook],
        TileWords { words, records, has_holes }: TileWords,
    ) -> Result<(), RenderError> {
        let table = material_buffer(&self.context, materials, &records)?;
        let filled = |bytes: &[u8]| {
            let size_bytes = bytes.len() as u64;
            Buffer::new(&self.context, "textures of materials", size_bytes, Kind::Filled(bytes))
        };
        let is_tiled = !words.is_empty();
        self.tiles = is_tiled.then(|| filled(bytemuck::cast_slice(&words))).transpose()?;
        self.has_holes = has_holes;
        self.materials = table;
        self.emits = materials.iter().any(|material| material.emission != 0);
        Ok(())
    }

    /// Whether the textures are those of this set.
    pub(super) fn has_set(&self, set: &TextureSet) -> bool {
        self.texture_set.is_same(set)
    }

    /// Replaces the textures.
    pub(super) fn set_textures(&mut self, set: &TextureSet) -> Result<(), RenderError> {
        let words = set.words(self.context.limits.storage_bytes)?;
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let size_bytes = bytes.len() as u64;
        let filled = || Buffer::new(&self.context, "textures", size_bytes, Kind::Filled(bytes));
        self.textures = (!bytes.is_empty()).then(filled).transpose()?;
        self.texture_set = set.clone();
        Ok(())
    }

    /// Whether anything may emit light.
    pub(super) fn emits(&self) -> bool {
        self.emits || self.texture_set.emits()
    }

    /// Whether a material of triangles has holes, and whether one of quads has.
    pub(super) fn holes(&self) -> (bool, bool) {
        (self.texture_set.has_masks(), self.has_holes)
    }

    fn needs(&self, style: QuadStyle, maps: MapKinds) -> Needs {
        let has_textures = self.textures.is_some();
        let is_tiled = self.tiles.is_some();
        Needs { style, maps, has_textures, is_tiled }
    }

    /// Creates the programs that a frame of this style needs.
    ///
    /// # Errors
    /// `Device` when the driver refuses a shader.
    pub(super) fn prepare(&mut self, frame: &Frame, maps: MapKinds) -> Result<(), RenderError> {
        self.programs.prepare(&self.context, self.needs(frame.quad_style(), maps))
    }

    /// Draws all passes to the bound target, after [`prepare`](Self::prepare) for this frame. The
    /// [`Frame`] begins at `range`. If the batches are drawn indirectly, their commands follow at
    /// `commands_bytes`, one after the other.
    pub(super) fn paint(
        &self,
        gl: &Gl,
        range: &UploadRange,
        commands_bytes: u64,
        (frame, passes): (&Frame, &Passes<'_, GlGeometry>),
    ) {
        self.bind_frame(gl, range);
        let commands = passes.indirect.then_some(range.offset_bytes + commands_bytes);
        let maps = passes.shadows.map(ShadowPass::kinds).unwrap_or_default();
        let needs = self.needs(frame.quad_style(), maps);
        self.paint_scene(gl, passes, commands, (needs, true));
    }

    /// Draws all passes without the sky to the bound target, with the bound frame of emitted light,
    /// after [`prepare`](Self::prepare) for it. `commands` is the offset of the commands in the bound
    /// indirect buffer if the batches are drawn indirectly.
    pub(super) fn paint_emitted(
        &self,
        gl: &Gl,
        passes: &Passes<'_, GlGeometry>,
        commands: Option<u64>,
    ) {
        let needs = self.needs(QuadStyle::Plain, MapKinds::default());
        self.paint_scene(gl, passes, commands, (needs, false));
    }

    fn paint_scene(
        &self,
        gl: &Gl,
        passes: &Passes<'_, GlGeometry>,
        mut commands: Option<u64>,
        (needs, has_sky): (Needs, bool),
    ) {
        let is_wired = needs.style == QuadStyle::Wired;
        let (QuadPrograms { opaque, blended }, cubes) = self.programs.of_quads(needs);
        let of_triangles = (BufferKind::Vertices, self.programs.of_triangles(needs));
        let solid = [(BufferKind::Quads, opaque), (BufferKind::Cubes, cubes), of_triangles];
        self.paint_batches(gl, (&solid, passes.opaque), (is_wired, &mut commands));
        if has_sky {
            self.paint_sky(gl);
        } else {
            write_depth(gl, false);
        }
        if !passes.blended.is_empty() {
            let blended = [(BufferKind::Quads, blended), of_triangles];
            set_blending(gl, true);
            self.paint_batches(gl, (&blended, passes.blended), (is_wired, &mut commands));
            set_blending(gl, false);
        }
    }

    /// Draws batches with the program of their kind. The commands of all batches begin at `commands`
    /// in the bound indirect buffer, if they are drawn indirectly; it moves behind them.
    pub(super) fn paint_batches(
        &self,
        gl: &Gl,
        (programs, batches): (&[(BufferKind, &Program)], &[Batch<'_, GlGeometry>]),
        (is_wired, commands): (bool, &mut Option<u64>),
    ) {
        self.vertices.bind(gl);
        let mut last = None;
        for batch in batches.iter().filter(|batch| !batch.commands.is_empty()) {
            let at = *commands;
            *commands = at.map(|at| at + size_of_val(batch.commands) as u64);
            let kind = batch.geometry.kind;
            let is_drawn = is_drawn(batch);
            let program = programs.iter().find(|(of, _)| is_drawn && *of == kind);
            let Some((_, program)) = program else { continue };
            if last.replace(kind) != Some(kind) {
                self.use_entries(gl, kind, program);
            }
            self.bind_geometry(gl, batch);
            match at {
                _ if is_wired && batch.indices.is_some() => {
                    batch.commands.iter().for_each(|command| draw_wired(gl, command));
                }
                Some(at) => draw_indirect(gl, at, batch.commands.len()),
                None => batch.commands.iter().for_each(|command| draw(gl, command)),
            }
        }
    }

    /// Sets the state for drawing entries of one kind. Triangles are drawn from both sides.
    fn use_entries(&self, gl: &Gl, kind: BufferKind, program: &Program) {
        use_program(gl, program);
        let are_triangles = kind == BufferKind::Vertices;
        let vertices = if are_triangles { &self.triangles } else { &self.vertices };
        vertices.bind(gl);
        set_culling(gl, !are_triangles);
    }

    /// Draws the sky where no mesh was drawn. Later draws do not write depth.
    pub(super) fn paint_sky(&self, gl: &Gl) {
        use_program(gl, &self.programs.sky);
        // No vertex array is bound if no mesh was drawn.
        self.no_vertices.bind(gl);
        write_depth(gl, false);
        // SAFETY: `gl` is of the context that is current; the sky's corners need no buffers.
        unsafe { gl.DrawArrays(gl::TRIANGLES, 0, 3) };
    }

    /// Binds the frame's data for all programs, and sets the drawing state.
    pub(super) fn bind_frame(&self, gl: &Gl, range: &UploadRange) {
        let (offset, size) = (range.offset_bytes as GLintptr, size_of::<Frame>() as GLsizeiptr);
        // SAFETY: `gl` is of the context that is current, in which all that is named is.
        unsafe {
            let frame = range.buffer.name();
            gl.BindBufferRange(gl::UNIFORM_BUFFER, FRAME_BINDING, frame, offset, size);
            gl.BindBuffer(gl::DRAW_INDIRECT_BUFFER, frame);
            gl.BindBufferBase(gl::SHADER_STORAGE_BUFFER, MATERIALS_BINDING, self.materials.name());
            if let Some(textures) = &self.textures {
                gl.BindBufferBase(gl::SHADER_STORAGE_BUFFER, TEXTURES_BINDING, textures.name());
            }
            if let Some(tiles) = &self.tiles {
                gl.BindBufferBase(gl::SHADER_STORAGE_BUFFER, TILES_BINDING, tiles.name());
            }
            gl.Enable(gl::DEPTH_TEST);
            // Depth is reversed: nearer is greater.
            gl.DepthFunc(gl::GEQUAL);
            gl.Enable(gl::CULL_FACE);
            gl.CullFace(gl::BACK);
            gl.FrontFace(gl::CCW);
        }
    }

    fn bind_geometry(&self, gl: &Gl, batch: &Batch<'_, GlGeometry>) {
        let geometry = batch.geometry;
        // SAFETY: `gl` is of the context that is current, in which the buffer is.
        unsafe {
            let entries = geometry.entries.name();
            gl.BindBufferBase(gl::SHADER_STORAGE_BUFFER, QUADS_BINDING, entries);
            if geometry.kind == BufferKind::Cubes {
                let draws = geometry.draws.name();
                gl.BindBufferBase(gl::SHADER_STORAGE_BUFFER, DRAWS_BINDING, draws);
            }
            if let Some(indices) = batch.indices {
                let indices = indices.entries.name();
                gl.BindBufferBase(gl::SHADER_STORAGE_BUFFER, INDICES_BINDING, indices);
            }
        }
        let stride = DrawData::SHADER_BYTES as GLsizei;
        if let Some(indices) = batch.indices {
            self.triangles.set_indices(gl, indices.entries.name());
            self.triangles.set_buffer(gl, DRAW_BINDING, geometry.draws.name(), stride);
            return;
        }
        self.vertices.set_buffer(gl, DRAW_BINDING, geometry.draws.name(), stride);
    }
}

/// Creates a vertex array with the index pattern and one attribute: the table entry of the draw's
/// slot. Each instance reads the entry at its number, counted from the command's first instance.
fn vertex_array(context: &Rc<Context>, pattern: &Buffer) -> Result<VertexArray, RenderError> {
    let vertices = VertexArray::new(context, pattern)?;
    let gl = context.current()?;
    vertices.add_integers(gl, DRAW_ATTRIBUTE, DRAW_BINDING);
    Ok(vertices)
}

fn material_buffer(
    context: &Rc<Context>,
    materials: &[MaterialLook],
    records: &[u32],
) -> Result<Buffer, RenderError> {
    let table = MaterialEntry::table(materials, records);
    let bytes: &[u8] = bytemuck::cast_slice(&table);
    Buffer::new(context, "materials", bytes.len() as u64, Kind::Filled(bytes))
}

pub(super) fn use_program(gl: &Gl, program: &Program) {
    // SAFETY: `gl` is of the context that is current, in which the program is.
    unsafe { gl.UseProgram(program.name()) };
}

fn write_depth(gl: &Gl, writes: bool) {
    // SAFETY: `gl` is of the context that is current.
    unsafe { gl.DepthMask(if writes { gl::TRUE } else { gl::FALSE }) };
}

/// Binds a part of a range as uniforms: its offset and size in bytes.
pub(super) fn bind_uniforms(
    gl: &Gl,
    binding: GLuint,
    range: &UploadRange,
    (offset, size): (u64, usize),
) {
    let offset = (range.offset_bytes + offset) as GLintptr;
    // SAFETY: `gl` is of the context that is current, in which the buffer is.
    unsafe {
        let (buffer, size) = (range.buffer.name(), size as GLsizeiptr);
        gl.BindBufferRange(gl::UNIFORM_BUFFER, binding, buffer, offset, size);
    }
}

fn set_culling(gl: &Gl, culls: bool) {
    // SAFETY: `gl` is of the context that is current.
    unsafe {
        if culls {
            gl.Enable(gl::CULL_FACE);
        } else {
            gl.Disable(gl::CULL_FACE);
        }
    }
}

fn set_blending(gl: &Gl, blend: bool) {
    let (own, below) = (gl::SRC_ALPHA, gl::ONE_MINUS_SRC_ALPHA);
    // SAFETY: `gl` is of the context that is current.
    unsafe {
        gl.BlendFuncSeparate(own, below, gl::ONE, below);
        if blend {
            gl.Enable(gl::BLEND);
        } else {
            gl.Disable(gl::BLEND);
        }
    }
}

/// Draws `count` commands, which begin at an offset in the bound indirect buffer, with one call.
pub fn draw_indirect(gl: &Gl, offset_bytes: u64, count: usize) {
    let (count, stride) = (count as GLsizei, size_of::<DrawCommand>() as GLsizei);
    let offset = ptr::without_provenance(offset_bytes as usize);
    // SAFETY: `gl` is of the context that is current, where the buffer of commands is bound;
    // `offset` is one within it, not an address.
    unsafe {
        gl.MultiDrawElementsIndirect(gl::TRIANGLES, gl::UNSIGNED_INT, offset, count, stride);
    }
}

fn draw(gl: &Gl, command: &DrawCommand) {
    let first = command.first_index as usize * size_of::<u32>();
    // SAFETY: `gl` is of the context that is current, where the index pattern is bound;
    // `first` is an offset within it, not an address.
    unsafe {
        gl.DrawElementsInstancedBaseVertexBaseInstance(
            gl::TRIANGLES,
            command.index_count as GLsizei,
            gl::UNSIGNED_INT,
            ptr::without_provenance(first),
            command.instance_count as GLsizei,
            command.base_vertex,
            command.first_instance,
        );
    }
}

/// A draw of triangles whose corners read their indices by their own numbers.
fn draw_wired(gl: &Gl, command: &DrawCommand) {
    // SAFETY: `gl` is of the context that is current, where the program is bound that has the
    // uniform, and the buffer of indices that it reads.
    unsafe {
        gl.Uniform2ui(FIRST_UNIFORM, command.first_index, command.base_vertex as GLuint);
        gl.DrawArraysInstancedBaseInstance(
            gl::TRIANGLES,
            0,
            command.index_count as GLsizei,
            command.instance_count as GLsizei,
            command.first_instance,
        );
    }
}
