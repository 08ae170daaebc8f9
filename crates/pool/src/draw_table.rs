use alloc::vec::Vec;

use bytemuck::Pod;

use crate::{
    backend::{Backend, BackendError},
    config::PoolConfig,
};

/// Per-draw data of a pool's meshes, by slot, and the capacity of the backend's table. Each
/// function that writes returns the number of written bytes.
#[derive(Debug)]
pub(crate) struct DrawTable<D> {
    data: Vec<D>,
    /// Capacity of the backend's table, in slots.
    slots: u32,
}

impl<D: Pod> DrawTable<D> {
    pub(crate) const fn new() -> Self {
        Self { data: Vec::new(), slots: 0 }
    }

    /// Reserves an entry for a slot, filled with `data` if it is new. Returns whether the backend's
    /// table has the slot; if not, it must [grow](Self::grow).
    #[inline]
    pub(crate) fn reserve(&mut self, slot: u32, data: D) -> bool {
        if slot as usize >= self.data.len() {
            self.grow_data(slot, data);
        }
        slot < self.slots
    }

    #[cold]
    fn grow_data(&mut self, slot: u32, data: D) {
        self.data.resize(slot as usize + 1, data);
    }

    /// Grows the backend's table, and writes all per-draw data again.
    #[cold]
    pub(crate) fn grow(
        &mut self,
        slot: u32,
        config: &PoolConfig,
        backend: &mut impl Backend,
    ) -> Result<usize, BackendError> {
        let doubled = self.slots.saturating_mul(2).max(config.first_slots);
        // Slots with exhausted generations are unused, so indices can exceed the maximum of meshes.
        let slots = doubled.min(config.max_slots).max(slot + 1);
        backend.resize_draw_data(slots)?;
        self.slots = slots;
        backend.write_draw_data(0, bytemuck::cast_slice(&self.data));
        Ok(size_of_val(self.data.as_slice()))
    }

    /// Changes and writes the data of a slot.
    #[inline]
    pub(crate) fn set(&mut self, slot: u32, data: D, backend: &mut impl Backend) -> usize {
        if let Some(entry) = self.data.get_mut(slot as usize) {
            *entry = data;
        }
        backend.write_draw_data(slot, bytemuck::bytes_of(&data));
        size_of::<D>()
    }

    /// Data of all slots. Entries of free slots are unspecified.
    #[inline]
    pub(crate) fn all(&self) -> &[D] {
        &self.data
    }
}
