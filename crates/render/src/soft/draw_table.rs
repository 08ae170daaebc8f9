//! Per-draw data by slot, shared by geometries.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::memory::out_of_memory;
use crate::{DrawData, RenderError};

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
