//! Materials as a grid of colours, with their names.

use drystone_voxel::{Material, MaterialTable};
use egui::{Color32, Rect, ScrollArea, Sense, Stroke, StrokeKind, TextEdit, Ui, vec2};

use crate::output;

/// Side of a colour, and the space to the next one, in points.
const SIDE: f32 = 18.0;
const SPACE: f32 = 3.0;
/// Number of rows that are visible at once. A part of a row shows that there are more.
const ROWS: f32 = 4.6;
/// Number of materials from which they can be searched.
const SEARCHED: usize = 24;

/// Shows the chosen material, and all that have `query` in their names, as in the file.
///
/// # Cost
/// O(visible materials), and O(materials) with a query.
pub(super) fn show(
    ui: &mut Ui,
    materials: &MaterialTable,
    material: &mut Material,
    query: &mut String,
) {
    ui.horizontal(|ui| {
        let (area, _) = ui.allocate_exact_size(vec2(SIDE, SIDE), Sense::hover());
        ui.painter().rect_filled(area, 2.0, color(materials, *material));
        ui.label(name(materials, *material));
    });
    let count = materials.len().saturating_sub(1);
    if count > SEARCHED {
        ui.add(TextEdit::singleline(query).hint_text("find a material").desired_width(160.0));
    } else {
        query.clear();
    }
    let found = found(materials, query);
    if found.len() == 0 {
        ui.weak("no material has this in its name");
        return;
    }
    let columns = (((ui.available_width() + SPACE) / (SIDE + SPACE)) as usize).max(1);
    let rows = found.len().div_ceil(columns);
    let height = rows as f32 * (SIDE + SPACE);
    let most = ROWS * (SIDE + SPACE);
    let scroll = ScrollArea::vertical().id_salt("materials").max_height(height.min(most));
    // A newly chosen material is scrolled to, and again if its row changes.
    let shown = ui.scope_id().with("shown material");
    let key = (material.0, columns);
    let is_new = ui.data(|data| data.get_temp(shown)) != Some(key);
    let scroll = match found.index_of(*material).filter(|_| is_new) {
        Some(index) => {
            ui.data_mut(|data| data.insert_temp(shown, key));
            let above = (index / columns) as f32 - (ROWS - 1.0) / 2.0;
            scroll.vertical_scroll_offset(above.max(0.0) * (SIDE + SPACE))
        }
        None => scroll,
    };
    scroll.auto_shrink([false, true]).show(ui, |ui| {
        let size = vec2(ui.available_width(), height);
        let (area, response) = ui.allocate_exact_size(size, Sense::click());
        let at = |index: usize| {
            let [column, row] = [index % columns, index / columns].map(|it| it as f32);
            let corner = area.min + vec2(column, row) * (SIDE + SPACE);
            Rect::from_min_size(corner, vec2(SIDE, SIDE))
        };
        // Only the visible rows are painted.
        let seen = ui.clip_rect();
        let row = |y: f32| ((y - area.top()) / (SIDE + SPACE)).max(0.0) as usize;
        let [first, end] = [row(seen.top()), row(seen.bottom()) + 1].map(|row| row * columns);
        let ring = |width, color| Stroke::new(width, color);
        for index in first..end.min(found.len()) {
            let Some(other) = found.get(index) else { continue };
            ui.painter().rect_filled(at(index), 2.0, color(materials, other));
            if other == *material {
                let (white, kind) = (ring(2.0, Color32::WHITE), StrokeKind::Outside);
                ui.painter().rect_stroke(at(index), 2.0, white, kind);
            }
        }
        let pointed = response.hover_pos().and_then(|point| {
            let [column, row] = [point.x - area.left(), point.y - area.top()]
                .map(|it| (it / (SIDE + SPACE)) as usize);
            let index = row * columns + column;
            let is_on = column < columns && at(index.min(found.len())).contains(point);
            found.get(index).filter(|_| is_on)
        });
        if let Some(other) = pointed {
            if response.clicked() {
                *material = other;
            }
            response.on_hover_text_at_pointer(name(materials, other));
        }
    });
}

/// Materials that a query finds.
enum Found {
    /// All but air: their number.
    All(usize),
    Some(Vec<Material>),
}

impl Found {
    fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(found) => found.len(),
        }
    }

    fn index_of(&self, material: Material) -> Option<usize> {
        match self {
            Self::All(count) => usize::from(material.0).checked_sub(1).filter(|it| it < count),
            Self::Some(found) => found.iter().position(|it| *it == material),
        }
    }

    fn get(&self, index: usize) -> Option<Material> {
        match self {
            Self::All(count) => (index < *count).then(|| Material(index as u16 + 1)),
            Self::Some(found) => found.get(index).copied(),
        }
    }
}

/// Returns the materials whose names contain `query`, in any case. Placeholders are left out.
fn found(materials: &MaterialTable, query: &str) -> Found {
    let query = query.trim().to_lowercase();
    let mut listed = materials.iter().skip(1);
    if query.is_empty() && !listed.any(|(_, kind)| kind.is_placeholder()) {
        return Found::All(materials.len().saturating_sub(1));
    }
    let listed = materials.iter().skip(1).filter(|(_, kind)| {
        !kind.is_placeholder() && (query.is_empty() || kind.name.to_lowercase().contains(&query))
    });
    Found::Some(listed.map(|(material, _)| material).collect())
}

fn name(materials: &MaterialTable, material: Material) -> String {
    materials.get(material).map_or("nothing".into(), |kind| output::plain(&kind.name))
}

fn color(materials: &MaterialTable, material: Material) -> Color32 {
    let [red, green, blue, opacity] = materials.get(material).map_or([0; 4], |kind| kind.color);
    Color32::from_rgba_unmultiplied(red, green, blue, opacity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn materials_are_found_by_parts_of_their_names() {
        use drystone_voxel::MaterialKind;

        let mut materials = MaterialTable::new();
        for name in ["Stone", "oak planks", "stone stairs"] {
            materials.insert(name, [1, 2, 3, 255]).unwrap();
        }
        let all = |materials: &MaterialTable, query: &str| {
            let found = found(materials, query);
            (0..found.len()).map(|index| found.get(index).unwrap().0).collect::<Vec<_>>()
        };
        assert_eq!(all(&materials, ""), [1, 2, 3]);
        assert_eq!(all(&materials, " STONE "), [1, 3]);
        assert!(all(&materials, "glass").is_empty());
        materials.insert_kind(MaterialKind::placeholder(255)).unwrap();
        materials.insert("glass", [1, 2, 3, 90]).unwrap();
        assert_eq!((all(&materials, ""), all(&materials, "glass")), (vec![1, 2, 3, 5], vec![5]));
    }
}
