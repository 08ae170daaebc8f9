//! The message line at the bottom of the picture.

use std::time::Instant;

use drystone::{Message, MessageKind};
use egui::{Align2, Color32, Context, FontId, Id, LayerId, Order, Rect, vec2};

use crate::output;

/// Size of the letters, in points; readable over a scene from a distance.
const SIZE: f32 = 16.0;
/// Distance from the bottom of the window, in points; with a progress bar, the line is above it.
const MARGINS: [f32; 2] = [24.0, 72.0];
/// Space around the text, in points.
const PADDING: f32 = 8.0;
/// Minimum width of the space beside the panel for a message, in points.
const MIN_WIDTH: f32 = 240.0;
/// Opacity of the background, of 255.
const BACKGROUND: u8 = 190;

/// Paints a message in the middle of the bottom, or beside the panel if it would cover that. It takes no
/// input. Returns its rectangle.
pub(super) fn show(
    context: &Context,
    message: &Message,
    is_above_bar: bool,
    panel: Option<Rect>,
) -> Rect {
    let window = context.content_rect();
    let mut painter = context.layer_painter(LayerId::new(Order::Foreground, Id::unique("message")));
    painter.set_opacity(message.opacity(Instant::now()));
    let color = match message.kind {
        MessageKind::Result | MessageKind::Hint => Color32::WHITE,
        MessageKind::Problem => Color32::from_rgb(255, 200, 110),
    };
    let text = output::plain(&message.text);
    let laid_out = |area: Rect| {
        let width = (area.width() - 4.0 * PADDING).max(1.0);
        let galley = painter.layout(text.clone(), FontId::proportional(SIZE), color, width);
        let bottom = area.bottom() - MARGINS[usize::from(is_above_bar)];
        let at = egui::pos2(area.center().x, bottom - PADDING);
        let place = Align2::CENTER_BOTTOM.anchor_size(at, galley.size());
        let frame = Rect::from_min_max(place.min, place.max).expand2(vec2(1.5, 1.0) * PADDING);
        (galley, place, frame)
    };
    let mut line = laid_out(window);
    if let Some(panel) = panel.filter(|panel| panel.intersects(line.2)) {
        let sides = [window.with_max_x(panel.left()), window.with_min_x(panel.right())];
        let widest = sides.into_iter().max_by(|a, b| a.width().total_cmp(&b.width()));
        line = widest.filter(|it| it.width() >= MIN_WIDTH).map_or(line, laid_out);
    }
    let (galley, place, frame) = line;
    painter.rect_filled(frame, PADDING, Color32::from_black_alpha(BACKGROUND));
    painter.galley(place.min, galley, color);
    frame
}

#[cfg(test)]
mod tests {
    use egui::{RawInput, pos2};

    use super::*;

    #[test]
    fn a_long_message_does_not_cover_the_panel() {
        let frame = |text: &str, width: f32, panel: Option<Rect>| {
            let message =
                Message { text: text.into(), kind: MessageKind::Result, since: Instant::now() };
            let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(width, 600.0));
            let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let mut frame = Rect::NOTHING;
            let context = Context::default();
            let pass = context.run_pass(input, |context| {
                frame = show(context, &message, false, panel);
            });
            pass.drop_without_applying_deltas();
            assert!(screen.contains_rect(frame), "{frame:?}");
            frame
        };
        let long = "edits are not saved: press Ctrl+S to save them to a new file. ".repeat(3);
        let panel = |left: f32| Rect::from_min_size(pos2(left, 8.0), vec2(272.0, 580.0));
        for panel in [panel(8.0), panel(620.0)] {
            let seen = frame(&long, 900.0, Some(panel));
            assert!(!seen.intersects(panel) && seen.height() > 60.0, "{seen:?}");
            let short = frame("saved", 900.0, Some(panel));
            assert_eq!(short.center().x, 450.0, "it covers nothing");
        }
        // A panel that does not reach so far down, or that leaves no space, changes nothing.
        let high = Rect::from_min_size(pos2(8.0, 8.0), vec2(272.0, 300.0));
        assert_eq!(frame(&long, 900.0, Some(high)), frame(&long, 900.0, None));
        assert_eq!(frame(&long, 400.0, Some(panel(8.0))), frame(&long, 400.0, None));
    }
}
