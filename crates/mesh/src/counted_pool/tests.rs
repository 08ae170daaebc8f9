extern crate std;

use std::vec::Vec;

use proptest::prelude::*;

use super::*;

#[test]
fn the_last_owner_gets_the_value() {
    let mut pool = CountedPool::new();
    let handle = pool.insert("a").unwrap();
    pool.share(handle).unwrap();
    assert_eq!(pool.release(handle), Ok(None));
    assert_eq!(pool.owners(handle), 1);
    assert_eq!(pool.release(handle), Ok(Some("a")));
    assert_eq!(pool.release(handle), Err(Error::Stale));
    assert_eq!(pool.share(handle), Err(Error::Stale));
    let next = pool.insert("b").unwrap();
    assert_eq!((next.index(), pool.get(handle), pool.owners(handle)), (handle.index(), None, 0));
}

#[test]
fn too_many_owners_are_an_error() {
    let mut pool = CountedPool::new();
    let handle = pool.insert(7).unwrap();
    let Some(Record::Live { owners, .. }) = pool.records.first_mut() else { panic!() };
    *owners = NonZeroU32::MAX;
    assert_eq!(pool.share(handle), Err(Error::TooManyOwners));
    assert_eq!(pool.owners(handle), u32::MAX);
}

#[test]
fn a_record_with_exhausted_generations_is_never_reused() {
    let mut pool = CountedPool::new();
    let first = pool.insert(1).unwrap();
    pool.release(first).unwrap();
    let Some(Record::Free { generation, .. }) = pool.records.first_mut() else { panic!() };
    *generation = u32::MAX - 1;
    let last = pool.insert(2).unwrap();
    assert_eq!(last.index(), 0);
    pool.release(last).unwrap();
    assert_eq!(pool.insert(3).unwrap().index(), 1);
    assert_eq!((pool.get(first), pool.get(last)), (None, None));
    pool.validate().unwrap();
}

#[test]
fn insertions_into_reserved_memory_do_not_grow() {
    let mut pool = CountedPool::new();
    let first = pool.insert(0).unwrap();
    pool.insert(1).unwrap();
    pool.release(first).unwrap();
    pool.reserve(1000).unwrap();
    let bytes = pool.reserved_bytes();
    (0..1000).for_each(|n| assert!(pool.insert(n).is_ok()));
    assert_eq!(pool.reserved_bytes(), bytes);
    assert!(bytes >= 1001 * CountedPool::<i32>::RECORD_BYTES);
    assert!(matches!(pool.reserve(u32::MAX as usize), Err(Error::Full(_))));
    assert!(matches!(pool.reserve(usize::MAX), Err(Error::Full(_))));
    assert_eq!((pool.len(), pool.validate()), (1001, Ok(())));
}

#[derive(Clone, Debug)]
enum Op {
    Insert(u32),
    Share(usize),
    Release(usize),
    Change(usize, u32),
    Reset,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => any::<u32>().prop_map(Op::Insert),
        4 => any::<usize>().prop_map(Op::Share),
        8 => any::<usize>().prop_map(Op::Release),
        2 => (any::<usize>(), any::<u32>()).prop_map(|(at, to)| Op::Change(at, to)),
        1 => Just(Op::Reset),
    ]
}

/// Every handle that ever existed, with its value and its owners.
type Shadow = Vec<(Handle<u32>, u32, u32)>;

fn apply(op: Op, pool: &mut CountedPool<u32>, shadow: &mut Shadow) {
    let at = |at: usize| at % shadow.len().max(1);
    match op {
        Op::Insert(value) => shadow.push((pool.insert(value).unwrap(), value, 1)),
        Op::Reset => {
            pool.reset();
            shadow.iter_mut().for_each(|(.., owners)| *owners = 0);
        }
        Op::Share(n) | Op::Release(n) | Op::Change(n, _) => {
            let n = at(n);
            let Some((handle, value, owners)) = shadow.get_mut(n) else { return };
            let is_live = *owners > 0;
            match op {
                Op::Share(_) => {
                    assert_eq!(pool.share(*handle).is_ok(), is_live);
                    *owners += u32::from(is_live);
                }
                Op::Change(_, to) => {
                    let stored = pool.get_mut(*handle);
                    assert_eq!(stored.is_some(), is_live);
                    *value = to;
                    stored.into_iter().for_each(|stored| *stored = to);
                }
                _ => {
                    let last = (*owners == 1).then_some(*value);
                    assert_eq!(pool.release(*handle), is_live.then_some(last).ok_or(Error::Stale));
                    *owners = owners.saturating_sub(1);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn behaves_like_a_list_of_counts(ops in prop::collection::vec(op(), 0..200)) {
        let (mut pool, mut shadow) = (CountedPool::new(), Shadow::new());
        for op in ops {
            apply(op, &mut pool, &mut shadow);
            prop_assert_eq!(pool.validate(), Ok(()));
            for &(handle, value, owners) in &shadow {
                prop_assert_eq!(pool.get(handle).copied(), (owners > 0).then_some(value));
                prop_assert_eq!(pool.owners(handle), owners);
            }
            let live = shadow.iter().filter(|(.., owners)| *owners > 0).count();
            prop_assert_eq!((pool.len() as usize, pool.iter().count()), (live, live));
        }
    }
}
