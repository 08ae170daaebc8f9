//! An instance buffer for your own renderer, managed by an [`AddressSpace`].
//!
//! ```text
//! cargo run -p drystone-alloc --example instance_buffer
//! ```
//! A swarm of particles is drawn as instances 0 to `high_water`, in one call. The space allocates
//! the index of each particle's record. When a particle dies, its index is freed and its record is
//! overwritten with one that draws nothing. With [`IndexPolicy::Lowest`], new particles fill the gaps
//! from the front, so the drawn part of the buffer stays short. The example uses no graphics API:
//! `upload` is where `queue.write_buffer` or `glNamedBufferSubData` would be called.

use drystone_alloc::{AddressSpace, Error, IndexPolicy};

/// Record of an instance, as a vertex shader reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Instance {
    position: [f32; 3],
    /// 0 draws nothing.
    size: f32,
}

/// Buffer of instances on the GPU, and its allocated indices.
struct InstanceBuffer {
    indices: AddressSpace,
    /// Stands for the buffer on the GPU.
    buffer: Vec<Instance>,
    uploaded_bytes: usize,
}

impl InstanceBuffer {
    fn new(capacity: u32) -> Self {
        let indices = AddressSpace::bounded(IndexPolicy::Lowest, capacity);
        Self { indices, buffer: vec![Instance::default(); capacity as usize], uploaded_bytes: 0 }
    }

    /// Adds an instance and returns its index.
    ///
    /// # Errors
    /// `Full` if the buffer is full. Nothing changes then.
    fn insert(&mut self, instance: Instance) -> Result<u32, Error> {
        let index = self.indices.allocate()?;
        self.upload(index, instance);
        Ok(index)
    }

    /// Removes an instance.
    ///
    /// # Errors
    /// `NotAllocated` if there is no instance at this index.
    fn remove(&mut self, index: u32) -> Result<(), Error> {
        self.indices.free(index)?;
        self.upload(index, Instance::default());
        Ok(())
    }

    fn upload(&mut self, index: u32, instance: Instance) {
        self.buffer[index as usize] = instance;
        self.uploaded_bytes += size_of::<Instance>();
    }

    /// Returns the instances of the draw call.
    fn drawn(&self) -> &[Instance] {
        &self.buffer[..self.indices.high_water() as usize]
    }
}

fn main() -> Result<(), Error> {
    let mut buffer = InstanceBuffer::new(4096);
    let mut alive = Vec::new();
    let mut random = 1_u32;
    for frame in 0..600 {
        // The swarm grows for a while, then it shrinks.
        let births = if frame / 150 % 2 == 0 { 20 } else { 5 };
        for _ in 0..births {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let position = [random >> 24, random >> 16 & 255, random >> 8 & 255].map(|c| c as f32);
            alive.push(buffer.insert(Instance { position, size: 1.0 })?);
        }
        for _ in 0..13.min(alive.len()) {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let dead = alive.swap_remove((random >> 8) as usize % alive.len());
            buffer.remove(dead)?;
        }
        if frame % 100 == 99 {
            let (live, drawn) = (alive.len(), buffer.drawn().len());
            println!("frame {frame}: {live} alive, one call draws instances 0..{drawn}");
        }
    }
    let visible = buffer.drawn().iter().filter(|instance| instance.size > 0.0).count();
    assert_eq!(visible, alive.len(), "each is in the buffer once");
    assert_eq!(buffer.remove(4095), Err(Error::NotAllocated), "the index was not allocated");
    println!("{} bytes were uploaded", buffer.uploaded_bytes);
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
