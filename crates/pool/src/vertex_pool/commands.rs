use core::ops::Range;

use bytemuck::Pod;

use super::VertexPool;
use crate::{
    DrawCommand, MeshHandle, PartSet,
    mesh::{Mesh, MeshKey},
    part_runs::{PartRuns, RunTable},
};

/// Functions from which draw lists build commands.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Records that commands were returned for drawing, whether new or reused. Memory that is freed
    /// afterwards may be read by the frame being built.
    #[inline]
    pub(crate) fn note_commands_returned(&self, count: usize) {
        self.frames.note_commands_returned(count);
    }

    /// Records that a mesh is drawn in the frame being built, for callers that build its command
    /// themselves.
    pub(crate) fn note_drawn(&self, handle: MeshHandle) {
        if let Some(mesh) = self.mesh(handle) {
            mesh.note_drawn(self.frames.current());
        }
    }

    /// Id of the pool, unique in the process.
    #[inline]
    pub(crate) const fn id(&self) -> u32 {
        self.id
    }

    /// Number of removals: increases when a valid handle becomes stale.
    #[inline]
    pub(crate) const fn removals(&self) -> u64 {
        self.removals
    }

    /// Returns whether this mesh of this pool is live.
    #[inline]
    pub(crate) fn has(&self, mesh: MeshKey) -> bool {
        self.meshes.get(mesh).is_some()
    }

    /// Per-draw data, indexed by slot. Entries of free slots are unspecified.
    #[inline]
    pub(crate) fn draw_data(&self) -> &[D] {
        &self.data
    }

    /// Passes a command and the number of its buffer to `emit`, for each run of the mesh's `parts`.
    /// Marks the mesh as drawn in the frame being built. Returns `false` for a stale handle.
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

    /// Emits the commands of a mesh whose runs may need several commands each.
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

    /// Splits a run of elements at the bounds of the mesh's allocations. Passes to `emit` the
    /// buffer, the first element of the allocation, and the part of the run relative to it.
    fn split_run(&self, mesh: &Mesh, run: Range<u32>, mut emit: impl FnMut(u16, u32, Range<u32>)) {
        for (span, held, _) in self.pieces.spans(0, mesh.location(), mesh.len()) {
            let (start, end) = (run.start.max(held.start), run.end.min(held.end));
            if start < end {
                emit(span.buffer, span.first, start - held.start..end - held.start);
            }
        }
    }

    /// Emits commands for elements `run` of an allocation, each at most as long as the index
    /// pattern.
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

    /// Returns the command for elements `run` of an allocation.
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
