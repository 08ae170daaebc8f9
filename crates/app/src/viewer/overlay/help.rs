//! The card of all keys.

use egui::{Align2, Context, Grid, RichText, Window};

use crate::viewer::keys;

/// Points of the window's height that the card leaves, with its title.
const MARGIN: f32 = 60.0;
/// Points of a line, at least.
const LINE: f32 = 20.0;

/// Shows the card while it is open.
pub(super) fn show(context: &Context, is_open: &mut bool) {
    let most = context.content_rect().height() - MARGIN;
    let height = most.min(keys::lines().count() as f32 * LINE);
    Window::new("Keys")
        .open(is_open)
        .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
        .resizable(false)
        .collapsible(false)
        .vscroll(true)
        .default_height(height)
        .max_height(most)
        .show(context, |ui| {
            Grid::new("keys").num_columns(2).striped(true).spacing([12.0, 2.0]).show(ui, |ui| {
                for (keys, what) in keys::lines() {
                    ui.label(RichText::new(keys).strong());
                    ui.label(what);
                    ui.end_row();
                }
            });
        });
}
