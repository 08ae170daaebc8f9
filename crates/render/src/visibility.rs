use drystone_mesh::{Face, FaceSet};
use drystone_pool::sort_key;
use glam::{DVec3, Vec3, Vec4};

use crate::{Camera, DrawData, Projection};

/// Decides what a camera cannot see of a mesh: facings that look away, and meshes outside
/// the view. It errs on the side of drawing.
#[derive(Clone, Debug)]
pub struct Visibility {
    eye: DVec3,
    forward: Vec3,
    orthographic: bool,
    /// Planes through clip space, relative to the eye, positive inside: left, right,
    /// bottom, top, far, near.
    planes: [Vec4; 6],
}

impl Visibility {
    /// What `camera` sees on a picture of this width to height.
    pub fn new(camera: &Camera, aspect: f32) -> Self {
        let rows = camera.clip_from_relative(aspect).transpose();
        let [x, y, z, w] = [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis];
        Self {
            eye: camera.eye,
            forward: camera.basis()[2],
            orthographic: matches!(camera.projection, Projection::Orthographic { .. }),
            planes: [w + x, w - x, w + y, w - y, z, w - z],
        }
    }

    /// The facings of the mesh's box that can look towards the eye. A mesh's faces lie
    /// anywhere within the box, so the eye must be behind all of it to drop a facing.
    pub fn facings(&self, mesh: &DrawData) -> FaceSet {
        let extent = f64::from(mesh.extent);
        Face::ALL.into_iter().fold(FaceSet::EMPTY, |set, face| {
            let axis = face.axis();
            let low = f64::from(mesh.origin[axis]);
            let seen = match (self.orthographic, face.is_positive()) {
                (true, true) => self.forward[axis] < 0.0,
                (true, false) => self.forward[axis] > 0.0,
                // A positive face lies at `low + 1` at the lowest, a negative one at
                // `low + extent − 1` at the highest.
                (false, true) => self.eye[axis] > low + 1.0,
                (false, false) => self.eye[axis] < low + extent - 1.0,
            };
            if seen { set.with(face) } else { set }
        })
    }

    /// Whether any of the mesh's box may be in view.
    pub fn in_view(&self, mesh: &DrawData) -> bool {
        let low = self.relative(mesh);
        let extent = mesh.extent as f32;
        self.planes.iter().all(|plane| {
            // The corner farthest along the plane's normal.
            let towards = plane.truncate().cmpgt(Vec3::ZERO);
            let far = low + Vec3::select(towards, Vec3::splat(extent), Vec3::ZERO);
            // A thousandth of slack for rounding: nothing in view is ever dropped.
            let slack = 1e-3 * (1.0 + far.length()) * plane.truncate().length();
            plane.truncate().dot(far) + plane.w >= -slack
        })
    }

    /// How far the middle of the mesh's box is from the eye; for an orthographic camera,
    /// how far along the view (made positive).
    pub fn distance(&self, mesh: &DrawData) -> f32 {
        /// Beyond any view's depth; keeps distances positive behind the eye.
        const DEPTH_BIAS: f32 = (1 << 24) as f32;
        let middle = self.relative(mesh) + mesh.extent as f32 / 2.0;
        if self.orthographic {
            (middle.dot(self.forward) + DEPTH_BIAS).max(0.0)
        } else {
            middle.length()
        }
    }

    /// The one order in which blended meshes are drawn: farthest first, and among equals
    /// by their place in the grid, so that every renderer blends alike.
    pub fn blend_key(&self, mesh: &DrawData) -> u64 {
        /// Bits of each grid coordinate that fit the key beside the distance.
        const BITS: [u32; 3] = [11, 10, 11];
        let extent = mesh.extent.max(1) as i32;
        let tie = (0..3).fold(0, |tie, axis| {
            let cell = mesh.origin[axis].div_euclid(extent) as u32;
            tie << BITS[axis] | cell & ((1 << BITS[axis]) - 1)
        });
        !sort_key(self.distance(mesh), tie)
    }

    fn relative(&self, mesh: &DrawData) -> Vec3 {
        (DVec3::from_array(mesh.origin.map(f64::from)) - self.eye).as_vec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(origin: [i32; 3]) -> DrawData {
        DrawData { origin, extent: 32 }
    }

    #[test]
    fn facings_are_dropped_only_when_wholly_behind() {
        let camera = Camera { eye: DVec3::new(40.0, 16.0, 0.5), ..Camera::default() };
        let visibility = Visibility::new(&camera, 1.0);
        let seen = visibility.facings(&mesh([0; 3]));
        // East of the box: its +X faces show, its −X faces cannot.
        assert!(seen.contains(Face::PosX) && !seen.contains(Face::NegX));
        // Level with it: both show.
        assert!(seen.contains(Face::PosY) && seen.contains(Face::NegY));
        // Half a voxel inside its north side: +Z faces lie at 1 and beyond, ahead of it.
        assert!(seen.contains(Face::NegZ) && !seen.contains(Face::PosZ));
    }

    #[test]
    fn orthographic_facings_follow_the_view() {
        let camera = Camera {
            projection: Projection::Orthographic { height_voxels: 10.0 },
            yaw: 0.3,
            pitch: -0.5,
            ..Camera::default()
        };
        let seen = Visibility::new(&camera, 1.0).facings(&mesh([5; 3]));
        // Looking north-west and down: what faces south, east and up shows.
        let want = [Face::PosX, Face::PosY, Face::PosZ];
        assert_eq!(seen, want.into_iter().fold(FaceSet::EMPTY, FaceSet::with));
    }

    #[test]
    fn boxes_are_culled_only_when_no_corner_region_shows() {
        let camera = Camera { depth_range: [1.0, 100.0], ..Camera::default() };
        let visibility = Visibility::new(&camera, 1.0);
        // Looks north, towards −Z.
        assert!(visibility.in_view(&mesh([-16, -16, -50])));
        assert!(!visibility.in_view(&mesh([-16, -16, 2])));
        assert!(!visibility.in_view(&mesh([-16, -16, -140])));
        assert!(!visibility.in_view(&mesh([200, -16, -50])));
        // The eye is inside.
        assert!(visibility.in_view(&mesh([-16, -16, -16])));
    }

    #[test]
    fn blend_order_is_total_and_farthest_first() {
        let camera = Camera { eye: DVec3::new(16.0, 16.0, 16.0), ..Camera::default() };
        let visibility = Visibility::new(&camera, 1.0);
        let key = |origin| visibility.blend_key(&mesh(origin));
        assert!(key([0, 0, 96]) < key([0, 0, 64]));
        // Equally far, and still told apart.
        assert_ne!(key([0, 0, 64]), key([0, 0, -64]));
        assert_ne!(key([64, 0, 0]), key([0, 64, 0]));
    }
}
