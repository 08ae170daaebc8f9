use drystone_alloc::{Handle, Slots};
use drystone_testing::Bytes;

#[derive(Debug)]
enum Op {
    Insert,
    Remove(usize),
    UseStale(usize),
    Change(usize),
    ChangeAll,
    /// Removes every third value.
    Retain,
    /// Removes all values, and compares this many of them.
    Drain(usize),
    Reset,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            0..=119 => Self::Insert,
            120..=199 => Self::Remove(bytes.below(usize::MAX)),
            200..=224 => Self::UseStale(bytes.below(usize::MAX)),
            225..=244 => Self::Change(bytes.below(usize::MAX)),
            245..=248 => Self::ChangeAll,
            249..=250 => Self::Retain,
            251..=252 => Self::Drain(bytes.below(9)),
            _ => Self::Reset,
        }
    }
}

/// The reference model: all values ever inserted, live or removed.
#[derive(Default)]
struct Shadow {
    live: Vec<(Handle<u64>, u64)>,
    removed: Vec<Handle<u64>>,
    next_value: u64,
}

impl Shadow {
    fn forget_all(&mut self) {
        self.removed.extend(self.live.drain(..).map(|(handle, _)| handle));
    }
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let (mut slots, mut shadow) = (Slots::new(), Shadow::default());
    while !bytes.is_empty() {
        let op = Op::read(&mut bytes);
        step(&mut slots, &mut shadow, &op);
        slots.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        compare(&mut slots, &mut shadow);
    }
}

fn step(slots: &mut Slots<u64>, shadow: &mut Shadow, op: &Op) {
    match *op {
        Op::Insert => {
            shadow.next_value += 1;
            let (value, mut own) = (shadow.next_value, None);
            let made = slots.insert_with(|handle| {
                own = Some(handle);
                value
            });
            let handle = made.unwrap();
            assert_eq!(own, Some(handle));
            let is_new = |other: &Handle<u64>| *other != handle;
            assert!(shadow.removed.iter().all(is_new), "{handle:?} is reused");
            shadow.live.push((handle, shadow.next_value));
        }
        Op::Remove(nth) if !shadow.live.is_empty() => {
            let (handle, value) = shadow.live.swap_remove(nth % shadow.live.len());
            assert_eq!(slots.remove(handle), Some(value));
            shadow.removed.push(handle);
        }
        Op::UseStale(nth) if !shadow.removed.is_empty() => {
            let handle = shadow.removed[nth % shadow.removed.len()];
            assert_eq!(slots.remove(handle), None);
            assert_eq!(slots.get(handle), None);
            assert_eq!(slots.get_mut(handle), None);
        }
        Op::Change(nth) if !shadow.live.is_empty() => {
            let nth = nth % shadow.live.len();
            let (handle, value) = &mut shadow.live[nth];
            *value += 1000;
            *slots.get_mut(*handle).unwrap() = *value;
        }
        Op::ChangeAll => {
            slots.iter_mut().for_each(|(_, value)| *value += 7);
            shadow.live.iter_mut().for_each(|(_, value)| *value += 7);
        }
        Op::Retain => {
            slots.retain(|_, value| *value % 3 != 0);
            let removed = shadow.live.extract_if(.., |(_, value)| *value % 3 == 0);
            shadow.removed.extend(removed.map(|(handle, _)| handle));
        }
        Op::Drain(count) => {
            shadow.live.sort_unstable_by_key(|(handle, _)| handle.index());
            assert!(slots.drain().take(count).eq(shadow.live.iter().copied().take(count)));
            shadow.forget_all();
        }
        Op::Reset => {
            slots.reset();
            shadow.forget_all();
        }
        _ => {}
    }
}

fn compare(slots: &mut Slots<u64>, shadow: &mut Shadow) {
    assert!(shadow.live.iter().all(|(handle, value)| slots.get(*handle) == Some(value)));
    assert!(shadow.removed.iter().all(|handle| !slots.contains(*handle)));
    shadow.live.sort_unstable_by_key(|(handle, _)| handle.index());
    assert_eq!(slots.len() as usize, shadow.live.len());
    assert_eq!(slots.iter().len(), shadow.live.len());
    let live = || shadow.live.iter().copied();
    assert!(slots.iter().map(|(handle, value)| (handle, *value)).eq(live()));
    assert!(slots.iter_mut().map(|(handle, value)| (handle, *value)).eq(live()));
}
