//! The panel: what to open, edit and see, and a tab for performance.

use std::time::{Duration, Instant};

use drystone::{
    Action, CameraKind, Costs,
    scene::{BackendKind, Brush, RendererKind, Selection},
};
use drystone_pool::{PoolRange, PoolStats};
use drystone_render::{Cull, DrawStats, HeldStats, Samples, SlotPolicy, View};
use drystone_voxel::MaterialTable;
use drystone_world::EditSummary;
use egui::{
    Align2, Button, Checkbox, CollapsingHeader, Color32, Context, Id, Image, Popup, Rect,
    ScrollArea, Sense, Shape, Slider, Stroke, TextStyle, TextureHandle, TextureOptions, Ui, Window,
    pos2, vec2,
};
use glam::DVec3;

use super::{
    frame_times::{FrameTimes, Percentiles, Times},
    pool_map,
};
use crate::{
    cli,
    output::{self, bytes, grouped},
    settings::{MOUSE_SPEEDS, RecentFile, Settings},
};

mod air;
mod edit;
mod history;
mod quality;
mod selection;
mod swatches;
mod window;

pub(crate) use history::LISTED;

/// Data that the panels show.
pub(crate) struct Facts<'a> {
    pub(crate) name: &'a str,
    pub(crate) backend: &'a str,
    pub(crate) backend_kind: BackendKind,
    pub(crate) renderer: RendererKind,
    pub(crate) drawn: DrawStats,
    pub(crate) held: HeldStats,
    pub(crate) pool: Option<PoolStats>,
    /// Ranges of the pool, if [needed](Panels::needs_ranges).
    pub(crate) ranges: Option<Vec<PoolRange>>,
    pub(crate) view: View,
    pub(crate) cull: Cull,
    /// Number of samples that the device draws.
    pub(crate) samples: Samples,
    /// Measured costs of switches.
    pub(crate) costs: Option<Costs>,
    pub(crate) has_levels: bool,
    pub(crate) camera_kind: CameraKind,
    /// Speed of flight in words; `None` if the camera does not fly.
    pub(crate) speed_text: Option<String>,
    /// Hour of the day, if one was chosen.
    pub(crate) hour: Option<f32>,
    pub(crate) settings: &'a Settings,
    /// `None` for polygon models.
    pub(crate) edit: Option<EditFacts<'a>>,
}

/// Data about editing.
pub(crate) struct EditFacts<'a> {
    pub(crate) is_on: bool,
    pub(crate) brush: Brush,
    pub(crate) selection: Selection,
    pub(crate) materials: &'a MaterialTable,
    /// Edits that can be undone, the newest first, and that can be redone, the next one first; at
    /// most [`LISTED`] of each.
    pub(crate) undo_list: Vec<EditSummary>,
    pub(crate) redo_list: Vec<EditSummary>,
    /// State of saving, in words.
    pub(crate) save_text: String,
}

/// Tab of the panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    /// Files, editing, light, camera and quality.
    #[default]
    Scene,
    /// Frame times, the pool, renderers and culling.
    Performance,
}

/// State of the panels between frames.
#[derive(Default)]
pub(crate) struct Panels {
    tab: Tab,
    map: Option<TextureHandle>,
    /// Time at which the map was drawn, and the minimum time until it is drawn again.
    map_drawn: Option<(Instant, Duration)>,
    is_map_shown: bool,
    /// Text of the coordinate field.
    target: String,
    is_target_wrong: bool,
    /// Part of the name of a material that the user searches.
    material_query: String,
}

/// Smallest and first width of the panel, in points; the map of the pool has as many pixels.
const WIDTH: f32 = 248.0;
const MAP_ROWS: usize = 8;
/// Height of the plot of frame times, in points.
const PLOT_HEIGHT: f32 = 54.0;
/// Milliseconds of a frame at 60 and at 30 frames per second.
const MARKS: [f32; 2] = [16.7, 33.3];
/// Height of the window that the panel does not scroll in: its title, its tabs and margins, in points.
const MARGIN: f32 = 90.0;
/// Minimum time between two drawings of the map.
const MAP_INTERVAL: Duration = Duration::from_millis(250);
/// Drawing the map takes at most one part in this many of the time.
const MAP_SHARE: u32 = 100;

impl Panels {
    /// Whether the map of the pool has to be drawn again.
    pub(crate) fn needs_ranges(&self, now: Instant) -> bool {
        let is_old = |(drawn, wait)| now.duration_since(drawn) >= wait;
        self.is_map_shown && self.map_drawn.is_none_or(is_old)
    }

    /// Forgets the search for a material of the content before.
    pub(super) fn content_changed(&mut self) {
        self.material_query.clear();
    }

    /// Shows the panel; adds the user's actions to `actions`.
    pub(super) fn show(
        &mut self,
        context: &Context,
        facts: &Facts<'_>,
        times: &Times,
        actions: &mut Vec<Action>,
    ) {
        let height = context.content_rect().height() - MARGIN;
        // A map that is folded or scrolled out of view is not drawn.
        self.is_map_shown = false;
        Window::new("drystone")
            .id(panel_id())
            .default_pos([8.0, 8.0])
            .default_width(WIDTH)
            .resizable([true, false])
            .min_width(WIDTH)
            .show(context, |ui| {
                ui.set_width(ui.available_width());
                ui.horizontal(|ui| {
                    ui.selectable_value(&mut self.tab, Tab::Scene, "Scene");
                    ui.selectable_value(&mut self.tab, Tab::Performance, "Performance");
                });
                // The window would keep the height of a window that was once small.
                let scroll = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
                scroll.auto_shrink([false, true]).show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    match self.tab {
                        Tab::Scene => self.scene(ui, facts, actions),
                        Tab::Performance => {
                            section(ui, "Frames", |ui| figures(ui, facts, times));
                            section(ui, "Pool", |ui| self.pool(ui, facts));
                            section(ui, "Drawing", |ui| switches(ui, facts, actions));
                        }
                    }
                });
            });
    }

    fn scene(&mut self, ui: &mut Ui, facts: &Facts<'_>, actions: &mut Vec<Action>) {
        section(ui, "Open", |ui| {
            line(ui, "shown", &shortened(&output::plain(facts.name)));
            files(ui, facts.settings, actions);
        });
        if let Some(edit) = &facts.edit {
            section(ui, "Edit", |ui| {
                edit::show(ui, edit, &mut self.material_query, actions);
            });
        }
        section(ui, "Camera", |ui| {
            cameras(ui, facts, actions);
            self.go(ui, facts, actions);
            mouse(ui, facts.settings, actions);
        });
        section(ui, "Light and air", |ui| air::show(ui, facts, actions));
        section(ui, "Quality", |ui| quality::show(ui, facts, actions));
        section(ui, "Window", |ui| window::show(ui, facts.settings, actions));
    }

    /// Shows the pool's memory and its map.
    fn pool(&mut self, ui: &mut Ui, facts: &Facts<'_>) {
        let HeldStats { used_bytes, reserved_bytes, .. } = facts.held;
        let free = reserved_bytes.saturating_sub(used_bytes);
        line(ui, "vertices", &format!("{} used, {} free", bytes(used_bytes), bytes(free)));
        let Some(pool) = &facts.pool else {
            ui.label("this renderer has no vertex pool");
            return;
        };
        let traffic = pool.last_frame;
        line(ui, "last frame", &format!("{} uploaded", bytes(traffic.uploaded_bytes)));
        let moved = format!("{} in {} moves", bytes(traffic.moved_bytes), traffic.moves);
        line(ui, "moved", &moved);
        let percent = 100.0 * pool.external_fragmentation();
        line(ui, "buffers", &format!("{}, {percent:.0} % fragmented", pool.buffers));
        if let Some(ranges) = &facts.ranges {
            let start = Instant::now();
            let image = pool_map::picture(ranges, WIDTH as usize, MAP_ROWS);
            let options = TextureOptions::LINEAR;
            match &mut self.map {
                Some(map) => map.set(image, options),
                None => self.map = Some(ui.ctx().load_texture("pool", image, options)),
            }
            let wait = MAP_INTERVAL.max(start.elapsed() * MAP_SHARE);
            self.map_drawn = Some((start, wait));
        }
        let size = vec2(ui.available_width(), pool_map::height(MAP_ROWS) as f32);
        let (area, _) = ui.allocate_exact_size(size, Sense::hover());
        self.is_map_shown = ui.is_rect_visible(area);
        if let Some(map) = &self.map {
            Image::new((map.id(), area.size())).paint_at(ui, area);
            ui.weak("each mesh has a colour; white: waiting, grey: free");
        }
    }

    /// Shows the camera position and a field to change it.
    fn go(&mut self, ui: &mut Ui, facts: &Facts<'_>, actions: &mut Vec<Action>) {
        let DVec3 { x, y, z } = facts.view.camera.position;
        line(ui, "camera", &format!("{x:.0}, {y:.0}, {z:.0}"));
        line(ui, "flying speed", facts.speed_text.as_deref().unwrap_or("–"));
        ui.horizontal(|ui| {
            let edit = egui::TextEdit::singleline(&mut self.target);
            let written = ui.add(edit.hint_text("x,y,z").desired_width(96.0));
            let is_entered =
                written.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if ui.button("Go").clicked() || is_entered {
                let point = cli::point(&self.target.replace(' ', ""));
                self.is_target_wrong = point.is_err();
                actions.extend(point.ok().map(Action::Go));
            }
            for (name, action) in [("Home", Action::Home), ("Fit", Action::Fit)] {
                if ui.button(name).clicked() {
                    actions.push(action);
                }
            }
        });
        if self.is_target_wrong {
            ui.colored_label(ui.visuals().warn_fg_color, "enter three numbers, such as 10,90,-4");
        }
    }
}

fn panel_id() -> Id {
    Id::unique("panel")
}

/// Returns the rectangle of the panel, once it was shown.
pub(super) fn area(context: &Context) -> Option<Rect> {
    context.memory(|memory| memory.area_rect(panel_id()))
}

/// Closes open lists; returns whether there were any.
pub(super) fn close_lists(context: &Context) -> bool {
    let is_open = Popup::is_any_open(context);
    Popup::close_all(context);
    is_open
}

/// Shows a foldable section.
fn section(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui)) {
    CollapsingHeader::new(name).default_open(true).show(ui, add);
}

/// Paints a name and its value. A row of two labels would be three widgets that all react to input.
fn line(ui: &mut Ui, name: &str, value: &str) {
    let font = TextStyle::Body.resolve(ui.style());
    let size = vec2(ui.available_width(), ui.text_style_height(&TextStyle::Body));
    let (area, _) = ui.allocate_exact_size(size, Sense::hover());
    if !ui.is_rect_visible(area) {
        return;
    }
    let [weak, strong] = [ui.visuals().weak_text_color(), ui.visuals().text_color()];
    let words = ui.painter();
    let named = words.text(area.left_top(), Align2::LEFT_TOP, name, font.clone(), weak);
    let at = pos2(named.right() + ui.spacing().item_spacing.x, area.top());
    words.text(at, Align2::LEFT_TOP, value, font, strong);
}

fn figures(ui: &mut Ui, facts: &Facts<'_>, times: &Times) {
    let Facts { drawn, held, .. } = facts;
    plot(ui, &times.frames);
    line(ui, "panels", &format!("{:.2} ms", times.builds.percentiles().p50));
    let of_all = |drawn: u64, all: u64| format!("{} of {}", grouped(drawn), grouped(all));
    line(ui, "commands", &of_all(drawn.commands.into(), held.commands));
    line(ui, "meshes", &of_all(drawn.meshes.into(), held.meshes.into()));
    if drawn.triangles > 0 {
        line(ui, "triangles", &grouped(drawn.triangles));
    }
    line(ui, "quads", &grouped(drawn.quads));
    ui.weak(facts.backend);
}

/// Plots the last frames and shows their percentiles.
fn plot(ui: &mut Ui, times: &FrameTimes) {
    let (response, painter) =
        ui.allocate_painter(vec2(ui.available_width(), PLOT_HEIGHT), Sense::hover());
    let area = response.rect;
    painter.rect_filled(area, 2.0, Color32::from_black_alpha(120));
    let percentiles = times.percentiles();
    let top = percentiles.max.max(MARKS[0]) * 1.1;
    let height = |ms: f32| area.bottom() - ms / top * area.height();
    for mark in MARKS.into_iter().filter(|&mark| mark < top) {
        let stroke = Stroke::new(1.0, Color32::from_gray(80));
        painter.hline(area.x_range(), height(mark), stroke);
    }
    let count = times.iter().len();
    let step = area.width() / count.saturating_sub(1).max(1) as f32;
    let points = times.iter().enumerate();
    let points = points.map(|(i, ms)| pos2(area.left() + i as f32 * step, height(ms))).collect();
    painter.add(Shape::line(points, Stroke::new(1.2, Color32::from_rgb(120, 200, 140))));
    let Percentiles { p50, p99, max } = percentiles;
    line(ui, "ms", &format!("p50 {p50:.1}  p99 {p99:.1}  max {max:.1}"));
}

/// Shortens a long path in its middle: it keeps the first folder and the end.
fn shortened(path: &str) -> String {
    const START: usize = 8;
    const END: usize = 20;
    let letters: Vec<char> = path.chars().collect();
    match letters.len() {
        count if count > START + END + 1 => {
            let [start, end] = [&letters[..START], &letters[count - END..]].map(String::from_iter);
            format!("{start}…{end}")
        }
        _ => path.into(),
    }
}

/// Shows buttons and links to open files.
fn files(ui: &mut Ui, settings: &Settings, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        for (name, action) in [("File…", Action::OpenDialog), ("Load again", Action::Reload)] {
            if ui.button(name).clicked() {
                actions.push(action);
            }
        }
    });
    for (rank, RecentFile { path, .. }) in settings.recent.iter().enumerate() {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let whole = output::plain(&path.to_string_lossy());
        if ui.link(output::plain(&name)).on_hover_text(whole).clicked() {
            actions.push(Action::OpenRecent(rank));
        }
    }
}

fn switches(ui: &mut Ui, facts: &Facts<'_>, actions: &mut Vec<Action>) {
    let kinds = [
        ("pool", RendererKind::Pool),
        ("naive", RendererKind::Naive),
        ("instanced", RendererKind::Instanced(SlotPolicy::Lowest)),
    ];
    ui.horizontal(|ui| {
        for (name, kind) in kinds {
            let is_it = same_kind(kind, facts.renderer);
            if ui.selectable_label(is_it, name).clicked() && !is_it {
                actions.push(Action::Renderer(kind));
            }
        }
    });
    let backends =
        [("wgpu", BackendKind::Wgpu), ("gl", BackendKind::Gl), ("soft", BackendKind::Soft)];
    ui.horizontal(|ui| {
        for (name, kind) in backends {
            let is_it = kind == facts.backend_kind;
            if ui.selectable_label(is_it, name).clicked() && !is_it {
                actions.push(Action::Backend(kind));
            }
        }
    });
    let View { mask_back_faces, cull_frustum, sort_opaque, .. } = facts.view;
    let switches = [
        ("mask back faces", mask_back_faces, Action::FaceMask, true),
        ("frustum culling", cull_frustum, Action::Frustum, false),
        ("sort front to back", sort_opaque, Action::Sort, false),
        ("cull on the GPU", facts.cull == Cull::Gpu, Action::Cull, false),
        ("levels of detail", facts.has_levels, Action::Levels, true),
    ];
    for (name, is_on, action, is_of_voxels) in switches {
        switch(ui, facts, (name, is_on, is_of_voxels), || actions.push(action));
    }
}

/// Shows the kinds of the camera.
fn cameras(ui: &mut Ui, facts: &Facts<'_>, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let kinds =
            [("orbit", CameraKind::Orbit), ("fly", CameraKind::Fly), ("walk", CameraKind::Walk)];
        for (name, kind) in kinds {
            let is_it = facts.camera_kind == kind;
            let can = kind != CameraKind::Walk || facts.edit.is_some();
            let button = ui.add_enabled(can, Button::selectable(is_it, name));
            if button.clicked() && !is_it {
                actions.push(Action::Camera(kind));
            }
        }
    });
}

/// Shows a checkbox; greyed out if it needs voxels and there are none.
fn switch(
    ui: &mut Ui,
    facts: &Facts<'_>,
    (name, mut is_on, is_of_voxels): (&str, bool, bool),
    act: impl FnOnce(),
) {
    let is_for_it = !is_of_voxels || facts.edit.is_some();
    let ticked = ui.add_enabled(is_for_it, Checkbox::new(&mut is_on, name));
    if ticked.on_disabled_hover_text("polygon models have no voxels").clicked() {
        act();
    }
}

/// Shows the slider of the mouse speed.
fn mouse(ui: &mut Ui, settings: &Settings, actions: &mut Vec<Action>) {
    let (mut speed, [slowest, fastest]) = (settings.mouse_speed, MOUSE_SPEEDS);
    let slider = Slider::new(&mut speed, slowest..=fastest).logarithmic(true);
    if ui.add(slider.text("mouse speed")).changed() {
        actions.push(Action::MouseSpeed(speed));
    }
}

/// Whether two renderers are the same, apart from the slot policy of cubes.
const fn same_kind(one: RendererKind, other: RendererKind) -> bool {
    use RendererKind::{Instanced, Naive, Pool};
    matches!((one, other), (Pool, Pool) | (Naive, Naive) | (Instanced(_), Instanced(_)))
}

#[cfg(test)]
mod tests;
