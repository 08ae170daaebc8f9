use drystone_mesh::Face;
use drystone_voxel::{Chunk, ChunkPos, Material, VoxelPos};

use super::VoxelAccess;

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
    /// Start of the ray, in voxels.
    pub origin: [f64; 3],
    /// Direction of the ray. The length may be any but 0.
    pub direction: [f64; 3],
}

/// The face that a ray hits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct VoxelHit {
    /// Hit voxel.
    pub voxel: VoxelPos,
    /// Material of the voxel.
    pub material: Material,
    /// Face through which the ray enters the voxel.
    pub face: Face,
    /// Distance from the origin, in voxels.
    pub distance: f64,
}

impl VoxelHit {
    /// Returns the air voxel in front of the face, or `None` beyond the coordinate range.
    pub fn beside(&self) -> Option<VoxelPos> {
        let mut at = self.voxel.to_array();
        let axis = self.face.axis();
        at[axis] = at[axis].checked_add(self.face.normal()[axis])?;
        Some(VoxelPos::new(at[0], at[1], at[2]))
    }
}

impl VoxelRay {
    /// Maximum length of a ray, in voxels.
    pub const MAX_REACH: f64 = 65_536.0;

    /// Returns the first face towards air that the ray hits within `reach_voxels` (at most
    /// [`MAX_REACH`](Self::MAX_REACH)). If the ray starts inside solid voxels, these are passed,
    /// because their faces are not visible from inside. Returns `None` too if the direction is zero
    /// or the origin is outside the coordinate range.
    ///
    /// Steps from border to border, one axis at a time: J. Amanatides and A. Woo, "A Fast Voxel
    /// Traversal Algorithm for Ray Tracing", Eurographics 1987.
    ///
    /// # Cost
    /// O(voxels on the way), a few nanoseconds each, plus the time to read the chunks on the way.
    pub fn cast(&self, voxels: &dyn VoxelAccess, reach_voxels: f64) -> Option<VoxelHit> {
        let mut march = March::new(self)?;
        let mut reader = ChunkReader { voxels, last: None };
        let mut was_air = reader.get(march.voxel()).is_air();
        let reach = reach_voxels.min(Self::MAX_REACH);
        loop {
            let (face, distance) = march.step()?;
            // NaN is out of reach too.
            if distance.is_nan() || distance > reach {
                return None;
            }
            let material = reader.get(march.voxel());
            if was_air && !material.is_air() {
                return Some(VoxelHit { voxel: march.voxel(), material, face, distance });
            }
            was_air = material.is_air();
        }
    }
}

/// State of a ray during the traversal.
struct March {
    origin: [f64; 3],
    /// Unit length.
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

    /// Returns the distance of the next border across `axis`. It is computed from the border
    /// itself, so that errors do not accumulate.
    fn next(&self, axis: usize) -> f64 {
        let border = f64::from(self.at[axis]) + f64::from(self.step[axis].max(0));
        match self.step[axis] {
            0 => f64::INFINITY,
            _ => (border - self.origin[axis]) / self.direction[axis],
        }
    }

    /// Moves to the next voxel. Returns the face through which the ray enters it, and the distance.
    fn step(&mut self) -> Option<(Face, f64)> {
        let next = [self.next(0), self.next(1), self.next(2)];
        let axis = (1..3).fold(0, |best, axis| if next[axis] < next[best] { axis } else { best });
        self.at[axis] = self.at[axis].checked_add(self.step[axis])?;
        let face = Face::from_index(axis + if self.step[axis] < 0 { 3 } else { 0 })?;
        Some((face, next[axis].max(0.0)))
    }
}

/// Reads voxels and keeps the last chunk.
struct ChunkReader<'a> {
    voxels: &'a dyn VoxelAccess,
    last: Option<(ChunkPos, Option<Chunk>)>,
}

impl ChunkReader<'_> {
    fn get(&mut self, voxel: VoxelPos) -> Material {
        let (position, local) = voxel.split(self.voxels.side());
        let chunk = match &mut self.last {
            Some((last, chunk)) if *last == position => chunk,
            last => &mut last.insert((position, self.voxels.chunk_at(position))).1,
        };
        chunk.as_ref().map_or(Material::AIR, |chunk| chunk.get(local))
    }
}
