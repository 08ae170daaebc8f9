//! Edits in parts: together they equal the edit, and are shown as a whole.

use super::edits::{State, ball, edited_tree, is_same, states_seen};
use super::saving::roller;
use super::steps::check_shown_is_current;
use super::*;
use crate::edit::EditDirection::{Forward, Inverse};
use crate::edit::{Edit, EditParts};
use crate::shape::VoxelShape;

/// Applies and undoes an edit in parts, and compares it with the whole edit.
#[test]
fn parts_equal_the_whole_edit() {
    for source in [(|| derived([4, 3, 3])) as fn() -> Box<dyn Source>, || generated([4, 3, 3])] {
        let [whole, parted] = [64 << 20, 90_000].map(|bytes| LodData::new(source(), bytes));
        let (mut roll, mut most) = (roller(29), 0);
        for round in 0..5 {
            let [x, y, z] = [128, 96, 96].map(|side| roll(side) as i32);
            let (center, radius_voxels) = (VoxelPos::new(x, y, z), 20 + roll(40));
            let shape = VoxelShape::Sphere { center, radius_voxels };
            let edit = Arc::new(Edit::fill(&whole, &shape, Material(round % 4)).unwrap());
            for direction in [Forward, Inverse, Forward] {
                let all = if direction == Inverse { edit.inverse() } else { Edit::clone(&edit) };
                let parts: Vec<Edit> = EditParts::new(Arc::clone(&edit), direction).collect();
                let counts = parts.iter().map(Edit::chunk_count);
                assert!(counts.clone().all(|count| (1..=EditParts::MAX_CHUNKS).contains(&count)));
                assert_eq!(counts.sum::<usize>(), edit.chunk_count());
                let count: u64 = parts.iter().map(|part| parted.apply(part).count).sum();
                assert_eq!(whole.apply(&all).count, count);
                most = most.max(parts.len());
            }
            is_same(&whole, &parted);
        }
        assert!(most > 2, "no edit has several parts");
    }
}

/// The old picture is shown while parts are applied and the camera moves. Then all parts are shown
/// at once.
#[test]
fn parts_are_shown_together() {
    let near = camera([120.0, 60.0, 20.0], 900.0);
    let (mut tree, mut screen) = edited_tree(&near);
    let edits = [(ball(120, 60), Material(1)), (ball(20, 1), Material(2))];
    let edit = Edit::fill(tree.data(), &edits[0].0, edits[0].1).unwrap();
    let mut states = [State::after(&[]), State::after(&edits[1..]), State::after(&edits)];
    let (mut step, mut now) = (0, 0);
    for part in EditParts::new(Arc::new(edit), Forward) {
        assert!(tree.apply_part(&part) > 0);
        let far = f64::from(10 - 2 * step % 20) * 8.0;
        let camera = camera([120.0, 60.0, -80.0 + far], 900.0 - 9.0 * far.abs());
        (0..20).for_each(|_| tree.wait(Duration::ZERO));
        tree.update(&camera, &mut screen).unwrap();
        assert!(tree.has_waiting_edits() && states[now].is_on(&screen), "in step {step}");
        check(&tree, &screen, usize::MAX);
        if step == 5 {
            // An edit that does not touch these meshes does not wait.
            fill(&mut tree, &edits[1].0, edits[1].1, &mut screen).unwrap();
            now = 1;
        }
        step += 1;
    }
    assert!(step > 6, "only {step} parts");
    for _ in 0..50 {
        tree.wait(Duration::ZERO);
        tree.update(&near, &mut screen).unwrap();
    }
    assert!(states[1].is_on(&screen), "shown before show_parts");
    tree.show_parts();
    let seen = states_seen(&mut tree, &mut screen, &mut states[1..], |_| near);
    assert_eq!(seen, [0, 1]);
    check_shown_is_current(&tree, &screen);
}

/// Parts without a common mesh are shown together too.
#[test]
fn distant_parts_are_shown_together() {
    let near = camera([120.0, 60.0, 20.0], 900.0);
    let (mut tree, mut screen) = edited_tree(&near);
    let edits = [(ball(120, 60), Material(1)), (ball(20, 1), Material(2))];
    for (shape, material) in &edits {
        let edit = Edit::fill(tree.data(), shape, *material).unwrap();
        for part in EditParts::new(Arc::new(edit), Forward) {
            assert!(tree.apply_part(&part) > 0);
        }
    }
    tree.show_parts();
    let mut states = [State::after(&[]), State::after(&edits)];
    let seen = states_seen(&mut tree, &mut screen, &mut states, |_| near);
    assert_eq!(seen, [0, 1]);
    check_shown_is_current(&tree, &screen);
}
