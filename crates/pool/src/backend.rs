/// Where a pool's bytes go: the GPU, or memory that stands in for it.
///
/// The pool calls these in the order in which they must take effect, between frames.
/// An implementation must let a frame that was submitted before a write read what was
/// there before it: queue order does (*staged* writes), a plain memory copy under a
/// running frame does not.
pub trait Backend {
    /// Copies `bytes` to `offset_bytes` of the element buffer. The pool never writes past
    /// `capacity × size of an element`.
    fn write_elements(&mut self, offset_bytes: u64, bytes: &[u8]);

    /// Copies one mesh's per-draw data to its slot of the table that shaders reach through
    /// `first_instance`. `slot` is below the pool's slot capacity.
    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]);
}
