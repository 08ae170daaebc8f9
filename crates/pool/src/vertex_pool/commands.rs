use core::ops::Range;

use bytemuck::Pod;

use super::VertexPool;
use crate::{DrawCommand, MeshHandle, PartSet, mesh::Mesh};

/// What draw lists make commands of.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// To be called when commands are handed out to be drawn, newly built or not: a place
    /// that is freed from then on may be read by the frame being built.
    #[inline]
    pub(crate) fn note_commands_taken(&self, count: usize) {
        self.frames.note_commands_taken(count);
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

    /// Per-draw data by slot; that of free slots is anything.
    #[inline]
    pub(crate) fn draw_data(&self) -> &[D] {
        &self.data
    }

    /// Hands each run of the mesh's `parts` to `emit`, as a command and the number of the
    /// buffer that it reads; does nothing for a stale handle. The mesh counts as drawn in
    /// the frame being built.
    #[inline]
    pub(crate) fn emit_commands(
        &self,
        handle: MeshHandle,
        parts: PartSet,
        mut emit: impl FnMut(u32, DrawCommand),
    ) {
        let Some(mesh) = self.mesh(handle) else { return };
        mesh.note_drawn(self.frames.current());
        let slot = handle.slot();
        mesh.ranges.visible_runs(parts, |run| {
            if mesh.is_split() {
                self.split_run(mesh, run, |buffer, first, run| {
                    self.emit_run(buffer, first, run, slot, &mut emit);
                });
            } else {
                let ranges = &mesh.ranges;
                self.emit_run(ranges.buffer, ranges.first, run, slot, &mut emit);
            }
        });
    }

    /// Cuts a run of elements of a mesh that lies in several places, and hands each piece
    /// to `emit`: its buffer, where its place begins, and the run within that.
    #[cold]
    fn split_run(&self, mesh: &Mesh, run: Range<u32>, mut emit: impl FnMut(u16, u32, Range<u32>)) {
        for (span, held, _) in self.pieces.spans(0, mesh.placed(), mesh.len()) {
            let (start, end) = (run.start.max(held.start), run.end.min(held.end));
            if start < end {
                emit(span.buffer, span.first, start - held.start..end - held.start);
            }
        }
    }

    /// One command for elements `run` of a place, or several where the index pattern is
    /// shorter.
    #[inline]
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
            let command = DrawCommand {
                index_count: count * self.config.indices_per_element,
                instance_count: 1,
                first_index: 0,
                base_vertex: ((first + run.start) * self.config.vertices_per_element) as i32,
                first_instance: slot,
            };
            emit(buffer.into(), command);
            run.start += count;
        }
    }
}
