use std::path::PathBuf;

use drystone_pool::PoolError;

/// Why nothing, or not everything, could be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The pool refused a mesh.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// No adapter fits.
    #[error(
        "no {wanted} adapter found ({found}); install a driver (on Debian: mesa-vulkan-drivers) or use --backend soft"
    )]
    NoAdapter {
        /// What was looked for.
        wanted: &'static str,
        /// What there was.
        found: String,
    },
    /// The adapter would not give a device.
    #[error("{adapter} gave no device: {reason}")]
    NoDevice {
        /// The adapter's name.
        adapter: String,
        /// The driver's words.
        reason: String,
    },
    /// The device refused what it was asked.
    #[error("the graphics device failed while {during}: {reason}")]
    Device {
        /// What was being done.
        during: &'static str,
        /// The driver's words.
        reason: String,
    },
    /// The device is gone, and all that it held: it must be opened again.
    #[error("the graphics device is lost, as {during} showed: {reason}")]
    Lost {
        /// What was being done.
        during: &'static str,
        /// The driver's words.
        reason: String,
    },
    /// The device has no memory left for it.
    #[error("the graphics device failed while making room: {reason}")]
    OutOfMemory {
        /// Bytes asked for.
        requested_bytes: u64,
        /// The driver's words, and what the bytes were for.
        reason: String,
    },
    /// The GPU cannot decide which meshes are drawn; the CPU does.
    #[error("{backend} does not cull on the GPU ({reason}); the CPU does")]
    NoCulling {
        /// Backend or renderer.
        backend: String,
        /// Why not.
        reason: String,
    },
    /// The mesh is none that can be drawn cube by cube.
    #[error("the instanced renderer cannot draw this mesh: {reason}; use another renderer")]
    NotCubes {
        /// Why not.
        reason: &'static str,
    },
    /// There is no such place for a mesh.
    #[error("a mesh cannot be drawn where it is to lie: {reason}")]
    BadTransform {
        /// Why not.
        reason: &'static str,
    },
    /// The renderer has no way to draw triangles.
    #[error("the {renderer} renderer draws no polygon models; use --renderer pool or naive")]
    NoTriangles {
        /// The renderer's name.
        renderer: &'static str,
    },
    /// The triangles are none that can be drawn.
    #[error("the triangles of a model cannot be drawn: {reason}")]
    BadTriangles {
        /// Why not.
        reason: &'static str,
    },
    /// What is to lie over pictures does not fit together.
    #[error("the overlay cannot be drawn: {reason}")]
    BadOverlay {
        /// Why not.
        reason: &'static str,
    },
    /// The cube's id is stale.
    #[error("the cube was removed before")]
    StaleCube,
    /// A cube names a region that is not there.
    #[error("there is no region {region} for the cube to lie in; insert it first")]
    NoRegion {
        /// Its slot.
        region: u32,
    },
    /// A region cannot go while cubes lie in it.
    #[error("{cubes} cubes lie in the region yet; remove them first")]
    RegionInUse {
        /// How many.
        cubes: u32,
    },
    /// A buffer or picture is larger than the device allows.
    #[error("{what} of {requested} is beyond this device's limit of {limit}")]
    TooLarge {
        /// What was asked for.
        what: &'static str,
        /// How much, in bytes or pixels.
        requested: u64,
        /// The device's bound.
        limit: u64,
    },
    /// A picture of no pixels.
    #[error("a picture of {width}x{height} has no pixels; give both sides at least 1")]
    EmptyPicture {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The mesh's handle is stale, or one of another renderer.
    #[error("the mesh was removed before, or belongs to another renderer")]
    StaleMesh,
    /// A picture could not be written or read.
    #[error("{path}: {reason}", path = path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
}
