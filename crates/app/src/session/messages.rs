//! Messages to the user: a text for a status line, and a line on the picture that fades.

mod connection;

use std::time::Duration;

use connection::Connection;
use drystone_render::{Cull, View};
use web_time::Instant;

use super::{Change, ChangeTarget, Session};
use crate::{Action, CameraKind, keys};

/// Texts for the user.
#[derive(Debug, Default)]
pub struct Messages {
    /// Result of the last action.
    text: String,
    /// Last line on the picture.
    line: Option<Message>,
    /// Lines for the log that were not taken yet.
    pub(super) notes: Vec<String>,
    connection: Connection,
}

/// Line on the picture. It stays for a while, then fades.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Text, without control characters of its own.
    pub text: String,
    /// Kind, on which the time on screen depends.
    pub kind: MessageKind,
    /// Time since which the message is shown.
    pub since: Instant,
}

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Result of an action, or a new mode.
    Result,
    /// Refusal or failure.
    Problem,
    /// Advice that no action led to.
    Hint,
}

impl MessageKind {
    /// Returns the time until a message begins to fade: long enough to read it, and for problems to
    /// notice it.
    pub const fn time(self) -> Duration {
        match self {
            Self::Result => Duration::from_secs(4),
            Self::Problem | Self::Hint => Duration::from_secs(10),
        }
    }
}

impl Message {
    /// Duration of the fading.
    pub const FADE: Duration = Duration::from_millis(500);
    /// Time between two steps of the fading. Each step draws a frame, which takes a software
    /// rasteriser this long.
    pub const FADE_STEP: Duration = Duration::from_millis(100);

    /// Returns the opacity at a time: 1, then decreasing to 0.
    pub fn opacity(&self, now: Instant) -> f32 {
        let age = now.saturating_duration_since(self.since);
        let faded = age.saturating_sub(self.kind.time()).as_secs_f32();
        (1.0 - faded / Self::FADE.as_secs_f32()).max(0.0)
    }

    /// Returns the next time after `now` at which the message has to be drawn with another opacity,
    /// or removed. `None` once it has faded.
    pub fn changes_at(&self, now: Instant) -> Option<Instant> {
        let fades_at = self.since + self.kind.time();
        let ends_at = fades_at + Self::FADE;
        if now < fades_at {
            return Some(fades_at);
        }
        (now < ends_at).then(|| ends_at.min(now + Self::FADE_STEP))
    }
}

/// Messages of a session.
impl Messages {
    /// Sets the message to a refusal or failure, and logs it.
    pub(super) fn say(&mut self, line: String) {
        self.log(MessageKind::Problem, line);
    }

    /// Sets the message to a result, and logs it.
    pub fn report(&mut self, line: impl Into<String>) {
        self.log(MessageKind::Result, line.into());
    }

    fn log(&mut self, kind: MessageKind, line: String) {
        self.notes.push(line.clone());
        self.show(kind, line.clone());
        self.text = line;
    }

    /// Sets the message to a result without logging it.
    pub(super) fn set(&mut self, text: String) {
        if !text.is_empty() {
            self.show(MessageKind::Result, text.clone());
        }
        self.text = text;
    }

    /// Shows a line on the picture, which is not the result of an action.
    pub fn show(&mut self, kind: MessageKind, text: impl Into<String>) {
        self.line = Some(Message { text: text.into(), kind, since: Instant::now() });
    }

    /// Shows a line that no action of the user led to, unless a problem is shown.
    pub fn add(&mut self, kind: MessageKind, text: impl Into<String>) {
        let is_problem = |line: &Message| line.kind == MessageKind::Problem;
        if !self.line(Instant::now()).is_some_and(is_problem) {
            self.show(kind, text);
        }
    }

    /// Returns the result of the last action, in words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line on the picture; `None` if it has faded.
    pub fn line(&self, now: Instant) -> Option<&Message> {
        self.line.as_ref().filter(|line| line.opacity(now) > 0.0)
    }

    /// Takes the line on the picture, before an action that may show another.
    pub(super) const fn take_line(&mut self) -> Option<Message> {
        self.line.take()
    }

    /// Shows the mode that an action has led to, unless the action has shown a refusal or result.
    /// Without a mode, the line `before` the action stays.
    pub(super) fn show_mode(&mut self, before: Option<Message>, mode: Option<String>) {
        match mode {
            _ if self.line.is_some() => {}
            Some(text) => self.show(MessageKind::Result, text),
            None => self.line = before,
        }
    }
}

/// Returns the mode that an action has led to, in words; `None` if it changes no mode.
pub(super) fn mode_text(session: &mut Session, action: Action) -> Option<String> {
    let camera = &session.camera;
    let view = camera.view();
    let text = match action {
        Action::Walk | Action::Camera(_) => match camera.kind() {
            CameraKind::Orbit => "orbiting around a point".into(),
            CameraKind::Fly => format!("flying, {}", camera.speed_text()),
            CameraKind::Walk => "walking".into(),
        },
        Action::Wheel(..) if camera.kind() == CameraKind::Fly => {
            format!("flying, {}", camera.speed_text())
        }
        Action::Edit if session.editing.is_on => format!("editing: {}", brush_text(session)?),
        Action::Edit => "editing ended".into(),
        Action::NextForm | Action::Grow(_) | Action::StepMaterial(_) if session.editing.is_on => {
            format!("brush: {}", brush_text(session)?)
        }
        Action::Renderer(_) | Action::NextRenderer => {
            format!("renderer: {}", session.requested_renderer().name())
        }
        Action::Cull => match session.cull {
            Cull::Cpu => "culling on the CPU".into(),
            Cull::Gpu => "culling on the GPU".into(),
        },
        Action::Occlusion => {
            let is_on = match &session.change {
                Some(Change { to: ChangeTarget::Occlusion(is_on), .. }) => *is_on,
                _ => camera.look().occlusion,
            };
            switch_text(session, action, is_on)?
        }
        _ => switch_text(session, action, is_switched_on(action, view)?)?,
    };
    Some(text)
}

/// Describes the brush in words.
pub(super) fn brush_text(session: &mut Session) -> Option<String> {
    let brush = session.editing.editor.brush;
    session.materials().map(|materials| brush.describe(materials))
}

/// Returns a switch and its state in words.
fn switch_text(session: &Session, action: Action, is_on: bool) -> Option<String> {
    let name = keys::name(session.host, action)?;
    Some(format!("{name}: {}", if is_on { "on" } else { "off" }))
}

/// Returns the state of the switch that an action toggles; `None` for other actions.
const fn is_switched_on(action: Action, view: &View) -> Option<bool> {
    Some(match action {
        Action::FaceMask => view.mask_back_faces,
        Action::Frustum => view.cull_frustum,
        Action::Sort => view.sort_opaque,
        Action::Tint => view.tint_levels,
        Action::Wire => view.wire,
        Action::Shadows => view.shadows,
        Action::SkyLight => view.sky_light,
        Action::Bloom => view.bloom,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws a message whenever it requests that, and returns the opacities. A message that never ends
    /// would keep the window drawing.
    fn drawn(kind: MessageKind) -> Vec<(Duration, f32)> {
        let since = Instant::now();
        let message = Message { text: "saved".into(), kind, since };
        let (mut now, mut drawn) = (since, Vec::new());
        loop {
            drawn.push((now - since, message.opacity(now)));
            assert!(drawn.len() < 20, "{drawn:?}");
            match message.changes_at(now) {
                Some(next) if next > now => now = next,
                Some(_) => panic!("no pause: {drawn:?}"),
                None => return drawn,
            }
        }
    }

    #[test]
    fn messages_stay_then_fade_and_then_need_no_frame() {
        let [result, problem] = [MessageKind::Result, MessageKind::Problem].map(drawn);
        for (drawn, kind) in [(&result, MessageKind::Result), (&problem, MessageKind::Problem)] {
            assert_eq!(drawn[..2], [(Duration::ZERO, 1.0), (kind.time(), 1.0)]);
            assert!(drawn[1..].windows(2).all(|pair| pair[1].1 < pair[0].1), "{drawn:?}");
            assert_eq!(drawn.last(), Some(&(kind.time() + Message::FADE, 0.0)));
        }
        assert!(MessageKind::Problem.time() > MessageKind::Result.time());
        assert_eq!(result.len(), 2 + 5, "a frame for each step");
    }
}
