use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Cache of values that were read, with a limit in bytes, which evicts the least recently used. Threads that
/// request a value that is being read wait for it. After a failed read, each of them reads.
///
/// # Cost
/// O(1), or O(values) if one must be evicted.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    entries: Mutex<Entries<K, V>>,
}

/// A value whose memory a [`Cache`] counts.
pub(crate) trait SizeBytes {
    /// Memory of the value, in bytes; above 0.
    fn size_bytes(&self) -> usize;
}

#[derive(Debug)]
struct Entries<K, V> {
    budget_bytes: usize,
    by_key: HashMap<K, Entry<V>>,
    used_bytes: usize,
    clock: u64,
}

/// A value, once it was read. Locked while it is read.
type Slot<V> = Arc<Mutex<Option<Arc<V>>>>;

#[derive(Debug)]
struct Entry<V> {
    value: Slot<V>,
    /// Zero until the value was read.
    size_bytes: usize,
    last_use: u64,
}

impl<K: Copy + Eq + Hash, V: SizeBytes> Cache<K, V> {
    pub(crate) fn new(budget_bytes: usize) -> Self {
        let by_key = HashMap::new();
        Self { entries: Mutex::new(Entries { budget_bytes, by_key, used_bytes: 0, clock: 0 }) }
    }

    /// Changes the limit in bytes.
    pub(crate) fn set_budget(&self, bytes: usize) {
        self.locked(|entries| {
            entries.budget_bytes = bytes;
            entries.evict();
        });
    }

    /// Returns the value of `key`. If it is not cached, `read` reads it first.
    ///
    /// # Errors
    /// Those of `read`. Nothing is cached then.
    pub(crate) fn get<E>(&self, key: K, read: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        let entry = self.locked(|entries| {
            entries.clock += 1;
            let last_use = entries.clock;
            let entry = entries.by_key.entry(key).or_insert_with(|| Entry {
                value: Arc::default(),
                size_bytes: 0,
                last_use,
            });
            entry.last_use = last_use;
            Arc::clone(&entry.value)
        });
        // Nothing is stored under the lock before it is complete.
        let mut held = entry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*held {
            return Ok(Arc::clone(value));
        }
        let value = match read() {
            Ok(value) => Arc::new(value),
            Err(error) => {
                self.locked(|entries| entries.forget(key, &entry));
                return Err(error);
            }
        };
        *held = Some(Arc::clone(&value));
        drop(held);
        let size_bytes = value.size_bytes();
        self.locked(|entries| entries.hold(key, &entry, size_bytes));
        Ok(value)
    }

    /// Size of all cached values, in bytes.
    #[cfg(test)]
    pub(crate) fn used_bytes(&self) -> usize {
        self.locked(|entries| entries.used_bytes)
    }

    fn locked<T>(&self, on: impl FnOnce(&mut Entries<K, V>) -> T) -> T {
        // The lock is never poisoned half-way: nothing in `on` can panic.
        on(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K: Copy + Eq + Hash, V> Entries<K, V> {
    /// Removes an entry that could not be read.
    fn forget(&mut self, key: K, value: &Slot<V>) {
        if self.by_key.get(&key).is_some_and(|entry| Arc::ptr_eq(&entry.value, value)) {
            self.by_key.remove(&key);
        }
    }

    /// Counts a value that was read, unless its entry was replaced meanwhile.
    fn hold(&mut self, key: K, value: &Slot<V>, size_bytes: usize) {
        let entry = self.by_key.get_mut(&key);
        if let Some(entry) = entry.filter(|entry| Arc::ptr_eq(&entry.value, value)) {
            entry.size_bytes = size_bytes;
            self.used_bytes += size_bytes;
        }
        self.evict();
    }

    fn evict(&mut self) {
        while self.used_bytes > self.budget_bytes {
            let read = self.by_key.iter().filter(|(_, entry)| entry.size_bytes > 0);
            let Some((&key, _)) = read.min_by_key(|(_, entry)| entry.last_use) else { break };
            self.used_bytes -= self.by_key.remove(&key).map_or(0, |entry| entry.size_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A number that takes 100 bytes.
    #[derive(Debug, PartialEq)]
    struct Number(u16);

    impl SizeBytes for Number {
        fn size_bytes(&self) -> usize {
            100
        }
    }

    fn number(n: u16) -> Result<Number, &'static str> {
        Ok(Number(n))
    }

    #[test]
    fn the_least_recently_used_value_is_evicted() {
        let cache = Cache::new(300);
        let read_count = Cell::new(0);
        let request = |n: u16| {
            let read = || {
                read_count.set(read_count.get() + 1);
                number(n)
            };
            assert_eq!(*cache.get(n, read).unwrap(), Number(n));
            assert!(cache.used_bytes() <= 300);
            read_count.take()
        };
        // Cached values are not read again. When 4 is added, 2 is the least recently used.
        assert_eq!([1, 2, 3, 1, 4, 3, 1, 4].map(request), [1, 1, 1, 0, 1, 0, 0, 0]);
        assert_eq!([2, 1, 4, 3].map(request), [1, 0, 0, 1]);
        assert_eq!(cache.used_bytes(), 300);
    }

    #[test]
    fn a_value_larger_than_the_budget_is_returned_but_not_cached() {
        let cache = Cache::new(1);
        for n in [1, 2, 1] {
            assert_eq!(*cache.get(n, || number(n)).unwrap(), Number(n));
            assert_eq!(cache.used_bytes(), 0);
        }
    }

    #[test]
    fn a_failed_read_is_not_cached() {
        let cache = Cache::<u16, Number>::new(usize::MAX);
        assert_eq!(cache.get(1, || Err("failed")).unwrap_err(), "failed");
        assert_eq!(cache.locked(|entries| entries.by_key.len()), 0);
        assert_eq!(*cache.get(1, || number(1)).unwrap(), Number(1));
        assert_eq!(*cache.get(1, || Err("failed")).unwrap(), Number(1));
        assert_eq!(cache.used_bytes(), 100);
    }

    /// Many threads request a few values. Each is read once, and all results are correct.
    #[test]
    fn threads_wait_for_a_single_reader() {
        let cache = Cache::new(usize::MAX);
        let read_count = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4_u16 {
                let (cache, read_count) = (&cache, &read_count);
                scope.spawn(move || {
                    for n in (0..200).map(|i| 1 + (i + thread) % 8) {
                        let read = || {
                            read_count.fetch_add(1, Ordering::Relaxed);
                            number(n)
                        };
                        assert_eq!(*cache.get(n, read).unwrap(), Number(n));
                    }
                });
            }
        });
        assert_eq!(read_count.into_inner(), 8);
    }
}
