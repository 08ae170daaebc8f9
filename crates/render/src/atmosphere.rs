use glam::Vec3;

mod daytime;

/// Sky, sun and haze of a picture. Colours are as shown on screen (sRGB), 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atmosphere {
    /// Sky straight up.
    pub zenith: Vec3,
    /// Sky at the horizon; haze fades towards it.
    pub horizon: Vec3,
    /// What lies below the horizon where nothing is drawn.
    pub ground: Vec3,
    /// Towards the sun; any length but zero.
    pub sun_direction: Vec3,
    /// Colour of the sun's disc and of what it lights.
    pub sun: Vec3,
    /// Light on faces that the sun does not reach, looking up.
    pub ambient: Vec3,
    /// The part of its light that a corner of a quad loses by each level of its
    /// [occlusion](drystone_mesh::Quad::ambient_occlusion), of which there are three: 0 to 1/3, see
    /// [`OCCLUSION`](Self::OCCLUSION). Where it is 0, the default, quads are drawn faster.
    pub ambient_occlusion: f32,
    /// Distance, in voxels, at which haze begins.
    pub haze_start: f32,
    /// Distance, in voxels, at which haze is thickest. Not beyond `haze_start`: no haze.
    pub haze_end: f32,
    /// How much of what lies at `haze_end` and beyond the haze hides, 0 to 1.
    pub haze_density: f32,
}

impl Default for Atmosphere {
    /// A clear afternoon without haze.
    fn default() -> Self {
        Self {
            zenith: Vec3::new(0.22, 0.45, 0.80),
            horizon: Vec3::new(0.80, 0.87, 0.92),
            ground: Vec3::new(0.64, 0.73, 0.80),
            sun_direction: Vec3::new(0.62, 0.70, 0.22),
            sun: Vec3::new(1.0, 0.93, 0.78),
            ambient: Vec3::new(0.52, 0.60, 0.72),
            ambient_occlusion: 0.0,
            haze_start: 0.0,
            haze_end: 0.0,
            haze_density: 0.0,
        }
    }
}

impl Atmosphere {
    /// How dark corners look right: two walls' angle keeps half its light.
    pub const OCCLUSION: f32 = 0.16;

    /// The same with haze from `start` to `end` voxels away.
    #[must_use]
    pub fn with_haze(self, start: f32, end: f32, density: f32) -> Self {
        Self { haze_start: start, haze_end: end, haze_density: density.clamp(0.0, 1.0), ..self }
    }

    /// The same with sky and light of this hour of the day, 0 to 24 and round again: the sun
    /// rises in the east (+X) at 6, stands in the south (+Z) at 12 and sets in the west at 18;
    /// by night the moon shines from the other side. An hour that is no number is noon.
    ///
    /// # Examples
    /// ```
    /// use drystone_render::Atmosphere;
    ///
    /// let [noon, evening] = [12.0, 17.5].map(|hour| Atmosphere::default().with_hour(hour));
    /// assert!(evening.sun_direction.y < noon.sun_direction.y);
    /// assert!(evening.sun.z < noon.sun.z, "the evening sun is red");
    /// ```
    #[must_use]
    pub fn with_hour(self, hour: f32) -> Self {
        let [zenith, horizon, ground, sun, ambient, sun_direction] = daytime::light_at(hour);
        Self { zenith, horizon, ground, sun, ambient, sun_direction, ..self }
    }

    /// The light that a face of this outward normal gets, to be multiplied with its
    /// material's colour.
    pub fn light(&self, normal: Vec3) -> Vec3 {
        let sun = normal.dot(self.sun_direction.normalize_or(Vec3::Y)).max(0.0);
        // Upward faces see the whole sky, downward ones what the ground throws back.
        let open_sky = 0.74 + 0.26 * normal.y;
        self.ambient * open_sky + self.sun * (0.62 * sun)
    }
}
