use std::hash::Hash;

use hashbrown::HashMap;

/// Recently used values, within a limit in bytes.
///
/// The values have two generations. A requested value moves to the young generation. When that uses
/// half of the limit, it becomes the old generation and the previous one is dropped. Values in use
/// therefore stay, unused ones leave after at most two turns, and nothing has to be searched.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    limit_bytes: usize,
    young: Generation<K, V>,
    old: Generation<K, V>,
}

#[derive(Debug)]
struct Generation<K, V> {
    /// Each value with its size in bytes.
    values: HashMap<K, (V, usize)>,
    size_bytes: usize,
}

impl<K, V> Default for Generation<K, V> {
    fn default() -> Self {
        Self { values: HashMap::new(), size_bytes: 0 }
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Generation<K, V> {
    fn remove(&mut self, key: K) -> Option<(V, usize)> {
        let removed = self.values.remove(&key);
        self.size_bytes -= removed.as_ref().map_or(0, |(_, bytes)| *bytes);
        removed
    }
}

impl<K: Copy + Eq + Hash, V: Clone> Recent<K, V> {
    /// Creates an empty cache.
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, young: Generation::default(), old: Generation::default() }
    }

    /// Sets the limit in bytes. Generations that exceed half of it are dropped.
    pub(crate) fn set_limit_bytes(&mut self, limit_bytes: usize) {
        self.limit_bytes = limit_bytes;
        for generation in [&mut self.young, &mut self.old] {
            if generation.size_bytes > limit_bytes / 2 {
                *generation = Generation::default();
            }
        }
    }

    /// Returns a value.
    pub(crate) fn get(&mut self, key: K) -> Option<V> {
        if let Some((value, _)) = self.young.values.get(&key) {
            return Some(value.clone());
        }
        let (value, bytes) = self.old.remove(key)?;
        self.insert(key, value.clone(), bytes);
        Some(value)
    }

    /// Stores a value that takes `size_bytes`, or replaces the stored one. A value over half of the limit
    /// is not stored.
    pub(crate) fn insert(&mut self, key: K, value: V, size_bytes: usize) {
        self.remove(key);
        if self.young.size_bytes + size_bytes > self.limit_bytes / 2
            && !self.young.values.is_empty()
        {
            self.old = std::mem::take(&mut self.young);
        }
        if size_bytes <= self.limit_bytes / 2 {
            self.young.size_bytes += size_bytes;
            self.young.values.insert(key, (value, size_bytes));
        }
    }

    /// Removes a value.
    pub(crate) fn remove(&mut self, key: K) {
        self.young.remove(key);
        self.old.remove(key);
    }

    /// Size of the stored values, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.young.size_bytes + self.old.size_bytes
    }
}
