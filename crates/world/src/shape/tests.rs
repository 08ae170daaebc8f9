use drystone_testing::Random;

use super::*;

fn cube(low: [i32; 3], high: [i32; 3]) -> VoxelBox {
    let [min, max] = [low, high].map(|[x, y, z]| VoxelPos::new(x, y, z));
    VoxelBox { min, max }
}

fn voxels_around(reach: i32) -> impl Iterator<Item = VoxelPos> + Clone {
    let side = 2 * reach + 1;
    (0..side.pow(3)).map(move |i| {
        let [x, y, z] = [i % side, i / side % side, i / side / side].map(|c| c - reach);
        VoxelPos::new(x, y, z)
    })
}

/// Compares with the distance of each voxel's centre.
#[test]
fn a_sphere_has_the_voxels_near_its_centre() {
    for radius_voxels in 0..9 {
        let center = VoxelPos::new(1, -1, 0);
        let ball = VoxelShape::Sphere { center, radius_voxels };
        let mut bounds: Option<VoxelBox> = None;
        for at in voxels_around(11) {
            let squares = [at.x - 1, at.y + 1, at.z].map(|c| f64::from(c).powi(2));
            let is_near = squares.iter().sum::<f64>().sqrt() <= f64::from(radius_voxels) + 0.5;
            assert_eq!(ball.contains(at), is_near, "{radius_voxels}: {at:?}");
            if is_near {
                let one = VoxelBox::of(at);
                bounds = Some(bounds.map_or(one, |all| all.union(one)));
            }
        }
        assert_eq!(ball.bounds(), bounds);
    }
}

/// Compares with every voxel of the box.
#[test]
fn covered_boxes_are_inside_voxel_by_voxel() {
    let shapes = [
        VoxelShape::Sphere { center: VoxelPos::new(0, 0, 0), radius_voxels: 5 },
        VoxelShape::Box(cube([-4, -2, -3], [5, 3, 4])),
        VoxelShape::Box(cube([2, 2, 2], [2, 9, 9])),
    ];
    let (mut covered, mut cut) = (0, 0);
    for shape in shapes {
        for low in voxels_around(5) {
            let one = cube(low.to_array(), low.to_array().map(|c| c + 3));
            let all = voxels_around(5).filter(|&at| one.contains(at));
            let is_all = all.clone().count() == 27 && all.clone().all(|at| shape.contains(at));
            if all.count() == 27 {
                assert_eq!(shape.covers(&one), is_all, "{shape:?} {one:?}");
                covered += u32::from(is_all);
                cut += u32::from(!is_all);
            }
        }
    }
    assert!(covered > 50 && cut > 50, "{covered} {cut}");
}

#[test]
fn shapes_at_the_end_of_the_coordinate_range_do_not_panic() {
    let far = VoxelPos::new(i32::MAX, i32::MIN, 0);
    let ball = VoxelShape::Sphere { center: far, radius_voxels: u32::MAX };
    assert!(ball.contains(far) || ball.row(far.y, far.z).is_some());
    assert!(!ball.contains(VoxelPos::new(0, i32::MAX, i32::MIN)));
    assert!(ball.bounds().is_some());
    let none = VoxelShape::Box(cube([3, 3, 3], [3, 2, 9]));
    assert_eq!((none.bounds(), none.row(3, 3)), (None, None));
    for low in [i32::MIN, i32::MAX] {
        let at = VoxelPos::new(0, low, 0);
        let has_any = low == i32::MIN;
        for shape in [VoxelShape::voxel(at), VoxelShape::Sphere { center: at, radius_voxels: 0 }] {
            assert_eq!(shape.bounds().is_some(), has_any, "{shape:?}");
            assert_eq!(shape.contains(at), has_any, "{shape:?}");
            assert_eq!(shape.chunks(Chunk::SIDE).is_some(), has_any, "{shape:?}");
        }
    }
    // A box that ends at the lowest coordinate has no voxel and no chunk.
    let before = VoxelShape::Box(cube([i32::MIN; 3], [i32::MIN; 3]));
    assert_eq!((before.bounds(), before.chunks(Chunk::SIDE)), (None, None));
}

/// The documented definition, voxel by voxel.
fn is_in(shape: VoxelShape, at: VoxelPos) -> bool {
    match shape {
        VoxelShape::Box(all) => all.contains(at),
        VoxelShape::Sphere { center, radius_voxels } => {
            let far = |a: i32, b: i32| (f64::from(a) - f64::from(b)).powi(2);
            let square = far(at.x, center.x) + far(at.y, center.y) + far(at.z, center.z);
            square.sqrt() <= f64::from(radius_voxels) + 0.5
        }
    }
}

fn shapes() -> Vec<VoxelShape> {
    let centers = [[0, 0, 0], [31, -32, 64], [-7, 15, 33]];
    let spheres = centers.into_iter().flat_map(|[x, y, z]| {
        [0, 1, 2, 5, 17].map(|radius_voxels| VoxelShape::Sphere {
            center: VoxelPos::new(x, y, z),
            radius_voxels,
        })
    });
    let (min, max) = (VoxelPos::new(-3, 30, 0), VoxelPos::new(40, 33, 1));
    let boxes = [VoxelShape::Box(VoxelBox { min, max }), VoxelShape::cube(min, 4)];
    spheres.chain(boxes).collect()
}

#[test]
fn filling_a_chunk_equals_setting_its_voxels() {
    for shape in shapes() {
        let VoxelBox { min, max } = shape.bounds().unwrap();
        let mut count = 0;
        for side in [32, 7] {
            let chunks = shape.chunks(side).unwrap();
            count = 0;
            for x in chunks.min.x - 1..=chunks.max.x + 1 {
                for y in chunks.min.y - 1..=chunks.max.y + 1 {
                    for z in chunks.min.z - 1..=chunks.max.z + 1 {
                        let position = ChunkPos::new(x, y, z);
                        let mut chunk = Chunk::new(side, Material(1));
                        shape.fill(&mut chunk, position, Material(2));
                        let origin = position.origin(side);
                        for (local, found) in &chunk {
                            let at = VoxelPos::new(
                                origin.x + i32::from(local.x),
                                origin.y + i32::from(local.y),
                                origin.z + i32::from(local.z),
                            );
                            let expected = is_in(shape, at);
                            assert_eq!(found == Material(2), expected, "{shape:?} {at:?}");
                            assert_eq!(shape.contains(at), expected);
                            count += u64::from(expected);
                        }
                    }
                }
            }
        }
        // All of it lies in the tested chunks.
        let all = (min.x..max.x).flat_map(|x| (min.y..max.y).map(move |y| (x, y)));
        let all = all.flat_map(|(x, y)| (min.z..max.z).map(move |z| VoxelPos::new(x, y, z)));
        assert_eq!(count, all.filter(|&at| is_in(shape, at)).count() as u64, "{shape:?}");
    }
}

#[test]
fn shapes_are_filled_up_to_the_end_of_the_coordinate_range() {
    let center = VoxelPos::new(i32::MAX, i32::MIN, 0);
    let ball = |radius_voxels| VoxelShape::Sphere { center, radius_voxels };
    let (position, _) = center.split(32);
    for shape in [ball(u32::MAX), ball(3), VoxelShape::cube(center, 3)] {
        let bounds = shape.bounds().unwrap();
        assert_eq!((bounds.max.x, bounds.min.y), (i32::MAX, i32::MIN));
        let mut chunk = Chunk::new(32, Material::AIR);
        shape.fill(&mut chunk, position, Material(1));
        assert!(chunk.solid_count() > 0, "{shape:?}");
    }
    let none = VoxelShape::Box(cube([3, 3, 3], [3, 2, 9]));
    none.fill(&mut Chunk::new(32, Material::AIR), position, Material(1));
    assert_eq!(none.chunks(32), None);
}

/// A chunk is covered if the shape contains all of its voxels. At the end of the coordinate range,
/// some voxels are in no shape.
#[test]
fn chunks_are_covered_voxel_by_voxel() {
    let ball = VoxelShape::Sphere { center: VoxelPos::new(3, 5, -2), radius_voxels: 9 };
    let all = VoxelBox { min: VoxelPos::new(-9, -8, 0), max: VoxelPos::new(8, 4, 12) };
    let mut counts = [0; 2];
    for shape in [ball, VoxelShape::Box(all)] {
        for (x, y, z) in
            (-4..4).flat_map(|x| (-4..4).flat_map(move |y| (-4..4).map(move |z| (x, y, z))))
        {
            let chunk = ChunkPos::new(x, y, z);
            let origin = chunk.origin(4);
            let is_all = (0..64).all(|i| {
                let at = VoxelPos::new(origin.x + i % 4, origin.y + i / 4 % 4, origin.z + i / 16);
                shape.contains(at)
            });
            assert_eq!(shape.covers_chunk(chunk, 4), is_all, "{shape:?} {chunk:?}");
            counts[usize::from(is_all)] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
    let end = VoxelShape::cube(VoxelPos::new(i32::MAX, 0, 0), 100);
    let last = VoxelPos::new(i32::MAX, 0, 0).split(4).0;
    assert!(!end.covers_chunk(last, 4));
    assert!(end.covers_chunk(ChunkPos::new(last.x - 1, 0, 0), 4));
}

/// A voxel is in the mirror image exactly if its own mirror image is in the shape.
#[test]
fn mirror_images_hold_the_images_of_the_voxels() {
    let mut random = Random::new(21);
    for round in 0..60 {
        let center = VoxelPos::new(random.below(9) - 4, random.below(9), 1);
        let shape = match round % 2 {
            0 => VoxelShape::Sphere { center, radius_voxels: random.below(4) as u32 },
            _ => VoxelShape::Box(VoxelBox { min: center, max: VoxelPos::new(6, 12, 4) }),
        };
        let axis = [Axis::X, Axis::Y, Axis::Z][random.below(3) as usize];
        let through = random.below(7) - 3;
        let image = shape.mirrored(axis, through).unwrap();
        for n in 0..41_i32.pow(3) {
            let mut at = [n % 41 - 20, n / 41 % 41 - 20, n / 1681 - 20];
            let in_image = image.contains(VoxelPos::new(at[0], at[1], at[2]));
            at[axis as usize] = 2 * through - at[axis as usize];
            let in_shape = shape.contains(VoxelPos::new(at[0], at[1], at[2]));
            assert_eq!(in_image, in_shape, "{shape:?} {axis:?} {through} {at:?}");
        }
    }
    let far = VoxelShape::voxel(VoxelPos::new(i32::MIN, 0, 0));
    assert_eq!(far.mirrored(Axis::X, 5), None, "outside the coordinate range");
}
