//! Culling: where it runs, and the data that a device needs for it.
//!
//! ```text
//! meshes ──► CullTable ──changes──► GPU: which meshes are in view, face the camera, not hidden?
//! view   ──► CullFrame ───────────► commands, made and drawn without the CPU
//! ```
//! On the CPU, [`Visibility`](crate::Visibility) masks the face directions that point away, and the
//! meshes outside the view frustum. A device that [supports it](crate::DeviceInfo::culling) evaluates the
//! same tests for all meshes in parallel, and also culls meshes hidden behind others. Neither
//! changes the picture.

use std::str::FromStr;

mod frame;
mod table;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use frame::CullFrame;
pub(crate) use table::{CullRecord, CullTable};

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
    pub(crate) table: &'a CullTable,
    /// The geometry of each of the table's buffers; `None` for a buffer without meshes.
    pub(crate) geometries: &'a [Option<&'a G>],
    /// Camera and options.
    pub(crate) frame: CullFrame,
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
