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
/// that lies in several buffers, or, where all commands are in one order, went to another
/// buffer or had no command where it has some now.
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

/// What a slot has now.
enum Now {
    /// What was there is gone; or it is another list's.
    Gone,
    /// A mesh that did not pass the mask.
    Hidden,
    Shown(MeshKey, PartSet, Came),
}

/// When a mesh came to the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    BeforeMask,
    Since,
    /// After the commands were made.
    Just,
}

impl Changed {
    fn now<V: Pod, D: Pod>(&self, members: &Members, pool: &VertexPool<V, D>, since: Since) -> Now {
        let Some((key, at)) = members.at(self.slot).filter(|&(key, _)| pool.has(key)) else {
            return Now::Gone;
        };
        if at > since.masked.revision {
            let came = if at > since.built.revision { Came::Just } else { Came::Since };
            return Now::Shown(key, PartSet::ALL, came);
        }
        match self.masked.filter(|&(masked, _)| masked == key) {
            Some((_, parts)) => Now::Shown(key, parts, Came::BeforeMask),
            None => Now::Hidden,
        }
    }
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
    /// Of several at one place, which comes first.
    rank: u32,
}

impl Patch {
    /// In place of a slot's commands.
    const fn instead(of: Old, made: Range<usize>) -> Self {
        Self { run: of.run, at: of.commands, made, rank: LAST }
    }

    /// Before command `at` of a run.
    const fn before(run: usize, at: usize, rank: u32) -> Self {
        Self { run, at: at..at, made: 0..0, rank }
    }
}

/// What came since the mask has this rank.
const LAST: u32 = u32::MAX;

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
        (masks, ranks): (impl Iterator<Item = (MeshKey, PartSet)>, &[u32]),
        since: Since,
        table: &mut RunTable,
    ) -> Option<()> {
        self.collect(slots);
        self.find_commands(output)?;
        self.find_masks(masks);
        self.made.clear();
        self.patches.clear();
        // Each that comes is a change of the list.
        let (mut come, mut is_sorted_in, mut is_reused) = (0, false, false);
        for index in 0..self.changed.len() {
            let now = self.changed[index].now(members, pool, since);
            let Changed { slot, ref mut old, .. } = self.changed[index];
            let mut old = old.take();
            let (key, parts, came) = match now {
                Now::Hidden if old.is_none() => continue,
                Now::Hidden => return None,
                Now::Gone => {
                    self.take_away(output, slot, old);
                    continue;
                }
                Now::Shown(key, parts, came) => (key, parts, came),
            };
            let (made, buffer) = self.make(pool, pool.handle(key), parts, table)?;
            if came == Came::Just {
                is_reused |= old.is_some();
                self.take_away(output, slot, old.take());
                output.drawn.insert(slot);
                come += 1;
            }
            if let Some(old) = old {
                if buffer.is_none_or(|buffer| output.runs[old.run].buffer == buffer) {
                    self.patches.push(Patch::instead(old, made));
                    continue;
                }
                self.patches.push(Patch::instead(old, 0..0));
            }
            let Some(buffer) = buffer else { continue };
            let at = match came {
                Came::BeforeMask => insert_at(output, buffer, slot, (members, ranks), since)?,
                Came::Since | Came::Just => append_at(output, buffer, slot, members, since)?,
            };
            is_sorted_in |= came == Came::BeforeMask;
            self.patches.push(Patch { made, ..at });
        }
        // A mask's mesh whose slot has another since would be taken for one behind all others.
        if is_sorted_in && is_reused {
            return None;
        }
        if members.state().revision != since.built.revision + come {
            return None;
        }
        let place = |it: &Patch| (it.run, it.at.start, it.at.end, it.rank, it.made.start);
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
        self.patches.extend(old.map(|old| Patch::instead(old, 0..0)));
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

/// Where a mesh that the mask knows, and that was in another buffer, is drawn: among those of
/// its own, in order, and before all that came since.
fn insert_at(
    output: &Output,
    buffer: u32,
    slot: u32,
    (members, ranks): (&Members, &[u32]),
    since: Since,
) -> Option<Patch> {
    if since.is_in_order {
        return None;
    }
    let rank = |slot: u32| ranks.get(slot as usize).copied().unwrap_or(LAST);
    let run = output.runs.iter().position(|run| run.buffer == buffer)?;
    let commands = output.runs[run].commands.clone();
    let is_before = |command: &DrawCommand| {
        let other = command.first_instance;
        let is_new = members.at(other).is_some_and(|(_, at)| at > since.masked.revision);
        !is_new && rank(other) < rank(slot)
    };
    let at = commands.start + output.commands[commands].partition_point(is_before);
    Some(Patch::before(run, at, rank(slot)))
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
    Some(Patch::before(run, at, LAST))
}

const fn bit(slot: u32) -> u64 {
    1 << (slot % u64::BITS)
}

#[inline]
const fn may_hold(filter: u64, slot: u32) -> bool {
    filter & bit(slot) != 0
}
