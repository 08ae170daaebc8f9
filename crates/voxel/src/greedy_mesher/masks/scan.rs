use alloc::vec::Vec;
use core::marker::PhantomData;

use drystone_memory::{Error, Linear};

use super::super::row::{Row, stride};
use super::super::row_bits::bits_where_class;
use super::compare::Rows;
use super::{Grid, Masks, word_index};
use crate::simd::{Instructions, Work, widest};
use crate::{Material, Visibility, Voxel};

/// Cells of a caller, with the axes of their grid.
pub(in super::super) struct Cells<'a, V> {
    pub cells: &'a [V],
    /// Distance between adjacent cells along each axis. The first cell is that of the halo, if any.
    pub strides: [usize; 3],
    pub grid: Grid,
}

/// Reads cells of any type. Masks and merging use this trait, so they are compiled once and not for each
/// type. Slices are counted from −1, which is that of the halo.
pub(in super::super) trait ReadCells {
    /// Returns the extents of the cells.
    fn grid(&self) -> Grid;

    /// Copies the low halves of the keys of a slice, and the visibility of its cells. `low` is as long as a
    /// slice of the grid with its halo, `classes` at least. Both must be empty where there is no halo.
    fn read(&self, z: isize, low: &mut [Material], classes: &mut [u8]) -> Summary;

    /// Copies the high halves of the keys of a slice.
    fn read_high(&self, z: isize, high: &mut [Material]);
}

/// Merge keys of a caller's cells in the layout of a [`Grid`], and the visibility of one slice: what
/// the instructions compare as vectors.
#[derive(Debug, Default)]
pub(in super::super) struct Copied {
    /// Low halves of the keys, then space to read whole words of the last row.
    low: Vec<Material>,
    /// High halves of the keys. Unspecified unless a key of the array needs them.
    high: Vec<Material>,
    /// [`Visibility`] of the cells of the current slice, as bytes.
    classes: Vec<u8>,
    /// Grid of the last array.
    grid: Option<Grid>,
}

impl Copied {
    /// Returns the low halves of the keys.
    pub(in super::super) fn materials(&self) -> &[Material] {
        &self.low
    }

    /// Resizes the memory for an array. The halo is empty until it is read.
    fn begin<W: Row>(&mut self, grid: Grid) {
        if self.grid != Some(grid) {
            self.grid = Some(grid);
            self.low.resize(grid.stride(2) * (grid.extents[2] + 2) + W::ROWS, Material::AIR);
            self.classes.clear();
            self.classes.resize(grid.stride(2) + W::ROWS, Visibility::Empty as u8);
        }
    }
}

/// Finds the masks of ±Z and ±Y in a caller's cells. Returns an error if `scratch` is too small for the
/// masks of cut-out cells.
pub(super) struct Scan<'a, 's, 'm, W: Row> {
    pub masks: &'a mut Masks<'s, W>,
    pub copied: &'a mut Copied,
    pub cells: &'a dyn ReadCells,
    pub scratch: &'s Linear<'m>,
}

impl<W: Row> Work for Scan<'_, '_, '_, W> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Instructions>(mut self) -> Result<(), Error> {
        let grid @ Grid { extents, halo } = self.cells.grid();
        // Constant lengths make the code faster.
        if extents == [W::ROWS; 3] {
            self.scan::<I>(Grid { extents: [W::ROWS; 3], halo })
        } else if extents == [W::ROWS - 2; 3] {
            self.scan::<I>(Grid { extents: [W::ROWS - 2; 3], halo })
        } else {
            self.scan::<I>(grid)
        }
    }
}

/// Summary of the cells that were read.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Summary {
    /// Bits that are set in any visibility.
    classes: u8,
    /// Bits that are set in the high half of any key of a voxel that is not empty.
    high_keys: u32,
}

impl<W: Row> Scan<'_, '_, '_, W> {
    /// Scans cells of extents that may be constants, slice by slice.
    #[inline(always)]
    fn scan<I: Instructions>(&mut self, grid: Grid) -> Result<(), Error> {
        let [nx, _, nz] = grid.extents;
        self.copied.begin::<W>(grid);
        let mut all = Summary::default();
        for z in [-1, 0] {
            self.find::<I>(grid, z, &mut all)?;
        }
        for z in 0..nz {
            self.find::<I>(grid, z as isize + 1, &mut all)?;
            let exposed = self.masks.exposed(nx, z);
            let rows = self.masks.rows_to_compare(grid, &exposed, all.has_translucent(), z);
            self.compare::<I>(grid, all.is_wide(), rows, z);
        }
        self.masks.has_translucent = all.has_translucent();
        self.masks.has_wide_keys = all.is_wide();
        if all.has_translucent() {
            let rows = self.masks.rows_behind(grid);
            self.compare::<I>(grid, all.is_wide(), rows, nz);
        }
        Ok(())
    }

    /// Reads a slice and finds its opaque, translucent and cut-out voxels.
    #[inline(always)]
    fn find<I: Instructions>(
        &mut self,
        grid: Grid,
        z: isize,
        all: &mut Summary,
    ) -> Result<(), Error> {
        let [nx, ny, _] = grid.extents;
        let was_wide = all.is_wide();
        let Copied { low, classes, .. } = &mut *self.copied;
        let low = &mut low[grid.stride(2) * (z + 1) as usize..][..grid.stride(2)];
        let found = self.cells.read(z, low, classes);
        all.classes |= found.classes;
        all.high_keys |= found.high_keys;
        if all.is_wide() {
            self.read_high(z, was_wide);
        }
        let classes = self.copied.classes.as_slice();
        let [_, of_y, of_z] = &mut self.masks.layers;
        let rows = word_index::<W>(-1, z)..word_index::<W>(ny as isize + 1, z);
        let opaque = &mut of_z.opaque[rows.clone()];
        let ends = &mut of_z.ends[rows.clone()];
        let mut first = 0;
        for (opaque, ends) in opaque.iter_mut().zip(ends) {
            let row = &classes[first..];
            first += grid.stride(1);
            *opaque = bits_where_class::<W, I>(&row[1..], Visibility::Opaque, nx);
            let is_opaque = |class: u8| u64::from(class == Visibility::Opaque as u8);
            *ends = W::from_bits(is_opaque(row[0]) | is_opaque(row[nx + 1]) << 1);
        }
        let across = &mut of_y.opaque[word_index::<W>(z, -1)..];
        for (across, &opaque) in across.iter_mut().step_by(stride::<W>()).zip(&*opaque) {
            *across = opaque;
        }
        of_z.clear[rows].fill(W::ZERO);
        if found.has_translucent() {
            self.find_clear::<I>(grid, all.is_wide(), z);
        }
        if found.has_cut_out() {
            self.find_cut_out::<I>(grid, z)?;
        }
        Ok(())
    }

    /// Finds the cut-out voxels of a slice. The first such slice allocates the masks.
    #[inline(always)]
    fn find_cut_out<I: Instructions>(&mut self, grid: Grid, z: isize) -> Result<(), Error> {
        let [nx, ny, _] = grid.extents;
        if self.masks.layers[2].cut_out.is_empty() {
            self.masks.allocate_cut_out(self.scratch)?;
        }
        let [_, of_y, of_z] = &mut self.masks.layers;
        for y in 0..ny + 2 {
            let row = &self.copied.classes[y * grid.stride(1) + 1..];
            let bits = bits_where_class::<W, I>(row, Visibility::CutOut, nx);
            let y = y as isize - 1;
            of_z.cut_out[word_index::<W>(y, z)] = bits;
            of_y.cut_out[word_index::<W>(z, y)] = bits;
        }
        Ok(())
    }

    /// Finds the translucent voxels of a slice, and completes the ends of its rows.
    #[inline(always)]
    fn find_clear<I: Instructions>(&mut self, grid: Grid, is_wide: bool, z: isize) {
        let [nx, ny, _] = grid.extents;
        let Copied { low, high, classes, .. } = &*self.copied;
        let of_z = &mut self.masks.layers[2];
        let is_clear = |class: u8| class == Visibility::Translucent as u8;
        for y in 0..ny + 2 {
            let first = y * grid.stride(1);
            let at = word_index::<W>(y as isize - 1, z);
            let row = &classes[first..];
            let bits = bits_where_class::<W, I>(&row[1..], Visibility::Translucent, nx);
            if bits == W::ZERO && !is_clear(row[0]) {
                continue;
            }
            of_z.clear[at] = bits;
            let end = grid.stride(2) * (z + 1) as usize + first + nx + 1;
            let is_same = row[nx] == row[nx + 1]
                && low[end - 1] == low[end]
                && (!is_wide || high[end - 1] == high[end]);
            let ends = u64::from(is_same) << 2 | u64::from(is_clear(row[0])) << 3;
            of_z.ends[at] = of_z.ends[at] | W::from_bits(ends);
        }
    }

    /// Copies the high halves of the keys of a slice. Those of all earlier slices are zero unless
    /// `was_wide`.
    #[cold]
    #[inline(never)]
    fn read_high(&mut self, z: isize, was_wide: bool) {
        let Copied { low, high, .. } = &mut *self.copied;
        if !was_wide {
            high.clear();
            high.resize(low.len(), Material::AIR);
        }
        let first = (z + 1) as usize * self.cells.grid().stride(2);
        self.cells.read_high(z, &mut high[first..]);
    }

    #[inline(always)]
    fn compare<I: Instructions>(&mut self, grid: Grid, is_wide: bool, rows: Rows<W>, z: usize) {
        let Copied { low, high, .. } = &*self.copied;
        let high = is_wide.then_some(high.as_slice());
        self.masks.compare::<true, I>(grid, (low, high), rows, z);
    }
}

impl Summary {
    #[inline(always)]
    fn has_translucent(self) -> bool {
        self.classes & Visibility::Translucent as u8 != 0
    }

    #[inline(always)]
    fn has_cut_out(self) -> bool {
        self.classes & Visibility::CutOut as u8 != 0
    }

    /// Whether a key needs more than 16 bits.
    #[inline(always)]
    fn is_wide(self) -> bool {
        self.high_keys != 0
    }

    /// Copies the visibility and the low halves of the keys of some cells.
    #[inline(always)]
    fn read<'a, V: Voxel + 'a>(
        &mut self,
        cells: impl Iterator<Item = &'a V>,
        low: &mut [Material],
        classes: &mut [u8],
    ) {
        let (mut any_class, mut any_high) = (0, 0);
        for ((cell, low), class) in cells.zip(low).zip(classes) {
            let (visibility, key) = (cell.visibility() as u8, cell.key());
            *low = Material(key as u16);
            *class = visibility;
            any_class |= visibility;
            any_high |= if visibility == Visibility::Empty as u8 { 0 } else { key >> 16 };
        }
        self.classes |= any_class;
        self.high_keys |= any_high;
    }

    /// Copies the visibility and the low halves of the keys of a slice, row by row. `len` is the length of a
    /// row, as a constant if possible.
    #[inline(always)]
    fn read_rows<V: Voxel>(
        &mut self,
        grid: &Grid,
        len: usize,
        rows: CellRows<'_, V>,
        (low, classes): (&mut [Material], &mut [u8]),
    ) {
        for row in 0..rows.row_count {
            let first = grid.first_of_row(row);
            let (low, classes) = (&mut low[first..][..len], &mut classes[first..][..len]);
            let cells = rows.row(row);
            match rows.step {
                1 => self.read(cells.iter(), low, classes),
                step => self.read(cells.iter().step_by(step), low, classes),
            }
        }
    }
}

impl<V: Voxel> Cells<'_, V> {
    /// Calls `scan` with these cells, which are read with the widest instructions.
    pub(in super::super) fn with_reader<R>(&self, scan: impl FnOnce(&dyn ReadCells) -> R) -> R {
        widest(WithReader(self, scan))
    }
}

struct WithReader<'a, V, F>(&'a Cells<'a, V>, F);

impl<V: Voxel, R, F: FnOnce(&dyn ReadCells) -> R> Work for WithReader<'_, V, F> {
    type Output = R;

    #[inline(always)]
    fn run<I: Instructions>(self) -> R {
        let Self(cells, scan) = self;
        scan(&Reader(cells, PhantomData::<I>))
    }
}

/// Reads cells with one set of instructions.
struct Reader<'a, V, I>(&'a Cells<'a, V>, PhantomData<I>);

impl<V: Voxel, I: Instructions> ReadCells for Reader<'_, V, I> {
    fn grid(&self) -> Grid {
        self.0.grid
    }

    fn read(&self, z: isize, low: &mut [Material], classes: &mut [u8]) -> Summary {
        let Some(rows) = self.0.rows(z) else {
            classes.fill(Visibility::Empty as u8);
            return Summary::default();
        };
        I::call(ReadSlice { grid: &self.0.grid, rows, low, classes })
    }

    #[cold]
    fn read_high(&self, z: isize, high: &mut [Material]) {
        let Self(cells, _) = self;
        let Some(rows) = cells.rows(z) else { return };
        for row in 0..rows.row_count {
            let row_cells = rows.row(row).iter().step_by(rows.step);
            let high = &mut high[cells.grid.first_of_row(row)..][..rows.len];
            for (high, cell) in high.iter_mut().zip(row_cells) {
                *high = Material((cell.key() >> 16) as u16);
            }
        }
    }
}

impl<'a, V> Cells<'a, V> {
    /// Returns the rows of a slice, or `None` for a slice of the halo that does not exist.
    fn rows(&self, z: isize) -> Option<CellRows<'a, V>> {
        let [step, row_stride, slice_stride] = self.strides;
        let (halo, [nx, ny, nz]) = (self.grid.halo.width(), self.grid.extents);
        let slice = (z + halo as isize) as usize;
        let exists = slice < nz + 2 * halo;
        let cells = self.cells.get(if exists { slice * slice_stride } else { usize::MAX }..)?;
        Some(CellRows { cells, row_stride, step, len: nx + 2 * halo, row_count: ny + 2 * halo })
    }
}

/// Rows of one slice of a caller's cells, with the halo if there is one.
struct CellRows<'a, V> {
    /// Cells from the first one of the slice on.
    cells: &'a [V],
    row_stride: usize,
    /// Distance between the cells of a row.
    step: usize,
    /// Number of cells of a row.
    len: usize,
    row_count: usize,
}

impl<'a, V> CellRows<'a, V> {
    /// Returns the cells from the first one of a row on.
    #[inline(always)]
    fn row(&self, row: usize) -> &'a [V] {
        self.cells.get(row * self.row_stride..).unwrap_or_default()
    }

    /// Whether the slice has `count` cells, without gaps.
    #[inline(always)]
    fn is_packed(&self, count: usize) -> bool {
        let count_of_rows = self.len * self.row_count;
        self.step == 1 && self.row_stride == self.len && count_of_rows == count
    }
}

/// Reads a slice.
struct ReadSlice<'a, V> {
    grid: &'a Grid,
    rows: CellRows<'a, V>,
    /// Low halves of the keys, and visibility, with space for the halo.
    low: &'a mut [Material],
    classes: &'a mut [u8],
}

impl<V: Voxel> Work for ReadSlice<'_, V> {
    type Output = Summary;

    #[inline(always)]
    fn run<I: Instructions>(self) -> Summary {
        let Self { grid, rows, low, classes } = self;
        let mut all = Summary::default();
        if rows.is_packed(low.len()) {
            all.read(rows.cells[..low.len()].iter(), low, classes);
            return all;
        }
        // Constant lengths make the code faster.
        match rows.len {
            16 => all.read_rows(grid, 16, rows, (low, classes)),
            32 => all.read_rows(grid, 32, rows, (low, classes)),
            64 => all.read_rows(grid, 64, rows, (low, classes)),
            len => all.read_rows(grid, len, rows, (low, classes)),
        }
        all
    }
}
