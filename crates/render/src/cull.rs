//! Leaving out what is not seen: who decides, and what a device needs to decide itself.
//!
//! ```text
//!  meshes ──► CullTable ──changes──► GPU: who is in view, faces the eye, is not hidden?
//!  view   ──► CullFrame ───────────► commands, made and drawn without the CPU
//! ```
//! On the CPU, [`Visibility`](crate::Visibility) masks the facings and meshes that look
//! away or lie outside the view. A device that [can](crate::Device::culls) does the same
//! sums for every mesh at once, and leaves out what is hidden behind other meshes too.
//! Neither changes the picture.

use std::str::FromStr;

mod frame;
mod table;
#[cfg(test)]
pub(crate) mod twin;

pub use frame::CullFrame;
pub use table::{CullRecord, CullTable};

/// Who decides which opaque meshes are drawn. Blended ones have one order, which the CPU
/// makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cull {
    /// The CPU: facings and the view.
    #[default]
    Cpu,
    /// The GPU: facings, the view, and what hides behind what. Where the device cannot,
    /// the CPU does.
    Gpu,
}

impl Cull {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

impl FromStr for Cull {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu),
            _ => Err("it is cpu or gpu".into()),
        }
    }
}

/// Opaque meshes that the device decides about: part of [`Passes`](crate::Passes).
pub struct Culled<'a, G> {
    /// The meshes.
    pub table: &'a CullTable,
    /// The geometry of each of the table's buffers; `None` for one without meshes.
    pub geometries: &'a [Option<&'a G>],
    /// What is seen.
    pub frame: CullFrame,
}

impl<G> Clone for Culled<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for Culled<'_, G> {}

/// What a device found to be drawn of a [`CullTable`] in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CullCounts {
    /// The frame's number, as the device counts them.
    pub frame: u64,
    /// Draw commands.
    pub commands: u32,
    /// Meshes.
    pub meshes: u32,
    /// Quads.
    pub quads: u64,
}
