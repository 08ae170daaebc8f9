use std::ops::Range;

use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, VoxelPos};

use crate::{ChunkBox, VoxelBox};

/// Which voxels are changed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoxelShape {
    /// All of a box.
    Box(VoxelBox),
    /// Those whose middles lie in a ball of a radius of `radius_voxels` and a half around
    /// the middle of `center`: 0 is one voxel, 1 is 19 of 27.
    Sphere {
        /// The voxel in the middle.
        center: VoxelPos,
        /// Voxels on each side of it, at most [`VoxelShape::MAX_RADIUS`].
        radius_voxels: u32,
    },
}

impl VoxelShape {
    /// The largest radius; larger ones count as this.
    pub const MAX_RADIUS: u32 = 1 << 20;

    /// One voxel.
    pub const fn voxel(voxel: VoxelPos) -> Self {
        Self::Box(VoxelBox::of(voxel))
    }

    /// The cube of `2 * radius_voxels + 1` voxels a side around `center`, cut off at the end
    /// of the world.
    pub fn cube(center: VoxelPos, radius_voxels: u32) -> Self {
        Self::Box(around(center, radius_voxels))
    }

    /// The box around it, cut off at the end of the world.
    pub fn bounds(&self) -> VoxelBox {
        match *self {
            Self::Box(all) => all,
            Self::Sphere { center, radius_voxels } => around(center, radius_voxels),
        }
    }

    /// Whether `voxel` is one of them.
    pub fn contains(&self, voxel: VoxelPos) -> bool {
        self.row(voxel.y, voxel.z).contains(&voxel.x)
    }

    /// The voxels of the row along X at `y`, `z`; empty where there are none.
    pub fn row(&self, y: i32, z: i32) -> Range<i32> {
        let bounds = self.bounds();
        let is_beside = !(bounds.min.y..bounds.max.y).contains(&y)
            || !(bounds.min.z..bounds.max.z).contains(&z);
        match *self {
            _ if is_beside => 0..0,
            Self::Box(all) => all.min.x..all.max.x,
            Self::Sphere { center, radius_voxels } => {
                let radius = u64::from(radius_voxels.min(Self::MAX_RADIUS));
                // (r + 1/2)² without its quarter, which no whole number reaches.
                let room = radius * (radius + 1);
                let [dy, dz] = [y.abs_diff(center.y), z.abs_diff(center.z)].map(u64::from);
                let Some(left) = room.checked_sub(dy * dy + dz * dz) else { return 0..0 };
                let half = left.isqrt() as i32;
                let low = center.x.saturating_sub(half).max(bounds.min.x);
                low..center.x.saturating_add(half + 1).min(bounds.max.x)
            }
        }
    }

    /// The chunks of side `side` that it may touch.
    pub fn chunks(&self, side: u32) -> ChunkBox {
        let VoxelBox { min, max } = self.bounds();
        let last = VoxelPos::new(max.x - 1, max.y - 1, max.z - 1);
        ChunkBox { min: min.split(side).0, max: last.split(side).0 }
    }

    /// Sets those of its voxels that lie in `chunk`, which lies at `position`.
    ///
    /// # Cost
    /// O(the shape's voxels in the chunk), some nanoseconds each.
    pub fn fill(&self, chunk: &mut Chunk, position: ChunkPos, material: Material) {
        let side = chunk.side() as i32;
        let origin = position.origin(chunk.side());
        let VoxelBox { min, max } = self.bounds();
        let span = |low: i32, high: i32, origin: i32| {
            let local = |c: i32| i64::from(c).saturating_sub(origin.into()).clamp(0, side.into());
            local(low) as u8..local(high) as u8
        };
        for z in span(min.z, max.z, origin.z) {
            for y in span(min.y, max.y, origin.y) {
                let row = self.row(origin.y + i32::from(y), origin.z + i32::from(z));
                let x = span(row.start, row.end, origin.x);
                if !x.is_empty() {
                    let size = [u32::from(x.end - x.start), 1, 1];
                    chunk.fill_box(LocalPos::new(x.start, y, z), size, material);
                }
            }
        }
    }
}

/// The cube around a voxel.
fn around(center: VoxelPos, radius_voxels: u32) -> VoxelBox {
    let radius = radius_voxels.min(VoxelShape::MAX_RADIUS) as i32;
    let [low, high] =
        [-radius, radius + 1].map(|by| center.to_array().map(|c| c.saturating_add(by)));
    VoxelBox {
        min: VoxelPos::new(low[0], low[1], low[2]),
        max: VoxelPos::new(high[0], high[1], high[2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let VoxelBox { min, max } = shape.bounds();
            let mut count = 0;
            for side in [32, 7] {
                let chunks = shape.chunks(side);
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
    fn shapes_end_with_the_world() {
        let center = VoxelPos::new(i32::MAX, i32::MIN, 0);
        for shape in [
            VoxelShape::Sphere { center, radius_voxels: u32::MAX },
            VoxelShape::Sphere { center, radius_voxels: 3 },
            VoxelShape::cube(center, 3),
        ] {
            let bounds = shape.bounds();
            assert_eq!((bounds.max.x, bounds.min.y), (i32::MAX, i32::MIN));
            assert!(shape.contains(VoxelPos::new(i32::MAX - 1, i32::MIN, 0)));
            let (position, _) = center.split(32);
            shape.fill(&mut Chunk::new(32, Material::AIR), position, Material(1));
        }
    }
}
