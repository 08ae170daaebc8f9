//! Lines on the picture, and outlines of what is edited.

use super::*;
use crate::CameraKind;
use crate::scene::{EditAction, OutlinePart};

/// Executes an action and returns the line on the picture, with its kind.
fn said(session: &mut Session, action: Action) -> (String, MessageKind) {
    session.apply(action).unwrap();
    let line = session.messages().line(Instant::now()).expect("a message");
    (line.text.clone(), line.kind)
}

#[test]
fn new_modes_are_shown_in_words_of_the_key_table() {
    let mut session = session(Host::Window);
    let result = |text: &str| (text.to_owned(), MessageKind::Result);
    for state in ["on", "off"] {
        let shown = said(&mut session, Action::Shadows);
        assert_eq!(shown, result(&format!("shadows of the sun: {state}")));
    }
    assert_eq!(
        said(&mut session, Action::Camera(CameraKind::Orbit)),
        result("orbiting around a point")
    );
    said(&mut session, Action::Camera(CameraKind::Fly));
    let (faster, _) = said(&mut session, Action::Wheel(3.0, [0.0; 2]));
    assert!(faster.starts_with("flying, ") && faster.contains('×'), "{faster}");
    assert_eq!(said(&mut session, Action::Edit), result("editing: voxel of stone"));
    assert_eq!(said(&mut session, Action::NextForm), result("brush: cube of stone, 5 wide"));
    assert_eq!(said(&mut session, Action::Undo), result("nothing to undo"));
    assert_eq!(said(&mut session, Action::Edit), result("editing ended"));
    // Without a new mode, the last message stays.
    assert_eq!(said(&mut session, Action::Turn([1.0; 2])), result("editing ended"));
    session.execute(Action::Bloom).unwrap();
    assert_eq!(said(&mut session, Action::ReleaseAll), result("editing ended"));
}

/// Steps of the history undo and redo several edits.
#[test]
fn several_edits_are_undone_and_redone_at_once() {
    let mut session = session(Host::Window);
    let first = picture(&mut session);
    apply(&mut session, Action::Edit);
    for at in [[50.0, 28.0], [40.0, 30.0], [60.0, 30.0]] {
        let ray = session.camera().ray(at);
        apply(&mut session, Action::Click(EditAction::Remove, ray));
    }
    settle(&mut session);
    let edited = picture(&mut session);
    let counts = |session: &Session| {
        let history = session.editing().editor().history();
        [history.undo_count(), history.redo_count()]
    };
    assert_eq!(counts(&session), [3, 0]);
    apply(&mut session, Action::History(-3));
    settle(&mut session);
    assert!(edited != first && picture(&mut session) == first);
    apply(&mut session, Action::History(2));
    assert_eq!(counts(&session), [2, 1]);
    apply(&mut session, Action::History(1));
    settle(&mut session);
    assert!(picture(&mut session) == edited);
}

#[test]
fn refusals_are_problems_and_are_not_replaced_by_the_mode() {
    let mut session = session(Host::Page);
    let (refused, kind) = said(&mut session, Action::Cull);
    assert!(refused.contains("not available in browsers"), "{refused}");
    assert_eq!((kind, refused.as_str()), (MessageKind::Problem, session.message()));
    // Nor by what no action led to.
    session.messages().add(MessageKind::Result, "saved");
    let line =
        |session: &mut Session| session.messages().line(Instant::now()).cloned().unwrap().text;
    assert_eq!(line(&mut session), refused);
    session.messages().show(MessageKind::Result, "another action");
    session.messages().add(MessageKind::Result, "saved");
    assert_eq!(line(&mut session), "saved");
}

#[test]
fn only_what_a_click_would_edit_is_outlined() {
    let mut session = session(Host::Window);
    let (floor, sky) = (Some([50.0, 28.0]), Some([1.0, 1.0]));
    assert!(session.outline(floor).is_empty(), "clicks do not edit");
    session.apply(Action::Edit).unwrap();
    let voxel = session.outline(floor);
    assert!(!voxel.is_empty() && voxel.iter().any(|line| !line.is_hidden));
    assert!(voxel.iter().all(|line| line.part == OutlinePart::Voxel));
    assert!(session.outline(sky).is_empty());
    session.apply(Action::NextForm).unwrap();
    let cube = session.outline(floor);
    assert!(cube.len() > voxel.len() && cube.ends_with(&voxel), "the voxel is above the brush");
}
