//! The order of a table's records, and the latest changes of them.

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use drystone_pool::{MeshHandle, PoolConfig};

use super::super::bounds::{CullRecord, Pattern};

/// For each buffer of a pool the slots of its records, and for each slot the records of its mesh.
#[derive(Debug)]
pub(crate) struct Entries {
    /// Unique among all tables, so that a culler can detect which table's records it has.
    id: u64,
    pattern: Pattern,
    buffers: Vec<Records>,
    /// The mesh of each slot. Of a million meshes, none is in a cache: a change that moves no record
    /// reads and writes only this entry.
    members: Vec<Member>,
    /// The other pieces of split meshes, by slot, in the mesh's order. No list is empty.
    splits: HashMap<u32, Vec<Piece>>,
    /// Id of the pool.
    pool: u32,
}

/// The mesh of a slot.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// The first piece; [`Piece::NONE`] for a mesh without elements.
    first: Piece,
    /// Generation in the mesh's handle, 0 without a mesh.
    generation: u32,
}

const _: () = assert!(size_of::<Member>() == 16);

impl Member {
    const NONE: Self = Self { first: Piece::NONE, generation: 0 };
}

/// A contiguous piece of a mesh, which has one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    buffer: u32,
    /// Index of the record among those of the buffer.
    index: u32,
    /// Maximum number of commands for the record.
    commands: u32,
}

impl Piece {
    const NONE: Self = Self { buffer: u32::MAX, index: u32::MAX, commands: 0 };

    const fn is_at(&self, buffer: u32, index: u32) -> bool {
        self.buffer == buffer && self.index == index
    }
}

/// A record, by the mesh that it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) slot: u32,
    /// Number of the mesh's pieces before this one.
    pub(crate) piece: usize,
    /// Maximum number of commands for the record, as counted at its last change.
    pub(crate) commands: u32,
}

/// The records of one buffer, without gaps.
#[derive(Debug, Default)]
struct Records {
    /// Slot of each record's mesh.
    slots: Vec<u32>,
    /// Number of changes of records so far.
    revision: u64,
    /// The latest changes, oldest first. At most [`Self::LATEST`], and about as many as records.
    latest: VecDeque<Change>,
    /// Revision at the last change of each block of records.
    changed: Vec<u64>,
    max_commands: u64,
}

/// Change of a record.
#[derive(Clone, Copy, Debug)]
struct Change {
    index: u32,
    /// The new content; `None` for a record that has moved to this index. Of a changed mesh nothing is in a
    /// cache, so its record would cost more to make again.
    record: Option<CullRecord>,
}

/// The records of a buffer that have changed since a revision.
#[derive(Debug, Default)]
pub(crate) struct Changed<'a> {
    /// Ranges of records, in order. No two of them touch.
    pub(crate) ranges: Vec<Range<usize>>,
    /// Known records among them, in order of their indices.
    pub(crate) known: Vec<(usize, &'a CullRecord)>,
}

impl Entries {
    pub(crate) fn new(config: &PoolConfig) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let pattern = Pattern {
            elements: config.pattern_elements.max(1),
            indices_per_element: config.indices_per_element,
            vertices_per_element: config.vertices_per_element,
        };
        Self {
            id: NEXT.fetch_add(1, Relaxed),
            pattern,
            buffers: Vec::new(),
            members: Vec::new(),
            splits: HashMap::new(),
            pool: 0,
        }
    }

    /// Inserts or changes a mesh: the buffer and the record of each piece. A mesh of another pool replaces all
    /// meshes.
    pub(crate) fn set(
        &mut self,
        mesh: MeshHandle,
        pieces: impl Iterator<Item = (u32, CullRecord)>,
    ) {
        let (generation, pool) = generation(mesh);
        if self.pool != pool {
            self.clear();
            self.pool = pool;
        }
        self.set_pieces(mesh.slot(), pieces);
        self.member_mut(mesh.slot()).generation = generation;
    }

    /// Removes a mesh. Does nothing if it is not in the table.
    pub(crate) fn remove(&mut self, mesh: MeshHandle) {
        if self.contains(mesh) {
            self.member_mut(mesh.slot()).generation = 0;
            self.remove_pieces(mesh.slot());
        }
    }

    fn clear(&mut self) {
        for slot in 0..self.members.len() {
            self.remove_pieces(slot as u32);
        }
        self.members.clear();
    }

    pub(crate) fn contains(&self, mesh: MeshHandle) -> bool {
        let (generation, pool) = generation(mesh);
        self.pool == pool && self.member(mesh.slot()).generation == generation
    }

    /// Handle of the mesh in a slot.
    pub(crate) fn handle(&self, slot: u32) -> Option<MeshHandle> {
        let generation = u64::from(self.member(slot).generation);
        MeshHandle::from_bits((generation << 32 | u64::from(slot), self.pool))
    }

    /// Iterates over all meshes, in slot order.
    pub(crate) fn meshes(&self) -> impl Iterator<Item = MeshHandle> + '_ {
        (0..self.members.len() as u32).filter_map(|slot| self.handle(slot))
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

    /// Appends a piece to the mesh of a slot.
    fn insert_piece(&mut self, slot: u32, (buffer, record): (u32, CullRecord)) {
        if self.buffers.len() <= buffer as usize {
            self.buffers.resize_with(buffer as usize + 1, Records::default);
        }
        let commands = record.max_commands(self.pattern);
        let records = &mut self.buffers[buffer as usize];
        let index = records.slots.len() as u32;
        records.slots.push(slot);
        records.max_commands += u64::from(commands);
        records.touch(Change { index, record: Some(record) });
        let piece = Piece { buffer, index, commands };
        match &mut self.member_mut(slot).first {
            first if *first == Piece::NONE => *first = piece,
            _ => self.splits.entry(slot).or_default().push(piece),
        }
    }

    /// Removes all pieces of a slot's mesh. Does nothing if the slot is empty.
    fn remove_pieces(&mut self, slot: u32) {
        // One by one from the table, because removing a record can move another one of the mesh.
        while let Some(piece) = self.last_piece(slot) {
            match self.splits.get_mut(&slot) {
                Some(others) if others.len() > 1 => drop(others.pop()),
                Some(_) => drop(self.splits.remove(&slot)),
                None => self.member_mut(slot).first = Piece::NONE,
            }
            self.remove_record(piece);
        }
    }

    fn last_piece(&self, slot: u32) -> Option<Piece> {
        let other = self.splits.get(&slot).and_then(|others| others.last());
        let first = || Some(self.member(slot).first).filter(|&first| first != Piece::NONE);
        other.copied().or_else(first)
    }

    /// The pieces of a slot's mesh, in its order.
    fn pieces_of(&self, slot: u32) -> impl Iterator<Item = Piece> + '_ {
        let first = Some(self.member(slot).first).filter(|&first| first != Piece::NONE);
        let others = self.splits.get(&slot).into_iter().flatten();
        first.into_iter().chain(others.copied())
    }

    /// The buffer and the maximum number of commands of each piece of a slot's mesh, in its order.
    pub(crate) fn pieces(&self, slot: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.pieces_of(slot).map(|Piece { buffer, commands, .. }| (buffer, commands))
    }

    /// Replaces the mesh in a slot by one of `pieces`.
    ///
    /// # Cost
    /// A mesh in one piece that stays in its buffer keeps its record's index, and with it the
    /// device's visibility history.
    fn set_pieces(&mut self, slot: u32, mut pieces: impl Iterator<Item = (u32, CullRecord)>) {
        let firsts = [pieces.next(), pieces.next()];
        if let [Some(piece), None] = firsts
            && self.overwrite(slot, piece)
        {
            return;
        }
        self.remove_pieces(slot);
        for piece in firsts.into_iter().flatten().chain(pieces) {
            self.insert_piece(slot, piece);
        }
    }

    /// Changes the record of a mesh that consists of one piece in this buffer. Returns whether there was
    /// such a record.
    fn overwrite(&mut self, slot: u32, (buffer, record): (u32, CullRecord)) -> bool {
        let is_split = || self.splits.contains_key(&slot);
        if self.member(slot).first.buffer != buffer || is_split() {
            return false;
        }
        let commands = record.max_commands(self.pattern);
        let piece = &mut self.members[slot as usize].first;
        let old = std::mem::replace(&mut piece.commands, commands);
        let records = &mut self.buffers[buffer as usize];
        records.max_commands = records.max_commands - u64::from(old) + u64::from(commands);
        records.touch(Change { index: piece.index, record: Some(record) });
        true
    }

    /// Removes a record that no piece refers to. The last record moves to its index.
    fn remove_record(&mut self, Piece { buffer, index, commands }: Piece) {
        let records = &mut self.buffers[buffer as usize];
        let last = records.slots.len() as u32 - 1;
        records.slots.swap_remove(index as usize);
        records.max_commands -= u64::from(commands);
        records.changed.truncate(records.slots.len().div_ceil(Records::BLOCK));
        let Some(&slot) = records.slots.get(index as usize) else { return };
        records.touch(Change { index, record: None });
        // The piece of the last record must refer to its new index.
        let others = self.splits.get_mut(&slot).into_iter().flatten();
        let mut pieces = others.chain([&mut self.members[slot as usize].first]);
        if let Some(moved) = pieces.find(|piece| piece.is_at(buffer, last)) {
            moved.index = index;
        }
    }
}

/// Generation in a mesh's handle, which is never 0, and the id of its pool.
const fn generation(mesh: MeshHandle) -> (u32, u32) {
    let (key, pool) = mesh.to_bits();
    ((key >> 32) as u32, pool)
}

/// Reading access.
impl Entries {
    pub(crate) const fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Number that is unique among all tables.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// Id of the pool, if the table has meshes.
    pub(crate) fn pool(&self) -> Option<u32> {
        let has_records = |records: &Records| !records.slots.is_empty();
        self.buffers.iter().any(has_records).then_some(self.pool)
    }

    /// Number of meshes.
    pub(crate) fn len(&self) -> usize {
        self.members.iter().filter(|member| member.generation != 0).count()
    }

    /// Number of buffers that contain or contained meshes.
    pub(crate) const fn buffers(&self) -> usize {
        self.buffers.len()
    }

    /// Number of records of a buffer.
    pub(crate) fn records(&self, buffer: usize) -> usize {
        self.buffers.get(buffer).map_or(0, |records| records.slots.len())
    }

    /// A record of a buffer.
    ///
    /// # Panics
    /// If there is no record with this index.
    pub(crate) fn entry(&self, buffer: usize, index: usize) -> Entry {
        let slot = self.buffers[buffer].slots[index];
        let is_here = |(_, piece): &(_, Piece)| piece.is_at(buffer as u32, index as u32);
        let found = self.pieces_of(slot).enumerate().find(is_here);
        debug_assert!(found.is_some(), "each record is of a piece");
        let (piece, Piece { commands, .. }) = found.unwrap_or((0, Piece::NONE));
        Entry { slot, piece, commands }
    }

    /// Number that increases with every change of a buffer's records. Removing the last record is none.
    pub(crate) fn revision(&self, buffer: usize) -> u64 {
        self.buffers.get(buffer).map_or(0, |records| records.revision)
    }

    /// Maximum number of commands for a buffer's records.
    pub(crate) fn max_commands(&self, buffer: usize) -> u64 {
        self.buffers.get(buffer).map_or(0, |records| records.max_commands)
    }

    /// The records of a buffer that contain every change since its `revision`.
    pub(crate) fn changed_since(&self, buffer: usize, revision: u64) -> Changed<'_> {
        let records = self.buffers.get(buffer);
        records.map_or_else(Changed::default, |records| records.changed_since(revision))
    }
}

impl Records {
    /// Maximum number of changes that are stored: 84 KiB. Tests reach a small one.
    const LATEST: usize = if cfg!(test) { 16 } else { 1024 };
    /// Number of changes that a buffer with few records stores.
    const LEAST: usize = 16;
    /// Number of records that are uploaded together if more have changed: 5 KiB.
    const BLOCK: usize = 64;

    /// Notes a change of a record.
    fn touch(&mut self, change: Change) {
        self.revision += 1;
        // More changes than records would take more than all records.
        let limit = self.slots.len().clamp(Self::LEAST, Self::LATEST);
        while self.latest.len() >= limit {
            self.latest.pop_front();
        }
        self.latest.push_back(change);
        let block = change.index as usize / Self::BLOCK;
        if self.changed.len() <= block {
            self.changed.resize(block + 1, 0);
        }
        self.changed[block] = self.revision;
    }

    /// See [`Entries::changed_since`].
    fn changed_since(&self, revision: u64) -> Changed<'_> {
        let len = self.slots.len();
        let count = self.revision - revision;
        if count > self.latest.len() as u64 {
            let blocks = (0..).zip(&self.changed).filter(|(_, changed)| **changed > revision);
            let ranges = joined(blocks.map(|(block, _)| {
                let first = block * Self::BLOCK;
                first..(first + Self::BLOCK).min(len)
            }));
            return Changed { ranges, known: Vec::new() };
        }
        // Newest first, so that the last change of a record remains.
        let latest = self.latest.iter().rev().take(count as usize);
        let mut changes: Vec<_> = latest
            .map(|change| (change.index as usize, &change.record))
            .filter(|(index, _)| *index < len)
            .collect();
        changes.sort_by_key(|(index, _)| *index);
        changes.dedup_by_key(|(index, _)| *index);
        let ranges = joined(changes.iter().map(|&(index, _)| index..index + 1));
        let known = changes.into_iter().filter_map(|(at, record)| Some((at, record.as_ref()?)));
        Changed { ranges, known: known.collect() }
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
