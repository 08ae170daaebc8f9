use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use crate::{
    command::{CommandRun, DrawCommand},
    mesh::MeshKey,
    parts::{MAX_PARTS, PartSet, RunTable},
    vertex_pool::VertexPool,
};

/// Commands of a view and their runs, one buffer per run. Reuses its memory.
///
/// ```text
///  few meshes, in draw order ─► commands
///  many, in slot order ───────► commands, in memory order of the pool's tables ─► reordered
/// ```
/// Reading large tables in another order would cause a cache miss per mesh.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) commands: Vec<DrawCommand>,
    /// Complete after [`end_runs`](Self::end_runs).
    pub(super) runs: Vec<CommandRun>,
    /// Slots of the meshes in the commands.
    pub(super) drawn: SlotSet,
    /// Run of the last command.
    open: OpenRun,
    /// Number of commands at the end of each mesh.
    ends: Vec<u32>,
    spare: Vec<DrawCommand>,
    /// Buffer of each command, while commands of several buffers are reordered.
    buffers: Vec<u32>,
    /// Per buffer: first the number of commands, then the position of the next one.
    starts: Vec<usize>,
}

/// Run to which commands are being added.
#[derive(Debug)]
struct OpenRun {
    buffer: u32,
    start: usize,
}

/// No run: buffer numbers have 16 bits, and `start` is past all commands.
impl Default for OpenRun {
    fn default() -> Self {
        Self { buffer: u32::MAX, start: usize::MAX }
    }
}

/// Replacement of commands `at` of a run by commands `made`.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub(super) run: usize,
    pub(super) at: Range<usize>,
    pub(super) made: Range<usize>,
    /// Order of several patches at one position.
    pub(super) rank: u32,
}

/// Rank of meshes inserted since the mask.
pub(super) const LAST: u32 = u32::MAX;

impl Patch {
    /// Removes command `at` of a run.
    pub(super) const fn removal(run: usize, at: usize) -> Self {
        Self { run, at: at..at + 1, made: 0..0, rank: LAST }
    }

    /// Inserts before command `at` of a run.
    pub(super) const fn insertion(run: usize, at: usize, rank: u32) -> Self {
        Self { run, at: at..at, made: 0..0, rank }
    }
}

impl Output {
    pub(super) fn clear(&mut self) {
        self.commands.clear();
        self.runs.clear();
        self.drawn.clear();
        self.open = OpenRun::default();
        self.ends.clear();
    }

    /// Clears everything but the commands, which the caller overwrites.
    #[cfg(feature = "rayon")]
    pub(super) fn restart(&mut self) {
        let commands = core::mem::take(&mut self.commands);
        self.clear();
        self.commands = commands;
    }

    /// Ends a mesh: all commands since the last call belong to it.
    #[inline]
    pub(super) fn end_mesh(&mut self) {
        self.ends.push(self.commands.len() as u32);
    }

    /// Reorders the commands by mesh. `meshes` contains each mesh once.
    pub(super) fn reorder(&mut self, meshes: impl Iterator<Item = u32>) {
        self.end_runs();
        let mut made = core::mem::replace(&mut self.commands, core::mem::take(&mut self.spare));
        if self.runs.len() > 1 {
            self.reorder_runs(&made, meshes);
        } else {
            self.reorder_run(&mut made, meshes);
            // Following commands can extend the single run.
            if let Some(run) = self.runs.pop() {
                self.open = OpenRun { buffer: run.buffer, start: 0 };
            }
        }
        self.spare = made;
    }

    /// Reorders commands that all read one buffer. Most meshes have few commands, and the number is
    /// hard to predict. So four commands are copied at a time, and the next mesh overwrites the
    /// surplus.
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

    /// Reorders commands that read several buffers.
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

    /// Adds the commands of a mesh's `parts`; none if the mesh is stale.
    #[inline]
    pub(super) fn draw<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        key: MeshKey,
        parts: PartSet,
        table: &mut RunTable,
    ) {
        let is_there =
            pool.emit_commands(pool.meshes.handle(key), parts, table, |buffer, command| {
                self.push(buffer, command);
            });
        if is_there {
            self.drawn.insert(key.index());
        }
    }

    /// Adds a command that draws nothing for each part of a mesh that is not in `parts`.
    #[cold]
    pub(super) fn draw_zeroed<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        key: MeshKey,
        parts: PartSet,
        table: &mut RunTable,
    ) {
        for part in (0..MAX_PARTS).filter(|&part| !parts.contains(part)) {
            let part = PartSet::EMPTY.with(part);
            pool.emit_commands(pool.meshes.handle(key), part, table, |buffer, command| {
                self.push(buffer, DrawCommand { index_count: 0, ..command });
            });
        }
    }

    #[inline]
    fn push(&mut self, buffer: u32, command: DrawCommand) {
        if buffer != self.open.buffer {
            self.end_runs();
            self.open = OpenRun { buffer, start: self.commands.len() };
        }
        self.commands.push(command);
    }

    /// Ends the last run, after its last command.
    #[cold]
    pub(super) fn end_runs(&mut self) {
        let OpenRun { buffer, start } = core::mem::take(&mut self.open);
        let end = self.commands.len();
        if start < end {
            self.runs.push(CommandRun { buffer, commands: start..end });
        }
    }

    /// Replaces ranges of commands by patches, which are sorted by position. Returns `false`
    /// without changes if a run would become empty.
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

    /// Groups the commands by buffer into one run per buffer. Keeps the order within a buffer.
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

/// Returns the commands of a mesh, from the ends of all meshes.
#[inline]
fn commands_of(ends: &[u32], mesh: u32) -> Range<usize> {
    let at = mesh as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] };
    start as usize..ends[at] as usize
}

/// Set of slots, one bit each. Reuses its memory.
#[derive(Debug, Default)]
pub(super) struct SlotSet {
    words: Vec<u64>,
    len: usize,
}

impl SlotSet {
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    #[inline]
    pub(super) fn insert(&mut self, slot: u32) {
        let (word, bit) = word_and_bit(slot);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.len += usize::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    /// Inserts the slots of `words`. They are words of the set from word number `first` on.
    #[cfg(feature = "rayon")]
    pub(super) fn insert_words(&mut self, first: usize, words: &[u64]) {
        let end = first + words.len();
        if end > self.words.len() {
            self.words.resize(end, 0);
        }
        for (word, new) in self.words[first..].iter_mut().zip(words) {
            self.len += (new & !*word).count_ones() as usize;
            *word |= new;
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let (word, bit) = word_and_bit(slot);
        if let Some(word) = self.words.get_mut(word).filter(|word| **word & bit != 0) {
            *word &= !bit;
            self.len -= 1;
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        let (word, bit) = word_and_bit(slot);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Returns the word index and the bit of a slot.
#[inline]
pub(super) const fn word_and_bit(slot: u32) -> (usize, u64) {
    ((slot / u64::BITS) as usize, 1 << (slot % u64::BITS))
}
