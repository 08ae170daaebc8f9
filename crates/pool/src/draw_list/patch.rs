use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::{
    MeshKey,
    members::{ListState, Members},
    output::Output,
};
use crate::{DrawCommand, MeshHandle, PartSet, VertexPool, part_runs::RunTable};

/// Updates commands if few meshes have changed since they were built.
///
/// ```text
///  changed slots       3 ───────── 8            the pool's last changes
///  commands      5 5 1 3 3 3 2 2 7 8 8 4 4      found in one pass over the commands
///                ╰─┬─╯ 3 3 ╰──┬──╯ 8 8 8 ╰┬╯
///                 copied     copied     copied
/// ```
/// The caller must rebuild all commands if the position of new commands is uncertain. Examples: a
/// mesh is split over several buffers. In a list sorted over all buffers, a mesh moved to another
/// buffer, or had no commands before.
///
/// # Cost
/// A few nanoseconds per command, instead of a table lookup per mesh of the pool.
#[derive(Debug, Default)]
pub(super) struct Patcher {
    changed: Vec<Changed>,
    made: Vec<DrawCommand>,
    patches: Vec<Patch>,
    /// Number of successful patches.
    #[cfg(test)]
    pub(super) count: u32,
}

/// Slot whose mesh has changed.
#[derive(Debug)]
struct Changed {
    slot: u32,
    old: Option<Old>,
    /// Mesh and visible parts of the slot at the mask.
    masked: Option<(MeshKey, PartSet)>,
}

/// Current content of a slot.
enum Current {
    /// Removed from this list.
    Removed,
    /// Mesh that did not pass the mask.
    Hidden,
    Shown(MeshKey, PartSet, Inserted),
}

/// Time at which a mesh was inserted in the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inserted {
    BeforeMask,
    AfterMask,
    /// After the commands were built.
    AfterBuild,
}

impl Changed {
    fn now<V: Pod, D: Pod>(
        &self,
        members: &Members,
        pool: &VertexPool<V, D>,
        state: BuildState,
    ) -> Current {
        let Some((key, at)) = members.at(self.slot).filter(|&(key, _)| pool.has(key)) else {
            return Current::Removed;
        };
        if at > state.masked.revision {
            let inserted =
                if at > state.built.revision { Inserted::AfterBuild } else { Inserted::AfterMask };
            return Current::Shown(key, PartSet::ALL, inserted);
        }
        match self.masked.filter(|&(masked, _)| masked == key) {
            Some((_, parts)) => Current::Shown(key, parts, Inserted::BeforeMask),
            None => Current::Hidden,
        }
    }
}

/// Position of the commands of a slot.
#[derive(Clone, Debug)]
struct Old {
    run: usize,
    commands: Range<usize>,
}

/// Replacement of commands `at` of a run by commands `made`.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub(super) run: usize,
    pub(super) at: Range<usize>,
    pub(super) made: Range<usize>,
    /// Order of several patches at one position.
    rank: u32,
}

impl Patch {
    /// Replaces the commands of a slot.
    const fn replacing(of: Old, made: Range<usize>) -> Self {
        Self { run: of.run, at: of.commands, made, rank: LAST }
    }

    /// Inserts before command `at` of a run.
    const fn before(run: usize, at: usize, rank: u32) -> Self {
        Self { run, at: at..at, made: 0..0, rank }
    }
}

/// Rank of meshes inserted since the mask.
const LAST: u32 = u32::MAX;

/// States of the list from which commands were built, and their grouping.
#[derive(Clone, Copy)]
pub(super) struct BuildState {
    pub(super) masked: ListState,
    pub(super) built: ListState,
    /// Whether all commands are sorted over all buffers.
    pub(super) is_in_order: bool,
}

impl Patcher {
    pub(super) const fn new() -> Self {
        Self {
            changed: Vec::new(),
            made: Vec::new(),
            patches: Vec::new(),
            #[cfg(test)]
            count: 0,
        }
    }

    /// Patches the commands in `output` for the changes of `slots`. Returns `None` if the correct
    /// commands are uncertain; `output` is then invalid and must be rebuilt.
    pub(super) fn patch<V: Pod, D: Pod>(
        &mut self,
        output: &mut Output,
        (members, pool): (&Members, &VertexPool<V, D>),
        slots: impl Iterator<Item = u32>,
        (masks, ranks): (impl Iterator<Item = (MeshKey, PartSet)>, &[u32]),
        state: BuildState,
        table: &mut RunTable,
    ) -> Option<()> {
        self.collect(slots);
        self.find_commands(output)?;
        self.find_masks(masks);
        self.made.clear();
        self.patches.clear();
        // Each inserted mesh is one change of the list.
        let (mut insertions, mut has_insertion, mut is_reused) = (0, false, false);
        for index in 0..self.changed.len() {
            let now = self.changed[index].now(members, pool, state);
            let Changed { slot, ref mut old, .. } = self.changed[index];
            let mut old = old.take();
            let (key, parts, inserted) = match now {
                Current::Hidden if old.is_none() => continue,
                Current::Hidden => return None,
                Current::Removed => {
                    self.remove_commands(output, slot, old);
                    continue;
                }
                Current::Shown(key, parts, inserted) => (key, parts, inserted),
            };
            let (made, buffer) = self.make(pool, pool.handle(key), parts, table)?;
            if inserted == Inserted::AfterBuild {
                is_reused |= old.is_some();
                self.remove_commands(output, slot, old.take());
                output.drawn.insert(slot);
                insertions += 1;
            }
            if let Some(old) = old {
                if buffer.is_none_or(|buffer| output.runs[old.run].buffer == buffer) {
                    self.patches.push(Patch::replacing(old, made));
                    continue;
                }
                self.patches.push(Patch::replacing(old, 0..0));
            }
            let Some(buffer) = buffer else { continue };
            let at = match inserted {
                Inserted::BeforeMask => insert_at(output, buffer, slot, (members, ranks), state)?,
                Inserted::AfterMask | Inserted::AfterBuild => {
                    append_at(output, buffer, slot, members, state)?
                }
            };
            has_insertion |= inserted == Inserted::BeforeMask;
            self.patches.push(Patch { made, ..at });
        }
        // A masked mesh whose slot was reused would be sorted among the inserted meshes.
        if has_insertion && is_reused {
            return None;
        }
        if members.state().revision != state.built.revision + insertions {
            return None;
        }
        let position = |it: &Patch| (it.run, it.at.start, it.at.end, it.rank, it.made.start);
        self.patches.sort_unstable_by_key(position);
        let is_patched = output.apply(&self.patches, &self.made);
        #[cfg(test)]
        (self.count += u32::from(is_patched));
        is_patched.then_some(())
    }

    fn collect(&mut self, slots: impl Iterator<Item = u32>) {
        self.changed.clear();
        self.changed.extend(slots.map(|slot| Changed { slot, old: None, masked: None }));
        self.changed.sort_unstable_by_key(|changed| changed.slot);
        self.changed.dedup_by_key(|changed| changed.slot);
    }

    /// Finds the commands of all changed slots. Returns `None` if those of one slot are not
    /// adjacent.
    fn find_commands(&mut self, output: &Output) -> Option<()> {
        let filter = self.filter();
        for (run, range) in output.runs.iter().map(|run| run.commands.clone()).enumerate() {
            for (at, command) in range.clone().zip(&output.commands[range]) {
                if !may_hold(filter, command.first_instance) {
                    continue;
                }
                let Some(index) = self.find(command.first_instance) else { continue };
                let old = &mut self.changed[index].old;
                match old {
                    None => *old = Some(Old { run, commands: at..at + 1 }),
                    Some(old) if old.run == run && old.commands.end == at => old.commands.end += 1,
                    Some(_) => return None,
                }
            }
        }
        Some(())
    }

    fn find_masks(&mut self, masks: impl Iterator<Item = (MeshKey, PartSet)>) {
        let filter = self.filter();
        for (key, parts) in masks.filter(|(key, _)| may_hold(filter, key.index())) {
            if let Some(index) = self.find(key.index()) {
                self.changed[index].masked = Some((key, parts));
            }
        }
    }

    /// Returns a bit filter: one bit per changed slot, modulo 64. It excludes most other slots.
    fn filter(&self) -> u64 {
        self.changed.iter().fold(0, |filter, changed| filter | bit(changed.slot))
    }

    fn find(&self, slot: u32) -> Option<usize> {
        self.changed.binary_search_by_key(&slot, |changed| changed.slot).ok()
    }

    /// Removes the commands of a slot, if any.
    fn remove_commands(&mut self, output: &mut Output, slot: u32, old: Option<Old>) {
        output.drawn.remove(slot);
        self.patches.extend(old.map(|old| Patch::replacing(old, 0..0)));
    }

    /// Builds the commands of a mesh and returns the buffer that they read, or `None` if they read
    /// several.
    fn make<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        mesh: MeshHandle,
        parts: PartSet,
        table: &mut RunTable,
    ) -> Option<(Range<usize>, Option<u32>)> {
        let start = self.made.len();
        let (mut only, mut is_split) = (None, false);
        pool.emit_commands(mesh, parts, table, |buffer, command| {
            is_split |= *only.get_or_insert(buffer) != buffer;
            self.made.push(command);
        });
        (!is_split).then_some((start..self.made.len(), only))
    }
}

/// Finds the position for a masked mesh that had no commands in this buffer: sorted by rank, and
/// before all meshes inserted since the mask.
fn insert_at(
    output: &Output,
    buffer: u32,
    slot: u32,
    (members, ranks): (&Members, &[u32]),
    state: BuildState,
) -> Option<Patch> {
    if state.is_in_order {
        return None;
    }
    let rank = |slot: u32| ranks.get(slot as usize).copied().unwrap_or(LAST);
    let run = output.runs.iter().position(|run| run.buffer == buffer)?;
    let commands = output.runs[run].commands.clone();
    let is_before = |command: &DrawCommand| {
        let other = command.first_instance;
        let is_new = members.at(other).is_some_and(|(_, at)| at > state.masked.revision);
        !is_new && rank(other) < rank(slot)
    };
    let at = commands.start + output.commands[commands].partition_point(is_before);
    Some(Patch::before(run, at, rank(slot)))
}

/// Finds the position for a newly inserted mesh: at the end, but before meshes with a higher slot
/// that were inserted since the mask.
fn append_at(
    output: &Output,
    buffer: u32,
    slot: u32,
    members: &Members,
    state: BuildState,
) -> Option<Patch> {
    let last = output.runs.len().checked_sub(1)?;
    let run = if state.is_in_order {
        (output.runs[last].buffer == buffer).then_some(last)?
    } else {
        output.runs.iter().position(|run| run.buffer == buffer)?
    };
    let commands = output.runs[run].commands.clone();
    let is_behind = |command: &&DrawCommand| {
        let other = command.first_instance;
        other > slot && members.at(other).is_some_and(|(_, at)| at > state.masked.revision)
    };
    let behind = output.commands[commands.clone()].iter().rev().take_while(is_behind).count();
    let at = commands.end - behind;
    // The correct position may be in an earlier run.
    if state.is_in_order && run > 0 && at == commands.start {
        return None;
    }
    Some(Patch::before(run, at, LAST))
}

const fn bit(slot: u32) -> u64 {
    1 << (slot % u64::BITS)
}

#[inline]
const fn may_hold(filter: u64, slot: u32) -> bool {
    filter & bit(slot) != 0
}
