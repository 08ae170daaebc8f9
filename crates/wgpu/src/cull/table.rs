use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::Pod;
use drystone_pool::{MeshHandle, MeshRange, PoolConfig, VertexPool};

use super::bounds::{CullBounds, CullRecord, Pattern};

/// Meshes of a pool that the GPU culls: their boxes, ranges and parts. The caller updates it with the
/// pool; a [`Culler`](crate::Culler) uploads the changes.
///
/// # Cost
/// 84 bytes for each range of a mesh and 24 for each slot. A change touches one block of 64 ranges,
/// which the next frame uploads.
///
/// # Examples
/// ```
/// use drystone_pool::{NullBackend, PoolConfig, VertexPool};
/// use drystone_wgpu::{CullBounds, CullTable};
///
/// let mut pool = VertexPool::<u64, u32>::new(PoolConfig::default())?;
/// let mut table = CullTable::new(pool.config());
/// let mesh = pool.insert(&[1, 2, 3], &[3], 0, &mut NullBackend::default())?;
/// table.set(&pool, mesh, CullBounds::new([0.0; 3], [1.0; 3]));
/// assert!(table.contains(mesh));
///
/// table.remove(mesh);
/// pool.remove(mesh)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CullTable {
    /// Unique among all tables, so that a culler can detect which table's records it has.
    id: u64,
    revision: u64,
    pattern: Pattern,
    buffers: Vec<Records>,
    /// The first piece of each slot's mesh.
    heads: Vec<Link>,
    /// Handle of each slot's mesh.
    owners: Vec<Option<MeshHandle>>,
}

/// The records of one buffer, without gaps.
#[derive(Debug, Default)]
struct Records {
    records: Vec<CullRecord>,
    /// The next piece of the same mesh, for each record.
    next: Vec<Link>,
    /// The table's revision at the last change of each block of records.
    changed: Vec<u64>,
    max_commands: u64,
}

/// Index of a record; [`Link::NONE`] is no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    buffer: u32,
    index: u32,
}

impl Link {
    const NONE: Self = Self { buffer: u32::MAX, index: u32::MAX };
}

impl CullTable {
    /// Number of records that are uploaded together: 5 KiB.
    const BLOCK: usize = 64;

    /// Creates an empty table for the meshes of a pool with this configuration, which must be that of
    /// the pool's buffers ([`PoolBuffers::pool_config`](crate::PoolBuffers::pool_config)).
    pub fn new(config: &PoolConfig) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let pattern = Pattern {
            elements: config.pattern_elements.max(1),
            indices_per_element: config.indices_per_element,
            vertices_per_element: config.vertices_per_element,
        };
        let id = NEXT.fetch_add(1, Relaxed);
        Self {
            id,
            revision: 0,
            pattern,
            buffers: Vec::new(),
            heads: Vec::new(),
            owners: Vec::new(),
        }
    }

    /// Inserts a mesh of the pool, or updates its ranges and its box. Call it after
    /// [`insert`](VertexPool::insert) and [`replace`](VertexPool::replace). Does nothing if the handle
    /// is stale.
    ///
    /// # Cost
    /// Constant for each range. A mesh with one range that stays in its buffer keeps its order.
    pub fn set<V, D>(&mut self, pool: &VertexPool<V, D>, mesh: MeshHandle, bounds: CullBounds)
    where
        V: Pod,
        D: Pod,
    {
        let slot = mesh.slot();
        if pool.data(mesh).is_none() {
            return self.remove(mesh);
        }
        let pieces =
            pool.ranges_of(mesh).map(|MeshRange { buffer, first, part_counts, .. }| {
                (buffer, CullRecord::new(slot, bounds, first, part_counts))
            });
        self.set_pieces(slot, pieces);
        let at = slot as usize;
        if self.owners.len() <= at {
            self.owners.resize(at + 1, None);
        }
        self.owners[at] = Some(mesh);
    }

    /// Removes a mesh. Call it for each mesh that is removed from the pool, before the next frame.
    /// Does nothing if the mesh is not in the table.
    pub fn remove(&mut self, mesh: MeshHandle) {
        if self.contains(mesh) {
            self.owners[mesh.slot() as usize] = None;
            self.remove_pieces(mesh.slot());
        }
    }

    /// Whether a mesh is in the table.
    pub fn contains(&self, mesh: MeshHandle) -> bool {
        self.owners.get(mesh.slot() as usize).is_some_and(|&owner| owner == Some(mesh))
    }

    /// Updates the ranges of the meshes that the pool has just moved. Call it after
    /// [`defragment`](VertexPool::defragment).
    pub fn update_moved<V: Pod, D: Pod>(&mut self, pool: &VertexPool<V, D>) {
        for &mesh in pool.moved() {
            if let Some(bounds) = self.bounds(mesh) {
                self.set(pool, mesh, bounds);
            }
        }
    }

    /// Box of a mesh with elements; `None` if the mesh is not in the table.
    pub fn bounds(&self, mesh: MeshHandle) -> Option<CullBounds> {
        let head = self.heads.get(mesh.slot() as usize).filter(|_| self.contains(mesh))?;
        let records = self.buffers.get(head.buffer as usize)?;
        records.records.get(head.index as usize).map(CullRecord::bounds)
    }

    /// Inserts a piece of a mesh in `buffer`. The record contains its slot.
    pub(crate) fn insert_piece(&mut self, buffer: u32, record: CullRecord) {
        let slot = record.slot as usize;
        if self.heads.len() <= slot {
            self.heads.resize(slot + 1, Link::NONE);
        }
        if self.buffers.len() <= buffer as usize {
            self.buffers.resize_with(buffer as usize + 1, Records::default);
        }
        self.revision += 1;
        let records = &mut self.buffers[buffer as usize];
        let index = records.records.len() as u32;
        records.records.push(record);
        records.next.push(self.heads[slot]);
        records.max_commands += record.max_commands(self.pattern);
        records.touch(index as usize, self.revision);
        self.heads[slot] = Link { buffer, index };
    }

    /// Removes all pieces of a slot's mesh. Does nothing if the slot is empty.
    pub(crate) fn remove_pieces(&mut self, slot: u32) {
        while let Some(&head) = self.heads.get(slot as usize).filter(|&&head| head != Link::NONE) {
            self.heads[slot as usize] =
                self.buffers[head.buffer as usize].next[head.index as usize];
            self.remove_record(head);
        }
    }

    /// Replaces the mesh in `slot` with `pieces`, each with its buffer. All records must contain
    /// `slot`.
    ///
    /// # Cost
    /// A mesh in one piece that stays in its buffer keeps its record's index, and with it the
    /// device's visibility history.
    pub(crate) fn set_pieces(
        &mut self,
        slot: u32,
        mut pieces: impl Iterator<Item = (u32, CullRecord)>,
    ) {
        let firsts = [pieces.next(), pieces.next()];
        if let [Some((buffer, record)), None] = firsts
            && self.overwrite(buffer, record)
        {
            return;
        }
        self.remove_pieces(slot);
        for (buffer, record) in firsts.into_iter().flatten().chain(pieces) {
            self.insert_piece(buffer, record);
        }
    }

    /// Overwrites the record of a mesh that consists of one piece in this buffer. Returns whether
    /// there was such a record.
    fn overwrite(&mut self, buffer: u32, record: CullRecord) -> bool {
        let head = self.heads.get(record.slot as usize).filter(|head| head.buffer == buffer);
        let Some(&Link { index, .. }) = head else { return false };
        let records = &mut self.buffers[buffer as usize];
        if records.next[index as usize] != Link::NONE {
            return false;
        }
        self.revision += 1;
        let old = std::mem::replace(&mut records.records[index as usize], record);
        let [old, new] = [old, record].map(|record| record.max_commands(self.pattern));
        records.max_commands = records.max_commands - old + new;
        records.touch(index as usize, self.revision);
        true
    }

    /// Removes a record that no link refers to. The last record moves to its index.
    fn remove_record(&mut self, Link { buffer, index }: Link) {
        self.revision += 1;
        let records = &mut self.buffers[buffer as usize];
        let last = Link { buffer, index: records.records.len() as u32 - 1 };
        let gone = records.records.swap_remove(index as usize);
        records.next.swap_remove(index as usize);
        records.max_commands -= gone.max_commands(self.pattern);
        records.changed.truncate(records.records.len().div_ceil(Self::BLOCK));
        let Some(moved) = records.records.get(index as usize).copied() else { return };
        records.touch(index as usize, self.revision);
        // The link to the last record must refer to its new index.
        let (mut before, mut link) = (None, self.heads[moved.slot as usize]);
        while link != last {
            before = Some(link);
            link = self.buffers[link.buffer as usize].next[link.index as usize];
        }
        let incoming = match before {
            None => &mut self.heads[moved.slot as usize],
            Some(link) => &mut self.buffers[link.buffer as usize].next[link.index as usize],
        };
        *incoming = Link { buffer, index };
    }
}

/// Reading access for the culler.
impl CullTable {
    pub(crate) const fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Number that is unique among all tables.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// Number that increases with every change.
    pub(crate) const fn revision(&self) -> u64 {
        self.revision
    }

    /// Number of meshes.
    pub fn len(&self) -> usize {
        self.owners.iter().flatten().count()
    }

    /// Whether the table has no meshes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Verifies that the table has exactly the current ranges of its meshes, for tests.
    ///
    /// # Errors
    /// A description of the first difference.
    ///
    /// # Cost
    /// Visits every range.
    pub fn validate<V: Pod, D: Pod>(&self, pool: &VertexPool<V, D>) -> Result<(), &'static str> {
        let mut missing: usize = self.buffers.iter().map(|records| records.records.len()).sum();
        for &mesh in self.owners.iter().flatten() {
            if pool.data(mesh).is_none() {
                return Err("a mesh was removed from the pool and not from the table");
            }
            let Some(bounds) = self.bounds(mesh) else { continue };
            let mut ranges = 0;
            for MeshRange { buffer, first, part_counts, .. } in pool.ranges_of(mesh) {
                let record = CullRecord::new(mesh.slot(), bounds, first, part_counts);
                if !self.records(buffer as usize).contains(&record) {
                    return Err("a mesh has other ranges in the pool than in the table");
                }
                ranges += 1;
            }
            missing = missing.saturating_sub(ranges);
        }
        if missing == 0 { Ok(()) } else { Err("the table has ranges of no mesh") }
    }

    /// Whether the meshes of a buffer end within this number of elements, in slots below this number.
    /// The GPU does not check it.
    ///
    /// # Cost
    /// Some nanoseconds for each mesh.
    pub fn is_within(&self, buffer: usize, elements: u32, slots: u32) -> bool {
        self.records(buffer).iter().all(|record| {
            let end = u64::from(record.first_element) + u64::from(record.ends[5]);
            end <= u64::from(elements) && record.slot < slots && record.ends.is_sorted()
        })
    }

    /// Number of buffers that contain or contained meshes.
    pub fn buffers(&self) -> usize {
        self.buffers.len()
    }

    /// The records of a buffer.
    pub(crate) fn records(&self, buffer: usize) -> &[CullRecord] {
        self.buffers.get(buffer).map_or(&[], |records| &records.records)
    }

    /// Maximum number of commands for a buffer's records.
    pub(crate) fn max_commands(&self, buffer: usize) -> u64 {
        self.buffers.get(buffer).map_or(0, |records| records.max_commands)
    }

    /// The ranges of a buffer's records that contain every change since `revision`.
    pub(crate) fn changed_since(
        &self,
        buffer: usize,
        revision: u64,
    ) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let records = self.buffers.get(buffer);
        let changed = records.map_or(&[][..], |records| &records.changed);
        let len = self.records(buffer).len();
        let mut block = 0;
        std::iter::from_fn(move || {
            let is_new = |changed: &u64| *changed > revision;
            let first = block + changed[block..].iter().position(is_new)?;
            let count = changed[first..].iter().position(|c| !is_new(c));
            block = count.map_or(changed.len(), |count| first + count);
            Some(first * Self::BLOCK..(block * Self::BLOCK).min(len))
        })
    }
}

impl Records {
    /// Marks a record as changed.
    fn touch(&mut self, index: usize, revision: u64) {
        let block = index / CullTable::BLOCK;
        if self.changed.len() <= block {
            self.changed.resize(block + 1, 0);
        }
        self.changed[block] = revision;
    }
}

#[cfg(test)]
mod tests;
