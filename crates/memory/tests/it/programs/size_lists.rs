use std::mem::MaybeUninit;

use drystone_memory::{Error, List, Region, SizeLists};
use drystone_testing::Bytes;

use super::counting::Counting;

#[derive(Debug)]
enum Op {
    Insert(usize),
    Remove(usize),
    Change(usize),
    Lose(usize),
    Estrange(usize),
    Reset,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        let op = bytes.byte();
        let nth = bytes.below(usize::MAX);
        match op {
            0..=129 => Self::Insert(nth % 12),
            130..=139 => Self::Insert(nth % 3000),
            140..=199 => Self::Remove(nth),
            200..=229 => Self::Change(nth),
            230..=237 => Self::Lose(nth),
            238..=249 => Self::Estrange(nth),
            _ => Self::Reset,
        }
    }
}

/// Maximum size of a region, plus a rest.
const REGION_BYTES: usize = 10_000;
/// Memory of the source: a few slabs and longer arrays.
const SOURCE_BYTES: usize = 1 << 17;
/// Lists for lengths 2 to 8, so that programs use longer arrays.
const SHORTEST: usize = 2;
const LENGTHS: usize = 7;

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    match bytes.byte() % 3 {
        0 => run_with(&mut bytes, |i| i as u8),
        1 => run_with(&mut bytes, |i| (i as u32).wrapping_mul(0x0101_0101)),
        _ => run_with(&mut bytes, |i| [i as u64; 3]),
    }
}

fn run_with<T: Copy + PartialEq + std::fmt::Debug>(bytes: &mut Bytes<'_>, value: fn(usize) -> T) {
    let mut memory = vec![MaybeUninit::uninit(); REGION_BYTES];
    let source = Counting::new(SOURCE_BYTES);
    let lists = if bytes.byte() < 100 {
        let from = bytes.below(100);
        let to = from + bytes.below(REGION_BYTES - from);
        SizeLists::in_region(SHORTEST, Region::new(&mut memory[from..to]))
    } else {
        SizeLists::with_shortest(SHORTEST, &source)
    };
    let strangers = SizeLists::with_shortest(SHORTEST, &source);
    let mut machine =
        Machine { lists, strangers, live: vec![], old: vec![], lost: 0, next: 0, value };
    while !bytes.is_empty() {
        let op = Op::read(bytes);
        machine.step(&op);
        machine.validate();
    }
    drop(machine);
    assert_eq!(source.used_bytes(), 0);
}

struct Machine<'m, T> {
    lists: SizeLists<'m, T, LENGTHS>,
    strangers: SizeLists<'m, T, LENGTHS>,
    live: Vec<(List<T>, Vec<T>)>,
    /// Lists from before a reset.
    old: Vec<List<T>>,
    lost: usize,
    next: usize,
    value: fn(usize) -> T,
}

impl<T: Copy + PartialEq + std::fmt::Debug> Machine<'_, T> {
    fn step(&mut self, op: &Op) {
        match *op {
            Op::Insert(len) => {
                let values: Vec<T> = (0..len).map(|i| (self.value)(self.next + i)).collect();
                self.next += len;
                match self.lists.insert(&values) {
                    Ok(list) => self.live.push((list, values)),
                    Err(error) => assert!(matches!(error, Error::Full { .. })),
                }
            }
            Op::Reset => {
                self.lists.reset();
                self.old.extend(self.live.drain(..).map(|(list, _)| list));
                self.lost = 0;
            }
            Op::Estrange(nth) if !self.old.is_empty() => {
                let list = self.old.swap_remove(nth % self.old.len());
                assert_eq!(self.lists.get(&list), None);
                assert_eq!(self.lists.remove(list), Err(Error::NotAllocated));
            }
            _ if self.live.is_empty() => {}
            Op::Remove(nth) => {
                let (list, _) = self.live.swap_remove(nth % self.live.len());
                self.lists.remove(list).unwrap();
            }
            Op::Change(nth) => {
                let nth = nth % self.live.len();
                let (list, values) = &mut self.live[nth];
                values.reverse();
                self.lists.get_mut(list).unwrap().copy_from_slice(values);
            }
            Op::Lose(nth) => {
                let (list, _) = self.live.swap_remove(nth % self.live.len());
                assert_eq!(self.strangers.remove(list), Err(Error::NotAllocated));
                self.lost += 1;
            }
            Op::Estrange(_) => {}
        }
    }

    fn validate(&self) {
        for (list, values) in &self.live {
            assert_eq!(self.lists.get(list), Some(&values[..]));
            assert_eq!(self.strangers.get(list), None);
        }
        assert!(self.old.iter().all(|list| self.lists.get(list).is_none()));
        assert_eq!(self.lists.len(), self.live.len() + self.lost);
    }
}
