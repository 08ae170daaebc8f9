//! A context with its functions, limits and errors.

use std::{
    cell::Cell,
    ffi::{CStr, c_char, c_void},
    mem::ManuallyDrop,
    ptr,
    rc::Rc,
    slice,
};

use super::{
    GlConfig,
    bindings::{self as gl, Gl, types::*},
    platform::Platform,
};
use crate::{error::RenderError, fault::Fault, software::is_software};

/// A context. All objects in it hold a reference to it.
///
/// It belongs to one thread: a context can be current on only one thread at a time, and the objects
/// of a context that is current elsewhere cannot be reached.
pub struct Context {
    gl: Gl,
    pub(super) platform: Platform,
    pub(super) fault: Fault,
    pub(super) limits: Limits,
    /// Adapter and version.
    pub(super) name: String,
    pub(super) memory: Memory,
    /// Receives errors from the driver's callback. It is freed only after the callback is removed:
    /// a driver can call it for as long as its context exists.
    listener: ManuallyDrop<Box<Fault>>,
    /// Simulates a context that cannot be made current.
    #[cfg(test)]
    pub(super) is_unreachable: Cell<bool>,
}

/// Limits of the driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum size of a storage buffer in shaders, in bytes.
    pub(super) storage_bytes: u64,
    /// Required alignment of uniform offsets, in bytes.
    pub(super) uniform_alignment: u64,
    /// Maximum side of a picture, in pixels.
    pub(super) side: u32,
    /// Maximum number of samples in a pixel.
    pub(super) samples: u32,
}

/// Bytes of all buffers, and their limit.
pub(super) struct Memory {
    used_bytes: Cell<u64>,
    limit_bytes: u64,
}

/// The extensions that add the required features of OpenGL 4.5 to 4.3.
const NEEDED: [&str; 3] =
    ["GL_ARB_buffer_storage", "GL_ARB_clip_control", "GL_ARB_direct_state_access"];

/// Error code of a lost context; defined since 4.5, but not in the older bindings.
const CONTEXT_LOST: GLenum = 0x0507;

impl Context {
    /// Loads the functions of a context that is current, and checks that it is suitable.
    pub(super) fn new(platform: Platform, config: &GlConfig) -> Result<Rc<Self>, String> {
        platform.make_current()?;
        let gl = Gl::load_with(|name| platform.address(name));
        if !(gl.GetString.is_loaded() && gl.GetIntegerv.is_loaded() && gl.GetStringi.is_loaded()) {
            return Err("the driver has no OpenGL 3 functions".to_owned());
        }
        let name = format!("{} (OpenGL {})", string(&gl, gl::RENDERER), version(&gl).join("."));
        check_version(&gl).map_err(|reason| format!("{name}: {reason}"))?;
        let limits = Limits::of(&gl);
        if config.hardware_only && is_software(&name) {
            return Err(format!("{name}: a program on the CPU"));
        }
        let limit_bytes = config.memory_limit_bytes;
        let memory = Memory { used_bytes: Cell::new(0), limit_bytes };
        let fault = Fault::default();
        let listener = ManuallyDrop::new(Box::new(fault.clone()));
        let context = Rc::new(Self {
            gl,
            platform,
            fault,
            limits,
            name,
            memory,
            listener,
            #[cfg(test)]
            is_unreachable: Cell::new(false),
        });
        if cfg!(debug_assertions) {
            context.listen();
        }
        Ok(context)
    }

    /// The functions, with the context current on this thread, which every call relies on. They can
    /// be called until another context is made current.
    ///
    /// # Errors
    /// `Device` when the context cannot be made current.
    pub fn current(&self) -> Result<&Gl, RenderError> {
        let made = self.platform.make_current();
        #[cfg(test)]
        let made = if self.is_unreachable.get() { Err("simulated by a test".into()) } else { made };
        match made {
            Ok(()) => Ok(&self.gl),
            Err(reason) => {
                Err(RenderError::Device { during: "making the OpenGL context current", reason })
            }
        }
    }

    /// Returns the errors since the last check, as an error of the operation `during`.
    pub(super) fn check(&self, during: &'static str) -> Result<(), RenderError> {
        self.collect_errors()?;
        self.fault.check(during)
    }

    /// Runs `work` and reports the errors that it causes. Earlier errors remain stored for the next
    /// frame.
    pub(super) fn scope<T>(
        &self,
        during: &'static str,
        work: impl FnOnce(&Gl) -> T,
    ) -> Result<T, RenderError> {
        self.collect_errors()?;
        self.fault.scope(during, || {
            let done = work(&self.gl);
            self.collect_errors().map(|()| done)
        })?
    }

    /// Stores the errors that the driver has pending.
    fn collect_errors(&self) -> Result<(), RenderError> {
        let gl = self.current()?;
        // SAFETY: the context is current.
        let status = unsafe { gl.GetGraphicsResetStatus() };
        if status != gl::NO_ERROR {
            self.fault.note(format!("the context was reset (0x{status:04x})"), true);
        }
        // A few kinds of error can be pending at once, each of them once.
        for _ in 0..8 {
            // SAFETY: the context is current.
            match unsafe { gl.GetError() } {
                gl::NO_ERROR => break,
                code => self.fault.note(error_name(code), code == CONTEXT_LOST),
            }
        }
        Ok(())
    }

    /// Returns the stored errors, without a query of the driver.
    pub(super) fn check_known(&self, during: &'static str) -> Result<(), RenderError> {
        // The driver can have the same error pending that its callback has reported in words.
        self.fault.check(during).inspect_err(|_| drop(self.check(during)))
    }

    /// Registers the callback for errors in words.
    fn listen(&self) {
        let gl = &self.gl;
        let user: *const Fault = &raw const **self.listener;
        // SAFETY: the context is current. `listener` does not move, in its box, which is freed only
        // after the callback is removed.
        unsafe {
            gl.Enable(gl::DEBUG_OUTPUT);
            gl.Enable(gl::DEBUG_OUTPUT_SYNCHRONOUS);
            gl.DebugMessageCallback(Some(on_message), user.cast());
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Ok(gl) = self.current() {
            // SAFETY: the context is current.
            unsafe { gl.DebugMessageCallback(None, ptr::null()) };
            // SAFETY: this is the only place that drops it, and it is not used after.
            unsafe { ManuallyDrop::drop(&mut self.listener) };
        }
    }
}

impl Memory {
    /// Counts the memory of a new buffer. Returns the reason if it exceeds the limit.
    pub(super) fn take(&self, size_bytes: u64) -> Result<(), String> {
        let (used, limit) = (self.used_bytes.get(), self.limit_bytes);
        let after = used.checked_add(size_bytes).filter(|&after| after <= limit);
        let Some(after) = after else {
            return Err(format!("out of memory: {used} of {limit} bytes are in use"));
        };
        self.used_bytes.set(after);
        Ok(())
    }

    pub(super) fn give_back(&self, size_bytes: u64) {
        self.used_bytes.set(self.used_bytes.get() - size_bytes);
    }
}

impl Limits {
    fn of(gl: &Gl) -> Self {
        let side = [gl::MAX_RENDERBUFFER_SIZE, gl::MAX_TEXTURE_SIZE]
            .map(|name| integer(gl, name))
            .into_iter()
            .chain(viewport_sides(gl));
        Self {
            storage_bytes: integer64(gl, gl::MAX_SHADER_STORAGE_BLOCK_SIZE),
            uniform_alignment: integer(gl, gl::UNIFORM_BUFFER_OFFSET_ALIGNMENT).max(1).into(),
            side: side.min().unwrap_or(0),
            samples: integer(gl, gl::MAX_SAMPLES),
        }
    }
}

/// Stores errors; other messages are only advice.
extern "system" fn on_message(
    _source: GLenum,
    kind: GLenum,
    _id: GLuint,
    _severity: GLenum,
    length: GLsizei,
    message: *const GLchar,
    user: *mut c_void,
) {
    if kind != gl::DEBUG_TYPE_ERROR || message.is_null() || user.is_null() {
        return;
    }
    // SAFETY: OpenGL promises `length` bytes of text.
    let bytes = unsafe { slice::from_raw_parts(message.cast::<u8>(), length.max(0) as usize) };
    // SAFETY: `user` is the listener that `listen` passed, which outlives the callback, and which
    // can be shared by threads.
    let fault = unsafe { &*user.cast_const().cast::<Fault>() };
    fault.note(String::from_utf8_lossy(bytes).into_owned(), false);
}

fn check_version(gl: &Gl) -> Result<(), String> {
    let [major, minor] = [gl::MAJOR_VERSION, gl::MINOR_VERSION].map(|name| integer(gl, name));
    if (major, minor) >= (4, 5) {
        return Ok(());
    }
    if (major, minor) < (4, 3) {
        return Err("OpenGL 4.3 or newer is required".to_owned());
    }
    let extensions: Vec<String> = (0..integer(gl, gl::NUM_EXTENSIONS))
        .map(|index| {
            // SAFETY: the context is current, and there are more extensions than `index`.
            to_string(unsafe { gl.GetStringi(gl::EXTENSIONS, index) })
        })
        .collect();
    match NEEDED.iter().find(|needed| !extensions.iter().any(|it| it == *needed)) {
        Some(missing) => Err(format!("{missing} is missing")),
        // Loaded together with the functions of 4.5, or not available.
        None if gl.GetGraphicsResetStatus.is_loaded() => Ok(()),
        None => Err("glGetGraphicsResetStatus is missing".to_owned()),
    }
}

fn version(gl: &Gl) -> [String; 2] {
    [gl::MAJOR_VERSION, gl::MINOR_VERSION].map(|name| integer(gl, name).to_string())
}

fn integer(gl: &Gl, name: GLenum) -> u32 {
    let mut value = 0;
    // SAFETY: the context is current, and `name` is of one number.
    unsafe { gl.GetIntegerv(name, &raw mut value) };
    u32::try_from(value).unwrap_or(0)
}

fn integer64(gl: &Gl, name: GLenum) -> u64 {
    let mut value = 0;
    // SAFETY: the context is current, and `name` is of one number.
    unsafe { gl.GetInteger64v(name, &raw mut value) };
    u64::try_from(value).unwrap_or(0)
}

fn viewport_sides(gl: &Gl) -> [u32; 2] {
    let mut sides = [0; 2];
    // SAFETY: the context is current, and there are two such numbers.
    unsafe { gl.GetIntegerv(gl::MAX_VIEWPORT_DIMS, sides.as_mut_ptr()) };
    sides.map(|side| u32::try_from(side).unwrap_or(0))
}

fn string(gl: &Gl, name: GLenum) -> String {
    // SAFETY: the context is current, and `name` is of a string.
    to_string(unsafe { gl.GetString(name) })
}

/// A string of OpenGL's; empty for a null pointer.
fn to_string(text: *const GLubyte) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: OpenGL's strings end with a zero and stay as long as the context.
    unsafe { CStr::from_ptr(text.cast::<c_char>()) }.to_string_lossy().into_owned()
}

fn error_name(code: GLenum) -> String {
    let name = match code {
        gl::INVALID_ENUM => "invalid enum",
        gl::INVALID_VALUE => "invalid value",
        gl::INVALID_OPERATION => "invalid operation",
        gl::INVALID_FRAMEBUFFER_OPERATION => "invalid framebuffer operation",
        gl::OUT_OF_MEMORY => "out of memory",
        CONTEXT_LOST => "the context is lost",
        _ => "unknown error",
    };
    format!("{name} (0x{code:04x})")
}
