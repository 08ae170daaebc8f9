//! Devices for comparison with the article on vertex pooling. They exist for measurements only.
//!
//! * [`ArticleDevice`], under a [`NaiveRenderer`](drystone_render::NaiveRenderer): the article's naive
//!   program. One vertex array and three buffers for each mesh, generated once and updated; one
//!   uniform and one draw call for each mesh.
//! * [`FatDevice`], under a [`PoolRenderer`](drystone_render::PoolRenderer): drystone's pool with the
//!   article's vertices. It separates the gain of pooling from that of the vertex layout.
//!
//! Vertices are the article's: position, normal and colour in floats, 40 bytes, four for each quad.
//! The picture is that of every other device, including seams and sky. There are no blended meshes
//! and no ambient occlusion, which these vertices cannot store.

#[allow(unsafe_code)]
mod naive;
mod pooled;

use bytemuck::{Pod, Zeroable};
use drystone_mesh::Quad;
use drystone_render::{BufferKind, Passes, RenderError};

pub use self::{naive::ArticleDevice, pooled::FatDevice};

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
    fn set_palette(&mut self, colors: &[[u8; 4]]) {
        let float = |color: &[u8; 4]| color.map(|channel| f32::from(channel) / 255.0);
        self.palette = colors.iter().map(float).collect();
    }

    /// The quad's corners, in the order of the index pattern.
    #[inline]
    fn corners(&self, quad: Quad) -> [Vertex; 4] {
        let normal = quad.face().map_or([0.0; 3], |face| face.normal().map(|c| c as f32));
        let material = usize::from(quad.material());
        let color = self.palette.get(material).copied().unwrap_or(UNKNOWN_COLOR);
        [0, 1, 2, 3].map(|number| {
            let position = quad.corner(number).map(|c| c as f32);
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

/// Error for blended batches, which the article's programs do not support.
fn refuse_blended<G>(passes: &Passes<'_, G>) -> Result<(), RenderError> {
    if passes.blended.is_empty() {
        return Ok(());
    }
    let reason = "the article's program draws no blended meshes".to_owned();
    Err(RenderError::Device { during: "drawing", reason })
}
