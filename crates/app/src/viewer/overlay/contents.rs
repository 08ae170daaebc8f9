//! Contents of the overlay: panels, the list of keys, a progress bar, a message.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drystone::{Action, Message, Progress};
use egui::{Align2, Context, ProgressBar, Window};

use super::{
    frame_times::Times,
    keys_window::KeysWindow,
    message,
    panels::{self, Facts, Panels},
};
use crate::output;

/// Shown windows, and the state of the panels between frames.
#[derive(Default)]
pub(super) struct Contents {
    panels: Panels,
    shows_panels: bool,
    keys: KeysWindow,
    progress: Option<Running>,
    /// Text on edits that the panels show.
    edits_text: String,
    message: Option<Message>,
    /// Whether the renderer failed to draw; messages then wait until something is opened.
    has_failed: bool,
}

impl Contents {
    pub(super) fn new(shows_panels: bool) -> Self {
        Self { shows_panels, ..Self::default() }
    }

    /// Forgets what concerned the content before.
    pub(super) fn content_changed(&mut self) {
        self.panels.content_changed();
    }

    pub(super) const fn switch_panels(&mut self) {
        self.shows_panels = !self.shows_panels;
        self.has_failed = false;
    }

    pub(super) const fn switch_help(&mut self) {
        self.keys.switch();
        self.has_failed = false;
    }

    /// Hides everything, until it is opened again.
    pub(super) fn hide_all(&mut self) {
        *self = Self { has_failed: true, ..Self::default() };
    }

    /// Whether the renderer failed to draw, and nothing was opened since.
    pub(super) const fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Shows a message, or hides it. Returns whether that changes anything.
    pub(super) fn set_message(&mut self, message: Option<&Message>) -> bool {
        let message = message.filter(|_| !self.has_failed);
        let is_new = self.message.as_ref() != message;
        if is_new {
            self.message = message.cloned();
        }
        is_new
    }

    /// Returns when the message has to be drawn again or removed.
    pub(super) fn message_changes_at(&self, now: Instant) -> Option<Instant> {
        self.message.as_ref().and_then(|message| message.changes_at(now))
    }

    /// Shows the progress of a long operation, or hides it. Returns whether that changes anything.
    pub(super) fn set_progress(&mut self, progress: Option<&Arc<Progress>>) -> bool {
        let is_shown = match (&self.progress, progress) {
            (Some(shown), Some(progress)) => Arc::ptr_eq(&shown.progress, progress),
            (None, None) => true,
            _ => false,
        };
        if !is_shown {
            self.progress = progress.map(Running::new);
        }
        !is_shown
    }

    /// Sets the text on edits. Returns whether open panels show another one.
    pub(super) fn set_edits_text(&mut self, edits: &str) -> bool {
        let is_new = self.shows_panels && self.edits_text != edits;
        if is_new {
            edits.clone_into(&mut self.edits_text);
        }
        is_new
    }

    /// Shows everything that is open, and adds the user's actions to `actions`. Returns whether the
    /// user closed the list of keys.
    pub(super) fn show(
        &mut self,
        context: &Context,
        facts: Option<&Facts<'_>>,
        times: &Times,
        actions: &mut Vec<Action>,
    ) -> bool {
        if let Some(facts) = facts {
            self.panels.show(context, facts, times, actions);
        }
        let was_help_closed = self.keys.show(context);
        if let Some(running) = &mut self.progress {
            running.show(context);
        }
        if let Some(message) = &self.message {
            let panel = facts.and_then(|_| panels::area(context));
            message::show(context, message, self.progress.is_some(), panel);
        }
        was_help_closed
    }

    /// Whether anything is shown.
    pub(super) const fn is_open(&self) -> bool {
        self.takes_input() || self.message.is_some()
    }

    /// Whether anything is shown that the pointer can be over.
    pub(super) const fn takes_input(&self) -> bool {
        self.shows_panels || self.keys.is_open() || self.progress.is_some()
    }

    /// Whether panels are shown, not only help.
    pub(super) const fn shows_panels(&self) -> bool {
        self.shows_panels
    }

    /// Whether the list of keys is shown.
    pub(super) const fn shows_help(&self) -> bool {
        self.keys.is_open()
    }

    /// Whether the panels need the ranges of the pool for the next build.
    pub(super) fn needs_ranges(&self, now: Instant) -> bool {
        self.shows_panels && self.panels.needs_ranges(now)
    }
}

/// Long operation that is shown.
struct Running {
    progress: Arc<Progress>,
    /// Name of its current part, and the start of that.
    part: (String, Instant),
}

impl Running {
    fn new(progress: &Arc<Progress>) -> Self {
        Self { progress: Arc::clone(progress), part: (progress.name(), Instant::now()) }
    }

    /// Shows the operation and its progress; the bar runs in a loop while the total is unknown.
    fn show(&mut self, context: &Context) {
        /// Period of the bar while the total is unknown, and interval of its steps, in seconds.
        const ROUND: f32 = 2.0;
        const STEP: f32 = 0.1;
        const WIDTH: f32 = 320.0;
        let name = self.progress.name();
        if self.part.0 != name {
            self.part = (name, Instant::now());
        }
        let (name, time) = (output::plain(&self.part.0), self.part.1.elapsed());
        let seconds = time.as_secs_f32();
        let (fraction, text) = match self.progress.fraction() {
            Some(fraction) => {
                let left = time_left(time, fraction).unwrap_or_default();
                (fraction, format!("{name}: {:.0} %{left}", 100.0 * fraction))
            }
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
}

/// Returns the time left of an operation in words, if the rest takes as long as what is done. `None` while
/// that says little.
fn time_left(time: Duration, fraction: f32) -> Option<String> {
    const MIN_TIME: Duration = Duration::from_secs(1);
    const MIN_FRACTION: f32 = 0.02;
    if time < MIN_TIME || fraction < MIN_FRACTION {
        return None;
    }
    let seconds = (time.as_secs_f32() * (1.0 / fraction - 1.0)).ceil();
    Some(match seconds < 90.0 {
        true => format!(", {seconds:.0} s left"),
        false => format!(", {:.0} min left", seconds / 60.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_of_what_is_shown_are_reported() {
        let mut contents = Contents::default();
        assert!(!contents.is_open() && !contents.set_edits_text("saved"), "closed panels");
        contents.switch_panels();
        assert!(contents.set_edits_text("saved") && !contents.set_edits_text("saved"));
        let [one, other] = [(); 2].map(|()| Arc::new(Progress::default()));
        for (progress, changes) in
            [(None, false), (Some(&one), true), (Some(&one), false), (Some(&other), true)]
        {
            assert_eq!(contents.set_progress(progress), changes);
        }
        contents.switch_panels();
        assert!(contents.is_open(), "a progress bar");
        contents.switch_help();
        contents.hide_all();
        assert!(!contents.is_open() && !contents.shows_help());
    }
    #[test]
    fn the_time_left_is_that_of_the_current_part() {
        let left = |seconds, fraction| time_left(Duration::from_secs(seconds), fraction);
        assert_eq!(left(3, 0.25).as_deref(), Some(", 9 s left"));
        assert_eq!(left(60, 0.25).as_deref(), Some(", 3 min left"));
        assert_eq!((left(0, 0.5), left(9, 0.01)), (None, None), "too early to tell");
        let progress = Arc::new(Progress::new("reading"));
        let mut running = Running::new(&progress);
        running.part.1 -= Duration::from_secs(60);
        progress.begin("meshing", 4);
        progress.step();
        let context = Context::default();
        let pass = context.run_pass(Default::default(), |context| running.show(context));
        pass.drop_without_applying_deltas();
        assert!(running.part.0 == "meshing" && running.part.1.elapsed() < Duration::from_secs(59));
    }
}
