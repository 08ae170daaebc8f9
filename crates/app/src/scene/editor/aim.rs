use drystone_voxel::VoxelBox;
use drystone_world::{VoxelAccess, VoxelHit, VoxelRay};

use super::Edited;
use crate::scene::VoxelScene;

/// Returns the distance at which a ray hits a voxel of a scene, or `None` if there is none within
/// reach.
pub(crate) fn hit_distance(scene: &VoxelScene, ray: &VoxelRay) -> Option<f64> {
    let hit = aim(scene.data(), scene.bounds(), scene.reach_voxels(), ray);
    hit.ok().map(|hit| hit.distance)
}

/// Returns the voxel that the ray hits; otherwise whether there is none or it is too far. `bounds`
/// contains all voxels except air, and `reach` is the maximum distance to a voxel.
///
/// From far away the ray starts just before the bounds, so that voxels near their sides are in reach.
pub(super) fn aim(
    voxels: &dyn VoxelAccess,
    bounds: Option<VoxelBox>,
    reach: f64,
    ray: &VoxelRay,
) -> Result<VoxelHit, Edited> {
    /// Distance before the box, in voxels; there is only air.
    const BEFORE: f64 = 1.0;
    let Some(bounds) = bounds else {
        return ray.cast(voxels, reach).ok_or(Edited::OutOfReach);
    };
    let [enter, leave] = span(ray, bounds).ok_or(Edited::OutOfReach)?;
    let start = (enter - BEFORE).max(0.0);
    let length = length(ray.direction);
    let along = |axis: usize| ray.origin[axis] + ray.direction[axis] / length * start;
    let near = VoxelRay { origin: [along(0), along(1), along(2)], ..*ray };
    match near.cast(voxels, reach) {
        Some(mut hit) => {
            hit.distance += start;
            Ok(hit)
        }
        None if leave - start > reach => Err(Edited::TooFar),
        None => Err(Edited::OutOfReach),
    }
}

fn length(direction: [f64; 3]) -> f64 {
    direction.map(|c| c * c).iter().sum::<f64>().sqrt()
}

/// Returns the distances along the ray where it enters and leaves the box, 0 for an entry behind
/// the origin; `None` if it misses.
fn span(ray: &VoxelRay, bounds: VoxelBox) -> Option<[f64; 2]> {
    let [min, max] = [bounds.min, bounds.max].map(|corner| corner.to_array().map(f64::from));
    let length = length(ray.direction);
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    for axis in 0..3 {
        let (origin, step) = (ray.origin[axis], ray.direction[axis] / length);
        if step == 0.0 {
            if !(min[axis]..max[axis]).contains(&origin) {
                return None;
            }
            continue;
        }
        let [a, b] = [min[axis], max[axis]].map(|side| (side - origin) / step);
        (enter, leave) = (enter.max(a.min(b)), leave.min(a.max(b)));
    }
    // NaN counts as a miss.
    (enter < leave && leave.is_finite()).then_some([enter, leave])
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;
    use drystone_voxel::{Material, MaterialTable, VoxelPos};
    use drystone_world::World;

    use super::*;

    const BOUNDS: VoxelBox =
        VoxelBox { min: VoxelPos::new(-40, 0, 8), max: VoxelPos::new(60, 32, 90) };

    fn within(random: &mut Random, low: [i32; 3], high: [i32; 3]) -> [f64; 3] {
        std::array::from_fn(|i| f64::from(low[i]) + random.unit() * f64::from(high[i] - low[i]))
    }

    fn stones(random: &mut Random) -> World {
        let mut world = World::new("stones", MaterialTable::new());
        for _ in 0..2_000 {
            let at = within(random, BOUNDS.min.to_array(), BOUNDS.max.to_array());
            let [x, y, z] = at.map(|c| c.floor() as i32);
            world.set(VoxelPos::new(x, y, z), Material(1));
        }
        world
    }

    /// A ray that starts at the box hits the same voxel as one that starts at the camera.
    #[test]
    fn rays_from_the_camera_and_from_the_box_hit_the_same_voxel() {
        let mut random = Random::new(5);
        let world = stones(&mut random);
        let (mut hits, mut misses) = (0, 0);
        for far in [1, 30, 3_000] {
            for _ in 0..400 {
                let [low, high] = [BOUNDS.min, BOUNDS.max].map(VoxelPos::to_array);
                let origin = within(&mut random, low.map(|c| c - far), high.map(|c| c + far));
                let target = within(&mut random, low.map(|c| c - 20), high.map(|c| c + 20));
                let direction = std::array::from_fn(|i| target[i] - origin[i]);
                let ray = VoxelRay { origin, direction };
                let aimed = |bounds| aim(&world, bounds, VoxelRay::MAX_REACH, &ray);
                match (aimed(Some(BOUNDS)), aimed(None)) {
                    (Ok(a), Ok(b)) => {
                        assert_eq!((a.voxel, a.face, a.material), (b.voxel, b.face, b.material));
                        assert!((a.distance - b.distance).abs() < 1e-6, "{a:?} {b:?}");
                        hits += 1;
                    }
                    (a, b) => {
                        assert_eq!(a, b, "{ray:?}");
                        misses += 1;
                    }
                }
            }
        }
        assert!(hits > 300 && misses > 100, "{hits} {misses}");
    }

    #[test]
    fn too_far_and_no_voxel_are_distinguished() {
        let mut world = World::new("a stone", MaterialTable::new());
        world.set(VoxelPos::new(0, 30, 40), Material(1));
        let aim = |ray: &VoxelRay| aim(&world, Some(BOUNDS), 25.0, ray);
        let down =
            |x: f64, y: f64, z: f64| VoxelRay { origin: [x, y, z], direction: [0.0, -3.0, 0.0] };
        let hit = aim(&down(0.5, 5_000.5, 40.5)).unwrap();
        assert_eq!((hit.voxel, hit.distance), (VoxelPos::new(0, 30, 40), 4_969.5));
        assert_eq!(aim(&down(3.5, 5_000.5, 40.5)), Err(Edited::TooFar));
        assert_eq!(aim(&down(3.5, 20.0, 40.5)), Err(Edited::OutOfReach));
        assert_eq!(aim(&down(70.5, 5_000.5, 40.5)), Err(Edited::OutOfReach));
        assert_eq!(aim(&down(3.5, -5.0, 40.5)), Err(Edited::OutOfReach));
        for direction in [[0.0; 3], [f64::NAN; 3]] {
            let ray = VoxelRay { origin: [0.5, 31.0, 40.5], direction };
            assert_eq!(aim(&ray), Err(Edited::OutOfReach));
        }
    }
}
