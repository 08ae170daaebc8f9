//! Which neighbours an edit at a border affects.

use super::order::Recorder;
use super::saving::roller;
use super::steps::check_shown_is_current;
use super::*;

/// Neighbours are not affected if an opaque voxel is replaced by another opaque one, or if they
/// have only air at the border.
#[test]
fn unaffected_neighbours_keep_their_meshes() {
    let near = camera([100.0, 60.0, 100.0], 900.0);
    let mut tree = tree(derived([6, 3, 6]), unlimited());
    let mut recorder = Recorder::default();
    settle(&mut tree, &near, &mut recorder.screen);
    let mut roll = roller(5);
    let kinds = tree.data().materials().len() as u32;
    let (mut alone, mut together) = (0, 0);
    for edit in 0..60 {
        let [x, y, z] = [6, 3, 6].map(|chunks| {
            let edge = 32 * (1 + roll(chunks - 1)) as i32;
            edge - roll(2) as i32
        });
        let at = VoxelPos::new(x, y, z);
        let node = NodePos::from(at.split(Chunk::SIDE).0);
        let material = Material(if roll(3) == 0 { 0 } else { roll(kinds) as u16 });
        recorder.shown_bodies.clear();
        let set = tree.set([(at, material)], &mut recorder).unwrap();
        let lowest = recorder.shown_bodies.iter().filter(|it| it.level == 0).count();
        if set == 1 && tree.shown().any(|it| it == node) {
            *(if lowest == 1 { &mut alone } else { &mut together }) += 1;
        }
        if edit % 10 == 9 {
            check_shown_is_current(&tree, &recorder.screen);
        }
    }
    assert!(
        alone >= 10 && together >= 10,
        "{alone} edits without affected neighbours, {together} with"
    );
}
