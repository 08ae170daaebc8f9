//! Time of day, haze, tint, wireframe.

use egui::{Button, Slider, Ui};

use super::{Action, Facts, switch};

/// Hour that matches the default light.
const AFTERNOON: f32 = 15.0;
/// Range of the haze distance, in voxels.
const HAZE_DISTANCES: [f32; 2] = [32.0, 65_536.0];

/// Shows the section.
pub(super) fn show(ui: &mut Ui, facts: &Facts<'_>, actions: &mut Vec<Action>) {
    time(ui, facts.hour, actions);
    let [nearest, farthest] = HAZE_DISTANCES;
    let mut distance = slider_distance(facts.view.atmosphere.haze_end);
    let haze = Slider::new(&mut distance, nearest..=farthest).logarithmic(true).fixed_decimals(0);
    if ui.add(haze.text("haze distance")).changed() {
        actions.push(Action::Haze(distance));
    }
    let switches = [
        ("tint levels of detail", facts.view.tint_levels, Action::Tint, true),
        ("wireframe", facts.view.wire, Action::Wire, false),
    ];
    for (name, is_on, action, is_of_voxels) in switches {
        switch(ui, facts, (name, is_on, is_of_voxels), || actions.push(action));
    }
}

/// Shows the time of day, and a button for the default light.
fn time(ui: &mut Ui, chosen: Option<f32>, actions: &mut Vec<Action>) {
    let mut hour = chosen.unwrap_or(AFTERNOON);
    ui.horizontal(|ui| {
        ui.spacing_mut().slider_width = 84.0;
        let slider = Slider::new(&mut hour, 0.0..=24.0).custom_formatter(|hour, _| clock(hour));
        if ui.add(slider.text("time")).changed() {
            actions.push(Action::Hour(Some(hour)));
        }
        let default = ui.add_enabled(chosen.is_some(), Button::new("Reset"));
        if default.on_hover_text("the default light: a clear afternoon").clicked() {
            actions.push(Action::Hour(None));
        }
    });
}

/// Returns the haze distance `end` as the slider shows it: within its range and in whole voxels.
///
/// A slider reports a clamped or rounded value as a change. The default haze of a scene would so
/// become a user's choice.
fn slider_distance(end: f32) -> f32 {
    let [nearest, farthest] = HAZE_DISTANCES;
    if end > 0.0 { end.round().clamp(nearest, farthest) } else { farthest }
}

/// Formats an hour as hours and minutes.
fn clock(hour: f64) -> String {
    let minutes = (hour * 60.0).round() as u32;
    format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_formatted_as_clock_times() {
        let formatted = [0.0, 6.5, 17.999, 24.0].map(clock);
        assert_eq!(formatted, ["00:00", "06:30", "18:00", "00:00"]);
    }
}
