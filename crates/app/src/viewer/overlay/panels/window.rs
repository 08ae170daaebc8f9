//! Text size, and buttons for the list of keys, a picture and full screen.

use egui::{ComboBox, Ui};

use super::Action;
use crate::settings::Settings;

/// Shows the section.
pub(super) fn show(ui: &mut Ui, settings: &Settings, actions: &mut Vec<Action>) {
    const SCALES: [f32; 6] = [0.75, 1.0, 1.25, 1.5, 2.0, 3.0];
    let percent = |scale: f32| format!("{:.0} %", 100.0 * scale);
    let mut scale = settings.view.text_scale;
    ui.horizontal(|ui| {
        let list = ComboBox::from_id_salt("text size").selected_text(percent(scale)).width(70.0);
        list.show_ui(ui, |ui| {
            for other in SCALES {
                ui.selectable_value(&mut scale, other, percent(other));
            }
        });
        ui.label("text size");
    });
    let buttons = [
        ("Keys", Action::Help),
        ("Picture", Action::Screenshot),
        ("Full screen", Action::FullScreen),
    ];
    ui.horizontal(|ui| {
        for (name, action) in buttons {
            if ui.button(name).clicked() {
                actions.push(action);
            }
        }
    });
    if scale != settings.view.text_scale {
        actions.push(Action::TextScale(scale));
    }
}
