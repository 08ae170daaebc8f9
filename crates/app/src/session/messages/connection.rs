//! Messages about the connection to a source that comes over a network.

use std::time::Duration;

use drystone_formats::ArrivalState;
use drystone_world::LodData;
use web_time::Instant;

use super::{MessageKind, Messages};

/// Messages about the connection that were shown.
#[derive(Debug, Default)]
pub(super) struct Connection {
    failing_since: Option<Instant>,
    /// The problem that was said.
    said: Option<String>,
    /// Whether that one is final.
    has_said_end: bool,
}

/// Time for which requests fail before that is said. A single one that fails is repeated without a word.
const SAID_AFTER: Duration = Duration::from_secs(2);

impl Messages {
    /// Shows a problem of the connection of these voxels for as long as it lasts, and then a line that
    /// it has passed.
    pub(in crate::session) fn watch_connection(&mut self, data: Option<&LodData>, now: Instant) {
        self.note_arrivals(data.and_then(LodData::arrival_state), now);
    }

    /// Whether the connection has failed for good, and that was shown.
    pub(in crate::session) const fn has_said_end(&self) -> bool {
        self.connection.has_said_end
    }

    fn note_arrivals(&mut self, state: Option<ArrivalState>, now: Instant) {
        let is_remote = state.is_some();
        let Some(failure) = state.and_then(|state| state.failure) else {
            self.connection.failing_since = None;
            let Some(said) = self.connection.said.take() else { return };
            let is_shown = self.line.as_ref().is_some_and(|line| line.text == said);
            if is_remote && is_shown {
                self.show(MessageKind::Result, "the connection works again");
            }
            return;
        };
        let since = *self.connection.failing_since.get_or_insert(now);
        if !failure.is_final && now.saturating_duration_since(since) < SAID_AFTER {
            return;
        }
        self.connection.has_said_end = failure.is_final;
        let text = match failure.is_final {
            true => format!("nothing more is received: {}", failure.problem),
            false => format!("nothing is received: {}; trying again", failure.problem),
        };
        let is_new = self.connection.said.as_ref() != Some(&text);
        if is_new || self.line(now).is_none() {
            self.show(MessageKind::Problem, text.clone());
        }
        if is_new {
            self.notes.push(text.clone());
            self.connection.said = Some(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use drystone_formats::ArrivalFailure;

    use super::*;

    fn failing(failure: ArrivalFailure) -> Option<ArrivalState> {
        Some(ArrivalState { failure: Some(failure), ..ArrivalState::default() })
    }

    #[test]
    fn a_problem_is_said_while_it_lasts_and_when_it_has_passed() {
        let mut messages = Messages::default();
        let start = Instant::now();
        let at = |messages: &mut Messages, seconds, state| {
            messages.note_arrivals(state, start + Duration::from_secs(seconds));
            messages.line(Instant::now()).map(|line| line.text.clone())
        };
        let refused = || failing(ArrivalFailure::passing("refused"));
        assert_eq!(at(&mut messages, 0, refused()), None, "repeated at once");
        let said = at(&mut messages, 2, refused()).unwrap();
        assert_eq!(said, "nothing is received: refused; trying again");
        assert_eq!(at(&mut messages, 300, refused()), Some(said));
        let passed = at(&mut messages, 300, Some(ArrivalState::default()));
        assert_eq!(passed.as_deref(), Some("the connection works again"));
        assert_eq!(messages.notes.len(), 1);
        let replaced = failing(ArrivalFailure::lasting("replaced"));
        let said = at(&mut messages, 301, replaced).unwrap();
        assert_eq!(said, "nothing more is received: replaced");
    }
}
