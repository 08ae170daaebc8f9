//! Brush, history and state of saving.

use drystone::scene::{Brush, BrushForm};
use egui::{Slider, Ui};

use super::{Action, EditFacts, history, selection, swatches};

/// Shows the section; `query` is a part of the name of a material that the user searches.
pub(super) fn show(
    ui: &mut Ui,
    facts: &EditFacts<'_>,
    query: &mut String,
    actions: &mut Vec<Action>,
) {
    let EditFacts { is_on, brush, materials, undo_list, redo_list, save_text, .. } = facts;
    let mut is_editing = *is_on;
    if ui.checkbox(&mut is_editing, "edit with the mouse").clicked() {
        actions.push(Action::Edit);
    }
    let mut new = *brush;
    ui.horizontal(|ui| {
        let forms =
            [("voxel", BrushForm::Voxel), ("cube", BrushForm::Cube), ("ball", BrushForm::Ball)];
        for (name, form) in forms {
            ui.selectable_value(&mut new.form, form, name);
        }
    });
    if new.form != BrushForm::Voxel {
        let slider = Slider::new(&mut new.radius_voxels, 0..=Brush::MAX_RADIUS);
        ui.add(slider.text("radius in voxels"));
    }
    swatches::show(ui, materials, &mut new.material, query);
    if new != *brush {
        actions.push(Action::Brush(new));
    }
    selection::show(ui, facts, actions);
    ui.horizontal(|ui| {
        let buttons = [
            ("Undo", !undo_list.is_empty(), Action::Undo),
            ("Redo", !redo_list.is_empty(), Action::Redo),
            ("Save", true, Action::Save),
        ];
        for (name, can, action) in buttons {
            if ui.add_enabled(can, egui::Button::new(name)).clicked() {
                actions.push(action);
            }
        }
    });
    if !save_text.is_empty() {
        ui.label(save_text);
    }
    history::show(ui, facts, actions);
}
