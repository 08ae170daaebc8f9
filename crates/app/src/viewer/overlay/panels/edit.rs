//! Brush, history and state of saving.

use drystone::scene::{Brush, BrushForm};
use drystone_voxel::{Material, MaterialTable};
use egui::{Color32, ComboBox, Sense, Slider, Ui, vec2};

use super::{Action, EditFacts, selection};
use crate::output;

/// Maximum number of materials in the list; keys step through all of them.
const LISTED: usize = 256;

/// Shows the section.
pub(super) fn show(ui: &mut Ui, facts: &EditFacts<'_>, actions: &mut Vec<Action>) {
    let EditFacts { is_on, brush, materials, can_undo, can_redo, save_text, .. } = facts;
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
    palette(ui, materials, &mut new.material);
    if new != *brush {
        actions.push(Action::Brush(new));
    }
    selection::show(ui, facts, actions);
    ui.horizontal(|ui| {
        let buttons = [
            ("Undo", *can_undo, Action::Undo),
            ("Redo", *can_redo, Action::Redo),
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
}

/// Shows the material to place, by name and colour.
fn palette(ui: &mut Ui, materials: &MaterialTable, material: &mut Material) {
    let named = |material: Material| {
        materials.get(material).map_or("nothing".into(), |kind| output::plain(&kind.name))
    };
    ui.horizontal(|ui| {
        swatch(ui, materials, *material);
        ComboBox::from_id_salt("material").selected_text(named(*material)).show_ui(ui, |ui| {
            for (other, _) in materials.iter().filter(|(it, _)| !it.is_air()).take(LISTED) {
                ui.horizontal(|ui| {
                    swatch(ui, materials, other);
                    ui.selectable_value(material, other, named(other));
                });
            }
        });
    });
}

/// Shows a square of the material's colour.
fn swatch(ui: &mut Ui, materials: &MaterialTable, material: Material) {
    let [red, green, blue, opacity] = materials.get(material).map_or([0; 4], |kind| kind.color);
    let (area, _) = ui.allocate_exact_size(vec2(16.0, 16.0), Sense::hover());
    let color = Color32::from_rgba_unmultiplied(red, green, blue, opacity);
    ui.painter().rect_filled(area, 2.0, color);
}
