use drystone_pool::{HiddenCommands, Oversize, Placement};

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
}
