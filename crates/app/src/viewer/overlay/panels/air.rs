//! Time of day, haze, tints, lines.

use egui::{Slider, Ui};

use super::{Action, Facts, switch};

/// The hour that light looks like of which none was chosen.
const AFTERNOON: f32 = 15.0;
/// Voxels that one sees, at least and at most.
const SIGHT: [f32; 2] = [32.0, 65_536.0];

/// Shows the part of the panel.
pub(super) fn show(ui: &mut Ui, facts: &Facts<'_>, actions: &mut Vec<Action>) {
    let mut hour = facts.hour.unwrap_or(AFTERNOON);
    let time = Slider::new(&mut hour, 0.0..=24.0).custom_formatter(|hour, _| clock(hour));
    if ui.add(time.text("time of day")).changed() {
        actions.push(Action::Hour(hour));
    }
    let [nearest, farthest] = SIGHT;
    let mut sight = shown_sight(facts.view.atmosphere.haze_end);
    let haze = Slider::new(&mut sight, nearest..=farthest).logarithmic(true).fixed_decimals(0);
    if ui.add(haze.text("haze from")).changed() {
        actions.push(Action::Haze(sight));
    }
    let switches = [
        ("tint levels of detail", facts.view.tint_levels, Action::Tint, true),
        ("wire frame", facts.view.wire, Action::Wire, false),
    ];
    for (name, is_on, action, is_of_voxels) in switches {
        switch(ui, facts, (name, is_on, is_of_voxels), || actions.push(action));
    }
}

/// The haze distance `end` as the slider shows it: within its range and in whole voxels.
///
/// A slider reports a value that it had to clamp or round as changed. A haze that nothing but the
/// scene determines would so become a choice.
fn shown_sight(end: f32) -> f32 {
    let [nearest, farthest] = SIGHT;
    if end > 0.0 { end.round().clamp(nearest, farthest) } else { farthest }
}

/// Hours and minutes.
fn clock(hour: f64) -> String {
    let minutes = (hour * 60.0).round() as u32;
    format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_told_as_clocks_do() {
        let told = [0.0, 6.5, 17.999, 24.0].map(clock);
        assert_eq!(told, ["00:00", "06:30", "18:00", "00:00"]);
    }
}
