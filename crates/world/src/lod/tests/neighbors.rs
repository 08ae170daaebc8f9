//! Whom an edit at a border concerns.

use super::order::Recorder;
use super::saving::roller;
use super::steps::check_shown_is_current;
use super::*;

/// What is opaque and becomes another that is opaque is no other to its neighbours; what stands
/// beside air is none to it.
#[test]
fn neighbours_that_see_no_change_keep_their_meshes() {
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
        recorder.bodies_set.clear();
        let set = tree.set([(at, material)], &mut recorder).unwrap();
        let lowest = recorder.bodies_set.iter().filter(|it| it.level == 0).count();
        if set == 1 && tree.shown().any(|it| it == node) {
            *(if lowest == 1 { &mut alone } else { &mut together }) += 1;
        }
        if edit % 10 == 9 {
            check_shown_is_current(&tree, &recorder.screen);
        }
    }
    assert!(alone >= 10 && together >= 10, "{alone} concerned nobody else, {together} others");
}
