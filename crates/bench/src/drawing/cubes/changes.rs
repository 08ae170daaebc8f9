//! Changes of voxels, which are the same for all contenders, and the world as chunks that are meshed
//! again after them.

use std::collections::BTreeSet;

use drystone_render::{RenderError, Renderer};
use drystone_voxel::{ChunkPos, Material, VoxelPos};

use super::Followed;
use crate::{
    Random,
    drawing::{
        chunk_scene::ChunkScene,
        scene::{COLORS, FILL, RandomScene},
    },
};

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
        for (voxel, material) in scene.voxels() {
            let [x, y, z] = voxel.to_array().map(|c| c as usize);
            voxels[x + size[0] * (y + size[1] * z)] = material;
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
            let number = 1 + self.random.below(COLORS.len()) as u16;
            let material = if is_solid { Material(number) } else { Material::AIR };
            if std::mem::replace(&mut self.voxels[at], material) != material {
                let [nx, ny, _] = self.size;
                let [x, y, z] = [at % nx, at / nx % ny, at / nx / ny].map(|c| c as i32);
                return Some(Change { voxel: VoxelPos::new(x, y, z), material });
            }
        }
    }
}

/// A scene, and the chunks that have changed.
pub(super) struct PoolWorld {
    scene: ChunkScene,
    changed: BTreeSet<ChunkPos>,
}

impl PoolWorld {
    pub(super) fn new(
        renderer: Box<dyn Renderer>,
        scene: &RandomScene,
    ) -> Result<Self, RenderError> {
        let scene = ChunkScene::new(scene.world.clone(), &scene.quads, renderer)?;
        Ok(Self { scene, changed: BTreeSet::new() })
    }
}

impl Followed for PoolWorld {
    fn follow(&mut self, changes: &[Change]) -> Result<(), RenderError> {
        let world = &mut self.scene.world;
        let side = world.side();
        for &Change { voxel, material } in changes {
            world.set(voxel, material);
            let VoxelPos { x, y, z } = voxel;
            // The voxel's own chunk, and at a border the adjacent chunk.
            for axis in 0..3 {
                for step in [-1, 1] {
                    let mut neighbour = [x, y, z];
                    neighbour[axis] += step;
                    let [x, y, z] = neighbour;
                    let (chunk, _) = VoxelPos::new(x, y, z).split(side);
                    if world.chunk(chunk).is_some() {
                        self.changed.insert(chunk);
                    }
                }
            }
        }
        while let Some(chunk) = self.changed.pop_first() {
            self.scene.remesh(chunk)?;
        }
        Ok(())
    }

    fn renderer(&mut self) -> &mut dyn Renderer {
        self.scene.renderer.as_mut()
    }
}
