use std::collections::BTreeMap;

use drystone_mesh::Triangulator;
use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};

use crate::error::SourceError;
use crate::identity;
use crate::model::Model;
use crate::source::Source;

mod triangle;

use triangle::Triangle;

/// A polygon model as voxels. A voxel is solid if the surface touches it, and has the material of
/// the first polygon that does. The inside of the model stays air.
///
/// ```text
///  polygons ──► triangles, scaled ──► chunks that they touch ──► voxels of a chunk
/// ```
/// The model lies in the positive corner of the world. Its longest side goes from 0 to the number
/// of voxels.
///
/// # Cost
/// Opening takes about 0.1 µs per triangle and chunk that it touches. Memory: 80 bytes per
/// triangle, plus 4 bytes for each chunk that it touches. Making a chunk takes about 50 ns for each
/// voxel in the bounding box of each of its triangles.
///
/// # Examples
/// ```
/// use drystone_formats::{Model, ModelOptions, Source, SourceError, VoxelModel};
///
/// let text = b"v 0 0 0\nv 4 0 0\nv 4 2 0\nv 0 2 0\nf 1 2 3 4\n";
/// let mut nothing = |name: &str, _| {
///     Err(SourceError::Unsupported { path: name.into(), found: "nothing".into() })
/// };
/// let model = Model::parse_obj(text, "wall.obj", &ModelOptions::default(), &mut nothing)?;
/// let voxels = VoxelModel::new(&model, 16)?;
/// assert_eq!(voxels.chunk(voxels.chunk_positions()[0])?.solid_count(), 16 * 8);
/// # Ok::<(), SourceError>(())
/// ```
#[derive(Debug)]
pub struct VoxelModel {
    name: String,
    /// Number of voxels along the longest side.
    voxels: u32,
    materials: MaterialTable,
    triangles: Vec<(Triangle, Material)>,
    /// Indices of the triangles that touch each chunk.
    by_chunk: BTreeMap<ChunkPos, Vec<u32>>,
}

/// Reduction of the model's size in voxels, half of it on each side. Surfaces on the sides of its
/// box then touch no voxel outside.
const MARGIN_VOXELS: f64 = 1.0 / 1024.0;

impl VoxelModel {
    /// Maximum number of voxels along the longest side.
    pub const MAX_VOXELS: u32 = 1 << 14;
    /// Maximum number of pairs of a triangle and a chunk that it touches. They take 256 MiB.
    pub const MAX_TOUCHES: u64 = 1 << 26;

    /// Converts a model to `voxels` voxels along the longest side of its box, at least one.
    ///
    /// # Errors
    /// More voxels than [`MAX_VOXELS`](Self::MAX_VOXELS), more pairs than
    /// [`MAX_TOUCHES`](Self::MAX_TOUCHES), or too many materials.
    pub fn new(model: &Model, voxels: u32) -> Result<Self, SourceError> {
        Self::with_limit(model, voxels, Self::MAX_TOUCHES)
    }

    fn with_limit(model: &Model, voxels: u32, max_touches: u64) -> Result<Self, SourceError> {
        let too_large = |what: &str, found: u64, limit: u64, unit, advice| SourceError::TooLarge {
            what: format!("{}: {what}", model.name),
            found,
            limit,
            unit,
            advice,
        };
        if voxels > Self::MAX_VOXELS {
            let (limit, advice) = (Self::MAX_VOXELS.into(), "use fewer voxels");
            return Err(too_large("size", voxels.into(), limit, "voxels per side", advice));
        }
        let mut materials = MaterialTable::new();
        let mut numbers = Vec::new();
        for material in &model.materials {
            let number = materials.insert(&material.name, material.color).ok_or_else(|| {
                let (found, limit) = (model.materials.len() as u64, u64::from(u16::MAX));
                too_large("materials", found, limit, "materials", "merge some of them")
            })?;
            numbers.push(number);
        }
        let triangles = triangles_of(model, &numbers, voxels.max(1));
        let mut by_chunk: BTreeMap<ChunkPos, Vec<u32>> = BTreeMap::new();
        let chunks_log2 = (voxels.max(1).div_ceil(Chunk::SIDE)).next_power_of_two().ilog2();
        if let Some(found) = touches_beyond(&triangles, chunks_log2, max_touches) {
            let advice = "use fewer voxels or polygons";
            return Err(too_large("surface", found, max_touches, "chunks of triangles", advice));
        }
        for ((triangle, _), number) in triangles.iter().zip(0..) {
            let mut add = |chunk| by_chunk.entry(chunk).or_default().push(number);
            each_chunk(triangle, [0; 3], chunks_log2, &mut add);
        }
        Ok(Self { name: model.name.clone(), voxels, materials, triangles, by_chunk })
    }
}

/// Returns the triangles of all parts, in units of voxels.
fn triangles_of(model: &Model, numbers: &[Material], voxels: u32) -> Vec<(Triangle, Material)> {
    let Some(bounds) = model.bounds() else { return Vec::new() };
    let side = |axis: usize| f64::from(bounds.max[axis]) - f64::from(bounds.min[axis]);
    let longest = side(0).max(side(1)).max(side(2)).max(f64::MIN_POSITIVE);
    let scale = (f64::from(voxels) - 2.0 * MARGIN_VOXELS) / longest;
    let to_voxels = |position: [f32; 3]| {
        [0, 1, 2].map(|axis| {
            let from_low = f64::from(position[axis]) - f64::from(bounds.min[axis]);
            from_low * scale + MARGIN_VOXELS / 2.0
        })
    };
    let (mut triangulator, mut cut) = (Triangulator::new(), Vec::new());
    let mut triangles = Vec::new();
    for part in &model.parts {
        let Some(&material) = numbers.get(part.material) else { continue };
        for &polygon in &part.polygons {
            let Ok(corners) = model.polygons.corners(polygon) else { continue };
            let corners: Vec<_> = corners.map(|corner| to_voxels(corner.position())).collect();
            cut.clear();
            // Polygons without area cannot be triangulated, and touch only what their corners
            // touch.
            let _ = triangulator.triangulate(&model.polygons, polygon, &[], &mut cut);
            if cut.is_empty() {
                cut.extend((1..corners.len() as u32).map(|n| [n - 1, n, n]));
            }
            let corner = |n: u32| corners.get(n as usize).copied();
            triangles.extend(cut.iter().filter_map(|&[a, b, c]| {
                Some((Triangle::new([corner(a)?, corner(b)?, corner(c)?]), material))
            }));
        }
    }
    triangles
}

/// Counts the chunks that all triangles touch, and returns the number if it exceeds `limit`. `None`
/// if it does not.
fn touches_beyond(triangles: &[(Triangle, Material)], chunks_log2: u32, limit: u64) -> Option<u64> {
    // Counting the chunks of bounding boxes is fast, and usually enough.
    let in_boxes = triangles.iter().map(|(triangle, _)| triangle.box_chunks());
    in_boxes.fold(0, u64::saturating_add).gt(&limit).then_some(())?;
    let mut count = 0;
    triangles.iter().find_map(|(triangle, _)| {
        each_chunk(triangle, [0; 3], chunks_log2, &mut |_| count += 1);
        (count > limit).then_some(count)
    })
}

/// Calls `each` with every chunk in a cube of chunks that the triangle touches.
fn each_chunk(
    triangle: &Triangle,
    low: [u32; 3],
    chunks_log2: u32,
    each: &mut impl FnMut(ChunkPos),
) {
    let side = f64::from(Chunk::SIDE << chunks_log2);
    if !triangle.touches(low.map(|c| f64::from(c * Chunk::SIDE)), side) {
        return;
    }
    let Some(half_log2) = chunks_log2.checked_sub(1) else {
        let [x, y, z] = low.map(|c| c as i32);
        return each(ChunkPos::new(x, y, z));
    };
    for part in 0..8_u32 {
        let [x, y, z] = low;
        let far = |bit: u32| (part >> bit & 1) << half_log2;
        each_chunk(triangle, [x + far(0), y + far(1), z + far(2)], half_log2, each);
    }
}

impl Source for VoxelModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        let name = identity::file_name(&self.name);
        let corners = self.triangles.iter().flat_map(|(triangle, _)| triangle.corners());
        let sum = identity::sum_of(corners.map(|corner| corner.map(f64::to_bits)));
        format!("polygon model \"{name}\" 1, {} voxels, sum {sum:016x}", self.voxels)
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.by_chunk.keys().copied().collect()
    }

    fn chunk_count(&self) -> u64 {
        self.by_chunk.len() as u64
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        const N: usize = Chunk::SIDE as usize;
        let numbers = self.by_chunk.get(&position).map_or(&[][..], Vec::as_slice);
        let mut voxels = vec![Material::AIR; N * N * N];
        let low = position.origin(Chunk::SIDE).to_array().map(f64::from);
        for (triangle, material) in
            numbers.iter().filter_map(|&number| self.triangles.get(number as usize))
        {
            let [xs, ys, zs] = triangle.span(low, N);
            for (z, y) in zs.flat_map(|z| ys.clone().map(move |y| (z, y))) {
                for x in xs.clone() {
                    let voxel = &mut voxels[x + N * (y + N * z)];
                    let corner = [low[0] + x as f64, low[1] + y as f64, low[2] + z as f64];
                    if voxel.is_air() && triangle.touches(corner, 1.0) {
                        *voxel = *material;
                    }
                }
            }
        }
        let chunk = Chunk::from_voxels(Chunk::SIDE, &voxels);
        Ok(chunk.unwrap_or_else(|| Chunk::new(Chunk::SIDE, Material::AIR)))
    }
}

#[cfg(test)]
#[cfg(feature = "obj")]
mod tests {
    use drystone_voxel::{LocalPos, VoxelPos};

    use super::*;
    use crate::model::ModelOptions;

    fn model(text: &str) -> Model {
        let mut nothing = |name: &str, _| {
            Err(SourceError::Unsupported { path: name.into(), found: "nothing".into() })
        };
        Model::parse_obj(text.as_bytes(), "m.obj", &ModelOptions::default(), &mut nothing).unwrap()
    }

    fn chunks(source: &VoxelModel) -> BTreeMap<ChunkPos, Chunk> {
        let positions = source.chunk_positions().into_iter();
        positions.map(|at| (at, source.chunk(at).unwrap())).collect()
    }

    /// For points all over each triangle, the voxel at the point is set. Each set voxel is near
    /// such a point.
    #[test]
    fn voxels_match_points_of_the_surface() {
        let text = "v 0 0 0\nv 5 1 0.5\nv 2 4 3\nv -1 2 5\nv 6 6 6\nv 3 0 7\n\
                    f 1 2 3\nf 1 3 4\nf 2 5 3\nf 4 6 5\nf 1 6 2\n";
        let made = VoxelModel::new(&model(text), 40).unwrap();
        let chunks = chunks(&made);
        let mut near = std::collections::HashSet::new();
        const STEPS: u32 = 250;
        for (triangle, _) in &made.triangles {
            for (a, b) in (0..=STEPS).flat_map(|a| (0..=STEPS - a).map(move |b| (a, b))) {
                let [u, v] = [a, b].map(|it| f64::from(it) / f64::from(STEPS));
                let point = triangle.at(u, v);
                let [x, y, z] = point.map(|c| c.floor() as i32);
                let (at, local) = VoxelPos::new(x, y, z).split(Chunk::SIDE);
                assert!(!chunks[&at].get(local).is_air(), "{point:?}");
                // A voxel near the surface has points within a fifth of a voxel around it.
                for part in 0..27 {
                    let near_by = [part % 3, part / 3 % 3, part / 9];
                    let [x, y, z] =
                        [0, 1, 2].map(|n| (point[n] + f64::from(near_by[n] - 1) / 5.0).floor());
                    near.insert([x as i32, y as i32, z as i32]);
                }
            }
        }
        let mut voxels = Vec::new();
        for (at, chunk) in &chunks {
            let origin = at.origin(Chunk::SIDE);
            for (LocalPos { x, y, z }, _) in chunk.iter_solid() {
                let [x, y, z] = [(origin.x, x), (origin.y, y), (origin.z, z)]
                    .map(|(low, c)| low + i32::from(c));
                assert!(near.contains(&[x, y, z]), "{x} {y} {z}");
                voxels.push([x, y, z]);
            }
        }
        assert!(voxels.len() > 400, "{}", voxels.len());
        let size = [0, 1, 2].map(|axis| {
            let [low, high] =
                [voxels.iter().min_by_key(|it| it[axis]), voxels.iter().max_by_key(|it| it[axis])];
            high.unwrap()[axis] - low.unwrap()[axis] + 1
        });
        assert_eq!(size.iter().max(), Some(&40));
    }

    /// The count equals the length of the lists, and stops beyond the limit.
    #[test]
    fn chunks_of_triangles_are_counted() {
        let text = "v 0 0 0\nv 5 1 0.5\nv 2 4 3\nv -1 2 5\nf 1 2 3\nf 1 3 4\nf 4 2 1\n";
        let made = VoxelModel::new(&model(text), 500).unwrap();
        let count: u64 = made.by_chunk.values().map(|list| list.len() as u64).sum();
        let boxes: u64 = made.triangles.iter().map(|(it, _)| it.box_chunks()).sum();
        assert!(count > 100 && boxes >= count, "{count} {boxes}");
        let beyond = |limit| touches_beyond(&made.triangles, 4, limit);
        assert_eq!([count, u64::MAX].map(beyond), [None; 2]);
        assert_eq!(beyond(count - 1), Some(count));
        assert!(beyond(0).is_some_and(|found| found < count));
    }

    #[test]
    fn a_surface_of_too_many_chunks_is_refused() {
        let wall = model("v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nf 1 2 3 4\n");
        let made = |limit| VoxelModel::with_limit(&wall, 64, limit);
        let refused = made(3).unwrap_err();
        assert!(matches!(refused, SourceError::TooLarge { limit: 3, .. }), "{refused}");
        let count: usize = made(u64::MAX).unwrap().by_chunk.values().map(Vec::len).sum();
        assert!(made(count as u64).is_ok());
        assert!(made(count as u64 - 1).is_err());
    }

    #[test]
    fn flat_and_small_models_have_voxels() {
        let wall = model("v 0 0 0\nv 4 0 0\nv 4 2 0\nv 0 2 0\nf 1 2 3 4\n");
        for (voxels, count) in [(1, 1), (2, 2), (64, 64 * 32), (100, 100 * 50)] {
            let chunks = chunks(&VoxelModel::new(&wall, voxels).unwrap());
            let solid: u32 = chunks.values().map(Chunk::solid_count).sum();
            assert_eq!(solid, count, "{voxels}");
        }
        assert!(VoxelModel::new(&wall, VoxelModel::MAX_VOXELS + 1).is_err());
        let nothing = VoxelModel::new(&Model::default(), 9).unwrap();
        assert!(nothing.chunk_positions().is_empty());
        assert!(nothing.chunk(ChunkPos::default()).unwrap().is_empty());
    }
}
