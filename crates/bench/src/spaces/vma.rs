//! The virtual block of AMD's Vulkan Memory Allocator, a C++ library.
#![allow(unsafe_code)]

use std::ops::Range;

use vk_mem::{
    VirtualAllocation, VirtualAllocationCreateFlags, VirtualAllocationCreateInfo, VirtualBlock,
    VirtualBlockCreateFlags, VirtualBlockCreateInfo,
};

use super::ranges::Ranges;

pub(super) struct Vma {
    block: Option<VirtualBlock>,
    allocations: Vec<Option<(VirtualAllocation, u64)>>,
    unused: Vec<u32>,
}

impl Ranges for Vma {
    const NAME: &'static str = "vk-mem";
    /// Index of an allocation in a list, because an allocation is not `Copy`. This costs little
    /// compared with the library's own work.
    type Handle = u32;

    fn with_capacity(capacity: u32, max_ranges: u32) -> Self {
        let block = VirtualBlock::new(VirtualBlockCreateInfo {
            size: capacity.into(),
            flags: VirtualBlockCreateFlags::empty(),
            allocation_callbacks: None,
        });
        let allocations = (0..max_ranges).map(|_| None).collect();
        Self { block: block.ok(), allocations, unused: (0..max_ranges).rev().collect() }
    }

    #[inline]
    fn allocate(&mut self, size: u32) -> Option<u32> {
        let info = VirtualAllocationCreateInfo {
            size: size.into(),
            alignment: 0,
            user_data: 0,
            flags: VirtualAllocationCreateFlags::empty(),
        };
        // SAFETY: the block is live, and the size is not 0: sizes of all cases are at least 30.
        let allocated = unsafe { self.block.as_mut()?.allocate(info) }.ok()?;
        let at = self.unused.pop()?;
        self.allocations[at as usize] = Some(allocated);
        Some(at)
    }

    #[inline]
    fn free(&mut self, at: u32) {
        let taken = self.allocations[at as usize].take();
        if let (Some(block), Some((mut allocation, _))) = (&mut self.block, taken) {
            // SAFETY: the allocation is from this block. It was removed from the list, so it is
            // freed once.
            unsafe { block.free(&mut allocation) };
            self.unused.push(at);
        }
    }

    fn range(&self, at: u32, size: u32) -> Range<u32> {
        let offset = self.allocations[at as usize].as_ref().map_or(0, |(_, offset)| *offset as u32);
        offset..offset + size
    }
}

impl Drop for Vma {
    fn drop(&mut self) {
        if let Some(block) = &mut self.block {
            // SAFETY: no allocation of the block is used after this; the list is dropped too.
            unsafe { block.clear() };
        }
    }
}
