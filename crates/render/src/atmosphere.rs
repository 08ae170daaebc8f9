use glam::Vec3;

mod daytime;
mod scattering;

/// Sky, sun and haze of a picture. Colours are as shown on screen (sRGB), 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
pub struct Atmosphere {
    /// Sky straight up.
    pub zenith: Vec3,
    /// Sky at the horizon, and the colour of haze.
    pub horizon: Vec3,
    /// Colour that is added to the sky at the horizon where the sun is. It fades within some 45 degrees to
    /// both sides, and 30 degrees up.
    pub glow: Vec3,
    /// Background below the horizon.
    pub ground: Vec3,
    /// Direction towards the sun, of any length above 0.
    pub sun_direction: Vec3,
    /// Colour of the sun's disc and of its light.
    pub sun: Vec3,
    /// Light on upward faces that the sun does not reach.
    pub ambient: Vec3,
    /// Light lost at a corner of a quad for each of the three levels of its [ambient
    /// occlusion](drystone_mesh::Quad::ambient_occlusion), 0 to 1/3; see
    /// [`OCCLUSION`](Self::OCCLUSION). The default, 0, draws quads faster.
    pub ambient_occlusion: f32,
    /// Distance at which haze begins, in voxels.
    pub haze_start: f32,
    /// Distance at which haze is thickest, in voxels. There is no haze if it is not above
    /// `haze_start`.
    pub haze_end: f32,
    /// Part of the colour that haze hides at `haze_end` and beyond, 0 to 1.
    pub haze_density: f32,
}

impl Default for Atmosphere {
    /// A clear afternoon without haze.
    fn default() -> Self {
        Self {
            zenith: Vec3::new(0.22, 0.45, 0.80),
            horizon: Vec3::new(0.80, 0.87, 0.92),
            glow: Vec3::ZERO,
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
    /// A natural value for ambient occlusion: a corner between two walls keeps half its light.
    pub const OCCLUSION: f32 = 0.16;

    /// Returns this atmosphere with haze from `start` to `end` voxels.
    #[must_use]
    pub fn with_haze(self, start: f32, end: f32, density: f32) -> Self {
        Self { haze_start: start, haze_end: end, haze_density: density.clamp(0.0, 1.0), ..self }
    }

    /// Returns this atmosphere with the sky and light of an hour of the day, modulo 24. The sun
    /// rises in the east (+X) at 6, stands in the south (+Z) at 12 and sets in the west at 18. At
    /// night the moon shines from the opposite side. An hour that is not finite is noon. The colours are
    /// those that the Earth's atmosphere scatters (Nishita 1993, Hillaire 2020), at an exposure that
    /// shows nights too.
    ///
    /// # Cost
    /// About a millisecond.
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
        let light = daytime::light_at(hour);
        Self {
            zenith: light.zenith,
            horizon: light.horizon,
            glow: light.glow,
            ground: light.ground,
            sun: light.sun,
            ambient: light.ambient,
            sun_direction: light.sun_direction,
            ..self
        }
    }

    /// Light on a face with this outward normal, to be multiplied with the material's colour.
    pub fn light(&self, normal: Vec3) -> Vec3 {
        let sun = normal.dot(self.sun_direction.normalize_or(Vec3::Y)).max(0.0);
        // Upward faces receive the whole sky, downward ones the light that the ground reflects.
        let open_sky = 0.74 + 0.26 * normal.y;
        self.ambient * open_sky + self.sun * (0.62 * sun)
    }
}
