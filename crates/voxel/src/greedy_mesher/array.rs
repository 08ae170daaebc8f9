use drystone_memory::Linear;

use super::grid::{Axes, Grid};
use super::masks::{Cells, Copied, Masks, ReadCells};
use super::merging::mesh_directions;
use super::row::{Memory, Row};
use super::{GreedyMesher, larger};
use crate::chunk_mesh::Sink;
use crate::unit_mesher::mesh_array_unit;
use crate::{ChunkMesh, Error, KeyedMesh, Merging, MesherOptions, Visibility, Voxel, VoxelArray};

impl GreedyMesher {
    /// Replaces the content of `mesh` by the quads of a caller's array. The material of a quad is the
    /// merge key of its voxels.
    ///
    /// Cells are read slice by slice into the masks that [`mesh`](Self::mesh) uses too: each once, or
    /// twice if a key needs more than 16 bits.
    ///
    /// # Cost
    /// That of [`mesh`](Self::mesh), and a few microseconds to read 32³ cells, if the smallest stride is 1. Otherwise cells are read one
    /// by one. Scratch: in addition, 2 bytes for each cell, or 4 if a key is above 65,535, and 3 words for
    /// each of (n + 2)² rows if a cell is cut out.
    ///
    /// # Errors
    /// [`Error::KeyOutOfRange`] if the key of a voxel that is not empty is above 65,535. The mesh is
    /// then empty. [`mesh_array_keyed`](Self::mesh_array_keyed) takes all keys.
    ///
    /// # Examples
    /// See [`VoxelArray`].
    pub fn mesh_array<V: Voxel>(
        &mut self,
        array: &VoxelArray<'_, V>,
        mesh: &mut ChunkMesh,
    ) -> Result<(), Error> {
        let has_wide_keys = self.mesh_cells(array, mesh);
        let checked = if has_wide_keys { check_keys(array) } else { Ok(()) };
        if checked.is_err() {
            mesh.clear();
        }
        checked
    }

    /// Replaces the content of `mesh` by the quads of a caller's array, with merge keys of 32 bits.
    ///
    /// # Cost
    /// Cost of [`mesh_array`](Self::mesh_array), 12 bytes for each quad, and one more read of a cell.
    /// Keys above 65,535 are compared in two halves.
    ///
    /// # Examples
    /// See [`KeyedMesh`].
    pub fn mesh_array_keyed<V: Voxel>(&mut self, array: &VoxelArray<'_, V>, mesh: &mut KeyedMesh) {
        let mut gathered = core::mem::take(&mut self.gathered);
        self.mesh_cells(array, &mut gathered);
        mesh.fill(&gathered, |quad| {
            array.get(quad.position().map(|c| c as i32)).map_or(0, Voxel::key)
        });
        self.gathered = gathered;
    }

    /// Meshes an array. Materials are the low halves of the merge keys. Returns whether a key of the
    /// array or its halo may need more than 16 bits.
    fn mesh_cells<V: Voxel>(&mut self, array: &VoxelArray<'_, V>, mesh: &mut ChunkMesh) -> bool {
        mesh.clear();
        if self.options.merging == Merging::Unit {
            mesh_array_unit(array, self.options.ambient_occlusion, mesh);
            return true;
        }
        let axes = Axes(array.axes());
        let extents = axes.0.map(|axis| array.extents()[axis] as usize);
        let cells = Cells {
            cells: array.cells(),
            strides: axes.0.map(|axis| array.strides()[axis]),
            grid: Grid { extents, halo: array.halo() },
        };
        cells.with_reader(|cells| self.mesh_read(cells, axes, mesh))
    }

    /// Meshes cells of any type, as [`mesh_cells`](Self::mesh_cells) does.
    fn mesh_read(&mut self, cells: &dyn ReadCells, axes: Axes, mesh: &mut ChunkMesh) -> bool {
        let options = (axes, self.options);
        let mut sinks = mesh.sinks();
        // Masks are built before quads, so insufficient scratch is detected while there are no
        // quads.
        let has_wide_keys = loop {
            let scratch = (&self.scratch, &mut self.memory, &mut self.copied);
            let done = match cells.grid().extents.into_iter().max() {
                Some(..=16) => mesh_rows::<u16>(scratch, cells, options, &mut sinks),
                Some(17..=32) => mesh_rows::<u32>(scratch, cells, options, &mut sinks),
                _ => mesh_rows::<u64>(scratch, cells, options, &mut sinks),
            };
            if let Ok(has_wide_keys) = done {
                break has_wide_keys;
            }
            self.scratch = larger(&self.scratch);
        };
        self.scratch.reset();
        if self.options.merging == Merging::Conforming {
            self.conforming.cut(mesh);
        }
        has_wide_keys
    }
}

/// Merges the faces of cells. Returns whether a key needs more than 16 bits, or an error without quads
/// if the scratch is too small.
fn mesh_rows<W: Row>(
    (scratch, memory, copied): (&Linear<'_>, &mut Memory, &mut Copied),
    cells: &dyn ReadCells,
    options: (Axes, MesherOptions),
    sinks: &mut [Sink<'_>; 2],
) -> Result<bool, drystone_memory::Error> {
    let masks = Masks::<W>::of_cells(cells, scratch, (W::words(memory), &mut *copied))?;
    let has_wide_keys = masks.has_wide_keys;
    let masks = masks.completed(options.1.ambient_occlusion, scratch)?;
    mesh_directions(&masks, copied.materials(), options, sinks);
    Ok(has_wide_keys)
}

/// Checks that the keys of all voxels fit into the material of a quad. The halo is ignored.
#[cold]
fn check_keys<V: Voxel>(array: &VoxelArray<'_, V>) -> Result<(), Error> {
    let [nx, ny, nz] = array.extents();
    for position in (0..nx * ny * nz).map(|i| [i % nx, i / nx % ny, i / (nx * ny)]) {
        let voxel = array.get(position.map(|c| c as i32));
        if let Some(voxel) = voxel.filter(|voxel| voxel.visibility() != Visibility::Empty) {
            let key = voxel.key();
            if key > u32::from(u16::MAX) {
                return Err(Error::KeyOutOfRange { key, position });
            }
        }
    }
    Ok(())
}
