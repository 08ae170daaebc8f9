//! A buffer of quads and its table of per-draw data.

use std::rc::Rc;

use drystone_pool::Access;

use super::{
    bindings::Gl,
    buffer::{Buffer, Kind},
    context::Context,
    staging::Staging,
};
use crate::{
    buffers::{BufferKind, CopyRange, DrawSlots},
    draw_data::DrawData,
    error::RenderError,
    passes::Batch,
};

/// Entries and per-draw data on the GPU.
pub struct GlGeometry {
    pub(super) entries: Rc<Buffer>,
    /// Size of each entry in bytes.
    entry_bytes: u64,
    pub(super) draws: Rc<Buffer>,
    /// Number of entries.
    pub(super) capacity: u32,
    pub(super) slot_capacity: u32,
    pub(super) kind: BufferKind,
}

impl GlGeometry {
    /// Creates a geometry for entries of a given size. Cubes are always staged, because a running
    /// frame can read any of them.
    pub(super) fn new(
        context: &Rc<Context>,
        access: Access,
        (kind, entry_bytes, capacity): (BufferKind, u64, u32),
        slots: DrawSlots<'_, Self>,
    ) -> Result<Self, RenderError> {
        let (draws, slot_capacity) = match slots {
            DrawSlots::New(slots) => (draw_table(context, slots)?, slots),
            DrawSlots::SharedWith(other) => (Rc::clone(&other.draws), other.slot_capacity),
        };
        let memory = match access {
            Access::Direct if kind != BufferKind::Cubes => Kind::Persistent,
            Access::Direct | Access::Staged => Kind::Device,
        };
        let size_bytes = u64::from(capacity) * entry_bytes;
        let entries = Rc::new(Buffer::new(context, "quads", size_bytes, memory)?);
        Ok(Self { entries, entry_bytes, draws, capacity, slot_capacity, kind })
    }

    pub(super) fn set_draws(&mut self, draws: &Rc<Buffer>, slots: u32) {
        self.draws = Rc::clone(draws);
        self.slot_capacity = slots;
    }

    /// Writes the bytes of entries, directly into the buffer or staged; see [`Access`].
    pub(super) fn write(
        &self,
        gl: &Gl,
        staging: &mut Staging,
        (access, first): (Access, u32),
        bytes: &[u8],
    ) -> Result<(), RenderError> {
        let free_bytes = self.bytes_of(self.capacity.saturating_sub(first));
        let count_bytes = bytes.len().min(usize::try_from(free_bytes).unwrap_or(usize::MAX));
        let (bytes, offset_bytes) = (&bytes[..count_bytes], self.bytes_of(first));
        match access {
            _ if bytes.is_empty() => Ok(()),
            Access::Direct if self.kind != BufferKind::Cubes => {
                self.entries.write(offset_bytes, bytes);
                Ok(())
            }
            Access::Direct | Access::Staged => {
                staging.write(gl, (&self.entries, offset_bytes), bytes)
            }
        }
    }

    pub(super) fn write_draw_data(
        &self,
        gl: &Gl,
        staging: &mut Staging,
        first: u32,
        data: &[DrawData],
    ) -> Result<(), RenderError> {
        let bytes = DrawData::shader_bytes(data, first, self.slot_capacity);
        if bytes.is_empty() {
            return Ok(());
        }
        let offset_bytes = u64::from(first) * DrawData::SHADER_BYTES as u64;
        staging.write(gl, (&self.draws, offset_bytes), &bytes)
    }

    /// Records a copy of entries of `from`, or within this geometry.
    pub(super) fn copy(&self, gl: &Gl, from: Option<&Self>, copy_range: CopyRange) {
        let from = from.unwrap_or(self);
        let Some(CopyRange { from: first, to, count }) =
            copy_range.cut(from.capacity, self.capacity)
        else {
            return;
        };
        // Overlapping ranges would be undefined afterwards; they are not copied.
        let overlap = Rc::ptr_eq(&self.entries, &from.entries) && first.abs_diff(to) < count;
        if !overlap && self.kind == from.kind {
            let from = (&*from.entries, self.bytes_of(first));
            self.entries.copy_from(gl, self.bytes_of(to), from, self.bytes_of(count));
        }
    }

    fn bytes_of(&self, entries: u32) -> u64 {
        u64::from(entries) * self.entry_bytes
    }
}

/// Creates a table of per-draw data.
pub(super) fn draw_table(context: &Rc<Context>, slots: u32) -> Result<Rc<Buffer>, RenderError> {
    let size_bytes = u64::from(slots) * DrawData::SHADER_BYTES as u64;
    Ok(Rc::new(Buffer::new(context, "per-draw data", size_bytes, Kind::Device)?))
}

/// Whether the entries of a batch can be drawn with its indices, or without.
pub(super) fn is_drawn(batch: &Batch<'_, GlGeometry>) -> bool {
    batch.geometry.kind.is_drawn_by(batch.indices.map(|indices| indices.kind))
}

/// Checks the ranges of a batch, which drivers do not check.
pub(super) fn check(batch: &Batch<'_, GlGeometry>) -> Result<(), RenderError> {
    if !is_drawn(batch) {
        return Ok(());
    }
    let GlGeometry { kind, capacity, slot_capacity, .. } = *batch.geometry;
    match batch.indices {
        Some(indices) => batch.check_indexed(capacity, indices.capacity, slot_capacity),
        None => batch.check(kind.pattern_quads(capacity), slot_capacity),
    }
}
