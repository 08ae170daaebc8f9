//! A bar while something takes long.

use std::time::Duration;

use egui::{Align2, Context, ProgressBar, Window};

use crate::output;

/// How long the bar takes from one end to the other, and how often it moves, in seconds.
const ROUND: f32 = 2.0;
const STEP: f32 = 0.1;
const WIDTH: f32 = 320.0;

/// Shows that something is being read for so long. How much is left is not known: the bar goes
/// round and round.
pub(super) fn show(context: &Context, name: &str, time: Duration) {
    let seconds = time.as_secs_f32();
    Window::new("reading")
        .title_bar(false)
        .resizable(false)
        .anchor(Align2::CENTER_BOTTOM, [0.0, -24.0])
        .show(context, |ui| {
            let text = format!("reading {}: {seconds:.0} s", output::plain(name));
            ui.add(ProgressBar::new(seconds / ROUND % 1.0).desired_width(WIDTH).text(text));
        });
    context.request_repaint_after(Duration::from_secs_f32(STEP));
}
