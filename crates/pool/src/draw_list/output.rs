use alloc::vec::Vec;

use bytemuck::Pod;

use super::MeshKey;
use crate::{CommandRun, DrawCommand, MAX_PARTS, PartSet, VertexPool};

/// Commands as they are made, and the runs of one buffer each that they fall into; keeps
/// its memory.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) commands: Vec<DrawCommand>,
    pub(super) runs: Vec<CommandRun>,
    spare: Vec<DrawCommand>,
    /// By buffer: how many commands, then where the next one goes.
    starts: Vec<usize>,
}

impl Output {
    pub(super) const fn new() -> Self {
        Self { commands: Vec::new(), runs: Vec::new(), spare: Vec::new(), starts: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.commands.clear();
        self.runs.clear();
    }

    /// Draws `parts` of a mesh; nothing if it is gone.
    #[inline]
    pub(super) fn draw<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        key: MeshKey,
        parts: PartSet,
    ) {
        pool.emit_commands(pool.handle(key), parts, |buffer, command| self.push(buffer, command));
    }

    /// A command that draws nothing for each part of a mesh that is not in `parts`.
    pub(super) fn draw_nothing<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        key: MeshKey,
        parts: PartSet,
    ) {
        for part in (0..MAX_PARTS).filter(|&part| !parts.contains(part)) {
            let part = PartSet::EMPTY.with(part);
            pool.emit_commands(pool.handle(key), part, |buffer, command| {
                self.push(buffer, DrawCommand { index_count: 0, ..command });
            });
        }
    }

    #[inline]
    fn push(&mut self, buffer: u32, command: DrawCommand) {
        let start = self.commands.len();
        self.commands.push(command);
        match self.runs.last_mut() {
            Some(run) if run.buffer == buffer => run.commands.end = start + 1,
            _ => self.runs.push(CommandRun { buffer, commands: start..start + 1 }),
        }
    }

    /// Puts the commands of each buffer together, so that there is one run a buffer.
    /// Within a buffer they stay in order.
    pub(super) fn group_by_buffer(&mut self) {
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
