use glam::{DVec3, Mat4, Vec3, camera::rh::proj::directx};

/// The projection of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum Projection {
    /// Perspective: far objects appear smaller.
    Perspective {
        /// Vertical field of view, in radians.
        fov_y: f32,
    },
    /// Orthographic: size does not depend on distance.
    Orthographic {
        /// Height of the picture, in voxels.
        height_voxels: f32,
    },
}

/// A camera in the world: position, direction and projection. Y is up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
pub struct Camera {
    /// Position, in voxels. Double precision: only differences to it become `f32`.
    pub position: DVec3,
    /// Rotation about the vertical axis, in radians. 0 points along −Z; positive turns left.
    pub yaw: f32,
    /// Rotation above the horizon, in radians, clamped to ±90°. Positive points up.
    pub pitch: f32,
    /// The projection.
    pub projection: Projection,
    /// Distances of the near and the far plane along the view direction, in voxels.
    pub depth_range: [f32; 2],
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            position: DVec3::ZERO,
            yaw: 0.0,
            pitch: 0.0,
            projection: Projection::Perspective { fov_y: 60f32.to_radians() },
            depth_range: [0.1, 4096.0],
        }
    }
}

impl Camera {
    /// Direction from the middle of the box to the camera in [`fit`](Self::fit): south-east, 30°
    /// above. Not normalized.
    pub const FIT_DIRECTION: DVec3 = DVec3::new(0.62, 0.50, 0.78);
    /// Size of the picture in [`fit_from`](Self::fit_from), divided by the size of the box in it.
    pub const FIT_MARGIN: f32 = 1.04;

    /// Creates a perspective camera at `position` that points at `target`.
    pub fn look_at(position: DVec3, target: DVec3) -> Self {
        let mut camera = Self { position, ..Self::default() };
        camera.turn_to(target);
        camera
    }

    /// Creates a camera that shows the whole box `min` to `max` from the south-east, pointing 30°
    /// down.
    pub fn fit(min: DVec3, max: DVec3, projection: Projection, aspect: f32) -> Self {
        Self::fit_from(Self::FIT_DIRECTION.normalize(), min, max, projection, aspect)
    }

    /// Creates a camera that points against `direction` and shows the whole box: as near as the margin
    /// [`FIT_MARGIN`](Self::FIT_MARGIN) allows, with the projection of the box in the middle of the
    /// picture. `aspect` is the width of the picture divided by its height.
    pub fn fit_from(
        direction: DVec3,
        min: DVec3,
        max: DVec3,
        projection: Projection,
        aspect: f32,
    ) -> Self {
        let margin = f64::from(Self::FIT_MARGIN);
        let middle = (min + max) / 2.0;
        let mut camera = Self { position: middle + direction, projection, ..Self::default() };
        camera.turn_to(middle);
        let [right, up, forward] = camera.basis().map(Vec3::as_dvec3);
        let half = (max - min) / 2.0;
        let radius = half.length().max(0.5);
        let corners = [0, 1, 2, 3, 4, 5, 6, 7].map(|bits: u32| {
            let side = |bit: u32| if bits >> bit & 1 == 0 { -1.0 } else { 1.0 };
            half * DVec3::new(side(0), side(1), side(2))
        });
        let aspect = f64::from(aspect.max(1e-3));
        // Relative to the middle of the box. In perspective, near corners appear larger.
        let mut position = direction * (radius + 1.0);
        match &mut camera.projection {
            Projection::Perspective { fov_y } => {
                let tan_y = f64::from(*fov_y / 2.0).tan().max(1e-6) / margin;
                position = fit_perspective(&corners, [right, up, forward], [tan_y * aspect, tan_y]);
            }
            Projection::Orthographic { height_voxels } => {
                let height = corners.iter().fold(1e-3, |needed: f64, corner| {
                    let spread = corner.dot(up).abs().max(corner.dot(right).abs() / aspect);
                    needed.max(spread * 2.0 * margin)
                });
                *height_voxels = height as f32;
            }
        }
        camera.position = middle + position;
        let distance = -position.dot(forward);
        let depths = corners.map(|corner| (corner - position).dot(forward));
        let nearest = depths.into_iter().fold(f64::INFINITY, f64::min);
        let near = (distance - radius - 1.0).max((distance * 1e-3).min(nearest * 0.99)).max(0.05);
        camera.depth_range = [near as f32, (distance + radius + 1.0) as f32];
        camera
    }

    /// Turns the camera towards `target`. Does nothing if the camera is at `target`.
    pub fn turn_to(&mut self, target: DVec3) {
        let to = (target - self.position).as_vec3();
        let Some(to) = to.try_normalize() else { return };
        self.pitch = to.y.clamp(-1.0, 1.0).asin();
        // Straight up or down has no heading: keep the current one.
        if to.x.hypot(to.z) > 1e-6 {
            self.yaw = (-to.x).atan2(-to.z);
        }
    }

    /// Unit vectors to the right, up and forward.
    pub fn basis(&self) -> [Vec3; 3] {
        let (yaw_sin, yaw_cos) = self.yaw.sin_cos();
        let half_turn = std::f32::consts::FRAC_PI_2;
        let (pitch_sin, pitch_cos) = self.pitch.clamp(-half_turn, half_turn).sin_cos();
        let forward = Vec3::new(-yaw_sin * pitch_cos, pitch_sin, -yaw_cos * pitch_cos);
        let right = Vec3::new(yaw_cos, 0.0, -yaw_sin);
        [right, right.cross(forward), forward]
    }

    /// The position as its voxel and the fraction within it, so that differences to voxels are
    /// exact.
    pub fn split_position(&self) -> ([i32; 3], Vec3) {
        let voxel = self.position.floor();
        (voxel.to_array().map(|c| c as i32), (self.position - voxel).as_vec3())
    }

    /// Matrix from positions relative to the camera to clip space. Depth is 1 at the near plane and
    /// 0 at the far plane (reversed, for even precision).
    pub fn clip_from_relative(&self, aspect: f32) -> Mat4 {
        let [right, up, forward] = self.basis();
        let view = Mat4::from_cols(
            glam::Vec4::new(right.x, up.x, -forward.x, 0.0),
            glam::Vec4::new(right.y, up.y, -forward.y, 0.0),
            glam::Vec4::new(right.z, up.z, -forward.z, 0.0),
            glam::Vec4::W,
        );
        let [near, far] = self.depth_range;
        let projection = match self.projection {
            // Near and far are swapped to reverse depth.
            Projection::Perspective { fov_y } => directx::perspective(fov_y, aspect, far, near),
            Projection::Orthographic { height_voxels } => {
                let top = height_voxels / 2.0;
                let right = top * aspect;
                directx::orthographic(-right, right, -top, top, far, near)
            }
        };
        projection * view
    }

    /// Half the width and height of the picture at distance 1. For an orthographic camera, those of
    /// the perspective that the sky is drawn with.
    pub fn half_extents(&self, aspect: f32) -> [f32; 2] {
        let tan_y = match self.projection {
            Projection::Perspective { fov_y } => (fov_y / 2.0).tan(),
            Projection::Orthographic { .. } => 0.5,
        };
        [tan_y * aspect, tan_y]
    }
}

/// Returns the camera position, relative to the middle of a box, from which all `corners` are
/// within the half extents `tangents`: as near as possible, and with their projection centred.
fn fit_perspective(
    corners: &[DVec3; 8],
    [right, up, forward]: [DVec3; 3],
    tangents: [f64; 2],
) -> DVec3 {
    // A corner at (x, z) is between the left and right side of a camera at (ex, ez) if |x − ex| ≤
    // t (z − ez): ex lies in an interval around x. All intervals have a point in common if each two
    // have one: x − X ≤ t ((z − ez) + (Z − ez)).
    let pairs = |axis: DVec3| {
        let points = corners.map(|c| [c.dot(axis), c.dot(forward)]);
        (0..64).map(move |pair| [points[pair / 8], points[pair % 8]])
    };
    let nearest = |axis: DVec3, tangent: f64| {
        pairs(axis)
            .map(|[[x, z], [to_x, to_z]]| (z + to_z - (x - to_x) / tangent) / 2.0)
            .fold(f64::INFINITY, f64::min)
    };
    // In front of the nearest corner, also if the box is flat or a point.
    let before = corners.map(|c| c.dot(forward) - 0.5).into_iter().fold(f64::INFINITY, f64::min);
    let back = nearest(right, tangents[0]).min(nearest(up, tangents[1])).min(before);
    // The projection is centred where the intervals of the smallest possible t meet.
    let middle = |axis: DVec3| {
        let meeting = pairs(axis).map(|[[x, z], [to_x, to_z]]| {
            let tangent = (x - to_x) / (z + to_z - 2.0 * back);
            (tangent, x - tangent * (z - back))
        });
        meeting.fold((f64::NEG_INFINITY, 0.0), |a, b| if b.0 > a.0 { b } else { a }).1
    };
    right * middle(right) + up * middle(up) + forward * back
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "serde")]
    #[test]
    fn views_survive_json() {
        use drystone_testing::{from_json, json_of};

        use crate::{Atmosphere, Cull, SlotPolicy};

        let orthographic = Projection::Orthographic { height_voxels: 0.1 };
        assert_eq!(json_of(&orthographic), r#"{"Orthographic":{"height_voxels":0.1}}"#);
        let position = DVec3::new(1e300, -0.1, f64::MIN_POSITIVE);
        json_of(&Camera { position, yaw: 0.3, projection: orthographic, ..Camera::default() });
        json_of(&Camera::default());
        json_of(&Atmosphere::default().with_hour(17.3).with_haze(1.0, 900.1, 0.7));
        assert_eq!([Cull::Cpu, Cull::Gpu].map(|it| json_of(&it)), [r#""Cpu""#, r#""Gpu""#]);
        let policies = SlotPolicy::ALL.map(|it| json_of(&it));
        assert_eq!(policies, [r#""Lowest""#, r#""LastLeaf""#, r#""Oldest""#]);
        assert_eq!(from_json("{}"), Ok(Camera::default()));
        assert_eq!(from_json("{}"), Ok(Atmosphere::default()));
        assert!(from_json::<Camera>(r#"{"position":[1,2]}"#).is_err());
    }

    #[test]
    fn basis_is_right_handed_and_points_at_the_target() {
        let camera = Camera::look_at(DVec3::new(10.0, 5.0, -3.0), DVec3::new(-4.0, 9.0, 20.0));
        let [right, up, forward] = camera.basis();
        assert!((right.cross(up) + forward).length() < 1e-6);
        let expected = DVec3::new(-14.0, 4.0, 23.0).normalize().as_vec3();
        assert!((forward - expected).length() < 1e-5);
    }

    /// Every corner is inside the margin, two opposite sides of the margin are touched, and the
    /// projection is centred. No camera that points there can be nearer.
    #[test]
    fn boxes_fill_the_picture_up_to_the_margin_from_every_side() {
        let mut state = 1_u32;
        let mut random = |low: f64, high: f64| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            low + (high - low) * f64::from(state >> 8) / f64::from(1 << 24)
        };
        let margin = 1.0 / Camera::FIT_MARGIN;
        for number in 0..3_000 {
            let min = DVec3::from([(); 3].map(|()| random(-500.0, 500.0)));
            // From 4 to 2,048 voxels long, evenly by magnitude.
            let max = min + DVec3::from([(); 3].map(|()| random(2.0, 11.0).exp2()));
            let direction = match number % 10 {
                axis @ 0..3 => DVec3::AXES[axis],
                axis @ 3..6 => -DVec3::AXES[axis - 3],
                _ => DVec3::from([(); 3].map(|()| random(-1.0, 1.0))).normalize(),
            };
            let aspect = random(-1.3, 1.3).exp2() as f32;
            let projection = match number % 3 {
                0 => Projection::Orthographic { height_voxels: 1.0 },
                _ => Projection::Perspective { fov_y: random(0.3, 1.0) as f32 },
            };
            let camera = Camera::fit_from(direction, min, max, projection, aspect);
            let what = format!("{min} {max} {direction} {aspect} {projection:?}");
            let (low, high) = projected(&camera, (min, max), aspect);
            let reach = high.abs().max(low.abs());
            assert!(reach.max_element() <= margin + 2e-4, "{what}: {low} to {high}");
            assert!(reach.max_element() >= margin - 2e-4, "{what}: {low} to {high}");
            assert!((low + high).abs().max_element() < 4e-4, "{what}: {low} to {high}");
        }
    }

    /// Returns the lowest and highest coordinates of a box in a picture, from −1 to 1. Checks that
    /// nothing is clipped.
    fn projected(
        camera: &Camera,
        (min, max): (DVec3, DVec3),
        aspect: f32,
    ) -> (glam::Vec2, glam::Vec2) {
        let matrix = camera.clip_from_relative(aspect);
        let (mut low, mut high) = (glam::Vec2::INFINITY, glam::Vec2::NEG_INFINITY);
        for bits in 0..8 {
            let pick = |bit: usize| if bits >> bit & 1 == 0 { min } else { max };
            let corner = DVec3::new(pick(0).x, pick(1).y, pick(2).z);
            let clip = matrix * (corner - camera.position).as_vec3().extend(1.0);
            let at = clip.truncate() / clip.w;
            assert!((0.0..=1.0).contains(&at.z), "{at}");
            (low, high) = (low.min(at.truncate()), high.max(at.truncate()));
        }
        (low, high)
    }

    #[test]
    fn depth_is_reversed() {
        let camera = Camera { depth_range: [2.0, 50.0], ..Camera::default() };
        let matrix = camera.clip_from_relative(1.0);
        for (distance, depth) in [(2.0, 1.0), (50.0, 0.0)] {
            let clip = matrix * glam::Vec4::new(0.0, 0.0, -distance, 1.0);
            assert!((clip.z / clip.w - depth).abs() < 1e-5);
        }
    }
}
