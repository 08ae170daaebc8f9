use drystone_voxel::{Chunk, NodePos};
use drystone_world::VoxelRay;
use glam::DVec3;

use super::VoxelScene;

/// Distance below which rays find the nearest surface, in voxels. They cross a few chunks, which are
/// shown and so were read before.
const NEAR: f64 = 64.0;

/// Returns about how far the nearest surface is from `at`, in voxels. A far one may be on any side; its
/// distance is that of the box of a shown chunk. Below 64 voxels, the surface in the direction
/// `ahead` or below counts, and the result is 64 if there is none. Returns `None` if nothing is shown.
///
/// # Cost
/// O(shown chunks), some nanoseconds each. If a surface is near: two rays, which read a few chunks.
pub(crate) fn clearance(scene: &VoxelScene, at: DVec3, ahead: DVec3) -> Option<f64> {
    let far = chunk_distance(scene, at)?;
    if far >= NEAR {
        return Some(far);
    }
    let near = [ahead, DVec3::NEG_Y].into_iter().filter_map(|direction| {
        let ray = VoxelRay { origin: at.to_array(), direction: direction.to_array() };
        ray.cast(scene.data(), NEAR).map(|hit| hit.distance)
    });
    Some(near.fold(NEAR, f64::min).max(far))
}

/// Returns the distance from `at` to the box of the nearest shown chunk that is not all air.
fn chunk_distance(scene: &VoxelScene, at: DVec3) -> Option<f64> {
    let bounds = scene.bounds()?;
    // Coarse chunks extend beyond the world.
    let [low, high] =
        [bounds.min, bounds.max].map(|corner| DVec3::from_array(corner.to_array().map(f64::from)));
    let squared = scene.tree().shown_solid().map(|NodePos { level, chunk }| {
        let side = f64::from(Chunk::SIDE) * f64::from(level).exp2();
        let min = DVec3::from_array([chunk.x, chunk.y, chunk.z].map(f64::from)) * side;
        let nearest = at.max(min.max(low)).min((min + side).min(high));
        at.distance_squared(nearest)
    });
    squared.min_by(f64::total_cmp).map(f64::sqrt)
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{Material, MaterialTable, VoxelPos};
    use drystone_world::{Meshing, World};

    use super::*;
    use crate::scene::{self, BackendKind, Capacity, RendererKind, Size};

    /// A floor of 64 by 64 voxels below 0, a wall of 40 voxels at its east side, and a voxel far away.
    fn floor() -> VoxelScene {
        let mut world = World::new("a floor", MaterialTable::new());
        for (x, z) in (0..64).flat_map(|x| (0..64).map(move |z| (x, z))) {
            world.set(VoxelPos::new(x, -1, z), Material(1));
        }
        for (y, z) in (0..40).flat_map(|y| (0..64).map(move |z| (y, z))) {
            world.set(VoxelPos::new(63, y, z), Material(1));
        }
        world.set(VoxelPos::new(6_000, 600, 32), Material(1));
        let size = Size { width: 8, height: 8 };
        let (kind, backend) = (RendererKind::Pool, BackendKind::Soft);
        let renderer = scene::open_renderer(kind, backend, size, Capacity::default()).unwrap();
        VoxelScene::of_world(world, Meshing::default(), renderer).unwrap()
    }

    #[test]
    fn near_surfaces_are_measured_ahead_and_below() {
        let scene = floor();
        let of = |at: [f64; 3], ahead: DVec3| clearance(&scene, at.into(), ahead).unwrap();
        assert!((of([8.5, 20.25, 8.5], DVec3::NEG_X) - 20.25).abs() < 1e-9);
        assert!((of([60.5, 20.25, 8.5], DVec3::X) - 2.5).abs() < 1e-9);
        assert!((of([60.5, 20.25, 8.5], DVec3::NEG_X) - 20.25).abs() < 1e-9);
        // From below, the floor is ahead.
        assert!((of([8.5, -5.0, 8.5], DVec3::Y) - 4.0).abs() < 1e-9);
        // No direction is not an error.
        assert!((of([8.5, 20.25, 8.5], DVec3::ZERO) - 20.25).abs() < 1e-9);
    }

    /// The box of a chunk is nearer than its voxels, by a few chunks' sides at most.
    #[test]
    fn far_surfaces_are_measured_on_every_side() {
        let scene = floor();
        for (at, distance) in [
            ([8.5, 700.0, 8.5], 700.0),
            ([-900.0, 20.0, 8.5], 900.0),
            ([8.5, 20.0, 3_000.0], 2_936.0),
            ([5_000.0, 601.0, 32.0], 1_000.0),
            ([9_000.0, 601.0, 32.0], 2_999.0),
        ] {
            let found = clearance(&scene, at.into(), DVec3::NEG_Y).unwrap();
            let side = f64::from(Chunk::SIDE);
            assert!(found <= distance + 1.0 && found >= distance - side * 2.5, "{at:?}: {found}");
        }
        let empty = |at: [f64; 3]| clearance(&scene, at.into(), DVec3::NAN);
        assert!(empty([f64::NAN; 3]).is_none_or(|it| it.is_nan() || it >= 0.0));
    }
}
