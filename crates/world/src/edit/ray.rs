use drystone_mesh::Face;
use drystone_voxel::{Chunk, ChunkPos, Material, VoxelPos};

use super::Voxels;

/// A ray through voxels.
///
/// # Examples
/// ```
/// use drystone_mesh::Face;
/// use drystone_voxel::{Material, MaterialTable, VoxelPos};
/// use drystone_world::{VoxelRay, World};
///
/// let mut world = World::new("a stone", MaterialTable::new());
/// world.set(VoxelPos::new(5, 0, 0), Material(1));
/// let ray = VoxelRay { origin: [0.5, 0.5, 0.5], direction: [1.0, 0.0, 0.0] };
/// let hit = ray.cast(&world, 100.0).unwrap();
/// assert_eq!((hit.voxel, hit.face, hit.distance), (VoxelPos::new(5, 0, 0), Face::NegX, 4.5));
/// assert_eq!(hit.beside(), Some(VoxelPos::new(4, 0, 0)));
/// assert!(ray.cast(&world, 4.0).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelRay {
    /// Where it begins, in voxels.
    pub origin: [f64; 3],
    /// Where it goes, of any length but 0.
    pub direction: [f64; 3],
}

/// What a ray meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelHit {
    /// The voxel.
    pub voxel: VoxelPos,
    /// What it is of.
    pub material: Material,
    /// Through which of its faces the ray comes in.
    pub face: Face,
    /// How far that is from the origin, in voxels.
    pub distance: f64,
}

impl VoxelHit {
    /// The voxel before the face, which is air; `None` past the end of the numbers.
    pub fn beside(&self) -> Option<VoxelPos> {
        let mut at = self.voxel.to_array();
        let axis = self.face.axis();
        at[axis] = at[axis].checked_add(self.face.normal()[axis])?;
        Some(VoxelPos::new(at[0], at[1], at[2]))
    }
}

impl VoxelRay {
    /// The farthest that a ray goes, in voxels.
    pub const MAX_REACH: f64 = 65_536.0;

    /// The first face towards air that the ray meets, at most `reach_voxels` away (and at
    /// most [`MAX_REACH`](Self::MAX_REACH)). What the origin lies in is passed, since from
    /// within no face of it is seen. `None` too where the ray has no direction, or begins
    /// where voxels have no numbers.
    ///
    /// Goes from border to border, one axis at a time: J. Amanatides and A. Woo, "A Fast
    /// Voxel Traversal Algorithm for Ray Tracing", Eurographics 1987.
    ///
    /// # Cost
    /// O(voxels on the way), some nanoseconds each, and what the chunks on the way take.
    pub fn cast(&self, voxels: &dyn Voxels, reach_voxels: f64) -> Option<VoxelHit> {
        let mut march = March::new(self)?;
        let mut near = Near { voxels, last: None };
        let mut was_air = near.get(march.voxel()).is_air();
        let reach = reach_voxels.min(Self::MAX_REACH);
        loop {
            let (face, distance) = march.step()?;
            // Not a number is not within reach either.
            if distance.is_nan() || distance > reach {
                return None;
            }
            let material = near.get(march.voxel());
            if was_air && !material.is_air() {
                return Some(VoxelHit { voxel: march.voxel(), material, face, distance });
            }
            was_air = material.is_air();
        }
    }
}

/// A ray on its way.
struct March {
    origin: [f64; 3],
    /// Of length 1.
    direction: [f64; 3],
    at: [i32; 3],
    step: [i32; 3],
}

impl March {
    fn new(ray: &VoxelRay) -> Option<Self> {
        let VoxelRay { origin, direction } = *ray;
        let length = direction.map(|c| c * c).iter().sum::<f64>().sqrt();
        let is_somewhere = origin.iter().all(|c| c.floor().abs() < f64::from(i32::MAX));
        if !length.is_normal() || !is_somewhere {
            return None;
        }
        let direction = direction.map(|c| c / length);
        let at = origin.map(|c| c.floor() as i32);
        let step = direction.map(|c| if c < 0.0 { -1 } else { i32::from(c > 0.0) });
        Some(Self { origin, direction, at, step })
    }

    const fn voxel(&self) -> VoxelPos {
        VoxelPos::new(self.at[0], self.at[1], self.at[2])
    }

    /// How far the next border across `axis` is: from the border itself, so that errors do
    /// not add up.
    fn next(&self, axis: usize) -> f64 {
        let border = f64::from(self.at[axis]) + f64::from(self.step[axis].max(0));
        match self.step[axis] {
            0 => f64::INFINITY,
            _ => (border - self.origin[axis]) / self.direction[axis],
        }
    }

    /// Goes to the next voxel; says through which of its faces and how far that is.
    fn step(&mut self) -> Option<(Face, f64)> {
        let next = [self.next(0), self.next(1), self.next(2)];
        let axis = (1..3).fold(0, |best, axis| if next[axis] < next[best] { axis } else { best });
        self.at[axis] = self.at[axis].checked_add(self.step[axis])?;
        let face = Face::from_index(axis + if self.step[axis] < 0 { 3 } else { 0 })?;
        Some((face, next[axis].max(0.0)))
    }
}

/// Remembers the last chunk that was asked for.
struct Near<'a> {
    voxels: &'a dyn Voxels,
    last: Option<(ChunkPos, Option<Chunk>)>,
}

impl Near<'_> {
    fn get(&mut self, voxel: VoxelPos) -> Material {
        let (position, local) = voxel.split(self.voxels.side());
        let chunk = match &mut self.last {
            Some((last, chunk)) if *last == position => chunk,
            last => &mut last.insert((position, self.voxels.chunk_at(position))).1,
        };
        chunk.as_ref().map_or(Material::AIR, |chunk| chunk.get(local))
    }
}
