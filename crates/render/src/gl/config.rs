use drystone_pool::Access;

/// Which OpenGL a device uses, and how it uses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlConfig {
    /// How quads are written: straight into mapped memory, or copied there by the GPU,
    /// since some drivers fault on memory that stays mapped. Default `Direct`.
    pub access: Access,
    /// The most bytes of GPU memory for buffers; beyond, it is out of memory. Default: no
    /// bound but the driver's.
    pub memory_limit_bytes: u64,
    /// Whether drivers that are programs on the CPU, such as Mesa's llvmpipe, are left out.
    /// Default: no.
    pub hardware_only: bool,
}

impl Default for GlConfig {
    fn default() -> Self {
        Self { access: Access::Direct, memory_limit_bytes: u64::MAX, hardware_only: false }
    }
}
