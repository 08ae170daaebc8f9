use bytemuck::{Pod, Zeroable};
use drystone_mesh::Face;
use drystone_pool::MAX_PARTS;

/// Box that contains all vertices of a mesh, for culling.
///
/// # Examples
/// ```
/// use drystone_wgpu::CullBounds;
///
/// let model = CullBounds::new([-1.5, 0.0, -1.0], [1.5, 2.25, 1.0]);
/// let chunk = CullBounds::of_voxels([64, 0, -32], [32; 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CullBounds {
    origin: [i32; 3],
    low: [f32; 3],
    size: [f32; 3],
    margin: f32,
    has_faces: bool,
}

impl CullBounds {
    /// Margin of voxel meshes, in voxels. Faces that are seen nearly edge-on have interpolated
    /// depths that are wrong by less.
    const VOXEL_MARGIN: f32 = 0.25;
    /// Margin of other meshes, as a fraction (1/n) of the longest side.
    const MARGIN_DIVISOR: f32 = 128.0;

    /// Creates the box from its lowest to its highest corner, in finite numbers. All parts of the
    /// mesh are drawn together.
    pub fn new(low: [f32; 3], high: [f32; 3]) -> Self {
        let size = [0, 1, 2].map(|axis| (high[axis] - low[axis]).max(0.0));
        let margin = longest(size) / Self::MARGIN_DIVISOR;
        Self { origin: [0; 3], low, size, margin, has_faces: false }
    }

    /// Creates the box of a mesh of voxels from its lowest corner and its sides, in units. The parts
    /// of the mesh must be its face directions in the order of [`Face::ALL`]. Those that point away
    /// from the camera are not drawn if the view [has a camera](crate::CullView::with_camera). Faces
    /// must lie on integer coordinates.
    pub fn of_voxels(origin: [i32; 3], size: [u32; 3]) -> Self {
        let (low, size) = ([0.0; 3], size.map(|side| side as f32));
        Self { origin, low, size, margin: Self::VOXEL_MARGIN, has_faces: true }
    }

    /// Moves the box by integers, which are subtracted from the
    /// [camera's](crate::CullView::relative) before they are rounded.
    #[must_use]
    pub const fn with_origin(self, origin: [i32; 3]) -> Self {
        Self { origin, ..self }
    }

    /// Replaces the distance by which interpolated depths of the mesh may lie in front of its box.
    /// Only culling by depth reads it. Default: a quarter of a unit for voxels, else 1/128 of the
    /// longest side.
    #[must_use]
    pub const fn with_margin(self, margin: f32) -> Self {
        Self { margin, ..self }
    }

    pub(crate) const fn origin(&self) -> [i32; 3] {
        self.origin
    }

    /// Lowest corner relative to the origin.
    pub(crate) const fn low(&self) -> [f32; 3] {
        self.low
    }

    pub(crate) const fn size(&self) -> [f32; 3] {
        self.size
    }

    /// Whether the parts are face directions.
    pub(crate) const fn has_faces(&self) -> bool {
        self.has_faces
    }
}

/// Longest side of a box.
pub(crate) fn longest([x, y, z]: [f32; 3]) -> f32 {
    x.max(y.max(z))
}

/// Mapping from elements to indices, as in [`PoolConfig`](drystone_pool::PoolConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Maximum number of elements that one command draws.
    pub(crate) elements: u32,
    pub(crate) indices_per_element: u32,
    pub(crate) vertices_per_element: u32,
}

/// A mesh, or one contiguous piece of it, as compute shaders read it. Contains everything needed to
/// cull it and to make its commands.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CullRecord {
    /// Integer part of the position of the mesh's box.
    pub(crate) origin: [i32; 3],
    /// Lowest corner of the mesh's box, relative to the origin.
    pub(crate) low: [f32; 3],
    /// Sides of the mesh's box.
    pub(crate) size: [f32; 3],
    /// Reach of depths in front of the box.
    pub(crate) margin: f32,
    /// First element in its buffer.
    pub(crate) first_element: u32,
    /// Slot in the table of per-draw data.
    pub(crate) slot: u32,
    /// Parts that are drawn for any position of the camera: all, or none if parts are face
    /// directions.
    pub(crate) always: u32,
    /// End of each part's elements, relative to the first element.
    pub(crate) ends: [u32; Face::COUNT],
}

const _: () = assert!(size_of::<CullRecord>() == 76);

impl CullRecord {
    /// Parts that are drawn for any position of the camera, if parts are no face directions.
    const ALWAYS: u32 = 0x3f;

    /// Creates a record of a mesh with these numbers of elements for each part.
    pub(crate) fn new(
        slot: u32,
        bounds: CullBounds,
        first_element: u32,
        counts: [u32; MAX_PARTS],
    ) -> Self {
        let CullBounds { origin, low, size, margin, has_faces } = bounds;
        let mut end: u32 = 0;
        let mut sum = |count: u32| {
            end = end.saturating_add(count);
            end
        };
        let (always, ends) = if has_faces {
            (0, Face::ALL.map(|face| sum(counts[face.index()])))
        } else {
            let all = counts.map(&mut sum)[MAX_PARTS - 1];
            (Self::ALWAYS, [all; Face::COUNT])
        };
        Self { origin, low, size, margin, first_element, slot, always, ends }
    }

    /// Creates a record of a mesh without elements.
    pub(crate) fn empty(slot: u32) -> Self {
        Self { slot, ..Self::zeroed() }
    }

    /// The bounds that the record was created with.
    #[cfg(test)]
    pub(crate) const fn bounds(&self) -> CullBounds {
        let Self { origin, low, size, margin, always, .. } = *self;
        CullBounds { origin, low, size, margin, has_faces: always == 0 }
    }

    /// Maximum number of commands for the record. Runs of visible parts are separated by hidden
    /// ones, and a run longer than the index pattern is split.
    pub(crate) fn max_commands(&self, pattern: Pattern) -> u32 {
        let mut last = 0;
        let filled = self.ends.iter().filter(|&&end| std::mem::replace(&mut last, end) < end);
        let runs = filled.count().div_ceil(2) as u32;
        runs.saturating_add(last / pattern.elements.max(1))
    }
}
