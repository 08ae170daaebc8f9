//! The list of keys, as a window.

use egui::{Align2, Context, Grid, RichText, Window};

use drystone::keys::{self, Host};

/// Margin of the list to the window's height, in points, with its title.
const MARGIN: f32 = 60.0;
/// Minimum height of a line, in points.
const LINE: f32 = 20.0;

/// Shows the list while it is open.
pub(super) fn show(context: &Context, is_open: &mut bool) {
    let max_height = context.content_rect().height() - MARGIN;
    let height = max_height.min(keys::rows(Host::Window).count() as f32 * LINE);
    Window::new("Keys")
        .open(is_open)
        .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
        .resizable(false)
        .collapsible(false)
        .vscroll(true)
        .default_height(height)
        .max_height(max_height)
        .show(context, |ui| {
            Grid::new("keys").num_columns(2).striped(true).spacing([12.0, 2.0]).show(ui, |ui| {
                for (keys, what) in keys::rows(Host::Window) {
                    ui.label(RichText::new(keys).strong());
                    ui.label(what);
                    ui.end_row();
                }
            });
        });
}
