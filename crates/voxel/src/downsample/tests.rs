use alloc::vec::Vec;

use super::*;
use crate::{LocalPos, MaterialKind, ShapeBox, ShapeKind};

/// Downsamples a block of four lower and four upper voxels.
fn block_of(low: [Material; 4], high: [Material; 4], table: &MaterialTable) -> Material {
    let [a, b, c, d] = low;
    let [e, f, g, h] = high;
    downsample_block([a, b, e, f, c, d, g, h], table)
}

fn table() -> (MaterialTable, [Material; 4]) {
    let mut table = MaterialTable::new();
    let mut insert = |name: &str, alpha| table.insert(name, [9, 9, 9, alpha]).unwrap();
    let kinds =
        [insert("dirt", 255), insert("grass", 255), insert("flower", 255), insert("water", 90)];
    (table, kinds)
}

#[test]
fn the_upper_material_wins_but_a_single_flower_does_not() {
    let (table, [dirt, grass, flower, water]) = table();
    let air = Material::AIR;
    let block = |low, high| block_of(low, high, &table);
    assert_eq!(block([dirt; 4], [grass; 4]), grass);
    assert_eq!(block([grass; 4], [flower, air, air, air]), grass);
    assert_eq!(block([air; 4], [air, air, flower, air]), flower);
    assert_eq!(block([dirt; 4], [air; 4]), dirt);
    assert_eq!(block([dirt, air, air, air], [water; 4]), dirt);
    assert_eq!(block([water, air, air, air], [air; 4]), table.filled_to(water, 8));
    assert_eq!(block([air; 4], [air; 4]), air);
}

/// Plants in water leave no hole in it, and its surface keeps its height.
#[test]
fn thin_voxels_count_as_the_fluid_around_them() {
    let shape = |max, kind| Shape::new(vec![ShapeBox { min: [0; 3], max }], kind).unwrap();
    let mut table = MaterialTable::new();
    let water = MaterialKind::new("water", [40, 80, 200, 90]);
    let water = water.with_shape(shape([16, 14, 16], ShapeKind::Fluid));
    let water = table.insert_kind(water).unwrap();
    let plant = MaterialKind::new("plant", [40, 200, 20, 255]);
    let plant = plant.with_shape(shape([16, 9, 1], ShapeKind::Opaque));
    let dry = table.insert_kind(plant.clone()).unwrap();
    let wet = table.insert_kind(plant.with_fluid(water)).unwrap();
    let air = Material::AIR;
    let block = |low, high| block_of(low, high, &table);
    assert_eq!(block([wet; 4], [water; 4]), water);
    assert_eq!(block([wet, wet, wet, water], [air; 4]), table.filled_to(water, 7));
    assert_eq!(block([dry, dry, dry, dry], [air; 4]), air);
    assert_eq!(block([wet; 4], [wet; 4]), wet);
}

/// A fluid up to the top of a block stays whole, because it is lowered only below air.
#[test]
fn fluids_are_lowered_within_a_block() {
    let surface = ShapeBox { min: [0; 3], max: [16, 14, 16] };
    let shape = Shape::new(vec![surface], ShapeKind::Fluid).unwrap();
    let mut table = MaterialTable::new();
    let water = MaterialKind::new("water", [40, 80, 200, 90]).with_shape(shape);
    let water = table.insert_kind(water).unwrap();
    let air = Material::AIR;
    let block = |low, high| block_of(low, high, &table);
    assert_eq!(block([water; 4], [water; 4]), water);
    assert_eq!(block([water; 4], [water, air, air, water]), water);
    assert_eq!(block([water; 4], [air; 4]), table.filled_to(water, 7));
}

/// A lake of any depth has one height at all levels.
#[test]
fn the_surface_of_a_lake_keeps_its_height() {
    let (table, [.., water]) = table();
    for top in 1..=64_u32 {
        let voxel = |y: u32| if y < top { water } else { Material::AIR };
        let mut column: Vec<Material> = (0..128).map(voxel).collect();
        for level in 1..=7 {
            column = column
                .chunks(2)
                .map(|pair| {
                    let block = core::array::from_fn(|i| pair[usize::from(i & UP != 0)]);
                    downsample_block(block, &table)
                })
                .collect();
            let filled = column.iter().take_while(|voxel| !voxel.is_air()).count();
            assert!(column[..filled - 1].iter().all(|&voxel| voxel == water));
            assert!(column[filled..].iter().all(|voxel| voxel.is_air()));
            let cells = 16 * (filled - 1) + usize::from(table.fill_cells(column[filled - 1]));
            let apart = cells as f64 / 16.0 * f64::from(1 << level) - f64::from(top);
            let limit = if level <= 4 { 0.0 } else { f64::from(1 << level) / 16.0 };
            assert!((0.0..=limit).contains(&apart), "{apart} of {top} at level {level}");
        }
    }
}

/// Compares with a voxel by voxel computation, for every storage and several sides.
#[test]
fn every_voxel_is_the_downsampled_block() {
    let (table, kinds) = table();
    for side in [2, 4, 6, 16, 32, 62, 64] {
        let child = |seed: u32, fill: u32| {
            Chunk::from_fn(side, |at| {
                let dice =
                    (u32::from(at.x) * 7 + u32::from(at.y) * 131 + u32::from(at.z) * 911 + seed)
                        .wrapping_mul(2_654_435_761)
                        >> 24;
                if dice < fill { kinds[(dice % 4) as usize] } else { Material::AIR }
            })
        };
        let flat = Chunk::from_fn(side, |at| if at.y < 3 { kinds[0] } else { Material::AIR });
        let made = [child(1, 3), child(2, 99), child(3, 255), flat, Chunk::new(side, kinds[1])];
        let children = [
            Some(&made[0]),
            Some(&made[1]),
            None,
            Some(&made[2]),
            Some(&made[3]),
            None,
            Some(&made[4]),
            Some(&made[0]),
        ];
        let parent = downsample(side, children, &table).unwrap();
        for (at, found) in &parent {
            let block: [Material; 8] = core::array::from_fn(|i| {
                let fine: [u32; 3] = [(at.x, i & 1), (at.y, i >> 1 & 1), (at.z, i >> 2)]
                    .map(|(c, far)| 2 * u32::from(c) + far as u32);
                let far = fine.map(|c| usize::from(c >= side));
                let [x, y, z] = fine.map(|c| (c % side) as u8);
                children[far[0] + 2 * far[1] + 4 * far[2]]
                    .map_or(Material::AIR, |child| child.get(LocalPos::new(x, y, z)))
            });
            assert_eq!(found, downsample_block(block, &table), "side {side} at {at:?}");
        }
        parent.validate().unwrap();
    }
}

#[test]
fn children_of_wrong_size_give_none() {
    let (table, [stone, ..]) = table();
    let [odd, even, other] = [5, 6, 8].map(|side| Chunk::new(side, stone));
    assert!(downsample(5, [Some(&odd); 8], &table).is_none());
    assert!(downsample(0, [None; 8], &table).is_none());
    assert!(downsample(66, [None; 8], &table).is_none());
    let mut children = [Some(&even); 8];
    children[3] = Some(&other);
    assert!(downsample(6, children, &table).is_none());
    assert_eq!(downsample(6, [Some(&even); 8], &table).unwrap().uniform(), Some(stone));
    assert!(downsample(6, [None; 8], &table).unwrap().is_empty());
}
