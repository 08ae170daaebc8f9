//! Culling: where it runs, and the data that a device needs for it.
//!
//! ```text
//! pool ────► CullTable ──changes──► GPU: which meshes are in view, face the camera, not hidden?
//! view   ──► CullView ────────────► commands, made and drawn without the CPU
//! ```
//! On the CPU, [`Visibility`](crate::Visibility) masks the face directions that point away, and the
//! meshes outside the view frustum. A device that [supports it](crate::DeviceInfo::culling) evaluates the
//! same tests for all meshes in parallel, and also culls meshes hidden behind others. Neither
//! changes the picture, except where faces of several meshes have the same depth: the first one drawn is
//! visible, and the GPU sorts meshes by steps of distance only.

use std::str::FromStr;

#[cfg(feature = "wgpu")]
use drystone_mesh::Quad;
#[cfg(feature = "wgpu")]
use drystone_pool::{PoolConfig, VertexPool};
#[cfg(feature = "wgpu")]
use drystone_wgpu::{CullBounds, CullOrder, CullTable, CullView};

#[cfg(feature = "wgpu")]
use crate::{
    camera::Projection,
    draw_data::{DrawData, voxel_scale},
    frame::Frame,
    view::View,
    visibility::Visibility,
};

/// Selects where opaque meshes are culled. Blended ones are always culled and sorted by the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum Cull {
    /// On the CPU: face directions and view frustum.
    #[default]
    Cpu,
    /// On the GPU: face directions, view frustum and occlusion. If the device does not support it,
    /// on the CPU.
    Gpu,
}

impl Cull {
    /// Name of the value in options and settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

impl FromStr for Cull {
    type Err = UnknownCull;

    fn from_str(name: &str) -> Result<Self, UnknownCull> {
        match name {
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu),
            _ => Err(UnknownCull),
        }
    }
}

/// Error of a name that no [`Cull`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is cpu or gpu")]
pub struct UnknownCull;

/// Opaque meshes that the device culls, drawn together with [`Passes`](crate::Passes).
#[cfg_attr(not(feature = "wgpu"), expect(dead_code, reason = "only the wgpu device culls"))]
pub struct Culled<'a, G> {
    /// The meshes.
    #[cfg(feature = "wgpu")]
    pub(crate) table: &'a CullTable<DrawData>,
    /// The pool that the meshes are of.
    #[cfg(feature = "wgpu")]
    pub(crate) pool: &'a VertexPool<Quad, DrawData>,
    /// The geometry of each of the table's buffers; `None` for a buffer without meshes.
    pub(crate) geometries: &'a [Option<&'a G>],
    /// Camera and options.
    #[cfg(feature = "wgpu")]
    pub(crate) view: CullView,
}

impl<G> Clone for Culled<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for Culled<'_, G> {}

/// Counts of what a device drew of the [`Culled`] meshes in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CullCounts {
    /// The frame's number, as the device counts them.
    pub frame: u64,
    /// Number of draw commands.
    pub commands: u32,
    /// Number of meshes.
    pub meshes: u32,
    /// Number of quads.
    pub quads: u64,
}

/// Creates an empty table of meshes to cull, for a pool with this configuration.
#[cfg(feature = "wgpu")]
pub(crate) fn cull_table(config: &PoolConfig) -> CullTable<DrawData> {
    CullTable::new(config, |_, data| bounds(data))
}

/// Box of a mesh, for culling.
#[cfg(feature = "wgpu")]
fn bounds(data: &DrawData) -> CullBounds {
    /// Maximum error of the interpolated depth of faces seen nearly edge-on, in voxels of the mesh:
    /// larger voxels have larger faces.
    const SLIVER_VOXELS: f32 = 0.25;
    CullBounds::of_voxels(data.origin, [data.extent; 3])
        .with_margin(SLIVER_VOXELS * voxel_scale(data.level))
}

/// Camera and options of `view` for culling; `frame` is the frame that it is drawn with.
#[cfg(feature = "wgpu")]
pub(crate) fn cull_view(view: &View, visibility: &Visibility, frame: &Frame) -> CullView {
    let Frame { clip_from_relative, camera_voxel, camera_fraction, .. } = *frame;
    let mut culled = CullView::relative(clip_from_relative, camera_voxel, camera_fraction)
        .with_seam(frame.seam * frame.seam_stretch_max);
    if view.mask_back_faces {
        culled = match visibility.parallel_faces() {
            Some(faces) => culled.with_parallel_faces(faces),
            None => culled.with_masked_faces(),
        };
    }
    if !view.cull_frustum {
        culled = culled.without_frustum();
    }
    let farthest = view.camera.depth_range[1];
    match view.camera.projection {
        _ if !view.sort_opaque => culled,
        Projection::Perspective { .. } => culled.with_order(CullOrder::ByDistance { farthest }),
        Projection::Orthographic { .. } => culled.with_order(CullOrder::ByReversedDepth),
    }
}

#[cfg(all(test, feature = "wgpu"))]
mod tests;
