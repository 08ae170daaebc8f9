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
/// Opacity of the background, of 255.
const BACKGROUND: u8 = 190;

/// Paints a message in the middle of the bottom. It takes no input.
pub(super) fn show(context: &Context, message: &Message, is_above_bar: bool) {
    let area = context.content_rect();
    let mut painter = context.layer_painter(LayerId::new(Order::Foreground, Id::unique("message")));
    painter.set_opacity(message.opacity(Instant::now()));
    let color = match message.kind {
        MessageKind::Result | MessageKind::Hint => Color32::WHITE,
        MessageKind::Problem => Color32::from_rgb(255, 200, 110),
    };
    let width = (area.width() - 4.0 * PADDING).max(1.0);
    let text = output::plain(&message.text);
    let galley = painter.layout(text, FontId::proportional(SIZE), color, width);
    let bottom = area.bottom() - MARGINS[usize::from(is_above_bar)];
    let at = egui::pos2(area.center().x, bottom - PADDING);
    let place = Align2::CENTER_BOTTOM.anchor_size(at, galley.size());
    let frame = Rect::from_min_max(place.min, place.max).expand2(vec2(1.5, 1.0) * PADDING);
    painter.rect_filled(frame, PADDING, Color32::from_black_alpha(BACKGROUND));
    painter.galley(place.min, galley, color);
}
