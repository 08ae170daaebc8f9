//! Which instance touches which chunk.

use drystone_voxel::{Chunk, ChunkPos};

use super::fault::{Fault, SPLIT};
use super::model::{Brick, Model};
use super::transform::Transform;
use crate::World;

/// The farthest coordinate of a voxel: whole numbers to here are exact in `f32`.
const MAX_COORDINATE: i64 = 1 << 24;
/// The most voxels, counted as often as their model is shown: as many as the largest file
/// can hold without repeating any.
const MAX_PLACED_VOXELS: u64 = 1 << 27;
/// The most pairs of a brick of an instance and a chunk that it touches.
const MAX_PAIRS: usize = 1 << 22;

/// A model at a place.
pub(super) struct Instance {
    pub(super) model: usize,
    /// From the model's cells to the world's.
    pub(super) transform: Transform,
}

/// A brick of an instance, and a chunk that it touches. Sorted by chunk, then in the
/// scene's order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    chunk: ChunkPos,
    instance: u32,
    brick: u32,
}

/// All instances that are shown, and for each chunk what touches it.
pub(super) struct Placements {
    instances: Vec<Instance>,
    pairs: Vec<Pair>,
}

/// The instances of a file without a scene: the models in a row along X.
pub(super) fn side_by_side(models: &[dot_vox::Model]) -> Vec<Instance> {
    let mut x = 0;
    let mut place = |(index, model): (usize, &dot_vox::Model)| {
        // MagicaVoxel's Y runs against our Z, so the model lies at −size to 0 on it.
        let shift = Transform::shift([x, -i64::from(model.size.y), 0]);
        x += i64::from(model.size.x) + 1;
        Instance { model: index, transform: shift.then(Transform::TO_Y_UP) }
    };
    models.iter().enumerate().map(&mut place).collect()
}

impl Placements {
    pub(super) fn new(instances: Vec<Instance>, models: &[Model]) -> Result<Self, Fault> {
        let placed: u64 = instances.iter().map(|i| models[i.model].voxel_count()).sum();
        if placed > MAX_PLACED_VOXELS {
            return Err(Fault::too_much("placed voxels", placed, MAX_PLACED_VOXELS));
        }
        let mut pairs = Vec::new();
        for (index, instance) in instances.iter().enumerate() {
            for (number, brick) in models[instance.model].bricks().iter().enumerate() {
                let (low, high) = chunk_range(instance, brick)?;
                each_between(low, high, |chunk| {
                    pairs.push(Pair { chunk, instance: index as u32, brick: number as u32 });
                });
            }
            if pairs.len() > MAX_PAIRS {
                let found = pairs.len() as u64;
                return Err(Fault::too_much("chunks touched by models", found, MAX_PAIRS as u64));
            }
        }
        pairs.sort_unstable();
        let placements = Self { instances, pairs };
        let chunks = placements.chunk_positions().len();
        if chunks > World::MAX_CHUNKS {
            return Err(Fault::too_much("chunks", chunks as u64, World::MAX_CHUNKS as u64));
        }
        Ok(placements)
    }

    pub(super) fn chunk_positions(&self) -> Vec<ChunkPos> {
        let mut positions: Vec<ChunkPos> = self.pairs.iter().map(|pair| pair.chunk).collect();
        positions.dedup();
        positions
    }

    /// What touches the chunk at `position`, in the scene's order: instances, and which
    /// brick of their model.
    pub(super) fn touching(&self, position: ChunkPos) -> impl Iterator<Item = (&Instance, usize)> {
        let first = self.pairs.partition_point(|pair| pair.chunk < position);
        let here = self.pairs[first..].iter().take_while(move |pair| pair.chunk == position);
        here.map(|pair| (&self.instances[pair.instance as usize], pair.brick as usize))
    }

    /// The colours of every model that is shown.
    pub(super) fn used_colors(&self, models: &[Model]) -> [bool; 256] {
        let mut shown = vec![false; models.len()];
        for instance in &self.instances {
            shown[instance.model] = true;
        }
        let shown = models.iter().zip(shown).filter(|(_, shown)| *shown);
        shown.fold([false; 256], |mut all, (model, _)| {
            for (all, &used) in all.iter_mut().zip(model.used()) {
                *all |= used;
            }
            all
        })
    }
}

/// The lowest and the highest chunk that a brick of an instance reaches into.
fn chunk_range(instance: &Instance, brick: &Brick) -> Result<([i32; 3], [i32; 3]), Fault> {
    let (low, high) = instance.transform.cell_range(brick.low, brick.high);
    if low.iter().any(|&c| c < -MAX_COORDINATE) || high.iter().any(|&c| c >= MAX_COORDINATE) {
        let problem = format!("a model at {low:?}, farther than {MAX_COORDINATE} from the middle");
        return Err(Fault::new("scene".into(), problem, SPLIT));
    }
    let chunk = |c: i64| c.div_euclid(i64::from(Chunk::SIDE)) as i32;
    Ok((low.map(chunk), high.map(chunk)))
}

fn each_between(low: [i32; 3], high: [i32; 3], mut visit: impl FnMut(ChunkPos)) {
    for x in low[0]..=high[0] {
        for y in low[1]..=high[1] {
            for z in low[2]..=high[2] {
                visit(ChunkPos::new(x, y, z));
            }
        }
    }
}
