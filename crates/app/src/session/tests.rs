use drystone_render::{Image, Samples, SlotPolicy, SoftDevice};
use drystone_voxel::{Material, MaterialTable, VoxelPos};
use drystone_world::{
    GeneratedWorld, GeneratorConfig, MovingConfig, MovingKind, MovingWorld, Opened, VoxelRay, World,
};
use glam::DVec3;

mod cameras;
mod cubes;
mod devices;
mod messages;
mod selection;

use super::*;
use crate::scene::{BrushForm, EditAction, MemoryBudget, OpenDevice, SaveState, Shade};
use crate::{FlightKey, LevelsFor, LoadOptions, LodLimits, ViewOptions};

const SIZE: Size = Size { width: 96, height: 64 };
const DOWN: VoxelRay = VoxelRay { origin: [8.5, 20.0, 8.5], direction: [0.0, -1.0, 0.0] };

fn options(host: Host) -> SessionOptions {
    let (renderer, cull) = (RendererKind::Pool, Cull::Cpu);
    SessionOptions { host, view: ViewOptions::new(SIZE), renderer, cull, max_edit_bytes: 1 << 20 }
}

fn device() -> OpenDevice {
    OpenDevice::new(SoftDevice::new(SIZE.width, SIZE.height).unwrap())
}

fn attach(session: &mut Session) {
    let prepared = session.prepare(device()).unwrap();
    session.attach(prepared).unwrap();
}

/// A floor of stone with a wall, on a device.
fn session(host: Host) -> Session {
    let mut materials = MaterialTable::new();
    let [stone, _] =
        ["stone", "grass"].map(|name| materials.insert(name, [90, 90, 90, 255]).unwrap());
    let mut world = World::new("a floor", materials);
    for x in 0..16 {
        for z in 0..16 {
            world.set(VoxelPos::new(x, 0, z), stone);
        }
        world.set(VoxelPos::new(x, 1, 3), stone);
    }
    let data = Arc::new(LodData::new(Box::new(world), usize::MAX));
    let limits = LodLimits::from(MemoryBudget::default()).full_detail();
    let mut session = Session::new(Content::Voxels(data, limits), &options(host));
    attach(&mut session);
    settle(&mut session);
    session
}

/// Draws until all meshes are shown.
fn settle(session: &mut Session) {
    for _ in 0..10_000 {
        session.follow(Duration::ZERO).unwrap();
        if session.is_settled() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("meshes are missing");
}

fn picture(session: &mut Session) -> Image {
    session.picture().unwrap().unwrap().0
}

/// Applies an action that the session executes itself.
fn apply(session: &mut Session, action: Action) {
    assert_eq!(session.apply(action).unwrap(), None, "{action:?}");
}

/// Draws until a change is complete, and returns it.
fn finish_change(session: &mut Session) -> Changed {
    for _ in 0..20_000 {
        if let Some(changed) = session.follow(Duration::ZERO).unwrap() {
            return changed;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the change does not end");
}

#[test]
fn held_keys_move_the_camera_and_home_brings_it_back() {
    let mut session = session(Host::Window);
    let start = session.camera().view().camera;
    apply(&mut session, Action::Hold(FlightKey::Forward));
    assert!(session.is_active());
    let now = Instant::now();
    session.advance(now + Duration::from_millis(50));
    let moved = session.camera().view().camera.position - start.position;
    assert!(moved.dot(start.basis()[2].as_dvec3()) > 0.01, "{moved}");
    apply(&mut session, Action::Release(FlightKey::Forward));
    let mut frames = 0;
    while session.is_active() && frames < 100 {
        frames += 1;
        session.advance(now + Duration::from_millis(50 + 10 * frames));
    }
    assert!((10..100).contains(&frames), "stops after {frames} frames");
    // The camera does not fly on at another place.
    for place in [Action::Go(DVec3::ZERO), Action::Home] {
        apply(&mut session, Action::Hold(FlightKey::Forward));
        session.advance(now + Duration::from_secs(9));
        session.advance(now + Duration::from_secs(10));
        apply(&mut session, Action::Release(FlightKey::Forward));
        apply(&mut session, place);
        assert!(!session.is_active(), "{place:?}");
    }
    assert_eq!(session.camera().view().camera.position, start.position);
}

#[test]
fn actions_on_files_devices_and_panels_are_returned() {
    let mut session = session(Host::Window);
    for action in [Action::Save, Action::NextBackend, Action::Help, Action::Escape] {
        assert_eq!(session.apply(action).unwrap(), Some(action));
    }
    for (_, action) in crate::keys::bindings(Host::Page) {
        session.apply(action).unwrap();
    }
}

#[test]
fn edits_change_the_picture_and_are_undone_and_redone() {
    let mut session = session(Host::Window);
    let before = picture(&mut session);
    // Brush keys do nothing until editing is on.
    apply(&mut session, Action::NextForm);
    assert_eq!(session.editing().editor().brush.form, BrushForm::Voxel);
    apply(&mut session, Action::Edit);
    apply(&mut session, Action::NextForm);
    apply(&mut session, Action::StepMaterial(1));
    let brush = session.editing().editor().brush;
    assert_eq!((brush.form, brush.material), (BrushForm::Cube, Material(2)));
    let changes = session.editing().changes();
    apply(&mut session, Action::Click(EditAction::Remove, DOWN));
    assert!(session.message().ends_with("voxels changed"), "{}", session.message());
    assert!(session.editing().changes() > changes);
    let edited = picture(&mut session);
    assert!(edited != before);
    apply(&mut session, Action::Undo);
    assert!(picture(&mut session) == before);
    apply(&mut session, Action::Redo);
    assert!(picture(&mut session) == edited);
    // On another device, too, with the same history.
    session.detach();
    assert!(session.stage().is_none() && session.has_content());
    attach(&mut session);
    settle(&mut session);
    assert!(picture(&mut session) == edited);
    apply(&mut session, Action::Undo);
    assert!(picture(&mut session) == before);
    assert_eq!(session.saver().state(), SaveState::NotSaved);
}

#[test]
fn the_renderer_changes_while_the_session_draws() {
    let mut session = session(Host::Window);
    let before = picture(&mut session);
    apply(&mut session, Action::NextRenderer);
    assert_eq!((session.renderer(), session.requested_renderer()), {
        (RendererKind::Pool, RendererKind::Naive)
    });
    assert!(session.is_active() && picture(&mut session) == before);
    let changed = finish_change(&mut session);
    assert_eq!(changed.to, ChangeTarget::Renderer(RendererKind::Naive));
    assert!(changed.report.starts_with("switched to the naive renderer in"), "{changed:?}");
    assert_eq!(session.renderer(), RendererKind::Naive);
    apply(&mut session, Action::Occlusion);
    apply(&mut session, Action::NextRenderer);
    assert_eq!(session.message(), Session::BUSY);
    assert_eq!(finish_change(&mut session).to, ChangeTarget::Occlusion(false));
    assert!(!session.camera().look().occlusion);
    // A page has no cubes.
    let mut page = self::session(Host::Page);
    apply(&mut page, Action::NextRenderer);
    finish_change(&mut page);
    apply(&mut page, Action::NextRenderer);
    assert_eq!(page.requested_renderer(), RendererKind::Pool);
    apply(&mut page, Action::Cull);
    assert!(page.message().contains("not available in browsers"), "{}", page.message());
}

/// Ambient occlusion is on by default. Cubes have none; it returns with the next renderer.
#[test]
fn cubes_are_drawn_without_ambient_occlusion() {
    let mut session = session(Host::Window);
    let strength = |session: &Session| session.camera().view().atmosphere.ambient_occlusion;
    let shaded = picture(&mut session);
    assert!(strength(&session) > 0.0);
    apply(&mut session, Action::Renderer(RendererKind::Instanced(SlotPolicy::Lowest)));
    assert!(picture(&mut session) == shaded, "until the change is complete");
    finish_change(&mut session);
    assert!(strength(&session) == 0.0 && session.camera().look().occlusion);
    let cubes = picture(&mut session);
    apply(&mut session, Action::Occlusion);
    assert!(session.message().contains("no ambient occlusion"), "{}", session.message());
    assert_eq!(session.take_notes().last().map(String::as_str), Some(session.message()));
    assert!(session.camera().look().occlusion && !session.is_changing());
    apply(&mut session, Action::Renderer(RendererKind::Naive));
    finish_change(&mut session);
    assert!(picture(&mut session) == shaded && cubes != shaded);
}

#[test]
fn content_at_levels_of_detail_is_read_as_requested() {
    let config = GeneratorConfig::default().with_size_chunks([2, 3, 2]);
    let budget = MemoryBudget::default();
    let load = |levels: LevelsFor| {
        let source = Box::new(GeneratedWorld::new(config.clone()).unwrap());
        let options = LoadOptions { levels, limits: budget.into(), shade: Shade::default() };
        Content::read(Opened::Voxels(source), &options, &Progress::default()).unwrap()
    };
    for (levels, expected) in [
        (LevelsFor::All, true),
        (LevelsFor::MoreChunksThan(11), true),
        (LevelsFor::MoreChunksThan(12), false),
        (LevelsFor::None, false),
    ] {
        let mut session = Session::new(load(levels), &options(Host::Window));
        attach(&mut session);
        assert_eq!(session.has_levels(), expected, "{levels:?}");
    }
    // The same world, shown differently, keeps the camera.
    let mut session = Session::new(load(LevelsFor::None), &options(Host::Window));
    attach(&mut session);
    apply(&mut session, Action::Turn([40.0, 9.0]));
    let camera = session.camera().view().camera;
    settle(&mut session);
    let before = picture(&mut session);
    apply(&mut session, Action::Edit);
    for expected in [true, false] {
        apply(&mut session, Action::Levels);
        assert!(session.has_levels() == expected && session.is_changing());
        // The old scene is drawn until the new one is complete.
        assert!(picture(&mut session) == before || !expected);
        apply(&mut session, Action::Occlusion);
        assert_eq!(session.message(), Session::BUSY);
        // A second press cancels the change.
        apply(&mut session, Action::Levels);
        assert!(session.has_levels() != expected && !session.is_changing());
        apply(&mut session, Action::Levels);
        assert_eq!(finish_change(&mut session).to, ChangeTarget::Levels(expected));
        settle(&mut session);
        assert!(!session.is_changing() && session.editing().is_on());
        let now = session.camera().view().camera;
        assert_eq!((now.position, now.yaw, now.pitch), (camera.position, camera.yaw, camera.pitch));
    }
    assert!(picture(&mut session) == before);
    // Cubes have no levels, and a change back keeps the edits.
    apply(&mut session, Action::Renderer(RendererKind::Instanced(SlotPolicy::Lowest)));
    finish_change(&mut session);
    apply(&mut session, Action::Levels);
    assert!(session.message().contains("press R first"), "{}", session.message());
    assert!(!session.has_levels());
}

#[test]
fn a_world_without_memory_for_full_detail_is_shown_at_levels_of_detail() {
    let config = GeneratorConfig::default().with_size_chunks([4, 4, 4]);
    let source = Box::new(GeneratedWorld::new(config).unwrap());
    let (levels, limits) = (LevelsFor::None, MemoryBudget::default().into());
    let load = LoadOptions { levels, limits, shade: Shade::default() };
    let content = Content::read_voxels(source, &load, &Progress::default()).unwrap();
    let mut session = Session::new(content, &options(Host::Window));
    attach(&mut session);
    let scene = session.stage().and_then(Stage::voxel_scene).unwrap();
    scene.set_max_bytes(64 << 10);
    for _ in 0..20_000 {
        session.follow(Duration::from_millis(1)).unwrap();
        if session.has_levels() && session.is_settled() {
            break;
        }
    }
    assert!(session.has_levels() && session.is_settled());
    assert!(session.message().contains("no memory for full detail"), "{}", session.message());
}

/// An edit during a switch is visible at once, and stays when the switch is complete.
#[test]
fn edits_during_a_switch_of_levels_are_shown() {
    let mut session = session(Host::Window);
    apply(&mut session, Action::Edit);
    apply(&mut session, Action::Levels);
    let before = picture(&mut session);
    apply(&mut session, Action::Click(EditAction::Remove, DOWN));
    let edited = picture(&mut session);
    assert!(session.is_changing() && edited != before);
    settle(&mut session);
    assert!(session.has_levels() && !session.is_changing());
    assert!(picture(&mut session).difference(&edited, 8).unwrap().pixels < 20);
}

/// A moving scene changes in every frame, also in the next renderer. It waits while that is filled.
#[test]
fn a_moving_scene_changes_in_every_frame() {
    let config = MovingConfig::new(MovingKind::Noise).with_size_chunks([2; 3]);
    let source = Box::new(MovingWorld::new(config).unwrap());
    let (levels, limits) = (LevelsFor::None, MemoryBudget::default().into());
    let load = LoadOptions { levels, limits, shade: Shade::default() };
    let content = Content::read_voxels(source, &load, &Progress::default()).unwrap();
    let mut session = Session::new(content, &options(Host::Window));
    attach(&mut session);
    settle(&mut session);
    let mut before = picture(&mut session);
    let mut next = |session: &mut Session| {
        session.follow(Duration::from_secs(1)).unwrap();
        let next = picture(session);
        let is_moved = next != before;
        before = next;
        is_moved
    };
    assert!((0..4).all(|_| next(&mut session)) && session.is_active());
    apply(&mut session, Action::Renderer(RendererKind::Instanced(SlotPolicy::Lowest)));
    finish_change(&mut session);
    next(&mut session);
    assert!((0..4).all(|_| next(&mut session)) && !session.is_changing());
    session.detach();
    attach(&mut session);
    settle(&mut session);
    next(&mut session);
    assert!((0..4).all(|_| next(&mut session)));
}

#[test]
fn samples_are_switched_and_stay_on_another_device() {
    let mut session = session(Host::Page);
    let one = picture(&mut session);
    apply(&mut session, Action::NextSamples);
    let four = picture(&mut session);
    assert!(four != one && session.camera().view().fade_far);
    session.detach();
    attach(&mut session);
    settle(&mut session);
    assert!(picture(&mut session) == four);
    apply(&mut session, Action::Samples(Samples::One));
    assert!(picture(&mut session) == one && !session.camera().view().fade_far);
}

/// Measuring leaves picture and switches unchanged, also if it is cancelled within a round.
#[test]
fn costs_are_measured_without_changing_the_picture() {
    let mut session = session(Host::Page);
    apply(&mut session, Action::Shadows);
    let before = picture(&mut session);
    assert!(session.costs().is_none());
    apply(&mut session, Action::MeasureCosts);
    assert!(session.is_measuring() && session.is_active());
    assert!(session.begin_round().unwrap());
    assert!(session.picture().unwrap().unwrap().0 == before, "in a round");
    for _ in 0..100 {
        session.measure_round().unwrap();
        assert!(picture(&mut session) == before);
    }
    assert!(!session.is_measuring());
    let costs = *session.costs().unwrap();
    assert!(costs.picture_ms > 0.0);
    let measured = [CostSwitch::Samples, CostSwitch::Shadows].map(|it| costs.of(it).is_some());
    assert_eq!(measured, [true; 2]);
    session.detach();
    assert!(session.costs().is_none(), "another device has other costs");
}

/// A moving scene keeps moving if there is no memory for its meshes, with coarser voxels.
#[test]
fn a_moving_scene_without_memory_does_not_fail() {
    let config = MovingConfig::new(MovingKind::Random).with_size_chunks([4; 3]);
    let source = Box::new(MovingWorld::new(config).unwrap());
    let (levels, limits) = (LevelsFor::All, MemoryBudget::default().into());
    let load = LoadOptions { levels, limits, shade: Shade::default() };
    let content = Content::read_voxels(source, &load, &Progress::default()).unwrap();
    let mut session = Session::new(content, &options(Host::Window));
    attach(&mut session);
    settle(&mut session);
    let scene = session.stage().and_then(Stage::voxel_scene).unwrap();
    let used_bytes = scene.renderer().held().used_bytes;
    scene.set_max_bytes(used_bytes / 2);
    for _ in 0..300 {
        session.follow(Duration::from_millis(1)).unwrap();
    }
    let scene = session.stage().and_then(Stage::voxel_scene).unwrap();
    assert!(scene.coarsening() > 1.0, "the limit was not reached");
}
