use std::path::PathBuf;

use drystone_pool::PoolError;

/// Why a picture, or a part of it, could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The pool refused a mesh.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// There is no suitable adapter.
    #[error(
        "no {requested} adapter found ({found}); install a driver (on Debian: mesa-vulkan-drivers) or use the soft backend"
    )]
    NoAdapter {
        /// The adapter that was requested.
        requested: &'static str,
        /// The adapters that were found.
        found: String,
    },
    /// The adapter could not open a device.
    #[error("the adapter {adapter} cannot open a device: {reason}")]
    NoDevice {
        /// The adapter's name.
        adapter: String,
        /// The driver's message.
        reason: String,
    },
    /// The device refused an operation.
    #[error("the graphics device failed while {during}: {reason}")]
    Device {
        /// The operation, as a participle.
        during: &'static str,
        /// The driver's message.
        reason: String,
    },
    /// The device and its contents are lost: it must be opened again.
    #[error("the graphics device was lost while {during}: {reason}")]
    Lost {
        /// The operation that reported the loss, as a participle.
        during: &'static str,
        /// The driver's message.
        reason: String,
    },
    /// The device is out of memory.
    #[error("the graphics device is out of memory: {reason}")]
    OutOfMemory {
        /// Bytes requested.
        requested_bytes: u64,
        /// The driver's message, and the purpose of the bytes.
        reason: String,
    },
    /// A part of the world that comes over a network was not received.
    #[error("the picture is incomplete, because parts of the world were not received: {reason}")]
    NotReceived {
        /// The reason.
        reason: String,
    },
    /// The GPU cannot cull meshes; the CPU does.
    #[error("{backend} does not cull on the GPU ({reason}); the CPU does it instead")]
    NoCulling {
        /// Backend or renderer.
        backend: String,
        /// The reason.
        reason: String,
    },
    /// The mesh cannot be drawn as cubes.
    #[error("the instanced renderer cannot draw this mesh: {reason}; use another renderer")]
    NotCubes {
        /// The reason.
        reason: &'static str,
    },
    /// A mesh has an origin, level or transform that cannot be drawn.
    #[error("a mesh cannot be drawn at its position: {reason}")]
    BadTransform {
        /// The reason.
        reason: &'static str,
    },
    /// The renderer does not draw triangles.
    #[error("the {renderer} renderer draws no polygon models; use the pool or the naive renderer")]
    NoTriangles {
        /// The renderer's name.
        renderer: &'static str,
    },
    /// The triangles cannot be drawn.
    #[error("a triangle mesh cannot be drawn: {reason}")]
    BadTriangles {
        /// The reason.
        reason: &'static str,
    },
    /// A material has a texture that does not exist.
    #[error("material {material} has texture {texture}, but there are only {count} textures")]
    NoTexture {
        /// Number of the material.
        material: usize,
        /// Number of the texture.
        texture: u16,
        /// Number of textures.
        count: usize,
    },
    /// The overlay is inconsistent.
    #[error("the overlay cannot be drawn: {reason}")]
    BadOverlay {
        /// The reason.
        reason: &'static str,
    },
    /// The cube's id is stale.
    #[error("the cube was already removed")]
    StaleCube,
    /// A cube belongs to a region that does not exist.
    #[error("the cube's region {region} does not exist; insert it first")]
    NoRegion {
        /// The region's slot.
        region: u32,
    },
    /// A region that contains cubes cannot be removed.
    #[error("the region still contains {cubes} cubes; remove them first")]
    RegionInUse {
        /// Number of cubes in the region.
        cubes: u32,
    },
    /// A buffer or picture is larger than the device allows.
    #[error("{what} of {requested} is beyond this device's limit of {limit}")]
    TooLarge {
        /// The requested object, with its unit.
        what: &'static str,
        /// The requested size, in bytes or pixels.
        requested: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A picture with this number of samples a pixel cannot be drawn.
    #[error("a picture with {requested} samples a pixel cannot be drawn: {reason}")]
    Samples {
        /// Number of samples in a pixel of the colours.
        requested: u32,
        /// The reason.
        reason: String,
    },
    /// A picture without pixels.
    #[error("a picture of {width}x{height} has no pixels; both sides must be at least 1")]
    EmptyPicture {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The mesh's handle is stale, or belongs to another renderer.
    #[error("the mesh was already removed, or belongs to another renderer")]
    StaleMesh,
    /// A picture file could not be written or read.
    #[error("{path}: {reason}", path = path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl RenderError {
    /// Error of a device that cannot cull for this reason.
    pub(crate) fn cannot_cull(reason: &str) -> Self {
        Self::Device { during: "culling on the GPU", reason: reason.into() }
    }
}
