//! Clicks all over the panel.

use drystone::scene::{BrushForm, EditTool};
use drystone_render::Camera;
use drystone_voxel::{Material, VoxelPos};
use egui::{Event, Modifiers, PointerButton, RawInput, Rect};

use super::*;

const SIZE: [f32; 2] = [300.0, 1240.0];

fn materials() -> MaterialTable {
    let mut materials = MaterialTable::new();
    for name in ["stone", "grass", "wa\nter"] {
        materials.insert(name, [9, 80, 7, 255]).unwrap();
    }
    materials
}

fn settings() -> Settings {
    let castle = RecentFile::of("/a/castle.vox".into());
    Settings { recent: vec![castle], ..Settings::default() }
}

fn facts<'a>(materials: &'a MaterialTable, settings: &'a Settings, is_on: bool) -> Facts<'a> {
    let edit = EditFacts {
        is_on,
        brush: Brush { form: BrushForm::Ball, ..Brush::default() },
        selection: Selection::default(),
        materials,
        undo_list: vec![EditSummary { voxel_count: 27, material: Some(Material(1)) }; 3],
        redo_list: vec![EditSummary { voxel_count: 1, material: None }],
        save_text: "saved".into(),
    };
    let mut drawn = DrawStats::default();
    drawn.triangles = 4;
    Facts {
        name: "a world",
        backend: "some adapter",
        backend_kind: BackendKind::Gl,
        renderer: RendererKind::Pool,
        drawn,
        held: HeldStats::default(),
        pool: Some(PoolStats::default()),
        ranges: Some(Vec::new()),
        view: View::new(Camera::default()),
        cull: Cull::Cpu,
        samples: Samples::Four,
        costs: None,
        has_levels: false,
        camera_kind: CameraKind::Fly,
        speed_text: Some("12 voxels/s (×1.20)".into()),
        hour: None,
        settings,
        edit: Some(edit),
    }
}

/// Shows the panel with these events, and returns the user's actions.
fn pass(
    context: &Context,
    panels: &mut Panels,
    facts: &Facts<'_>,
    events: Vec<Event>,
) -> Vec<Action> {
    pass_in(SIZE, context, panels, facts, events)
}

/// Shows the panel in a window of a size.
fn pass_in(
    [width, height]: [f32; 2],
    context: &Context,
    panels: &mut Panels,
    facts: &Facts<'_>,
    events: Vec<Event>,
) -> Vec<Action> {
    let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height));
    let input = RawInput { screen_rect: Some(screen), events, ..RawInput::default() };
    let (mut actions, times) = (Vec::new(), Times::default());
    let output = context.run_pass(input, |context| {
        panels.show(context, facts, &times, &mut actions);
    });
    output.drop_without_applying_deltas();
    actions
}

/// Returns the actions of a click on a panel without folded sections.
fn click(
    context: &Context,
    panels: &mut Panels,
    facts: &Facts<'_>,
    [x, y]: [f32; 2],
) -> Vec<Action> {
    let (pos, button, modifiers) = (pos2(x, y), PointerButton::Primary, Modifiers::NONE);
    let button = |pressed| Event::PointerButton { pos, button, pressed, modifiers };
    let down = vec![Event::PointerMoved(pos), button(true)];
    context.memory_mut(|memory| *memory = egui::Memory::default());
    // egui lays out a new window in its first passes.
    [vec![], vec![], down, vec![button(false)]]
        .into_iter()
        .flat_map(|events| pass(context, panels, facts, events))
        .collect()
}

/// Points all over the panel, closer together than any button is large.
fn points() -> impl Iterator<Item = [f32; 2]> {
    let rows = (2..SIZE[1] as u16 / 12).map(|row| f32::from(row) * 12.0);
    rows.flat_map(|y| (1..14_u8).map(move |x| [f32::from(x) * 20.0, y]))
}

/// Clicks everywhere trigger every action, except for those already active.
#[test]
fn every_switch_can_be_reached() {
    let (materials, settings, context) = (materials(), settings(), Context::default());
    let facts = facts(&materials, &settings, false);
    let tabs = [Tab::Scene, Tab::Performance].into_iter();
    let places = tabs.flat_map(|tab| points().map(move |at| (tab, at)));
    let clicked = |(tab, at)| click(&context, &mut Panels { tab, ..Panels::default() }, &facts, at);
    let done: Vec<Action> = places.flat_map(clicked).collect();
    let kinds = [RendererKind::Naive, RendererKind::Instanced(SlotPolicy::Lowest)];
    let switches =
        [Action::FaceMask, Action::Frustum, Action::Sort, Action::Cull, Action::Occlusion];
    let buttons = [
        Action::Camera(CameraKind::Walk),
        Action::Camera(CameraKind::Orbit),
        Action::Edit,
        Action::Help,
        Action::Home,
        Action::Fit,
        Action::Reload,
        Action::FullScreen,
        Action::Screenshot,
        Action::OpenDialog,
        Action::OpenRecent(0),
    ];
    let air = [
        Action::Levels,
        Action::Tint,
        Action::Shadows,
        Action::SkyLight,
        Action::Bloom,
        Action::Wire,
        Action::Samples(Samples::One),
        Action::Samples(Samples::Eight),
        Action::MeasureCosts,
    ];
    let steps = [1, -1, -2, -3].map(Action::History);
    let edits = [Action::Undo, Action::Redo, Action::Save];
    let expected = kinds.map(Action::Renderer).into_iter().chain(switches).chain(buttons);
    let backends = [BackendKind::Wgpu, BackendKind::Soft].map(Action::Backend);
    for action in expected.chain(air).chain(edits).chain(steps).chain(backends) {
        assert!(done.contains(&action), "{action:?} cannot be clicked");
    }
    let is_cube = |it: &Action| matches!(it, Action::Brush(it) if it.form == BrushForm::Cube);
    assert!(done.iter().any(is_cube));
    assert!(done.iter().any(|it| matches!(it, Action::MouseSpeed(_))));
    assert!(done.iter().any(|it| matches!(it, Action::Hour(_))));
    assert!(done.iter().any(|it| matches!(it, Action::Haze(_))));
    for same in [
        Action::Renderer(RendererKind::Pool),
        Action::Backend(BackendKind::Gl),
        Action::Samples(Samples::Four),
    ] {
        assert!(!done.contains(&same), "{same:?} is already active");
    }
}

/// A panel without input changes nothing, whatever values its sliders show.
#[test]
fn a_panel_without_input_does_nothing() {
    let (materials, settings, context) = (materials(), settings(), Context::default());
    let hazes = [0.0, 3.7, 32.0, 87.31, 1_234.5, 65_535.7, 1e7];
    for (haze_end, hour) in hazes.into_iter().zip([None, Some(18.503), Some(0.0)].repeat(3)) {
        let mut facts = Facts { hour, ..facts(&materials, &settings, false) };
        facts.view.atmosphere = facts.view.atmosphere.with_haze(haze_end / 2.0, haze_end, 0.6);
        let mut panels = Panels::default();
        for _ in 0..3 {
            let done = pass(&context, &mut panels, &facts, vec![]);
            assert_eq!(done, [], "haze from {haze_end}, {hour:?}");
        }
    }
}

/// Switches for voxels are greyed out for a model; the others work.
#[test]
fn switches_for_voxels_are_disabled_for_a_model() {
    let (materials, settings, context) = (materials(), settings(), Context::default());
    let facts = Facts { edit: None, ..facts(&materials, &settings, false) };
    // The checkboxes are in one column.
    let column = || points().filter(|at| at[0] == 40.0);
    let tabs = [Tab::Scene, Tab::Performance].into_iter();
    let places = tabs.flat_map(|tab| column().map(move |at| (tab, at)));
    let clicked = |(tab, at)| click(&context, &mut Panels { tab, ..Panels::default() }, &facts, at);
    let done: Vec<Action> = places.flat_map(clicked).collect();
    for action in [Action::FaceMask, Action::Occlusion, Action::Levels, Action::Tint] {
        assert!(!done.contains(&action), "{action:?}");
    }
    for action in [
        Action::Frustum,
        Action::Sort,
        Action::Cull,
        Action::Shadows,
        Action::SkyLight,
        Action::Bloom,
        Action::Wire,
    ] {
        assert!(done.contains(&action), "{action:?}");
    }
}

/// Paths keep their beginning and the name of the file.
#[test]
fn long_paths_are_shortened_in_their_middle() {
    let path = "/home/someone/worlds/far away/region/r.0.0.mca";
    assert_eq!(shortened(path), "/home/so…way/region/r.0.0.mca");
    assert_eq!(shortened("r.0.0.mca"), "r.0.0.mca");
}

/// A folded map costs nothing.
#[test]
fn a_folded_map_is_not_drawn() {
    let (materials, settings, context) = (materials(), settings(), Context::default());
    let facts = facts(&materials, &settings, false);
    let seen = |at| {
        let mut panels = Panels { tab: Tab::Performance, ..Panels::default() };
        click(&context, &mut panels, &facts, at);
        // Folding takes some passes.
        (0..8).for_each(|_| drop(pass(&context, &mut panels, &facts, vec![])));
        panels.needs_ranges(Instant::now() + MAP_INTERVAL * MAP_SHARE)
    };
    let column = || (1..40_u8).map(|row| [20.0, f32::from(row) * 9.0]);
    let folded: Vec<f32> = column().filter(|&at| !seen(at)).map(|[_, y]| y).collect();
    // The window's title, and that of the section.
    assert!(folded.iter().any(|&y| y < 40.0) && folded.iter().any(|&y| y > 60.0), "{folded:?}");
    assert!(folded.len() < column().count() / 4, "{folded:?}");
}

/// Entered coordinates move the camera; invalid ones show an error.
#[test]
fn entered_coordinates_move_the_camera() {
    let (materials, settings, context) = (materials(), settings(), Context::default());
    let facts = facts(&materials, &settings, true);
    for (words, expected) in [("10, -4.5,3e2", Some(DVec3::new(10.0, -4.5, 300.0))), ("1,2", None)]
    {
        let mut panels = Panels { target: words.into(), ..Panels::default() };
        let mut gone = None;
        for at in points() {
            panels.tab = Tab::Scene;
            gone = click(&context, &mut panels, &facts, at).into_iter().find_map(|it| match it {
                Action::Go(to) => Some(to),
                _ => None,
            });
            if gone.is_some() || panels.is_target_wrong {
                break;
            }
        }
        assert_eq!((gone, panels.is_target_wrong), (expected, expected.is_none()), "{words}");
    }
}

/// The panel is as high as its contents again after the window was low.
#[test]
fn the_panel_grows_with_the_window() {
    let (materials, settings, context) = (materials(), settings(), Context::default());
    let (facts, mut panels) = (facts(&materials, &settings, true), Panels::default());
    let mut height = |window: f32| {
        for _ in 0..4 {
            pass_in([600.0, window], &context, &mut panels, &facts, vec![]);
        }
        let layer = context.layer_id_at(pos2(100.0, 50.0)).expect("the panel");
        context.memory(|memory| memory.area_rect(layer.id)).expect("the panel").height()
    };
    let first = height(1000.0);
    assert!(first > 400.0, "{first}");
    let low = height(200.0);
    assert!(low <= 200.0, "{low}");
    assert_eq!(height(1000.0), first);
}

/// Escape closes only a list that is open.
#[test]
fn an_open_list_can_be_closed() {
    let (materials, settings, context) = (materials(), settings(), Context::default());
    let (facts, mut panels) = (facts(&materials, &settings, true), Panels::default());
    let opens = |at: &[f32; 2]| {
        panels.tab = Tab::Scene;
        click(&context, &mut panels, &facts, *at);
        Popup::is_any_open(&context)
    };
    assert!(points().find(opens).is_some(), "no list of text sizes");
    assert!(close_lists(&context));
    pass(&context, &mut panels, &facts, vec![]);
    assert!(!Popup::is_any_open(&context) && !close_lists(&context));
}

/// While clicks edit, all controls of selection, copy and mirror can be clicked.
#[test]
fn controls_of_the_selection_can_be_reached_while_editing() {
    let (materials, settings, context) = (materials(), settings(), Context::default());
    let mut facts = facts(&materials, &settings, true);
    let clicked = |facts: &Facts<'_>| {
        let clicked = |at| click(&context, &mut Panels::default(), facts, at);
        points().filter(|at| at[1] < 620.0).flat_map(clicked).collect::<Vec<Action>>()
    };
    let tools = [Action::Tool(EditTool::Select), Action::NextMirror];
    let edits = [
        Action::FillSelection,
        Action::EmptySelection,
        Action::Tool(EditTool::Replace),
        Action::Copy,
        Action::Cut,
    ];
    let done = clicked(&facts);
    assert!(tools.iter().all(|action| done.contains(action)), "{done:?}");
    assert!(!edits.iter().any(|action| done.contains(action)), "nothing is selected");
    let corner = VoxelPos::new(1, 2, 3);
    if let Some(edit) = &mut facts.edit {
        edit.selection.select(corner, corner);
    }
    let done = clicked(&facts);
    for action in edits {
        assert!(done.contains(&action), "{action:?} cannot be clicked");
    }
}
