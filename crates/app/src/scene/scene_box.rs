//! Boxes of scenes, and what of them a camera can see.

use drystone_render::Camera;
use drystone_voxel::{Chunk, ChunkPos, VoxelBox, VoxelPos};
use drystone_world::{LodData, World};
use glam::DVec3;

/// Returns all corners of a box.
pub(super) fn box_corners((min, max): (DVec3, DVec3)) -> [DVec3; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(|bits: u32| {
        let pick = |bit: u32| if bits >> bit & 1 == 0 { min } else { max };
        DVec3::new(pick(0).x, pick(1).y, pick(2).z)
    })
}

/// Returns the lowest and the highest corner of the solid voxels of `world`; for an empty world, a
/// box around the origin.
pub fn corners(world: &World) -> (DVec3, DVec3) {
    tight_corners(world.bounds())
}

/// Returns the corners of the box of all voxels; without voxels, a box around the origin.
pub(crate) fn tight_corners(bounds: Option<VoxelBox>) -> (DVec3, DVec3) {
    let corner = |v: VoxelPos| DVec3::from_array(v.to_array().map(f64::from));
    match bounds {
        Some(bounds) => (corner(bounds.min), corner(bounds.max)),
        None => (DVec3::splat(-8.0), DVec3::splat(8.0)),
    }
}

/// Returns the corners of the box of all chunks of a world, in voxels; for an empty world, a box
/// around the origin.
pub fn level_corners(data: &LodData) -> (DVec3, DVec3) {
    let Some(extent) = data.extent() else { return (DVec3::splat(-8.0), DVec3::splat(8.0)) };
    let side = f64::from(Chunk::SIDE);
    let corner = |p: ChunkPos| DVec3::from_array([p.x, p.y, p.z].map(f64::from)) * side;
    (corner(extent.min), corner(extent.max) + side)
}

/// Sets the camera's depth range so that nothing of the box `min` to `max` ahead of it is clipped.
/// Call it after moving or turning the camera.
pub fn reach(camera: &mut Camera, min: DVec3, max: DVec3) {
    /// Smallest near distance, in voxels.
    const NEAR: f64 = 0.1;
    /// Margin before the nearest and behind the farthest corner, against rounding errors.
    const MARGIN: f64 = 1.001;
    let forward = camera.basis()[2].as_dvec3();
    let depths = box_corners((min, max)).map(|corner| (corner - camera.position).dot(forward));
    let (nearest, farthest) = depths
        .into_iter()
        .fold((f64::MAX, 0.0), |(near, far), depth| (f64::min(near, depth), f64::max(far, depth)));
    let near = (nearest / MARGIN - 1.0).max(NEAR);
    let far = (farthest * MARGIN + 1.0).max(2.0 * near);
    camera.depth_range = [near as f32, far as f32];
}
