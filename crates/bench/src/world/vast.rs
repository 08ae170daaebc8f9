use std::sync::Arc;

use drystone::scene::{Size, VoxelScene, level_corners, reach};
use drystone_render::{Camera, PoolRenderer, View};
use drystone_world::{GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree};
use glam::DVec3;

use super::undrawn::Undrawn;
use crate::Failure;

/// Size of the pictures, which are not drawn, in pixels.
pub(super) const SIZE: Size = Size { width: 1280, height: 720 };
/// Size of the chunk cache in bytes, as in the viewer.
pub(super) const CACHE_BYTES: usize = 256 << 20;

/// A generated world of 16 km × 16 km × 512 voxels.
pub(super) fn source() -> Result<GeneratedWorld, Failure> {
    let config =
        GeneratorConfig::default().with_size_chunks([512, 16, 512]).with_relief_voxels(512);
    Ok(GeneratedWorld::new(config)?)
}

/// The world in a pool that draws nothing.
pub(super) fn scene() -> Result<VoxelScene, Failure> {
    scene_of(Arc::new(LodData::new(Box::new(source()?), CACHE_BYTES)))
}

/// The world in a pool that draws nothing. Only the caller makes meshes.
pub(super) fn scene_without_threads() -> Result<VoxelScene, Failure> {
    let data = Arc::new(LodData::new(Box::new(source()?), CACHE_BYTES));
    let config = LodConfig::default().with_threads(0);
    scene_with(data, config)
}

/// A world in a pool that draws nothing.
pub(super) fn scene_of(data: Arc<LodData>) -> Result<VoxelScene, Failure> {
    scene_with(data, LodConfig::default())
}

fn scene_with(data: Arc<LodData>, config: LodConfig) -> Result<VoxelScene, Failure> {
    let tree = LodTree::new(data, config)?;
    let device = Undrawn::new(SIZE.width, SIZE.height)?;
    let capacity = VoxelScene::CAPACITY;
    let renderer = PoolRenderer::new(device, capacity.quads, capacity.meshes)?;
    Ok(VoxelScene::new(tree, Box::new(renderer))?)
}

/// View of the world.
pub(super) fn view(data: &LodData, position: DVec3, target: DVec3) -> View {
    let mut camera = Camera::look_at(position, target);
    let (min, max) = level_corners(data);
    reach(&mut camera, min, max);
    View::new(camera)
}
