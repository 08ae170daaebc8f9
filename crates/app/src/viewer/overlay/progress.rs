//! The progress bar of a long operation.

use std::time::Duration;

use drystone::Progress;
use egui::{Align2, Context, ProgressBar, Window};

use crate::output;

/// Period of the bar while the total is unknown, and interval of its steps, in seconds.
const ROUND: f32 = 2.0;
const STEP: f32 = 0.1;
const WIDTH: f32 = 320.0;

/// Shows the operation and its progress; the bar runs in a loop while the total is unknown.
pub(super) fn show(context: &Context, progress: &Progress, time: Duration) {
    let seconds = time.as_secs_f32();
    let name = output::plain(&progress.name());
    let (fraction, text) = match progress.fraction() {
        Some(fraction) => (fraction, format!("{name}: {:.0} %", 100.0 * fraction)),
        None => (seconds / ROUND % 1.0, format!("{name}: {seconds:.0} s")),
    };
    Window::new("reading")
        .title_bar(false)
        .resizable(false)
        .anchor(Align2::CENTER_BOTTOM, [0.0, -24.0])
        .show(context, |ui| {
            ui.add(ProgressBar::new(fraction).desired_width(WIDTH).text(text));
        });
    context.request_repaint_after(Duration::from_secs_f32(STEP));
}
