#[cfg(not(target_arch = "wasm32"))]
use std::{
    hash::{BuildHasher, RandomState},
    time::SystemTime,
};

use super::meta::{opened, sealed};

/// A number for a new world that no other has. It is kept wherever the file is moved or copied.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn random() -> u128 {
    // Each state is of the system's random numbers; the rest is for systems that have none.
    let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let half = || u128::from(RandomState::new().hash_one((process(), time)));
    half() << 64 | half()
}

/// The same in a browser, where the states of hashes are not random.
#[cfg(target_arch = "wasm32")]
pub(super) fn random() -> u128 {
    use web_time::SystemTime;

    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // A page outside a browser, as in a test: hardly two are made at once.
        let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        bytes = time.as_nanos().to_le_bytes();
    }
    u128::from_le_bytes(bytes)
}

/// This process's number. A page in a browser has none, and asking for it there stops the page.
pub(super) fn process() -> u32 {
    if cfg!(target_arch = "wasm32") { 0 } else { std::process::id() }
}

pub(super) fn to_bytes(id: u128) -> Vec<u8> {
    sealed(id.to_le_bytes().to_vec())
}

/// `None` where it is damaged.
pub(super) fn of_bytes(bytes: &[u8]) -> Option<u128> {
    opened(bytes)?.try_into().ok().map(u128::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_are_never_the_same_and_read_back_or_refused() {
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
