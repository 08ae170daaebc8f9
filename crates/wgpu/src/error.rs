use drystone_pool::BackendError;

/// Why a device could not store or draw what was requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// A limit of the device is too low.
    #[error(
        "the wgpu device allows {limit} = {allowed}, but {what} needs {needed}; request the device with a higher limit, or use less"
    )]
    Limit {
        /// Field of [`wgpu::Limits`].
        limit: &'static str,
        /// Object that needs more.
        what: &'static str,
        /// Value that the object needs.
        needed: u64,
        /// Value of the device.
        allowed: u64,
    },
    /// The device is out of memory.
    #[error(
        "the wgpu device has no memory for {requested_bytes} bytes of {what}; remove meshes or close other programs that use it"
    )]
    OutOfMemory {
        /// Purpose of the bytes.
        what: &'static str,
        /// Bytes requested.
        requested_bytes: u64,
    },
    /// The device and its contents are lost.
    #[error(
        "the wgpu device is lost, so that {what} cannot be created or written; open it and insert the meshes again"
    )]
    Lost {
        /// The object that found the loss.
        what: &'static str,
    },
    /// The device refused a call for another reason.
    #[error("the wgpu device refused {what}: {reason}")]
    Refused {
        /// The object that was not created.
        what: &'static str,
        /// The device's message, on one line.
        reason: String,
    },
    /// The device lacks what is needed.
    #[error("the wgpu device does not support {what}: {reason}")]
    Unsupported {
        /// Name of the requested ability.
        what: &'static str,
        /// Reason, such as a missing feature.
        reason: &'static str,
    },
    /// A draw command reads a buffer that does not exist.
    #[error(
        "the draw commands read buffer {buffer}, which does not exist; they are of another pool"
    )]
    NoSuchBuffer {
        /// Number of the buffer.
        buffer: u32,
    },
    /// A [`CullTable`](crate::CullTable) was used with another pool than that of its meshes.
    #[error(
        "the meshes to cull are of another pool; pass the pool that they were set from to the culler"
    )]
    OtherPool,
    /// No index pattern is known for this configuration of a pool.
    #[error(
        "no index pattern has {indices} indices for {vertices} vertices of an element; use 6 and 4 (quads), or equal numbers"
    )]
    NoPattern {
        /// [`PoolConfig::indices_per_element`](drystone_pool::PoolConfig::indices_per_element).
        indices: u32,
        /// [`PoolConfig::vertices_per_element`](drystone_pool::PoolConfig::vertices_per_element).
        vertices: u32,
    },
}

impl GpuError {
    /// Converts the error for a pool, which distinguishes lack of memory from other failures.
    pub(crate) fn for_pool(&self, requested_bytes: u64) -> BackendError {
        match self {
            Self::OutOfMemory { .. } | Self::Limit { .. } => {
                BackendError::OutOfMemory { requested_bytes }
            }
            _ => BackendError::Lost,
        }
    }
}
