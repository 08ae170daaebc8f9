use crate::{Material, MaterialTable};

/// Whether a voxel of `material` shows the face it turns to a voxel of `neighbour`: the
/// one rule that every mesher follows.
///
/// The voxel must not be air, and the neighbour must let the face be seen: it is air, or
/// it is translucent and another material.
///
/// ```text
///  voxel ↓ neighbour →   air    stone   glass   water
///  stone                 drawn    –     drawn   drawn
///  glass                 drawn    –       –     drawn
///  water                 drawn    –     drawn     –
/// ```
///
/// So a body of one translucent material has no inner faces, what is opaque shows through
/// glass, glass set into stone shows no face to it, and where two translucent materials
/// meet both faces are drawn.
///
/// # Cost
/// A bit looked up in the table where the neighbour is not air.
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
    fn every_pair_is_as_the_drawing_says() {
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
        // Numbers that the table does not know count as opaque.
        assert!(!face_is_visible(Material(1), Material(2), &table));
        assert!(face_is_visible(Material(9), Material::AIR, &table));
    }
}
