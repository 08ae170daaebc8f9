use drystone_mesh::{Face, FaceSet};
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
            let far = low + extent * plane.truncate().cmpgt(Vec3::ZERO).select_one();
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

    fn relative(&self, mesh: &DrawData) -> Vec3 {
        (DVec3::from_array(mesh.origin.map(f64::from)) - self.eye).as_vec3()
    }
}

trait SelectOne {
    fn select_one(self) -> Vec3;
}

impl SelectOne for glam::BVec3 {
    fn select_one(self) -> Vec3 {
        Vec3::select(self, Vec3::ONE, Vec3::ZERO)
    }
}
