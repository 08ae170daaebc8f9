use core::ops::Range;

use bytemuck::Pod;

use super::VertexPool;
use crate::{
    command::DrawCommand,
    mesh::{Mesh, MeshHandle},
    meshes::Meshes,
    parts::{PartRuns, PartSet, RunTable},
    storage::Storage,
};

/// Draw commands, for draw lists.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Records that a mesh is drawn in the frame being built, for callers that build its command
    /// themselves.
    pub(crate) fn note_drawn(&self, handle: MeshHandle) {
        if let Some(mesh) = self.meshes.get(handle) {
            mesh.note_drawn(self.frames.current());
        }
    }

    /// The parts of the pool that commands are made from.
    #[inline]
    pub(crate) const fn command_source(&self) -> CommandSource<'_> {
        let frame = self.frames.current();
        CommandSource { meshes: &self.meshes, storage: &self.storage, frame }
    }

    /// See [`CommandSource::emit`].
    #[inline]
    pub(crate) fn emit_commands(
        &self,
        handle: MeshHandle,
        parts: PartSet,
        table: &mut RunTable,
        emit: impl FnMut(u32, DrawCommand),
    ) -> bool {
        self.command_source().emit(handle, parts, table, emit)
    }
}

/// The parts of a pool that commands are made from. They do not depend on the types of elements and data, so
/// several threads can share them.
#[derive(Clone, Copy)]
pub(crate) struct CommandSource<'a> {
    pub(crate) meshes: &'a Meshes,
    storage: &'a Storage,
    /// Frame being built.
    frame: u64,
}

impl CommandSource<'_> {
    /// Passes a command and the number of its buffer to `emit`, for each run of the mesh's `parts`.
    /// Marks the mesh as drawn in the frame being built. Returns `false` for a stale handle.
    #[inline]
    pub(crate) fn emit(
        &self,
        handle: MeshHandle,
        parts: PartSet,
        table: &mut RunTable,
        mut emit: impl FnMut(u32, DrawCommand),
    ) -> bool {
        let Some(mesh) = self.meshes.get(handle) else { return false };
        mesh.note_drawn(self.frame);
        let (slot, ranges) = (handle.slot(), &mesh.ranges);
        let runs = table.runs(ranges.filled(), parts);
        if mesh.location().is_split() || mesh.len() > self.storage.config().pattern_elements {
            self.emit_long(mesh, slot, runs, &mut emit);
            return true;
        }
        ranges.for_each_run(runs, |run| {
            emit(ranges.buffer.into(), self.command(slot, ranges.first, &run));
        });
        true
    }

    /// Emits the commands of a mesh whose runs may need several commands each: runs are divided at
    /// the bounds of the mesh's allocations, and into pieces as long as the index pattern.
    #[cold]
    fn emit_long(
        &self,
        mesh: &Mesh,
        slot: u32,
        runs: &PartRuns,
        emit: &mut impl FnMut(u32, DrawCommand),
    ) {
        mesh.ranges.for_each_run(runs, |run| {
            for (span, held) in self.storage.pieces.spans(mesh.location(), mesh.len()) {
                let mut start = run.start.max(held.start);
                let end = run.end.min(held.end);
                while start < end {
                    let stop =
                        end.min(start.saturating_add(self.storage.config().pattern_elements));
                    let part = start - held.start..stop - held.start;
                    emit(span.buffer.into(), self.command(slot, span.first, &part));
                    start = stop;
                }
            }
        });
    }

    /// Returns the command for elements `run` of an allocation.
    #[inline]
    const fn command(&self, slot: u32, first: u32, run: &Range<u32>) -> DrawCommand {
        let config = self.storage.config();
        DrawCommand {
            index_count: (run.end - run.start) * config.indices_per_element,
            instance_count: 1,
            first_index: 0,
            base_vertex: ((first + run.start) * config.vertices_per_element) as i32,
            first_instance: slot,
        }
    }
}
