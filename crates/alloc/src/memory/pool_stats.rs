/// What a pool uses and what it has reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Blocks in use.
    pub used_count: usize,
    /// Blocks in use and free together.
    pub capacity: usize,
    /// Bytes of a block.
    pub block_bytes: usize,
    /// Slabs.
    pub slab_count: usize,
    /// Bytes of all slabs, headers and what is left over included.
    pub reserved_bytes: usize,
}
