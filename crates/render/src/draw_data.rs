use bytemuck::{Pod, Zeroable};

/// What the shader knows of one mesh, by its slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DrawData {
    /// The world's voxel that the mesh's local (0, 0, 0) is. The shader subtracts the
    /// camera's voxel from it in integers, so no world coordinate is ever an `f32`.
    pub origin: [i32; 3],
    /// Voxels a side: the mesh lies within `origin` to `origin + extent`.
    pub extent: u32,
}

const _: () = assert!(size_of::<DrawData>() == 16);
