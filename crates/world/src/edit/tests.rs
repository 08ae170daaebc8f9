use std::collections::HashMap;

use drystone_formats::SourceError;
use drystone_mesh::Face;
use drystone_testing::Random;
use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable, VoxelBox, VoxelPos};

use super::*;
use crate::generate::{GeneratedWorld, GeneratorConfig};
use crate::lod::LodData;
use crate::shape::VoxelShape;
use crate::world::World;

fn voxel(random: &mut Random, side: u32) -> VoxelPos {
    let [x, y, z] = [0; 3].map(|_| random.below(side) as i32);
    VoxelPos::new(x, y, z)
}

/// A world around the origin with chunks of side `side`. One voxel in `rarity` is solid.
fn scattered(side: u32, rarity: u32) -> World {
    let mut world = World::with_side("scattered", MaterialTable::new(), side);
    let mut random = Random::new(u64::from(rarity));
    for i in 0..24_i32.pow(3) {
        if random.below(rarity) == 0 {
            let [x, y, z] = [i % 24, i / 24 % 24, i / 576].map(|c| c - 12);
            world.set(VoxelPos::new(x, y, z), Material(1 + (i % 5) as u16));
        }
    }
    world
}

/// Returns the nearest face between a solid voxel and air that is visible from the ray's origin.
/// Tests all faces.
fn nearest_face(world: &World, ray: &VoxelRay) -> Option<(VoxelPos, Face, f64)> {
    let length = ray.direction.map(|c| c * c).iter().sum::<f64>().sqrt();
    let along = ray.direction.map(|c| c / length);
    let mut best: Option<(VoxelPos, Face, f64)> = None;
    for (position, chunk) in world.iter() {
        let origin = position.origin(chunk.side()).to_array();
        for (local, _) in chunk.iter_solid() {
            let [x, y, z] = [local.x, local.y, local.z].map(i32::from);
            let low = [origin[0] + x, origin[1] + y, origin[2] + z];
            for face in Face::ALL {
                let [nx, ny, nz] = face.normal();
                let beside = VoxelPos::new(low[0] + nx, low[1] + ny, low[2] + nz);
                let axis = face.axis();
                let plane = f64::from(low[axis] + i32::from(face.is_positive()));
                let t = (plane - ray.origin[axis]) / along[axis];
                let is_facing = along[axis] != 0.0 && (along[axis] < 0.0) == face.is_positive();
                let meets = face.span_axes().into_iter().all(|span| {
                    let at = ray.origin[span] + t * along[span] - f64::from(low[span]);
                    (0.0..1.0).contains(&at)
                });
                if is_facing
                    && meets
                    && t >= 0.0
                    && world.get(beside).is_air()
                    && best.is_none_or(|(_, _, other)| t < other)
                {
                    best = Some((VoxelPos::new(low[0], low[1], low[2]), face, t));
                }
            }
        }
    }
    best
}

#[test]
fn rays_hit_the_nearest_face() {
    let mut random = Random::new(3);
    let (mut hits, mut misses) = (0, 0);
    for (side, rarity) in [(32, 60), (5, 400), (8, 3)] {
        let world = scattered(side, rarity);
        for i in 0..150 {
            let origin = [0; 3].map(|_| random.unit() * 40.0 - 20.0);
            // Most rays go through the world.
            let target = [0; 3].map(|_| random.unit() * 24.0 - 12.0);
            let mut direction = std::array::from_fn(|axis| target[axis] - origin[axis]);
            // Some rays are parallel to an axis or a plane.
            (3..i % 6).for_each(|axis| direction[axis - 3] = 0.0);
            let ray = VoxelRay { origin, direction };
            let found = ray.cast(&world, 100.0);
            let expected = nearest_face(&world, &ray);
            assert_eq!(
                found.map(|it| (it.voxel, it.face)),
                expected.map(|it| (it.0, it.1)),
                "{ray:?}"
            );
            let (Some(found), Some((voxel, _, distance))) = (found, expected) else {
                misses += 1;
                continue;
            };
            hits += 1;
            assert!((found.distance - distance).abs() < 1e-9);
            assert_eq!(found.material, world.get(voxel));
            assert!(found.beside().is_some_and(|beside| world.get(beside).is_air()));
            assert_eq!(ray.cast(&world, found.distance - 1e-6), None, "beyond the reach");
        }
    }
    assert!(hits > 150 && misses > 50, "{hits} {misses}");
}

#[test]
fn rays_without_a_hit_end() {
    let world = scattered(32, 60);
    let ray = |origin, direction| VoxelRay { origin, direction }.cast(&world, f64::INFINITY);
    assert_eq!(ray([0.5; 3], [0.0; 3]), None);
    assert_eq!(ray([0.5; 3], [f64::NAN, 1.0, 0.0]), None);
    assert_eq!(ray([f64::NAN, 0.0, 0.0], [1.0, 0.0, 0.0]), None);
    assert_eq!(ray([1e300, 0.0, 0.0], [1.0, 0.0, 0.0]), None);
    assert_eq!(ray([2_147_483_646.5, 0.0, 0.0], [1.0, 0.0, 0.0]), None);
    assert_eq!(ray([500.5, 100.0, 0.0], [1.0, 0.0, 0.0]), None);
    // A ray from inside a block hits what lies behind its far side.
    let mut block = World::new("block", MaterialTable::new());
    for x in (0..4).chain([9]) {
        block.set(VoxelPos::new(x, 0, 0), Material(1));
    }
    let hit = VoxelRay { origin: [1.5, 0.5, 0.5], direction: [2.0, 0.0, 0.0] };
    assert_eq!(hit.cast(&block, 20.0).map(|it| it.voxel.x), Some(9));
}

fn level_data() -> LodData {
    let config = GeneratorConfig { size_chunks: [3, 4, 3], ..GeneratorConfig::default() };
    LodData::new(Box::new(GeneratedWorld::new(config).unwrap()), 16 << 20)
}

#[test]
fn rays_find_only_air_outside_the_world() {
    let data = level_data();
    let down = VoxelRay { origin: [40.5, 400.0, 40.5], direction: [0.0, -1.0, 0.0] };
    let hit = down.cast(&data, 500.0).unwrap();
    assert_eq!(hit.face, Face::PosY);
    let highest = (0..128).rev().find(|&y| !data.get(VoxelPos::new(40, y, 40)).is_air());
    assert_eq!(Some(hit.voxel.y), highest);
    let beside = VoxelRay { origin: [-5.0, 400.0, 40.5], direction: [0.0, -1.0, 0.0] };
    assert_eq!(beside.cast(&data, 1e4), None);
    assert!(data.chunk_at(ChunkPos::new(-1, 0, 0)).is_some_and(|chunk| chunk.is_empty()));
    assert!(data.chunk_at(ChunkPos::new(1 << 27, 0, 0)).is_none(), "no coordinates");
    assert!(data.chunk_at(ChunkPos::new(2, 3, 2)).is_some());
}

fn shape(random: &mut Random) -> VoxelShape {
    let center = voxel(random, 70);
    match random.below(3) {
        0 => VoxelShape::voxel(center),
        1 => VoxelShape::cube(center, random.below(9) as u32),
        _ => VoxelShape::Sphere { center, radius_voxels: random.below(12) as u32 },
    }
}

/// Lists begin with the edit that is undone or redone next.
#[test]
fn edits_are_listed_in_the_order_of_undo_and_redo() {
    let mut world = World::new("a list", MaterialTable::new());
    let mut history = EditHistory::new(1 << 20);
    let corner = VoxelPos::new(-1, -1, -1);
    for (radius, material) in [(1, 1), (2, 2), (0, 0)] {
        let shape = VoxelShape::cube(corner, radius);
        let edit = Edit::fill(&world, &shape, Material(material)).unwrap();
        world.apply(&edit);
        history.push(edit);
    }
    let listed = |voxel_count, material| EditSummary { voxel_count, material: Some(material) };
    let all = [listed(27, Material(1)), listed(125, Material(2)), listed(1, Material::AIR)];
    assert!(history.undo_list().eq(all.into_iter().rev()));
    assert_eq!(history.redo_list().len(), 0);
    let undone = [history.undo(), history.undo()].map(Option::unwrap);
    undone.iter().for_each(|edit| world.apply(edit));
    assert!(history.undo_list().eq([all[0]]));
    assert!(history.redo_list().eq(all[1..].iter().copied()));
    // The inverse of the second edit sets two materials.
    assert_eq!(undone[1].summary(), EditSummary { voxel_count: 125, material: None });
    assert_eq!(Edit::default().summary(), EditSummary::default());
}

/// Keeps a copy of the world after each edit that can be undone or redone.
#[test]
fn undo_and_redo_restore_the_world() {
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let mut world = scattered(if seed % 2 == 0 { 32 } else { 9 }, 40);
        let mut history = EditHistory::new(1 << 30);
        let (mut before, mut after): (Vec<World>, Vec<World>) = Default::default();
        let mut turns = 0;
        for _ in 0..90 {
            match random.below(5) {
                0 | 1 => {
                    let shape = shape(&mut random);
                    let material = Material(random.below(4) as u16);
                    let edit = Edit::fill(&world, &shape, material).unwrap();
                    let mut expected = world.clone();
                    let VoxelBox { min, max } = shape.bounds().unwrap();
                    for x in min.x..max.x {
                        for (y, z) in
                            (min.y..max.y).flat_map(|y| (min.z..max.z).map(move |z| (y, z)))
                        {
                            let at = VoxelPos::new(x, y, z);
                            if shape.contains(at) {
                                expected.set(at, material);
                            }
                        }
                    }
                    if !edit.is_empty() {
                        before.push(world.clone());
                        after.clear();
                    }
                    world.apply(&edit);
                    is_same(&world, &expected);
                    history.push(edit);
                }
                2 | 3 => {
                    let undo = history.undo();
                    assert_eq!(undo.is_some(), !before.is_empty());
                    if let (Some(edit), Some(was)) = (undo, before.pop()) {
                        after.push(world.clone());
                        world.apply(&edit);
                        is_same(&world, &was);
                        turns += 1;
                    }
                }
                _ => {
                    let redo = history.redo();
                    assert_eq!(redo.is_some(), !after.is_empty());
                    if let (Some(edit), Some(was)) = (redo, after.pop()) {
                        before.push(world.clone());
                        world.apply(&edit);
                        is_same(&world, &was);
                        turns += 1;
                    }
                }
            }
            assert_eq!((history.undo_count(), history.redo_count()), (before.len(), after.len()));
        }
        assert!(turns > 20, "{turns}");
    }
}

fn is_same(world: &World, other: &World) {
    assert_eq!(world.chunk_count(), other.chunk_count());
    for ((position, chunk), (other_position, other)) in world.iter().zip(other.iter()) {
        assert!(position == other_position && chunk.iter().eq(other.iter()), "{position:?}");
    }
}

/// The numbers that an edit reports match its effect.
#[test]
fn edits_report_what_they_change() {
    let mut random = Random::new(77);
    for _ in 0..40 {
        let world = scattered([32, 9, 64][random.below(3) as usize], 7);
        let (shape, material) = (shape(&mut random), Material(random.below(6) as u16));
        let edit = Edit::fill(&world, &shape, material).unwrap();
        let mut changed: HashMap<VoxelPos, Material> = HashMap::new();
        for (voxel, after) in edit.voxels() {
            assert!(shape.contains(voxel) && after == material && world.get(voxel) != after);
            assert_eq!(changed.insert(voxel, after), None, "once");
        }
        assert_eq!(edit.voxel_count(), changed.len() as u64);
        assert_eq!(edit.inverse().inverse(), edit);
        let mut boxes: HashMap<ChunkPos, VoxelBox> = HashMap::new();
        for &voxel in changed.keys() {
            let one = VoxelBox::of(voxel);
            let all = boxes.entry(voxel.split(world.side()).0).or_insert(one);
            *all = all.union(one);
        }
        assert_eq!(edit.chunks().len(), boxes.len());
        for (position, bounds) in edit.chunks() {
            let tight = boxes[&position];
            assert_eq!(bounds.union(tight), bounds, "{bounds:?} holds {tight:?}");
            let chunk = VoxelBox::of(position.origin(world.side()));
            let last = chunk.min.to_array().map(|c| c + world.side() as i32);
            assert!(bounds.max.to_array().into_iter().zip(last).all(|(a, b)| a <= b));
        }
    }
    let vast = VoxelShape::cube(VoxelPos::default(), VoxelShape::MAX_RADIUS);
    assert!(Edit::fill(&scattered(32, 9), &vast, Material(1)).is_err());
}

#[test]
fn a_history_stays_within_its_limit() {
    let mut random = Random::new(5);
    let mut world = World::new("full", MaterialTable::new());
    let one = Edit::fill(&world, &VoxelShape::voxel(VoxelPos::default()), Material(1)).unwrap();
    let limit = 60 * one.size_bytes();
    let mut history = EditHistory::new(limit);
    let (mut most, mut forgot) = (0, false);
    for round in 0..400 {
        let edit =
            Edit::fill(&world, &VoxelShape::voxel(voxel(&mut random, 60)), Material(round % 7))
                .unwrap();
        world.apply(&edit);
        let count = history.undo_count() + usize::from(!edit.is_empty());
        history.push(edit);
        forgot |= history.undo_count() < count;
        for _ in 0..random.below(3) {
            history.undo().into_iter().for_each(|edit| world.apply(&edit));
        }
        for _ in 0..random.below(4) {
            history.redo().into_iter().for_each(|edit| world.apply(&edit));
        }
        most = most.max(history.size_bytes());
        assert!(history.size_bytes() <= limit);
    }
    assert!(forgot && most > limit / 2, "{most} of {limit}");
    // A lower limit keeps the newest edits, which can all be undone and redone.
    history.undo().into_iter().for_each(|edit| world.apply(&edit));
    for part in [2, 5, 60] {
        history.set_limit_bytes(limit / part);
        assert!(history.size_bytes() <= limit / part);
        let (before, mut back) = (world.clone(), 0);
        while let Some(edit) = history.undo() {
            world.apply(&edit);
            back += 1;
        }
        (0..back).for_each(|_| world.apply(&history.redo().unwrap()));
        is_same(&world, &before);
        assert!(part == 60 || back > 0);
    }
    // After an edit above the limit, nothing can be undone incorrectly.
    let large =
        Edit::fill(&scattered(32, 2), &VoxelShape::cube(VoxelPos::default(), 9), Material(9));
    history.push(large.unwrap());
    assert_eq!((history.undo_count(), history.redo_count(), history.size_bytes()), (0, 0, 0));
    assert!(history.undo().is_none());
}

/// Undone edits are dropped before the newest applied one. The edit undone last is kept longest.
#[test]
fn a_lower_limit_keeps_the_newest_edits() {
    let mut world = World::new("three", MaterialTable::new());
    let mut history = EditHistory::new(usize::MAX);
    for x in 0..3 {
        let shape = VoxelShape::voxel(VoxelPos::new(x, 0, 0));
        let edit = Edit::fill(&world, &shape, Material(1)).unwrap();
        world.apply(&edit);
        history.push(edit);
    }
    let one = history.size_bytes() / 3;
    history.undo().and_then(|_| history.undo()).unwrap();
    for (limit, left) in [(3 * one, [1, 2]), (2 * one, [1, 1]), (one, [1, 0]), (one - 1, [0, 0])] {
        history.set_limit_bytes(limit);
        assert_eq!([history.undo_count(), history.redo_count()], left, "{limit}");
    }
}

/// Chunks of another side are not changed.
#[test]
fn edits_of_another_side_do_nothing() {
    let edit = Edit::fill(&scattered(9, 7), &VoxelShape::cube(VoxelPos::default(), 5), Material(9));
    let mut world = scattered(32, 7);
    let before = world.clone();
    world.apply(edit.as_ref().unwrap());
    is_same(&world, &before);
    let mut chunk = Chunk::new(32, Material(3));
    edit.unwrap().apply_to(ChunkPos::default(), &mut chunk);
    assert_eq!(chunk.uniform(), Some(Material(3)));
}

/// Chunks in which no two neighbouring voxels are equal.
struct Checkered(Chunk);

impl VoxelAccess for Checkered {
    fn side(&self) -> u32 {
        32
    }
    fn chunk_at(&self, _: ChunkPos) -> Option<Chunk> {
        Some(self.0.clone())
    }
}

#[test]
fn edits_of_too_many_runs_are_refused() {
    let checkered = Checkered(Chunk::from_fn(32, |at| Material(1 + u16::from(at.x % 2))));
    let runs_of_chunk = 32_u64.pow(3);
    let fitting = (Edit::MAX_RUNS / runs_of_chunk) as i32;
    let fill = |chunks: i32| {
        let (min, max) = (VoxelPos::new(0, 0, 0), VoxelPos::new(32 * chunks, 32, 32));
        Edit::fill(&checkered, &VoxelShape::Box(VoxelBox { min, max }), Material(3))
    };
    assert_eq!(fill(fitting).unwrap().voxel_count(), Edit::MAX_RUNS);
    let Err(SourceError::TooLarge { found, limit, .. }) = fill(fitting + 1) else {
        panic!("no error");
    };
    assert_eq!((found, limit), (Edit::MAX_RUNS + runs_of_chunk, Edit::MAX_RUNS));
}
