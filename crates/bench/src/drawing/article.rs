//! Devices for comparison with the article on vertex pooling. They exist for measurements only.
//!
//! * [`ArticleDevice`], under a [`NaiveRenderer`](drystone_render::NaiveRenderer): the article's naive
//!   program. One vertex array and three buffers for each mesh, generated once and updated; one
//!   uniform and one draw call for each mesh.
//! * [`FatDevice`], under a [`PoolRenderer`](drystone_render::PoolRenderer): drystone's pool with the
//!   article's vertices. It separates the gain of pooling from that of the vertex layout.
//! * [`MergedDevice`], under a `NaiveRenderer`: all meshes in one buffer, which is uploaded whole when
//!   anything changes. It is what the article's pool replaces. Vertices are drystone's quads.
//!
//! Other vertices are the article's: position, normal and colour in floats, 40 bytes, four for each
//! quad. The picture is that of every other device, including seams and sky. There are no blended
//! meshes and no ambient occlusion, which these vertices cannot store.

mod merged;
#[allow(unsafe_code)]
mod naive;
mod pooled;

use bytemuck::{Pod, Zeroable};
use drystone_mesh::Quad;
use drystone_render::{
    BufferKind, Destination, DeviceInfo, GlDevice, Image, MaterialLook, Output, Overlay, Passes,
    RenderError, Samples,
};

pub use self::{merged::MergedDevice, naive::ArticleDevice, pooled::FatDevice};

/// A [`GlDevice`] that stores and draws meshes in another layout, for measurements.
pub struct LayoutDevice<L> {
    gl: GlDevice,
    expander: Expander,
    layout: L,
}

/// Storage of meshes that differs from that of [`GlDevice`].
pub trait Layout {
    /// Description of the storage.
    const ABOUT: &'static str;

    /// Returns the abilities of a device that has these with its own storage.
    fn info(gl: DeviceInfo) -> DeviceInfo;
}

impl<L> LayoutDevice<L> {
    fn new(gl: GlDevice, layout: L) -> Self {
        Self { gl, expander: Expander::default(), layout }
    }
}

impl<L> drystone_render::sealed::Sealed for LayoutDevice<L> {}

impl<L: Layout> Output for LayoutDevice<L> {
    fn describe(&self) -> String {
        format!("{}, {}", self.gl.describe(), L::ABOUT)
    }

    fn info(&self) -> DeviceInfo {
        L::info(self.gl.info())
    }

    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.expander.set_materials(materials);
        self.gl.set_materials(materials)
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.gl.resize(width, height)
    }

    fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError> {
        self.gl.set_samples(samples)
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        self.gl.set_overlay(overlay)
    }

    fn set_destination(&mut self, destination: Destination) -> Result<(), RenderError> {
        self.gl.set_destination(destination)
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.gl.finish()
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.gl.read_image()
    }
}

/// The article's vertex.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Vertex {
    position: [f32; 3],
    normal: [f32; 3],
    color: [f32; 4],
}

const _: () = assert!(size_of::<Vertex>() == 40);

/// Attributes of a vertex: location, number of floats, and offset in bytes.
const ATTRIBUTES: [(u32, i32, u32); 3] = [(0, 3, 0), (1, 3, 12), (2, 4, 24)];

/// Size of a quad in the article's vertices, in bytes.
const FAT_QUAD_BYTES: u64 = 4 * size_of::<Vertex>() as u64;

/// Maximum number of quads of one geometry: drivers use 31 bits for sizes in bytes.
const MAX_QUADS: u32 = (i32::MAX as u64 / FAT_QUAD_BYTES) as u32;

const VERTEX_SHADER: &str = include_str!("article/article.vert");

/// Colour of materials without a colour.
const UNKNOWN_COLOR: [f32; 4] = [1.0, 0.0, 1.0, 1.0];

/// Data for the expansion of quads to vertices.
#[derive(Default)]
struct Expander {
    palette: Vec<[f32; 4]>,
}

impl Expander {
    /// Sets the colours; the scenes of this table have one colour for each material.
    fn set_materials(&mut self, materials: &[MaterialLook]) {
        let float = |look: &MaterialLook| look.faces[0].map(|channel| f32::from(channel) / 255.0);
        self.palette = materials.iter().map(float).collect();
    }

    /// The quad's corners, in the order of the index pattern.
    #[inline]
    fn corners(&self, quad: Quad) -> [Vertex; 4] {
        let normal = quad.face().map_or([0.0; 3], |face| face.normal().map(|c| c as f32));
        let material = usize::from(quad.material());
        let color = self.palette.get(material).copied().unwrap_or(UNKNOWN_COLOR);
        [0, 1, 2, 3].map(|number| {
            let position = quad.corner(number).map(|c| c as f32 * quad.cell());
            Vertex { position, normal, color }
        })
    }
}

/// Error for cubes and triangles, which the article's programs do not draw.
fn refuse_other_kinds(kind: BufferKind) -> Result<(), RenderError> {
    if kind == BufferKind::Quads {
        return Ok(());
    }
    let reason = "the article's program draws only quads".to_owned();
    Err(RenderError::Device { during: "creating a geometry", reason })
}

/// Error for operations that only pools need: sharing, parts of meshes and copies.
fn whole_meshes_only() -> RenderError {
    let reason = "this program writes whole meshes and shares nothing".to_owned();
    RenderError::Device { during: "using a device without a pool", reason }
}

/// Error for blended batches, which the article's programs do not support.
fn refuse_blended<G>(passes: &Passes<'_, G>) -> Result<(), RenderError> {
    if passes.blended.is_empty() {
        return Ok(());
    }
    let reason = "the article's program draws no blended meshes".to_owned();
    Err(RenderError::Device { during: "drawing", reason })
}
