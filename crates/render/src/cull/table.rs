use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::{Pod, Zeroable};
use drystone_mesh::Face;

use crate::{buffers::PATTERN_QUADS, draw_data::DrawData};

/// A mesh, or one contiguous piece of it, as compute shaders read it. Contains everything needed to
/// cull it and to make its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CullRecord {
    /// Lowest corner of the mesh's box, in units.
    pub(crate) origin: [i32; 3],
    /// Level of detail.
    pub(crate) level: u32,
    /// Side of the mesh's box, in units.
    pub(crate) extent: u32,
    /// First quad in its buffer.
    pub(crate) first_quad: u32,
    /// Slot in the table of per-draw data.
    pub(crate) slot: u32,
    /// End of each face direction's quads, relative to the first quad, in the order of
    /// [`Face::ALL`].
    pub(crate) ends: [u32; Face::COUNT],
}

const _: () = assert!(size_of::<CullRecord>() == 52);

impl CullRecord {
    /// Creates a record of a mesh with these numbers of quads for each face direction.
    pub(crate) fn new(
        slot: u32,
        draw_data: DrawData,
        first_quad: u32,
        counts: [u32; Face::COUNT],
    ) -> Self {
        let mut end: u32 = 0;
        let ends = counts.map(|count| {
            end = end.saturating_add(count);
            end
        });
        let DrawData { origin, level, extent, .. } = draw_data;
        Self { origin, level, extent, first_quad, slot, ends }
    }

    /// Maximum number of commands for the record. Runs of visible face directions are separated by
    /// hidden ones, and a run longer than the index pattern is split.
    pub(crate) fn max_commands(&self) -> u64 {
        let mut last = 0;
        let filled = self.ends.iter().filter(|&&end| std::mem::replace(&mut last, end) < end);
        let runs = filled.count().div_ceil(2) as u64;
        runs + u64::from(last / PATTERN_QUADS)
    }
}

/// The meshes that a device culls, grouped by buffer. The renderer that allocates the meshes
/// maintains it; the device reads the changes.
///
/// A slot's mesh can consist of several pieces, in several buffers.
///
/// # Cost
/// 60 bytes for each piece and 8 for each slot. A change touches one block of 64 records, which the
/// device then reads again.
#[derive(Debug)]
pub(crate) struct CullTable {
    /// Unique among all tables, so that a device can detect which table's records it has.
    #[cfg_attr(not(any(feature = "wgpu", test)), expect(dead_code))]
    id: u64,
    revision: u64,
    buffers: Vec<Records>,
    /// The first piece of each slot's mesh.
    heads: Vec<Link>,
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
    /// Number of records that are uploaded together: 3 KiB.
    const BLOCK: usize = 64;

    /// Creates an empty table.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Relaxed);
        Self { id, revision: 0, buffers: Vec::new(), heads: Vec::new() }
    }

    /// Inserts a piece of a mesh in `buffer`. The record contains its slot.
    pub(crate) fn insert(&mut self, buffer: u32, record: CullRecord) {
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
        records.max_commands += record.max_commands();
        records.touch(index as usize, self.revision);
        self.heads[slot] = Link { buffer, index };
    }

    /// Removes all pieces of a slot's mesh. Does nothing if the slot is empty.
    pub(crate) fn remove(&mut self, slot: u32) {
        while let Some(&head) = self.heads.get(slot as usize).filter(|&&head| head != Link::NONE) {
            self.heads[slot as usize] =
                self.buffers[head.buffer as usize].next[head.index as usize];
            self.remove_record(head);
        }
    }

    /// Whether a slot has a mesh.
    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.heads.get(slot as usize).is_some_and(|&head| head != Link::NONE)
    }

    /// Replaces the mesh in `slot` with `pieces`, each with its buffer. All records must contain
    /// `slot`.
    ///
    /// # Cost
    /// A mesh in one piece that stays in its buffer keeps its record's index, and with it the
    /// device's visibility history.
    pub(crate) fn set(&mut self, slot: u32, mut pieces: impl Iterator<Item = (u32, CullRecord)>) {
        let firsts = [pieces.next(), pieces.next()];
        if let [Some((buffer, record)), None] = firsts
            && self.overwrite(buffer, record)
        {
            return;
        }
        self.remove(slot);
        for (buffer, record) in firsts.into_iter().flatten().chain(pieces) {
            self.insert(buffer, record);
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
        records.max_commands = records.max_commands - old.max_commands() + record.max_commands();
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
        records.max_commands -= gone.max_commands();
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

/// Reading access for devices that cull.
#[cfg(any(feature = "wgpu", test))]
impl CullTable {
    /// Number that is unique among all tables.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// Number that increases with every change.
    pub(crate) const fn revision(&self) -> u64 {
        self.revision
    }

    /// Number of buffers that contain or contained meshes.
    pub(crate) fn buffers(&self) -> usize {
        self.buffers.len()
    }

    /// The records of a buffer.
    pub(crate) fn records(&self, buffer: usize) -> &[CullRecord] {
        self.buffers.get(buffer).map_or(&[], |records| &records.records)
    }

    /// Maximum number of commands for a buffer's records.
    #[cfg(feature = "wgpu")]
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

impl Default for CullTable {
    fn default() -> Self {
        Self::new()
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
