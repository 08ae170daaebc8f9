use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::stack::Stack;

/// Cache of stacks with a limit in bytes, which evicts the least recently used. Threads that
/// request a stack that is being read wait for it. After a failed read, each of them reads.
///
/// # Cost
/// O(1), or O(stacks) if a stack must be evicted.
#[derive(Debug)]
pub(super) struct Cache {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    budget_bytes: usize,
    by_position: HashMap<[i32; 2], Entry>,
    used_bytes: usize,
    clock: u64,
}

/// A stack, once it was read. Locked while it is read.
type Slot = Arc<Mutex<Option<Arc<Stack>>>>;

#[derive(Debug)]
struct Entry {
    stack: Slot,
    /// Zero until the stack was read.
    size_bytes: usize,
    last_use: u64,
}

impl Cache {
    pub(super) fn new(budget_bytes: usize) -> Self {
        Self { entries: Mutex::new(Entries { budget_bytes, ..Entries::default() }) }
    }

    /// Changes the limit in bytes.
    pub(super) fn set_budget(&self, bytes: usize) {
        self.locked(|entries| {
            entries.budget_bytes = bytes;
            entries.evict();
        });
    }

    /// Calls `on` with the stack at `position`. If it is not cached, `read` reads it first.
    ///
    /// # Errors
    /// Those of `read`. Nothing is cached then.
    pub(super) fn with<T, E>(
        &self,
        position: [i32; 2],
        read: impl FnOnce() -> Result<Stack, E>,
        on: impl FnOnce(&Stack) -> T,
    ) -> Result<T, E> {
        let entry = self.locked(|entries| {
            entries.clock += 1;
            let last_use = entries.clock;
            let entry = entries.by_position.entry(position).or_insert_with(|| Entry {
                stack: Arc::default(),
                size_bytes: 0,
                last_use,
            });
            entry.last_use = last_use;
            Arc::clone(&entry.stack)
        });
        // Nothing is stored under the lock before it is complete.
        let mut held = entry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stack) = &*held {
            let stack = Arc::clone(stack);
            drop(held);
            return Ok(on(&stack));
        }
        let stack = match read() {
            Ok(stack) => Arc::new(stack),
            Err(error) => {
                self.locked(|entries| entries.forget(position, &entry));
                return Err(error);
            }
        };
        *held = Some(Arc::clone(&stack));
        drop(held);
        let result = on(&stack);
        let size_bytes = stack.size_bytes();
        self.locked(|entries| entries.hold(position, &entry, size_bytes));
        Ok(result)
    }

    /// Size of all cached stacks, in bytes.
    #[cfg(test)]
    pub(super) fn used_bytes(&self) -> usize {
        self.locked(|entries| entries.used_bytes)
    }

    fn locked<T>(&self, on: impl FnOnce(&mut Entries) -> T) -> T {
        // The lock is never poisoned half-way: nothing in `on` can panic.
        on(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Entries {
    /// Removes an entry that could not be read.
    fn forget(&mut self, position: [i32; 2], stack: &Slot) {
        if self.by_position.get(&position).is_some_and(|entry| Arc::ptr_eq(&entry.stack, stack)) {
            self.by_position.remove(&position);
        }
    }

    /// Counts a stack that was read, unless its entry was replaced meanwhile.
    fn hold(&mut self, position: [i32; 2], stack: &Slot, size_bytes: usize) {
        let entry = self.by_position.get_mut(&position);
        if let Some(entry) = entry.filter(|entry| Arc::ptr_eq(&entry.stack, stack)) {
            entry.size_bytes = size_bytes;
            self.used_bytes += size_bytes;
        }
        self.evict();
    }

    fn evict(&mut self) {
        while self.used_bytes > self.budget_bytes {
            let read = self.by_position.iter().filter(|(_, entry)| entry.size_bytes > 0);
            let Some((&at, _)) = read.min_by_key(|(_, entry)| entry.last_use) else { break };
            self.used_bytes -= self.by_position.remove(&at).map_or(0, |entry| entry.size_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use drystone_voxel::{Chunk, LocalPos, Material};

    use super::*;

    /// A stack of some hundred bytes, whose one chunk stores `n`.
    fn stack(n: u16) -> Stack {
        let mut chunk = Chunk::new(32, Material::AIR);
        chunk.set(LocalPos::new(0, 0, 0), Material(n));
        Stack { chunks: [(0, chunk)].into() }
    }

    fn stored_number(stack: &Stack) -> u16 {
        stack.chunks[&0].get(LocalPos::new(0, 0, 0)).0
    }

    #[test]
    fn the_least_recently_used_stack_is_evicted() {
        let one_bytes = stack(1).size_bytes();
        let cache = Cache::new(3 * one_bytes);
        let read_count = Cell::new(0);
        let request = |n: u16| {
            let read = || {
                read_count.set(read_count.get() + 1);
                Ok::<_, ()>(stack(n))
            };
            assert_eq!(cache.with([n.into(), 0], read, stored_number), Ok(n));
            assert!(cache.used_bytes() <= 3 * one_bytes);
            read_count.take()
        };
        // Cached stacks are not read again. When 4 is added, 2 is the least recently used.
        assert_eq!([1, 2, 3, 1, 4, 3, 1, 4].map(request), [1, 1, 1, 0, 1, 0, 0, 0]);
        assert_eq!([2, 1, 4, 3].map(request), [1, 0, 0, 1]);
        assert_eq!(cache.used_bytes(), 3 * one_bytes);
    }

    #[test]
    fn a_stack_larger_than_the_budget_is_returned_but_not_cached() {
        let cache = Cache::new(1);
        for n in [1, 2, 1] {
            assert_eq!(cache.with([n.into(), 0], || Ok::<_, ()>(stack(n)), stored_number), Ok(n));
            assert_eq!(cache.used_bytes(), 0);
        }
    }

    #[test]
    fn a_failed_read_is_not_cached() {
        let cache = Cache::new(usize::MAX);
        assert_eq!(cache.with([1, 0], || Err("failed"), stored_number), Err("failed"));
        assert_eq!(cache.locked(|entries| entries.by_position.len()), 0);
        assert_eq!(cache.with([1, 0], || Ok::<_, &str>(stack(1)), stored_number), Ok(1));
        assert_eq!(cache.with([1, 0], || Err("failed"), stored_number), Ok(1));
        assert_eq!(cache.used_bytes(), stack(1).size_bytes());
    }

    /// Many threads request a few stacks. Each stack is read once, and all results are correct.
    #[test]
    fn threads_wait_for_a_single_reader() {
        let cache = Cache::new(usize::MAX);
        let read_count = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4_u16 {
                let (cache, read_count) = (&cache, &read_count);
                scope.spawn(move || {
                    for n in (0..200).map(|i| 1 + (i + thread) % 8) {
                        let read = || {
                            read_count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            Ok::<_, ()>(stack(n))
                        };
                        assert_eq!(cache.with([n.into(), 0], read, stored_number), Ok(n));
                    }
                });
            }
        });
        assert_eq!(read_count.into_inner(), 8);
    }
}
