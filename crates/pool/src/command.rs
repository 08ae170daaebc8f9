use core::ops::Range;

use bytemuck::{Pod, Zeroable};

/// Indexed indirect draw command, in the memory layout of Vulkan, OpenGL, Direct3D 12, Metal and
/// wgpu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DrawCommand {
    /// Number of indices to draw.
    pub index_count: u32,
    /// Number of instances to draw: 1.
    pub instance_count: u32,
    /// First index: 0 for the shared pattern, else the start of the mesh's own indices.
    pub first_index: u32,
    /// Value added to each index.
    pub base_vertex: i32,
    /// Slot of the mesh in the table of per-draw data.
    pub first_instance: u32,
}

const _: () = assert!(size_of::<DrawCommand>() == 20);

/// Consecutive commands of a list that read one buffer: one multi-draw call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandRun {
    /// Number of the buffer.
    pub buffer: u32,
    /// Range of the list's commands.
    pub commands: Range<usize>,
}

/// Grouping of a sorted list's commands into runs if its meshes are in several buffers. An
/// unsorted list has one run per buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grouping {
    /// Sorted over all buffers; a new run starts at each change of buffer. Use it for blending.
    #[default]
    InOrder,
    /// One run per buffer, sorted within each. Needs fewer calls: one per run. Use it for opaque
    /// meshes, where sorting affects only speed.
    ByBuffer,
}

/// Commands of hidden meshes and parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HiddenCommands {
    /// Hidden meshes and parts have no commands and cost nothing to draw.
    #[default]
    LeftOut,
    /// Each hidden part has a command that draws nothing, after the other commands of its mesh.
    /// Hidden meshes come last. Slower; exists for measurements.
    Zeroed,
}

/// Options of a list or view. The default suits any list.
///
/// # Examples
/// ```
/// use drystone_pool::{Grouping, ListConfig};
///
/// let config = ListConfig::default().with_grouping(Grouping::ByBuffer);
/// assert_eq!(config.grouping, Grouping::ByBuffer);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListConfig {
    /// Commands of hidden meshes. Default: [`HiddenCommands::LeftOut`].
    pub hidden: HiddenCommands,
    /// Grouping of commands into runs. Default: [`Grouping::InOrder`].
    pub grouping: Grouping,
}

impl ListConfig {
    /// Replaces [`hidden`](Self::hidden).
    #[must_use]
    pub const fn with_hidden(mut self, hidden: HiddenCommands) -> Self {
        self.hidden = hidden;
        self
    }

    /// Replaces [`grouping`](Self::grouping).
    #[must_use]
    pub const fn with_grouping(mut self, grouping: Grouping) -> Self {
        self.grouping = grouping;
        self
    }
}

/// Returns a sort key: nearest first, then by `tie`. `distance` must be non-negative and finite.
/// Use the complement (`!key`) for farthest first.
#[inline]
pub const fn sort_key(distance: f32, tie: u32) -> u64 {
    (distance.to_bits() as u64) << 32 | tie as u64
}
