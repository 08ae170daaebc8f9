use drystone_pool::Access;

/// Options of an OpenGL device: writes, memory limit and drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlConfig {
    /// Access mode of quad writes: directly into mapped memory, or copied by the GPU. Some drivers
    /// fault on memory that stays mapped. Default: `Direct`.
    pub access: Access,
    /// Limit of GPU memory for buffers, in bytes. Beyond it the device is out of memory. Default:
    /// only the driver's limit.
    pub memory_limit_bytes: u64,
    /// Whether drivers that are programs on the CPU, such as Mesa's llvmpipe, are excluded.
    /// Default: no.
    pub hardware_only: bool,
}

impl Default for GlConfig {
    fn default() -> Self {
        Self { access: Access::Direct, memory_limit_bytes: u64::MAX, hardware_only: false }
    }
}
