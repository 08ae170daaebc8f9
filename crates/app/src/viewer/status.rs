use std::{
    ffi::OsStr,
    path::Path,
    time::{Duration, Instant},
};

use drystone::Session;
use drystone_render::{DrawStats, HeldStats};

use crate::{output, source};

/// Texts of the title, with or without statistics, and the faults that were printed.
pub(super) struct Status {
    name: String,
    backend: String,
    drawn: DrawStats,
    /// Frame times since the last title.
    times: Vec<Duration>,
    /// Median and maximum frame time of the last title, in milliseconds.
    shown_ms: [f64; 2],
    /// Last title with statistics, without the state of rest.
    title: String,
    /// Text on edits and state in the last title.
    text: (String, Rest),
    shown: Option<Instant>,
    /// Last title without statistics.
    short_title: Option<String>,
    /// Whether the meshes lagged behind the camera in the last frame.
    lags: bool,
    /// Number of faults that were already printed.
    faults_noted: usize,
    /// Time at which parts that could not be read are retried.
    pub(super) retry_at: Option<Instant>,
}

/// Returns the name of content without the folders of its file.
pub(super) fn file_name(name: &str) -> String {
    let file = Path::new(name).file_name().map_or(name.into(), OsStr::to_string_lossy);
    output::plain(&file)
}

/// Output for messages and statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// Messages appear on the picture, statistics in the panels. The title has the name alone.
    Screen,
    /// Both appear in the title, for programs that read it or compare pictures.
    Title,
}

impl Feedback {
    /// Environment variable with the place: `screen` or `title`.
    const VARIABLE: &str = "DRYSTONE_FEEDBACK";

    /// Returns the place that the environment names; the screen if it names none.
    pub(super) fn of_environment() -> Self {
        match std::env::var_os(Self::VARIABLE) {
            Some(name) if name == "title" => Self::Title,
            _ => Self::Screen,
        }
    }
}

/// Whether frames follow without input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Drawing,
    /// The picture stays as it is until the user does something.
    AtRest,
}

impl Rest {
    const fn text(self) -> &'static str {
        match self {
            Self::Drawing => "",
            Self::AtRest => " | at rest",
        }
    }
}

/// Minimum time between changes of the title, short enough to follow.
const TITLE_INTERVAL: Duration = Duration::from_millis(250);

impl Status {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            backend: String::new(),
            drawn: DrawStats::default(),
            times: Vec::new(),
            shown_ms: [0.0; 2],
            title: String::new(),
            text: (String::new(), Rest::Drawing),
            shown: None,
            short_title: None,
            lags: false,
            faults_noted: 0,
            retry_at: None,
        }
    }

    /// Prints faults that were found since the last time, once the meshes have caught up.
    pub(super) fn note_faults(&mut self, session: &Session) {
        let lags = session.lags();
        if std::mem::replace(&mut self.lags, lags) && !lags {
            let faults = session.faults();
            source::note_faults(
                session.name(),
                faults.get(self.faults_noted..).unwrap_or_default(),
            );
            self.faults_noted = faults.len();
        }
    }

    pub(super) fn set_backend(&mut self, backend: String) {
        self.backend = backend;
    }

    pub(super) fn frame(&mut self, time: Duration, drawn: DrawStats) {
        self.times.push(time);
        self.drawn = drawn;
    }

    /// Returns the names of the content and the backend.
    pub(super) fn names(&self) -> [&str; 2] {
        [&self.name, &self.backend]
    }

    /// Whether there are frames, edits or a state of rest that the title does not show.
    pub(super) fn is_stale(&self, text: (&str, Rest)) -> bool {
        !self.times.is_empty() || (self.text.0.as_str(), self.text.1) != text
    }

    /// Whether the title has to be updated now.
    pub(super) fn is_due(&self, text: (&str, Rest)) -> bool {
        self.is_stale(text) && self.shown.is_none_or(|shown| shown.elapsed() >= TITLE_INTERVAL)
    }

    /// Returns the title if it differs from the last one: the name, with a dot for unsaved edits.
    pub(super) fn short_title(&mut self, name: &str, is_unsaved: bool) -> Option<String> {
        let dot = if is_unsaved { "● " } else { "" };
        let title = format!("{dot}{} – drystone", file_name(name));
        let is_new = self.short_title.as_ref() != Some(&title);
        is_new.then(|| self.short_title.insert(title).clone())
    }

    /// Returns the last title without the state of rest, if it had one. Called when a frame begins.
    pub(super) fn end_rest(&mut self) -> Option<&str> {
        let rest = std::mem::replace(&mut self.text.1, Rest::Drawing);
        (rest == Rest::AtRest).then_some(&self.title)
    }

    /// Returns the title with messages and statistics for the frames since the last one. The first
    /// text is that on edits.
    pub(super) fn title(&mut self, held: HeldStats, (edits, rest): (&str, Rest)) -> String {
        self.shown = Some(Instant::now());
        self.text = (edits.to_owned(), rest);
        self.times.sort_unstable();
        if let (Some(middle), Some(worst)) =
            (self.times.get(self.times.len() / 2), self.times.last())
        {
            self.shown_ms = [middle, worst].map(|time| time.as_secs_f64() * 1e3);
        }
        self.times.clear();
        let [middle, worst] = self.shown_ms;
        let bytes = held.used_bytes as f64 / f64::from(1 << 20);
        self.title = format!(
            "drystone | {} | {edits}frame {middle:.1} ms (worst {worst:.1}) | {} commands for {} of {} \
             meshes | {bytes:.1} MiB of vertices | {}",
            self.name, self.drawn.commands, self.drawn.meshes, held.meshes, self.backend,
        );
        format!("{}{}", self.title, rest.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_without_new_frames_repeats_the_last_times() {
        let mut status = Status::new("world");
        let (none, saved) = (("", Rest::Drawing), ("saved | ", Rest::Drawing));
        assert!(!status.is_stale(none));
        status.frame(Duration::from_millis(8), DrawStats::default());
        assert!(status.is_due(none));
        let first = status.title(HeldStats::default(), none);
        assert!(first.contains("frame 8.0 ms"), "{first}");
        assert!(!status.is_stale(none) && status.is_stale(saved));
        let second = status.title(HeldStats::default(), saved);
        assert_eq!(second, first.replace("frame 8.0", "saved | frame 8.0"));
        assert!(!status.is_stale(saved) && status.is_stale(("saved | ", Rest::AtRest)));
        let third = status.title(HeldStats::default(), ("saved | ", Rest::AtRest));
        assert_eq!(third, format!("{second} | at rest"));
        assert_eq!(status.end_rest(), Some(second.as_str()));
        assert_eq!(status.end_rest(), None);
    }

    #[test]
    fn short_titles_change_with_the_name_and_with_unsaved_edits() {
        let mut status = Status::new("castle.vox");
        assert_eq!(status.short_title("castle.vox", false).unwrap(), "castle.vox – drystone");
        assert_eq!(status.short_title("castle.vox", false), None, "it is shown");
        assert_eq!(status.short_title("a/castle.vox", true).unwrap(), "● castle.vox – drystone");
    }
}
