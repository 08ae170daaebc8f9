//! Meshes of any size in one buffer, managed by a [`RangeSpace`].
//!
//! ```text
//! cargo run -p drystone-alloc --example mesh_buffer
//! ```
//! When a mesh does not fit, the error tells what to do. If the free units suffice, meshes are moved
//! together. Else the buffer grows, up to a limit. The example uses no graphics API: `buffer` stands
//! for a buffer on the GPU, and its copies for `copy_buffer_to_buffer` or `glCopyNamedBufferSubData`.
//! The pool of the crate `drystone-pool` does this with several buffers, and waits for frames in
//! flight.

use drystone_alloc::{DefragBudget, Error, RangeHandle, RangeSpace};

struct MeshBuffer {
    space: RangeSpace,
    /// Stands for the buffer on the GPU.
    buffer: Vec<u32>,
    max_units: u32,
}

impl MeshBuffer {
    fn new(units: u32, max_units: u32) -> Self {
        Self { space: RangeSpace::new(units), buffer: vec![0; units as usize], max_units }
    }

    /// Stores a mesh.
    ///
    /// # Errors
    /// `Full` if the mesh does not fit into a buffer of `max_units`. The other meshes remain.
    fn insert(&mut self, mesh: &[u32]) -> Result<RangeHandle, Error> {
        let units = mesh.len() as u32;
        let (handle, offset) = match self.space.allocate_with_offset(units) {
            Err(Error::Full { requested, total_free, .. }) => {
                if total_free >= requested {
                    self.defragment()?;
                }
                if u64::from(self.space.stats().largest_free) < requested {
                    self.grow(units)?;
                }
                self.space.allocate_with_offset(units)
            }
            done => done,
        }?;
        self.buffer[offset as usize..][..mesh.len()].copy_from_slice(mesh);
        Ok(handle)
    }

    /// Moves meshes together. All handles stay valid.
    fn defragment(&mut self) -> Result<(), Error> {
        for step in self.space.plan_defragmentation(&DefragBudget::units(u32::MAX)) {
            // Source and target may overlap. Budgets with `MoveOrder::AtOnce` avoid that.
            let [from, to, size] = [step.from, step.to, step.size].map(|it| it as usize);
            self.buffer.copy_within(from..from + size, to);
            self.space.apply_move(&step)?;
        }
        Ok(())
    }

    /// Doubles the buffer, or adds `units`.
    fn grow(&mut self, units: u32) -> Result<(), Error> {
        let capacity = self.space.capacity();
        let added = units.max(capacity).min(self.max_units - capacity);
        if added < units {
            return Err(self.space.stats().full(units.into()));
        }
        self.space.grow(added)?;
        self.buffer.resize(self.space.capacity() as usize, 0);
        Ok(())
    }

    /// Returns the units of a mesh, or `None` if it was removed.
    fn get(&self, handle: RangeHandle) -> Option<&[u32]> {
        let range = self.space.range(handle)?;
        self.buffer.get(range.start as usize..range.end as usize)
    }
}

fn main() -> Result<(), Error> {
    let mut buffer = MeshBuffer::new(100, 400);
    let mut meshes = Vec::new();
    for value in 0..10 {
        meshes.push((value, buffer.insert(&[value; 10])?));
    }
    for removed in [7, 5, 3, 1] {
        let (_, handle) = meshes.remove(removed);
        buffer.space.free(handle)?;
        assert!(buffer.get(handle).is_none(), "the handle is stale");
    }
    println!("{:.2} of the free units are not in the largest gap", fragmentation(&buffer));

    meshes.push((77, buffer.insert(&[77; 35])?));
    assert_eq!(buffer.space.capacity(), 100, "the four gaps were moved together");
    meshes.push((78, buffer.insert(&[78; 90])?));
    assert_eq!(buffer.space.capacity(), 200, "the buffer has grown");
    for &(value, handle) in &meshes {
        let mesh = buffer.get(handle).unwrap_or_default();
        assert!(!mesh.is_empty() && mesh.iter().all(|unit| *unit == value), "{value}");
    }

    let error = buffer.insert(&[79; 300]);
    assert_eq!(error, Err(Error::Full { requested: 300, largest_free: 15, total_free: 15 }));
    if let Err(error) = error {
        println!("{error}");
    }
    for block in buffer.space.blocks() {
        println!("{:?} {}", block.range, if block.handle.is_some() { "mesh" } else { "free" });
    }
    Ok(())
}

fn fragmentation(buffer: &MeshBuffer) -> f64 {
    buffer.space.stats().external_fragmentation()
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
