use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::{
    members::{ListState, Members},
    output::{LAST, Output, Patch},
    selection::Selection,
};
use crate::{
    command::DrawCommand,
    mesh::MeshKey,
    parts::{PartSet, RunTable},
    vertex_pool::VertexPool,
};

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
    /// Removal of the commands of the slot, if it has any.
    old: Option<Patch>,
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

/// Summary of the insertions among the changed slots.
#[derive(Default)]
struct Insertions {
    /// Number of meshes inserted in the list after the commands were built.
    after_build: u64,
    /// Whether one of these reuses the slot of a mesh with commands.
    reuse_slots: bool,
    /// Whether a masked mesh gets commands in a buffer where it had none.
    have_masked: bool,
}

/// List, pool and selection whose commands are patched, and the states from which they were built.
pub(super) struct Patching<'a, V, D> {
    pub(super) members: &'a Members,
    pub(super) pool: &'a VertexPool<V, D>,
    pub(super) selection: &'a Selection,
    pub(super) masked: ListState,
    pub(super) built: ListState,
    /// Whether all commands are sorted over all buffers. If not, the selection has its ranks.
    pub(super) is_in_order: bool,
}

impl Patcher {
    /// Patches the commands in `output` for the changes of `slots`. Returns `None` if the correct
    /// commands are uncertain; `output` is then invalid and must be rebuilt.
    pub(super) fn patch<V: Pod, D: Pod>(
        &mut self,
        patching: &Patching<'_, V, D>,
        slots: impl Iterator<Item = u32>,
        output: &mut Output,
        table: &mut RunTable,
    ) -> Option<()> {
        self.collect(slots);
        self.find_commands(output)?;
        self.made.clear();
        self.patches.clear();
        let mut insertions = Insertions::default();
        for index in 0..self.changed.len() {
            self.patch_slot(index, patching, &mut insertions, output, table)?;
        }
        // A masked mesh whose slot was reused would be sorted among the inserted meshes.
        if insertions.have_masked && insertions.reuse_slots {
            return None;
        }
        // Each inserted mesh is one change of the list.
        if patching.members.state().revision != patching.built.revision + insertions.after_build {
            return None;
        }
        let position = |it: &Patch| (it.run, it.at.start, it.at.end, it.rank, it.made.start);
        self.patches.sort_unstable_by_key(position);
        let is_patched = output.apply(&self.patches, &self.made);
        #[cfg(test)]
        (self.count += u32::from(is_patched));
        is_patched.then_some(())
    }

    /// Adds the patches for a changed slot.
    fn patch_slot<V: Pod, D: Pod>(
        &mut self,
        index: usize,
        patching: &Patching<'_, V, D>,
        insertions: &mut Insertions,
        output: &mut Output,
        table: &mut RunTable,
    ) -> Option<()> {
        let now = patching.current(self.changed[index].slot);
        let Changed { slot, ref mut old } = self.changed[index];
        let mut old = old.take();
        let (key, parts, inserted) = match now {
            Current::Hidden => return old.is_none().then_some(()),
            Current::Removed => {
                self.remove_commands(output, slot, old);
                return Some(());
            }
            Current::Shown(key, parts, inserted) => (key, parts, inserted),
        };
        let (made, buffer) = self.make(patching.pool, key, parts, table)?;
        if inserted == Inserted::AfterBuild {
            insertions.after_build += 1;
            insertions.reuse_slots |= old.is_some();
            self.remove_commands(output, slot, old.take());
            output.drawn.insert(slot);
        }
        if let Some(old) = old {
            if buffer.is_none_or(|buffer| output.runs[old.run].buffer == buffer) {
                self.patches.push(Patch { made, ..old });
                return Some(());
            }
            self.patches.push(old);
        }
        let Some(buffer) = buffer else { return Some(()) };
        let at = if inserted == Inserted::BeforeMask {
            insertions.have_masked = true;
            patching.insert_at(output, buffer, slot)?
        } else {
            patching.append_at(output, buffer, slot)?
        };
        self.patches.push(Patch { made, ..at });
        Some(())
    }

    fn collect(&mut self, slots: impl Iterator<Item = u32>) {
        self.changed.clear();
        self.changed.extend(slots.map(|slot| Changed { slot, old: None }));
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
                    None => *old = Some(Patch::removal(run, at)),
                    Some(old) if old.run == run && old.at.end == at => old.at.end += 1,
                    Some(_) => return None,
                }
            }
        }
        Some(())
    }

    /// Returns a bit filter: one bit per changed slot, modulo 64. It excludes most other slots.
    fn filter(&self) -> u64 {
        self.changed.iter().fold(0, |filter, changed| filter | bit(changed.slot))
    }

    fn find(&self, slot: u32) -> Option<usize> {
        self.changed.binary_search_by_key(&slot, |changed| changed.slot).ok()
    }

    /// Removes the commands of a slot, if any.
    fn remove_commands(&mut self, output: &mut Output, slot: u32, old: Option<Patch>) {
        output.drawn.remove(slot);
        self.patches.extend(old);
    }

    /// Builds the commands of a mesh and returns the buffer that they read, or `None` if they read
    /// several.
    fn make<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        key: MeshKey,
        parts: PartSet,
        table: &mut RunTable,
    ) -> Option<(Range<usize>, Option<u32>)> {
        let start = self.made.len();
        let (mut only, mut is_split) = (None, false);
        pool.emit_commands(pool.meshes.handle(key), parts, table, |buffer, command| {
            is_split |= *only.get_or_insert(buffer) != buffer;
            self.made.push(command);
        });
        (!is_split).then_some((start..self.made.len(), only))
    }
}

impl<V: Pod, D: Pod> Patching<'_, V, D> {
    /// Returns the current content of a slot.
    fn current(&self, slot: u32) -> Current {
        let member = self.members.at(slot);
        let Some((key, at)) = member.filter(|&(key, _)| self.pool.meshes.has(key)) else {
            return Current::Removed;
        };
        if at > self.built.revision {
            return Current::Shown(key, PartSet::ALL, Inserted::AfterBuild);
        }
        if at > self.masked.revision {
            return Current::Shown(key, PartSet::ALL, Inserted::AfterMask);
        }
        match self.selection.at(slot).filter(|&(masked, _)| masked == key) {
            Some((_, parts)) => Current::Shown(key, parts, Inserted::BeforeMask),
            None => Current::Hidden,
        }
    }

    /// Finds the position for a masked mesh that had no commands in this buffer: sorted by rank,
    /// and before all meshes inserted since the mask.
    fn insert_at(&self, output: &Output, buffer: u32, slot: u32) -> Option<Patch> {
        if self.is_in_order {
            return None;
        }
        let run = output.runs.iter().position(|run| run.buffer == buffer)?;
        let commands = output.runs[run].commands.clone();
        let rank = self.selection.rank(slot);
        let is_before = |command: &DrawCommand| {
            let other = command.first_instance;
            !self.is_new(other) && self.selection.rank(other) < rank
        };
        let at = commands.start + output.commands[commands].partition_point(is_before);
        Some(Patch::insertion(run, at, rank))
    }

    /// Finds the position for a newly inserted mesh: at the end, but before meshes with a higher
    /// slot that were inserted since the mask.
    fn append_at(&self, output: &Output, buffer: u32, slot: u32) -> Option<Patch> {
        let last = output.runs.len().checked_sub(1)?;
        let run = if self.is_in_order {
            (output.runs[last].buffer == buffer).then_some(last)?
        } else {
            output.runs.iter().position(|run| run.buffer == buffer)?
        };
        let commands = output.runs[run].commands.clone();
        let is_behind = |command: &&DrawCommand| {
            command.first_instance > slot && self.is_new(command.first_instance)
        };
        let behind = output.commands[commands.clone()].iter().rev().take_while(is_behind).count();
        let at = commands.end - behind;
        // The correct position may be in an earlier run.
        if self.is_in_order && run > 0 && at == commands.start {
            return None;
        }
        Some(Patch::insertion(run, at, LAST))
    }

    /// Returns whether the mesh at a slot was inserted since the mask.
    fn is_new(&self, slot: u32) -> bool {
        self.members.at(slot).is_some_and(|(_, at)| at > self.masked.revision)
    }
}

const fn bit(slot: u32) -> u64 {
    1 << (slot % u64::BITS)
}

#[inline]
const fn may_hold(filter: u64, slot: u32) -> bool {
    filter & bit(slot) != 0
}
