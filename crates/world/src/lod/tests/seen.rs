//! Whom an edit at a border concerns.

use super::order::Noted;
use super::saving::roller;
use super::steps::is_shown_as_it_is;
use super::*;

/// What is opaque and becomes another that is opaque is no other to its neighbours; what stands
/// beside air is none to it.
#[test]
fn neighbours_that_see_no_change_keep_their_meshes() {
    let near = eye([100.0, 60.0, 100.0], 900.0);
    let mut tree = tree(derived([6, 3, 6]), unhurried());
    let mut noted = Noted::default();
    settle(&mut tree, &near, &mut noted.screen);
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
        noted.came.clear();
        let set = tree.set([(at, material)], &mut noted).unwrap();
        let lowest = noted.came.iter().filter(|it| it.level == 0).count();
        if set == 1 && tree.shown().any(|it| it == node) {
            *(if lowest == 1 { &mut alone } else { &mut together }) += 1;
        }
        if edit % 10 == 9 {
            is_shown_as_it_is(&tree, &noted.screen);
        }
    }
    assert!(alone >= 10 && together >= 10, "{alone} concerned nobody else, {together} others");
}
