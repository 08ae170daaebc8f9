//! A bar while something takes long.

use std::time::Duration;

use egui::{Align2, Context, ProgressBar, Window};

use crate::{output, progress::Progress};

/// How long the bar takes from one end to the other where nobody knows how much is left, and how
/// often it moves, in seconds.
const ROUND: f32 = 2.0;
const STEP: f32 = 0.1;
const WIDTH: f32 = 320.0;

/// Shows what is done for so long, and how much of it where that is known; else the bar goes round
/// and round.
pub(super) fn show(context: &Context, progress: &Progress, time: Duration) {
    let seconds = time.as_secs_f32();
    let what = output::plain(&progress.name());
    let (part, text) = match progress.fraction() {
        Some(part) => (part, format!("{what}: {:.0} %", 100.0 * part)),
        None => (seconds / ROUND % 1.0, format!("{what}: {seconds:.0} s")),
    };
    Window::new("reading")
        .title_bar(false)
        .resizable(false)
        .anchor(Align2::CENTER_BOTTOM, [0.0, -24.0])
        .show(context, |ui| {
            ui.add(ProgressBar::new(part).desired_width(WIDTH).text(text));
        });
    context.request_repaint_after(Duration::from_secs_f32(STEP));
}
