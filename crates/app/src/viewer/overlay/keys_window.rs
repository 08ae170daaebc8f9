//! The list of keys, with a search field.

use drystone::keys::{self, Host};
use egui::{Align2, Context, Grid, RichText, TextEdit, Window};

/// Window with all keys of the key table.
#[derive(Default)]
pub(super) struct KeysWindow {
    is_open: bool,
    /// Text of the search field.
    query: String,
}

impl KeysWindow {
    /// Opens or closes the list.
    pub(super) const fn switch(&mut self) {
        self.is_open = !self.is_open;
    }

    /// Whether the list is shown.
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Shows the list while it is open. Returns whether the user closed it.
    pub(super) fn show(&mut self, context: &Context) -> bool {
        /// Margin of the list to the window's height, in points, with its title.
        const MARGIN: f32 = 60.0;
        /// Minimum height of a line, in points.
        const LINE: f32 = 20.0;
        let was_open = self.is_open;
        let max_height = context.content_rect().height() - MARGIN;
        // The height stays while the search shortens the list.
        let height = max_height.min((keys::rows(Host::Window).count() + 2) as f32 * LINE);
        Window::new("Keys")
            .open(&mut self.is_open)
            .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
            .resizable(false)
            .collapsible(false)
            .vscroll(true)
            .default_height(height)
            .max_height(max_height)
            .show(context, |ui| {
                ui.add(TextEdit::singleline(&mut self.query).hint_text("search"));
                Grid::new("keys").num_columns(2).striped(true).spacing([12.0, 2.0]).show(
                    ui,
                    |ui| {
                        for (keys, what) in keys::search(Host::Window, &self.query) {
                            ui.label(RichText::new(keys).strong());
                            ui.label(what);
                            ui.end_row();
                        }
                    },
                );
                if keys::search(Host::Window, &self.query).next().is_none() {
                    ui.label("no key matches");
                }
            });
        was_open && !self.is_open
    }
}
