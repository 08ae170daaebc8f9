//! Writes and copies in any order leave the bytes that they leave in plain memory.

use drystone_testing::Random;
use drystone_wgpu::{
    WriteMode,
    parts::{CopyBytes, Gpu, Transfers},
};

use crate::screen::Screen;

/// Size of each buffer, in words.
const WORDS: u32 = 40_000;

/// Buffers on the device, and their content in plain memory.
struct Twin {
    gpu: Gpu,
    transfers: Transfers,
    buffers: Vec<(wgpu::Buffer, Vec<u32>)>,
    random: Random,
}

impl Twin {
    fn new(gpu: Gpu, seed: u64) -> Self {
        use wgpu::BufferUsages as Usage;
        let copied = Usage::COPY_SRC | Usage::COPY_DST;
        // The writes to the last buffer cannot be gathered.
        let buffers = [Usage::STORAGE, Usage::STORAGE | Usage::INDEX, Usage::VERTEX]
            .map(|usage| {
                let size_bytes = u64::from(WORDS) * 4;
                let buffer = gpu.buffer("a buffer", size_bytes, usage | copied).unwrap();
                (buffer, vec![0; WORDS as usize])
            })
            .into();
        Self {
            gpu,
            transfers: Transfers::new(WriteMode::Gathered),
            buffers,
            random: Random::new(seed),
        }
    }

    /// A first word and a number of words, rarely a large one.
    fn range(&mut self) -> (usize, usize) {
        let longest = match self.random.below(100) {
            0 => 20_000,
            1..10 => 600,
            _ => 8,
        };
        let len = self.random.below(longest + 1);
        // Many at the start, so that gathered ones overlap.
        let near = if self.random.below(4) == 0 { 64 } else { WORDS };
        (self.random.below((WORDS + 1 - len).min(near)) as usize, len as usize)
    }

    fn write(&mut self) {
        let at = if self.random.below(100) == 0 { 2 } else { self.random.below(2) as usize };
        let (first, len) = self.range();
        let words: Vec<u32> = (0..len).map(|_| self.random.below(u32::MAX)).collect();
        let (buffer, content) = &mut self.buffers[at];
        let place = ("a buffer", first as u64 * 4);
        let bytes = bytemuck::cast_slice(&words);
        self.transfers.write(&self.gpu, buffer, place, bytes).unwrap();
        content[first..first + len].copy_from_slice(&words);
    }

    fn copy(&mut self) {
        let [from, to] = [(); 2].map(|()| self.random.below(3) as usize);
        let (first, len) = self.range();
        let target = self.random.below(WORDS + 1 - len as u32) as usize;
        let [from_bytes, to_bytes, size_bytes] = [first, target, len].map(|n| n as u64 * 4);
        let copy_bytes = CopyBytes { from_bytes, to_bytes, size_bytes };
        let words = self.buffers[from].1[first..first + len].to_vec();
        let [source, copy] = [from, to].map(|at| self.buffers[at].0.clone());
        if from != to {
            self.transfers.copy(&self.gpu, &source, &copy, copy_bytes).unwrap();
        } else if first + len <= target || target + len <= first {
            self.transfers.copy_within(&self.gpu, &source, copy_bytes).unwrap();
        } else {
            return;
        }
        self.buffers[to].1[target..target + len].copy_from_slice(&words);
    }

    fn check(&mut self, step: usize) {
        self.transfers.flush(&self.gpu).unwrap();
        for (at, (buffer, expected)) in self.buffers.iter().enumerate() {
            let words = read(&self.gpu, buffer);
            let wrong = words.iter().zip(expected).position(|(word, expected)| word != expected);
            assert_eq!(wrong, None, "step {step}, buffer {at}");
        }
    }
}

fn read(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<u32> {
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let copy = gpu.buffer("a copy", buffer.size(), usage).unwrap();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
    gpu.queue.submit([encoder.finish()]);
    copy.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = copy.get_mapped_range(..).unwrap();
    bytemuck::pod_collect_to_vec(&bytes[..])
}

#[test]
fn transfers_are_carried_out_in_order() {
    let Some(screen) = Screen::open("transfers_are_carried_out_in_order") else { return };
    for seed in 0..4 {
        let mut twin = Twin::new(Gpu::new(&screen.device, &screen.queue), seed);
        for step in 0..4_000 {
            match twin.random.below(100) {
                0 => twin.check(step),
                1 | 2 => {
                    let flushed = twin.transfers.flush(&twin.gpu);
                    flushed.unwrap();
                }
                3 => twin.copy(),
                _ => twin.write(),
            }
        }
        twin.check(4_000);
    }
}

/// More writes than one pass can carry out, and more bytes.
#[test]
fn many_writes_need_several_passes() {
    let Some(screen) = Screen::open("many_writes_need_several_passes") else { return };
    let gpu = Gpu::new(&screen.device, &screen.queue);
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let len = 70_000 + 180 * 11_000;
    let buffer = gpu.buffer("a buffer", len * 4, usage | wgpu::BufferUsages::COPY_DST).unwrap();
    let mut transfers = Transfers::new(WriteMode::Gathered);
    let mut write = |words: std::ops::Range<u32>| {
        let place = ("a buffer", u64::from(words.start) * 4);
        let words: Vec<u32> = words.collect();
        transfers.write(&gpu, &buffer, place, bytemuck::cast_slice(&words)).unwrap();
    };
    (0..70_000).for_each(|word| write(word..word + 1));
    (70_000..len as u32).step_by(11_000).for_each(|word| write(word..word + 11_000));
    transfers.flush(&gpu).unwrap();
    assert!(read(&gpu, &buffer).into_iter().eq(0..len as u32));
}
