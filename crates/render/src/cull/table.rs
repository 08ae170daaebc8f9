use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use bytemuck::{Pod, Zeroable};
use drystone_mesh::Face;

use crate::{DrawData, PATTERN_QUADS};

/// A mesh, or the piece of one that lies in one place, as compute shaders read it: all
/// that deciding about it and cutting its commands takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CullRecord {
    /// Where the mesh lies: its box.
    pub place: DrawData,
    /// Its first quad in its buffer.
    pub first_quad: u32,
    /// Its slot in the table of per-draw data.
    pub slot: u32,
    /// Where each facing's quads end, counted from the first, in the order of
    /// [`Face::ALL`].
    pub ends: [u32; Face::COUNT],
}

const _: () = assert!(size_of::<CullRecord>() == 52);

impl CullRecord {
    /// A record of a mesh with so many quads a facing.
    pub fn new(slot: u32, place: DrawData, first_quad: u32, counts: [u32; Face::COUNT]) -> Self {
        let mut end: u32 = 0;
        let ends = counts.map(|count| {
            end = end.saturating_add(count);
            end
        });
        Self { place, first_quad, slot, ends }
    }

    /// The most commands that it can become: runs of visible facings have hidden ones
    /// between them, and a run is cut where it is longer than the index pattern.
    pub(crate) fn max_commands(&self) -> u64 {
        let mut last = 0;
        let filled = self.ends.iter().filter(|&&end| std::mem::replace(&mut last, end) < end);
        let runs = filled.count().div_ceil(2) as u64;
        runs + u64::from(last / PATTERN_QUADS)
    }
}

/// The meshes that a device is to decide about, by the buffer that they lie in; kept by
/// who places them, read by the device, which takes over what has changed.
///
/// A slot's mesh may lie in several pieces, in several buffers.
///
/// # Cost
/// 60 bytes a piece and 8 a slot. A change touches one block of 64 records, which the
/// device then reads again.
#[derive(Debug)]
pub struct CullTable {
    /// Told apart from all other tables, so that a device knows whose records it has.
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
    /// The table's revision at which each block of records changed last.
    changed: Vec<u64>,
    max_commands: u64,
}

/// Names a record; [`Link::NONE`] names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    buffer: u32,
    index: u32,
}

impl Link {
    const NONE: Self = Self { buffer: u32::MAX, index: u32::MAX };
}

impl CullTable {
    /// Records that are read again together: 3 KiB.
    const BLOCK: usize = 64;

    /// An empty table.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Relaxed);
        Self { id, revision: 0, buffers: Vec::new(), heads: Vec::new() }
    }

    /// Adds a piece of a mesh that lies in `buffer`; the record names its slot.
    pub fn insert(&mut self, buffer: u32, record: CullRecord) {
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

    /// Removes all pieces of a slot's mesh, if there is one.
    pub fn remove(&mut self, slot: u32) {
        while let Some(&head) = self.heads.get(slot as usize).filter(|&&head| head != Link::NONE) {
            self.heads[slot as usize] =
                self.buffers[head.buffer as usize].next[head.index as usize];
            self.take_out(head);
        }
    }

    /// Whether there is a mesh in a slot.
    pub fn contains(&self, slot: u32) -> bool {
        self.heads.get(slot as usize).is_some_and(|&head| head != Link::NONE)
    }

    /// Makes `pieces`, each with its buffer, the mesh in `slot`, which all of them name,
    /// whatever was there before.
    ///
    /// # Cost
    /// A mesh in one piece that stays in its buffer keeps its record's place, and with it
    /// what the device remembers of it.
    pub fn set(&mut self, slot: u32, mut pieces: impl Iterator<Item = (u32, CullRecord)>) {
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

    /// Overwrites the record of a mesh that lies in one piece, in this buffer; says whether
    /// there was one.
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

    /// Removes every mesh.
    pub fn clear(&mut self) {
        self.revision += 1;
        self.heads.clear();
        self.buffers.clear();
    }

    /// Takes a record out that no link leads to any more; the last one takes its place.
    fn take_out(&mut self, Link { buffer, index }: Link) {
        self.revision += 1;
        let records = &mut self.buffers[buffer as usize];
        let last = Link { buffer, index: records.records.len() as u32 - 1 };
        let gone = records.records.swap_remove(index as usize);
        records.next.swap_remove(index as usize);
        records.max_commands -= gone.max_commands();
        records.changed.truncate(records.records.len().div_ceil(Self::BLOCK));
        let Some(moved) = records.records.get(index as usize).copied() else { return };
        records.touch(index as usize, self.revision);
        // Whatever led to the last record leads to its new place.
        let (mut before, mut link) = (None, self.heads[moved.slot as usize]);
        while link != last {
            before = Some(link);
            link = self.buffers[link.buffer as usize].next[link.index as usize];
        }
        let leads = match before {
            None => &mut self.heads[moved.slot as usize],
            Some(link) => &mut self.buffers[link.buffer as usize].next[link.index as usize],
        };
        *leads = Link { buffer, index };
    }

    /// Told apart from all other tables.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// Rises with every change.
    pub(crate) const fn revision(&self) -> u64 {
        self.revision
    }

    /// Buffers that hold or held meshes.
    pub(crate) fn buffers(&self) -> usize {
        self.buffers.len()
    }

    /// The records of a buffer.
    pub(crate) fn records(&self, buffer: usize) -> &[CullRecord] {
        self.buffers.get(buffer).map_or(&[], |records| &records.records)
    }

    /// The most commands that a buffer's records can become.
    pub(crate) fn max_commands(&self, buffer: usize) -> u64 {
        self.buffers.get(buffer).map_or(0, |records| records.max_commands)
    }

    /// The stretches of a buffer's records that hold every change since `revision`.
    pub(crate) fn changed_since(
        &self,
        buffer: usize,
        revision: u64,
    ) -> impl Iterator<Item = Range<usize>> + '_ {
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
    /// Notes that a record has changed.
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
