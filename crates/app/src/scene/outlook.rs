use drystone_render::{Atmosphere, Camera, Projection};
use drystone_world::World;
use glam::DVec3;

/// From where a scene is best seen at first, and through what air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The camera.
    pub camera: Camera,
    /// Sky and haze, to the scene's scale.
    pub atmosphere: Atmosphere,
}

/// A scene this many times wider than high is a landscape, not a model …
const LANDSCAPE_FLATNESS: f64 = 2.5;
/// … if it is also this wide, in voxels.
const LANDSCAPE_WIDTH: f64 = 128.0;

/// The outlook on all of `world`, for a picture of this width to height: a model fills the
/// picture, a landscape is seen from above one corner, to its horizon.
pub fn outlook(world: &World, aspect: f32) -> Outlook {
    let (min, max) = match world.bounds() {
        Some(bounds) => {
            let corner =
                |v: drystone_voxel::VoxelPos| DVec3::from_array(v.to_array().map(f64::from));
            (corner(bounds.min), corner(bounds.max))
        }
        None => (DVec3::splat(-8.0), DVec3::splat(8.0)),
    };
    let size = max - min;
    let perspective = Projection::Perspective { fov_y: 50f32.to_radians() };
    let width = size.x.min(size.z);
    let is_landscape = width > LANDSCAPE_FLATNESS * size.y && width > LANDSCAPE_WIDTH;
    let mut camera = if is_landscape {
        over_landscape(min, max, perspective)
    } else {
        Camera::fit(min, max, perspective, aspect)
    };
    // Room to fly on from there.
    let reach = (camera.eye - (min + max) / 2.0).length() + size.length() / 2.0;
    camera.depth_range = [0.1, (reach * 2.0 + 512.0) as f32];
    let reach = reach as f32;
    let atmosphere = if is_landscape {
        Atmosphere::default().with_haze(reach * 0.30, reach * 1.05, 0.85)
    } else {
        Atmosphere::default().with_haze(reach * 0.80, reach * 2.5, 0.6)
    };
    Outlook { camera, atmosphere }
}

/// Above the south-east corner, looking over the middle.
fn over_landscape(min: DVec3, max: DVec3, projection: Projection) -> Camera {
    let size = max - min;
    let eye =
        DVec3::new(max.x - size.x * 0.02, max.y + size.length() * 0.09, max.z + size.z * 0.10);
    let target = min + size * DVec3::new(0.40, 0.34, 0.40);
    Camera { projection, ..Camera::look_at(eye, target) }
}
