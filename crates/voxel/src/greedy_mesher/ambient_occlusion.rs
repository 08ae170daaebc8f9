use drystone_mesh::Face;

use super::face_steps::stride as voxel_stride;
use super::grid::axes;
use super::masks::{Layers, neighbors, word_index};
use super::row::{Row, stride};
use crate::occlusion::{corner_steps, darkness};
use crate::{Material, MaterialTable, PaddedChunk};

/// Opaque voxels in front of a layer of faces, as rows that include the halo. They determine the
/// ambient occlusion of the faces.
pub(super) struct Outside<'a, W: Row> {
    rows: &'a [W],
    padded: &'a [W::Padded],
    ends: &'a [W],
    side: usize,
    /// Ambient occlusion of a face for each set of neighbours.
    table: &'static [u8; 512],
}

impl<'a, W: Row> Outside<'a, W> {
    /// Creates the rows of the layer `beyond`, counted from −1, in front of faces of a direction.
    #[inline(always)]
    pub(super) fn new(layers: &'a Layers<'_, W>, beyond: isize, side: usize, face: Face) -> Self {
        let first = word_index::<W>(-1, beyond);
        let [rows, ends] = [&*layers.opaque, &*layers.ends];
        let [rows, ends] = [rows, ends].map(|mask| &mask[first..][..stride::<W>()]);
        let padded = &layers.padded[first..][..stride::<W>()];
        Self { rows, padded, ends, side, table: &OCCLUSION[face.index()] }
    }

    /// Returns two masks of faces that can join others. In the first, the ambient occlusion is
    /// constant along the row; in the second, it is constant across rows. Two adjacent faces of a
    /// mask have equal values, because they share two corners.
    #[inline(always)]
    pub(super) fn flat(&self) -> [W::Slice; 2] {
        let [low, high] = self.corners();
        [
            alike::<W>([&low[0], &low[1]], [&high[0], &high[1]]),
            alike::<W>([&low[0], &high[0]], [&low[1], &high[1]]),
        ]
    }

    /// Returns the ambient occlusion of all faces: rows for each of its bits.
    #[inline(always)]
    pub(super) fn planes(&self, face: Face) -> [W::Slice; 8] {
        let corners = self.corners();
        let mut planes = [W::EMPTY; 8];
        for corner in 0..4 {
            let [bit, row] = corner_of_layer(face, corner as u32).map(|step| usize::from(step > 0));
            [planes[2 * corner], planes[2 * corner + 1]] = corners[row][bit];
        }
        planes
    }

    /// Returns the darkness of the corners: of the previous row and the next one, before and after the
    /// voxel.
    #[inline(always)]
    fn corners(&self) -> [[[W::Slice; 2]; 2]; 2] {
        // Simple loops of constant length, which compilers vectorise.
        let [before, here, behind] = [self.near::<0>(), self.near::<1>(), self.near::<2>()];
        [
            [
                corners::<W>(&here[0], &before[1], &before[0]),
                corners::<W>(&here[2], &before[1], &before[2]),
            ],
            [
                corners::<W>(&here[0], &behind[1], &behind[0]),
                corners::<W>(&here[2], &behind[1], &behind[2]),
            ],
        ]
    }

    /// Returns the rows from `FIRST` on, shifted for each voxel: the voxel before, the voxel
    /// itself, the voxel after.
    #[inline(always)]
    fn near<const FIRST: usize>(&self) -> [W::Slice; 3] {
        let [rows, ends] = [self.rows, self.ends].map(|mask| &mask[FIRST..][..W::ROWS]);
        let [mut low, mut here, mut high] = [W::EMPTY; 3];
        for row in 0..W::ROWS {
            [low[row], high[row]] = neighbors(rows[row], ends[row], self.side);
            here[row] = rows[row];
        }
        [low, here, high]
    }

    /// Returns the ambient occlusion of the face at a row and bit.
    #[inline(always)]
    pub(super) fn occlusion(&self, row: u32, bit: u32) -> u8 {
        self.table[W::around(&self.padded[row as usize..], bit)]
    }
}

/// Opaque voxels of one plane with its halo: the input of [`Outside`] if a chunk has no masks.
#[derive(Clone, Copy)]
pub(super) struct OutsidePlane<W: Row> {
    rows: W::HaloRows,
    padded: W::PaddedRows,
    ends: W::HaloRows,
}

impl<W: Row> OutsidePlane<W> {
    /// Creates the rows of a plane perpendicular to `axis`; 0 is the first plane of the halo.
    /// `opaque` holds the opaque voxels without the halo.
    pub(super) fn new(
        chunk: &PaddedChunk,
        table: &MaterialTable,
        [axis, plane]: [usize; 2],
        opaque: &W::Slice,
    ) -> Self {
        let side = chunk.side() as usize;
        let [bit_stride, row_stride] = axes(axis).map(|axis| voxel_stride(axis, side));
        let first = plane * voxel_stride(axis, side);
        let is_opaque = |bit: usize, row: usize| {
            let voxel = chunk.voxels().get(first + bit * bit_stride + row * row_stride);
            u64::from(table.covers(voxel.copied().unwrap_or(Material::AIR)))
        };
        let halo = |row: usize| {
            W::from_bits((0..side).fold(0, |bits, bit| bits | is_opaque(bit + 1, row) << bit))
        };
        let (mut rows, mut ends) = (W::EMPTY_HALO_ROWS, W::EMPTY_HALO_ROWS);
        let mut padded = W::EMPTY_PADDED_ROWS;
        for row in 0..side + 2 {
            let is_inside = (1..=side).contains(&row);
            rows[row] = if is_inside { opaque[row - 1] } else { halo(row) };
            ends[row] = W::from_bits(is_opaque(0, row) | is_opaque(side + 1, row) << 1);
            padded[row] = W::padded(rows[row], ends[row], side);
        }
        Self { rows, padded, ends }
    }

    /// Returns the rows in front of faces of a direction.
    pub(super) fn outside(&self, side: usize, face: Face) -> Outside<'_, W> {
        let Self { rows, padded, ends } = self;
        let (rows, padded, ends) = (rows.as_ref(), padded.as_ref(), ends.as_ref());
        Outside { rows, padded, ends, side, table: &OCCLUSION[face.index()] }
    }
}

/// Computes the darkness of corners as two bits, from the voxels that share an edge with each
/// corner and the diagonal voxel.
#[inline(always)]
fn corners<W: Row>(a: &W::Slice, b: &W::Slice, between: &W::Slice) -> [W::Slice; 2] {
    let [mut low, mut high] = [W::EMPTY; 2];
    for row in 0..W::ROWS {
        let (both, any) = (a[row] & b[row], a[row] | b[row]);
        low[row] = (any ^ between[row]) | both;
        high[row] = (any & between[row]) | both;
    }
    [low, high]
}

/// Returns the faces for which both pairs of corners are equally dark.
#[inline(always)]
fn alike<W: Row>(a: [&[W::Slice; 2]; 2], b: [&[W::Slice; 2]; 2]) -> W::Slice {
    let mut alike = W::EMPTY;
    for row in 0..W::ROWS {
        let differ =
            |[a, b]: [&[W::Slice; 2]; 2]| (a[0][row] ^ b[0][row]) | (a[1][row] ^ b[1][row]);
        alike[row] = !(differ(a) | differ(b));
    }
    alike
}

/// Ambient occlusion of a face for each set of neighbours, by face direction.
static OCCLUSION: [[u8; 512]; Face::COUNT] = {
    let mut tables = [[0; 512]; Face::COUNT];
    let mut index = 0;
    while index < Face::COUNT {
        tables[index] = occlusion_table(Face::ALL[index]);
        index += 1;
    }
    tables
};

/// Returns the ambient occlusion of a face for each set of neighbours, as numbered by
/// [`Row::around`].
const fn occlusion_table(face: Face) -> [u8; 512] {
    let mut table = [0; 512];
    let mut around = 0;
    while around < 512 {
        let mut corner = 0;
        while corner < 4 {
            let [bit, row] = corner_of_layer(face, corner);
            // The bit in the middle is the voxel in front of the face.
            let [along, across] = [4 + bit, 4 + 3 * row];
            let between = across + bit;
            let sides = [around >> along & 1 != 0, around >> across & 1 != 0];
            let dark = darkness(sides, around >> between & 1 != 0);
            table[around] |= dark << (2 * corner);
            corner += 1;
        }
        around += 1;
    }
    table
}

/// Returns the steps along bits and rows from a face to one of its corners.
const fn corner_of_layer(face: Face, corner: u32) -> [i32; 2] {
    let [u, v] = corner_steps(face, corner);
    let bits_are_wide = face.span_axes()[0] == axes(face.axis())[0];
    if bits_are_wide { [u, v] } else { [v, u] }
}
