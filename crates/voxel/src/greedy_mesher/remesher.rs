use alloc::vec::Vec;
use core::ops::Range;

use drystone_mesh::{Face, FaceSet, Quad, QuadBuffer, QuadSink};

use super::facing::Places;
use super::layer::Layer;
use super::merging::{BATCH, write_layer};
use super::plane::{Plane, Rows};
use super::row::Row;
use crate::simd::{Instructions, Work, widest};
use crate::{Chunk, ChunkMesh, MaterialTable, PaddedChunk, mesh_skirt};

/// Makes a mesh anew in those layers that a change of some voxels may have touched, and takes the
/// rest from the mesh that there was: what [`GreedyMesher`](crate::GreedyMesher) would make of the
/// whole chunk, greedy and without shades, quad by quad.
///
/// A face shows or does not by the two voxels that it lies between, and merges with no others
/// than those of its layer. So one voxel concerns two layers of each facing, of which a
/// chunk of 32³ has 32; and a voxel of a neighbour, one layer of the facing towards it.
///
/// ```text
///            ┌ changed ┐
///  planes  . a  b  c  d .     between each two beside each other lies
///           └─┘└─┘└─┘         a layer of +X and one of −X
/// ```
///
/// # Cost
/// Some microseconds for each plane that is looked at, three along each axis for one voxel,
/// where a whole chunk of 32³ has 34; and 8 bytes copied for each quad of the mesh. See
/// [`pays`](Self::pays).
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
/// remesher.look(&chunk, |_| None, [[0, 5, 5], [0, 5, 5]], FaceSet::EMPTY);
/// let mut mesh = ChunkMesh::new();
/// remesher.remesh(&old, &table, &mut mesh);
/// assert_eq!(mesh.len(), old.len() + 8);
/// ```
#[derive(Debug, Default)]
pub struct Remesher {
    /// Filled where it is looked at.
    padded: PaddedChunk,
    /// The first voxels that may have changed, and the last.
    changed: [[i32; 3]; 2],
    walls: FaceSet,
    rows: [Rows; 2],
    /// What was made anew, by facing: opaque and translucent.
    made: [[Made; 2]; Face::COUNT],
}

/// Layers of one facing that were made anew.
#[derive(Debug, Default)]
struct Made {
    /// By ascending coordinate.
    quads: QuadBuffer,
    /// Where each layer ends in them.
    ends: Vec<usize>,
}

impl Remesher {
    /// One without scratch; the first chunk makes it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a chunk of `side` voxels a side in which these voxels may have changed, from the
    /// first to the last along each axis, is sooner made anew by layers than as a whole. Walls are
    /// not counted: they are as many planes either way.
    pub fn pays(side: u32, changed: [[i32; 3]; 2]) -> bool {
        let planes = |axis: usize| planes(side, changed, axis).len();
        (0..3).map(planes).sum::<usize>() <= side as usize / 2
    }

    /// Looks at the layers of a chunk around voxels that may have changed, from the first to
    /// the last along each axis: −1 is the neighbour's below, n the neighbour's above, and what lies
    /// further away concerns nobody here. `neighbor` is as for [`PaddedChunk::fill`]. `walls` are
    /// those that are to be made, too. What is made next is of this chunk.
    ///
    /// # Cost
    /// A copy of each plane, 2 bytes a voxel; two planes more for a wall where nothing changed.
    pub fn look<'a>(
        &mut self,
        center: &'a Chunk,
        neighbor: impl Fn([i32; 3]) -> Option<&'a Chunk>,
        changed: [[i32; 3]; 2],
        walls: FaceSet,
    ) {
        let side = center.side();
        (self.changed, self.walls) = (changed, walls);
        let mut seen = [0, 1, 2].map(|axis| bits(planes(side, changed, axis)));
        for face in Face::ALL.into_iter().filter(|&face| walls.contains(face)) {
            // The outermost voxels, and those beyond.
            seen[face.axis()] |= if face.is_positive() { 0b11 << side } else { 0b11 };
        }
        self.padded.fill_planes(center, neighbor, seen);
    }

    /// Replaces what is in `mesh` by the mesh of the chunk that was looked at. `old` is the one
    /// that it had before the change: made by the same table, greedy and without shades. Where it
    /// is not, the layers that were not looked at stay what they are there.
    ///
    /// # Cost
    /// That of [`Remesher`]; scratch is kept, so that it allocates nothing when warm.
    pub fn remesh(&mut self, old: &ChunkMesh, table: &MaterialTable, mesh: &mut ChunkMesh) {
        mesh.clear();
        if !self.padded.has_solid() {
            return;
        }
        match self.padded.side() {
            ..=16 => self.make::<u16>(table),
            17..=32 => self.make::<u32>(table),
            _ => self.make::<u64>(table),
        }
        let [opaque, clear] = mesh.sinks();
        self.splice(0, &old.opaque, opaque);
        self.splice(1, &old.translucent, clear);
    }

    /// Adds a wall of the chunk that was looked at to `wall`, as [`mesh_skirt`] does; nothing if it
    /// was not asked for then.
    ///
    /// # Cost
    /// As [`mesh_skirt`].
    pub fn mesh_skirt(&self, face: Face, table: &MaterialTable, wall: &mut ChunkMesh) {
        if self.walls.contains(face) {
            mesh_skirt(&self.padded, face, table, wall);
        }
    }

    fn make<W: Row>(&mut self, table: &MaterialTable) {
        widest(MakeAxis::<0, 3, W>::new(self, table));
        widest(MakeAxis::<1, 4, W>::new(self, table));
        widest(MakeAxis::<2, 5, W>::new(self, table));
    }

    /// The layers of a facing that were made anew.
    fn layers(&self, face: Face) -> Range<u32> {
        let planes = planes(self.padded.side(), self.changed, face.axis());
        let inner = |plane: u32| plane.clamp(1, self.padded.side() + 1) - 1;
        let [first, end] = [planes.start, planes.end].map(|it| it as u32);
        match (planes.is_empty(), face.is_positive()) {
            (true, _) => 0..0,
            // The last plane is only looked at by the one before it, and the other way round.
            (_, true) => inner(first)..inner(end - 1),
            (_, false) => inner(first + 1)..inner(end),
        }
    }

    /// Puts quads of the old mesh and those that were made anew together.
    fn splice(&self, kind: usize, old: &QuadBuffer, to: &mut impl QuadSink) {
        let mut rest = old.quads();
        for face in Face::ALL {
            let (all, others) = rest.split_at(old.count(face) as usize);
            rest = others;
            let (made, layers) = (&self.made[face.index()][kind], self.layers(face));
            if layers.is_empty() {
                put(to, face, all);
                continue;
            }
            let layer = |quad: &Quad| quad.position()[face.axis()];
            let is_below = |quad: &Quad| layer(quad) < layers.start;
            let is_above = |quad: &Quad| layer(quad) >= layers.end;
            let quads = made.quads.quads();
            let starts = core::iter::once(0).chain(made.ends.iter().copied());
            let ranges = starts.zip(made.ends.iter().copied());
            // From the back: up for a positive facing, down for a negative one.
            if face.is_positive() {
                put(to, face, &all[..all.partition_point(is_below)]);
                put(to, face, quads);
                put(to, face, &all[all.partition_point(|quad| !is_above(quad))..]);
            } else {
                put(to, face, &all[..all.partition_point(is_above)]);
                let ranges: Vec<(usize, usize)> = ranges.collect();
                ranges.into_iter().rev().for_each(|(start, end)| put(to, face, &quads[start..end]));
                put(to, face, &all[all.partition_point(|quad| !is_below(quad))..]);
            }
        }
    }
}

fn put(to: &mut impl QuadSink, face: Face, quads: &[Quad]) {
    to.room(quads.len())[..quads.len()].copy_from_slice(quads);
    to.keep(face, quads.len());
}

/// The planes along an axis that are looked at, the halo's first being 0; none where only
/// neighbours along other axes have changed.
fn planes(side: u32, [low, high]: [[i32; 3]; 2], axis: usize) -> Range<usize> {
    let n = side as i32;
    let is_inside = |other: usize| other == axis || (low[other] < n && high[other] >= 0);
    if !(0..3).all(is_inside) || low[axis] > high[axis] {
        return 0..0;
    }
    let ends = [low[axis].saturating_sub(1), high[axis].saturating_add(1)];
    let [first, last] = ends.map(|plane| plane.clamp(-1, n) + 1);
    first as usize..last as usize + 1
}

fn bits(planes: Range<usize>) -> u128 {
    if planes.is_empty() { 0 } else { (u128::MAX >> (128 - planes.len())) << planes.start }
}

/// Makes the layers of the facings `Face::ALL[NEGATIVE]` and `Face::ALL[POSITIVE]`, which look
/// along one axis.
struct MakeAxis<'a, const NEGATIVE: usize, const POSITIVE: usize, W: Row> {
    padded: &'a PaddedChunk,
    planes: Range<usize>,
    rows: &'a mut [Rows; 2],
    made: [&'a mut [Made; 2]; 2],
    table: &'a MaterialTable,
    places: [Places<W>; 2],
}

impl<'a, const NEGATIVE: usize, const POSITIVE: usize, W: Row> MakeAxis<'a, NEGATIVE, POSITIVE, W> {
    const FACES: [Face; 2] = [Face::ALL[NEGATIVE], Face::ALL[POSITIVE]];

    fn new(all: &'a mut Remesher, table: &'a MaterialTable) -> Self {
        let Remesher { padded, changed, rows, made, .. } = all;
        let side = padded.side();
        let planes = planes(side, *changed, Self::FACES[0].axis());
        let (negative, positive) = made.split_at_mut(POSITIVE);
        let made = [&mut negative[NEGATIVE], &mut positive[0]];
        let places = Self::FACES.map(|face| Places::new(face, side as usize));
        Self { padded, planes, rows, made, table, places }
    }

    /// Makes the layer of a facing that lies in plane `here` and looks at the one `beyond`.
    #[inline(always)]
    fn make<const FACE: usize, I: Instructions>(
        &mut self,
        plane: usize,
        [here, beyond]: [&Plane<W>; 2],
        same: &W::Slice,
    ) {
        let side = self.padded.side() as usize;
        let of_face = usize::from(FACE == POSITIVE);
        let visible = here.visible(beyond, same);
        for (visible, made) in visible.iter().zip(&mut *self.made[of_face]) {
            if visible.as_ref().iter().any(|&row| row != W::ZERO) {
                let layer = Layer::new(visible, here.along.as_ref(), here.across.as_ref(), None);
                let room = made.quads.room(side * side + BATCH);
                let places = &self.places[of_face];
                let count = write_layer::<FACE, false, W>(
                    layer,
                    places,
                    self.padded,
                    plane - 1,
                    None,
                    room,
                );
                made.quads.keep(Face::ALL[FACE], count);
            }
            made.ends.push(made.quads.len());
        }
    }
}

impl<const NEGATIVE: usize, const POSITIVE: usize, W: Row> Work
    for MakeAxis<'_, NEGATIVE, POSITIVE, W>
{
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(mut self) {
        for made in self.made.iter_mut().flat_map(|made| made.iter_mut()) {
            made.quads.clear();
            made.ends.clear();
        }
        let (axis, side) = (Self::FACES[0].axis(), self.padded.side() as usize);
        let mut planes = self.planes.clone();
        let Some(first) = planes.next() else { return };
        let [mut last, mut next] = core::mem::take(self.rows);
        last.copy::<W>(self.padded, axis, first);
        let mut before = Plane::<W>::new::<I>(&last, side, self.table);
        for plane in planes {
            next.copy::<W>(self.padded, axis, plane);
            let here = Plane::new::<I>(&next, side, self.table);
            let same = here.same::<I>(&before, [&next, &last], side);
            if plane > 1 {
                self.make::<POSITIVE, I>(plane - 1, [&before, &here], &same);
            }
            if plane <= side {
                self.make::<NEGATIVE, I>(plane, [&here, &before], &same);
            }
            before = here;
            core::mem::swap(&mut last, &mut next);
        }
        *self.rows = [last, next];
    }
}
