//! Compares meshes that edits rebuild in layers with meshes of whole nodes.

use super::saving::roller;
use super::steps::check_meshes_are_current;
use super::*;
use crate::shape::VoxelShape;

/// Fills small and large balls in a few chunks while the camera moves back and forth. Some edits
/// run out of memory.
fn strokes(source: Box<dyn Source>, seed: u64, meshing: Meshing) {
    let [near, far] = [900.0, 60.0].map(|scale| camera([100.0, 60.0, 100.0], scale));
    let mut tree = tree(source, unlimited_with(meshing));
    let mut screen = Screen::default();
    settle(&mut tree, &near, &mut screen);
    let mut roll = roller(seed);
    let kinds = tree.data().materials().len() as u32;
    let (mut by_layers_count, mut refusals) = (0, 0);
    for stroke in 0..150 {
        let corner = [0, 1, 0].map(|up| 64 + up * (roll(3) as i32 - 1) * 32);
        let [x, y, z] = corner.map(|c| c + roll(7) as i32 - 3);
        let center = VoxelPos::new(x, y, z);
        let radius_voxels = match roll(8) {
            0 => 9,
            1 => 3,
            kind => kind % 2,
        };
        let node = NodePos::from(center.split(Chunk::SIDE).0);
        by_layers_count += usize::from(tree.has_old_body(node));
        let material = Material(if roll(3) == 0 { 0 } else { roll(kinds) as u16 });
        let ball = VoxelShape::Sphere { center, radius_voxels };
        screen.max_quads = (roll(12) == 0).then_some(screen.len());
        refusals += usize::from(fill(&mut tree, &ball, material, &mut screen).is_err());
        screen.max_quads = None;
        match roll(25) {
            0 => {
                settle(&mut tree, &far, &mut screen);
                settle(&mut tree, &near, &mut screen);
            }
            1..10 => drop(settle(&mut tree, &near, &mut screen)),
            _ => {}
        }
        if stroke % 10 == 9 {
            settle(&mut tree, &near, &mut screen);
            check_meshes_are_current(&tree, &screen);
        }
    }
    assert!(
        by_layers_count >= 50 && refusals >= 1,
        "{by_layers_count} with stored bodies, {refusals} refused"
    );
}

#[test]
fn layers_rebuilt_by_edits_equal_whole_meshes() {
    for (seed, meshing) in (1..=4).zip(MESHINGS.repeat(2)) {
        strokes(derived([5, 4, 5]), seed, meshing);
        strokes(generated([5, 4, 5]), seed, meshing);
    }
}

/// Stored meshes of one tree are outdated after another tree has edited the same voxels.
#[test]
fn edits_of_another_tree_invalidate_stored_bodies() {
    let near = camera([100.0, 60.0, 100.0], 900.0);
    let data = Arc::new(LodData::new(derived([5, 4, 5]), 64 << 20));
    let alone = LodConfig { threads: 0, ..unlimited() };
    let mut trees = [0, 1].map(|_| LodTree::new(Arc::clone(&data), alone).unwrap());
    let mut screens = [Screen::default(), Screen::default()];
    for (tree, screen) in trees.iter_mut().zip(&mut screens) {
        settle(tree, &near, screen);
    }
    let node = NodePos::from(ChunkPos::new(1, 1, 1));
    for round in 0..10 {
        // The trees edit distant voxels of one chunk by turns.
        let turn = round % 2;
        let at = VoxelPos::new(40 + 16 * turn as i32, 34 + round as i32, 40 + 16 * turn as i32);
        trees[turn].set([(at, Material(1))], &mut screens[turn]).unwrap();
        let mesh = node_mesh::NodeMesher::new(Meshing::default()).mesh(&data, node);
        let now: Vec<Quad> = mesh.body.iter().map(|(quad, _)| quad).collect();
        assert!(screens[turn].bodies[&node] == now, "after {round}");
    }
}
