#[cfg(not(target_arch = "wasm32"))]
use std::{
    hash::{BuildHasher, RandomState},
    time::SystemTime,
};

use crate::codec::{opened, sealed};

/// Generates a random id for a new world. Moving or copying the file keeps the id.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn random() -> u128 {
    // Each state has random keys from the system; the time helps on systems without them.
    let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let half = || u128::from(RandomState::new().hash_one((process(), time)));
    half() << 64 | half()
}

/// Generates a random id for a new world. In a browser, hasher keys are not random, so this uses
/// its random number generator.
#[cfg(target_arch = "wasm32")]
pub(super) fn random() -> u128 {
    use web_time::SystemTime;

    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // A page outside a browser, for example in a test: the time is unique enough.
        let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        bytes = time.as_nanos().to_le_bytes();
    }
    u128::from_le_bytes(bytes)
}

/// Number of this process, or 0 in a browser, where requesting it stops the page.
pub(super) fn process() -> u32 {
    if cfg!(target_arch = "wasm32") { 0 } else { std::process::id() }
}

pub(super) fn to_bytes(id: u128) -> Vec<u8> {
    sealed(id.to_le_bytes().to_vec())
}

/// Reads an id; `None` if it is damaged.
pub(super) fn of_bytes(bytes: &[u8]) -> Option<u128> {
    opened(bytes)?.try_into().ok().map(u128::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_damaged_ids_are_refused() {
        let ids: HashSet<u128> = (0..1_000).map(|_| random()).collect();
        let halves: HashSet<u64> =
            ids.iter().flat_map(|id| [*id as u64, (id >> 64) as u64]).collect();
        assert_eq!((ids.len(), halves.len()), (1_000, 2_000));
        for id in ids {
            let mut bytes = to_bytes(id);
            assert_eq!(of_bytes(&bytes), Some(id));
            bytes[id as usize % 24] ^= 4;
            assert_eq!(of_bytes(&bytes), None);
        }
        assert_eq!(of_bytes(&sealed(vec![1; 15])), None);
        assert_eq!(of_bytes(&[]), None);
    }
}
