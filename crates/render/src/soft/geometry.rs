//! Quads and per-draw data in memory, and the ranges of commands in them.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use drystone_mesh::{INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::DrawCommand;

use super::memory::{out_of_memory, zeroed};
use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    draw_data::DrawData,
    error::RenderError,
    passes::Batch,
    triangle_vertex::TriangleVertex,
};

/// Maximum number of quads of one geometry: 128 MiB, as in Mesa's Vulkan rasteriser, so that pools
/// are alike on both.
pub(super) const MAX_QUADS: u32 = 1 << 24;
/// Maximum size of the entries of a geometry.
const MAX_BYTES: u64 = MAX_QUADS as u64 * size_of::<Quad>() as u64;

/// Entries and per-draw data in memory.
pub struct SoftGeometry {
    kind: BufferKind,
    /// Number of entries.
    len: u32,
    /// The words of the entries.
    words: Vec<u32>,
    draws: Arc<DrawTable>,
}

/// Quads of one draw, and the data of their mesh.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) quads: &'a [Quad],
    pub(super) data: DrawData,
    /// The table of regions, if the quads are the bits of cubes.
    pub(super) cubes: Option<&'a DrawTable>,
}

impl SoftGeometry {
    pub(super) fn new(
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, Self>,
    ) -> Result<Self, RenderError> {
        let what = match kind {
            BufferKind::Quads | BufferKind::Cubes => "quads of a geometry",
            BufferKind::Vertices => "vertices of a geometry",
            BufferKind::Indices => "indices of a geometry",
        };
        let limit = MAX_BYTES / kind.entry_bytes();
        if u64::from(count) > limit {
            return Err(RenderError::TooLarge { what, requested: count.into(), limit });
        }
        let draws = match slots {
            DrawSlots::New(slots) => Arc::new(DrawTable::new(slots)?),
            DrawSlots::SharedWith(other) => Arc::clone(&other.draws),
        };
        let words = zeroed(what, count as usize * words_of(kind))?;
        Ok(Self { kind, len: count, words, draws })
    }

    pub(super) fn set_draws(&mut self, draws: &Arc<DrawTable>) {
        self.draws = Arc::clone(draws);
    }

    /// Writes the entries or slots that exist, from `first` on.
    pub(super) fn write(&mut self, first: u32, data: BufferData<'_>) {
        if let BufferData::DrawData(data) = data {
            return self.draws.write(first, data);
        }
        if data.kind() != Some(self.kind) || first > self.len {
            return;
        }
        let words: &[u32] = bytemuck::cast_slice(data.bytes());
        let target = &mut self.words[first as usize * words_of(self.kind)..];
        let count = target.len().min(words.len());
        target[..count].copy_from_slice(&words[..count]);
    }

    /// Copies entries of another geometry of the same kind, or of this one.
    pub(super) fn copy(&mut self, from: Option<&Self>, copy_range: CopyRange) {
        let from_len = from.map_or(self.len, |from| from.len);
        let Some(copy_range) = copy_range.cut(from_len, self.len) else { return };
        let CopyRange { from: first, to, count } = copy_range;
        let entry_words = words_of(self.kind);
        let [first, to, count] = [first, to, count].map(|entry| entry as usize * entry_words);
        match from {
            None => self.words.copy_within(first..first + count, to),
            Some(from) if from.kind != self.kind => {}
            Some(from) => {
                self.words[to..to + count].copy_from_slice(&from.words[first..first + count]);
            }
        }
    }

    pub(super) const fn kind(&self) -> BufferKind {
        self.kind
    }

    /// The table of per-draw data.
    pub(super) fn draws(&self) -> &DrawTable {
        &self.draws
    }

    /// The quads, or cubes with the same bits; empty in other geometries.
    fn quads(&self) -> &[Quad] {
        let has_quads = matches!(self.kind, BufferKind::Quads | BufferKind::Cubes);
        if has_quads { bytemuck::cast_slice(&self.words) } else { &[] }
    }

    /// The vertices; empty in other geometries.
    pub(super) fn vertices(&self) -> &[TriangleVertex] {
        let has_vertices = self.kind == BufferKind::Vertices;
        if has_vertices { bytemuck::cast_slice(&self.words) } else { &[] }
    }

    /// The indices; empty in other geometries.
    pub(super) fn indices(&self) -> &[u32] {
        if self.kind == BufferKind::Indices { &self.words } else { &[] }
    }

    /// The quads of a command that exist.
    fn quads_of(&self, command: &DrawCommand) -> &[Quad] {
        // Indices are those of the shared pattern, so a first index skips whole quads.
        let skipped = i64::from(command.first_index / INDICES_PER_QUAD);
        let first = i64::from(command.base_vertex).div_euclid(VERTICES_PER_QUAD.into()) + skipped;
        let end = first + i64::from(command.index_count / INDICES_PER_QUAD);
        let (quads, per_entry) = (self.quads(), i64::from(self.kind.pattern_quads(1)).max(1));
        let [first, end] = [first, end].map(|quad| quad.div_euclid(per_entry));
        let [first, end] = [first, end].map(|at| at.clamp(0, quads.len() as i64) as usize);
        &quads[first..end]
    }

    /// The slots of a command that exist, one for each instance.
    pub(super) fn slots_of(&self, command: &DrawCommand) -> Range<u32> {
        let end = command.first_instance.saturating_add(command.instance_count);
        command.first_instance..end.min(self.draws.len())
    }
}

/// All quads of the batches, draw by draw in order.
pub(super) fn runs<'a>(
    batches: impl Iterator<Item = &'a Batch<'a, SoftGeometry>>,
) -> impl Iterator<Item = Run<'a>> {
    let are_quads = |batch: &&Batch<'_, SoftGeometry>| {
        batch.geometry.kind.is_drawn_by(batch.indices.map(SoftGeometry::kind))
    };
    batches.filter(are_quads).flat_map(|batch| {
        batch.commands.iter().flat_map(move |command| {
            let quads = batch.geometry.quads_of(command);
            let slots = if quads.is_empty() { 0..0 } else { batch.geometry.slots_of(command) };
            let draws = &*batch.geometry.draws;
            let cubes = (batch.geometry.kind == BufferKind::Cubes).then_some(draws);
            slots.map(move |slot| Run { quads, data: draws.read(slot), cubes })
        })
    })
}

/// Number of words of an entry.
const fn words_of(kind: BufferKind) -> usize {
    kind.entry_bytes() as usize / size_of::<u32>()
}

/// Maximum number of slots of one table: 320 MiB.
const MAX_SLOTS: u32 = 1 << 24;

/// A table that several geometries read and write. Drawing and writing happen on one thread, one
/// after the other. Atomics only make the sharing sound, at the cost of plain loads and stores.
pub(super) struct DrawTable(Vec<[AtomicU32; WORDS]>);

const WORDS: usize = size_of::<DrawData>() / 4;

impl DrawTable {
    pub(super) fn new(slots: u32) -> Result<Self, RenderError> {
        const WHAT: &str = "slots of a geometry";
        if slots > MAX_SLOTS {
            let (requested, limit) = (slots.into(), MAX_SLOTS.into());
            return Err(RenderError::TooLarge { what: WHAT, requested, limit });
        }
        let mut table = Vec::new();
        table
            .try_reserve_exact(slots as usize)
            .map_err(|_| out_of_memory(WHAT, u128::from(slots) * size_of::<DrawData>() as u128))?;
        table.resize_with(slots as usize, Default::default);
        Ok(Self(table))
    }

    pub(super) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// A slot's data; zero for a slot that does not exist.
    pub(super) fn read(&self, slot: u32) -> DrawData {
        let words = self.0.get(slot as usize);
        words.map_or_else(DrawData::default, |words| {
            bytemuck::cast(std::array::from_fn::<u32, WORDS, _>(|i| words[i].load(Relaxed)))
        })
    }

    /// Writes slots from `first` on; slots that do not exist are ignored.
    pub(super) fn write(&self, first: u32, data: &[DrawData]) {
        let slots = self.0.get(first as usize..).unwrap_or_default();
        for (words, data) in slots.iter().zip(data) {
            for (word, value) in words.iter().zip(bytemuck::cast::<_, [u32; WORDS]>(*data)) {
                word.store(value, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests;
