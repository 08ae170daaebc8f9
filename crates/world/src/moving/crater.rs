use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material};

/// Materials by height and slope, from low to high.
pub(super) const MATERIALS: [(&str, [u8; 4]); 6] = [
    ("water", [38, 92, 140, 255]),
    ("beach", [214, 200, 150, 255]),
    ("grass", [96, 140, 70, 255]),
    ("heath", [122, 132, 92, 255]),
    ("rock", [118, 108, 98, 255]),
    ("snow", [236, 240, 244, 255]),
];

/// Radius of the crater's bowl, in cells.
const RADIUS: f32 = 18.0;
/// Depth of the bowl below the original ground, in voxels.
const DEPTH: f32 = 26.0;
/// Height of the sea's ground, in voxels: high enough for the crater's rim to rise above it.
const SHALLOW: f32 = -2.0;
/// Number of earlier craters that have not filled up yet.
const TRAIL: u32 = 8;
/// Frames between them.
const TRAIL_FRAMES: u32 = 12;

/// A square of tiles on an island in the sea, over which a crater wanders. The ground closes behind it.
/// The level of the sea is 0.
pub struct CraterLand {
    tiles: usize,
    /// Ground without craters, also below the sea; row by row, by Z.
    ground: Vec<f32>,
    heights: Vec<f32>,
}

impl CraterLand {
    /// Cells per side of a tile.
    pub const TILE: usize = Chunk::SIDE as usize;
    /// Frames per turn of the crater.
    pub const TURN_FRAMES: u32 = 500;

    /// Creates an island of `tiles` × `tiles` tiles in frame 0.
    pub fn new(tiles: usize) -> Self {
        let side = tiles * Self::TILE + 1;
        let ground = (0..side * side).map(|at| ground([at % side, at / side], side));
        let ground: Vec<f32> = ground.collect();
        let mut land = Self { tiles, heights: vec![0.0; ground.len()], ground };
        land.set_frame(0);
        land
    }

    /// Returns the tiles per side.
    pub fn tiles(&self) -> usize {
        self.tiles
    }

    /// Returns the samples per side.
    fn side(&self) -> usize {
        self.tiles * Self::TILE + 1
    }

    /// Returns the height of a sample, in voxels above the sea; beyond the edge, that of the
    /// nearest sample.
    pub fn height(&self, [x, z]: [i32; 2]) -> f32 {
        let last = self.side() as i32 - 1;
        self.heights[(z.clamp(0, last) * self.side() as i32 + x.clamp(0, last)) as usize]
    }

    /// Sets the heights of a frame. Returns for each tile, row by row, whether its mesh changes. A
    /// mesh depends on its own samples and, for normals, on those one sample around.
    ///
    /// # Cost
    /// O(samples).
    pub fn set_frame(&mut self, frame: u32) -> Vec<bool> {
        let craters = self.craters(frame);
        let mut changed = vec![false; self.tiles * self.tiles];
        let side = self.side();
        for (at, (height, &ground)) in self.heights.iter_mut().zip(&self.ground).enumerate() {
            let [x, z] = [at % side, at / side];
            let dug = craters.iter().map(|crater| crater.change([x as f32, z as f32]));
            // The deepest bowl at this sample; without one, the highest rim.
            let dug = dug.fold(0.0_f32, |a, b| if a.min(b) < 0.0 { a.min(b) } else { a.max(b) });
            let new = (ground + dug).max(0.0);
            if new.to_bits() != height.to_bits() {
                *height = new;
                let last = self.tiles - 1;
                for tile_z in z.saturating_sub(2) / Self::TILE..=last.min((z + 1) / Self::TILE) {
                    for tile_x in x.saturating_sub(2) / Self::TILE..=last.min((x + 1) / Self::TILE)
                    {
                        changed[tile_z * self.tiles + tile_x] = true;
                    }
                }
            }
        }
        changed
    }

    fn craters(&self, frame: u32) -> Vec<Crater> {
        let side = self.side() as f32;
        let crater = |age: u32| {
            let then = (frame % Self::TURN_FRAMES + Self::TURN_FRAMES - age * TRAIL_FRAMES)
                % Self::TURN_FRAMES;
            let turn = then as f32 / Self::TURN_FRAMES as f32 * std::f32::consts::TAU;
            let middle = [turn.cos(), turn.sin()].map(|part| side * (0.5 + 0.26 * part));
            Crater { middle, fresh: 1.0 - age as f32 / TRAIL as f32 }
        };
        (0..TRAIL).map(crater).collect()
    }
}

/// The land as chunks of voxels, one tile a stack.
pub(super) struct CraterVoxels {
    land: CraterLand,
    frame: u32,
}

impl CraterVoxels {
    pub(super) fn new(tiles: u32) -> Self {
        Self { land: CraterLand::new(tiles as usize), frame: 0 }
    }

    /// Moves the crater, and returns the changed chunks of this number of layers.
    pub(super) fn next_frame(&mut self, layers: i32) -> Vec<ChunkPos> {
        self.frame = (self.frame + 1) % CraterLand::TURN_FRAMES;
        let (changed, tiles) = (self.land.set_frame(self.frame), self.land.tiles);
        let stack = |at: usize| {
            let [x, z] = [at % tiles, at / tiles].map(|c| c as i32);
            (0..layers).map(move |y| ChunkPos::new(x, y, z))
        };
        (0..changed.len()).filter(|&at| changed[at]).flat_map(stack).collect()
    }

    /// Returns the chunk at a position inside.
    pub(super) fn chunk(&self, position: ChunkPos) -> Chunk {
        let origin = position.origin(Chunk::SIDE);
        let column = |at: u32| {
            let [x, z] = [at % Chunk::SIDE, at / Chunk::SIDE].map(|c| c as i32);
            self.column([origin.x + x, origin.z + z])
        };
        let columns: Vec<_> = (0..Chunk::SIDE * Chunk::SIDE).map(column).collect();
        Chunk::from_fn(Chunk::SIDE, |LocalPos { x, y, z }| {
            let (top, material) = columns[usize::from(x) + usize::from(z) * CraterLand::TILE];
            if origin.y + i32::from(y) <= top { material } else { Material::AIR }
        })
    }

    /// Returns the highest voxel of a column, and its material.
    fn column(&self, [x, z]: [i32; 2]) -> (i32, Material) {
        let height = |dx, dz| self.land.height([x + dx, z + dz]);
        let rise = [height(1, 0) - height(-1, 0), height(0, 1) - height(0, -1)];
        let is_steep = rise.iter().map(|rise| rise * rise).sum::<f32>() > 6.0;
        let number = match height(0, 0) {
            0.0 => 1,
            _ if is_steep => 5,
            ..1.5 => 2,
            ..20.0 => 3,
            ..38.0 => 4,
            _ => 6,
        };
        (height(0, 0).round() as i32, Material(number))
    }
}

/// A bowl with a rim.
struct Crater {
    middle: [f32; 2],
    /// 1 for a new crater, 0 for one that is filled up.
    fresh: f32,
}

impl Crater {
    /// Returns the change of the ground's height, in voxels.
    fn change(&self, [x, z]: [f32; 2]) -> f32 {
        let [x, z] = [x - self.middle[0], z - self.middle[1]];
        let square = (x * x + z * z) / (RADIUS * RADIUS);
        // Rejects most of the samples quickly.
        if square >= 4.0 {
            return 0.0;
        }
        let away = square.sqrt();
        let depth = DEPTH * self.fresh;
        match away {
            ..1.0 => -depth * (1.0 - away * away),
            _ => 0.2 * depth * (1.0 - (2.0 * away - 3.0).powi(2)) * (2.0 - away),
        }
    }
}

/// Returns the height of the island: hills that sink towards the edge.
fn ground([x, z]: [usize; 2], side: usize) -> f32 {
    let position = [x, z].map(|at| at as f32 / (side - 1) as f32);
    let [from_x, from_z] = position.map(|at| (2.0 * at - 1.0).powi(4));
    let (mut sum, mut weight, mut cells) = (0.0, 0.7, 3.0);
    for octave in 0..5 {
        sum += weight * noise(position.map(|at| at * cells), octave);
        (weight, cells) = (weight * 0.36, cells * 2.0);
    }
    let height = side as f32 * (0.66 * sum - 0.21 - 0.3 * (from_x + from_z));
    height.max(SHALLOW)
}

/// Value noise: values from 0 to 1 at integer positions, joined smoothly.
fn noise(position: [f32; 2], seed: u32) -> f32 {
    let [x, z] = position.map(|at| at as u32);
    let [u, v] = position.map(|at| at.fract() * at.fract() * (3.0 - 2.0 * at.fract()));
    let row = |z| hash([x, z, seed]) * (1.0 - u) + hash([x + 1, z, seed]) * u;
    row(z) * (1.0 - v) + row(z + 1) * v
}

fn hash(of: [u32; 3]) -> f32 {
    let mixed = of.into_iter().fold(0x9e37_79b9_u32, |hash, n| {
        let hash = (hash ^ n).wrapping_mul(0x85eb_ca6b);
        (hash ^ hash >> 15).wrapping_mul(0xc2b2_ae35)
    });
    (mixed >> 8) as f32 / (1 << 24) as f32
}
