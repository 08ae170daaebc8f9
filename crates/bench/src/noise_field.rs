//! The article's coherent noise: a realistic case, while random voxels are the worst case.

use drystone_voxel::{Material, VoxelPos};
use fastnoise_lite::{FastNoiseLite, FractalType, NoiseType};

const SEED: i32 = 1;
const OCTAVES: i32 = 8;
const LACUNARITY: f32 = 2.0;
const GAIN: f32 = 0.6;

/// Voxels of one material, solid where OpenSimplex2 noise is above a threshold. The period of the
/// noise is `voxels`.
pub(crate) struct NoiseField {
    noise: FastNoiseLite,
    voxels: f32,
    threshold: f32,
}

impl NoiseField {
    /// Creates a field that is half solid.
    pub(crate) fn new(voxels: u32) -> Self {
        Self::above(0.0, voxels)
    }

    /// Creates a field that is solid where the noise, from -1 to 1, is above a threshold.
    pub(crate) fn above(threshold: f32, voxels: u32) -> Self {
        let mut noise = FastNoiseLite::with_seed(SEED);
        noise.set_noise_type(Some(NoiseType::OpenSimplex2));
        noise.set_fractal_type(Some(FractalType::FBm));
        noise.set_fractal_octaves(Some(OCTAVES));
        noise.set_fractal_lacunarity(Some(LACUNARITY));
        noise.set_fractal_gain(Some(GAIN));
        noise.set_frequency(Some(1.0));
        Self { noise, voxels: voxels as f32, threshold }
    }

    /// Returns air or the first material.
    pub(crate) fn material(&self, VoxelPos { x, y, z }: VoxelPos) -> Material {
        let [x, y, z] = [x, y, z].map(|coordinate| coordinate as f32 / self.voxels);
        Material(u16::from(self.noise.get_noise_3d(x, y, z) > self.threshold))
    }
}
