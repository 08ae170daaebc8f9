use std::collections::HashMap;
use std::sync::Arc;

use drystone_testing::Random;
use drystone_voxel::MaterialTable;

use super::super::{EditHistory, Filling};
use super::*;
use crate::orientation::Axis;
use crate::world::World;

const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

/// Every voxel of a world in a map.
type Twin = HashMap<[i32; 3], Material>;

fn at(twin: &Twin, voxel: [i32; 3]) -> Material {
    twin.get(&voxel).copied().unwrap_or(Material::AIR)
}

fn voxel([x, y, z]: [i32; 3]) -> VoxelPos {
    VoxelPos::new(x, y, z)
}

/// A world around the origin, with chunks of side `side`.
fn scattered(side: u32, random: &mut Random) -> (World, Twin) {
    let mut world = World::with_side("scattered", MaterialTable::new(), side);
    let mut twin = Twin::new();
    for _ in 0..4_000 {
        let place = [0; 3].map(|_| random.below(30) - 15);
        let material = Material(1 + random.below(4) as u16);
        world.set(voxel(place), material);
        twin.insert(place, material);
    }
    (world, twin)
}

fn is_same(world: &World, twin: &Twin) {
    let solid: Vec<_> = twin.iter().filter(|(_, material)| !material.is_air()).collect();
    assert_eq!(world.solid_count(), solid.len() as u64);
    for (&place, &material) in solid {
        assert_eq!(world.get(voxel(place)), material, "{place:?}");
    }
}

fn random_box(random: &mut Random) -> VoxelBox {
    let corners = [(); 2].map(|()| [0; 3].map(|_| random.below(36) - 18));
    let [a, b] = corners.map(|corner| VoxelBox::of(voxel(corner)));
    a.union(b)
}

fn places(bounds: VoxelBox) -> impl Iterator<Item = [i32; 3]> {
    let VoxelBox { min, max } = bounds;
    (min.x..max.x)
        .flat_map(move |x| (min.y..max.y).flat_map(move |y| (min.z..max.z).map(move |z| [x, y, z])))
}

/// Quarter turns and mirrors of a placement, for the twin too.
fn random_turns(random: &mut Random) -> Vec<(Axis, Option<i32>)> {
    let step = |random: &mut Random| {
        let axis = AXES[random.below(3) as usize];
        (axis, (random.below(3) > 0).then(|| random.below(4)))
    };
    (0..random.below(4)).map(|_| step(random)).collect()
}

/// Moves a point of a box by one turn or mirror image; returns it with the size of the new box.
fn moved([x, y, z]: [i32; 3], [w, h, d]: [i32; 3], axis: Axis) -> ([i32; 3], [i32; 3]) {
    match axis {
        Axis::X => ([x, d - 1 - z, y], [w, d, h]),
        Axis::Y => ([z, y, w - 1 - x], [d, h, w]),
        Axis::Z => ([h - 1 - y, x, z], [h, w, d]),
    }
}

fn paste_twin(
    twin: &mut Twin,
    (bounds, copied): (VoxelBox, &Twin),
    turns: &[(Axis, Option<i32>)],
    placement: Placement,
) {
    for place in places(bounds) {
        let low = bounds.min.to_array();
        let mut local = [0, 1, 2].map(|i| place[i] - low[i]);
        let mut size = bounds.size_voxels().map(|side| side as i32);
        for &(axis, turn) in turns {
            match turn {
                Some(count) => {
                    (0..count).for_each(|_| (local, size) = moved(local, size, axis));
                }
                None => {
                    let i = axis as usize;
                    local[i] = size[i] - 1 - local[i];
                }
            }
        }
        let material = at(copied, place);
        if !(material.is_air() && placement.air == PasteAir::Skipped) {
            let low = placement.at.to_array();
            twin.insert([0, 1, 2].map(|i| low[i] + local[i]), material);
        }
    }
}

/// One random edit of a world and its twin, by selection.
fn random_edit(random: &mut Random, world: &World, twin: &mut Twin) -> Edit {
    let bounds = random_box(random);
    let shape = VoxelShape::Box(bounds);
    let material = Material(random.below(5) as u16);
    match random.below(4) {
        0 => {
            let from = Material(random.below(5) as u16);
            for place in places(bounds) {
                if at(twin, place) == from {
                    twin.insert(place, material);
                }
            }
            Edit::replace(world, &shape, [from, material]).unwrap()
        }
        1 => {
            let [axis, other] = [Axis::X, Axis::Z];
            let through = random.below(9) - 4;
            let mut shapes = vec![shape];
            shapes.extend(shape.mirrored(axis, through));
            shapes.extend(shape.mirrored(other, through));
            for place in places(bounds) {
                let [mut a, mut b] = [place; 2];
                a[0] = 2 * through - a[0];
                b[2] = 2 * through - b[2];
                twin.extend([place, a, b].map(|place| (place, material)));
            }
            let mut filling = Filling::of_shapes(world.side(), &shapes, material).unwrap();
            while filling.step(world).unwrap() {}
            filling.into_edit()
        }
        _ => {
            let clipboard = Arc::new(Clipboard::copy(world, bounds).unwrap());
            let solid = places(bounds).filter(|&place| !at(twin, place).is_air()).count();
            assert_eq!(clipboard.solid_count(), solid as u64);
            assert_eq!(clipboard.size_voxels(), bounds.size_voxels());
            let turns = random_turns(random);
            let mut orientation = Orientation::default();
            for &(axis, turn) in &turns {
                orientation = match turn {
                    Some(count) => orientation.turned(axis, count),
                    None => orientation.mirrored(axis),
                };
            }
            let to = voxel([0; 3].map(|_| random.below(60) - 40));
            let air = [PasteAir::Replaces, PasteAir::Skipped][random.below(2) as usize];
            let placement = Placement { at: to, orientation, air };
            let copied = twin.clone();
            paste_twin(twin, (bounds, &copied), &turns, placement);
            Edit::paste(world, &clipboard, placement).unwrap()
        }
    }
}

/// Replaced, mirrored and pasted voxels, undone and redone, are those of a map of voxels.
#[test]
fn edits_by_selection_match_a_map_of_voxels() {
    for (seed, side) in [(1, 32), (2, 9), (3, 7), (4, 32), (5, 16), (6, 64)] {
        let mut random = Random::new(seed);
        let (mut world, mut twin) = scattered(side, &mut random);
        is_same(&world, &twin);
        let mut history = EditHistory::new(usize::MAX);
        let (mut before, mut undone) = (Vec::new(), 0);
        for _ in 0..30 {
            let was = twin.clone();
            let edit = random_edit(&mut random, &world, &mut twin);
            world.apply(&edit);
            is_same(&world, &twin);
            if !edit.is_empty() {
                before.push(was);
            }
            history.push(edit);
            if random.below(2) == 0
                && let (Some(edit), Some(was)) = (history.undo(), before.last())
            {
                world.apply(&edit);
                is_same(&world, was);
                world.apply(&history.redo().unwrap());
                is_same(&world, &twin);
                undone += 1;
            }
        }
        while let (Some(edit), Some(was)) = (history.undo(), before.pop()) {
            world.apply(&edit);
            is_same(&world, &was);
        }
        assert!(before.is_empty() && undone > 2, "{undone}");
    }
}

/// Later edits of the world do not change what was copied, and voxels outside of the box are not in it.
#[test]
fn copies_hold_only_their_box_and_stay() {
    let mut random = Random::new(9);
    let (mut world, twin) = scattered(16, &mut random);
    let bounds = VoxelBox { min: voxel([-11, -3, -16]), max: voxel([13, 2, 5]) };
    let clipboard = Clipboard::copy(&world, bounds).unwrap();
    let all = VoxelShape::cube(VoxelPos::default(), 30);
    world.apply(&Edit::fill(&world, &all, Material(4)).unwrap());
    for place in places(bounds) {
        let local = [place[0] + 11, place[1] + 3, place[2] + 16].map(|c| c as u32);
        assert_eq!(clipboard.get(local), Some(at(&twin, place)));
    }
    for outside in [[24, 0, 0], [0, 5, 0], [0, 0, 21], [u32::MAX; 3]] {
        assert_eq!(clipboard.get(outside), None);
    }
    // A copy of a line does not hold the chunks that it goes through.
    let line = VoxelBox { min: voxel([-30, 0, 0]), max: voxel([31, 1, 1]) };
    let line = Clipboard::copy(&world, line).unwrap();
    assert_eq!(line.solid_count(), 61);
    assert!(line.size_bytes() < 5 * 16_usize.pow(3), "{}", line.size_bytes());
}

/// A world with a chunk that cannot be read.
struct Damaged(World, ChunkPos);

impl VoxelAccess for Damaged {
    fn side(&self) -> u32 {
        self.0.side()
    }
    fn chunk_at(&self, position: ChunkPos) -> Option<Chunk> {
        (position != self.1).then(|| self.0.chunk_at(position))?
    }
}

/// A chunk that could not be read is not pasted: it would remove what is there.
#[test]
fn unreadable_chunks_are_not_pasted() {
    let mut world = World::with_side("full", MaterialTable::new(), 8);
    let all = VoxelShape::Box(VoxelBox { min: voxel([0; 3]), max: voxel([32, 8, 8]) });
    world.apply(&Edit::fill(&world, &all, Material(1)).unwrap());
    let damaged = Damaged(world.clone(), ChunkPos::new(1, 0, 0));
    let bounds = VoxelBox { min: voxel([0, 8, 0]), max: voxel([16, 16, 8]) };
    let air = Arc::new(Clipboard::copy(&damaged, bounds).unwrap());
    assert_eq!((air.unreadable_count(), air.solid_count()), (0, 0));
    let damaged = Damaged(world.clone(), ChunkPos::new(1, 1, 0));
    let air = Arc::new(Clipboard::copy(&damaged, bounds).unwrap());
    assert_eq!((air.unreadable_count(), air.get([9, 0, 0])), (1, None));
    world.apply(&Edit::paste(&world, &air, Placement::new(voxel([16, 0, 0]))).unwrap());
    assert_eq!(world.get(voxel([17, 3, 3])), Material::AIR);
    assert_eq!(world.get(voxel([25, 3, 3])), Material(1));
}

#[test]
fn boxes_that_are_too_large_or_empty_are_refused_or_nothing() {
    let world = World::new("empty", MaterialTable::new());
    let cube = |side: i32| VoxelBox { min: voxel([0; 3]), max: voxel([side; 3]) };
    assert!(Copying::new(32, cube(512)).is_ok());
    assert!(matches!(Copying::new(32, cube(513)), Err(SourceError::TooLarge { .. })));
    let vast = VoxelBox { min: voxel([i32::MIN; 3]), max: voxel([i32::MAX; 3]) };
    assert!(matches!(Copying::new(32, vast), Err(SourceError::TooLarge { .. })));
    let thread = VoxelBox { min: voxel([i32::MIN, 0, 0]), max: voxel([i32::MAX, 1, 1]) };
    assert!(matches!(Copying::new(32, thread), Err(SourceError::TooLarge { .. })));
    let inverted = VoxelBox { min: voxel([5; 3]), max: voxel([-5; 3]) };
    for bounds in [cube(0), inverted] {
        let empty = Arc::new(Clipboard::copy(&world, bounds).unwrap());
        assert_eq!((empty.size_voxels(), empty.size_bytes()), ([0; 3], 0));
        let edit = Edit::paste(&world, &empty, Placement::new(VoxelPos::default())).unwrap();
        assert!(edit.is_empty());
    }
}

/// At the end of the coordinate range, what does not fit is left out.
#[test]
fn pastes_are_clipped_to_the_coordinate_range() {
    let mut world = World::new("a row", MaterialTable::new());
    for x in 0..4 {
        world.set(voxel([x, 0, 0]), Material(2));
    }
    let bounds = VoxelBox { min: voxel([0; 3]), max: voxel([4, 1, 1]) };
    let clipboard = Arc::new(Clipboard::copy(&world, bounds).unwrap());
    let placement = Placement::new(voxel([i32::MAX - 2, 0, 0]));
    assert_eq!(placement.bounds([4, 1, 1]).size_voxels(), [2, 1, 1]);
    assert!(Edit::paste(&world, &clipboard, placement).is_ok());
    let low = Placement::new(voxel([i32::MIN, 0, 0]));
    assert!(Edit::paste(&world, &clipboard, low).is_ok());
}
