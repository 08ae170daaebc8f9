//! Changes of voxels, which are the same for all contenders.

use drystone_voxel::{Material, VoxelPos};

use crate::{Random, drawing::scene::RandomScene};

/// Probability that a voxel is filled, as in the scene.
const FILL: f64 = 0.1;
/// Number of materials of the scene.
const MATERIALS: usize = 3;

/// A voxel that changes to another material or to air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) voxel: VoxelPos,
    pub(super) material: Material,
}

/// Random new voxels, with the distribution of the scene: about a tenth stays filled.
pub(super) struct Changes {
    /// Voxels along each axis.
    size: [usize; 3],
    voxels: Vec<Material>,
    random: Random,
}

impl Changes {
    pub(super) fn of(scene: &RandomScene) -> Self {
        let side = scene.world.side();
        let size = scene.chunks.map(|count| (count * side) as usize);
        let mut voxels = vec![Material::AIR; size.iter().product()];
        for (position, chunk) in scene.world.iter() {
            let origin = position.origin(side).to_array();
            for (local, material) in chunk.iter_solid() {
                let [x, y, z] = [(local.x, 0), (local.y, 1), (local.z, 2)]
                    .map(|(c, axis)| origin[axis] as usize + usize::from(c));
                voxels[x + size[0] * (y + size[1] * z)] = material;
            }
        }
        Self { size, voxels, random: Random::new(9) }
    }
}

impl Iterator for Changes {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        loop {
            let at = self.random.below(self.voxels.len());
            let is_solid = self.random.unit() < FILL;
            let number = 1 + self.random.below(MATERIALS) as u16;
            let material = if is_solid { Material(number) } else { Material::AIR };
            if std::mem::replace(&mut self.voxels[at], material) != material {
                let [nx, ny, _] = self.size;
                let [x, y, z] = [at % nx, at / nx % ny, at / nx / ny].map(|c| c as i32);
                return Some(Change { voxel: VoxelPos::new(x, y, z), material });
            }
        }
    }
}
