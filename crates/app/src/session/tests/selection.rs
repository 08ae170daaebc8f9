//! Editing by selection with the keys of the table.

use super::*;
use crate::keys::{KeyPhase, action};
use crate::scene::OutlinePart;

fn down(x: f64, z: f64) -> VoxelRay {
    VoxelRay { origin: [x + 0.5, 20.0, z + 0.5], ..DOWN }
}

/// Presses a key of the table. Returns the action that the host has to execute.
fn press(session: &mut Session, chord: &str) -> Option<Action> {
    let action = action(session.host, chord, KeyPhase::Down).unwrap();
    session.apply(action).unwrap()
}

fn click(session: &mut Session, x: f64, z: f64) {
    apply(session, Action::Click(EditAction::Remove, down(x, z)));
}

fn get(session: &mut Session, [x, y, z]: [i32; 3]) -> Material {
    session.stage().unwrap().voxel_scene().unwrap().data().get(VoxelPos::new(x, y, z))
}

fn parts(session: &mut Session) -> Vec<OutlinePart> {
    let mut parts: Vec<_> =
        session.outline(Some([50.0, 28.0])).iter().map(|line| line.part).collect();
    parts.dedup();
    parts
}

/// The keys of users of other editors: select, copy, place, undo; with messages that say what to do.
#[test]
fn a_wall_is_selected_copied_turned_and_placed_by_keys() {
    for host in [Host::Window, Host::Page] {
        let mut session = session(host);
        assert_eq!(press(&mut session, "Ctrl+c"), Some(Action::CopyCamera), "nothing is selected");
        assert_eq!(press(&mut session, "Ctrl+v"), None);
        assert!(!session.editing().is_on(), "nothing is copied");
        press(&mut session, "Ctrl+b");
        assert!(session.editing().is_on() && session.message().contains("click the first corner"));
        assert_eq!(press(&mut session, "Ctrl+c"), Some(Action::CopyCamera), "nothing is selected");
        let brush = session.editing().editor().brush;
        press(&mut session, "BracketRight");
        assert!(session.message().contains("click the first corner"), "{}", session.message());
        click(&mut session, 2.0, 3.0);
        assert!(session.message().contains("opposite"), "{}", session.message());
        press(&mut session, "BracketRight");
        assert!(session.message().contains("opposite"), "{}", session.message());
        assert_eq!(session.editing().editor().brush, brush, "it is not shown");
        click(&mut session, 6.0, 3.0);
        assert!(session.message().starts_with("5 x 1 x 1 voxels selected: Ctrl+C copies"));
        press(&mut session, "BracketRight");
        press(&mut session, "BracketRight");
        press(&mut session, "BracketLeft");
        assert!(session.message().starts_with("5 x 2 x 1 voxels"), "{}", session.message());
        assert_eq!(parts(&mut session), [OutlinePart::Selection, OutlinePart::Voxel]);
        assert_eq!(press(&mut session, "Ctrl+c"), None);
        assert_eq!(session.message(), "copied 5 voxels: Ctrl+V, then click to place");
        press(&mut session, "Ctrl+v");
        assert!(session.message().starts_with("click to place"), "{}", session.message());
        assert_eq!(parts(&mut session), [OutlinePart::Selection, OutlinePart::Paste]);
        press(&mut session, "Period");
        assert_eq!(session.message(), "copy of 1 x 2 x 5 voxels: click to place");
        click(&mut session, 9.0, 10.0);
        assert_eq!(session.message(), "5 voxels changed");
        for z in 8..13 {
            assert_eq!(get(&mut session, [9, 1, z]), Material(1), "{z}");
        }
        assert!(get(&mut session, [9, 1, 7]).is_air() && get(&mut session, [8, 1, 10]).is_air());
        press(&mut session, "Ctrl+z");
        assert!(get(&mut session, [9, 1, 10]).is_air());
        // Escape leaves the tool, then the selection; then the host decides.
        assert!(session.drop_selection());
        assert_eq!(parts(&mut session), [OutlinePart::Selection, OutlinePart::Voxel]);
        assert!(session.drop_selection());
        assert_eq!(parts(&mut session), [OutlinePart::Voxel]);
        assert!(!session.drop_selection());
        press(&mut session, "Delete");
        assert!(session.message().starts_with("nothing is selected"), "{}", session.message());
    }
}

#[test]
fn a_selection_is_filled_replaced_cut_and_emptied_by_keys() {
    let mut session = session(Host::Window);
    press(&mut session, "Delete");
    assert_eq!(session.message(), "", "clicks do not edit");
    press(&mut session, "Ctrl+b");
    for x in [4.0, 8.0] {
        click(&mut session, x, 9.0);
    }
    press(&mut session, "Period");
    press(&mut session, "Enter");
    assert_eq!(get(&mut session, [6, 0, 9]), Material(2));
    press(&mut session, "Comma");
    press(&mut session, "Ctrl+h");
    click(&mut session, 4.0, 9.0);
    assert_eq!(get(&mut session, [6, 0, 9]), Material(1));
    press(&mut session, "Ctrl+x");
    assert_eq!(session.message(), "5 voxels cut: Ctrl+V, then click to place");
    assert!(get(&mut session, [6, 0, 9]).is_air());
    press(&mut session, "Ctrl+z");
    assert_eq!(get(&mut session, [6, 0, 9]), Material(1));
    press(&mut session, "Delete");
    assert!(get(&mut session, [6, 0, 9]).is_air());
}

/// A box that is too large changes nothing, and the message says what to do.
#[test]
fn boxes_that_are_too_large_are_refused_with_advice() {
    let mut session = session(Host::Window);
    press(&mut session, "Ctrl+b");
    for x in [4.0, 8.0] {
        click(&mut session, x, 9.0);
    }
    apply(&mut session, Action::Grow(1 << 24));
    for (key, advice) in
        [("Ctrl+c", "select a smaller box"), ("Enter", "edit a smaller part"), ("Ctrl+x", "box")]
    {
        press(&mut session, key);
        assert!(session.message().contains(advice), "{key}: {}", session.message());
        assert_eq!(session.messages().line(Instant::now()).unwrap().kind, MessageKind::Problem);
    }
    assert_eq!(get(&mut session, [6, 0, 9]), Material(1));
    assert_eq!(session.editing().editor().history().undo_count(), 0);
}

/// After the first press, a click sets the middle; then each edit sets both sides.
#[test]
fn a_mirrored_brush_edits_both_sides() {
    let mut session = session(Host::Window);
    apply(&mut session, Action::Edit);
    press(&mut session, "Backslash");
    assert!(session.message().contains("click the voxel to mirror"));
    click(&mut session, 8.0, 9.0);
    assert_eq!(session.message(), "brush: voxel of stone, mirrored along X");
    click(&mut session, 5.0, 12.0);
    assert_eq!(session.message(), "2 voxels changed");
    assert!(get(&mut session, [5, 0, 12]).is_air() && get(&mut session, [11, 0, 12]).is_air());
    press(&mut session, "Ctrl+z");
    press(&mut session, "Backslash");
    press(&mut session, "Backslash");
    click(&mut session, 5.0, 12.0);
    assert_eq!(session.message(), "4 voxels changed");
    for [x, z] in [[5, 12], [11, 12], [5, 6], [11, 6]] {
        assert!(get(&mut session, [x, 0, z]).is_air(), "{x} {z}");
    }
    press(&mut session, "Backslash");
    assert_eq!(session.message(), "brush: voxel of stone");
}
