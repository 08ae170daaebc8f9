//! Undone edits restore every level, also where the source made LOD voxels that differ from
//! downsampled ones.

use drystone_store::{EditAccess, EditOptions, EditedSource};
use drystone_voxel::{MaterialKind, Shape, ShapeBox, ShapeKind, VoxelBox};

use super::saving::{every_node, roller};
use super::*;
use crate::edit::Edit;
use crate::shape::VoxelShape;
use crate::world::World;

const SIZE: [u32; 3] = [4, 4, 3];

fn any_shape(roll: &mut impl FnMut(u32) -> u32) -> VoxelShape {
    let [x, y, z] = SIZE.map(|chunks| roll(chunks * 32) as i32);
    let center = VoxelPos::new(x, y, z);
    match roll(3) {
        0 => VoxelShape::voxel(center),
        1 => VoxelShape::Sphere { center, radius_voxels: 2 + roll(9) },
        _ => VoxelShape::Box(VoxelBox { min: center, max: VoxelPos::new(x + 9, y + 2, z + 5) }),
    }
}

fn chunks(data: &LodData) -> Vec<(NodePos, Chunk)> {
    every_node(data).into_iter().map(|node| (node, data.chunk(node))).collect()
}

/// Compares all nodes of the expected levels. Those that edits have added since are air again.
fn assert_same(found: &[(NodePos, Chunk)], expected: &[(NodePos, Chunk)], when: &str) {
    assert!(found.len() >= expected.len());
    let expected: HashMap<NodePos, &Chunk> = expected.iter().map(|(at, it)| (*at, it)).collect();
    let top_level = expected.keys().map(|node| node.level).max();
    for (node, found) in found.iter().filter(|(node, _)| Some(node.level) <= top_level) {
        let air = Chunk::new(Chunk::SIDE, Material::AIR);
        let expected = expected.get(node).copied().unwrap_or(&air);
        assert!(found.iter().eq(expected.iter()), "{node:?} {when}");
    }
}

#[test]
fn undone_edits_restore_every_level() {
    let data = LodData::new(generated(SIZE), 200_000);
    let (mut roll, before) = (roller(2), chunks(&data));
    let is_pure = |(node, chunk): &(NodePos, Chunk)| {
        let children = node.children().map(|all| all.map(|child| data.chunk(child)));
        children.is_none_or(|children| {
            let downsampled =
                drystone_voxel::downsample(32, children.each_ref().map(Some), data.materials());
            downsampled.is_some_and(|downsampled| downsampled.iter().eq(chunk.iter()))
        })
    };
    assert!(!before.iter().all(is_pure), "all LOD voxels are downsampled");
    let mut edits = Vec::new();
    for _ in 0..12 {
        let edit = Edit::fill(&data, &any_shape(&mut roll), Material(roll(4) as u16)).unwrap();
        data.apply(&edit);
        edits.push(edit);
    }
    assert!(data.edit_count() > 10);
    edits.iter().rev().for_each(|edit| drop(data.apply(&edit.inverse())));
    assert_same(&chunks(&data), &before, "after all edits were undone");
}

/// All levels look the same with and without a cache, before and after saving, and after the file
/// is opened again.
#[test]
fn saved_edits_look_the_same() {
    let name = format!("drystone-undo-{}.drystone", std::process::id());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&path);
    let open = || {
        let edited = EditedSource::open(
            generated(SIZE),
            &EditOptions::at(&path).with_access(EditAccess::Write),
        )
        .unwrap();
        LodData::new(Box::new(edited), 0)
    };
    let data = open();
    let (mut roll, before) = (roller(8), chunks(&data));
    let mut edits = Vec::new();
    let save = || {
        let unsaved = data.unsaved();
        data.source().edit_store().unwrap().put_edited(unsaved.chunks.clone()).unwrap();
        data.saved(&unsaved);
        assert_eq!((data.edit_count(), data.edited_bytes()), (0, 0));
    };
    for round in 0..8 {
        let edit = Edit::fill(&data, &any_shape(&mut roll), Material(roll(4) as u16)).unwrap();
        data.apply(&edit);
        edits.push(edit);
        assert_eq!(data.edited_bytes(), data.counted_edited_bytes());
        if round % 2 == 1 {
            let shown = chunks(&data);
            save();
            assert_same(&chunks(&data), &shown, "after it was saved");
        }
    }
    for (round, edit) in edits.iter().rev().enumerate() {
        data.apply(&edit.inverse());
        if round % 3 == 1 {
            let shown = chunks(&data);
            save();
            assert_same(&chunks(&data), &shown, "after undone edits were saved");
        }
    }
    assert_same(&chunks(&data), &before, "after all edits were undone");
    save();
    assert_same(&chunks(&data), &before, "after that was saved");
    data.source().edit_store().unwrap().flush().unwrap();
    drop(data);
    assert_same(&chunks(&open()), &before, "opened again");
    std::fs::remove_file(path).unwrap();
}

const STONE: Material = Material(1);
const WATER: Material = Material(2);
const WET_STAIRS: Material = Material(3);

/// A lake on stone, with stairs in and around it.
fn lake() -> Box<World> {
    let mut materials = MaterialTable::new();
    materials.insert("stone", [90, 90, 90, 255]).unwrap();
    let mut insert = |color, boxes: &[[[u8; 3]; 2]], kind, fluid: Option<Material>| {
        let boxes = boxes.iter().map(|&[min, max]| ShapeBox { min, max }).collect();
        let shape = Shape::new(boxes, kind).unwrap();
        let mut kind = MaterialKind::new("any", color).with_shape(shape);
        kind.fluid = fluid;
        materials.insert_kind(kind).unwrap()
    };
    let surface = [[0; 3], [16, 14, 16]];
    assert_eq!(insert([30, 60, 200, 150], &[surface], ShapeKind::Fluid, None), WATER);
    let steps = [[[0; 3], [16, 8, 16]], [[8, 8, 0], [16; 3]]];
    let stairs = insert([120, 80, 40, 255], &steps, ShapeKind::Opaque, Some(WATER));
    assert_eq!(stairs, WET_STAIRS);
    let mut world = World::new("lake", materials);
    let mut roll = roller(5);
    for (x, z) in (0..64).flat_map(|x| (0..64).map(move |z| (x, z))) {
        for y in 0..20 {
            let material = match roll(8) {
                _ if y < 8 => STONE,
                0 => WET_STAIRS,
                _ => WATER,
            };
            world.set(VoxelPos::new(x, y, z), material);
        }
    }
    Box::new(world)
}

/// Edits in a lake with blocks in its water leave no trace after they were undone: at any distance, the
/// shown meshes are those of a lake that was never edited.
#[test]
fn undone_edits_in_water_show_the_same() {
    for pixels in [900.0, 12.0] {
        let camera = camera([32.0, 40.0, -60.0], pixels);
        let mut tree = tree(lake(), unlimited());
        let mut screen = Screen::default();
        let settle = |tree: &mut LodTree, screen: &mut Screen| {
            while {
                tree.update(&camera, screen).unwrap();
                !tree.is_settled()
            } {
                tree.wait(Duration::ZERO);
            }
            (screen.bodies.clone(), screen.skirts.clone(), screen.rims.clone())
        };
        let before = settle(&mut tree, &mut screen);
        assert!(before.0.values().flatten().any(|quad| quad.is_fine()) || pixels < 100.0);
        let (mut edits, mut roll) = (Vec::new(), roller(6));
        for n in 0..10 {
            // Inside the world, which would stay larger.
            let [x, y, z] = [8 + roll(48), 8 + roll(14), 8 + roll(48)].map(|at| at as i32);
            let center = VoxelPos::new(x, y, z);
            let shape = match n % 2 {
                0 => VoxelShape::voxel(center),
                _ => VoxelShape::Sphere { center, radius_voxels: 2 + roll(5) },
            };
            let material = [Material::AIR, STONE, WATER, WET_STAIRS][roll(4) as usize];
            let edit = Edit::fill(tree.data(), &shape, material).unwrap();
            tree.apply_edit(&edit, &mut screen).unwrap();
            edits.push(edit);
        }
        assert!(settle(&mut tree, &mut screen) != before, "the edits change nothing");
        for edit in edits.iter().rev() {
            tree.apply_edit(&edit.inverse(), &mut screen).unwrap();
        }
        assert!(settle(&mut tree, &mut screen) == before, "a trace is left at {pixels} pixels");
    }
}
