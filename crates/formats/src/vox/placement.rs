//! Assigns instances to the chunks that they touch.

use drystone_voxel::{Chunk, ChunkPos};

use super::model::{Brick, Model};
use super::transform::Transform;
use crate::fault::{Fault, SPLIT};
use crate::source::MAX_LOADED_CHUNKS;

/// Largest coordinate of a voxel. Integers up to here are exact in `f32`.
const MAX_COORDINATE: i64 = 1 << 24;
/// Maximum number of voxels of all instances. The largest file cannot hold more without repeating
/// models.
const MAX_PLACED_VOXELS: u64 = 1 << 27;
/// Maximum number of pairs of an instance's brick and a chunk that it touches.
const MAX_PAIRS: usize = 1 << 22;

/// An instance of a model.
pub(super) struct Instance {
    pub(super) model: usize,
    /// Transform from cells of the model to cells of the world.
    pub(super) transform: Transform,
}

/// A brick of an instance, and a chunk that it touches. Sorts by chunk, then in scene order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    chunk: ChunkPos,
    instance: u32,
    brick: u32,
}

/// All visible instances, and for each chunk what touches it.
pub(super) struct Placements {
    instances: Vec<Instance>,
    pairs: Vec<Pair>,
}

/// Instances of a file without a scene: the models in a row along X.
pub(super) fn side_by_side(models: &[dot_vox::Model]) -> Vec<Instance> {
    let mut x = 0;
    let mut instance = |(index, model): (usize, &dot_vox::Model)| {
        // MagicaVoxel's Y is −Z here, so the model covers −size to 0.
        let shift = Transform::shift([x, -i64::from(model.size.y), 0]);
        x += i64::from(model.size.x) + 1;
        Instance { model: index, transform: shift.then(Transform::TO_Y_UP) }
    };
    models.iter().enumerate().map(&mut instance).collect()
}

/// The instance of one model of a file without a scene: its lowest corner is at the origin.
pub(super) fn alone(index: usize, models: &[dot_vox::Model]) -> Vec<Instance> {
    let model = models.get(index).map(std::slice::from_ref).unwrap_or_default();
    let mut instances = side_by_side(model);
    instances.iter_mut().for_each(|instance| instance.model = index);
    instances
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
        if chunks > MAX_LOADED_CHUNKS {
            return Err(Fault::too_much("chunks", chunks as u64, MAX_LOADED_CHUNKS as u64));
        }
        Ok(placements)
    }

    pub(super) fn chunk_positions(&self) -> Vec<ChunkPos> {
        let mut positions: Vec<ChunkPos> = self.pairs.iter().map(|pair| pair.chunk).collect();
        positions.dedup();
        positions
    }

    /// Instances that touch the chunk at `position`, in scene order, each with the index of the
    /// brick.
    pub(super) fn touching(&self, position: ChunkPos) -> impl Iterator<Item = (&Instance, usize)> {
        let first = self.pairs.partition_point(|pair| pair.chunk < position);
        let here = self.pairs[first..].iter().take_while(move |pair| pair.chunk == position);
        here.map(|pair| (&self.instances[pair.instance as usize], pair.brick as usize))
    }

    /// Colours of all visible models.
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

/// Lowest and highest chunk that a brick of an instance touches.
fn chunk_range(instance: &Instance, brick: &Brick) -> Result<([i32; 3], [i32; 3]), Fault> {
    let (low, high) = instance.transform.cell_range(brick.low, brick.high);
    if low.iter().any(|&c| c < -MAX_COORDINATE) || high.iter().any(|&c| c >= MAX_COORDINATE) {
        let problem =
            format!("a model at {low:?}, more than {MAX_COORDINATE} voxels from the origin");
        return Err(Fault::new("scene", problem, SPLIT));
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
