use drystone_mesh::Quad;
use drystone_pool::{HiddenCommands, Oversize, Placement, PoolConfig};

use crate::buffers::PATTERN_QUADS;

/// Minimum size of a buffer, in quads: 512 KiB. Also the size of the first buffer if the scene's
/// size is unknown.
const MIN_BUFFER_QUADS: u32 = 1 << 16;
/// Minimum size of a buffer in the smallest scenes, in quads.
const MIN_SCENE_BUFFER_QUADS: u32 = 1 << 10;
/// Minimum size of further buffers of a small scene, as a fraction (1/n) of the scene.
const SCENE_PARTS: u32 = 16;
/// Reserve for meshes that change, as a fraction (1/n) of what a scene needs. A changed mesh can be
/// allocated before its old range is freed, or become larger.
const SPARE_DIVISOR: u64 = 32;
/// Frames for which an empty buffer is retained: fewer than by default, so that a flight reserves
/// little beyond its meshes.
const SPARE_FRAMES: u32 = 8;

/// Configuration of a [`PoolRenderer`](crate::PoolRenderer). The default suits any scene; other values are for
/// measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolRendererConfig {
    /// Allocation strategy. Default: ranges.
    pub placement: Placement,
    /// Treatment of meshes that are larger than any bucket. Default: they are refused.
    pub oversize: Oversize,
    /// Treatment of hidden draw commands. Default: they are left out.
    pub hidden: HiddenCommands,
    /// Maximum size of a buffer, in bytes. Default: 128 MiB, which every known device can bind.
    pub max_buffer_bytes: u64,
}

impl Default for PoolRendererConfig {
    fn default() -> Self {
        Self {
            placement: Placement::default(),
            oversize: Oversize::default(),
            hidden: HiddenCommands::default(),
            max_buffer_bytes: 128 << 20,
        }
    }
}

impl PoolRendererConfig {
    /// Replaces [`placement`](Self::placement).
    #[must_use]
    pub fn with_placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Replaces [`oversize`](Self::oversize).
    #[must_use]
    pub fn with_oversize(mut self, oversize: Oversize) -> Self {
        self.oversize = oversize;
        self
    }

    /// Replaces [`hidden`](Self::hidden).
    #[must_use]
    pub fn with_hidden(mut self, hidden: HiddenCommands) -> Self {
        self.hidden = hidden;
        self
    }

    /// Replaces [`max_buffer_bytes`](Self::max_buffer_bytes).
    #[must_use]
    pub fn with_max_buffer_bytes(mut self, max_buffer_bytes: u64) -> Self {
        self.max_buffer_bytes = max_buffer_bytes;
        self
    }

    /// Configuration of the pool for a capacity of `quads` quads in `meshes` meshes, in buffers of
    /// at most `max_quads`.
    pub(super) fn pool_config(&self, quads: u64, meshes: u32, max_quads: u32) -> PoolConfig {
        let limit = u32::try_from(self.max_buffer_bytes / size_of::<Quad>() as u64);
        PoolConfig::default()
            .with_placement(self.placement.clone())
            .with_oversize(self.oversize)
            .with_min_buffer_elements(min_buffer_quads(quads))
            .with_max_buffer_elements(max_quads.min(limit.unwrap_or(u32::MAX)))
            .with_first_slots(meshes)
            .with_spare_frames(SPARE_FRAMES)
            .with_pattern_elements(PATTERN_QUADS)
    }
}

/// Initial capacity of a pool renderer for a scene of `quads` quads.
pub const fn capacity_for(quads: u64) -> u64 {
    quads.saturating_add(quads / SPARE_DIVISOR)
}

/// Minimum buffer size for a scene of `scene_quads` quads. A small scene whose meshes change grows by a
/// sixteenth, as a large one does.
fn min_buffer_quads(scene_quads: u64) -> u32 {
    match u32::try_from(scene_quads) {
        Ok(0) | Err(_) => MIN_BUFFER_QUADS,
        Ok(scene_quads) => {
            (scene_quads / SCENE_PARTS).clamp(MIN_SCENE_BUFFER_QUADS, MIN_BUFFER_QUADS)
        }
    }
}
