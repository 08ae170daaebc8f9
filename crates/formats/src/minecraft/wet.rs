//! Blocks in water, which fills their voxel around their shape.

use std::collections::{HashMap, HashSet};

use drystone_voxel::{Material, MaterialTable};

/// Blocks that are always in water.
const SUBMERGED: [&str; 4] = ["seagrass", "tall_seagrass", "kelp", "kelp_plant"];
/// End of the names of materials in water.
pub(super) const IN_WATER: &str = " in water";

/// The materials of blocks in water.
#[derive(Debug)]
pub(super) struct Wet {
    /// Materials of states in water, by the material of the state without water.
    by_dry: HashMap<Material, Material>,
    /// Blocks that are always in water, by their own material.
    submerged: HashSet<Material>,
}

impl Wet {
    /// Adds a material in water for each of the `states` that is not a cube. `own` returns the material
    /// of a block by its name.
    pub(super) fn new(
        table: &mut MaterialTable,
        own: impl Fn(&'static str) -> Material,
        states: impl Iterator<Item = Material>,
    ) -> Self {
        let mut by_dry = HashMap::new();
        for state in states {
            let kind = table.get(state).filter(|kind| kind.shape.is_some()).cloned();
            let Some(mut kind) = kind.filter(|_| !by_dry.contains_key(&state)) else { continue };
            kind.name += IN_WATER;
            if let Some(material) = table.insert_kind(kind.with_fluid(own("water"))) {
                by_dry.insert(state, material);
            }
        }
        Self { by_dry, submerged: SUBMERGED.map(own).into() }
    }

    /// Returns the material of a state in water, by that without water; `None` if there is none.
    pub(super) fn of(&self, dry: Material) -> Option<Material> {
        self.by_dry.get(&dry).copied()
    }

    /// Whether a block is always in water, by its own material.
    pub(super) fn is_submerged(&self, own: Material) -> bool {
        self.submerged.contains(&own)
    }

    /// Returns all materials in water, with those without water.
    #[cfg(test)]
    pub(super) fn pairs(&self) -> impl ExactSizeIterator<Item = (Material, Material)> {
        self.by_dry.iter().map(|(dry, wet)| (*dry, *wet))
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::Blocks;
    use super::*;

    /// States in water have the shape and the colours of those without, and are new materials at the end.
    #[test]
    fn states_in_water_follow_all_others() {
        let (blocks, table) = Blocks::vanilla();
        let water = blocks.named(b"water");
        let first = table.len() - blocks.wet.pairs().len();
        for (dry, wet) in blocks.wet.pairs() {
            let [dry_kind, wet_kind] = [dry, wet].map(|it| table.get(it).unwrap());
            assert!(usize::from(wet.0) >= first && usize::from(dry.0) < first, "{dry_kind:?}");
            let mut expected = dry_kind.clone().with_fluid(water);
            expected.name += IN_WATER;
            assert_eq!(*wet_kind, expected);
            assert_eq!((table.fluid(wet), table.fluid(dry)), (Some(water), None));
            assert_eq!(blocks.is_exact(wet), blocks.is_exact(dry));
        }
        let watered = |name: &str, is_logged| {
            let own = blocks.named(name.as_bytes());
            table.fluid(blocks.watered(own, own, is_logged)) == Some(water)
        };
        for name in ["oak_slab", "oak_fence", "oak_stairs", "chest", "ladder", "sea_pickle"] {
            assert!(watered(name, true) && !watered(name, false), "{name}");
        }
        for name in ["seagrass", "tall_seagrass", "kelp", "kelp_plant"] {
            assert!(watered(name, true) && watered(name, false), "{name}");
        }
        // Blocks that cannot be in water, and cubes.
        for name in ["stone", "oak_leaves", "oak_door", "wheat", "no_such_block", "air"] {
            assert!(!watered(name, true), "{name}");
        }
        // A bubble column is a fluid of one body with water.
        let column = blocks.named(b"bubble_column");
        assert!(table.fluid(column) == Some(column) && table.is_one_body(column, water));
    }
}
