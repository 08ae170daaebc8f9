use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use bytemuck::Pod;
use drystone_pool::{MeshHandle, MeshRange, PoolConfig, VertexPool};

use super::bounds::{CullBounds, CullRecord, Pattern};

/// Meshes of one pool that the GPU culls: their boxes, ranges and parts. The caller updates it with the
/// pool; a [`Culler`](crate::Culler) uploads the changes.
///
/// # Cost
/// 76 bytes for each range of a mesh, 12 for each slot, and up to 16 KiB for each buffer of the pool. A mesh
/// of several ranges takes some 60 bytes more. The next frame uploads the ranges that have changed. After more than
/// 4,096 changes in a buffer, it uploads the blocks of 64 ranges that contain a change.
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
    pattern: Pattern,
    buffers: Vec<Records>,
    /// The mesh of each slot. Head and generation are read together: of a million meshes, none is in a cache.
    members: Vec<Member>,
    /// The other pieces of split meshes, by slot. No list is empty.
    splits: HashMap<u32, Vec<Link>>,
    /// Id of the pool.
    pool: u32,
}

/// The mesh of a slot.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// The first piece.
    head: Link,
    /// Generation in the mesh's handle, 0 without a mesh.
    generation: u32,
}

impl Member {
    const NONE: Self = Self { head: Link::NONE, generation: 0 };
}

/// The records of one buffer, without gaps.
#[derive(Debug, Default)]
struct Records {
    records: Vec<CullRecord>,
    /// Number of writes of records so far.
    revision: u64,
    /// Indices of the latest changes, oldest first. At most [`Self::LATEST`].
    latest: VecDeque<u32>,
    /// Revision at the last change of each block of records.
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
            pattern,
            buffers: Vec::new(),
            members: Vec::new(),
            splits: HashMap::new(),
            pool: 0,
        }
    }

    /// Inserts a mesh of the pool, or updates its ranges and its box. Call it after
    /// [`insert`](VertexPool::insert) and [`replace`](VertexPool::replace). Does nothing if the handle
    /// is stale. A mesh of another pool replaces all meshes of the table.
    ///
    /// # Cost
    /// Constant for each range. A mesh with one range that stays in its buffer keeps its order. A mesh of
    /// another pool costs a removal for each mesh of the table.
    pub fn set<V, D>(&mut self, pool: &VertexPool<V, D>, mesh: MeshHandle, bounds: CullBounds)
    where
        V: Pod,
        D: Pod,
    {
        let slot = mesh.slot();
        if pool.data(mesh).is_none() {
            return self.remove(mesh);
        }
        let (generation, pool_id) = generation(mesh);
        if self.pool != pool_id {
            self.clear();
            self.pool = pool_id;
        }
        let pieces =
            pool.ranges_of(mesh).map(|MeshRange { buffer, first, part_counts, .. }| {
                (buffer, CullRecord::new(slot, bounds, first, part_counts))
            });
        self.set_pieces(slot, pieces);
        self.member_mut(slot).generation = generation;
    }

    /// Removes a mesh. Call it for each mesh that is removed from the pool, before the next frame.
    /// Does nothing if the mesh is not in the table.
    pub fn remove(&mut self, mesh: MeshHandle) {
        if self.contains(mesh) {
            self.member_mut(mesh.slot()).generation = 0;
            self.remove_pieces(mesh.slot());
        }
    }

    /// Removes all meshes.
    fn clear(&mut self) {
        for slot in 0..self.members.len() {
            self.remove_pieces(slot as u32);
        }
        self.members.clear();
    }

    /// Whether a mesh is in the table.
    pub fn contains(&self, mesh: MeshHandle) -> bool {
        let (generation, pool) = generation(mesh);
        self.pool == pool && self.member(mesh.slot()).generation == generation
    }

    fn member(&self, slot: u32) -> Member {
        self.members.get(slot as usize).copied().unwrap_or(Member::NONE)
    }

    fn member_mut(&mut self, slot: u32) -> &mut Member {
        let slot = slot as usize;
        if self.members.len() <= slot {
            self.members.resize(slot + 1, Member::NONE);
        }
        &mut self.members[slot]
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
        if !self.contains(mesh) {
            return None;
        }
        let Member { head, .. } = self.member(mesh.slot());
        let records = self.buffers.get(head.buffer as usize)?;
        records.records.get(head.index as usize).map(CullRecord::bounds)
    }

    /// Inserts a piece of a mesh in `buffer`. The record contains its slot.
    pub(crate) fn insert_piece(&mut self, buffer: u32, record: CullRecord) {
        if self.buffers.len() <= buffer as usize {
            self.buffers.resize_with(buffer as usize + 1, Records::default);
        }
        let records = &mut self.buffers[buffer as usize];
        let index = records.records.len() as u32;
        records.records.push(record);
        records.max_commands += record.max_commands(self.pattern);
        records.touch(index as usize);
        let link = Link { buffer, index };
        match &mut self.member_mut(record.slot).head {
            head if *head == Link::NONE => *head = link,
            _ => self.splits.entry(record.slot).or_default().push(link),
        }
    }

    /// Removes all pieces of a slot's mesh. Does nothing if the slot is empty.
    pub(crate) fn remove_pieces(&mut self, slot: u32) {
        // One by one from the table, because removing a record can move another one of the mesh.
        while let Some(link) = self.last_piece(slot) {
            match self.splits.get_mut(&slot) {
                Some(others) if others.len() > 1 => drop(others.pop()),
                Some(_) => drop(self.splits.remove(&slot)),
                None => self.member_mut(slot).head = Link::NONE,
            }
            self.remove_record(link);
        }
    }

    /// The piece of a slot's mesh that was inserted last.
    fn last_piece(&self, slot: u32) -> Option<Link> {
        let other = self.splits.get(&slot).and_then(|others| others.last());
        let head = || Some(self.member(slot).head).filter(|&head| head != Link::NONE);
        other.copied().or_else(head)
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
        let Link { buffer: old_buffer, index } = self.member(record.slot).head;
        if old_buffer != buffer || self.splits.contains_key(&record.slot) {
            return false;
        }
        let records = &mut self.buffers[buffer as usize];
        let old = std::mem::replace(&mut records.records[index as usize], record);
        let [old, new] = [old, record].map(|record| record.max_commands(self.pattern));
        records.max_commands = records.max_commands - old + new;
        records.touch(index as usize);
        true
    }

    /// Removes a record that no link refers to. The last record moves to its index.
    fn remove_record(&mut self, link: Link) {
        let at = link.index as usize;
        let records = &mut self.buffers[link.buffer as usize];
        let last = Link { index: records.records.len() as u32 - 1, ..link };
        let gone = records.records.swap_remove(at);
        records.max_commands -= gone.max_commands(self.pattern);
        records.changed.truncate(records.records.len().div_ceil(Records::BLOCK));
        let Some(&CullRecord { slot, .. }) = records.records.get(at) else { return };
        records.touch(at);
        // The link to the last record must refer to its new index.
        let others = self.splits.get_mut(&slot).into_iter().flatten();
        let mut links = others.chain([&mut self.members[slot as usize].head]);
        if let Some(moved) = links.find(|it| **it == last) {
            *moved = link;
        }
    }
}

/// Generation in a mesh's handle, which is never 0, and the id of its pool.
const fn generation(mesh: MeshHandle) -> (u32, u32) {
    let (key, pool) = mesh.to_bits();
    ((key >> 32) as u32, pool)
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

    /// Number that increases with every write of a buffer's records. Removing the last record is none.
    pub(crate) fn revision(&self, buffer: usize) -> u64 {
        self.buffers.get(buffer).map_or(0, |records| records.revision)
    }

    /// Number of meshes.
    pub fn len(&self) -> usize {
        self.members.iter().filter(|member| member.generation != 0).count()
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
        for mesh in self.meshes() {
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

    fn meshes(&self) -> impl Iterator<Item = MeshHandle> + '_ {
        (0_u64..).zip(&self.members).filter_map(|(slot, &Member { generation, .. })| {
            MeshHandle::from_bits((u64::from(generation) << 32 | slot, self.pool))
        })
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

    /// The ranges of a buffer's records that contain every change since its `revision`: in order, and
    /// none touches the next.
    pub(crate) fn changed_since(&self, buffer: usize, revision: u64) -> Vec<Range<usize>> {
        self.buffers.get(buffer).map_or_else(Vec::new, |records| records.changed_since(revision))
    }
}

impl Records {
    /// Maximum number of changes whose indices are stored. Tests reach a small one.
    const LATEST: usize = if cfg!(test) { 16 } else { 4096 };
    /// Number of records that are uploaded together if more have changed: 5 KiB.
    const BLOCK: usize = 64;

    /// Marks a record as changed.
    fn touch(&mut self, index: usize) {
        self.revision += 1;
        if self.latest.len() == Self::LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back(index as u32);
        let block = index / Self::BLOCK;
        if self.changed.len() <= block {
            self.changed.resize(block + 1, 0);
        }
        self.changed[block] = self.revision;
    }

    /// See [`CullTable::changed_since`].
    fn changed_since(&self, revision: u64) -> Vec<Range<usize>> {
        let len = self.records.len();
        let count = self.revision - revision;
        if count > self.latest.len() as u64 {
            let blocks = (0..).zip(&self.changed).filter(|(_, changed)| **changed > revision);
            return joined(blocks.map(|(block, _)| {
                let first = block * Self::BLOCK;
                first..(first + Self::BLOCK).min(len)
            }));
        }
        let latest = self.latest.iter().rev().take(count as usize).map(|&index| index as usize);
        let mut indices: Vec<usize> = latest.filter(|&index| index < len).collect();
        indices.sort_unstable();
        indices.dedup();
        joined(indices.into_iter().map(|index| index..index + 1))
    }
}

/// Joins ranges that touch. They must be in order and not overlap.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => all.push(range),
        }
    }
    all
}

#[cfg(test)]
mod tests;
