//! Events of the window as input of the panels.

use std::num::NonZeroUsize;

use egui::{Context, CursorIcon, FullOutput, PlatformOutput};
use egui_winit::State;
use winit::{
    dpi::PhysicalPosition,
    event::{ElementState, KeyEvent, WindowEvent},
    window::Window,
};

use super::panels;

/// Maximum number of layouts for one picture.
const MAX_PASSES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);

/// Result of passing an event to the panels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventResult {
    /// Whether the event belongs to the panels alone.
    pub(crate) is_taken: bool,
    /// Whether the panels have to be repainted.
    pub(crate) repaint: bool,
}

/// egui, which gets the events of the window.
pub(super) struct Input {
    /// Created when panels are first shown.
    egui: Option<State>,
    /// Last position of the pointer, in pixels.
    pointer: PhysicalPosition<f64>,
    is_pointed_at: bool,
    held: Held<KeyEvent>,
    /// Scale of text and panels, besides that of the screen.
    text_scale: f32,
}

/// Keys that follow a click on the panels before egui has handled it. Until then it is unknown
/// whether the click was on a text field, which takes them.
struct Held<K> {
    is_clicked: bool,
    keys: Vec<(K, ElementState)>,
}

impl<K> Held<K> {
    /// Whether the panels were clicked since the last pass.
    const fn holds(&self) -> bool {
        self.is_clicked
    }

    /// Handles the end of a pass: a text field with the focus has taken presses. Releases remain, so
    /// that no key stays pressed.
    fn end_pass(&mut self, is_taken: bool) {
        self.is_clicked = false;
        self.keys.retain(|(_, state)| !is_taken || *state == ElementState::Released);
    }

    /// Takes the keys that no text field has taken, once that is known.
    fn take(&mut self) -> Vec<K> {
        let keys = if self.is_clicked { Vec::new() } else { std::mem::take(&mut self.keys) };
        keys.into_iter().map(|(key, _)| key).collect()
    }
}

impl Input {
    pub(super) const fn new(text_scale: f32) -> Self {
        let pointer = PhysicalPosition::new(-1.0, -1.0);
        let held = Held { is_clicked: false, keys: Vec::new() };
        Self { egui: None, pointer, is_pointed_at: false, held, text_scale }
    }

    /// Sets the scale of text and panels, besides that of the screen.
    pub(super) const fn set_text_scale(&mut self, scale: f32) {
        self.text_scale = scale;
    }

    /// Stores the pointer's position, also while no panel is open.
    pub(super) const fn track(&mut self, event: &WindowEvent) {
        if let WindowEvent::CursorMoved { position, .. } = event {
            self.pointer = *position;
        }
    }

    /// Passes an event to open panels. Releases always reach the viewer too, so that no key or
    /// button stays pressed.
    pub(super) fn take_event(&mut self, window: &Window, event: &WindowEvent) -> EventResult {
        match event {
            WindowEvent::KeyboardInput { event: key, is_synthetic, .. } if self.held.holds() => {
                // Keys held while the window gets the focus are ignored.
                if !is_synthetic || key.state == ElementState::Released {
                    self.event(window, event);
                    self.held.keys.push((key.clone(), key.state));
                }
                EventResult { is_taken: true, repaint: true }
            }
            WindowEvent::KeyboardInput { event: key, .. } => {
                let is_used = self.key(window, event);
                let is_taken = is_used && key.state == ElementState::Pressed;
                EventResult { is_taken, repaint: is_used }
            }
            WindowEvent::CursorMoved { .. }
            | WindowEvent::MouseInput { state: ElementState::Pressed, .. }
            | WindowEvent::MouseWheel { .. } => self.event(window, event),
            _ => EventResult { is_taken: false, ..self.event(window, event) },
        }
    }

    /// Passes a pointer or window event to the panels.
    fn event(&mut self, window: &Window, event: &WindowEvent) -> EventResult {
        let Some(egui) = &mut self.egui else { return EventResult::default() };
        // The panels may have changed under the pointer.
        let was_pointed_at = self.is_pointed_at;
        self.is_pointed_at = is_over(egui, self.pointer);
        if let WindowEvent::MouseInput { device_id, .. } = event {
            // egui may have missed the pointer's position while it was closed.
            let (device_id, position) = (*device_id, self.pointer);
            let moved = WindowEvent::CursorMoved { device_id, position };
            let _ = egui.on_window_event(window, &moved);
        }
        let response = egui.on_window_event(window, event);
        let is_elsewhere = matches!(event, WindowEvent::CursorMoved { .. })
            && !(was_pointed_at || self.is_pointed_at || response.consumed);
        let is_own = matches!(event, WindowEvent::RedrawRequested);
        let repaint = response.repaint && !is_elsewhere && !is_own;
        // egui's answer on presses is from its last pass; the pointer may have left since.
        let is_held = egui.egui_ctx().egui_is_using_pointer();
        let pressed = ElementState::Pressed;
        let is_press = matches!(event, WindowEvent::MouseInput { state, .. } if *state == pressed);
        self.held.is_clicked |= is_press && self.is_pointed_at;
        EventResult { is_taken: is_held || self.is_pointed_at, repaint }
    }

    /// Passes a key to the panels while a text field has the focus. Returns whether the key was
    /// used.
    fn key(&mut self, window: &Window, event: &WindowEvent) -> bool {
        let Some(egui) = &mut self.egui else { return false };
        if !egui.egui_ctx().text_edit_focused() {
            return false;
        }
        let _ = egui.on_window_event(window, event);
        true
    }

    /// Takes the keys that were pressed right after a click on the panels, if no text field has taken
    /// them.
    pub(super) fn take_held_keys(&mut self) -> Vec<KeyEvent> {
        self.held.take()
    }

    /// Closes open lists of the panels. Returns whether there were any.
    pub(super) fn close_lists(&self) -> bool {
        self.context().is_some_and(panels::close_lists)
    }

    /// Removes the pointer from the panels while the scene has it captured.
    pub(super) fn lose_pointer(&mut self) {
        if let Some(egui) = &mut self.egui {
            egui.egui_input_mut().events.push(egui::Event::PointerGone);
        }
    }

    /// Lays out what `show` shows, with the input since the last pass. `cursor` is the cursor icon
    /// over the scene, `None` if hidden.
    pub(super) fn pass(
        &mut self,
        window: &Window,
        cursor: Option<CursorIcon>,
        show: impl FnMut(&Context),
    ) -> FullOutput {
        let egui = self.egui.get_or_insert_with(|| state(window));
        egui.egui_ctx().set_zoom_factor(self.text_scale);
        let input = egui.take_egui_input(window);
        let mut output = egui.egui_ctx().clone().run_pass(input, show);
        self.held.end_pass(egui.egui_ctx().text_edit_focused());
        if let Some(icon) = cursor {
            let platform = std::mem::take(&mut output.platform_output);
            let cursor_icon = if self.is_pointed_at { platform.cursor_icon } else { icon };
            egui.handle_platform_output(window, PlatformOutput { cursor_icon, ..platform });
        }
        output
    }

    /// Whether the pointer was over a panel at its last event.
    pub(super) const fn is_pointed_at(&self) -> bool {
        self.is_pointed_at
    }

    /// Returns egui's context, once panels were shown.
    pub(super) fn context(&self) -> Option<&Context> {
        self.egui.as_ref().map(State::egui_ctx)
    }
}

/// Whether an event is one of keys or of the pointer.
pub(super) const fn is_of_keys_or_pointer(event: &WindowEvent) -> bool {
    matches!(
        event,
        WindowEvent::KeyboardInput { .. }
            | WindowEvent::CursorMoved { .. }
            | WindowEvent::MouseInput { .. }
            | WindowEvent::MouseWheel { .. }
    )
}

/// Creates egui's state for the window.
fn state(window: &Window) -> State {
    let context = panel_context();
    let (id, scale) = (context.viewport_id(), window.scale_factor() as f32);
    let side = drystone_render::Overlay::MAX_TEXTURE_SIDE as usize;
    State::new(context, id, window, Some(scale), window.theme(), Some(side))
}

/// Creates egui's context of the panels: dark theme, no animations.
pub(super) fn panel_context() -> Context {
    let context = Context::default();
    context.set_theme(egui::Theme::Dark);
    // The panel sets the scale.
    context.options_mut(|options| options.zoom_with_keyboard = false);
    // One to measure a new window, one for its columns, one to draw.
    context.options_mut(|options| options.max_passes = MAX_PASSES);
    context.all_styles_mut(|style| {
        style.animation_time = 0.0;
        // Names of materials follow the pointer.
        style.interaction.tooltip_delay = 0.2;
        style.interaction.show_tooltips_only_when_still = false;
        // Statistics change too fast to copy; non-selectable labels are cheaper.
        style.interaction.selectable_labels = false;
        style.visuals.window_shadow = egui::Shadow::NONE;
        style.visuals.popup_shadow = egui::Shadow::NONE;
        let fill = style.visuals.window_fill;
        style.visuals.window_fill = fill.gamma_multiply(0.92);
    });
    context
}

/// Whether the pointer is over a panel.
fn is_over(egui: &State, at: PhysicalPosition<f64>) -> bool {
    let context = egui.egui_ctx();
    let scale = context.pixels_per_point();
    let at = egui::pos2(at.x as f32 / scale, at.y as f32 / scale);
    context.layer_id_at(at).is_some_and(|layer| layer.order != egui::Order::Background)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A click on a text field and keys come in the same frame.
    #[test]
    fn keys_right_after_a_click_wait_for_the_panels() {
        let (down, up) = (ElementState::Pressed, ElementState::Released);
        for (is_taken, expected) in [(false, vec!["h down", "h up"]), (true, vec!["h up"])] {
            let mut held = Held { is_clicked: true, keys: vec![("h down", down), ("h up", up)] };
            assert!(held.holds() && held.take().is_empty(), "egui has not seen the click");
            held.end_pass(is_taken);
            assert!(!held.holds(), "the text field has the focus, or nothing has");
            assert_eq!((held.take(), held.take().len()), (expected, 0));
        }
    }
}
