//! The list of keys, with a search field.

use drystone::keys::{self, Host};
use egui::{Align2, Context, Grid, RichText, TextEdit, Window};

/// Window with all keys of the key table.
#[derive(Default)]
pub(super) struct KeysWindow {
    is_open: bool,
    /// Text of the search field.
    query: String,
    /// Width of the list in the last pass.
    width: f32,
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
        let shown = Window::new("Keys")
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
        // Columns are as wide as in the last pass. A new list is laid out until that changes nothing.
        let width = shown.map_or(0.0, |it| it.response.rect.width());
        if std::mem::replace(&mut self.width, width) != width {
            context.request_discard("the width of the keys");
        }
        was_open && !self.is_open
    }
}

#[cfg(test)]
mod tests {
    use egui::{RawInput, Rect, pos2, vec2};

    use super::*;
    use crate::viewer::overlay::input::panel_context;

    /// The first picture of the list is not laid out for another width.
    #[test]
    fn the_list_has_its_width_in_its_first_picture() {
        let (context, mut keys) = (panel_context(), KeysWindow::default());
        let mut picture = || {
            let screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1280.0, 720.0)));
            let input = RawInput { screen_rect, ..RawInput::default() };
            let output = context.run_pass(input, |context| {
                keys.show(context);
            });
            let shapes = output.shapes.iter().map(|it| it.shape.visual_bounding_rect());
            let bounds = shapes.filter(Rect::is_positive).reduce(Rect::union);
            output.drop_without_applying_deltas();
            keys.is_open = true;
            bounds.map(|it| it.width().round())
        };
        assert_eq!(picture(), None, "it is closed");
        let first = picture();
        assert!(first.is_some_and(|width| width > 300.0), "{first:?}");
        for _ in 0..4 {
            assert_eq!(picture(), first);
        }
    }
}
