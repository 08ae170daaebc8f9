use bytemuck::{Pod, Zeroable};
use drystone_mesh::FaceSet;
use drystone_pool::PartSet;

use super::bounds::{CullBounds, longest};

/// View that meshes are culled for: the caller's matrix and options. Shaders read it as it is in
/// memory.
///
/// Matrices are stored column by column, as glam's `to_cols_array_2d` returns them. They map to the
/// clip space of wgpu, with any kind of depth. Culling by depth needs reversed depth: 1 at the near
/// plane, 0 at the farthest.
///
/// # Examples
/// ```
/// use drystone_wgpu::{CullBounds, CullView};
///
/// // A camera at the origin that points along −Z. Everything from depth 1 to 9 is in view.
/// let clip_from_world = [
///     [1.0, 0.0, 0.0, 0.0],
///     [0.0, 1.0, 0.0, 0.0],
///     [0.0, 0.0, -1.125, -1.0],
///     [0.0, 0.0, -1.125, 0.0],
/// ];
/// let view = CullView::new(clip_from_world);
/// let is_visible = |bounds| !view.visible_parts(&bounds).is_empty();
/// assert!(is_visible(CullBounds::new([-1.0, 0.0, -6.0], [1.0, 1.0, -5.0])));
/// assert!(!is_visible(CullBounds::new([-1.0, 0.0, 5.0], [1.0, 1.0, 6.0])));
/// assert!(!is_visible(CullBounds::new([50.0, 0.0, -6.0], [51.0, 1.0, -5.0])));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CullView {
    /// Matrix from positions relative to the camera to clip space, column by column.
    pub(crate) clip_from_relative: [[f32; 4]; 4],
    /// Planes of the view frustum relative to the camera, positive inside.
    pub(crate) planes: [[f32; 4]; 6],
    /// For each plane: reach of a unit box along its normal, and tolerance for rounding, per unit of
    /// distance.
    pub(crate) reaches: [[f32; 4]; 6],
    /// Integer part of the camera's position.
    pub(crate) camera_voxel: [i32; 3],
    /// Options, see [`CullView::MASK_BACK_FACES`].
    pub(crate) flags: i32,
    /// Fraction of the camera's position.
    pub(crate) camera_fraction: [f32; 3],
    /// Maximum move of a mesh's corners to close seams, in units per unit of clip `w`.
    pub(crate) seam: f32,
    /// Bins of a mesh for each doubling of clip `w` of its middle.
    pub(crate) bins_per_octave: f32,
    /// Bins of a mesh for each unit of depth of its middle.
    pub(crate) bins_per_depth: f32,
    /// Bin of a mesh at clip `w` 1 and depth 0.
    pub(crate) first_bin: f32,
    /// 1 if every command is issued: unused ones must draw nothing then. Set by the culler.
    pub(crate) clear_rest: u32,
}

const _: () = assert!(size_of::<CullView>() == 304);

/// Order in which meshes are drawn. Near meshes hide far ones, which then cost no shading. A few
/// steps of distance give most of the benefit of sorting.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CullOrder {
    /// Order of insertion.
    Unsorted,
    /// Nearest first, in steps of the distance from a perspective camera. Steps grow with distance.
    ByDistance {
        /// Distance of the farthest meshes.
        farthest: f32,
    },
    /// Greatest depth first, in even steps, for parallel rays and reversed depth.
    ByReversedDepth,
}

impl CullView {
    /// Flag: skip face directions that point away from the camera.
    pub(crate) const MASK_BACK_FACES: i32 = 1;
    /// Flag: skip meshes outside the view frustum.
    pub(crate) const CULL_FRUSTUM: i32 = 2;
    /// Flag: rays are parallel. Then the visible face directions, at
    /// [`PARALLEL_SHIFT`](Self::PARALLEL_SHIFT), are the same for every mesh.
    pub(crate) const PARALLEL: i32 = 4;
    /// Shift of the visible face directions of parallel rays within the flags.
    pub(crate) const PARALLEL_SHIFT: u32 = 8;

    /// Number of bins of meshes, nearest first.
    pub(crate) const BINS: u32 = 16;

    /// Tolerance for rounding, per unit of distance: rounding never drops a visible mesh.
    const SLACK: f32 = 1e-3;

    /// Creates a view from the matrix of positions in the world. It draws what is within the view
    /// frustum, with all parts, in order of insertion.
    pub fn new(clip_from_world: [[f32; 4]; 4]) -> Self {
        Self::relative(clip_from_world, [0; 3], [0.0; 3])
    }

    /// Creates a view from the matrix of positions relative to a camera, and the camera's position:
    /// integer part and fraction. Differences to integer origins of meshes are exact in any distance
    /// from the origin of the world.
    pub fn relative(
        clip_from_relative: [[f32; 4]; 4],
        camera_voxel: [i32; 3],
        camera_fraction: [f32; 3],
    ) -> Self {
        let row = |n: usize| clip_from_relative.map(|column| column[n]);
        let [x, y, z, w] = [0, 1, 2, 3].map(row);
        let sum = |a: [f32; 4], b: [f32; 4]| [0, 1, 2, 3].map(|n| a[n] + b[n]);
        let difference = |a: [f32; 4], b: [f32; 4]| [0, 1, 2, 3].map(|n| a[n] - b[n]);
        let planes =
            [sum(w, x), difference(w, x), sum(w, y), difference(w, y), z, difference(w, z)];
        let reaches = planes.map(|[x, y, z, _]| {
            let length = (x * x + y * y + z * z).sqrt();
            [x.max(0.0) + y.max(0.0) + z.max(0.0), Self::SLACK * length, 0.0, 0.0]
        });
        Self {
            clip_from_relative,
            planes,
            reaches,
            camera_voxel,
            flags: Self::CULL_FRUSTUM,
            camera_fraction,
            seam: 0.0,
            bins_per_octave: 0.0,
            bins_per_depth: 0.0,
            first_bin: 0.0,
            clear_rest: 0,
        }
    }

    /// Moves the origin of the matrix to the position of a perspective camera. Face directions that
    /// point away from it are no longer drawn.
    #[must_use]
    pub fn with_camera(self, position: [f64; 3]) -> Self {
        let voxel = position.map(f64::floor);
        let fraction = [0, 1, 2].map(|axis| (position[axis] - voxel[axis]) as f32);
        let camera_voxel = voxel.map(|c| c as i32);
        let before =
            [0, 1, 2].map(|n| f64::from(self.camera_voxel[n]) + f64::from(self.camera_fraction[n]));
        let [x, y, z, last] = self.clip_from_relative;
        let last = [0, 1, 2, 3].map(|row| {
            let columns = [x[row], y[row], z[row]];
            let moved = (0..3).map(|n| f64::from(columns[n]) * (position[n] - before[n]));
            (f64::from(last[row]) + moved.sum::<f64>()) as f32
        });
        let matrix = [x, y, z, last];
        let moved = Self::relative(matrix, camera_voxel, fraction);
        let Self { seam, bins_per_octave, bins_per_depth, first_bin, clear_rest, .. } = self;
        let flags = self.flags & !Self::PARALLEL | Self::MASK_BACK_FACES;
        Self { flags, seam, bins_per_octave, bins_per_depth, first_bin, clear_rest, ..moved }
    }

    /// Draws only face directions that point towards the camera of
    /// [`relative`](Self::relative).
    #[must_use]
    pub const fn with_masked_faces(self) -> Self {
        Self { flags: self.flags & !Self::PARALLEL | Self::MASK_BACK_FACES, ..self }
    }

    /// Draws only these face directions: those that point towards a camera with parallel rays.
    #[must_use]
    pub const fn with_parallel_faces(self, faces: FaceSet) -> Self {
        let rest = self.flags & (Self::CULL_FRUSTUM | Self::MASK_BACK_FACES);
        let parallel = (faces.bits() as i32) << Self::PARALLEL_SHIFT;
        let flags = rest | Self::MASK_BACK_FACES | Self::PARALLEL | parallel;
        Self { flags, ..self }
    }

    /// Draws meshes outside the view frustum too.
    #[must_use]
    pub const fn without_frustum(self) -> Self {
        Self { flags: self.flags & !Self::CULL_FRUSTUM, ..self }
    }

    /// Replaces the order. Default: [`CullOrder::Unsorted`].
    #[must_use]
    pub fn with_order(self, order: CullOrder) -> Self {
        /// Number of doublings of distance that have their own bins, up to the farthest. Few meshes
        /// are nearer than 1/256 of it.
        const OCTAVES: f32 = 8.0;
        let count = Self::BINS as f32;
        let [bins_per_octave, bins_per_depth, first_bin] = match order {
            CullOrder::Unsorted => [0.0; 3],
            CullOrder::ByDistance { farthest } => {
                let per_octave = count / OCTAVES;
                [per_octave, 0.0, count - per_octave * farthest.max(1.0).log2()]
            }
            // Depth falls evenly from 1 to 0.
            CullOrder::ByReversedDepth => [0.0, -count, count],
        };
        Self { bins_per_octave, bins_per_depth, first_bin, ..self }
    }

    /// Replaces the distance by which the caller's shader moves corners out of their mesh's box, in
    /// units per unit of clip `w`. Only culling by depth reads it. Default: 0.
    #[must_use]
    pub const fn with_seam(self, seam: f32) -> Self {
        Self { seam, ..self }
    }

    /// Parts of a mesh that the GPU draws when it does not cull by depth. For devices that cannot
    /// cull it is a mask: `list.mask(&pool, |data| view.visible_parts(&bounds_of(data)))`.
    ///
    /// # Cost
    /// About 60 operations.
    pub fn visible_parts(&self, bounds: &CullBounds) -> PartSet {
        let bits = self.visible_bits(bounds);
        // A mesh whose parts are not face directions can have more of them.
        if bits == FaceSet::ALL.bits() { PartSet::ALL } else { PartSet::from_bits(bits) }
    }

    fn visible_bits(&self, bounds: &CullBounds) -> u8 {
        if self.flags & Self::CULL_FRUSTUM != 0 && !self.in_view(bounds) {
            return 0;
        }
        let faces = if bounds.has_faces() { self.visible_faces(bounds) } else { FaceSet::ALL };
        faces.bits()
    }

    /// Lowest corner of a box relative to the camera.
    pub(crate) fn relative_low(&self, bounds: &CullBounds) -> [f32; 3] {
        let (origin, low) = (bounds.origin(), bounds.low());
        [0, 1, 2].map(|axis| {
            let voxels = i64::from(origin[axis]) - i64::from(self.camera_voxel[axis]);
            (voxels as f32 - self.camera_fraction[axis]) + low[axis]
        })
    }

    /// Whether the corner of the box farthest along each plane's normal is not behind the plane.
    fn in_view(&self, bounds: &CullBounds) -> bool {
        let (low, size) = (self.relative_low(bounds), bounds.size());
        let extent = longest(size);
        let distance = 1.0 + longest(low.map(f32::abs)) + extent;
        !self.planes.iter().zip(&self.reaches).any(|(&[x, y, z, offset], &[reach, slack, ..])| {
            let along = x * low[0] + y * low[1] + z * low[2];
            // The box is the cube of its longest side, less what its other sides lack.
            let missing = x.max(0.0) * (extent - size[0])
                + y.max(0.0) * (extent - size[1])
                + z.max(0.0) * (extent - size[2]);
            along + extent * reach + offset - missing < -slack * distance
        })
    }

    /// Face directions that can point towards the camera. Faces can lie anywhere in the box, so a
    /// direction is dropped only if the camera is behind the whole box.
    fn visible_faces(&self, bounds: &CullBounds) -> FaceSet {
        if self.flags & Self::MASK_BACK_FACES == 0 {
            return FaceSet::ALL;
        }
        if self.flags & Self::PARALLEL != 0 {
            return FaceSet::from_bits((self.flags >> Self::PARALLEL_SHIFT) as u8);
        }
        let (origin, size) = (bounds.origin(), bounds.size());
        let bits = (0..3).fold(0, |bits, axis| {
            let (low, camera) = (i64::from(origin[axis]), i64::from(self.camera_voxel[axis]));
            // A positive face lies above `low`, a negative one below `low + size`, both by less than a
            // voxel if they belong to fine quads.
            let (negative, positive) = (camera < low + size[axis] as i64, camera >= low);
            bits | u8::from(negative) << axis | u8::from(positive) << (axis + 3)
        });
        FaceSet::from_bits(bits)
    }
}
