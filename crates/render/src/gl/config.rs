use drystone_pool::Access;

/// Options of an OpenGL device: writes, memory limit and drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl GlConfig {
    /// Replaces [`access`](Self::access).
    #[must_use]
    pub fn with_access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Replaces [`memory_limit_bytes`](Self::memory_limit_bytes).
    #[must_use]
    pub fn with_memory_limit_bytes(mut self, memory_limit_bytes: u64) -> Self {
        self.memory_limit_bytes = memory_limit_bytes;
        self
    }

    /// Sets [`hardware_only`](Self::hardware_only).
    #[must_use]
    pub const fn with_hardware_only(mut self) -> Self {
        self.hardware_only = true;
        self
    }
}
