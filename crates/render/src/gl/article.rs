//! What the article on vertex pooling compares with, for the tables to measure: nothing
//! here is meant for use.
//!
//! * [`ArticleDevice`], under a [`NaiveRenderer`](crate::NaiveRenderer): its naive program.
//!   A vertex array and three buffers a mesh, generated once and updated; a uniform and a
//!   draw call a mesh.
//! * [`FatDevice`], under a [`PoolRenderer`](crate::PoolRenderer): our pool with its
//!   vertices, which tells what pooling gains from what the layout does.
//!
//! Vertices are the article's: position, normal and colour in floats, 40 bytes, four a
//! quad. The picture is that of every other device, seams and sky included; there are no
//! blended meshes, and no shades of corners, for which these vertices have no room.

#[allow(unsafe_code)]
mod naive;
#[allow(unsafe_code)]
mod pooled;

use bytemuck::{Pod, Zeroable};
use drystone_mesh::Quad;

pub use self::{
    naive::{ArticleDevice, ArticleGeometry},
    pooled::FatDevice,
};
use crate::{Passes, RenderError};

/// The article's vertex.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Vertex {
    position: [f32; 3],
    normal: [f32; 3],
    color: [f32; 4],
}

const _: () = assert!(size_of::<Vertex>() == 40);

/// Where the shader finds each of a vertex's parts: attribute, floats and the byte at
/// which they begin.
const ATTRIBUTES: [(u32, i32, u32); 3] = [(0, 3, 0), (1, 3, 12), (2, 4, 24)];

/// Bytes of a quad in the article's vertices.
const FAT_QUAD_BYTES: u64 = 4 * size_of::<Vertex>() as u64;

const VERTEX_SHADER: &str = include_str!("shaders/article.vert");

/// What a material without a colour is drawn in.
const UNKNOWN_COLOR: [f32; 4] = [1.0, 0.0, 1.0, 1.0];

/// What quads are expanded with.
#[derive(Default)]
struct Expander {
    palette: Vec<[f32; 4]>,
}

impl Expander {
    fn set_palette(&mut self, colors: &[[u8; 4]]) {
        let float = |color: &[u8; 4]| color.map(|channel| f32::from(channel) / 255.0);
        self.palette = colors.iter().map(float).collect();
    }

    /// The quad's corners, in the order that the index pattern counts on.
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

/// The article's programs know no blending.
fn refuse_blended<G>(passes: &Passes<'_, G>) -> Result<(), RenderError> {
    if passes.blended.is_empty() {
        return Ok(());
    }
    let reason = "the article's program draws no blended meshes".to_owned();
    Err(RenderError::Device { during: "drawing", reason })
}
