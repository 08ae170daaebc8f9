use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::{
    MeshKey,
    members::{ListState, Members},
    output::Output,
};
use crate::{DrawCommand, MeshHandle, PartSet, VertexPool, part_runs::RunTable};

/// Brings commands up to date where few meshes have changed since they were made.
///
/// ```text
///  changed slots       3 ───────── 8            what the pool remembers of its last changes
///  commands      5 5 1 3 3 3 2 2 7 8 8 4 4      found by one look at all of them
///                ╰─┬─╯ 3 3 ╰──┬──╯ 8 8 8 ╰┬╯
///                 copied     copied     copied
/// ```
/// What it cannot place for certain it leaves to whoever makes all commands anew: a mesh
/// that lies in several buffers, went to another, or had no command where it has some now.
///
/// # Cost
/// Some nanoseconds for each command, rather than a look at each mesh in the pool's tables.
#[derive(Debug, Default)]
pub(super) struct Patcher {
    changed: Vec<Changed>,
    made: Vec<DrawCommand>,
    patches: Vec<Patch>,
    /// How often it could.
    #[cfg(test)]
    pub(super) count: u32,
}

/// A slot whose mesh is not as it was.
#[derive(Debug)]
struct Changed {
    slot: u32,
    old: Option<Old>,
    /// What the mask shows of the mesh that it knows there.
    masked: Option<(MeshKey, PartSet)>,
}

/// Where the commands of a slot are.
#[derive(Clone, Debug)]
struct Old {
    run: usize,
    commands: Range<usize>,
}

/// Commands `at` of a run become those that were `made`.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub(super) run: usize,
    pub(super) at: Range<usize>,
    pub(super) made: Range<usize>,
}

/// The list that commands were made of, and how its runs go.
#[derive(Clone, Copy)]
pub(super) struct Since {
    pub(super) masked: ListState,
    pub(super) built: ListState,
    /// All commands are in one order, whichever buffer they read.
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

    /// Changes the commands in `output`, made when the list was as `since` says, to what they
    /// are with these slots changed; `None` where that is not certain: they are good for
    /// nothing then.
    pub(super) fn patch<V: Pod, D: Pod>(
        &mut self,
        output: &mut Output,
        (members, pool): (&Members, &VertexPool<V, D>),
        slots: impl Iterator<Item = u32>,
        masks: impl Iterator<Item = (MeshKey, PartSet)>,
        since: Since,
        table: &mut RunTable,
    ) -> Option<()> {
        self.collect(slots);
        self.find_commands(output)?;
        self.find_masks(masks);
        self.made.clear();
        self.patches.clear();
        // Each that comes is a change of the list.
        let mut come = 0;
        for index in 0..self.changed.len() {
            let Changed { slot, old, masked } = &self.changed[index];
            let (slot, old, masked) = (*slot, old.clone(), *masked);
            let newest = members.at(slot).filter(|&(key, _)| pool.has(key));
            let (key, parts, is_new) = match newest {
                Some((key, at)) if at > since.masked.revision => {
                    (key, PartSet::ALL, at > since.built.revision)
                }
                Some((key, _)) => match masked.filter(|&(masked, _)| masked == key) {
                    Some((_, parts)) => (key, parts, false),
                    // It did not pass the mask.
                    None if old.is_none() => continue,
                    None => return None,
                },
                // Gone, or another list's.
                None => {
                    self.take_away(output, slot, old);
                    continue;
                }
            };
            let (made, buffer) = self.make(pool, pool.handle(key), parts, table)?;
            if is_new {
                self.take_away(output, slot, old);
                output.drawn.insert(slot);
                come += 1;
                if let Some(buffer) = buffer {
                    let at = append_at(output, buffer, slot, members, since)?;
                    self.patches.push(Patch { made, ..at });
                }
            } else if let Some(Old { run, commands }) = old {
                if buffer.is_some_and(|buffer| output.runs[run].buffer != buffer) {
                    return None;
                }
                self.patches.push(Patch { run, at: commands, made });
            } else if buffer.is_some() {
                return None;
            }
        }
        if members.state().revision != since.built.revision + come {
            return None;
        }
        let place = |patch: &Patch| (patch.run, patch.at.start, patch.at.end, patch.made.start);
        self.patches.sort_unstable_by_key(place);
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

    /// Finds the commands of all changed slots, unless those of one are not side by side.
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

    /// A bit for each changed slot, modulo 64: most others are told from them by it.
    fn filter(&self) -> u64 {
        self.changed.iter().fold(0, |filter, changed| filter | bit(changed.slot))
    }

    fn find(&self, slot: u32) -> Option<usize> {
        self.changed.binary_search_by_key(&slot, |changed| changed.slot).ok()
    }

    /// Takes away what a slot drew, if it did.
    fn take_away(&mut self, output: &mut Output, slot: u32, old: Option<Old>) {
        output.drawn.remove(slot);
        if let Some(Old { run, commands }) = old {
            self.patches.push(Patch { run, at: commands, made: 0..0 });
        }
    }

    /// Makes the commands of a mesh, and says which buffer they all read; `None` where they
    /// read several.
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

/// Where a mesh that has just come is drawn: last, but before those that came since the mask
/// too and have a higher slot.
fn append_at(
    output: &Output,
    buffer: u32,
    slot: u32,
    members: &Members,
    since: Since,
) -> Option<Patch> {
    let last = output.runs.len().checked_sub(1)?;
    let run = if since.is_in_order {
        (output.runs[last].buffer == buffer).then_some(last)?
    } else {
        output.runs.iter().position(|run| run.buffer == buffer)?
    };
    let commands = output.runs[run].commands.clone();
    let is_behind = |command: &&DrawCommand| {
        let other = command.first_instance;
        other > slot && members.at(other).is_some_and(|(_, at)| at > since.masked.revision)
    };
    let behind = output.commands[commands.clone()].iter().rev().take_while(is_behind).count();
    let at = commands.end - behind;
    // Its place may be in a run before this one.
    if since.is_in_order && run > 0 && at == commands.start {
        return None;
    }
    Some(Patch { run, at: at..at, made: 0..0 })
}

const fn bit(slot: u32) -> u64 {
    1 << (slot % u64::BITS)
}

#[inline]
const fn may_hold(filter: u64, slot: u32) -> bool {
    filter & bit(slot) != 0
}
