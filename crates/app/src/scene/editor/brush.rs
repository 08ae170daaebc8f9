use drystone_voxel::{Material, MaterialTable, VoxelPos};
use drystone_world::{Axis, VoxelShape};

/// Shape and material of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brush {
    /// Form. Default: one voxel.
    pub form: BrushForm,
    /// Radius in voxels around the central one, 0 to [`MAX_RADIUS`](Self::MAX_RADIUS); unused for a
    /// single voxel. Default: 2.
    pub radius_voxels: u32,
    /// Material to place. Default: the first that is not air.
    pub material: Material,
    /// Planes across which each edit is mirrored. Default: none.
    pub mirror: Mirror,
}

/// Mirror of a brush: upright planes through the middle of a voxel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mirror {
    /// Which planes there are.
    pub planes: MirrorPlanes,
    /// Voxel that they go through.
    pub through: VoxelPos,
}

/// Planes of a mirror.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MirrorPlanes {
    /// None.
    #[default]
    None,
    /// Across the X axis: east and west change places.
    X,
    /// Across the Z axis: north and south change places.
    Z,
    /// Across both.
    Both,
}

/// Form of a brush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrushForm {
    /// One voxel.
    #[default]
    Voxel,
    /// A cube.
    Cube,
    /// A ball.
    Ball,
}

impl Default for Brush {
    fn default() -> Self {
        let mirror = Mirror::default();
        Self { form: BrushForm::Voxel, radius_voxels: 2, material: Material(1), mirror }
    }
}

impl Brush {
    /// Largest radius, in voxels. Such an edit takes a few frames.
    pub const MAX_RADIUS: u32 = 24;

    /// Returns the first brush for a palette: a voxel of the material named stone, or of the first if
    /// there is none. The first one of a Minecraft world is that of unknown blocks.
    ///
    /// # Cost
    /// O(materials).
    pub fn of(materials: &MaterialTable) -> Self {
        let mut stone = materials.iter().filter(|(_, kind)| kind.name == "stone");
        let mut listed = materials.iter().skip(1).filter(|(_, kind)| !kind.is_placeholder());
        let plain = Self::default();
        let found = stone.next().or_else(|| listed.next());
        Self { material: found.map_or(plain.material, |(material, _)| material), ..plain }
    }

    /// Returns the brush's shape around a voxel.
    pub fn shape_at(&self, center: VoxelPos) -> VoxelShape {
        let radius_voxels = self.radius_voxels.min(Self::MAX_RADIUS);
        match self.form {
            BrushForm::Voxel => VoxelShape::voxel(center),
            BrushForm::Cube => VoxelShape::cube(center, radius_voxels),
            BrushForm::Ball => VoxelShape::Sphere { center, radius_voxels },
        }
    }

    /// Returns the brush's shape around a voxel and its mirror images.
    pub fn shapes_at(&self, center: VoxelPos) -> Vec<VoxelShape> {
        let mut shapes = vec![self.shape_at(center)];
        let Mirror { planes, through } = self.mirror;
        let mut mirror = |axis, through| {
            let images = shapes.iter().filter_map(|shape| shape.mirrored(axis, through));
            shapes.extend(images.collect::<Vec<_>>());
        };
        if matches!(planes, MirrorPlanes::X | MirrorPlanes::Both) {
            mirror(Axis::X, through.x);
        }
        if matches!(planes, MirrorPlanes::Z | MirrorPlanes::Both) {
            mirror(Axis::Z, through.z);
        }
        shapes
    }

    /// Changes to the next form: voxel, cube, ball.
    pub const fn next_form(&mut self) {
        self.form = match self.form {
            BrushForm::Voxel => BrushForm::Cube,
            BrushForm::Cube => BrushForm::Ball,
            BrushForm::Ball => BrushForm::Voxel,
        };
    }

    /// Changes the radius by a number of voxels.
    pub fn grow(&mut self, by: i32) {
        self.radius_voxels = self.radius_voxels.saturating_add_signed(by).min(Self::MAX_RADIUS);
    }

    /// Steps through the materials of the palette, with wrap-around and without air and placeholders.
    pub fn step_material(&mut self, materials: &MaterialTable, by: i32) {
        let count = materials.len() as i64 - 1;
        let step = i64::from(by.signum());
        let mut index = i64::from(self.material.0) - 1 + i64::from(by);
        for _ in 0..count {
            let material = Material(index.rem_euclid(count) as u16 + 1);
            if materials.get(material).is_some_and(|kind| !kind.is_placeholder()) {
                self.material = material;
                return;
            }
            index += step;
        }
    }

    /// Describes the brush in words, such as "ball of stone, 5 wide".
    pub fn describe(&self, materials: &MaterialTable) -> String {
        let name = materials.get(self.material).map_or("nothing", |kind| kind.name.as_str());
        let across = 2 * self.radius_voxels + 1;
        let mirror = match self.mirror.planes {
            MirrorPlanes::None => "",
            MirrorPlanes::X => ", mirrored along X",
            MirrorPlanes::Z => ", mirrored along Z",
            MirrorPlanes::Both => ", mirrored along X and Z",
        };
        match self.form {
            BrushForm::Voxel => format!("voxel of {name}{mirror}"),
            BrushForm::Cube => format!("cube of {name}, {across} wide{mirror}"),
            BrushForm::Ball => format!("ball of {name}, {across} wide{mirror}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use drystone_voxel::MaterialKind;

    use super::*;

    #[test]
    fn brushes_step_through_forms_sizes_and_materials() {
        let mut materials = MaterialTable::new();
        for name in ["stone", "grass", "water"] {
            materials.insert(name, [1, 2, 3, 255]).unwrap();
        }
        let mut brush = Brush::default();
        assert_eq!(brush.describe(&materials), "voxel of stone");
        brush.next_form();
        brush.grow(1);
        brush.step_material(&materials, -1);
        assert_eq!(brush.describe(&materials), "cube of water, 7 wide");
        brush.step_material(&materials, 1);
        brush.next_form();
        brush.grow(-9);
        assert_eq!(brush.describe(&materials), "ball of stone, 1 wide");
        brush.grow(1_000);
        assert_eq!(brush.radius_voxels, Brush::MAX_RADIUS);
        brush.next_form();
        assert_eq!(brush.form, BrushForm::Voxel);
        let mut later = MaterialTable::new();
        for name in ["unknown block", "stone", "stone in water"] {
            later.insert(name, [1, 2, 3, 255]).unwrap();
        }
        assert_eq!(Brush::of(&later).describe(&later), "voxel of stone");
        assert_eq!(Brush::of(&MaterialTable::new()), Brush::default());
        let mut packed = MaterialTable::new();
        for kind in [
            MaterialKind::placeholder(255),
            MaterialKind::new("grass", [1, 2, 3, 255]),
            MaterialKind::placeholder(90),
            MaterialKind::new("sand", [1, 2, 3, 255]),
        ] {
            packed.insert_kind(kind).unwrap();
        }
        let mut brush = Brush::of(&packed);
        for (by, material) in [(0, 2), (1, 4), (1, 2), (-1, 4), (-1, 2)] {
            if by != 0 {
                brush.step_material(&packed, by);
            }
            assert_eq!(brush.material, Material(material));
        }
        // An empty palette has no other material.
        let mut brush = Brush::default();
        brush.step_material(&MaterialTable::new(), 1);
        assert_eq!(brush.describe(&MaterialTable::new()), "voxel of nothing");
    }
}
