use super::Rows;
use super::bricks::Bricks;
use super::palette::Palette;
use super::runs::Runs;
use super::storage::Storage;
use super::table::Table;
use crate::Material;

/// Copies voxels from any storage.
pub(crate) struct Reader<'a>(Source<'a>);

enum Source<'a> {
    Uniform(Material),
    /// Voxel by voxel: for few voxels.
    Singly(&'a Palette),
    Bytewise(&'a Palette, &'a Table),
    Direct(&'a [Material]),
    Bricks(&'a Bricks),
    /// Storage, index of the run at the end of the last row, and end of that row.
    Runs(&'a Runs, usize, usize),
}

/// Minimum number of voxels for which filling a [`Table`] pays off.
const MANY: usize = 512;

impl<'a> Reader<'a> {
    /// Reader of a chunk of air.
    pub(crate) const AIR: Self = Self(Source::Uniform(Material::AIR));

    /// Creates a reader for few voxels, or for scattered ones.
    pub(super) fn new(storage: &'a Storage) -> Self {
        Self(match storage {
            Storage::Uniform(material) => Source::Uniform(*material),
            Storage::Palette(palette) => Source::Singly(palette),
            Storage::Direct(voxels) => Source::Direct(voxels),
            Storage::Bricks(bricks) => Source::Bricks(bricks),
            Storage::Runs(runs) => Source::Runs(runs, 0, 0),
        })
    }

    /// Creates a reader for rows with about `count` voxels in total.
    pub(super) fn of_many(storage: &'a Storage, count: usize, table: &'a mut Table) -> Self {
        match storage {
            Storage::Palette(palette) if count >= MANY => {
                table.set(palette);
                Self(Source::Bytewise(palette, table))
            }
            _ => Self::new(storage),
        }
    }

    /// Copies consecutive voxels, starting at `first`, to `row`. Rows in ascending order are
    /// fastest.
    #[inline]
    pub(crate) fn copy(&mut self, first: usize, row: &mut [Material]) {
        if let Source::Bricks(bricks) = &self.0 {
            return bricks.copy(first, row);
        }
        let from = Rows { first, row_step: 0, layer_step: 0 };
        self.copy_box([row.len(), 1, 1], from, row, Rows { first: 0, ..from });
    }

    /// Copies a box of voxels, with `size` along X, Y and Z. `from` positions its rows in the
    /// storage, `to` in `voxels`.
    pub(crate) fn copy_box(
        &mut self,
        size: [usize; 3],
        from: Rows,
        voxels: &mut [Material],
        to: Rows,
    ) {
        if size[0] == 1 {
            return self.copy_slab(size, from, voxels, to);
        }
        match &mut self.0 {
            Source::Uniform(material) => {
                each_row(size, from, voxels, to, |_, row| row.fill(*material));
            }
            Source::Singly(palette) => {
                each_row(size, from, voxels, to, |first, row| palette.copy(first, row));
            }
            Source::Bytewise(palette, table) => {
                each_row(size, from, voxels, to, |first, row| table.copy(palette, first, row));
            }
            Source::Direct(all) => each_row(size, from, voxels, to, |first, row| {
                row.copy_from_slice(&all[first..first + row.len()]);
            }),
            Source::Bricks(bricks) => bricks.copy_box(size, from.first, voxels, to),
            Source::Runs(runs, run, before) => each_row(size, from, voxels, to, |first, row| {
                let from = if first < *before { runs.run_at(first) } else { *run };
                (*run, *before) = (runs.copy(first, row, from), first + row.len());
            }),
        }
    }

    /// Copies a box that is one voxel thick along X.
    fn copy_slab(&mut self, size: [usize; 3], from: Rows, voxels: &mut [Material], to: Rows) {
        match &mut self.0 {
            Source::Uniform(material) => each_voxel(size, from, voxels, to, |_| *material),
            Source::Singly(palette) | Source::Bytewise(palette, _) => {
                match palette.width().bits() {
                    1 => each_voxel(size, from, voxels, to, palette.getter::<1>()),
                    2 => each_voxel(size, from, voxels, to, palette.getter::<2>()),
                    4 => each_voxel(size, from, voxels, to, palette.getter::<4>()),
                    _ => each_voxel(size, from, voxels, to, palette.getter::<8>()),
                }
            }
            Source::Direct(all) => each_voxel(size, from, voxels, to, |voxel| all[voxel]),
            Source::Bricks(bricks) => bricks.copy_box(size, from.first, voxels, to),
            Source::Runs(runs, ..) => {
                let mut run = runs.run_at(from.first);
                each_voxel(size, from, voxels, to, |voxel| {
                    run = runs.run_from(run, voxel);
                    runs.material(run)
                });
            }
        }
    }
}

/// Calls `copy` with the source and the target of each row of a box.
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

/// Sets the first voxel of each row of a box in `voxels`. `get` returns the material of a source
/// voxel by its index.
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
