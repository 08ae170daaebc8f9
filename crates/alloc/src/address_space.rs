//! Single indices. In documentation, the methods of a type follow the order of modules.

mod space;

mod iter;
mod many;
mod memory;
#[cfg(test)]
mod tests;

pub use iter::{IndexGaps, UsedIndices};
pub use space::{AddressSpace, IndexPolicy};
