use alloc::vec::Vec;

use drystone_testing::Random;

use super::*;
use crate::{
    backend::{Access, Backend, BackendError},
    command::{Grouping, HiddenCommands, sort_key},
    config::PoolConfig,
};

mod patches;
mod programs;
mod runs;
#[cfg(feature = "rayon")]
mod threads;
mod twin;
mod views;

/// Memory of a GPU: elements per buffer and per-draw data, as a shader reads them.
#[derive(Default)]
struct Memory {
    buffers: Vec<Vec<u32>>,
    data: Vec<u32>,
}

/// Copies `bytes` to `offset_bytes` of memory.
fn store(memory: &mut [u32], offset_bytes: u64, bytes: &[u8]) {
    let start = offset_bytes as usize;
    bytemuck::cast_slice_mut::<u32, u8>(memory)[start..start + bytes.len()].copy_from_slice(bytes);
}

impl Backend for Memory {
    fn access(&self) -> Access {
        Access::Staged
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        assert_eq!(buffer as usize, self.buffers.len());
        self.buffers.push(alloc::vec![0; size_bytes as usize / 4]);
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        panic!("buffer {buffer} is destroyed though no frame ever completes");
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        store(&mut self.buffers[buffer as usize], offset_bytes, bytes);
        Ok(())
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        let elements: &[u8] = bytemuck::cast_slice(&self.buffers[from.0 as usize]);
        let copied = elements[from.1 as usize..(from.1 + size_bytes) as usize].to_vec();
        store(&mut self.buffers[to.0 as usize], to.1, &copied);
        Ok(())
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        self.data.resize(slots as usize, 0);
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        store(&mut self.data, u64::from(slot) * 4, bytes);
    }
}

type Pool = VertexPool<u32, u32>;

/// Maximum number of meshes of a pool.
const SLOTS: u32 = 64;
/// Maximum number of buffers of a pool.
const BUFFERS: u16 = 3;

/// Creates a pool whose buffers have `elements` elements each.
fn pool(elements: u32) -> (Pool, Memory) {
    pool_with(elements, SLOTS)
}

fn pool_with(elements: u32, slots: u32) -> (Pool, Memory) {
    let config = PoolConfig {
        pattern_elements: 4,
        max_buffers: BUFFERS,
        ..PoolConfig::fixed(elements, slots)
    };
    (Pool::new(config).unwrap(), Memory::default())
}

/// Returns the elements that the commands draw from the first buffer, with their per-draw data.
fn drawn(commands: &[DrawCommand], memory: &Memory) -> Vec<(u32, u32)> {
    let run = CommandRun { buffer: 0, commands: 0..commands.len() };
    drawn_in_runs((&[run], commands), memory)
}

/// Returns the elements that the commands draw, with their per-draw data.
fn drawn_in_runs(
    (runs, commands): (&[CommandRun], &[DrawCommand]),
    memory: &Memory,
) -> Vec<(u32, u32)> {
    let mut drawn = Vec::new();
    for run in runs {
        for command in &commands[run.commands.clone()] {
            assert_eq!((command.instance_count, command.first_index), (1, 0));
            assert!(command.index_count > 0 && command.index_count <= 4 * 6);
            let first = command.base_vertex as usize / 4;
            let data = memory.data[command.first_instance as usize];
            let elements = &memory.buffers[run.buffer as usize];
            let elements = &elements[first..first + command.index_count as usize / 6];
            drawn.extend(elements.iter().map(|&element| (data, element)));
        }
    }
    drawn
}

#[test]
fn runs_of_visible_parts_merge_over_empty_ones() {
    let (mut pool, mut memory) = pool(100);
    let mesh = pool.insert(&[1, 2, 3, 4], &[1, 0, 1, 1, 0, 1], 9, &mut memory).unwrap();
    let mut list = DrawList::new();
    list.insert(mesh).unwrap();
    for (bits, runs) in [(0b000101, 1), (0b001001, 2), (0b100101, 2), (0b111111, 1), (0b010010, 0)]
    {
        list.mask(&pool, |_| PartSet::from_bits(bits));
        assert_eq!(list.commands(&pool).len(), runs, "{bits:b}");
    }
}

#[test]
fn long_runs_are_split_to_the_pattern() {
    let (mut pool, mut memory) = pool(100);
    let elements: Vec<u32> = (0..11).collect();
    let mesh = pool.insert(&elements, &[5, 6], 0, &mut memory).unwrap();
    let mut list = DrawList::new();
    list.insert(mesh).unwrap();
    assert_eq!(list.commands(&pool).len(), 3);
    let drawn_elements: Vec<u32> =
        drawn(list.commands(&pool), &memory).iter().map(|d| d.1).collect();
    assert_eq!(drawn_elements, elements);
}

#[test]
fn sort_keys_compare_like_distances() {
    assert!(sort_key(1.0, 9) < sort_key(1.5, 0));
    assert!(sort_key(1.0, 1) < sort_key(1.0, 2));
    assert!(sort_key(0.0, 0) < sort_key(f32::MIN_POSITIVE, 0));
}
