//! Ranges of any size. In documentation, the methods of a type follow the order of modules.

mod space;

mod defrag;
mod inspect;
mod neighbours;

mod bins;
mod nodes;
#[cfg(test)]
mod tests;

pub(crate) use bins::bin_of;
pub use defrag::{DefragBudget, MoveOrder, RangeMove};
pub use inspect::{RangeBlock, RangeBlocks, RangeStats};
pub use nodes::RangeHandle;
pub use space::RangeSpace;
