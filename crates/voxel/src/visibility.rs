use crate::{Material, MaterialTable};

/// Returns whether a voxel of `material` shows its face towards a voxel of `neighbour`. All meshers
/// use this rule.
///
/// The face is visible if the voxel is not air, and the neighbour is air, is [cut
/// out](MaterialTable::is_cut_out), or is translucent and does not form [one
/// body](MaterialTable::is_one_body) with the voxel.
///
/// ```text
///  voxel ↓ neighbour →   air    stone   glass   water   leaves
///  stone                 drawn    –     drawn   drawn   drawn
///  glass                 drawn    –       –     drawn   drawn
///  water                 drawn    –     drawn     –     drawn
///  leaves (cut out)      drawn    –     drawn   drawn   drawn
/// ```
///
/// A body of translucent materials of one opacity, such as water of two colours, has no inner faces.
/// Opaque faces are visible through glass, and glass has no face towards stone. Where translucent
/// materials of two opacities meet, both faces are drawn. So are both faces where cut-out voxels meet:
/// those behind are visible through the holes.
///
/// # Cost
/// One table lookup if the neighbour is not air, and three more if both are translucent.
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
        && (neighbour.is_air()
            || table.is_cut_out(neighbour)
            || (table.is_translucent(neighbour) && !table.is_one_body(material, neighbour)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MaterialKind;

    #[test]
    fn every_pair_agrees_with_the_drawing() {
        let mut table = MaterialTable::new();
        let stone = table.insert("stone", [128, 128, 128, 255]).unwrap();
        let glass = table.insert("glass", [200, 220, 255, 90]).unwrap();
        let water = table.insert("water", [20, 60, 200, 128]).unwrap();
        let leaves = MaterialKind::new("leaves", [40, 90, 20, 255]).with_cut_out();
        let leaves = table.insert_kind(leaves).unwrap();
        let all = [Material::AIR, stone, glass, water, leaves];
        let drawn = [
            (Material::AIR, [false; 5]),
            (stone, [true, false, true, true, true]),
            (glass, [true, false, false, true, true]),
            (water, [true, false, true, false, true]),
            (leaves, [true, false, true, true, true]),
        ];
        for (material, expected) in drawn {
            let actual = all.map(|neighbour| face_is_visible(material, neighbour, &table));
            assert_eq!(actual, expected, "{material:?}");
        }
    }

    /// Water of two colours has no face between both, in either direction.
    #[test]
    fn materials_of_one_opacity_are_one_body() {
        let mut table = MaterialTable::new();
        let mut insert = |name, color| table.insert(name, color).unwrap();
        let [water, murky, ice, stone, clay] = [
            insert("water", [20, 60, 200, 128]),
            insert("murky water", [90, 120, 90, 128]),
            insert("ice", [150, 180, 250, 200]),
            insert("stone", [128, 128, 128, 255]),
            insert("clay", [140, 150, 160, 255]),
        ];
        for (a, b) in [(water, murky), (murky, water), (water, water)] {
            assert!(table.is_one_body(a, b) && !face_is_visible(a, b, &table));
        }
        for (a, b) in [(water, ice), (ice, murky), (stone, water)] {
            assert!(!table.is_one_body(a, b) && face_is_visible(a, b, &table));
        }
        assert!(!table.is_one_body(stone, clay) && !face_is_visible(stone, clay, &table));
        assert!(!table.is_one_body(Material::AIR, Material::AIR));
    }

    #[test]
    fn two_opaque_materials_hide_each_other() {
        let table = MaterialTable::new();
        // Materials that are not in the table count as opaque.
        assert!(!face_is_visible(Material(1), Material(2), &table));
        assert!(face_is_visible(Material(9), Material::AIR, &table));
    }
}
