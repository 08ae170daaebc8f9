use drystone_mesh::{Face, FaceSet};
use drystone_pool::sort_key;
use glam::{Vec3, Vec4};

use crate::{Camera, DrawData, Projection};

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
            // A positive face lies at `low + 1` or higher. The camera, somewhere in its voxel, can
            // see it if that voxel is above `low`. A negative face lies at `low + extent − 1` or
            // lower: the camera must be in a voxel below.
            let positive = camera_voxel > low;
            let negative = camera_voxel < low + i64::from(mesh.extent) - 1;
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

    /// The planes of the view frustum relative to the camera, positive inside.
    pub(crate) fn planes(&self) -> [[f32; 4]; 6] {
        let Planes { x, y, z, offset, .. } = &self.planes;
        std::array::from_fn(|n| [x[n], y[n], z[n], offset[n]])
    }

    /// Reach of a unit box along the normal of each plane, and tolerance for rounding per voxel of
    /// distance.
    pub(crate) fn reaches(&self) -> [[f32; 4]; 6] {
        std::array::from_fn(|n| [self.planes.reach[n], self.planes.slack[n], 0.0, 0.0])
    }

    /// Face directions that an orthographic camera sees of every mesh; `None` for a perspective
    /// camera.
    pub(crate) fn parallel_faces(&self) -> Option<FaceSet> {
        self.orthographic.then_some(self.parallel_faces)
    }

    /// Sort key of blended meshes: farthest first. Ties are broken by grid cell, then by extent, so
    /// that every renderer blends alike. The last bits distinguish up to eight parts of one cell.
    pub fn blend_key(&self, mesh: &DrawData) -> u64 {
        /// Bits of each grid coordinate in the key, beside the distance.
        const BITS: [u32; 3] = [10, 9, 10];
        const EXTENT_BITS: u32 = 3;
        let extent = mesh.extent.clamp(1, i32::MAX as u32) as i32;
        let tie = (0..3).fold(0, |tie, axis| {
            let cell = mesh.origin[axis].div_euclid(extent) as u32;
            tie << BITS[axis] | cell & ((1 << BITS[axis]) - 1)
        });
        let tie = tie << EXTENT_BITS | mesh.extent & ((1 << EXTENT_BITS) - 1);
        !sort_key(self.distance(mesh), tie)
    }

    /// The box's lowest corner relative to the camera.
    fn relative(&self, mesh: &DrawData) -> Vec3 {
        let low = [0, 1, 2]
            .map(|axis| (i64::from(mesh.origin[axis]) - i64::from(self.camera_voxel[axis])) as f32);
        Vec3::from_array(low) - self.camera_fraction
    }
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
mod tests {
    use glam::DVec3;
    use proptest::prelude::*;

    use super::*;

    fn mesh(origin: [i32; 3]) -> DrawData {
        DrawData { origin, level: 0, extent: 32 }
    }

    #[test]
    fn face_directions_are_dropped_only_when_wholly_behind() {
        let camera = Camera { position: DVec3::new(40.0, 16.0, 0.5), ..Camera::default() };
        let visibility = Visibility::new(&camera, 1.0);
        let seen = visibility.visible_faces(&mesh([0; 3]));
        // East of the box: its +X faces show, its −X faces cannot.
        assert!(seen.contains(Face::PosX) && !seen.contains(Face::NegX));
        // Within the box's height: both show.
        assert!(seen.contains(Face::PosY) && seen.contains(Face::NegY));
        // Half a voxel inside its north side: +Z faces lie at 1 and beyond, ahead of the camera.
        assert!(seen.contains(Face::NegZ) && !seen.contains(Face::PosZ));
    }

    /// Whether any face with this direction points towards `position`, for a mesh of `side` voxels
    /// a side. Tests all planes that its faces can lie in, one by one.
    fn is_seen(mesh: &DrawData, side: u32, position: DVec3, face: Face) -> bool {
        let axis = face.axis();
        let planes = (0..side).map(|voxel| {
            let plane = i64::from(voxel + u32::from(face.is_positive())) << mesh.level;
            (i64::from(mesh.origin[axis]) + plane) as f64
        });
        let mut towards = planes.map(|plane| match face.is_positive() {
            true => position[axis] > plane,
            false => position[axis] < plane,
        });
        towards.any(|is_towards| is_towards)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        /// All levels. Directions that are behind the camera by at least a voxel are left out.
        #[test]
        fn no_visible_face_direction_is_left_out(
            origin in prop::array::uniform3(-70_000..70_000i32),
            (level, side) in (0..6u32, prop_oneof![Just(1u32), Just(32), Just(64), 1..64u32]),
            within in prop::array::uniform3(-1.5..2.5f64),
            is_whole in any::<bool>(),
        ) {
            let origin = origin.map(|c| c >> level << level);
            let mesh = DrawData { origin, level, extent: side << level };
            let low = DVec3::from_array(origin.map(f64::from));
            let extent = f64::from(mesh.extent);
            let position = low + DVec3::from_array(within) * extent;
            let position = if is_whole { position.floor() } else { position };
            let visibility = Visibility::new(&Camera { position, ..Camera::default() }, 1.0);
            let visible_faces = visibility.visible_faces(&mesh);
            for face in Face::ALL {
                let (axis, voxel) = (face.axis(), f64::from(1 << level));
                if is_seen(&mesh, side, position, face) {
                    prop_assert!(visible_faces.contains(face), "{face:?}");
                } else if position[axis] < low[axis] - voxel
                    || position[axis] > low[axis] + extent + voxel
                {
                    prop_assert!(!visible_faces.contains(face), "{face:?}");
                }
            }
        }
    }

    #[test]
    fn blend_keys_of_extreme_boxes_do_not_overflow() {
        let visibility = Visibility::new(&Camera::default(), 1.0);
        for extent in [0, 1, i32::MAX as u32, 1 << 31, u32::MAX] {
            for origin in [i32::MIN, -1, 0, i32::MAX] {
                visibility.blend_key(&DrawData { origin: [origin; 3], level: 0, extent });
            }
        }
    }

    #[test]
    fn orthographic_facings_follow_the_view() {
        let camera = Camera {
            projection: Projection::Orthographic { height_voxels: 10.0 },
            yaw: 0.3,
            pitch: -0.5,
            ..Camera::default()
        };
        let seen = Visibility::new(&camera, 1.0).visible_faces(&mesh([5; 3]));
        // The view is towards north-west and down: faces to the south, east and up show.
        let expected = [Face::PosX, Face::PosY, Face::PosZ];
        assert_eq!(seen, FaceSet::from_iter(expected));
    }

    #[test]
    fn boxes_are_culled_only_when_no_corner_region_shows() {
        let camera = Camera { depth_range: [1.0, 100.0], ..Camera::default() };
        let visibility = Visibility::new(&camera, 1.0);
        // The view is north, along −Z.
        assert!(visibility.in_view(&mesh([-16, -16, -50])));
        assert!(!visibility.in_view(&mesh([-16, -16, 2])));
        assert!(!visibility.in_view(&mesh([-16, -16, -140])));
        assert!(!visibility.in_view(&mesh([200, -16, -50])));
        // The camera is inside.
        assert!(visibility.in_view(&mesh([-16, -16, -16])));
    }

    #[test]
    fn blend_order_is_total_and_farthest_first() {
        let camera = Camera { position: DVec3::new(16.0, 16.0, 16.0), ..Camera::default() };
        let visibility = Visibility::new(&camera, 1.0);
        let key = |origin| visibility.blend_key(&mesh(origin));
        assert!(key([0, 0, 96]) < key([0, 0, 64]));
        // Equally far, but the keys differ.
        assert_ne!(key([0, 0, 64]), key([0, 0, -64]));
        assert_ne!(key([64, 0, 0]), key([0, 64, 0]));
    }

    /// Chunks of a step pyramid seen from far above: depths differ by a voxel, ahead of the camera,
    /// at its depth and behind it. The grid positions sort the other way round.
    #[test]
    fn orthographic_blend_order_resolves_one_voxel_of_depth() {
        let camera = Camera {
            position: DVec3::new(0.0, 16.0, 0.0),
            pitch: -std::f32::consts::FRAC_PI_2,
            projection: Projection::Orthographic { height_voxels: 100.0 },
            ..Camera::default()
        };
        let visibility = Visibility::new(&camera, 1.0);
        let key = |height: i32| visibility.blend_key(&mesh([height * -320, height, 0]));
        for height in (-100..100).chain([-100_000, 100_000]) {
            assert!(key(height) < key(height + 1), "{height} is drawn before what is above it");
        }
    }

    #[test]
    fn mapping_to_positive_numbers_preserves_order() {
        let sizes = [1e-30, 0.5, 1.0, 1.000_001, 2.0, 4096.0, 4097.0, 1.6e7, 7.5e9];
        let below = sizes.iter().rev().map(|size| -size);
        let all: Vec<f32> = below.chain([0.0]).chain(sizes).collect();
        for pair in all.windows(2) {
            let [low, high] = [pair[0], pair[1]].map(positive_in_order);
            assert!(0.0 < low && low < high && high.is_finite(), "{pair:?}");
        }
    }
}
