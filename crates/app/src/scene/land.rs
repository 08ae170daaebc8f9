//! The surface of a solid block of land.

use drystone_voxel::{Chunk, ChunkBox, ChunkPos, LocalPos, NodePos};

/// Most chunks along each horizontal axis whose columns are sampled. More would take longer to read:
/// at levels of detail, chunks are read only for this.
const CHUNKS_ALONG: i32 = 5;
/// Highest block whose columns are sampled, in chunks.
const MAX_HEIGHT_CHUNKS: i64 = 64;
/// Widest world whose columns are sampled at full detail, and of any level that is used, in chunks.
const MAX_WIDTH_CHUNKS: u64 = 64;
/// Distance from the bottom of a block at which its columns begin at most, in voxels.
const NEAR_BOTTOM: i32 = 8;
/// Part of the columns whose top is below the floor. They are gorges and wells.
const BELOW_FLOOR: f64 = 0.05;

/// The chunks from which the height of a land is sampled: some columns of it, at full detail or, in a wide
/// world that has them, of larger voxels.
pub(crate) struct LandChunks {
    level: u8,
    /// All chunks of the level.
    bounds: ChunkBox,
}

impl LandChunks {
    /// Chooses the level of a world of `extent`, at most `max_level`: levels that its source does not have would
    /// have to be made.
    pub(crate) fn new(extent: ChunkBox, max_level: u8) -> Self {
        let [width, _, depth] = extent.size_chunks();
        let is_enough = |level: &u8| width.max(depth) >> level <= MAX_WIDTH_CHUNKS;
        let level = (0..max_level).find(is_enough).unwrap_or(max_level);
        Self { level, bounds: extent.at_level(level) }
    }

    /// Returns the chunks, column by column, from the top down. None of a block that is too high.
    ///
    /// # Cost
    /// At most 25 columns of at most 64 chunks.
    pub(crate) fn nodes(&self) -> Vec<NodePos> {
        let ChunkBox { min, max } = self.bounds;
        if i64::from(max.y) - i64::from(min.y) >= MAX_HEIGHT_CHUNKS {
            return Vec::new();
        }
        let columns = spread(min.x, max.x).flat_map(|x| spread(min.z, max.z).map(move |z| [x, z]));
        let heights = move || (min.y..=max.y).rev();
        let node = |x, y, z| NodePos { level: self.level, chunk: ChunkPos::new(x, y, z) };
        columns.flat_map(|[x, z]| heights().map(move |y| node(x, y, z))).collect()
    }

    /// Returns the height, in voxels, at which the surface of a solid block of land begins: a low
    /// percentile of the heights of its columns, from samples. `None` if the chunks are no solid block:
    /// three in four columns have to begin near its bottom, and to be mostly solid. `side` is that of the
    /// chunks that `chunk` returns.
    ///
    /// # Cost
    /// Reads all [`nodes`](Self::nodes).
    pub(crate) fn floor(&self, side: u32, chunk: impl Fn(NodePos) -> Option<Chunk>) -> Option<f64> {
        let is_same = |a: &NodePos, b: &NodePos| [a.chunk.x, a.chunk.z] == [b.chunk.x, b.chunk.z];
        let mut columns = Vec::new();
        for of_column in self.nodes().chunk_by(is_same) {
            let mut sampled = SAMPLES.map(|_| Column::default());
            for &node in of_column {
                let Some(chunk) = chunk(node).filter(|it| !it.is_empty()) else { continue };
                let y = node.chunk.y * side as i32;
                for (column, at) in sampled.iter_mut().zip(SAMPLES) {
                    column.add(&chunk, at.map(|quarters| side * quarters / 4), y);
                }
            }
            columns.extend(sampled.into_iter().filter(|column| column.count > 0));
        }
        let bottom = columns.iter().map(|column| column.bottom).min()?;
        let near = (NEAR_BOTTOM >> self.level).max(1);
        let solid = columns.iter().filter(|column| column.is_solid(bottom + near)).count();
        if solid * 4 < columns.len() * 3 {
            return None;
        }
        let mut tops: Vec<i32> = columns.iter().map(|column| column.top).collect();
        tops.sort_unstable();
        let floor = tops.get((tops.len() as f64 * BELOW_FLOOR) as usize)?;
        Some(f64::from(*floor) * f64::from(1_u32 << self.level))
    }
}

/// Columns that are sampled in a chunk, in quarters of its side.
const SAMPLES: [[u32; 2]; 4] = [[1, 1], [3, 1], [1, 3], [3, 3]];

/// Returns at most [`CHUNKS_ALONG`] positions from `min` to `max`, evenly spread, with both ends.
fn spread(min: i32, max: i32) -> impl Iterator<Item = i32> {
    let span = i64::from(max) - i64::from(min);
    let steps = span.min(i64::from(CHUNKS_ALONG) - 1);
    (0..=steps).map(move |step| (i64::from(min) + span * step / steps.max(1)) as i32)
}

/// Voxels of a column that are not air.
#[derive(Default)]
struct Column {
    /// Height of the top of the highest voxel, and of the bottom of the lowest.
    top: i32,
    bottom: i32,
    count: i32,
}

impl Column {
    /// Adds the voxels of the chunk below those added before. `y` is the height of its bottom.
    fn add(&mut self, chunk: &Chunk, [x, z]: [u32; 2], y: i32) {
        for local in (0..chunk.side()).rev() {
            let [at_x, at_y, at_z] = [x, local, z].map(|c| c as u8);
            if chunk.get(LocalPos::new(at_x, at_y, at_z)).is_air() {
                continue;
            }
            self.bottom = y + local as i32;
            if self.count == 0 {
                self.top = self.bottom + 1;
            }
            self.count += 1;
        }
    }

    /// Whether the column begins at or below a height and has at most some caves.
    fn is_solid(&self, highest_bottom: i32) -> bool {
        self.bottom <= highest_bottom && 2 * self.count > self.top - self.bottom
    }
}

#[cfg(test)]
mod tests {
    use drystone_formats::Source;
    use drystone_voxel::{Material, MaterialTable, VoxelPos};
    use drystone_world::{GeneratedWorld, GeneratorConfig, LodData, World};

    use super::*;

    fn floor(world: &World) -> Option<f64> {
        let extent = ChunkBox::around(world.positions())?;
        LandChunks::new(extent, 0).floor(world.side(), |node| world.chunk(node.chunk).cloned())
    }

    /// Returns a world whose columns are solid from `range`.
    fn world(width: i32, range: impl Fn(i32, i32) -> std::ops::Range<i32>) -> World {
        let mut world = World::new("columns", MaterialTable::new());
        for (x, z) in (0..width).flat_map(|x| (0..width).map(move |z| (x, z))) {
            for y in range(x, z) {
                world.set(VoxelPos::new(x, y, z), Material(1));
            }
        }
        world
    }

    fn height(x: i32, z: i32) -> i32 {
        60 + (x * 37 + z * 91) % 40
    }

    /// The floor from samples is near that of all columns.
    #[test]
    fn the_floor_is_a_low_percentile_of_all_heights() {
        let land = world(90, |x, z| -20..height(x, z));
        let mut tops: Vec<i32> = (0..90).flat_map(|x| (0..90).map(move |z| height(x, z))).collect();
        tops.sort_unstable();
        let floor = floor(&land).unwrap() as i32;
        let [low, high] = [0.01, 0.2].map(|part| tops[(tops.len() as f64 * part) as usize]);
        assert!((low..=high).contains(&floor), "{low} to {high}: {floor}");
    }

    /// A wide world that has levels is sampled at one of at most 64 chunks in width, to nearly the same floor.
    #[test]
    fn wide_worlds_are_sampled_at_a_level() {
        let config = GeneratorConfig::default().with_size_chunks([200, 4, 130]);
        let source = GeneratedWorld::new(config).unwrap();
        let extent = source.extent().unwrap();
        let [fine, coarse] = [0, 7].map(|max_level| LandChunks::new(extent, max_level));
        assert_eq!([fine.level, coarse.level], [0, 2]);
        assert_eq!(LandChunks::new(extent, 1).level, 1);
        assert_eq!([fine.nodes().len(), coarse.nodes().len()], [100, 25]);
        let data = LodData::new(Box::new(source), 64 << 20);
        let floors = [fine, coarse].map(|it| it.floor(32, |node| Some(data.chunk(node))).unwrap());
        assert!((floors[0] - floors[1]).abs() <= 12.0, "{floors:?}");
    }

    #[test]
    fn caves_do_not_hide_the_floor_of_a_block() {
        let mut land = world(80, |x, z| 0..height(x, z));
        let plain = floor(&land);
        for (x, z) in (0..80).flat_map(|x| (0..80).map(move |z| (x, z))) {
            for y in (1..58).filter(|y| (x / 5 + y / 4 + z / 6) % 4 == 0) {
                land.set(VoxelPos::new(x, y, z), Material::AIR);
            }
        }
        assert!(plain.is_some());
        assert_eq!(floor(&land), plain);
    }

    /// Objects, floating islands and shells have no floor.
    #[test]
    fn only_solid_blocks_have_a_floor() {
        let from_middle = |x: i32, z: i32| (x - 50) * (x - 50) + (z - 50) * (z - 50);
        let ball = world(101, |x, z| {
            let half = f64::from(2_500 - from_middle(x, z)).max(0.0).sqrt() as i32;
            50 - half..50 + half
        });
        assert_eq!(floor(&ball), None);
        let mut shell = world(100, |x, z| height(x, z) - 2..height(x, z));
        for (x, z) in (0..100).flat_map(|x| (0..100).map(move |z| (x, z))) {
            shell.set(VoxelPos::new(x, 0, z), Material(1));
        }
        assert_eq!(floor(&shell), None, "hollow");
        assert_eq!(floor(&World::new("empty", MaterialTable::new())), None);
    }

    #[test]
    fn samples_reach_both_ends() {
        let all = |min, max| spread(min, max).collect::<Vec<_>>();
        assert_eq!(all(-3, -3), [-3]);
        assert_eq!(all(-1, 1), [-1, 0, 1]);
        assert_eq!(all(0, 100), [0, 25, 50, 75, 100]);
        assert_eq!(all(i32::MIN, i32::MAX).last(), Some(&i32::MAX));
    }
}
