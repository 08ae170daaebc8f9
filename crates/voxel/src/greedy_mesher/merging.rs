use drystone_alloc::{Error, memory::Linear};
use drystone_mesh::{Face, Quad, QuadSink};

use super::facing::{Places, QuadSteps, axes, stride};
use super::layer::{Layer, Patch};
use super::masks::{Layers, Masks};
use super::memory::Memory;
use super::row::Row;
use super::shade::{Outside, occlusion_table};
use crate::simd::{Instructions, Work, widest};
use crate::{ChunkMesh, Material, MaterialTable, PaddedChunk};

/// Quads of one face are written so many at a time, whether there are so many or not: how
/// many there are cannot be guessed, and a wrong guess costs more than some stores. A word
/// of the worst case, random voxels of which a tenth is filled, holds five on average.
pub(super) const BATCH: usize = 8;

/// Few faces are written down so many of a row at a time.
const FEW: usize = 4;

/// At most so many are written down before quads are made of them.
const FOUND: usize = 128;

/// Meshes a chunk of several materials. An error if `scratch` has too little room; no quad
/// was made then.
pub(super) fn mesh_masked<W: Row>(
    (scratch, memory): (&Linear<'_>, &mut Memory),
    chunk: &PaddedChunk,
    table: &MaterialTable,
    occlusion: bool,
    mesh: &mut ChunkMesh,
) -> Result<(), Error> {
    let masks = Masks::<W>::new(chunk, table, occlusion, scratch, W::words(memory))?;
    let sinks = mesh.sinks();
    if occlusion {
        mesh_facings::<W, true>(&masks, chunk, sinks);
    } else {
        mesh_facings::<W, false>(&masks, chunk, sinks);
    }
    Ok(())
}

/// The facing, and whether there are shades, as constants make their part of every quad one,
/// too.
fn mesh_facings<W: Row, const SHADED: bool>(
    masks: &Masks<'_, W>,
    chunk: &PaddedChunk,
    [opaque, clear]: [&mut impl QuadSink; 2],
) {
    widest(MeshFacing::<0, SHADED, W, _> { masks, chunk, sinks: [opaque, clear] });
    widest(MeshFacing::<1, SHADED, W, _> { masks, chunk, sinks: [opaque, clear] });
    widest(MeshFacing::<2, SHADED, W, _> { masks, chunk, sinks: [opaque, clear] });
    widest(MeshFacing::<3, SHADED, W, _> { masks, chunk, sinks: [opaque, clear] });
    widest(MeshFacing::<4, SHADED, W, _> { masks, chunk, sinks: [opaque, clear] });
    widest(MeshFacing::<5, SHADED, W, _> { masks, chunk, sinks: [opaque, clear] });
}

struct MeshFacing<'a, 's, const FACE: usize, const SHADED: bool, W: Row, S> {
    masks: &'a Masks<'s, W>,
    chunk: &'a PaddedChunk,
    /// Where opaque quads go, and translucent ones.
    sinks: [&'a mut S; 2],
}

impl<const FACE: usize, const SHADED: bool, W: Row, S: QuadSink> Work
    for MeshFacing<'_, '_, FACE, SHADED, W, S>
{
    type Output = ();

    /// Meshes the facing `Face::ALL[FACE]`, layer by layer from the back.
    #[inline(always)]
    fn run<I: Instructions>(mut self) {
        let face = const { Face::ALL[FACE] };
        let Masks { side, has_translucent, ref layers, .. } = *self.masks;
        let layers = &layers[face.axis()];
        let places = Places::<W>::new(face, side);
        for step in 0..side {
            let (at, beyond) = if face.is_positive() {
                (step, step as isize + 1)
            } else {
                let at = side - 1 - step;
                (at, at as isize - 1)
            };
            let visible = layers.visible(side, at, beyond, has_translucent);
            for (visible, sink) in visible.iter().zip(&mut self.sinks) {
                let any = visible.as_ref().iter().fold(W::ZERO, |any, &row| any | row);
                if any == W::ZERO {
                    continue;
                }
                let outside = SHADED.then(|| Outside::new(layers, beyond, side));
                let [along, across] =
                    [&layers.along, &layers.across].map(|mask| Layers::rows(mask, at));
                let layer = Layer::new(visible, along, across, outside.as_ref());
                // Room for every face, and for what a batch writes too much.
                let room = sink.room(side * side + BATCH);
                let count =
                    write_layer::<FACE, SHADED, W>(layer, &places, self.chunk, at, outside, room);
                sink.keep(face, count);
            }
        }
    }
}

/// Writes the quads of the layer at `at` of `Face::ALL[FACE]` into `room`, which is enough for
/// one a face and a [`BATCH`]; how many there are.
#[inline(always)]
pub(super) fn write_layer<const FACE: usize, const SHADED: bool, W: Row>(
    mut layer: Layer<W>,
    places: &Places<W>,
    chunk: &PaddedChunk,
    at: usize,
    outside: Option<Outside<'_, W>>,
    room: &mut [Quad],
) -> usize {
    let mut quads = LayerQuads::<FACE, SHADED, W> { chunk, at, outside, room, count: 0 };
    match layer.few_single_rows(chunk.side() as usize) {
        Some(rows) => quads.push_few(&layer, rows),
        None => quads.push_single(&layer, places),
    }
    layer.merge(|patch| quads.push(patch));
    quads.count
}

/// The quads of the layer at `at` of `Face::ALL[FACE]`.
struct LayerQuads<'a, const FACE: usize, const SHADED: bool, W: Row> {
    chunk: &'a PaddedChunk,
    at: usize,
    outside: Option<Outside<'a, W>>,
    room: &'a mut [Quad],
    count: usize,
}

impl<const FACE: usize, const SHADED: bool, W: Row> LayerQuads<'_, FACE, SHADED, W> {
    const FACE: Face = Face::ALL[FACE];
    const STEPS: QuadSteps = QuadSteps::of(Self::FACE);
    const OCCLUSION: [u8; 512] = occlusion_table(Self::FACE);

    /// Pushes a quad for each face that can join no other, where these few rows have any: first
    /// where faces are is written down, a few of a row at a time, then as many quads are made
    /// as there are. So no guess is to be made at how many there are in a row.
    #[inline(always)]
    fn push_few(&mut self, layer: &Layer<W>, mut rows: u64) {
        let mut found = [0_u16; FOUND];
        let mut count = 0;
        while rows != 0 {
            let row = rows.trailing_zeros();
            rows &= rows - 1;
            let mut bits = layer.single(row as usize);
            let mut left = bits.count_ones() as usize;
            loop {
                let room = found.get_mut(count..);
                let Some(places) = room.and_then(|room| room.first_chunk_mut::<FEW>()) else {
                    return;
                };
                for place in places {
                    *place = (row * W::ROWS as u32 + bits.trailing_zeros() % 64) as u16;
                    bits &= bits.wrapping_sub(1);
                }
                count += left.min(FEW);
                if count >= FOUND - FEW {
                    self.push_found(&found[..count]);
                    count = 0;
                }
                if left <= FEW {
                    break;
                }
                left -= FEW;
            }
        }
        self.push_found(&found[..count]);
    }

    /// Pushes a quad for each of these faces, whose row and bit are one number.
    #[inline(always)]
    fn push_found(&mut self, found: &[u16]) {
        let side = self.chunk.side() as usize;
        let [bit_stride, row_stride] = axes(Self::FACE).map(|axis| stride(axis, side));
        let (first_quad, first_voxel) = (self.quad(0, 0), self.voxel(0, 0));
        let Some(voxels) = self.chunk.voxels().get(first_voxel..) else { return };
        let Some(room) = self.room.get_mut(self.count..) else { return };
        for (place, &at) in room.iter_mut().zip(found) {
            let [row, bit] = [u32::from(at) / W::ROWS as u32, u32::from(at) % W::ROWS as u32];
            let voxel = voxels.get(row as usize * row_stride + bit as usize * bit_stride);
            let Some(material) = voxel else { return };
            let bits = first_quad
                + u64::from(row) * Self::STEPS.row
                + u64::from(bit) * Self::STEPS.bit
                + u64::from(material.0) * Self::STEPS.material
                + Self::shade(self.outside.as_ref(), row, bit) * Self::STEPS.occlusion;
            *place = Quad::from_bits(bits);
        }
        self.count += found.len();
    }

    /// Pushes a quad for each face that can join no other.
    #[inline(always)]
    fn push_single(&mut self, layer: &Layer<W>, places: &Places<W>) {
        for row in (0..W::ROWS).step_by(64 / W::ROWS) {
            let word = layer.single(row);
            if word != 0 {
                self.push_word(word, row, places);
            }
        }
    }

    /// Pushes a quad for each bit of a word whose first row is `row`, a batch at a time.
    #[inline(always)]
    fn push_word(&mut self, mut word: u64, row: usize, places: &Places<W>) {
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
                let [row, bit] = [row as u32 + at / W::ROWS as u32, at % W::ROWS as u32];
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
    fn shade(outside: Option<&Outside<'_, W>>, row: u32, bit: u32) -> u64 {
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
