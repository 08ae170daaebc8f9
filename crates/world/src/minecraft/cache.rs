use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::stack::Stack;

/// Stacks that were read, as many as a budget of bytes holds; the one longest not asked
/// for goes first. Who asks for a stack that another is reading waits for it.
///
/// # Cost
/// O(1); O(stacks) where something must go.
#[derive(Debug)]
pub(super) struct Cache {
    budget_bytes: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_place: HashMap<[i32; 2], Entry>,
    used_bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    stack: Arc<OnceLock<Stack>>,
    /// Zero until it was read.
    size_bytes: usize,
    last_use: u64,
}

impl Cache {
    pub(super) fn new(budget_bytes: usize) -> Self {
        Self { budget_bytes, entries: Mutex::default() }
    }

    /// Hands the stack at `place` to `on`; `read` makes it where it is not held.
    pub(super) fn with<T>(
        &self,
        place: [i32; 2],
        read: impl FnOnce() -> Stack,
        on: impl FnOnce(&Stack) -> T,
    ) -> T {
        let stack = self.locked(|entries| {
            entries.clock += 1;
            let last_use = entries.clock;
            let entry = entries.by_place.entry(place).or_insert_with(|| Entry {
                stack: Arc::default(),
                size_bytes: 0,
                last_use,
            });
            entry.last_use = last_use;
            Arc::clone(&entry.stack)
        });
        let mut size_bytes = None;
        let held = stack.get_or_init(|| {
            let stack = read();
            size_bytes = Some(stack.size_bytes());
            stack
        });
        let result = on(held);
        if let Some(size_bytes) = size_bytes {
            self.locked(|entries| entries.hold(place, size_bytes, self.budget_bytes));
        }
        result
    }

    /// Bytes of the stacks that are held.
    #[cfg(test)]
    pub(super) fn used_bytes(&self) -> usize {
        self.locked(|entries| entries.used_bytes)
    }

    fn locked<T>(&self, on: impl FnOnce(&mut Entries) -> T) -> T {
        // Nothing in here can panic half-way.
        on(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Entries {
    fn hold(&mut self, place: [i32; 2], size_bytes: usize, budget_bytes: usize) {
        if let Some(entry) = self.by_place.get_mut(&place) {
            entry.size_bytes = size_bytes;
            self.used_bytes += size_bytes;
        }
        while self.used_bytes > budget_bytes {
            let read = self.by_place.iter().filter(|(_, entry)| entry.size_bytes > 0);
            let Some((&place, _)) = read.min_by_key(|(_, entry)| entry.last_use) else { break };
            self.used_bytes -= self.by_place.remove(&place).map_or(0, |entry| entry.size_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use drystone_voxel::{Chunk, LocalPos, Material};

    use super::*;

    /// A stack whose one chunk tells `n`, and takes some hundred bytes.
    fn stack(n: u16) -> Stack {
        let mut chunk = Chunk::new(32, Material::AIR);
        chunk.set(LocalPos::new(0, 0, 0), Material(n));
        Stack { chunks: [(0, chunk)].into() }
    }

    fn told(stack: &Stack) -> u16 {
        stack.chunks[&0].get(LocalPos::new(0, 0, 0)).0
    }

    #[test]
    fn the_one_longest_not_asked_for_goes() {
        let one_bytes = stack(1).size_bytes();
        let cache = Cache::new(3 * one_bytes);
        let read_count = Cell::new(0);
        let ask = |n: u16| {
            let read = || {
                read_count.set(read_count.get() + 1);
                stack(n)
            };
            assert_eq!(cache.with([n.into(), 0], read, told), n);
            assert!(cache.used_bytes() <= 3 * one_bytes);
            read_count.take()
        };
        // What is held is not read again; 2 has not been asked for longest when 4 comes.
        assert_eq!([1, 2, 3, 1, 4, 3, 1, 4].map(ask), [1, 1, 1, 0, 1, 0, 0, 0]);
        assert_eq!([2, 1, 4, 3].map(ask), [1, 0, 0, 1]);
        assert_eq!(cache.used_bytes(), 3 * one_bytes);
    }

    #[test]
    fn what_is_larger_than_the_budget_is_given_all_the_same() {
        let cache = Cache::new(1);
        for n in [1, 2, 1] {
            assert_eq!(cache.with([n.into(), 0], || stack(n), told), n);
            assert_eq!(cache.used_bytes(), 0);
        }
    }

    /// Many threads ask for few stacks: each is read once, and all get the right one.
    #[test]
    fn threads_wait_for_one_reader() {
        let cache = Cache::new(usize::MAX);
        let read_count = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4_u16 {
                let (cache, read_count) = (&cache, &read_count);
                scope.spawn(move || {
                    for n in (0..200).map(|i| 1 + (i + thread) % 8) {
                        let read = || {
                            read_count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            stack(n)
                        };
                        assert_eq!(cache.with([n.into(), 0], read, told), n);
                    }
                });
            }
        });
        assert_eq!(read_count.into_inner(), 8);
    }
}
