use drystone_voxel::{Material, MaterialTable};

/// Lists the materials of the generated world once, for the struct and the table.
macro_rules! palette {
    ($($field:ident, $name:literal, $color:expr;)*) => {
        /// Materials of the generated world.
        pub(super) struct Palette {
            $(pub(super) $field: Material,)*
        }

        impl Palette {
            /// Adds the materials to an empty table, which has enough numbers for all of them.
            pub(super) fn new(table: &mut MaterialTable) -> Self {
                Self { $($field: table.insert($name, $color).unwrap_or_default(),)* }
            }
        }
    };
}

palette! {
    grass, "grass", [104, 156, 66, 255];
    meadow, "meadow grass", [132, 174, 76, 255];
    dry_grass, "dry grass", [166, 172, 88, 255];
    forest_floor, "forest floor", [84, 132, 58, 255];
    dirt, "dirt", [122, 88, 60, 255];
    stone, "stone", [134, 134, 136, 255];
    dark_stone, "dark stone", [114, 114, 119, 255];
    light_stone, "light stone", [154, 148, 139, 255];
    gravel, "gravel", [141, 135, 127, 255];
    sand, "sand", [222, 206, 154, 255];
    snow, "snow", [241, 245, 250, 255];
    water, "water", [46, 116, 178, 150];
    oak_bark, "oak bark", [98, 72, 50, 255];
    birch_bark, "birch bark", [216, 212, 202, 255];
    pine_bark, "pine bark", [82, 60, 46, 255];
    oak_leaves, "oak leaves", [76, 130, 50, 255];
    young_leaves, "young leaves", [108, 156, 58, 255];
    birch_leaves, "birch leaves", [146, 176, 72, 255];
    pine_needles, "pine needles", [44, 96, 66, 255];
    autumn_leaves, "autumn leaves", [208, 124, 46, 255];
    red_leaves, "red leaves", [178, 70, 48, 255];
    poppy, "poppy", [208, 62, 58, 255];
    buttercup, "buttercup", [240, 206, 70, 255];
    daisy, "daisy", [242, 240, 234, 255];
    bluebell, "bluebell", [104, 116, 210, 255];
    far_water, "water far away", [107, 142, 166, 255];
}

impl Palette {
    /// Whether a trunk replaces this material.
    pub(super) fn is_leaf(&self, material: Material) -> bool {
        let p = self;
        [
            p.oak_leaves,
            p.young_leaves,
            p.birch_leaves,
            p.pine_needles,
            p.autumn_leaves,
            p.red_leaves,
        ]
        .contains(&material)
    }
}
