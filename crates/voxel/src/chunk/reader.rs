use super::bricks::Bricks;
use super::palette::Palette;
use super::runs::Runs;
use super::storage::Storage;
use super::table::Table;
use crate::Material;

/// Copies voxels out of any storage.
pub(crate) struct Reader<'a>(Way<'a>);

enum Way<'a> {
    Uniform(Material),
    /// Voxel by voxel: for a few.
    Singly(&'a Palette),
    Bytewise(&'a Palette, &'a Table),
    Direct(&'a [Material]),
    Bricks(&'a Bricks),
    /// The run that the last row ended in, and where that row began.
    Runs(&'a Runs, usize, usize),
}

/// Voxels for which it pays to fill a [`Table`].
const MANY: usize = 512;

/// Where the rows of a box lie in an array.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// The first voxel of the first.
    pub(crate) first: usize,
    /// From one row to the next along Y.
    pub(crate) row_step: usize,
    /// From one along Z.
    pub(crate) layer_step: usize,
}

impl<'a> Reader<'a> {
    /// Air everywhere.
    pub(crate) const AIR: Self = Self(Way::Uniform(Material::AIR));

    /// For few voxels, or here and there.
    pub(super) fn new(storage: &'a Storage) -> Self {
        Self(match storage {
            Storage::Uniform(material) => Way::Uniform(*material),
            Storage::Palette(palette) => Way::Singly(palette),
            Storage::Direct(voxels) => Way::Direct(voxels),
            Storage::Bricks(bricks) => Way::Bricks(bricks),
            Storage::Runs(runs) => Way::Runs(runs, 0, 0),
        })
    }

    /// For rows of some `count` voxels in all.
    pub(super) fn of_many(storage: &'a Storage, count: usize, table: &'a mut Table) -> Self {
        match storage {
            Storage::Palette(palette) if count >= MANY => {
                table.set(palette);
                Self(Way::Bytewise(palette, table))
            }
            _ => Self::new(storage),
        }
    }

    /// Copies the voxels from `first` on into `row`. Rows that come in order are quickest.
    #[inline]
    pub(crate) fn copy(&mut self, first: usize, row: &mut [Material]) {
        if let Way::Bricks(bricks) = &self.0 {
            return bricks.copy(first, row);
        }
        let from = Rows { first, row_step: 0, layer_step: 0 };
        self.copy_box([row.len(), 1, 1], from, row, Rows { first: 0, ..from });
    }

    /// Copies a box of so many voxels along X, Y and Z, whose rows lie at `from` here, a chunk's
    /// rows apart, and at `to` in `voxels`.
    pub(crate) fn copy_box(
        &mut self,
        size: [usize; 3],
        from: Rows,
        voxels: &mut [Material],
        to: Rows,
    ) {
        if size[0] == 1 {
            return self.copy_wall(size, from, voxels, to);
        }
        match &mut self.0 {
            Way::Uniform(material) => {
                each_row(size, from, voxels, to, |_, row| row.fill(*material));
            }
            Way::Singly(palette) => {
                each_row(size, from, voxels, to, |first, row| palette.copy(first, row));
            }
            Way::Bytewise(palette, table) => {
                each_row(size, from, voxels, to, |first, row| table.copy(palette, first, row));
            }
            Way::Direct(all) => each_row(size, from, voxels, to, |first, row| {
                row.copy_from_slice(&all[first..first + row.len()]);
            }),
            Way::Bricks(bricks) => bricks.copy_box(size, from.first, voxels, to),
            Way::Runs(runs, run, before) => each_row(size, from, voxels, to, |first, row| {
                let from = if first < *before { runs.run_at(first) } else { *run };
                (*run, *before) = (runs.copy(first, row, from), first + row.len());
            }),
        }
    }

    /// Copies a box that is one voxel thick along X.
    fn copy_wall(&mut self, size: [usize; 3], from: Rows, voxels: &mut [Material], to: Rows) {
        match &mut self.0 {
            Way::Uniform(material) => each_voxel(size, from, voxels, to, |_| *material),
            Way::Singly(palette) | Way::Bytewise(palette, _) => match palette.width().bits() {
                1 => each_voxel(size, from, voxels, to, palette.getter::<1>()),
                2 => each_voxel(size, from, voxels, to, palette.getter::<2>()),
                4 => each_voxel(size, from, voxels, to, palette.getter::<4>()),
                _ => each_voxel(size, from, voxels, to, palette.getter::<8>()),
            },
            Way::Direct(all) => each_voxel(size, from, voxels, to, |voxel| all[voxel]),
            Way::Bricks(bricks) => bricks.copy_box(size, from.first, voxels, to),
            Way::Runs(runs, ..) => {
                let mut run = runs.run_at(from.first);
                each_voxel(size, from, voxels, to, |voxel| {
                    run = runs.run_from(run, voxel);
                    runs.material(run)
                });
            }
        }
    }
}

/// Calls `copy` with where each row of a box is to be copied from and to.
#[inline]
fn each_row(
    [across, up, along]: [usize; 3],
    from: Rows,
    voxels: &mut [Material],
    to: Rows,
    mut copy: impl FnMut(usize, &mut [Material]),
) {
    for z in 0..along {
        for y in 0..up {
            let start = to.first + y * to.row_step + z * to.layer_step;
            let first = from.first + y * from.row_step + z * from.layer_step;
            copy(first, &mut voxels[start..start + across]);
        }
    }
}

/// Sets one voxel a row to what `get` says.
#[inline]
fn each_voxel(
    [_, up, along]: [usize; 3],
    from: Rows,
    voxels: &mut [Material],
    to: Rows,
    mut get: impl FnMut(usize) -> Material,
) {
    for z in 0..along {
        let start = to.first + z * to.layer_step;
        let first = from.first + z * from.layer_step;
        for y in 0..up {
            voxels[start + y * to.row_step] = get(first + y * from.row_step);
        }
    }
}
