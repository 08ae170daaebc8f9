use std::sync::atomic::{AtomicU32, Ordering};

use drystone_alloc::Handle;
use drystone_mesh::{Face, Quad};
use drystone_pool::MeshHandle;

use crate::{draw_data::DrawData, error::RenderError};

/// The pass that a mesh is drawn in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Opaque: hides everything behind it.
    #[default]
    Opaque,
    /// Translucent: drawn over everything behind it, farthest mesh first. Quads of one mesh that hide
    /// each other are sorted too.
    Blended,
}

/// A mesh to be drawn: its quads, sorted by face direction, and its position.
#[derive(Clone, Copy, Debug)]
pub struct MeshData<'a> {
    /// The quads, in the order of [`Face::ALL`].
    pub quads: &'a [Quad],
    /// Number of quads for each face direction. The sum is the number of quads.
    pub counts: [u32; Face::COUNT],
    /// Position and level of detail.
    pub draw_data: DrawData,
    /// The pass.
    pub layer: Layer,
}

impl MeshData<'_> {
    /// Checks that the mesh can be drawn at its origin and level.
    ///
    /// # Cost
    /// O(1), but O(quads) if the origin is off the grid of its level.
    ///
    /// # Errors
    /// `BadTransform`.
    pub(crate) fn check_draw_data(&self) -> Result<(), RenderError> {
        self.draw_data.check()?;
        if self.draw_data.is_on_grid()
            || self.quads.iter().all(|quad| quad.ambient_occlusion() == 0)
        {
            return Ok(());
        }
        let reason = "it has ambient occlusion, but its origin is not a multiple of 2^level";
        Err(RenderError::BadTransform { reason })
    }
}

/// Id of a mesh of one renderer; stale once the mesh is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshId(pub(crate) Owner);

/// The store that a [`MeshId`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Pool(MeshHandle, Layer),
    /// Renderer number and mesh handle.
    Naive(u32, Handle<NaiveMark>),
    /// Renderer number and mesh handle of an instanced renderer.
    Cubes(u32, Handle<CubesMark>),
    /// A mesh of the instanced renderer that is not drawn as cubes.
    Quads(MeshHandle, Layer),
}

/// Returns a new renderer number, which distinguishes the handles of renderers of one kind.
pub(crate) fn next_renderer() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Marks the naive renderer's handles.
#[derive(Debug)]
pub(crate) enum NaiveMark {}

/// Marks the instanced renderer's handles.
#[derive(Debug)]
pub(crate) enum CubesMark {}
