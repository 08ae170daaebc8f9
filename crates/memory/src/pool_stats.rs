/// Memory use of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Number of blocks in use.
    pub used_count: usize,
    /// Number of blocks, in use and free.
    pub capacity: usize,
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Number of slabs.
    pub slab_count: usize,
    /// Size of all slabs, including headers and unused ends, in bytes.
    pub reserved_bytes: usize,
}
