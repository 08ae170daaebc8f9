use drystone_mesh::{Face, FaceSet};
use drystone_pool::sort_key;
use glam::{Vec3, Vec4};

use crate::{
    camera::{Camera, Projection},
    draw_data::DrawData,
};

/// Decides which meshes and face directions a camera cannot see. Conservative: reports as visible
/// whatever is uncertain.
///
/// # Cost
/// About 30 operations and no branch for each mesh; called for every mesh in every frame.
#[derive(Clone, Debug)]
pub struct Visibility {
    camera_voxel: [i32; 3],
    camera_fraction: Vec3,
    forward: Vec3,
    orthographic: bool,
    /// Face directions that an orthographic camera sees of every mesh.
    parallel_faces: FaceSet,
    planes: Planes,
}

/// The planes of the view frustum relative to the camera, positive inside. There are six, and two
/// that hold for every box. They are stored as a structure of arrays, so that a box is tested
/// against all of them in a few vector operations.
#[derive(Clone, Copy, Debug)]
struct Planes {
    x: [f32; 8],
    y: [f32; 8],
    z: [f32; 8],
    offset: [f32; 8],
    /// Maximum distance of a unit box's corners from its lowest corner, along the normal.
    reach: [f32; 8],
    /// Tolerance for rounding, per voxel of distance.
    slack: [f32; 8],
}

impl Planes {
    /// A thousandth of the distance: rounding never drops a visible mesh.
    const SLACK: f32 = 1e-3;

    fn new(six: [Vec4; 6]) -> Self {
        let lanes = |value: fn(Vec4) -> f32| {
            std::array::from_fn(|lane| six.get(lane).map_or(0.0, |&plane| value(plane)))
        };
        Self {
            x: lanes(|plane| plane.x),
            y: lanes(|plane| plane.y),
            z: lanes(|plane| plane.z),
            offset: lanes(|plane| plane.w),
            reach: lanes(|plane| plane.truncate().max(Vec3::ZERO).element_sum()),
            slack: lanes(|plane| Self::SLACK * plane.truncate().length()),
        }
    }

    /// Whether the corner of the box farthest along each normal is not behind its plane.
    fn hold(&self, low: Vec3, extent: f32) -> bool {
        let distance = 1.0 + low.abs().max_element() + extent;
        let mut behind = 0;
        for lane in 0..8 {
            let along = self.x[lane] * low.x + self.y[lane] * low.y + self.z[lane] * low.z;
            let farthest = along + extent * self.reach[lane] + self.offset[lane];
            behind |= u32::from(farthest < -self.slack[lane] * distance);
        }
        behind == 0
    }
}

impl Visibility {
    /// Creates the visibility of `camera` for a picture of this aspect ratio.
    pub fn new(camera: &Camera, aspect: f32) -> Self {
        let rows = camera.clip_from_relative(aspect).transpose();
        let [x, y, z, w] = [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis];
        let forward = camera.basis()[2];
        let (camera_voxel, camera_fraction) = camera.split_position();
        let towards = |face: &Face| {
            let along = forward[face.axis()];
            if face.is_positive() { along < 0.0 } else { along > 0.0 }
        };
        Self {
            camera_voxel,
            camera_fraction,
            forward,
            orthographic: matches!(camera.projection, Projection::Orthographic { .. }),
            parallel_faces: Face::ALL.into_iter().filter(towards).collect(),
            planes: Planes::new([w + x, w - x, w + y, w - y, z, w - z]),
        }
    }

    /// Face directions of the mesh that can point towards the camera. Faces can lie anywhere in the
    /// mesh's box, so a direction is dropped only if the camera is behind the whole box.
    pub fn visible_faces(&self, mesh: &DrawData) -> FaceSet {
        if self.orthographic {
            return self.parallel_faces;
        }
        let bits = (0..3).fold(0, |bits, axis| {
            // In 64 bits: the box may lie at either end of the world.
            let low = i64::from(mesh.origin[axis]);
            let camera_voxel = i64::from(self.camera_voxel[axis]);
            // A positive face lies above `low`: fine quads less than a voxel. The camera, somewhere
            // in its voxel, can see it if that voxel is not below `low`. A negative face lies below
            // `low + extent`: the camera must be in a voxel below that.
            let positive = camera_voxel >= low;
            let negative = camera_voxel < low + i64::from(mesh.extent);
            bits | u8::from(negative) << axis | u8::from(positive) << (axis + 3)
        });
        FaceSet::from_bits(bits)
    }

    /// Whether any part of the mesh's box can be in view.
    pub fn in_view(&self, mesh: &DrawData) -> bool {
        self.planes.hold(self.relative(mesh), mesh.extent as f32)
    }

    /// Distance from the camera to the middle of the mesh's box. For an orthographic camera, a
    /// positive number that sorts like the depth along the view direction, also for meshes behind
    /// the camera.
    pub fn distance(&self, mesh: &DrawData) -> f32 {
        let middle = self.relative(mesh) + mesh.extent as f32 / 2.0;
        if self.orthographic {
            positive_in_order(middle.dot(self.forward))
        } else {
            middle.length()
        }
    }

    /// Face directions that an orthographic camera sees of every mesh; `None` for a perspective
    /// camera.
    #[cfg(feature = "wgpu")]
    pub(crate) fn parallel_faces(&self) -> Option<FaceSet> {
        self.orthographic.then_some(self.parallel_faces)
    }

    /// Sort key of opaque meshes: nearest first. Ties are broken by grid cell, then by extent and
    /// [`DrawData::sort_rank`], so that pictures do not depend on the order in which meshes were added: of two
    /// faces at one depth, the first one drawn is seen.
    pub fn opaque_key(&self, mesh: &DrawData) -> u64 {
        sort_key(self.distance(mesh), tie_of(mesh))
    }

    /// Sort key of blended meshes: farthest first. Ties are broken as those of opaque ones, so that every renderer
    /// blends alike.
    pub fn blend_key(&self, mesh: &DrawData) -> u64 {
        !self.opaque_key(mesh)
    }

    /// Position of the camera in voxels of the mesh from the mesh's origin. An orthographic camera is
    /// infinitely far away along each axis.
    pub(crate) fn position_in(&self, mesh: &DrawData) -> [f64; 3] {
        let voxel = f64::from(1_u32 << mesh.level.min(DrawData::MAX_LEVEL));
        [0, 1, 2].map(|axis| {
            if self.orthographic {
                return if self.forward[axis] < 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
            }
            let units = i64::from(self.camera_voxel[axis]) - i64::from(mesh.origin[axis]);
            (units as f64 + f64::from(self.camera_fraction[axis])) / voxel
        })
    }

    /// The box's lowest corner relative to the camera.
    fn relative(&self, mesh: &DrawData) -> Vec3 {
        // Differences of 32-bit integers are exact in `f64`, and processors convert several at once.
        let low = [0, 1, 2]
            .map(|axis| (f64::from(mesh.origin[axis]) - f64::from(self.camera_voxel[axis])) as f32);
        Vec3::from_array(low) - self.camera_fraction
    }
}

/// Grid cell, extent and rank of a mesh, as far as 32 bits have them.
fn tie_of(mesh: &DrawData) -> u32 {
    /// Bits of each grid coordinate.
    const BITS: [u32; 3] = [9, 9, 10];
    const RANK_BITS: u32 = 4;
    let extent = mesh.extent.clamp(1, i32::MAX as u32) as i32;
    let cell = (0..3).fold(0, |cell, axis| {
        let at = mesh.origin[axis].div_euclid(extent) as u32;
        cell << BITS[axis] | at & ((1 << BITS[axis]) - 1)
    });
    let rank = mesh.extent.wrapping_add(mesh.sort_rank) & ((1 << RANK_BITS) - 1);
    cell << RANK_BITS | rank
}

/// Maps a number to a positive one and preserves the order. The bits of positive floats sort like
/// the floats, those of negative ones in reverse. So the latter are flipped, and the sign becomes
/// the highest bit of the magnitude. The cost is the last bit of precision for any magnitude;
/// adding a bias would cost up to all of it.
fn positive_in_order(value: f32) -> f32 {
    const SIGN: u32 = 1 << 31;
    let bits = value.to_bits();
    let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    f32::from_bits(ordered >> 1)
}

#[cfg(test)]
mod tests;
