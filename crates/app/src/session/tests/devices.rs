//! Devices that are lost and opened again.

use drystone_world::VoxelShape;

use super::*;
use crate::CameraKind;
use crate::scene::{EditTool, Edited};

/// Brings a session into a mode. Whatever takes several frames is still in progress afterwards.
type Mode = fn(&mut Session);

const MODES: [(&str, Mode); 9] = [
    ("orbit", |session| {
        apply(session, Action::Camera(CameraKind::Orbit));
        apply(session, Action::Turn([9.0, 4.0]));
    }),
    ("fly", |session| apply(session, Action::Speed(3.0))),
    ("walk", |session| apply(session, Action::Camera(CameraKind::Walk))),
    ("brush", |session| {
        apply(session, Action::Edit);
        apply(session, Action::NextForm);
    }),
    ("selection", |session| {
        apply(session, Action::Tool(EditTool::Select));
        for x in [2.5, 6.5] {
            let ray = VoxelRay { origin: [x, 20.0, 3.5], ..DOWN };
            apply(session, Action::Click(EditAction::Remove, ray));
        }
        assert_eq!(session.apply(Action::Copy).unwrap(), None);
        apply(session, Action::Tool(EditTool::Paste));
    }),
    ("large edit", |session| {
        let scene = session.stage.as_mut().and_then(Stage::voxel_scene).unwrap();
        let center = VoxelPos::new(8, 0, 8);
        let ball = VoxelShape::Sphere { center, radius_voxels: 60 };
        let begun = session.editing.editor.fill(scene, &ball, Material(2)).unwrap();
        assert_eq!(begun, Edited::Begun);
    }),
    ("change of renderer", |session| apply(session, Action::Renderer(RendererKind::Naive))),
    ("light and samples", |session| {
        apply(session, Action::Hour(Some(18.0)));
        apply(session, Action::Shadows);
        apply(session, Action::NextSamples);
    }),
    ("measuring", |session| apply(session, Action::MeasureCosts)),
];

/// In every mode, a session on another device shows what it would have shown on the first one.
#[test]
fn a_lost_device_changes_nothing_in_any_mode() {
    for (name, mode) in MODES {
        let [mut expected, mut lost] = [(); 2].map(|()| {
            let mut session = session(Host::Window);
            mode(&mut session);
            session
        });
        lost.detach();
        assert!(lost.has_content(), "{name}");
        attach(&mut lost);
        for session in [&mut expected, &mut lost] {
            while session.is_measuring() {
                session.measure_round().unwrap();
            }
            session.finish_editing();
            settle(session);
        }
        assert!(picture(&mut lost) == picture(&mut expected), "{name}");
        let at = Some([50.0, 28.0]);
        assert_eq!(lost.outline(at), expected.outline(at), "{name}");
        assert_eq!(lost.camera().kind(), expected.camera().kind(), "{name}");
        assert_eq!(lost.camera().speed_factor(), expected.camera().speed_factor(), "{name}");
        assert_eq!(lost.camera().view(), expected.camera().view(), "{name}");
        let states = [&lost, &expected].map(|it| it.editing().editor().save_state());
        assert_eq!(states[0], states[1], "{name}");
    }
}
