use std::collections::VecDeque;

use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material};
use fastnoise_lite::{FastNoiseLite, FractalType};
use rayon::prelude::*;

use crate::generate::grid::noise_coordinate;
use crate::generate::hash::noise;

/// Bands of colour, from low to high.
pub(super) const MATERIALS: [(&str, [u8; 4]); 4] = [
    ("slate", [92, 96, 122, 255]),
    ("clay", [150, 98, 82, 255]),
    ("sand", [206, 172, 118, 255]),
    ("chalk", [226, 220, 204, 255]),
];

/// Period of the noise, in voxels.
const WIDTH: f32 = 96.0;
/// Octaves of the noise: 8 as in the article, each with 0.6 times the amplitude of the one before.
const OCTAVES: i32 = 8;
const GAIN: f32 = 0.6;
/// Voxels are solid where the noise is above this value: about a quarter of them.
const THRESHOLD: f32 = 0.2;

/// Coherent noise that travels along X. The planes of the field are kept, so that a frame samples only
/// the plane that enters.
pub(super) struct TravellingNoise {
    noise: FastNoiseLite,
    /// Voxels along Y and Z.
    size: [usize; 2],
    /// Solid voxels for each X. Y changes fastest, then Z.
    planes: VecDeque<Vec<bool>>,
    /// Position of the next plane.
    next: i64,
}

impl TravellingNoise {
    pub(super) fn new(seed: u64, size: [u32; 3]) -> Self {
        let mut noise = noise(seed, 40, WIDTH);
        noise.set_fractal_type(Some(FractalType::FBm));
        noise.set_fractal_octaves(Some(OCTAVES));
        noise.set_fractal_gain(Some(GAIN));
        let [x, y, z] = size.map(|side| (side * Chunk::SIDE) as usize);
        let mut field = Self { noise, size: [y, z], planes: VecDeque::new(), next: x as i64 };
        let planes: Vec<_> = (0..field.next).into_par_iter().map(|x| field.plane(x)).collect();
        field.planes = planes.into();
        field
    }

    /// Moves the field by one voxel.
    pub(super) fn next_frame(&mut self) {
        let entering = self.plane(self.next);
        self.planes.pop_front();
        self.planes.push_back(entering);
        self.next += 1;
    }

    /// Returns the chunk at a position inside.
    pub(super) fn chunk(&self, position: ChunkPos) -> Chunk {
        let origin = position.origin(Chunk::SIDE).to_array().map(|c| c as usize);
        let band = self.size[0].div_ceil(MATERIALS.len()).max(1);
        Chunk::from_fn(Chunk::SIDE, |LocalPos { x, y, z }| {
            let [x, y, z] = [(0, x), (1, y), (2, z)].map(|(axis, c)| origin[axis] + usize::from(c));
            let is_solid = self.planes[x][y + self.size[0] * z];
            if is_solid { Material(1 + (y / band) as u16) } else { Material::AIR }
        })
    }

    fn plane(&self, x: i64) -> Vec<bool> {
        let [height, depth] = self.size;
        let x = noise_coordinate(x);
        let is_solid =
            |[y, z]: [usize; 2]| self.noise.get_noise_3d(x, y as f32, z as f32) > THRESHOLD;
        (0..height * depth).map(|at| is_solid([at % height, at / height])).collect()
    }
}
