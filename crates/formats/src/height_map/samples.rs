use std::borrow::Cow;
use std::ops::Range;

use super::grid::Grid;
use super::mosaic::Mosaic;
use crate::error::SourceError;

/// Samples of a map.
pub(super) enum Samples {
    /// One image, in memory.
    Image(Grid),
    /// Files that are read when they are needed.
    Files(Mosaic),
}

/// Samples of a part of a map.
pub(super) struct Window<'a> {
    /// First column and row.
    first: [usize; 2],
    grid: Cow<'a, Grid>,
}

impl Samples {
    /// Number of samples from west to east and from north to south.
    pub(super) fn size(&self) -> [usize; 2] {
        match self {
            Self::Image(grid) => grid.size(),
            Self::Files(files) => files.size(),
        }
    }

    /// Returns a part that has at least these columns and rows, which must be inside the map.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged.
    pub(super) fn window(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
    ) -> Result<Window<'_>, SourceError> {
        let first = [columns.start, rows.start];
        Ok(match self {
            Self::Image(grid) => Window { first: [0, 0], grid: Cow::Borrowed(grid) },
            Self::Files(files) => Window { first, grid: Cow::Owned(files.part(columns, rows)?) },
        })
    }
}

impl Window<'_> {
    /// Heights of a range of columns in a row; both must be inside the part.
    pub(super) fn row(&self, row: usize, columns: Range<usize>) -> &[f32] {
        let [x, z] = self.first;
        self.grid.row(row - z, columns.start - x..columns.end - x)
    }

    /// Lowest and highest sample of a range that is inside the part; `None` if all are void.
    pub(super) fn range_in(&self, columns: Range<usize>, rows: Range<usize>) -> Option<[f32; 2]> {
        let [x, z] = self.first;
        self.grid.range_in(columns.start - x..columns.end - x, rows.start - z..rows.end - z)
    }
}
