//! The world as chunks that are meshed again after changes.

use std::collections::BTreeSet;

use drystone::scene::Scene;
use drystone_render::{RenderError, Renderer};
use drystone_voxel::{ChunkPos, VoxelPos};

use super::{Change, Followed};
use crate::drawing::scene::RandomScene;

/// A scene, and the chunks that have changed.
pub(super) struct PoolWorld {
    scene: Scene,
    changed: BTreeSet<ChunkPos>,
}

impl PoolWorld {
    pub(super) fn new(
        renderer: Box<dyn Renderer>,
        scene: &RandomScene,
    ) -> Result<Self, RenderError> {
        let scene = Scene::new(scene.world.clone(), &scene.quads, renderer)?;
        Ok(Self { scene, changed: BTreeSet::new() })
    }
}

impl Followed for PoolWorld {
    fn follow(&mut self, changes: &[Change]) -> Result<(), RenderError> {
        let world = self.scene.world_mut();
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
        self.scene.renderer()
    }
}
