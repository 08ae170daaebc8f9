//! Threads of the rasteriser: those of rayon's pool with the feature `rayon`, else the caller's.

#[cfg(feature = "rayon")]
use rayon::prelude::*;

/// Number of threads that share the work.
pub(super) fn count() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}

/// Calls `work` with the index of each item and the item, in any order.
pub(super) fn for_each<T: Send>(items: &mut [T], work: impl Fn(usize, &mut T) + Send + Sync) {
    #[cfg(feature = "rayon")]
    let items = items.par_iter_mut();
    #[cfg(not(feature = "rayon"))]
    let items = items.iter_mut();
    items.enumerate().for_each(|(index, item)| work(index, item));
}
