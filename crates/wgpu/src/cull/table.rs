//! Meshes that the GPU culls.

mod entries;
mod mirror;

use std::fmt;

use bytemuck::Pod;
use drystone_pool::{MeshHandle, MeshRange, PoolConfig, VertexPool};

use super::bounds::{CullBounds, CullRecord};
use crate::error::GpuError;

pub use mirror::CullMirror;

pub(crate) use entries::{Changed, Entries, Entry};

/// Meshes of one pool that the GPU culls. The caller updates it with the pool; a
/// [`Culler`](crate::Culler) uploads boxes, ranges and parts of the changed meshes. Only the latest changes
/// are stored; others are read from the pool. `D` is the pool's per-draw data, from which a function of the
/// caller makes a mesh's box.
///
/// # Cost
/// 20 bytes for each mesh, and some 80 more for a mesh of several ranges. 84 bytes for each of the latest
/// changes: at most 1,024 in a buffer of the pool, and about as many as it has meshes. The next frame
/// uploads the ranges that have changed. After more changes than are stored, it uploads the blocks of 64
/// ranges that contain a change.
///
/// # Examples
/// ```
/// use drystone_pool::{NullBackend, PoolConfig, VertexPool};
/// use drystone_wgpu::{CullBounds, CullTable};
///
/// // The per-draw data is a position. All meshes are cubes with a side of 8.
/// let mut pool = VertexPool::<u64, [f32; 3]>::new(PoolConfig::default())?;
/// let mut table = CullTable::new(pool.config(), |_, low: &[f32; 3]| {
///     CullBounds::new(*low, low.map(|coordinate| coordinate + 8.0))
/// });
/// let mesh = pool.insert(&[1, 2, 3], &[3], [0.5, 0.0, 8.0], &mut NullBackend::default())?;
/// table.set(&pool, mesh);
/// assert!(table.contains(mesh));
///
/// table.remove(mesh);
/// pool.remove(mesh)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CullTable<D> {
    entries: Entries,
    bounds: Bounds<D>,
}

/// Makes the box of a mesh from its per-draw data.
type Bounds<D> = Box<dyn Fn(MeshHandle, &D) -> CullBounds + Send + Sync>;

impl<D> fmt::Debug for CullTable<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("CullTable").field(&self.entries).finish()
    }
}

impl<D: Pod> CullTable<D> {
    /// Creates an empty table for the meshes of a pool with this configuration, which must be that of
    /// the pool's buffers ([`PoolBuffers::pool_config`](crate::PoolBuffers::pool_config)). `bounds` makes the
    /// box of a mesh from its per-draw data. When the box of a mesh changes, call [`set`](Self::set).
    pub fn new(
        config: &PoolConfig,
        bounds: impl Fn(MeshHandle, &D) -> CullBounds + Send + Sync + 'static,
    ) -> Self {
        Self { entries: Entries::new(config), bounds: Box::new(bounds) }
    }

    /// Inserts a mesh of the pool, or marks it as changed. Call it after [`insert`](VertexPool::insert),
    /// [`replace`](VertexPool::replace), and [`set_data`](VertexPool::set_data) if the box changes. Does
    /// nothing if the handle is stale. A mesh of another pool replaces all meshes of the table.
    ///
    /// # Cost
    /// Constant for each range. A mesh with one range that stays in its buffer keeps its order. A mesh of
    /// another pool costs a removal for each mesh of the table.
    pub fn set<V: Pod>(&mut self, pool: &VertexPool<V, D>, mesh: MeshHandle) {
        let Self { entries, bounds } = self;
        match pool.data(mesh) {
            Some(data) => entries.set(mesh, records(pool, mesh, bounds(mesh, data))),
            None => entries.remove(mesh),
        }
    }

    /// Removes a mesh. Call it for each mesh that is removed from the pool, before the next frame.
    /// Does nothing if the mesh is not in the table.
    pub fn remove(&mut self, mesh: MeshHandle) {
        self.entries.remove(mesh);
    }

    /// Updates the ranges of the meshes that the pool has just moved. Call it after
    /// [`defragment`](VertexPool::defragment).
    pub fn update_moved<V: Pod>(&mut self, pool: &VertexPool<V, D>) {
        for &mesh in pool.moved() {
            if self.contains(mesh) {
                self.set(pool, mesh);
            }
        }
    }

    /// Whether a mesh is in the table.
    pub fn contains(&self, mesh: MeshHandle) -> bool {
        self.entries.contains(mesh)
    }

    /// Number of meshes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table has no meshes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of buffers that contain or contained meshes.
    pub const fn buffers(&self) -> usize {
        self.entries.buffers()
    }

    /// Whether the meshes of a buffer end within this number of elements, in slots below this number. The
    /// GPU does not check it. Reads the meshes as they are in the pool now, not as they were uploaded.
    /// `false` for another pool.
    ///
    /// # Cost
    /// Some tens of nanoseconds for each mesh.
    pub fn is_within<V: Pod>(
        &self,
        pool: &VertexPool<V, D>,
        buffer: usize,
        elements: u32,
        slots: u32,
    ) -> bool {
        let is_within = |record: CullRecord| {
            let end = u64::from(record.first_element) + u64::from(record.ends[5]);
            end <= u64::from(elements) && record.slot < slots && record.ends.is_sorted()
        };
        let checked = self.read(pool, |source| {
            let mut records =
                (0..self.entries.records(buffer)).map(|index| source.record(buffer, index));
            Ok(records.all(is_within))
        });
        checked.unwrap_or(false)
    }

    /// Verifies for tests that the table has a record for each current range of its meshes, in the range's
    /// buffer and with its number of commands. A [`CullMirror`] verifies the content of records.
    ///
    /// # Errors
    /// A description of the first difference.
    ///
    /// # Cost
    /// Visits every range.
    pub fn validate<V: Pod>(&self, pool: &VertexPool<V, D>) -> Result<(), &'static str> {
        let Self { entries, bounds } = self;
        let mut missing: usize = (0..self.buffers()).map(|buffer| entries.records(buffer)).sum();
        for mesh in entries.meshes() {
            let Some(data) = pool.data(mesh) else {
                return Err("a mesh was removed from the pool and not from the table");
            };
            let pieces = records(pool, mesh, bounds(mesh, data))
                .map(|(buffer, record)| (buffer, record.max_commands(entries.pattern())));
            if !pieces.eq(entries.pieces(mesh.slot())) {
                return Err("a mesh has other ranges in the pool than in the table");
            }
            missing = missing.saturating_sub(entries.pieces(mesh.slot()).count());
        }
        if missing == 0 { Ok(()) } else { Err("the table has ranges of no mesh") }
    }

    /// Calls `read` with the source of the records.
    ///
    /// # Errors
    /// `OtherPool` if the meshes are of another pool.
    pub(crate) fn read<V: Pod, T>(
        &self,
        pool: &VertexPool<V, D>,
        read: impl FnOnce(&Source<'_>) -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        if self.entries.pool().is_some_and(|id| id != pool.id()) {
            return Err(GpuError::OtherPool);
        }
        let make = |mesh, piece| self.record(pool, mesh, piece);
        read(&Source { entries: &self.entries, make: &make })
    }

    /// The record of a mesh's piece, and its buffer.
    fn record<V: Pod>(
        &self,
        pool: &VertexPool<V, D>,
        mesh: MeshHandle,
        piece: usize,
    ) -> Option<(u32, CullRecord)> {
        let bounds = (self.bounds)(mesh, pool.data(mesh)?);
        records(pool, mesh, bounds).nth(piece)
    }
}

/// The buffer and the record of each piece of a mesh.
fn records<V: Pod, D: Pod>(
    pool: &VertexPool<V, D>,
    mesh: MeshHandle,
    bounds: CullBounds,
) -> impl Iterator<Item = (u32, CullRecord)> {
    pool.ranges_of(mesh).map(move |MeshRange { buffer, first, part_counts, .. }| {
        (buffer, CullRecord::new(mesh.slot(), bounds, first, part_counts))
    })
}

/// The records of a table, made from its pool when they are read.
pub(crate) struct Source<'a> {
    pub(crate) entries: &'a Entries,
    /// Makes the record of a piece of a mesh, and returns it with its buffer; `None` if the pool has no such
    /// piece.
    pub(crate) make: &'a dyn Fn(MeshHandle, usize) -> Option<(u32, CullRecord)>,
}

impl Source<'_> {
    /// Maximum number of records that are made before they are written: 5 MB.
    const MADE_TOGETHER: usize = 1 << 16;

    /// A record of a buffer. Empty if the pool has no such piece of a mesh, or if the piece is in another
    /// buffer or needs more commands than were counted: the table was not updated with the pool.
    ///
    /// # Cost
    /// Constant for a mesh in one range. One of several ranges is searched for it.
    pub(crate) fn record(&self, buffer: usize, index: usize) -> CullRecord {
        let Entry { slot, piece, commands } = self.entries.entry(buffer, index);
        let made = self.entries.handle(slot).and_then(|mesh| (self.make)(mesh, piece));
        let fits = |of: u32, record: &CullRecord| {
            of as usize == buffer && record.max_commands(self.entries.pattern()) <= commands
        };
        match made {
            Some((of, record)) if fits(of, &record) => record,
            _ => CullRecord::empty(slot),
        }
    }

    /// Passes the records of a buffer that have changed since a revision to `write`: the index of the first,
    /// and as many as follow each other.
    pub(crate) fn write_changes(
        &self,
        buffer: usize,
        revision: u64,
        mut write: impl FnMut(usize, &[CullRecord]) -> Result<(), GpuError>,
    ) -> Result<(), GpuError> {
        let Changed { ranges, known } = self.entries.changed_since(buffer, revision);
        let mut known = known.into_iter().peekable();
        let mut records = Vec::new();
        for range in ranges {
            for first in range.clone().step_by(Self::MADE_TOGETHER) {
                let indices = first..range.end.min(first + Self::MADE_TOGETHER);
                records.clear();
                records.extend(indices.map(|index| match known.next_if(|(at, _)| *at == index) {
                    Some((_, record)) => *record,
                    None => self.record(buffer, index),
                }));
                write(first, &records)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
