//! Loop over the chunks of an export, in windows that are processed in parallel.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use drystone_voxel::ChunkPos;
use rayon::prelude::*;

use super::portion::WriteFault;
use super::{ExportOptions, ExportProgress, OnProgress};
use crate::error::SourceError;

/// Largest number of chunks in a window. Larger windows would only delay the progress.
const MAX_WINDOW: usize = 256;

/// Loop over the chunks of an export.
///
/// The number of chunks in a window doubles while its results need less than a quarter of the
/// memory, and halves when they need more than half of it. When they need all of it, the rest of the
/// window is made again in the next one.
pub(super) struct Stream<'a, 'b> {
    window_len: usize,
    max_bytes: u64,
    progress: ExportProgress,
    each: &'a mut OnProgress<'b>,
}

impl<'a, 'b> Stream<'a, 'b> {
    /// Creates a loop of `total` steps. Half of the memory is for the results of a window.
    pub(super) fn new(options: &ExportOptions, total: u64, each: &'a mut OnProgress<'b>) -> Self {
        let progress = ExportProgress { done: 0, total };
        Self { window_len: 1, max_bytes: options.memory_bytes / 2, progress, each }
    }

    /// Calls `make` for the chunks of a window on all cores, and `take` for the results, in order.
    /// `size_bytes` returns the memory of a result.
    pub(super) fn run<T: Send>(
        &mut self,
        chunks: &[ChunkPos],
        make: impl Fn(ChunkPos) -> Result<Option<T>, SourceError> + Sync,
        size_bytes: impl Fn(&T) -> u64 + Sync,
        mut take: impl FnMut(T) -> Result<(), WriteFault>,
    ) -> Result<(), WriteFault> {
        let mut rest = chunks;
        while !rest.is_empty() {
            let window = &rest[..self.window_len.min(rest.len())];
            let used_bytes = AtomicU64::new(0);
            let make_one = |(index, chunk): (usize, &ChunkPos)| {
                if index > 0 && used_bytes.load(Ordering::Relaxed) > self.max_bytes {
                    return None;
                }
                let made = make(*chunk);
                let bytes = made.as_ref().ok().and_then(Option::as_ref).map_or(0, &size_bytes);
                used_bytes.fetch_add(bytes, Ordering::Relaxed);
                Some(made)
            };
            let made: Vec<_> = window.par_iter().enumerate().map(make_one).collect();
            let mut done = 0;
            for result in made.into_iter().map_while(|result| result) {
                done += 1;
                if let Some(made) = result? {
                    take(made)?;
                }
            }
            rest = &rest[done..];
            self.adapt(used_bytes.into_inner());
            self.progress.done += done as u64;
            self.go_on()?;
        }
        Ok(())
    }

    /// Reports the progress.
    ///
    /// # Errors
    /// [`WriteFault::Stopped`] if the caller stops the export.
    pub(super) fn go_on(&mut self) -> Result<(), WriteFault> {
        match (self.each)(self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(WriteFault::Stopped),
        }
    }

    /// Sets the length of the next window by the memory of the last one.
    fn adapt(&mut self, used_bytes: u64) {
        if used_bytes > self.max_bytes / 2 {
            self.window_len = (self.window_len / 2).max(1);
        } else if used_bytes < self.max_bytes / 4 {
            self.window_len = (2 * self.window_len).min(MAX_WINDOW);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ExportFormat;
    use super::*;

    /// Results of a size that grows a thousandfold in the middle.
    #[test]
    fn windows_grow_to_the_memory_and_stay_within_it() {
        const LARGE: u64 = 1 << 20;
        let mut options = ExportOptions::new(ExportFormat::Stl);
        options.memory_bytes = 20 * LARGE;
        let chunks: Vec<_> = (0..2_000).map(|x| ChunkPos::new(x, 0, 0)).collect();
        let size = |chunk: &ChunkPos| if chunk.x < 1_000 { LARGE / 1_000 } else { LARGE };
        let mut steps = Vec::new();
        let mut each = |progress: ExportProgress| {
            steps.push(progress.done);
            ControlFlow::Continue(())
        };
        let (made, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        let peak = AtomicU64::new(0);
        let make = |chunk| {
            let bytes = made.fetch_add(size(&chunk), Ordering::Relaxed) + size(&chunk);
            let held = bytes.saturating_sub(taken.load(Ordering::Relaxed));
            peak.fetch_max(held, Ordering::Relaxed);
            Ok(Some(chunk))
        };
        let mut order = Vec::new();
        let take = |chunk: ChunkPos| {
            taken.store(made.load(Ordering::Relaxed), Ordering::Relaxed);
            order.push(chunk);
            Ok(())
        };
        Stream::new(&options, 2_000, &mut each).run(&chunks, make, size, take).unwrap();
        assert!(order == chunks, "each chunk once, in order");
        let windows: Vec<u64> = steps.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(windows.iter().max(), Some(&(MAX_WINDOW as u64)), "{windows:?}");
        assert!(steps.len() < 400, "{windows:?}");
        let threads = rayon::current_num_threads() as u64;
        let peak = peak.into_inner();
        assert!(peak <= 10 * LARGE + (threads + 1) * LARGE, "{peak} bytes");
    }
}
