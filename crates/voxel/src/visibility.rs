use crate::{Material, MaterialTable};

/// Returns whether a voxel of `material` shows its face towards a voxel of `neighbour`. All meshers
/// use this rule.
///
/// The face is visible if the voxel is not air, and the neighbour is air or another, translucent
/// material.
///
/// ```text
///  voxel ↓ neighbour →   air    stone   glass   water
///  stone                 drawn    –     drawn   drawn
///  glass                 drawn    –       –     drawn
///  water                 drawn    –     drawn     –
/// ```
///
/// A body of one translucent material has no inner faces. Opaque faces are visible through glass,
/// and glass has no face towards stone. Where two translucent materials meet, both faces are drawn.
///
/// # Cost
/// One table lookup if the neighbour is not air.
///
/// # Examples
/// ```
/// use drystone_voxel::{Material, MaterialTable, face_is_visible};
///
/// let mut table = MaterialTable::new();
/// let stone = table.insert("stone", [128, 128, 128, 255]).unwrap();
/// let glass = table.insert("glass", [200, 220, 255, 90]).unwrap();
/// assert!(face_is_visible(stone, glass, &table));
/// assert!(!face_is_visible(glass, stone, &table));
/// assert!(!face_is_visible(glass, glass, &table));
/// ```
#[inline]
pub fn face_is_visible(material: Material, neighbour: Material, table: &MaterialTable) -> bool {
    !material.is_air()
        && (neighbour.is_air() || (neighbour != material && table.is_translucent(neighbour)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_agrees_with_the_drawing() {
        let mut table = MaterialTable::new();
        let stone = table.insert("stone", [128, 128, 128, 255]).unwrap();
        let glass = table.insert("glass", [200, 220, 255, 90]).unwrap();
        let water = table.insert("water", [20, 60, 200, 128]).unwrap();
        let all = [Material::AIR, stone, glass, water];
        let drawn = [
            (Material::AIR, [false; 4]),
            (stone, [true, false, true, true]),
            (glass, [true, false, false, true]),
            (water, [true, false, true, false]),
        ];
        for (material, expected) in drawn {
            let actual = all.map(|neighbour| face_is_visible(material, neighbour, &table));
            assert_eq!(actual, expected, "{material:?}");
        }
    }

    #[test]
    fn two_opaque_materials_hide_each_other() {
        let table = MaterialTable::new();
        // Materials that are not in the table count as opaque.
        assert!(!face_is_visible(Material(1), Material(2), &table));
        assert!(face_is_visible(Material(9), Material::AIR, &table));
    }
}
