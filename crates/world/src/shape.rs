use std::ops::Range;

use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, VoxelPos};

use crate::{ChunkBox, VoxelBox};

/// A solid shape of voxels, to be filled at once. It is convex: whole rows of voxels are told
/// by their ends.
///
/// # Examples
/// ```
/// use drystone_voxel::VoxelPos;
/// use drystone_world::VoxelShape;
///
/// let ball = VoxelShape::Sphere { center: VoxelPos::new(0, 10, 0), radius_voxels: 2 };
/// assert!(ball.contains(VoxelPos::new(2, 10, 1)));
/// assert_eq!(ball.row(12, 0), Some(-1..2));
/// assert_eq!(ball.bounds().map(|it| it.size_voxels()), Some([5, 5, 5]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoxelShape {
    /// All voxels of a box; none, where it has no side. The voxels of the highest number on an
    /// axis are in no box, since its end would have none.
    Box(VoxelBox),
    /// The voxels whose middles are no farther than half a voxel more than the radius from the
    /// middle of `center`: with radius 0 one voxel, with radius 1 those that share a face
    /// or an edge with it.
    Sphere {
        /// The voxel in the middle.
        center: VoxelPos,
        /// Voxels beyond it along each axis; at most [`MAX_RADIUS`](Self::MAX_RADIUS) count.
        radius_voxels: u32,
    },
}

impl VoxelShape {
    /// The largest radius of a sphere.
    pub const MAX_RADIUS: u32 = 1 << 20;

    /// One voxel; none, where that has the highest number on an axis.
    pub const fn voxel(voxel: VoxelPos) -> Self {
        Self::Box(VoxelBox::of(voxel))
    }

    /// The cube of `2 * radius_voxels + 1` voxels a side around `center`.
    pub fn cube(center: VoxelPos, radius_voxels: u32) -> Self {
        Self::Box(around(center, radius_voxels))
    }

    /// The smallest box that holds it; `None` where there are no voxels in it. Ends where the
    /// numbers of voxels end.
    pub fn bounds(&self) -> Option<VoxelBox> {
        let it = match *self {
            Self::Box(it) => it,
            Self::Sphere { center, radius_voxels } => around(center, radius_voxels),
        };
        let [min, max] = [it.min, it.max].map(VoxelPos::to_array);
        (0..3).all(|axis| min[axis] < max[axis]).then_some(it)
    }

    /// Whether `voxel` is part of it.
    pub fn contains(&self, voxel: VoxelPos) -> bool {
        self.row(voxel.y, voxel.z).is_some_and(|row| row.contains(&voxel.x))
    }

    /// The X of its voxels at this Y and Z; `None` where there are none.
    ///
    /// # Cost
    /// O(1): a square root in integers for a sphere.
    pub fn row(&self, y: i32, z: i32) -> Option<Range<i32>> {
        match *self {
            Self::Box(it) => {
                let is_inside = (it.min.y..it.max.y).contains(&y)
                    && (it.min.z..it.max.z).contains(&z)
                    && it.min.x < it.max.x;
                is_inside.then_some(it.min.x..it.max.x)
            }
            Self::Sphere { center, radius_voxels } => {
                let radius = u64::from(radius_voxels.min(Self::MAX_RADIUS));
                let [up, far] =
                    [y.abs_diff(center.y), z.abs_diff(center.z)].map(|by| u64::from(by).pow(2));
                // The next square of a number and a half is a quarter more than this.
                let left = (radius * (radius + 1)).checked_sub(up.checked_add(far)?)?;
                let reach = left.isqrt() as i32;
                let ends = [-reach, reach + 1].map(|by| center.x.saturating_add(by));
                let is_inside = ends[0] < ends[1] && y < i32::MAX && z < i32::MAX;
                is_inside.then_some(ends[0]..ends[1])
            }
        }
    }

    /// Whether every voxel of a box is part of it.
    pub fn covers(&self, it: &VoxelBox) -> bool {
        // Convex: with its corners it holds all between them.
        (0..4).all(|corner| {
            let y = if corner & 1 == 0 { it.min.y } else { it.max.y.saturating_sub(1) };
            let z = if corner & 2 == 0 { it.min.z } else { it.max.z.saturating_sub(1) };
            self.row(y, z).is_some_and(|row| row.start <= it.min.x && row.end >= it.max.x)
        })
    }

    /// The chunks of side `side` that its bounds touch; `None` where there are none.
    pub fn chunks(&self, side: u32) -> Option<ChunkBox> {
        let VoxelBox { min, max } = self.bounds()?;
        let last = VoxelPos::new(max.x - 1, max.y - 1, max.z - 1);
        Some(ChunkBox { min: min.split(side).0, max: last.split(side).0 })
    }

    /// Sets those of its voxels that lie in `chunk`, which lies at `position`.
    ///
    /// # Cost
    /// O(the shape's voxels in the chunk), some nanoseconds each.
    pub fn fill(&self, chunk: &mut Chunk, position: ChunkPos, material: Material) {
        let Some(VoxelBox { min, max }) = self.bounds() else { return };
        let side = chunk.side() as i32;
        let origin = position.origin(chunk.side());
        let span = |low: i32, high: i32, origin: i32| {
            let local = |c: i32| i64::from(c).saturating_sub(origin.into()).clamp(0, side.into());
            local(low) as u8..local(high) as u8
        };
        for z in span(min.z, max.z, origin.z) {
            for y in span(min.y, max.y, origin.y) {
                let row = self.row(origin.y + i32::from(y), origin.z + i32::from(z));
                let x = row.map_or(0..0, |row| span(row.start, row.end, origin.x));
                if !x.is_empty() {
                    let size = [u32::from(x.end - x.start), 1, 1];
                    chunk.fill_box(LocalPos::new(x.start, y, z), size, material);
                }
            }
        }
    }
}

/// The cube around a voxel, which ends where the numbers of voxels end.
fn around(center: VoxelPos, radius_voxels: u32) -> VoxelBox {
    let reach = radius_voxels.min(VoxelShape::MAX_RADIUS) as i32;
    let [min, max] = [-reach, reach + 1].map(|by| {
        let [x, y, z] = center.to_array().map(|c| c.saturating_add(by));
        VoxelPos::new(x, y, z)
    });
    VoxelBox { min, max }
}

#[cfg(test)]
mod tests {
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

    /// Against the distance of each voxel's middle.
    #[test]
    fn a_sphere_is_what_is_near_its_middle() {
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

    /// Against every voxel of the box.
    #[test]
    fn what_is_covered_is_inside_voxel_by_voxel() {
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
    fn the_end_of_the_numbers_is_no_end_of_the_program() {
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
            for shape in
                [VoxelShape::voxel(at), VoxelShape::Sphere { center: at, radius_voxels: 0 }]
            {
                assert_eq!(shape.bounds().is_some(), has_any, "{shape:?}");
                assert_eq!(shape.contains(at), has_any, "{shape:?}");
                assert_eq!(shape.chunks(Chunk::SIDE).is_some(), has_any, "{shape:?}");
            }
        }
        // A box that ends where the numbers begin has no voxel, nor a chunk.
        let before = VoxelShape::Box(cube([i32::MIN; 3], [i32::MIN; 3]));
        assert_eq!((before.bounds(), before.chunks(Chunk::SIDE)), (None, None));
    }

    /// The words of the docs, voxel by voxel.
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
    fn chunks_are_filled_as_voxel_by_voxel() {
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
            // All of it lies in the chunks that were looked at.
            let all = (min.x..max.x).flat_map(|x| (min.y..max.y).map(move |y| (x, y)));
            let all = all.flat_map(|(x, y)| (min.z..max.z).map(move |z| VoxelPos::new(x, y, z)));
            assert_eq!(count, all.filter(|&at| is_in(shape, at)).count() as u64, "{shape:?}");
        }
    }

    #[test]
    fn shapes_are_filled_up_to_the_end_of_the_numbers() {
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
}
