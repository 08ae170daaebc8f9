use core::ops::Range;

use bytemuck::Pod;

use super::VertexPool;
use crate::{
    DrawCommand, MeshHandle, PartSet,
    mesh::{Mesh, MeshKey},
    part_runs::{PartRuns, RunTable},
};

/// What draw lists make commands of.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// To be called when commands are handed out to be drawn, newly built or not: a place
    /// that is freed from then on may be read by the frame being built.
    #[inline]
    pub(crate) fn note_commands_taken(&self, count: usize) {
        self.frames.note_commands_taken(count);
    }

    /// Notes that a mesh is drawn in the frame being built, for those who make its command
    /// themselves.
    pub(crate) fn note_drawn(&self, handle: MeshHandle) {
        if let Some(mesh) = self.mesh(handle) {
            mesh.note_drawn(self.frames.current());
        }
    }

    /// Tells this pool from every other of the process.
    #[inline]
    pub(crate) const fn id(&self) -> u32 {
        self.id
    }

    /// Rises whenever a handle that was good becomes stale.
    #[inline]
    pub(crate) const fn removals(&self) -> u64 {
        self.removals
    }

    /// Whether a mesh of this pool lives.
    #[inline]
    pub(crate) fn has(&self, mesh: MeshKey) -> bool {
        self.meshes.get(mesh).is_some()
    }

    /// Per-draw data by slot; that of free slots is anything.
    #[inline]
    pub(crate) fn draw_data(&self) -> &[D] {
        &self.data
    }

    /// Hands each run of the mesh's `parts` to `emit`, as a command and the number of the
    /// buffer that it reads; does nothing for a stale handle, and says so. The mesh counts as
    /// drawn in the frame being built.
    #[inline]
    pub(crate) fn emit_commands(
        &self,
        handle: MeshHandle,
        parts: PartSet,
        table: &mut RunTable,
        mut emit: impl FnMut(u32, DrawCommand),
    ) -> bool {
        let Some(mesh) = self.mesh(handle) else { return false };
        mesh.note_drawn(self.frames.current());
        let (slot, ranges) = (handle.slot(), &mesh.ranges);
        let runs = table.runs(ranges.filled(), parts);
        if mesh.is_split() || mesh.len() > self.config.pattern_elements {
            self.emit_long(mesh, slot, runs, &mut emit);
            return true;
        }
        ranges.for_each_run(runs, |run| {
            emit(ranges.buffer.into(), self.command(slot, ranges.first, &run));
        });
        true
    }

    /// The same for a mesh of which a run may take several commands.
    #[cold]
    fn emit_long(
        &self,
        mesh: &Mesh,
        slot: u32,
        runs: &PartRuns,
        emit: &mut impl FnMut(u32, DrawCommand),
    ) {
        mesh.ranges.for_each_run(runs, |run| {
            self.split_run(mesh, run, |buffer, first, run| {
                self.emit_run(buffer, first, run, slot, emit);
            });
        });
    }

    /// Cuts a run of elements of a mesh that lies in several places, and hands each piece
    /// to `emit`: its buffer, where its place begins, and the run within that.
    fn split_run(&self, mesh: &Mesh, run: Range<u32>, mut emit: impl FnMut(u16, u32, Range<u32>)) {
        for (span, held, _) in self.pieces.spans(0, mesh.placed(), mesh.len()) {
            let (start, end) = (run.start.max(held.start), run.end.min(held.end));
            if start < end {
                emit(span.buffer, span.first, start - held.start..end - held.start);
            }
        }
    }

    /// Commands for elements `run` of a place, each as long as the index pattern at most.
    fn emit_run(
        &self,
        buffer: u16,
        first: u32,
        mut run: Range<u32>,
        slot: u32,
        emit: &mut impl FnMut(u32, DrawCommand),
    ) {
        while !run.is_empty() {
            let count = (run.end - run.start).min(self.config.pattern_elements);
            let part = run.start..run.start + count;
            emit(buffer.into(), self.command(slot, first, &part));
            run.start += count;
        }
    }

    /// The command for elements `run` of a place.
    #[inline]
    const fn command(&self, slot: u32, first: u32, run: &Range<u32>) -> DrawCommand {
        DrawCommand {
            index_count: (run.end - run.start) * self.config.indices_per_element,
            instance_count: 1,
            first_index: 0,
            base_vertex: ((first + run.start) * self.config.vertices_per_element) as i32,
            first_instance: slot,
        }
    }
}
