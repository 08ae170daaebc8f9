use std::sync::{Arc, Mutex, PoisonError};

use super::hash::mix;

/// Level of detail, and position along X and Z.
pub(super) type Key = (u8, i32, i32);
type Slot<V> = Mutex<Option<(Key, Arc<V>)>>;

/// A cache of recently computed values with a fixed number of slots. Each slot holds the value of
/// the last key that hashed to it.
///
/// # Cost
/// A lock and a comparison for a cached value. Two threads may compute the same value at the same
/// time; neither waits for the other.
pub(super) struct Recent<V>(Box<[Slot<V>]>);

impl<V> Recent<V> {
    /// Creates a cache with `slot_count` slots, at least one.
    pub(super) fn new(slot_count: usize) -> Self {
        Self((0..slot_count.max(1)).map(|_| Mutex::new(None)).collect())
    }

    /// Returns the value of `key`. Calls `make` if it is not cached.
    pub(super) fn get_or(&self, key: Key, make: impl FnOnce() -> V) -> Arc<V> {
        let (level, x, z) = key;
        let position = u64::from(x as u32) << 32 | u64::from(z as u32);
        let slot = (mix(position ^ mix(level.into())) % self.0.len() as u64) as usize;
        // A panic under the lock leaves either a whole value or no value.
        let lock = || self.0[slot].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((found, value)) = &*lock()
            && *found == key
        {
            return Arc::clone(value);
        }
        let value = Arc::new(make());
        *lock() = Some((key, Arc::clone(&value)));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_value_and_few_are_computed_twice() {
        for slot_count in [0, 1, 64] {
            let recent = Recent::new(slot_count);
            let mut made = 0;
            for round in 0..3 {
                for key in [(0, 1, 2), (1, 1, 2), (0, 2, 1), (0, -1, 2), (0, i32::MIN, i32::MAX)] {
                    for _ in 0..2 {
                        let value = recent.get_or(key, || {
                            made += 1;
                            (key, round)
                        });
                        assert_eq!(value.0, key);
                    }
                }
            }
            let most = if slot_count == 64 { 8 } else { 15 };
            assert!((5..=most).contains(&made), "{made} with {slot_count}");
        }
    }
}
