#![cfg(feature = "std")]

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// Records its number when it is dropped, and panics then if it is `BOMB` or more.
struct Noted<'n>(u32, &'n RefCell<Vec<u32>>);

const BOMB: u32 = 100;

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0);
        assert!(self.0 < BOMB || std::thread::panicking(), "destructor {} panics", self.0);
    }
}

/// Returns the values dropped by `run` with a stack of 1,024 bytes, in sequence, and whether
/// it panicked.
fn dropped(run: impl FnOnce(&mut ScopeStack<'_>, &RefCell<Vec<u32>>)) -> (Vec<u32>, bool) {
    let mut bytes = [MaybeUninit::uninit(); 1024];
    let notes = RefCell::new(Vec::new());
    let panicked = {
        let mut stack = ScopeStack::new(Region::new(&mut bytes));
        catch_unwind(AssertUnwindSafe(|| run(&mut stack, &notes))).is_err()
    };
    (notes.into_inner(), panicked)
}

#[test]
fn destructors_run_in_reverse_scope_by_scope() {
    let run = |stack: &mut ScopeStack<'_>, notes: &RefCell<Vec<u32>>| {
        stack.scope(|scope| {
            scope.alloc(Noted(1, notes)).unwrap();
            scope.alloc(5u64).unwrap();
            scope.alloc_with(|| Noted(2, notes)).unwrap();
            scope.scope(|inner| {
                inner.alloc(Noted(3, notes)).unwrap();
                inner.scope(|inner| inner.alloc(Noted(4, notes)).is_ok());
                inner.alloc(Noted(5, notes)).unwrap();
            });
            scope.alloc_slice_with(3, |i| Noted(6 + i as u32, notes)).unwrap();
        });
    };
    // Arrays drop from the front.
    assert_eq!(dropped(run), (vec![4, 5, 3, 6, 7, 8, 2, 1], false));
}

#[test]
fn values_of_a_scope_stay_usable_within_it() {
    let mut stack = ScopeStack::new(Region::heap(4096).unwrap());
    let text = stack.scope(|scope| {
        let words = scope.alloc(vec![String::from("a")]).unwrap();
        scope.scope(|inner| {
            let more = inner.alloc_str("b").unwrap();
            words.push(String::from(&*more));
            // A value with a destructor may borrow from the outer scope.
            let both = inner.alloc(vec![&words[0], &words[1]]).unwrap();
            assert_eq!(both.len(), 2);
        });
        let again = scope.alloc_slice(&[1, 2]).unwrap();
        again[0] = 5;
        words.concat()
    });
    assert_eq!(text, "ab");
}

#[test]
fn boxes_drop_their_values_once_when_their_owner_decides() {
    let run = |stack: &mut ScopeStack<'_>, notes: &RefCell<Vec<u32>>| {
        stack.scope(|scope| {
            let first = scope.alloc_box(Noted(1, notes)).unwrap();
            let [inner, leaked] = [2, 3].map(|n| scope.alloc_box(Noted(n, notes)).unwrap());
            scope.alloc(Noted(4, notes)).unwrap();
            drop(first);
            let moved = inner.into_inner();
            assert_eq!((moved.0, leaked.leak().0), (2, 3));
            let refers = scope.alloc_box(vec![&moved]).unwrap();
            assert!(scope.alloc_box([0u8; 2000]).is_err() && refers[0].0 == 2);
            let bomb = scope.alloc_box(Noted(BOMB, notes)).unwrap();
            scope.scope(|nested| nested.alloc(Noted(5, notes)).is_ok());
            drop(bomb);
        });
    };
    assert_eq!(dropped(run), (vec![1, 5, BOMB, 2, 4], true));
}

#[test]
fn a_panic_drops_only_the_values_made_before() {
    let (notes, panicked) = dropped(|stack, notes| {
        stack.scope(|scope| {
            scope.alloc(Noted(1, notes)).unwrap();
            scope.scope(|inner| {
                inner.alloc(Noted(2, notes)).unwrap();
                let make = || match notes.borrow().is_empty() {
                    true => panic!("no"),
                    false => Noted(3, notes),
                };
                inner.alloc_with(make).unwrap();
            });
        });
    });
    assert_eq!((notes, panicked), (vec![2, 1], true));
    let (notes, panicked) = dropped(|stack, notes| {
        stack.scope(|scope| {
            let make = |i| if i == 2 { panic!("no") } else { Noted(i as u32, notes) };
            scope.alloc_slice_with(4, make).unwrap();
        });
    });
    assert_eq!((notes, panicked), (vec![0, 1], true));
}

#[test]
fn after_a_panic_in_a_destructor_the_others_still_run() {
    let (notes, panicked) = dropped(|stack, notes| {
        stack.scope(|scope| {
            scope.alloc(Noted(1, notes)).unwrap();
            scope.scope(|inner| {
                for number in [2, BOMB, 3] {
                    inner.alloc(Noted(number, notes)).unwrap();
                }
            });
        });
    });
    assert_eq!((notes, panicked), (vec![3, BOMB, 2, 1], true));
}

#[test]
fn a_stack_is_usable_after_a_panic() {
    let (notes, _) = dropped(|stack, notes| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            stack.scope(|scope| {
                scope.alloc(Noted(BOMB, notes)).unwrap();
                panic!("no");
            })
        }));
        assert!(caught.is_err());
        stack.scope(|scope| assert_eq!(scope.remaining(), 1024));
    });
    assert_eq!(notes, [BOMB]);
}

#[test]
fn full_drops_the_value_at_once() {
    let mut bytes = [MaybeUninit::uninit(); 40];
    let notes = RefCell::new(Vec::new());
    let mut stack = ScopeStack::new(Region::new(&mut bytes));
    stack.scope(|scope| {
        scope.alloc([0u8; 9]).unwrap();
        assert!(matches!(scope.alloc(Noted(1, &notes)), Err(Error::Full { requested: 32, .. })));
        assert_eq!(*notes.borrow(), [1]);
        assert!(scope.alloc_slice_with(2, |i| Noted(i as u32, &notes)).is_err());
        let too_many = scope.alloc_slice_with(usize::MAX / 8, |_| Noted(9, &notes));
        assert!(matches!(too_many, Err(Error::InvalidSize)));
    });
    assert_eq!(*notes.borrow(), [1]);
}

#[test]
fn plain_data_has_no_overhead() {
    let mut stack = ScopeStack::new(Region::heap(4096).unwrap());
    stack.scope(|scope| {
        for i in 0..8u64 {
            scope.alloc(i).unwrap();
            scope.alloc_plain(i + 1).unwrap();
        }
        scope.alloc(()).unwrap();
        assert_eq!(scope.remaining(), 4096 - 128);
        scope.scope(|inner| inner.alloc([0u8; 1000]).is_ok());
        assert_eq!(scope.remaining(), 4096 - 128);
    });
    assert_eq!((stack.high_water(), stack.capacity()), (1128, 4096));
}

#[test]
fn values_of_0_bytes_are_dropped_too() {
    static DROPS: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {
            DROPS.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
        }
    }
    let mut stack = ScopeStack::new(Region::heap(4096).unwrap());
    stack.scope(|scope| {
        scope.alloc(Nothing).unwrap();
        scope.alloc_slice_with(3, |_| Nothing).unwrap();
    });
    assert_eq!(DROPS.load(core::sync::atomic::Ordering::Relaxed), 4);
}

#[test]
fn alignment_beyond_the_finalizers() {
    #[repr(align(128))]
    struct Wide(String);
    let mut bytes = [MaybeUninit::uninit(); 2048];
    let mut stack = ScopeStack::new(Region::new(&mut bytes[3..]));
    stack.scope(|scope| {
        let one = scope.alloc(Wide(String::from("x"))).unwrap();
        assert_eq!(&raw const *one as usize % 128, 0);
        let more = scope.alloc_slice_with(2, |_| Wide(String::from("y"))).unwrap();
        assert_eq!((&raw const *more as *const u8 as usize % 128, more.len()), (0, 2));
        assert_eq!((one.0.as_str(), more[1].0.as_str()), ("x", "y"));
    });
}

#[test]
fn stacks_over_one_region_are_independent() {
    let notes = RefCell::new(Vec::new());
    let base = Linear::new(Region::heap(1024).unwrap());
    let layout = Layout::new::<[u64; 32]>();
    let [mut first, mut second] = [(); 2].map(|()| ScopeStack::new(base.region(layout).unwrap()));
    assert!(matches!(base.region(Layout::new::<[u64; 65]>()), Err(Error::Full { .. })));
    let mut both = [&mut first, &mut second];
    for _ in 0..2 {
        let [outer, inner] = &mut both;
        outer.scope(|outer| {
            let kept = outer.alloc(Noted(1, &notes)).unwrap();
            for number in 2..4 {
                inner.scope(|inner| {
                    inner.alloc([Noted(number, &notes), Noted(number, &notes)]).unwrap();
                    outer.alloc(Noted(number + 10, &notes)).unwrap();
                });
            }
            assert_eq!((kept.0, notes.take()), (1, vec![2, 2, 3, 3]));
        });
        assert_eq!(notes.take(), [13, 12, 1]);
        both.reverse();
    }
    assert!(first.scope(|scope| scope.alloc_slice(&[0u8; 257]).is_err()));
}
