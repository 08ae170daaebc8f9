use drystone_alloc::{Error, memory::Linear};
use drystone_mesh::{Face, Quad, QuadSink};

use super::facing::{Places, QuadSteps, axes, stride};
use super::layer::{Layer, Lines, Patch};
use super::row_masks::RowMasks;
use super::shade::{Occluders, Outside, occlusion_table};
use super::turned_masks::TurnedMasks;
use crate::simd::{Work, widest};
use crate::{ChunkMesh, Material, MaterialTable, PaddedChunk};

/// Quads of one face are written so many at a time, whether there are so many or not: how
/// many there are cannot be guessed, and a wrong guess costs more than some stores. A word
/// of the worst case, random voxels of which a tenth is filled, holds five on average.
const BATCH: usize = 8;

/// What one chunk's meshing works on, in the mesher's scratch.
struct Masks<'s, const ROWS: usize> {
    rows: RowMasks<'s, ROWS>,
    turned: TurnedMasks<'s, ROWS>,
    /// The visible faces of −X, or of the facing in work; and of +X.
    visible: [&'s mut [u64]; 2],
    /// Bit `x`: the layer at `x` has visible faces of −X, or of +X.
    occupied: [u64; 2],
    /// Where corners are to be darkened: by what.
    occluders: Option<Occluders<'s, ROWS>>,
}

/// Meshes a chunk of several materials. An error if `scratch` has too little room; no quad
/// was made then.
pub(super) fn mesh_masked<const ROWS: usize>(
    scratch: &Linear<'_>,
    chunk: &PaddedChunk,
    table: &MaterialTable,
    occlusion: bool,
    mesh: &mut ChunkMesh,
) -> Result<(), Error> {
    let Some(rows) = RowMasks::<ROWS>::new(chunk, table, scratch)? else { return Ok(()) };
    let turned = TurnedMasks::new(&rows, scratch)?;
    let none = || scratch.alloc_slice_with(RowMasks::<ROWS>::COUNT, |_| 0);
    let visible = [none()?, none()?];
    let occluders = match occlusion {
        true => Some(Occluders::new(&rows, chunk, table, scratch)?),
        false => None,
    };
    let mut masks = Masks { rows, turned, visible, occupied: [0; 2], occluders };
    let kinds: &[bool] = if masks.rows.has_see_through() { &[false, true] } else { &[false] };
    for &see_through in kinds {
        widest(FindVisibleX(&mut masks, see_through));
        if masks.occupied != [0; 2] {
            masks.turned.take_visible(masks.visible.each_ref().map(|visible| &**visible));
        }
        let sink = mesh.sink(see_through);
        if occlusion {
            mesh_facings::<ROWS, true>(&mut masks, see_through, chunk, sink);
        } else {
            mesh_facings::<ROWS, false>(&mut masks, see_through, chunk, sink);
        }
    }
    Ok(())
}

/// The facing, and whether there are shades, as constants make their part of every quad one,
/// too.
fn mesh_facings<const ROWS: usize, const SHADED: bool>(
    masks: &mut Masks<'_, ROWS>,
    see_through: bool,
    chunk: &PaddedChunk,
    sink: &mut impl QuadSink,
) {
    widest(MeshFacing::<0, ROWS, SHADED, _> { masks, see_through, chunk, sink });
    widest(MeshFacing::<1, ROWS, SHADED, _> { masks, see_through, chunk, sink });
    widest(MeshFacing::<2, ROWS, SHADED, _> { masks, see_through, chunk, sink });
    widest(MeshFacing::<3, ROWS, SHADED, _> { masks, see_through, chunk, sink });
    widest(MeshFacing::<4, ROWS, SHADED, _> { masks, see_through, chunk, sink });
    widest(MeshFacing::<5, ROWS, SHADED, _> { masks, see_through, chunk, sink });
}

impl<const ROWS: usize> Masks<'_, ROWS> {
    /// Finds the visible faces of both facings along X, which are turned together.
    #[inline(always)]
    fn find_visible_x(&mut self, see_through: bool) {
        let [low, high] = &mut self.visible;
        self.occupied = [
            self.rows.visible(Face::NegX, see_through, low),
            self.rows.visible(Face::PosX, see_through, high),
        ];
    }

    /// Meshes the facing `Face::ALL[FACE]`, layer by layer from the back.
    #[inline(always)]
    fn mesh_facing<const FACE: usize, const SHADED: bool>(
        &mut self,
        see_through: bool,
        chunk: &PaddedChunk,
        sink: &mut impl QuadSink,
    ) {
        let face = const { Face::ALL[FACE] };
        let side = self.rows.side();
        let mut occupied = match face {
            Face::NegX => self.occupied[0],
            Face::PosX => self.occupied[1],
            _ => self.rows.visible(face, see_through, self.visible[0]),
        };
        let places = Places::<ROWS>::new(face, side);
        while occupied != 0 {
            let at = if face.is_positive() {
                occupied.trailing_zeros()
            } else {
                u64::BITS - 1 - occupied.leading_zeros()
            };
            occupied ^= 1 << at;
            let at = at as usize;
            let outside = match &self.occluders {
                Some(occluders) if SHADED => Some(occluders.before(&self.rows, face, at)),
                _ => None,
            };
            let mut layer = Layer::<ROWS>::new(&self.lines(face, at), outside.as_ref());
            // Room for every face, and for what a batch writes too much.
            let room = sink.room(side * side + BATCH);
            let mut quads = LayerQuads::<FACE, SHADED> { chunk, at, outside, room, count: 0 };
            quads.push_single(&layer, &places);
            layer.merge(|patch| quads.push(patch));
            let count = quads.count;
            sink.keep(face, count);
        }
    }

    /// The rows of bits of the layer at `at` of a facing, bits and rows along its [`axes`].
    #[inline(always)]
    fn lines(&self, face: Face, at: usize) -> Lines<'_> {
        let Self { rows, turned, visible, .. } = self;
        let [same_x, same_y, same_z] = rows.same();
        let (visible, along, across, first, step) = match face.axis() {
            0 => {
                let [along, across] = turned.same();
                (turned.visible(face), along, across, at, ROWS)
            }
            1 => (
                &*visible[0],
                same_x,
                same_z,
                RowMasks::<ROWS>::row(at, 0),
                RowMasks::<ROWS>::STRIDE,
            ),
            _ => (&*visible[0], same_x, same_y, RowMasks::<ROWS>::row(0, at), 1),
        };
        let [visible, along, across] = [visible, along, across].map(|rows| &rows[first..]);
        Lines { visible, along, across, step }
    }
}

struct FindVisibleX<'a, 's, const ROWS: usize>(&'a mut Masks<'s, ROWS>, bool);

impl<const ROWS: usize> Work for FindVisibleX<'_, '_, ROWS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.find_visible_x(self.1);
    }
}

struct MeshFacing<'a, 's, const FACE: usize, const ROWS: usize, const SHADED: bool, S> {
    masks: &'a mut Masks<'s, ROWS>,
    see_through: bool,
    chunk: &'a PaddedChunk,
    sink: &'a mut S,
}

impl<const FACE: usize, const ROWS: usize, const SHADED: bool, S: QuadSink> Work
    for MeshFacing<'_, '_, FACE, ROWS, SHADED, S>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.masks.mesh_facing::<FACE, SHADED>(self.see_through, self.chunk, self.sink);
    }
}

/// The quads of the layer at `at` of `Face::ALL[FACE]`.
struct LayerQuads<'a, const FACE: usize, const SHADED: bool> {
    chunk: &'a PaddedChunk,
    at: usize,
    outside: Option<Outside<'a>>,
    room: &'a mut [Quad],
    count: usize,
}

impl<const FACE: usize, const SHADED: bool> LayerQuads<'_, FACE, SHADED> {
    const FACE: Face = Face::ALL[FACE];
    const STEPS: QuadSteps = QuadSteps::of(Self::FACE);
    const OCCLUSION: [u8; 256] = occlusion_table(Self::FACE);

    /// Pushes a quad for each face that can join no other.
    #[inline(always)]
    fn push_single<const ROWS: usize>(&mut self, layer: &Layer<ROWS>, places: &Places<ROWS>) {
        for row in (0..ROWS).step_by(Places::<ROWS>::ROWS_PER_WORD) {
            let word = layer.single(row, Places::<ROWS>::ROWS_PER_WORD);
            if word != 0 {
                self.push_word(word, row, places);
            }
        }
    }

    /// Pushes a quad for each bit of a word whose first row is `row`, a batch at a time.
    #[inline(always)]
    fn push_word<const ROWS: usize>(&mut self, mut word: u64, row: usize, places: &Places<ROWS>) {
        let side = self.chunk.side() as usize;
        let first_quad = self.quad(row as u32, 0);
        let Some(voxels) = self.chunk.voxels().get(self.voxel(row as u32, 0)..) else { return };
        let mut left = word.count_ones() as usize;
        loop {
            let room = self.room.get_mut(self.count..);
            let Some(batch) = room.and_then(|room| room.first_chunk_mut::<BATCH>()) else { return };
            for quad in batch {
                // Where no bit is left, it does not matter which face it is.
                let at = word.trailing_zeros();
                let place = places.at(Self::FACE, side, at);
                let at = at % u64::BITS;
                let [row, bit] = [row as u32 + at / ROWS as u32, at % ROWS as u32];
                let Some(material) = voxels.get(place.voxel as usize) else { return };
                let material = u64::from(material.0) * Self::STEPS.material;
                let shade = Self::shade(self.outside.as_ref(), row, bit);
                let bits = first_quad + u64::from(place.quad) + material;
                *quad = Quad::from_bits(bits + shade * Self::STEPS.occlusion);
                word &= word.wrapping_sub(1);
            }
            self.count += left.min(BATCH);
            if left <= BATCH {
                break;
            }
            left -= BATCH;
        }
    }

    /// Pushes the quad of a patch.
    #[inline(always)]
    fn push(&mut self, patch: Patch) {
        let steps = Self::STEPS;
        let voxel = self.chunk.voxels().get(self.voxel(patch.row, patch.bit));
        let material = u64::from(voxel.copied().unwrap_or(Material::AIR).0);
        let bits = self.quad(patch.row, patch.bit)
            + u64::from(patch.bit_count - 1) * steps.bit_count
            + u64::from(patch.row_count - 1) * steps.row_count
            + material * steps.material
            + Self::shade(self.outside.as_ref(), patch.row, patch.bit) * steps.occlusion;
        if let Some(place) = self.room.get_mut(self.count) {
            *place = Quad::from_bits(bits);
            self.count += 1;
        }
    }

    /// The occlusion of a face.
    #[inline(always)]
    fn shade(outside: Option<&Outside<'_>>, row: u32, bit: u32) -> u64 {
        match outside {
            Some(outside) if SHADED => u64::from(outside.occlusion(row, bit, &Self::OCCLUSION)),
            _ => 0,
        }
    }

    /// The bits of a quad of one face, without a material.
    #[inline(always)]
    fn quad(&self, row: u32, bit: u32) -> u64 {
        let steps = Self::STEPS;
        steps.first
            + self.at as u64 * steps.layer
            + u64::from(row) * steps.row
            + u64::from(bit) * steps.bit
    }

    /// The index of a voxel in the padded chunk.
    #[inline(always)]
    fn voxel(&self, row: u32, bit: u32) -> usize {
        let side = self.chunk.side() as usize;
        let [bit_stride, row_stride] = axes(Self::FACE).map(|axis| stride(axis, side));
        // The first voxel lies within a halo of one.
        (self.at + 1) * stride(Self::FACE.axis(), side)
            + (row as usize + 1) * row_stride
            + (bit as usize + 1) * bit_stride
    }
}
