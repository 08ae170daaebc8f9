use std::collections::BTreeMap;

use drystone_mesh::{Face, Quad};

/// Number of unit faces that a mesh covers, by face direction and material.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Areas(BTreeMap<(Face, u16), u64>);

impl Areas {
    pub(super) fn add(&mut self, face: Face, material: u16, area: u64) {
        *self.0.entry((face, material)).or_default() += area;
    }

    /// Adds the quads of a drystone mesh.
    pub(super) fn add_quads(&mut self, quads: impl Iterator<Item = Quad>) {
        for quad in quads {
            let [width, height] = quad.size();
            if let Some(face) = quad.face() {
                self.add(face, quad.material(), u64::from(width * height));
            }
        }
    }

    /// Compares with `actual`. The error describes the first difference.
    pub(super) fn check(&self, actual: &Self) -> Result<(), String> {
        let all = self.0.keys().chain(actual.0.keys());
        for key @ (face, material) in all {
            let area = |of: &Self| of.0.get(key).copied().unwrap_or_default();
            let (expected, actual) = (area(self), area(actual));
            if expected != actual {
                return Err(format!(
                    "{face:?} of material {material} covers {actual} faces instead of {expected}"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_additional_faces_are_found() {
        let areas = |list: &[(Face, u16, u64)]| {
            let mut areas = Areas::default();
            list.iter().for_each(|&(face, material, area)| areas.add(face, material, area));
            areas
        };
        let expected = areas(&[(Face::NegX, 1, 4), (Face::PosX, 1, 4)]);
        assert!(expected.check(&areas(&[(Face::PosX, 1, 4), (Face::NegX, 1, 4)])).is_ok());
        assert!(expected.check(&areas(&[(Face::NegX, 1, 4)])).is_err());
        assert!(expected.check(&areas(&[(Face::NegX, 1, 4), (Face::PosX, 1, 5)])).is_err());
        let more = areas(&[(Face::NegX, 1, 4), (Face::PosX, 1, 4), (Face::PosX, 2, 1)]);
        assert!(expected.check(&more).unwrap_err().contains("material 2"));
    }
}
