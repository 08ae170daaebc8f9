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
    Batch, DrawData, RenderError,
    device::{Entries, copied_quads},
};

/// Quads and per-draw data on the GPU.
pub struct GlGeometry {
    pub(super) quads: Rc<Buffer>,
    /// Size of each entry in bytes.
    quad_bytes: u64,
    pub(super) draws: Rc<Buffer>,
    pub(super) quad_capacity: u32,
    pub(super) slot_capacity: u32,
    pub(super) entries: Entries,
}

impl GlGeometry {
    /// Creates a geometry for entries of a given size, with a table that can be shared.
    pub(super) fn new(
        context: &Rc<Context>,
        access: Access,
        (quad_capacity, quad_bytes): (u32, u64),
        (draws, slot_capacity): (Rc<Buffer>, u32),
    ) -> Result<Self, RenderError> {
        let kind = match access {
            Access::Direct => Kind::Persistent,
            Access::Staged => Kind::Device,
        };
        let size_bytes = u64::from(quad_capacity) * quad_bytes;
        let quads = Rc::new(Buffer::new(context, "quads", size_bytes, kind)?);
        let entries = Entries::Quads;
        Ok(Self { quads, quad_bytes, draws, quad_capacity, slot_capacity, entries })
    }

    /// Creates a geometry for cubes. They are always staged, because a running frame can read any
    /// of them.
    pub(super) fn of_cubes(
        context: &Rc<Context>,
        (capacity, bytes): (u32, u64),
        table: (Rc<Buffer>, u32),
    ) -> Result<Self, RenderError> {
        let geometry = Self::new(context, Access::Staged, (capacity, bytes), table)?;
        Ok(Self { entries: Entries::Cubes, ..geometry })
    }

    /// Creates a geometry for the vertices or the indices of triangles.
    pub(super) fn of_triangles(
        context: &Rc<Context>,
        access: Access,
        (entries, count): (Entries, u32),
        table: (Rc<Buffer>, u32),
    ) -> Result<Self, RenderError> {
        let geometry = Self::new(context, access, (count, entries.bytes()), table)?;
        Ok(Self { entries, ..geometry })
    }

    pub(super) const fn element_bytes(&self) -> u64 {
        self.quad_bytes
    }

    /// The table, to be shared.
    pub(super) fn table(&self) -> (Rc<Buffer>, u32) {
        (Rc::clone(&self.draws), self.slot_capacity)
    }

    pub(super) fn set_draws(&mut self, draws: &Rc<Buffer>, slots: u32) {
        self.draws = Rc::clone(draws);
        self.slot_capacity = slots;
    }

    /// Writes quads, directly into the buffer or staged; see [`Access`].
    pub(super) fn write(
        &self,
        gl: &Gl,
        staging: &mut Staging,
        (access, first): (Access, u32),
        bytes: &[u8],
    ) -> Result<(), RenderError> {
        let room_bytes = self.bytes_of(self.quad_capacity.saturating_sub(first));
        let count_bytes = bytes.len().min(usize::try_from(room_bytes).unwrap_or(usize::MAX));
        let (bytes, offset_bytes) = (&bytes[..count_bytes], self.bytes_of(first));
        match access {
            _ if bytes.is_empty() => Ok(()),
            Access::Direct => {
                self.quads.write(offset_bytes, bytes);
                Ok(())
            }
            Access::Staged => staging.write(gl, (&self.quads, offset_bytes), bytes),
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

    /// Records a copy of quads of `from`, which can be this geometry itself, into this geometry.
    pub(super) fn copy_from(
        &self,
        gl: &Gl,
        to_first: u32,
        (from, from_first): (&Self, u32),
        count: u32,
    ) {
        let ends = [(from.quad_capacity, from_first), (self.quad_capacity, to_first)];
        let count = copied_quads(ends[0], ends[1], count);
        let overlap = Rc::ptr_eq(&self.quads, &from.quads) && from_first.abs_diff(to_first) < count;
        // Overlapping ranges would be undefined afterwards; they are not copied.
        if count > 0 && !overlap && self.entries == from.entries {
            let from = (&*from.quads, self.bytes_of(from_first));
            self.quads.copy_from(gl, self.bytes_of(to_first), from, self.bytes_of(count));
        }
    }

    fn bytes_of(&self, quads: u32) -> u64 {
        u64::from(quads) * self.quad_bytes
    }
}

/// Creates a table of per-draw data.
pub(super) fn draw_table(context: &Rc<Context>, slots: u32) -> Result<Rc<Buffer>, RenderError> {
    let size_bytes = u64::from(slots) * DrawData::SHADER_BYTES as u64;
    Ok(Rc::new(Buffer::new(context, "per-draw data", size_bytes, Kind::Device)?))
}

/// Whether the entries of a batch can be drawn with its indices, or without.
pub(super) fn is_drawn(batch: &Batch<'_, GlGeometry>) -> bool {
    batch.geometry.entries.are_drawn_by(batch.indices.map(|indices| indices.entries))
}

/// Checks the ranges of a batch, which drivers do not check.
pub(super) fn check(batch: &Batch<'_, GlGeometry>) -> Result<(), RenderError> {
    if !is_drawn(batch) {
        return Ok(());
    }
    let GlGeometry { entries, quad_capacity, slot_capacity, .. } = *batch.geometry;
    match batch.indices {
        Some(indices) => batch.check_indexed(quad_capacity, indices.quad_capacity, slot_capacity),
        None => batch.check(entries.pattern_quads(quad_capacity), slot_capacity),
    }
}
