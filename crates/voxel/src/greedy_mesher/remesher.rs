use alloc::vec::Vec;
use core::ops::Range;

use drystone_mesh::{Face, FaceSet, Quad, QuadBuffer, QuadSink};

use super::face_steps::BitOffsets;
use super::grid::Grid;
use super::merging::{ANY, BATCH, LayerFaces, LayerVoxels, write_layer};
use super::plane::{Plane, Rows};
use super::row::Row;
use super::steps::add_steps;
use crate::simd::{Instructions, Work, widest};
use crate::{
    Chunk, ChunkMesh, MaterialTable, MesherOptions, PaddedChunk, SurfaceMesher, mesh_skirt,
};

/// Rebuilds only those layers of a mesh that a change of voxels can affect, and copies the rest
/// from the old mesh. The result equals that of [`GreedyMesher`](crate::GreedyMesher) with greedy
/// merging, quad by quad.
///
/// The visibility of a face depends on the two voxels next to it, and a face merges only within its
/// layer. So one voxel affects two layers of each face direction, out of 32 in a chunk of 32³. A
/// voxel of a neighbour affects one layer of the direction towards it. With ambient occlusion, it
/// also affects the layers of the other directions next to it, because the darkness of a corner
/// depends on all voxels around it in the plane in front of the face.
///
/// ```text
///            ┌ changed ┐
///  planes  . a  b  c  d .     between two adjacent planes are
///           └─┘└─┘└─┘         one layer of +X and one of −X
/// ```
///
/// # Cost
/// A few microseconds per plane that is read: three along each axis for one voxel, out of 34 in a
/// chunk of 32³. In addition, 8 bytes are copied per quad. See [`is_cheaper`](Self::is_cheaper).
///
/// # Examples
/// ```
/// use drystone_mesh::FaceSet;
/// use drystone_voxel::{
///     Chunk, ChunkMesh, GreedyMesher, LocalPos, Material, MaterialTable, PaddedChunk, Remesher,
/// };
///
/// let (table, mut chunk) = (MaterialTable::new(), Chunk::new(32, Material(1)));
/// let mut padded = PaddedChunk::new();
/// padded.fill(&chunk, |_| None);
/// let mut old = ChunkMesh::new();
/// GreedyMesher::new().mesh(&padded, &table, &mut old);
///
/// chunk.set(LocalPos::new(0, 5, 5), Material::AIR);
/// let mut remesher = Remesher::new();
/// remesher.fill(&chunk, |_| None, [[0, 5, 5], [0, 5, 5]], FaceSet::EMPTY);
/// let mut mesh = ChunkMesh::new();
/// remesher.remesh(&old, &table, &mut mesh);
/// assert_eq!(mesh.len(), old.len() + 8);
/// ```
#[derive(Debug, Default)]
pub struct Remesher {
    options: MesherOptions,
    /// Copy of the chunk, filled only in the planes that are read.
    padded: PaddedChunk,
    /// First and last voxel that may have changed.
    changed: [[i32; 3]; 2],
    skirts: FaceSet,
    rows: [Rows; 2],
    /// Rebuilt layers by face direction, opaque and translucent.
    rebuilt: [[RebuiltLayers; 2]; Face::COUNT],
}

/// Rebuilt layers of one face direction.
#[derive(Debug, Default)]
struct RebuiltLayers {
    /// Quads by ascending coordinate of their layer.
    quads: QuadBuffer,
    /// End of each layer in `quads`.
    ends: Vec<usize>,
}

impl Remesher {
    /// Creates a remesher without ambient occlusion. It has no scratch; the first chunk allocates
    /// it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a remesher for meshes with these options. Their merging must be greedy.
    pub fn with_options(options: MesherOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Returns whether rebuilding layers is faster than meshing the whole chunk, for a chunk of
    /// `side` voxels per side. `changed` is the first and the last voxel that may have changed.
    /// Skirts are ignored, since they cost the same either way.
    pub fn is_cheaper(&self, side: u32, changed: [[i32; 3]; 2]) -> bool {
        let planes = |axis: usize| self.planes(side, changed, axis).len();
        (0..3).map(planes).sum::<usize>() <= side as usize / 2
    }

    /// Reads the layers of a chunk around voxels that may have changed, for the next mesh.
    /// `changed` is the first and the last voxel along each axis: −1 is in the lower neighbour, n
    /// in the upper neighbour, and voxels further away are ignored. `neighbor` is called as in
    /// [`PaddedChunk::fill`]. `skirts` selects the skirts to be meshed.
    ///
    /// # Cost
    /// One copy of each plane, 2 bytes per voxel; two planes more for a skirt without changes. At most
    /// one copy of the whole chunk.
    pub fn fill<'a>(
        &mut self,
        center: &'a Chunk,
        neighbor: impl Fn([i32; 3]) -> Option<&'a Chunk>,
        changed: [[i32; 3]; 2],
        skirts: FaceSet,
    ) {
        let side = center.side();
        (self.changed, self.skirts) = (changed, skirts);
        let mut planes_to_read = [0, 1, 2].map(|axis| bits(self.planes(side, changed, axis)));
        for face in Face::ALL.into_iter().filter(|&face| skirts.contains(face)) {
            // The outermost voxels, and those in front of them.
            planes_to_read[face.axis()] |= if face.is_positive() { 0b11 << side } else { 0b11 };
        }
        // More planes than a third of the side, on all axes together, take as long as the whole chunk.
        let count: u32 = planes_to_read.iter().map(|planes| planes.count_ones()).sum();
        if 3 * count > side {
            self.padded.fill(center, neighbor);
        } else {
            let offsets = self.options.neighbors();
            self.padded.fill_planes(center, neighbor, planes_to_read, offsets);
        }
    }

    /// Whether the voxels from the last [`fill`](Self::fill) may include
    /// [partial materials](MaterialTable::filled_to). Their chunk has to be meshed whole, with a
    /// [`SurfaceMesher`].
    ///
    /// # Cost
    /// Reads all voxels of the padded chunk once.
    pub fn has_partials(&self, table: &MaterialTable) -> bool {
        SurfaceMesher::has_partials(&self.padded, table)
    }

    /// Replaces the content of `mesh` by the new mesh of the chunk from the last
    /// [`fill`](Self::fill). `old` is its mesh before the change, built with the same table and
    /// options. Layers that were not read are copied from `old`.
    ///
    /// # Cost
    /// See [`Remesher`]. Reuses its scratch, so repeated calls allocate nothing.
    pub fn remesh(&mut self, old: &ChunkMesh, table: &MaterialTable, mesh: &mut ChunkMesh) {
        mesh.clear();
        if !self.padded.has_solid() {
            return;
        }
        match self.padded.side() {
            ..=16 => self.rebuild::<u16>(table),
            17..=32 => self.rebuild::<u32>(table),
            _ => self.rebuild::<u64>(table),
        }
        self.splice(0, &old.opaque, &mut mesh.opaque);
        self.splice(1, &old.translucent, &mut mesh.translucent);
    }

    /// Adds a skirt of the chunk from the last [`fill`](Self::fill) to `skirt`, as [`mesh_skirt`]
    /// does with the options of this remesher. Does nothing if that call did not select the skirt.
    ///
    /// # Cost
    /// Cost of [`mesh_skirt`].
    pub fn mesh_skirt(&self, face: Face, table: &MaterialTable, skirt: &mut ChunkMesh) {
        if self.skirts.contains(face) {
            mesh_skirt(&self.padded, face, self.options, table, skirt);
        }
    }

    /// Returns the planes along an axis that are read; 0 is the first plane of the halo. Empty if
    /// only neighbours along other axes have changed, except for ambient occlusion.
    fn planes(&self, side: u32, [low, high]: [[i32; 3]; 2], axis: usize) -> Range<usize> {
        let (n, halo) = (side as i32, i32::from(self.options.ambient_occlusion));
        let is_inside =
            |other: usize| other == axis || (low[other] < n + halo && high[other] >= -halo);
        if !(0..3).all(is_inside) || low[axis] > high[axis] {
            return 0..0;
        }
        let ends = [low[axis].saturating_sub(1), high[axis].saturating_add(1)];
        let [first, last] = ends.map(|plane| plane.clamp(-1, n) + 1);
        first as usize..last as usize + 1
    }

    fn rebuild<W: Row>(&mut self, table: &MaterialTable) {
        for axis in 0..3 {
            widest(RebuildAxis::<W>::new(self, axis, table));
        }
    }

    /// Returns the rebuilt layers of a face direction.
    fn layers(&self, face: Face) -> Range<u32> {
        let planes = self.planes(self.padded.side(), self.changed, face.axis());
        let inner = |plane: u32| plane.clamp(1, self.padded.side() + 1) - 1;
        let [first, end] = [planes.start, planes.end].map(|it| it as u32);
        match (planes.is_empty(), face.is_positive()) {
            (true, _) => 0..0,
            // Only the adjacent plane inside reads the first or the last plane.
            (_, true) => inner(first)..inner(end - 1),
            (_, false) => inner(first + 1)..inner(end),
        }
    }

    /// Combines quads of the old mesh and rebuilt quads.
    fn splice(&self, kind: usize, old: &QuadBuffer, to: &mut impl QuadSink) {
        let mut rest = old.quads();
        for face in Face::ALL {
            let (all, others) = rest.split_at(old.count(face) as usize);
            rest = others;
            let (rebuilt, layers) = (&self.rebuilt[face.index()][kind], self.layers(face));
            if layers.is_empty() {
                to.append(face, all);
                continue;
            }
            let layer = |quad: &Quad| quad.position()[face.axis()];
            let is_below = |quad: &Quad| layer(quad) < layers.start;
            let is_above = |quad: &Quad| layer(quad) >= layers.end;
            let quads = rebuilt.quads.quads();
            let starts = core::iter::once(0).chain(rebuilt.ends.iter().copied());
            let ranges = starts.zip(rebuilt.ends.iter().copied());
            // Back to front: ascending for a positive direction, descending for a negative one.
            if face.is_positive() {
                to.append(face, &all[..all.partition_point(is_below)]);
                to.append(face, quads);
                to.append(face, &all[all.partition_point(|quad| !is_above(quad))..]);
            } else {
                to.append(face, &all[..all.partition_point(is_above)]);
                let ranges: Vec<(usize, usize)> = ranges.collect();
                ranges
                    .into_iter()
                    .rev()
                    .for_each(|(start, end)| to.append(face, &quads[start..end]));
                to.append(face, &all[all.partition_point(|quad| !is_below(quad))..]);
            }
        }
    }
}

fn bits(planes: Range<usize>) -> u128 {
    if planes.is_empty() { 0 } else { (u128::MAX >> (128 - planes.len())) << planes.start }
}

/// Builds the layers of both face directions along an axis.
struct RebuildAxis<'a, W: Row> {
    axis: usize,
    padded: &'a PaddedChunk,
    grid: Grid,
    is_shaded: bool,
    /// Whether opaque quads have steps.
    steps: bool,
    planes: Range<usize>,
    rows: &'a mut [Rows; 2],
    /// Layers of the negative and of the positive direction.
    rebuilt: [&'a mut [RebuiltLayers; 2]; 2],
    table: &'a MaterialTable,
    offsets: BitOffsets<W>,
}

impl<'a, W: Row> RebuildAxis<'a, W> {
    fn new(all: &'a mut Remesher, axis: usize, table: &'a MaterialTable) -> Self {
        let grid = Grid::cube(all.padded.side());
        let planes = all.planes(all.padded.side(), all.changed, axis);
        let Remesher { options, padded, rows, rebuilt, .. } = all;
        let (is_shaded, steps) = (options.ambient_occlusion, options.steps);
        let (negative, positive) = rebuilt.split_at_mut(3);
        let rebuilt = [&mut negative[axis], &mut positive[axis]];
        let offsets = BitOffsets::new(axis, &grid);
        Self { axis, padded, grid, is_shaded, steps, planes, rows, rebuilt, table, offsets }
    }

    /// Builds the layer of a face direction in plane `here`, with plane `beyond` in front of it.
    #[inline(always)]
    fn rebuild<I: Instructions>(
        &mut self,
        face: Face,
        plane: usize,
        [here, beyond]: [&Plane<W>; 2],
        same: &W::Slice,
    ) {
        let side = self.padded.side() as usize;
        let visible = here.visible(beyond, same);
        let layers = visible.iter().zip(&mut *self.rebuilt[usize::from(face.is_positive())]);
        for (kind, (visible, rebuilt)) in layers.enumerate() {
            if visible.as_ref().iter().any(|&row| row != W::ZERO) {
                let outside = beyond.outside.as_ref().map(|plane| plane.outside(side, face));
                let (along, across) = (here.along.as_ref(), here.across.as_ref());
                let output = rebuilt.quads.reserve(side * side + BATCH);
                let (offsets, voxels) = (&self.offsets, self.padded.voxels());
                let of = LayerVoxels { voxels, grid: &self.grid, face, at: plane - 1 };
                let faces = LayerFaces { visible, along, across, outside, offsets };
                let count = if self.is_shaded {
                    write_layer::<ANY, true, W, I>(faces, of, output)
                } else {
                    write_layer::<ANY, false, W, I>(faces, of, output)
                };
                if self.steps && kind == 0 {
                    let quads = output.get_mut(..count).unwrap_or_default();
                    add_steps(face, visible.as_ref(), [side; 2], quads);
                }
                rebuilt.quads.commit(face, count);
            }
            rebuilt.ends.push(rebuilt.quads.len());
        }
    }
}

impl<W: Row> Work for RebuildAxis<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(mut self) {
        for rebuilt in self.rebuilt.iter_mut().flat_map(|rebuilt| rebuilt.iter_mut()) {
            rebuilt.quads.clear();
            rebuilt.ends.clear();
        }
        let side = self.padded.side() as usize;
        let mut planes = self.planes.clone();
        let Some(first) = planes.next() else { return };
        let [mut last, mut next] = core::mem::take(self.rows);
        let Self { axis, padded, table, is_shaded, .. } = self;
        let mut before = Plane::<W>::read::<I>(&mut last, padded, table, [axis, first], is_shaded);
        for plane in planes {
            let here = Plane::read::<I>(&mut next, padded, table, [axis, plane], is_shaded);
            let same = here.same::<I>(&before, [&next, &last], side, table);
            let (negative, positive) = (Face::ALL[axis], Face::ALL[axis].opposite());
            if plane > 1 {
                self.rebuild::<I>(positive, plane - 1, [&before, &here], &same);
            }
            if plane <= side {
                self.rebuild::<I>(negative, plane, [&here, &before], &same);
            }
            before = here;
            core::mem::swap(&mut last, &mut next);
        }
        *self.rows = [last, next];
    }
}
