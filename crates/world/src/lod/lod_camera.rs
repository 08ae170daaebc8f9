use drystone_voxel::{NodePos, VoxelPos};

/// The part of a camera that decides the level of each node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LodCamera {
    /// Position in voxels of level 0.
    pub position: [f64; 3],
    /// View direction, of unit length.
    pub forward: [f64; 3],
    /// Cosine of the angle between the centre of the picture and its corners. Nodes within this
    /// angle have priority.
    pub cos_half_view: f64,
    /// Size of voxels on screen.
    pub scale: PixelScale,
}

/// Length of a voxel of level 0 on screen, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PixelScale {
    /// Perspective projection: length at a distance of one voxel. It is inversely proportional to
    /// the distance.
    Perspective(f64),
    /// Parallel projection: length at any distance.
    Parallel(f64),
}

impl LodCamera {
    /// Returns the maximum length of a voxel of `node` on screen, in pixels. Infinite if the camera
    /// is inside the node.
    pub fn voxel_pixels(&self, node: NodePos) -> f64 {
        let units = f64::from(node.voxel_units());
        match self.scale {
            PixelScale::Parallel(pixels) => units * pixels,
            PixelScale::Perspective(pixels) => {
                let distance = self.distance(node);
                if distance > 0.0 { units * pixels / distance } else { f64::INFINITY }
            }
        }
    }

    /// Returns the distance to the nearest point of `node`, in voxels of level 0.
    pub fn distance(&self, node: NodePos) -> f64 {
        let side = f64::from(node.side_units());
        let low = lowest(node);
        let squares = (0..3).map(|axis| {
            let beside =
                (low[axis] - self.position[axis]).max(self.position[axis] - low[axis] - side);
            beside.max(0.0).powi(2)
        });
        squares.sum::<f64>().sqrt()
    }

    /// Returns whether a part of `node` may be in the picture. Compares the node's bounding sphere with
    /// the cone through the picture's corners, so nodes beside the picture may count, and visible ones
    /// always do. True for every node in a parallel projection.
    pub fn may_see(&self, node: NodePos) -> bool {
        let Sphere { center, radius } = Sphere::around(node);
        matches!(self.scale, PixelScale::Parallel(_)) || self.view_distance(center) <= radius
    }

    /// Whether `node` may keep a light from something visible. Moves the node's bounding sphere away
    /// from the light until it reaches the picture or is below `lowest`, the lowest height of the
    /// world.
    pub(super) fn may_block(&self, node: NodePos, light: &BlockedLight, lowest: f64) -> bool {
        /// Enough for a light just above the horizon.
        const MAX_STEPS: u32 = 1_000;
        if light.toward[1] <= 0.0 {
            return false;
        }
        let Sphere { mut center, radius } = Sphere::around(node);
        let reach = radius + light.margin_voxels;
        for _ in 0..MAX_STEPS {
            if center[1] + reach < lowest {
                return false;
            }
            let far = length(self.to(center)) - light.radius_voxels;
            let step = self.view_distance(center).max(far) - reach;
            if step < radius / 8.0 {
                return true;
            }
            // Neither distance changes by more than a step, so no step passes the picture.
            (0..3).for_each(|axis| center[axis] -= step * light.toward[axis]);
        }
        true
    }

    /// Returns the distance to the cone around the picture; 0 inside. In a parallel projection it has
    /// no meaning.
    fn view_distance(&self, point: [f64; 3]) -> f64 {
        let to = self.to(point);
        let cos = self.cos_half_view.clamp(-1.0, 1.0);
        let sin = (1.0 - cos * cos).sqrt();
        let ahead = dot(to, self.forward);
        let aside = (dot(to, to) - ahead * ahead).max(0.0).sqrt();
        // Coordinates along the side of the cone, and away from it.
        let [along, away] = [ahead * cos + aside * sin, aside * cos - ahead * sin];
        if away > 0.0 && along < 0.0 { length(to) } else { away.max(0.0) }
    }

    fn to(&self, point: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| point[axis] - self.position[axis])
    }
}

/// Light that opaque nodes outside of a picture can keep from what is in it: a sun that casts shadows, or
/// light of the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockedLight {
    /// Direction to the light, of unit length. Nothing blocks a light at or below the horizon.
    pub toward: [f64; 3],
    /// Distance from the camera up to which missing light is visible, in voxels of level 0.
    pub radius_voxels: f64,
    /// Distance from its edge up to which a shadow is soft, in voxels of level 0.
    pub margin_voxels: f64,
}

/// Bounding sphere of a node.
struct Sphere {
    center: [f64; 3],
    radius: f64,
}

impl Sphere {
    fn around(node: NodePos) -> Self {
        let half = f64::from(node.side_units()) / 2.0;
        Self { center: lowest(node).map(|low| low + half), radius: half * 3f64.sqrt() }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| a[axis] * b[axis]).sum()
}

fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn lowest(node: NodePos) -> [f64; 3] {
    let VoxelPos { x, y, z } = node.origin();
    [x, y, z].map(f64::from)
}

#[cfg(test)]
mod tests {
    use drystone_voxel::ChunkPos;

    use super::*;

    const CAMERA: LodCamera = LodCamera {
        position: [16.0, 16.0, -100.0],
        forward: [0.0, 0.0, 1.0],
        cos_half_view: 0.8,
        scale: PixelScale::Perspective(600.0),
    };

    #[test]
    fn voxels_shrink_with_distance_and_grow_with_levels() {
        let near = NodePos::from(ChunkPos::new(0, 0, 0));
        assert_eq!(CAMERA.distance(near), 100.0);
        assert_eq!(CAMERA.voxel_pixels(near), 6.0);
        let beyond = NodePos::from(ChunkPos::new(0, 0, 1));
        assert!((CAMERA.voxel_pixels(beyond) - 600.0 / 132.0).abs() < 1e-12);
        assert_eq!(CAMERA.voxel_pixels(NodePos::new(3, ChunkPos::new(0, 0, 0))), 48.0);
        assert_eq!(CAMERA.voxel_pixels(NodePos::new(3, ChunkPos::new(0, 0, -1))), f64::INFINITY);
        let flat = LodCamera { scale: PixelScale::Parallel(0.5), ..CAMERA };
        assert_eq!(flat.voxel_pixels(NodePos::new(2, ChunkPos::new(9, 9, 9))), 2.0);
    }

    /// Returns how far outside the view a sphere is, computed from the angles themselves.
    fn beyond_view(camera: &LodCamera, node: NodePos) -> f64 {
        let half = f64::from(node.side_units()) / 2.0;
        let low = lowest(node);
        let to: [f64; 3] = std::array::from_fn(|axis| low[axis] + half - camera.position[axis]);
        let length = to.iter().map(|c| c * c).sum::<f64>().sqrt();
        let cos = (0..3).map(|axis| to[axis] * camera.forward[axis]).sum::<f64>() / length;
        let ball = (half * 3f64.sqrt() / length).clamp(-1.0, 1.0).asin();
        cos.clamp(-1.0, 1.0).acos() - camera.cos_half_view.acos() - ball
    }

    #[test]
    fn cosines_and_angles_agree_on_what_is_in_view() {
        let (mut seen, mut unseen) = (0, 0);
        for i in 0..40_000u32 {
            let dice = |n: u32| (i.wrapping_mul(2_654_435_761).wrapping_add(n) >> (n * 5)) % 41;
            let chunk =
                ChunkPos::new(dice(1) as i32 - 20, dice(2) as i32 - 20, dice(3) as i32 - 20);
            let cos_half_view = f64::from(dice(4)) / 20.0 - 1.0;
            let camera = LodCamera { cos_half_view, ..CAMERA };
            let node = NodePos::new((i % 4) as u8, chunk);
            let beyond = beyond_view(&camera, node);
            if beyond.abs() > 1e-9 {
                assert_eq!(camera.may_see(node), beyond < 0.0, "{node:?} of {cos_half_view}");
                *if beyond < 0.0 { &mut seen } else { &mut unseen } += 1;
            }
        }
        assert!(seen > 1_000 && unseen > 1_000, "{seen} and {unseen}");
    }

    #[test]
    fn nodes_behind_the_camera_are_out_of_view() {
        assert!(CAMERA.may_see(NodePos::from(ChunkPos::new(0, 0, 0))));
        assert!(!CAMERA.may_see(NodePos::from(ChunkPos::new(0, 0, -9))));
        assert!(CAMERA.may_see(NodePos::from(ChunkPos::new(0, 0, -4))), "around the camera");
        assert!(!CAMERA.may_see(NodePos::from(ChunkPos::new(40, 0, 0))));
    }

    /// Nodes block light of the picture exactly if their sphere, moved step by step away from the light,
    /// comes into it above the lowest height.
    #[test]
    fn nodes_block_light_if_their_shadow_is_in_view() {
        const LOWEST: f64 = -400.0;
        let (mut blocking, mut others) = (0, 0);
        for i in 0..4_000u32 {
            let dice = |n: u32| (i.wrapping_mul(2_654_435_761).wrapping_add(n) >> (n * 5)) % 41;
            let chunk =
                ChunkPos::new(dice(1) as i32 - 20, dice(2) as i32 - 20, dice(3) as i32 - 20);
            let node = NodePos::new((i % 3) as u8, chunk);
            let toward = [f64::from(dice(4)) - 20.0, f64::from(1 + dice(5)), 7.0];
            let light = BlockedLight {
                toward: toward.map(|c| c / length(toward)),
                radius_voxels: 100.0 + 40.0 * f64::from(dice(2)),
                margin_voxels: f64::from(dice(3)),
            };
            // How far outside of the picture the sphere is, at the nearest of many positions.
            let Sphere { center, radius } = Sphere::around(node);
            let reach = radius + light.margin_voxels;
            let mut beyond = f64::INFINITY;
            for step in 0..4_000 {
                let moved: [f64; 3] =
                    std::array::from_fn(|axis| center[axis] - f64::from(step) * light.toward[axis]);
                if moved[1] + reach > LOWEST {
                    let far = length(CAMERA.to(moved)) - light.radius_voxels;
                    beyond = beyond.min(CAMERA.view_distance(moved).max(far) - reach);
                }
            }
            let found = CAMERA.may_block(node, &light, LOWEST);
            assert!(found || beyond > 0.0, "{node:?} blocks {light:?}");
            assert!(!found || beyond < radius / 4.0, "{node:?} blocks nothing of {light:?}");
            *if found { &mut blocking } else { &mut others } += 1;
        }
        assert!(blocking > 300 && others > 300, "{blocking} and {others}");
    }
}
