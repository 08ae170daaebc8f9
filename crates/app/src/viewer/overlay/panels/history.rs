//! List of edits to undo and redo.

use drystone_voxel::MaterialTable;
use drystone_world::EditSummary;
use egui::{CollapsingHeader, Ui};

use super::{Action, EditFacts};
use crate::output::{self, grouped};

/// Maximum number of edits in each list.
pub(crate) const LISTED: usize = 8;

/// Shows the edits, the newest first, with the undone ones above. A click on one goes to the state
/// after it.
pub(super) fn show(ui: &mut Ui, facts: &EditFacts<'_>, actions: &mut Vec<Action>) {
    let EditFacts { undo_list, redo_list, materials, .. } = facts;
    if undo_list.is_empty() && redo_list.is_empty() {
        return;
    }
    CollapsingHeader::new("History").default_open(true).show(ui, |ui| {
        let undone = redo_list.iter().enumerate().map(|(n, it)| (it, n as i32 + 1)).rev();
        let done = undo_list.iter().enumerate().map(|(n, it)| (it, -(n as i32)));
        for (summary, steps) in undone.chain(done) {
            let words = words(summary, materials);
            let words = if steps > 0 { format!("{words} (undone)") } else { words };
            if ui.selectable_label(steps == 0, words).clicked() && steps != 0 {
                actions.push(Action::History(steps));
            }
        }
        let all = undo_list.len();
        if all == LISTED {
            ui.weak("earlier edits: Undo");
        } else if ui.selectable_label(all == 0, "start").clicked() && all > 0 {
            actions.push(Action::History(-(all as i32)));
        }
    });
}

/// Describes an edit, such as "27 voxels of stone".
fn words(summary: &EditSummary, materials: &MaterialTable) -> String {
    let EditSummary { voxel_count, material } = *summary;
    let voxels = match voxel_count {
        1 => "1 voxel".into(),
        count => format!("{} voxels", grouped(count)),
    };
    match material {
        None => format!("{voxels} of several materials"),
        Some(material) if material.is_air() => format!("{voxels} removed"),
        Some(material) => {
            let name =
                materials.get(material).map_or("nothing".into(), |it| output::plain(&it.name));
            format!("{voxels} of {name}")
        }
    }
}

#[cfg(test)]
mod tests {
    use drystone_voxel::Material;

    use super::*;

    #[test]
    fn edits_are_described() {
        let mut materials = MaterialTable::new();
        let stone = materials.insert("stone", [1, 2, 3, 255]).unwrap();
        let of = |voxel_count, material| words(&EditSummary { voxel_count, material }, &materials);
        assert_eq!(of(1, Some(stone)), "1 voxel of stone");
        assert_eq!(of(1_200, Some(Material::AIR)), "1,200 voxels removed");
        assert_eq!(of(2, None), "2 voxels of several materials");
    }
}
