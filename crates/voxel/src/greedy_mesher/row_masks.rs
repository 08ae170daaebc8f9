use drystone_alloc::{Error, memory::Linear};
use drystone_mesh::Face;

use super::row_bits::{bits_where_equal, bits_where_solid, low_bits};
use crate::{Material, MaterialTable, PaddedChunk, face_is_visible};

/// What the merging must know of a chunk's voxels: one bit a voxel, one word a row.
///
/// A row runs along X through the chunk, bit `x` for the voxel at `x`. The halo's two
/// voxels at its ends stay outside the word, so that 64 a side fit. Rows are numbered like
/// those of the padded chunk, halo included.
pub(super) struct RowMasks<'s> {
    side: usize,
    has_see_through: bool,
    /// Not air.
    solid: &'s mut [u64],
    /// Not air and not see-through.
    opaque: &'s mut [u64],
    /// What lies beyond the voxel's low and high X side hides that side: it is opaque, or
    /// it is of the halo and the rule says so.
    x_covered: [&'s mut [u64]; 2],
    /// Solid, with at least one of six sides that no opaque voxel covers.
    exposed: &'s mut [u64],
    /// Same material as the voxel before in X, Y and Z. Zero where no face and no merge
    /// depends on it.
    same: [&'s mut [u64]; 3],
}

impl<'s> RowMasks<'s> {
    /// Takes the masks of `chunk`. An error if `scratch` has no room for them.
    pub(super) fn new(
        chunk: &PaddedChunk,
        table: &MaterialTable,
        scratch: &'s Linear<'_>,
    ) -> Result<Self, Error> {
        let side = chunk.side() as usize;
        let stride = side + 2;
        let row_count = stride * stride;
        let row = |row| &chunk.voxels()[row * stride + 1..][..side];
        let solid = scratch.alloc_slice_with(row_count, |i| bits_where_solid(row(i)))?;
        let none = || scratch.alloc_slice_with(row_count, |_| 0);
        let mut masks = Self {
            side,
            has_see_through: false,
            opaque: scratch.alloc_slice(solid)?,
            solid,
            x_covered: [none()?, none()?],
            exposed: none()?,
            same: [none()?, none()?, none()?],
        };
        masks.find_opaque(chunk, table);
        masks.find_exposed(chunk, table);
        masks.find_same(chunk);
        Ok(masks)
    }

    /// Voxels a side.
    #[inline]
    pub(super) fn side(&self) -> usize {
        self.side
    }

    /// From one Z to the next, in rows.
    #[inline]
    pub(super) fn stride(&self) -> usize {
        self.side + 2
    }

    /// The number of the row at `y` and `z` of the chunk.
    #[inline]
    pub(super) fn row(&self, y: usize, z: usize) -> usize {
        (y + 1) + self.stride() * (z + 1)
    }

    /// Whether chunk or halo hold anything see-through.
    #[inline]
    pub(super) fn has_see_through(&self) -> bool {
        self.has_see_through
    }

    /// Where the voxel is the same as the one before in X, Y and Z, row by row.
    #[inline]
    pub(super) fn same(&self) -> [&[u64]; 3] {
        self.same.each_ref().map(|same| &**same)
    }

    /// Whether any voxel of the row may show a face.
    #[inline]
    pub(super) fn is_exposed(&self, row: usize) -> bool {
        self.exposed[row] != 0
    }

    /// Writes to `visible`, row by row, the visible faces of a facing that are
    /// see-through, or that are not. What it holds for rows of the halo means nothing.
    ///
    /// The rule of [`face_is_visible`] in bits: drawn is what is solid, unless the
    /// neighbour is opaque or the same. (Of two same voxels that are opaque, the first
    /// condition already speaks.)
    pub(super) fn visible(&self, face: Face, see_through: bool, visible: &mut [u64]) {
        let [low_x, high_x] = &self.x_covered;
        let [same_x, same_y, same_z] = &self.same;
        let stride = self.stride();
        // From the first row of the chunk to the last, with the halo's rows in between; what
        // a facing looks at is the same range, moved by a row or by a slice of rows.
        let here = stride..self.solid.len() - stride;
        let before = |rows: usize| here.start - rows..here.end - rows;
        let after = |rows: usize| here.start + rows..here.end + rows;
        let (covered, same, same_shift) = match face {
            Face::NegX => (&low_x[here.clone()], &same_x[here.clone()], 0),
            Face::PosX => (&high_x[here.clone()], &same_x[here.clone()], 1),
            Face::NegY => (&self.opaque[before(1)], &same_y[here.clone()], 0),
            Face::PosY => (&self.opaque[after(1)], &same_y[after(1)], 0),
            Face::NegZ => (&self.opaque[before(stride)], &same_z[here.clone()], 0),
            Face::PosZ => (&self.opaque[after(stride)], &same_z[after(stride)], 0),
        };
        let kind = if see_through { u64::MAX } else { 0 };
        let solid = self.solid[here.clone()].iter().zip(&self.opaque[here.clone()]);
        let hidden = covered.iter().zip(same).map(|(covered, same)| covered | same >> same_shift);
        for (visible, ((solid, opaque), hidden)) in visible[here].iter_mut().zip(solid.zip(hidden))
        {
            *visible = solid & (opaque ^ kind) & !hidden;
        }
    }

    /// Takes what is see-through from what is solid. Only rows with something in them are
    /// asked for their materials, and of these only the first voxel of each run of one
    /// material.
    fn find_opaque(&mut self, chunk: &PaddedChunk, table: &MaterialTable) {
        if !table.any_see_through() {
            return;
        }
        let rows = chunk.voxels().chunks_exact(self.stride());
        for (opaque, row) in self.opaque.iter_mut().zip(rows) {
            if *opaque != 0 {
                *opaque &= !see_through_bits(*opaque, row, table);
            }
        }
        self.has_see_through = self.opaque != self.solid;
    }

    fn find_exposed(&mut self, chunk: &PaddedChunk, table: &MaterialTable) {
        // Beyond the border it only matters what may be the same as a voxel inside and yet
        // not hide it by being opaque.
        if self.has_see_through {
            let rows = self.solid.iter().zip(&*self.opaque);
            for (exposed, (solid, opaque)) in self.exposed.iter_mut().zip(rows) {
                *exposed = solid & !opaque;
            }
        }
        let stride = self.stride();
        let last = self.side - 1;
        for z in 0..self.side {
            for y in 0..self.side {
                let row = self.row(y, z);
                let (solid, opaque) = (self.solid[row], &self.opaque);
                if solid == 0 {
                    continue;
                }
                let [low_end, high_end] = self.covered_ends(chunk, table, row);
                let low = opaque[row] << 1 | low_end;
                let high = opaque[row] >> 1 | high_end << last;
                let around =
                    opaque[row - 1] & opaque[row + 1] & opaque[row - stride] & opaque[row + stride];
                self.exposed[row] = solid & !(around & low & high);
                self.x_covered[0][row] = low;
                self.x_covered[1][row] = high;
            }
        }
    }

    /// Whether the halo hides the outer X sides of the row's first and last voxel.
    #[inline]
    fn covered_ends(&self, chunk: &PaddedChunk, table: &MaterialTable, row: usize) -> [u64; 2] {
        let first = row * self.stride();
        let last = first + self.side + 1;
        let voxels = chunk.voxels();
        let hides = |halo: Material, inner: Material| {
            !halo.is_air() && !face_is_visible(inner, halo, table)
        };
        [hides(voxels[first], voxels[first + 1]), hides(voxels[last], voxels[last - 1])]
            .map(u64::from)
    }

    /// Compares rows with the rows before them, where both have voxels that show: a face
    /// that is hidden and a quad that cannot grow need no comparison.
    fn find_same(&mut self, chunk: &PaddedChunk) {
        let stride = self.stride();
        let side = self.side;
        let voxels = |row: usize, x: usize| &chunk.voxels()[row * stride + x..][..side];
        for row in stride..stride * stride {
            let exposed = self.exposed[row];
            if exposed == 0 {
                continue;
            }
            let [same_x, same_y, same_z] = &mut self.same;
            if exposed & exposed << 1 != 0 {
                same_x[row] = bits_where_equal(voxels(row, 1), voxels(row, 0));
            }
            if exposed & self.exposed[row - 1] != 0 {
                same_y[row] = bits_where_equal(voxels(row, 1), voxels(row - 1, 1));
            }
            if exposed & self.exposed[row - stride] != 0 {
                same_z[row] = bits_where_equal(voxels(row, 1), voxels(row - stride, 1));
            }
        }
    }
}

/// Which voxels of a padded row, of those in `solid`, are see-through.
fn see_through_bits(solid: u64, row: &[Material], table: &MaterialTable) -> u64 {
    let inner = &row[1..row.len() - 1];
    // Bit 0 would compare with the halo, so a run always starts there.
    let same = bits_where_equal(inner, &row[..inner.len()]) & !1;
    let mut starts = solid & !same;
    let mut bits = 0;
    while starts != 0 {
        let start = starts.trailing_zeros();
        starts &= starts - 1;
        if table.is_see_through(inner[start as usize]) {
            let length = 1 + (same >> start >> 1).trailing_ones() as usize;
            bits |= low_bits(length) << start;
        }
    }
    bits
}
