//! Outlines of voxels, brushes and selections, as lines of the picture.

use drystone_render::{Camera, Projection};
use drystone_voxel::{VoxelBox, VoxelPos};
use drystone_world::{VoxelAccess, VoxelRay, VoxelShape};
use glam::{DVec3, Vec3};

use super::Size;

/// Line of an outline in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlineLine {
    /// Ends within the picture, in pixels from the top left.
    pub ends: [[f32; 2]; 2],
    /// Shape that the line belongs to.
    pub part: OutlinePart,
    /// Whether voxels hide the line.
    pub is_hidden: bool,
}

/// Shape that a line of an outline belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutlinePart {
    /// The voxel that an edit is aimed at.
    Voxel,
    /// The brush around it.
    Brush,
    /// The selected box.
    Selection,
    /// The box of copied voxels that a click would place.
    Paste,
}

/// Largest number of pieces of an edge. Each piece is visible or hidden as a whole.
const EDGE_PIECES: i32 = 8;
/// Number of lines of a circle.
const CIRCLE_PIECES: u32 = 32;
/// Distance to the camera within which voxels hide a line, in voxels. The aimed voxel itself is
/// visible, so that anything farther before the brush is rare, and rays stay short.
const HIDING_REACH: f64 = 64.0;
/// Distance of a ray's start from its line, towards the camera, in voxels.
const OFFSET: f64 = 0.01;

/// Adds the outline of a shape: the edges of a box, or three circles of a sphere.
///
/// # Cost
/// At most 96 rays of [`HIDING_REACH`] voxels.
pub(crate) fn outline(
    lines: &mut Vec<OutlineLine>,
    (shape, part): (&VoxelShape, OutlinePart),
    voxels: &dyn VoxelAccess,
    (camera, size): (&Camera, Size),
) {
    let pieces = match shape {
        VoxelShape::Sphere { center, radius_voxels } => circles(*center, *radius_voxels),
        _ => shape.bounds().map_or_else(Vec::new, edges),
    };
    for [from, to] in pieces {
        if let Some(ends) = in_picture(camera, size, [from, to]) {
            let is_hidden = is_hidden(voxels, camera, from.midpoint(to));
            lines.push(OutlineLine { ends, part, is_hidden });
        }
    }
}

/// Returns the edges of a box in pieces.
fn edges(bounds: VoxelBox) -> Vec<[DVec3; 2]> {
    let [min, max] = [bounds.min, bounds.max].map(corner);
    let mut pieces = Vec::new();
    for axis in 0..3 {
        let count = ((max - min)[axis] as i32).clamp(1, EDGE_PIECES);
        for sides in 0..4_u32 {
            let mut start = min;
            for (bit, other) in [(axis + 1) % 3, (axis + 2) % 3].into_iter().enumerate() {
                if sides >> bit & 1 == 1 {
                    start[other] = max[other];
                }
            }
            let mut end = start;
            end[axis] = max[axis];
            let at = |piece: i32| start.lerp(end, f64::from(piece) / f64::from(count));
            pieces.extend((0..count).map(|piece| [at(piece), at(piece + 1)]));
        }
    }
    pieces
}

/// Returns the three circles around a sphere in which one axis does not change.
fn circles(center: VoxelPos, radius_voxels: u32) -> Vec<[DVec3; 2]> {
    let (middle, radius) = (corner(center) + 0.5, f64::from(radius_voxels) + 0.5);
    let at = |axis: usize, piece: u32| {
        let angle = std::f64::consts::TAU * f64::from(piece) / f64::from(CIRCLE_PIECES);
        let mut point = middle;
        point[(axis + 1) % 3] += radius * angle.cos();
        point[(axis + 2) % 3] += radius * angle.sin();
        point
    };
    let circle = |axis| (0..CIRCLE_PIECES).map(move |piece| [at(axis, piece), at(axis, piece + 1)]);
    (0..3).flat_map(circle).collect()
}

fn corner(voxel: VoxelPos) -> DVec3 {
    DVec3::from_array(voxel.to_array().map(f64::from))
}

/// Whether voxels hide a point from the camera.
fn is_hidden(voxels: &dyn VoxelAccess, camera: &Camera, point: DVec3) -> bool {
    let to_camera = match camera.projection {
        Projection::Perspective { .. } => camera.position - point,
        Projection::Orthographic { .. } => -camera.basis()[2].as_dvec3() * HIDING_REACH,
    };
    let Some(direction) = to_camera.try_normalize() else { return false };
    let origin = point + direction * OFFSET;
    let ray = VoxelRay { origin: origin.to_array(), direction: direction.to_array() };
    is_solid(voxels, origin) || ray.cast(voxels, to_camera.length().min(HIDING_REACH)).is_some()
}

/// Whether a point is in a voxel that is not air.
fn is_solid(voxels: &dyn VoxelAccess, point: DVec3) -> bool {
    let [x, y, z] = point.floor().to_array().map(|c| c as i32);
    let (chunk, local) = VoxelPos::new(x, y, z).split(voxels.side());
    voxels.chunk_at(chunk).is_some_and(|chunk| !chunk.get(local).is_air())
}

/// Returns the part of a line that the picture shows, in pixels from the top left.
///
/// The line is clipped at the near plane and at the sides of the picture before the division by
/// depth: there, each plane is a linear function that is negative outside.
fn in_picture(camera: &Camera, size: Size, ends: [DVec3; 2]) -> Option<[[f32; 2]; 2]> {
    let [from, to] = ends.map(|end| clip_position(camera, size.aspect(), end));
    let near = f64::from(camera.depth_range[0]);
    let planes = |[x, y, depth, w]: [f64; 4]| [depth - near, w - x, w + x, w - y, w + y];
    let [mut start, mut end] = [0.0_f64, 1.0];
    for (a, b) in planes(from).into_iter().zip(planes(to)) {
        match (a >= 0.0, b >= 0.0) {
            (true, true) => {}
            (false, true) => start = start.max(a / (a - b)),
            (true, false) => end = end.min(a / (a - b)),
            (false, false) => return None,
        }
    }
    let pixel = |along: f64| {
        let [x, y, _, w] = std::array::from_fn(|i| from[i] + (to[i] - from[i]) * along);
        let part = |at: f64, side: u32| ((at / w + 1.0) / 2.0 * f64::from(side)) as f32;
        [part(x, size.width), part(-y, size.height)]
    };
    (start < end).then(|| [pixel(start), pixel(end)])
}

/// Returns a point as x and y of the picture multiplied by w, its depth, and w. Picture coordinates
/// are from −1 (left, bottom) to 1.
fn clip_position(camera: &Camera, aspect: f32, point: DVec3) -> [f64; 4] {
    let [right, up, forward] = camera.basis().map(Vec3::as_dvec3);
    let relative = point - camera.position;
    let depth = relative.dot(forward);
    let (half, w) = match camera.projection {
        Projection::Perspective { .. } => (camera.half_extents(aspect), depth),
        Projection::Orthographic { height_voxels } => {
            ([height_voxels / 2.0 * aspect, height_voxels / 2.0], 1.0)
        }
    };
    let [x, y] = half.map(f64::from);
    [relative.dot(right) / x, relative.dot(up) / y, depth, w]
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;
    use drystone_voxel::MaterialTable;
    use drystone_world::World;

    use super::*;

    const SIZE: Size = Size { width: 320, height: 200 };

    fn cameras(random: &mut Random) -> [Camera; 2] {
        let mut point = |range: f64| {
            DVec3::from_array(
                [(); 3].map(|()| (f64::from(random.below(2_000)) / 1e3 - 1.0) * range),
            )
        };
        let camera = Camera::look_at(point(20.0), point(6.0));
        let parallel = Projection::Orthographic { height_voxels: 18.0 };
        [camera, Camera { projection: parallel, ..camera }]
    }

    /// Points of a line are projected one by one, with the matrix of the renderers: those within the
    /// picture are the ones between the ends.
    #[test]
    fn lines_are_clipped_like_their_points() {
        let mut random = Random::new(7);
        let mut shown = 0;
        for _ in 0..400 {
            let cameras = cameras(&mut random);
            let ends = [(); 2].map(|()| {
                DVec3::from_array([(); 3].map(|()| f64::from(random.below(400)) / 10.0 - 20.0))
            });
            for camera in cameras {
                let matrix = camera.clip_from_relative(SIZE.aspect());
                let inside = (0..=2_000).filter_map(|step| {
                    let point = ends[0].lerp(ends[1], f64::from(step) / 2e3);
                    let clip = matrix * (point - camera.position).as_vec3().extend(1.0);
                    let is_inside = clip.w > 0.0
                        && clip.z <= clip.w
                        && clip.x.abs() <= clip.w
                        && clip.y.abs() <= clip.w;
                    let at = [clip.x / clip.w + 1.0, 1.0 - clip.y / clip.w];
                    is_inside.then_some([at[0] * 160.0, at[1] * 100.0])
                });
                let inside: Vec<[f32; 2]> = inside.collect();
                let line = in_picture(&camera, SIZE, ends);
                let (Some([from, to]), [first, .., last]) = (line, &inside[..]) else {
                    assert!(inside.len() < 2, "{line:?} {}", inside.len());
                    continue;
                };
                shown += 1;
                for [x, y] in [from, to] {
                    assert!(
                        (-0.01..320.01).contains(&x) && (-0.01..200.01).contains(&y),
                        "{x} {y}"
                    );
                }
                // The points on both sides of an end are this far apart.
                let step = inside.windows(2).map(|pair| far(pair[0], pair[1])).fold(0.5, f32::max);
                assert!(far(from, *first) <= 2.0 * step, "{from:?} {first:?} {step}");
                assert!(far(to, *last) <= 2.0 * step, "{to:?} {last:?} {step}");
            }
        }
        assert!(shown > 100, "{shown}");
    }

    fn far(one: [f32; 2], other: [f32; 2]) -> f32 {
        (one[0] - other[0]).hypot(one[1] - other[1])
    }

    /// A voxel in flat ground shows its upper face; a wall in front hides it.
    #[test]
    fn lines_in_the_ground_and_behind_walls_are_hidden() {
        let mut materials = MaterialTable::new();
        let stone = materials.insert("stone", [9, 9, 9, 255]).unwrap();
        let mut world = World::new("ground", materials);
        for (x, z) in (0..9).flat_map(|x| (0..9).map(move |z| (x, z))) {
            world.set(VoxelPos::new(x, 0, z), stone);
        }
        let camera = Camera::look_at(DVec3::new(4.5, 7.0, 14.0), DVec3::new(4.5, 0.5, 4.5));
        let aimed = VoxelShape::voxel(VoxelPos::new(4, 0, 4));
        let visible = |world: &World, shape: &VoxelShape| {
            let mut lines = Vec::new();
            outline(&mut lines, (shape, OutlinePart::Voxel), world, (&camera, SIZE));
            (lines.len(), lines.iter().filter(|line| !line.is_hidden).count())
        };
        assert_eq!(visible(&world, &aimed), (12, 4));
        let lone = VoxelShape::voxel(VoxelPos::new(4, 3, 4));
        assert_eq!(visible(&world, &lone), (12, 12), "in the air, nothing hides its edges");
        let ball = VoxelShape::Sphere { center: VoxelPos::new(4, 0, 4), radius_voxels: 2 };
        // The ground hides one circle, and less than half of each of the other two is above it.
        assert_eq!(visible(&world, &ball), (96, 2 * 14));
        for (x, y) in (0..9).flat_map(|x| (1..6).map(move |y| (x, y))) {
            world.set(VoxelPos::new(x, y, 7), stone);
        }
        assert_eq!(visible(&world, &aimed), (12, 0));
    }
}
