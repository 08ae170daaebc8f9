//! Shaders, compiled and linked.

use std::{ffi::CString, ptr, rc::Rc};

use super::{
    bindings::{self as gl, Gl, types::*},
    context::Context,
};
use crate::{error::RenderError, frame::QuadStyle, shadows::MapKinds};

/// The programs of all passes.
pub(super) struct Programs {
    plain: QuadPrograms,
    /// Created when the first frame needs them.
    shaded: Option<QuadPrograms>,
    wired: Option<Surfaces>,
    /// Programs that read maps, for each style, by the index of the maps.
    shadowed: [[Option<Surfaces>; 4]; 3],
    /// Programs for quads with textures, and for such cubes, for each style, by the index of the maps.
    tiled: [[Option<(QuadPrograms, Program)>; 4]; 3],
    cubes: Program,
    pub(super) sky: Program,
    /// Opaque and blended ones.
    triangles: Program,
    /// Created when the first frame needs them; see [`Needs::textured`].
    textured: [Option<Program>; 8],
}

/// Kind of a frame, which selects its programs.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    pub(super) style: QuadStyle,
    pub(super) maps: MapKinds,
    pub(super) has_textures: bool,
    /// Whether quads have textures.
    pub(super) is_tiled: bool,
}

impl Needs {
    fn is_wired(self) -> bool {
        self.style == QuadStyle::Wired
    }

    /// Index of the program for textured triangles: with lines, and with maps.
    fn textured(self) -> usize {
        usize::from(self.is_wired()) | self.maps.index() << 1
    }
}

/// Programs for surfaces of each kind.
struct Surfaces {
    quads: QuadPrograms,
    cubes: Program,
    triangles: Program,
}

/// Programs for quads.
pub(super) struct QuadPrograms {
    pub(super) opaque: Program,
    pub(super) blended: Program,
}

/// Programs that draw depth only.
pub(super) struct CasterPrograms {
    pub(super) quads: Program,
    pub(super) cubes: Program,
    pub(super) triangles: Program,
    /// Triangles with holes. Created when the first picture needs them.
    pub(super) masked: Option<Program>,
    /// Quads and cubes with holes. Created when the first picture needs them.
    pub(super) cut_out: Option<[Program; 2]>,
}

/// Common beginning of every shader.
pub const FRAME: &str = include_str!("shaders/frame.glsl");
/// Enables ambient occlusion.
const SHADED: &str = "#define SHADED\n";
/// Enables lines along edges.
const WIRED: &str = "#define WIRED\n";
/// Enables textures.
const TEXTURED: &str = "#define TEXTURED\n";
/// Enables textures of quads.
const TILED: &str = "#define TILED\n";
/// Enable the maps of the sun, of the sky, and both.
const MAPS: [&str; 4] = [
    "",
    "#define SHADOWED\n#define SUN_MAPS\n",
    "#define SHADOWED\n#define SKY_MAPS\n",
    "#define SHADOWED\n#define SUN_MAPS\n#define SKY_MAPS\n",
];
const SHADOW: &str = include_str!("shaders/shadow.glsl");
/// Fragments of shadow maps, which have no colours.
const CASTER_FRAGMENT: &str = "#version 430 core\nvoid main() {}\n";
/// Outward move of opaque quads' edges.
const SEAM: &str = "#define SEAM frame.seam\n";
const SURFACE_VERTEX: &str = include_str!("shaders/surface.vert");
/// Colours the outputs of a vertex shader: a colour and a position relative to the camera.
pub const SURFACE_FRAGMENT: &str = concat!(
    include_str!("shaders/haze.glsl"),
    include_str!("shaders/tiles.glsl"),
    include_str!("shaders/surface.frag")
);
const TRIANGLES_VERTEX: &str = include_str!("shaders/triangles.vert");
const TRIANGLES_FRAGMENT: &str = concat!(
    include_str!("shaders/haze.glsl"),
    include_str!("shaders/textures.glsl"),
    include_str!("shaders/triangles.frag")
);
const MASKED_CASTERS: &str =
    concat!(include_str!("shaders/textures.glsl"), include_str!("shaders/masked_casters.frag"));
const CUT_OUT_CASTERS: &str =
    concat!(include_str!("shaders/tiles.glsl"), include_str!("shaders/cut_out_casters.frag"));
const SKY_VERTEX: &str = include_str!("shaders/sky.vert");
const SKY_FRAGMENT: &str = include_str!("shaders/sky.frag");

impl Programs {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, RenderError> {
        Ok(Self {
            plain: QuadPrograms::new(context, "")?,
            shaded: None,
            wired: None,
            shadowed: [const { [const { None }; 4] }; 3],
            tiled: [const { [const { None }; 4] }; 3],
            cubes: surface(context, "#define CUBES\n", SEAM)?,
            sky: Program::new(context, &[FRAME, SKY_VERTEX], &[FRAME, SKY_FRAGMENT])?,
            triangles: triangles(context, "")?,
            textured: [const { None }; 8],
        })
    }

    /// Creates the programs that a frame needs.
    ///
    /// # Errors
    /// `Device` with the compiler's message.
    pub(super) fn prepare(
        &mut self,
        context: &Rc<Context>,
        needs: Needs,
    ) -> Result<(), RenderError> {
        let shadows = MAPS[needs.maps.index()];
        let lines = if needs.is_wired() { WIRED } else { "" };
        let textured = &mut self.textured[needs.textured()];
        if needs.has_textures && textured.is_none() {
            *textured = Some(triangles(context, &format!("{TEXTURED}{shadows}{lines}"))?);
        }
        let tiled = &mut self.tiled[needs.style as usize][needs.maps.index()];
        if needs.is_tiled && tiled.is_none() {
            let kind = format!("{TILED}{shadows}{}{lines}", shaded(needs.style));
            let quads = QuadPrograms::new(context, &kind)?;
            *tiled = Some((quads, surface(context, &format!("{kind}#define CUBES\n"), SEAM)?));
        }
        if needs.maps.any() {
            let shadowed = &mut self.shadowed[needs.style as usize][needs.maps.index()];
            if shadowed.is_none() {
                *shadowed = Some(Surfaces::new(context, needs.style, shadows)?);
            }
            return Ok(());
        }
        if needs.style == QuadStyle::Shaded && self.shaded.is_none() {
            self.shaded = Some(QuadPrograms::new(context, SHADED)?);
        }
        if needs.is_wired() && self.wired.is_none() {
            self.wired = Some(Surfaces::new(context, needs.style, "")?);
        }
        Ok(())
    }

    /// Programs for quads that were prepared for such a frame, and the program for cubes.
    pub(super) fn of_quads(&self, needs: Needs) -> (&QuadPrograms, &Program) {
        let tiled = self.tiled[needs.style as usize][needs.maps.index()].as_ref();
        if let Some((quads, cubes)) = tiled.filter(|_| needs.is_tiled) {
            return (quads, cubes);
        }
        if let Some(shadowed) = self.of_shadows(needs) {
            return (&shadowed.quads, &shadowed.cubes);
        }
        // Cubes have no ambient occlusion.
        let shaded = self.shaded.as_ref().map(|quads| (quads, &self.cubes));
        let made = match needs.style {
            QuadStyle::Plain => None,
            QuadStyle::Shaded => shaded,
            QuadStyle::Wired => self.wired.as_ref().map(|it| (&it.quads, &it.cubes)),
        };
        made.unwrap_or((&self.plain, &self.cubes))
    }

    /// The programs with maps that were prepared for such a frame, if it reads maps.
    fn of_shadows(&self, needs: Needs) -> Option<&Surfaces> {
        self.shadowed[needs.style as usize][needs.maps.index()].as_ref()
    }

    /// The program for triangles, which does not depend on ambient occlusion.
    pub(super) fn of_triangles(&self, needs: Needs) -> &Program {
        let textured = self.textured[needs.textured()].as_ref();
        if let Some(program) = textured.filter(|_| needs.has_textures) {
            return program;
        }
        let wired = self.wired.as_ref().filter(|_| needs.is_wired());
        self.of_shadows(needs).or(wired).map_or(&self.triangles, |it| &it.triangles)
    }
}

impl Surfaces {
    /// Creates programs of a style. `shadows` enables maps or is empty.
    fn new(context: &Rc<Context>, style: QuadStyle, shadows: &str) -> Result<Self, RenderError> {
        let lines = if style == QuadStyle::Wired { WIRED } else { "" };
        let kind = format!("{shadows}{}{lines}", shaded(style));
        Ok(Self {
            quads: QuadPrograms::new(context, &kind)?,
            cubes: surface(context, &format!("{kind}#define CUBES\n"), SEAM)?,
            triangles: triangles(context, &format!("{shadows}{lines}"))?,
        })
    }
}

impl CasterPrograms {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, RenderError> {
        let surface =
            |kind| Program::new(context, &[FRAME, kind, SEAM, SURFACE_VERTEX], &[CASTER_FRAGMENT]);
        Ok(Self {
            quads: surface("")?,
            cubes: surface("#define CUBES\n")?,
            triangles: Program::new(context, &[FRAME, TRIANGLES_VERTEX], &[CASTER_FRAGMENT])?,
            masked: None,
            cut_out: None,
        })
    }

    /// Creates the programs for triangles and for quads with holes that are needed, and frees the others.
    pub(super) fn prepare(
        &mut self,
        context: &Rc<Context>,
        (has_masks, has_cut_outs): (bool, bool),
    ) -> Result<(), RenderError> {
        self.masked = self.masked.take().filter(|_| has_masks);
        if has_masks && self.masked.is_none() {
            let vertex = [FRAME, TEXTURED, TRIANGLES_VERTEX];
            let program = Program::new(context, &vertex, &[FRAME, TEXTURED, MASKED_CASTERS])?;
            self.masked = Some(program);
        }
        self.cut_out = self.cut_out.take().filter(|_| has_cut_outs);
        if has_cut_outs && self.cut_out.is_none() {
            let program = |kind| {
                let vertex = [FRAME, TILED, kind, SEAM, SURFACE_VERTEX];
                Program::new(context, &vertex, &[FRAME, TILED, CUT_OUT_CASTERS])
            };
            self.cut_out = Some([program("")?, program("#define CUBES\n")?]);
        }
        Ok(())
    }
}

impl QuadPrograms {
    fn new(context: &Rc<Context>, kind: &str) -> Result<Self, RenderError> {
        Ok(Self {
            opaque: surface(context, kind, SEAM)?,
            // Blended quads must not overlap their neighbours, because overlaps would show twice.
            blended: surface(context, kind, "#define SEAM 0.0\n")?,
        })
    }
}

/// Creates a program for quads or cubes.
fn surface(context: &Rc<Context>, kind: &str, seam: &str) -> Result<Program, RenderError> {
    let vertex = [FRAME, kind, seam, SURFACE_VERTEX];
    Program::new(context, &vertex, &[FRAME, kind, shadow(kind), SURFACE_FRAGMENT])
}

/// Creates a program for triangles of models.
fn triangles(context: &Rc<Context>, kind: &str) -> Result<Program, RenderError> {
    let fragment = [FRAME, kind, shadow(kind), TRIANGLES_FRAGMENT];
    Program::new(context, &[FRAME, kind, TRIANGLES_VERTEX], &fragment)
}

/// The definition that enables ambient occlusion, if a style has it.
fn shaded(style: QuadStyle) -> &'static str {
    if style == QuadStyle::Plain { "" } else { SHADED }
}

/// The source for reading maps, if these definitions enable any.
fn shadow(kind: &str) -> &'static str {
    if kind.contains("SHADOWED") { SHADOW } else { "" }
}

/// A linked vertex and fragment shader.
pub struct Program {
    context: Rc<Context>,
    name: GLuint,
}

impl Program {
    /// Compiles and links shaders. Sources are given in pieces, one after the other.
    ///
    /// # Errors
    /// `Device` with the compiler's message.
    pub fn new(
        context: &Rc<Context>,
        vertex: &[&str],
        fragment: &[&str],
    ) -> Result<Self, RenderError> {
        let gl = context.current()?;
        // SAFETY: the context is current.
        let name = unsafe { gl.CreateProgram() };
        let program = Self { context: Rc::clone(context), name };
        for (kind, pieces) in [(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, fragment)] {
            let shader = compile(gl, kind, pieces)?;
            // SAFETY: the context is current and both names are of it. A shader that is
            // attached stays for as long as its program.
            unsafe {
                gl.AttachShader(name, shader);
                gl.DeleteShader(shader);
            }
        }
        // SAFETY: the context is current and the name is of a program.
        unsafe { gl.LinkProgram(name) };
        let mut linked = 0;
        // SAFETY: as above; there is one such number.
        unsafe { gl.GetProgramiv(name, gl::LINK_STATUS, &raw mut linked) };
        if linked == GLint::from(gl::FALSE) {
            let read = |length, used, log| {
                // SAFETY: as above; `log` has space for `length` bytes.
                unsafe { gl.GetProgramInfoLog(name, length, used, log) };
            };
            return Err(refused("linking shaders", read));
        }
        Ok(program)
    }

    pub(super) const fn name(&self) -> GLuint {
        self.name
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the name is ours.
            unsafe { gl.DeleteProgram(self.name) };
        }
    }
}

fn compile(gl: &Gl, kind: GLenum, pieces: &[&str]) -> Result<GLuint, RenderError> {
    let source = CString::new(pieces.concat()).unwrap_or_default();
    let lines = [source.as_ptr()];
    // SAFETY: the context is current, and `source` is text that ends with a zero.
    let name = unsafe {
        let name = gl.CreateShader(kind);
        gl.ShaderSource(name, 1, lines.as_ptr(), ptr::null());
        gl.CompileShader(name);
        name
    };
    let mut compiled = 0;
    // SAFETY: the context is current and the name is of a shader.
    unsafe { gl.GetShaderiv(name, gl::COMPILE_STATUS, &raw mut compiled) };
    if compiled != GLint::from(gl::FALSE) {
        return Ok(name);
    }
    let error = refused("compiling a shader", |length, used, log| {
        // SAFETY: as above; `log` has space for `length` bytes.
        unsafe { gl.GetShaderInfoLog(name, length, used, log) };
    });
    // SAFETY: as above.
    unsafe { gl.DeleteShader(name) };
    Err(error)
}

/// Converts the compiler's message to an error.
fn refused(
    during: &'static str,
    read: impl FnOnce(GLsizei, *mut GLsizei, *mut GLchar),
) -> RenderError {
    let mut log = vec![0_u8; 2048];
    let mut used = 0;
    read(log.len() as GLsizei, &raw mut used, log.as_mut_ptr().cast());
    log.truncate(used.max(0) as usize);
    let reason = crate::fault::one_line(&String::from_utf8_lossy(&log));
    RenderError::Device { during, reason }
}
