use core::ops::Range;

use bytemuck::{Pod, Zeroable};

/// One indexed indirect draw, laid out as Vulkan, OpenGL, Direct3D 12, Metal and wgpu
/// read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DrawCommand {
    /// Indices to draw.
    pub index_count: u32,
    /// Instances to draw: 1.
    pub instance_count: u32,
    /// First index of the shared pattern: 0; of a mesh with indices of its own, where those
    /// begin.
    pub first_index: u32,
    /// Added to each index.
    pub base_vertex: i32,
    /// The mesh's slot in the table of per-draw data.
    pub first_instance: u32,
}

const _: () = assert!(size_of::<DrawCommand>() == 20);

/// Commands that follow each other in a list and read the same buffer: one multi-draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandRun {
    /// The number of the buffer.
    pub buffer: u32,
    /// Which of the list's commands.
    pub commands: Range<usize>,
}
