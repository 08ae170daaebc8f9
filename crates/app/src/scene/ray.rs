use drystone_render::{Camera, Projection};
use drystone_world::VoxelRay;
use glam::{DVec3, Vec3};

/// Returns the ray through a point of the picture, with coordinates from −1 (left, bottom) to 1
/// (right, top). `aspect` is width to height.
pub fn ray_through(camera: &Camera, [x, y]: [f64; 2], aspect: f32) -> VoxelRay {
    let [right, up, forward] = camera.basis().map(Vec3::as_dvec3);
    let offset = |half: [f64; 2]| right * (x * half[0]) + up * (y * half[1]);
    let (origin, direction): (DVec3, DVec3) = match camera.projection {
        Projection::Perspective { .. } => {
            let half = camera.half_extents(aspect).map(f64::from);
            (camera.position, forward + offset(half))
        }
        Projection::Orthographic { height_voxels } => {
            let half = f64::from(height_voxels) / 2.0;
            (camera.position + offset([half * f64::from(aspect), half]), forward)
        }
    };
    VoxelRay { origin: origin.to_array(), direction: direction.to_array() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_go_through_their_points_of_the_picture() {
        let target = DVec3::new(3.0, -20.0, 8.0);
        let parallel = Projection::Orthographic { height_voxels: 30.0 };
        for projection in [Projection::Perspective { fov_y: 0.8 }, parallel] {
            let camera =
                Camera { projection, ..Camera::look_at(DVec3::new(40.0, 12.0, -9.0), target) };
            for aspect in [0.5, 1.6] {
                for at in [[0.0, 0.0], [-0.9, 0.3], [0.5, -1.0]] {
                    let ray = ray_through(&camera, at, aspect);
                    for length in [5.0, 70.0] {
                        let point = DVec3::from_array(ray.origin)
                            + DVec3::from_array(ray.direction) * length;
                        let relative = (point - camera.position).as_vec3();
                        let clip = camera.clip_from_relative(aspect) * relative.extend(1.0);
                        let [x, y] = [clip.x / clip.w, clip.y / clip.w].map(f64::from);
                        let error = (x - at[0]).abs().max((y - at[1]).abs());
                        assert!(error < 1e-4, "{projection:?} {aspect} {at:?}: {x} {y}");
                    }
                }
            }
        }
    }
}
