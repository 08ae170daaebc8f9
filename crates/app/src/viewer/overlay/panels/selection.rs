//! Selection, copied voxels, and mirror of the brush.

use drystone::scene::{EditTool, MirrorPlanes};
use drystone_world::{Axis, PasteAir};
use egui::{Button, Ui};

use super::{Action, EditFacts};

/// Shows the controls while clicks edit.
pub(super) fn show(ui: &mut Ui, facts: &EditFacts<'_>, actions: &mut Vec<Action>) {
    if !facts.is_on {
        return;
    }
    let selection = &facts.selection;
    let (tool, is_selected) = (selection.tool(), selection.bounds().is_some());
    let mirror = match facts.brush.mirror.planes {
        MirrorPlanes::None => "Mirror the brush",
        MirrorPlanes::X => "Mirrored along X",
        MirrorPlanes::Z => "Mirrored along Z",
        MirrorPlanes::Both => "Mirrored along X and Z",
    };
    let is_mirrored = facts.brush.mirror.planes != MirrorPlanes::None || tool == EditTool::Mirror;
    row(
        ui,
        actions,
        &[
            ("Select a box", true, tool == EditTool::Select, Action::Tool(EditTool::Select)),
            (mirror, true, is_mirrored, Action::NextMirror),
        ],
    );
    if let Some([x, y, z]) = selection.bounds().map(|it| it.size_voxels()) {
        ui.label(format!("{x} x {y} x {z} voxels selected"));
    }
    row(
        ui,
        actions,
        &[
            ("Fill", is_selected, false, Action::FillSelection),
            ("Clear", is_selected, false, Action::EmptySelection),
            ("Replace …", is_selected, tool == EditTool::Replace, Action::Tool(EditTool::Replace)),
        ],
    );
    let is_pasting = tool == EditTool::Paste;
    let is_copied = selection.clipboard().is_some();
    row(
        ui,
        actions,
        &[
            ("Copy", is_selected, false, Action::Copy),
            ("Cut", is_selected, false, Action::Cut),
            ("Paste …", is_copied, is_pasting, Action::Tool(EditTool::Paste)),
        ],
    );
    if is_pasting {
        row(
            ui,
            actions,
            &[
                ("Turn", true, false, Action::TurnCopy(Axis::Y, 1)),
                ("Tip over", true, false, Action::TurnCopy(Axis::X, 1)),
                ("Mirror", true, false, Action::MirrorCopy(Axis::X)),
            ],
        );
        let mut replaces = selection.air == PasteAir::Replaces;
        if ui.checkbox(&mut replaces, "paste empty voxels too").clicked() {
            let air = if replaces { PasteAir::Replaces } else { PasteAir::Skipped };
            actions.push(Action::PasteAir(air));
        }
    }
}

/// Shows a row of buttons: name, whether it can be pressed, whether it is, and its action.
fn row(ui: &mut Ui, actions: &mut Vec<Action>, buttons: &[(&str, bool, bool, Action)]) {
    ui.horizontal(|ui| {
        for &(name, can, is_pressed, action) in buttons {
            if ui.add_enabled(can, Button::new(name).selected(is_pressed)).clicked() {
                actions.push(action);
            }
        }
    });
}
