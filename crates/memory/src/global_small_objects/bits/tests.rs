#![allow(clippy::unwrap_used)]

use super::*;
use loom::{cell::UnsafeCell, sync::Arc, thread};
use std::{vec, vec::Vec};

impl Word for loom::sync::atomic::AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    fn set(&self, bits: u64, order: Ordering) -> u64 {
        self.fetch_or(bits, order)
    }

    fn clear(&self, bits: u64, order: Ordering) -> u64 {
        self.fetch_and(!bits, order)
    }

    fn fill_if_empty(&self, order: Ordering) -> bool {
        self.compare_exchange(0, ALL_USED, order, Ordering::Relaxed).is_ok()
    }
}

type LoomWord = loom::sync::atomic::AtomicU64;

/// Two words with a few free slots each, monitored by the model checker, which finds
/// every order of steps in which two threads could be in one slot.
struct Model {
    words: Vec<LoomWord>,
    full: Vec<LoomWord>,
    slots: Vec<UnsafeCell<u32>>,
}

/// Slots of a word that the model uses.
const SLOTS: usize = 2;

impl Model {
    /// Number of free slots in each word.
    fn new(free: [u32; 2]) -> Arc<Self> {
        let used = free.map(|free| u64::MAX.checked_shl(free).unwrap_or(0));
        let is_full = |(word, used): (usize, &u64)| u64::from(*used == u64::MAX) << word;
        let full = used.iter().enumerate().map(is_full).sum::<u64>() | (u64::MAX << 2);
        Arc::new(Self {
            words: used.into_iter().map(LoomWord::new).collect(),
            full: vec![LoomWord::new(full)],
            slots: (0..SLOTS * 2).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    fn bits(&self) -> SlotBits<'_, LoomWord> {
        SlotBits { words: &self.words, full: &self.full }
    }

    fn claim(&self, share: Share) -> Option<Claim> {
        let claim = self.bits().claim(share, 0..0)?;
        self.use_slots(claim);
        Some(claim)
    }

    /// Writes to the slots as their owner would.
    fn use_slots(&self, claim: Claim) {
        for slot in (0..SLOTS).filter(|slot| claim.slots & (1 << slot) != 0) {
            // SAFETY: the model checker fails the test if another thread may access the slot.
            self.slots[claim.word * SLOTS + slot].with_mut(|value| unsafe { *value += 1 });
        }
    }

    fn release(&self, claim: Claim) {
        self.use_slots(claim);
        self.bits().release(claim).unwrap();
    }

    /// Checks that a search finds every slot after all are released.
    fn assert_all_free(&self, free: [u32; 2]) {
        let mut found = [0; 2];
        while let Some(claim) = self.bits().claim(Share::All, 0..0) {
            found[claim.word] += claim.slots.count_ones();
        }
        assert_eq!(found, free);
    }
}

/// Maximum number of forced switches between threads in one run. More would take too long.
/// Errors of two threads with two words already occur with one or two.
const SWITCHES: usize = 2;

/// Runs one thread for each of the actions, in every order of their steps.
fn check(free: [u32; 2], actions: &'static [fn(&Model)]) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(SWITCHES);
    builder.check(move || {
        let model = Model::new(free);
        let run = |action: &'static fn(&Model)| {
            let model = model.clone();
            thread::spawn(move || action(&model))
        };
        let threads: Vec<_> = actions.iter().map(run).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        model.assert_all_free(free);
    });
}

/// Simulates a cache: takes a word, uses it, releases it in two parts.
fn cache(model: &Model) {
    let Some(Claim { word, slots }) = model.claim(Share::All) else { return };
    let first = slots & slots.wrapping_neg();
    model.release(Claim { word, slots: first });
    if slots != first {
        model.release(Claim { word, slots: slots ^ first });
    }
}

/// Simulates a thread without a cache.
fn one_by_one(model: &Model) {
    if let Some(claim) = model.claim(Share::Lowest) {
        model.release(claim);
    }
}

/// Holds two slots at once.
fn two(model: &Model) {
    let claims = [model.claim(Share::Lowest), model.claim(Share::Lowest)];
    claims.into_iter().flatten().for_each(|claim| model.release(claim));
}

/// Takes whole words, as a thread does that trims them.
fn trim(model: &Model) {
    let free = model.bits().take_free_words(0, ALL_USED);
    for word in (0..2).filter(|word| free & (1 << word) != 0) {
        let claim = Claim { word, slots: ALL_USED };
        model.use_slots(claim);
        model.release(claim);
    }
}

#[test]
fn memory_is_trimmed_while_no_thread_owns_it_and_no_slot_is_lost() {
    check([64, 0], &[trim, cache]);
    check([64, 1], &[trim, two]);
    check([64, 64], &[trim, trim]);
    check([64, 0], &[trim, one_by_one, one_by_one]);
}

#[test]
fn two_caches_never_share_a_slot_and_lose_none() {
    check([2, 0], &[cache, cache]);
    check([1, 1], &[cache, cache]);
}

#[test]
fn a_cache_and_single_slots_never_share_one_and_lose_none() {
    check([2, 0], &[cache, two]);
    check([1, 1], &[two, two]);
}

#[test]
fn three_threads_never_share_a_slot_and_lose_none() {
    check([1, 0], &[one_by_one, one_by_one, one_by_one]);
}

/// Checks a slot that moves to another thread, which releases it.
#[test]
fn a_thread_may_release_slots_that_another_took() {
    loom::model(|| {
        let model = Model::new([1, 0]);
        let claim = model.claim(Share::All).unwrap();
        let other = {
            let model = model.clone();
            thread::spawn(move || model.release(claim))
        };
        if let Some(again) = model.claim(Share::All) {
            model.release(again);
        }
        other.join().unwrap();
        model.assert_all_free([1, 0]);
    });
}

#[test]
fn releasing_a_free_slot_is_an_error() {
    let words = [const { AtomicU64::new(0) }; 2];
    let full = [const { AtomicU64::new(0) }; 1];
    let bits = SlotBits::new(&words, &full, 70);
    let claim = bits.claim(Share::Lowest, 0..0).unwrap();
    assert_eq!(claim, Claim { word: 0, slots: 1 });
    assert_eq!(bits.release(Claim { word: 0, slots: 0b101 }), Err(0b100));
    // All slots are taken, then the claim fails.
    let all = [bits.claim(Share::All, 0..0).unwrap(), bits.claim(Share::All, 0..0).unwrap()];
    assert_eq!(all.map(|claim| claim.slots.count_ones()), [64, 6]);
    assert_eq!(bits.claim(Share::All, 0..0), None);
    assert_eq!(bits.release(all[0]), Ok(true));
    assert_eq!(bits.release(all[0]), Err(u64::MAX));
}
