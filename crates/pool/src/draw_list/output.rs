use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::{MeshKey, patch::Patch, slot_set::SlotSet};
use crate::{CommandRun, DrawCommand, MAX_PARTS, PartSet, VertexPool, part_runs::RunTable};

/// Commands as they are made, and the runs of one buffer each that they fall into; keeps
/// its memory.
///
/// ```text
///  few meshes, in order ─► commands
///  many, by slot ─────────► commands, as the pool's tables lie in memory ─► reordered
/// ```
/// Going through large tables in another order than that of slots would wait for memory at
/// each mesh.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) commands: Vec<DrawCommand>,
    /// Complete once [`end_runs`](Self::end_runs) was called.
    pub(super) runs: Vec<CommandRun>,
    /// The meshes that commands were made of.
    pub(super) drawn: SlotSet,
    /// The buffer of the last command, and where its run begins.
    open: Open,
    /// How many commands there were at the end of each mesh.
    ends: Vec<u32>,
    spare: Vec<DrawCommand>,
    /// The buffer of each command, while those of several are reordered.
    buffers: Vec<u32>,
    /// By buffer: how many commands, then where the next one goes.
    starts: Vec<usize>,
}

/// A run that commands are being added to.
#[derive(Debug)]
struct Open {
    buffer: u32,
    start: usize,
}

/// Buffers have 16 bits.
const NO_BUFFER: u32 = u32::MAX;

/// No run: it begins behind all commands.
impl Default for Open {
    fn default() -> Self {
        Self { buffer: NO_BUFFER, start: usize::MAX }
    }
}

impl Output {
    pub(super) const fn new() -> Self {
        Self {
            commands: Vec::new(),
            runs: Vec::new(),
            drawn: SlotSet::new(),
            open: Open { buffer: NO_BUFFER, start: usize::MAX },
            ends: Vec::new(),
            spare: Vec::new(),
            buffers: Vec::new(),
            starts: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.commands.clear();
        self.runs.clear();
        self.drawn.clear();
        self.open = Open::default();
        self.ends.clear();
    }

    /// All commands since the last call are of one mesh, the next of those to be ordered.
    #[inline]
    pub(super) fn end_mesh(&mut self) {
        self.ends.push(self.commands.len() as u32);
    }

    /// Puts the meshes' commands in the order of `meshes`, which has each of them once.
    pub(super) fn reorder(&mut self, meshes: impl Iterator<Item = u32>) {
        self.end_runs();
        let mut made = core::mem::replace(&mut self.commands, core::mem::take(&mut self.spare));
        if self.runs.len() > 1 {
            self.reorder_runs(&made, meshes);
        } else {
            self.reorder_run(&mut made, meshes);
            // What follows may go on with the one run there is.
            if let Some(run) = self.runs.pop() {
                self.open = Open { buffer: run.buffer, start: 0 };
            }
        }
        self.spare = made;
    }

    /// The same where all commands read one buffer. A mesh has few commands, and how few is
    /// hard to guess: as many are copied each time, and the next mesh's take the place of
    /// those that were too many.
    fn reorder_run(&mut self, made: &mut Vec<DrawCommand>, meshes: impl Iterator<Item = u32>) {
        const AT_ONCE: usize = 4;
        let count = made.len();
        made.resize(count + AT_ONCE, DrawCommand::default());
        self.commands.resize(count + AT_ONCE, DrawCommand::default());
        let mut to = 0;
        for mesh in meshes {
            let Range { mut start, end } = commands_of(&self.ends, mesh);
            let next = to + (end - start);
            loop {
                self.commands[to..to + AT_ONCE].copy_from_slice(&made[start..start + AT_ONCE]);
                (start, to) = (start + AT_ONCE, to + AT_ONCE);
                if start >= end {
                    break;
                }
            }
            to = next;
        }
        self.commands.truncate(count);
    }

    /// The same where commands read several buffers.
    fn reorder_runs(&mut self, made: &[DrawCommand], meshes: impl Iterator<Item = u32>) {
        self.buffers.clear();
        for run in self.runs.drain(..) {
            self.buffers.resize(run.commands.end, run.buffer);
        }
        self.commands.clear();
        for mesh in meshes {
            for at in commands_of(&self.ends, mesh) {
                self.push(self.buffers[at], made[at]);
            }
        }
    }

    /// Draws `parts` of a mesh; nothing if it is gone.
    #[inline]
    pub(super) fn draw<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        key: MeshKey,
        parts: PartSet,
        table: &mut RunTable,
    ) {
        let is_there = pool.emit_commands(pool.handle(key), parts, table, |buffer, command| {
            self.push(buffer, command);
        });
        if is_there {
            self.drawn.insert(key.index());
        }
    }

    /// A command that draws nothing for each part of a mesh that is not in `parts`.
    pub(super) fn draw_nothing<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        key: MeshKey,
        parts: PartSet,
        table: &mut RunTable,
    ) {
        for part in (0..MAX_PARTS).filter(|&part| !parts.contains(part)) {
            let part = PartSet::EMPTY.with(part);
            pool.emit_commands(pool.handle(key), part, table, |buffer, command| {
                self.push(buffer, DrawCommand { index_count: 0, ..command });
            });
        }
    }

    #[inline]
    fn push(&mut self, buffer: u32, command: DrawCommand) {
        if buffer != self.open.buffer {
            self.end_runs();
            self.open = Open { buffer, start: self.commands.len() };
        }
        self.commands.push(command);
    }

    /// Ends the last run: to be called behind the last command.
    #[cold]
    pub(super) fn end_runs(&mut self) {
        let Open { buffer, start } = core::mem::take(&mut self.open);
        let end = self.commands.len();
        if start < end {
            self.runs.push(CommandRun { buffer, commands: start..end });
        }
    }

    /// Puts other commands in the place of some, by patches in the order of their places.
    /// Changes nothing, and says so, where a run would have none left.
    pub(super) fn apply(&mut self, patches: &[Patch], made: &[DrawCommand]) -> bool {
        if patches.iter().all(|patch| patch.at.len() == patch.made.len()) {
            for Patch { at, made: range, .. } in patches.iter().cloned() {
                self.commands[at].copy_from_slice(&made[range]);
            }
            return true;
        }
        let mut patches = patches.iter().peekable();
        let mut patched = core::mem::take(&mut self.spare);
        let mut ends = core::mem::take(&mut self.starts);
        patched.clear();
        ends.clear();
        for (number, run) in self.runs.iter().enumerate() {
            let mut from = run.commands.start;
            while let Some(patch) = patches.next_if(|patch| patch.run == number) {
                patched.extend_from_slice(&self.commands[from..patch.at.start]);
                patched.extend_from_slice(&made[patch.made.clone()]);
                from = patch.at.end;
            }
            patched.extend_from_slice(&self.commands[from..run.commands.end]);
            ends.push(patched.len());
        }
        let starts = [0].into_iter().chain(ends.iter().copied());
        let is_whole = starts.zip(&ends).all(|(start, &end)| start < end);
        if is_whole {
            core::mem::swap(&mut self.commands, &mut patched);
            let mut start = 0;
            for (run, &end) in self.runs.iter_mut().zip(&ends) {
                run.commands = start..end;
                start = end;
            }
        }
        (self.spare, self.starts) = (patched, ends);
        is_whole
    }

    /// Puts the commands of each buffer together, so that there is one run a buffer.
    /// Within a buffer they stay in order.
    pub(super) fn group_by_buffer(&mut self) {
        self.end_runs();
        let Some(highest) = self.runs.iter().map(|run| run.buffer).max() else { return };
        if self.runs.len() == 1 {
            return;
        }
        self.starts.clear();
        self.starts.resize(highest as usize + 1, 0);
        for run in &self.runs {
            self.starts[run.buffer as usize] += run.commands.len();
        }
        let mut start = 0;
        for count in &mut self.starts {
            start += core::mem::replace(count, start);
        }
        self.spare.resize(self.commands.len(), DrawCommand::default());
        for run in &self.runs {
            let start = &mut self.starts[run.buffer as usize];
            let end = *start + run.commands.len();
            self.spare[*start..end].copy_from_slice(&self.commands[run.commands.clone()]);
            *start = end;
        }
        core::mem::swap(&mut self.commands, &mut self.spare);
        self.runs.clear();
        let mut start = 0;
        for (buffer, &end) in (0..).zip(&self.starts) {
            if end > start {
                self.runs.push(CommandRun { buffer, commands: start..end });
            }
            start = end;
        }
    }
}

/// Which commands are a mesh's, by the ends of all meshes.
#[inline]
fn commands_of(ends: &[u32], mesh: u32) -> Range<usize> {
    let at = mesh as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] };
    start as usize..ends[at] as usize
}
