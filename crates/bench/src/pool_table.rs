//! Table `pool`: the cost of the vertex pool compared with the allocators inside it, and the result
//! of defragmentation after long churn. No data is uploaded or drawn.

mod allocators;
mod churn;
mod pairs;
mod removals;
mod reserved;
mod steady;
mod streams;

use drystone_pool::PoolConfig;

use crate::{Error, Run};

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    pairs::run(run)?;
    removals::run(run)?;
    reserved::run(run)?;
    churn::run(run)?;
    streams::run(run)
}

/// Configuration of a pool of a number of buffers, which have this capacity together.
fn fixed_buffers(buffers: u32, capacity: u32) -> PoolConfig {
    PoolConfig::default()
        .with_min_buffer_elements(capacity / buffers)
        .with_max_buffer_elements(capacity / buffers)
        .with_max_buffers(buffers as u16)
}
