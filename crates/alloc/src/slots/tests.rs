use super::*;

#[test]
fn slots_with_exhausted_generations_are_never_reused() {
    let mut slots = Slots::new();
    let first = slots.insert(1).unwrap();
    let last = Handle::new(first.index(), NonZeroU32::MAX);
    slots.slots[0] = Slot::Live { handle: last, value: 1 };
    assert_eq!(slots.remove(last), Some(1));
    let next = slots.insert(2).unwrap();
    assert_eq!(next.index(), 1);
    assert_eq!((slots.get(first), slots.get(last)), (None, None));
    slots.validate().unwrap();
}

#[test]
fn values_are_dropped_once() {
    let value = alloc::rc::Rc::new(());
    let mut slots = Slots::new();
    let handles = [0; 3].map(|_| slots.insert(value.clone()).unwrap());
    drop(slots.remove(handles[1]));
    assert_eq!(alloc::rc::Rc::strong_count(&value), 3);
    slots.reset();
    assert_eq!(alloc::rc::Rc::strong_count(&value), 1);
    assert!(handles.iter().all(|&handle| !slots.contains(handle)));
}

#[test]
fn handles_convert_to_integers_and_back() {
    let mut slots = Slots::new();
    let handles = ["a", "b"].map(|value| slots.insert(value).unwrap());
    assert_eq!(handles.map(|handle| Handle::from_bits(handle.to_bits())), handles.map(Some));
    assert_eq!(Handle::<&str>::from_bits(0), None);
    slots.remove(handles[0]);
    assert_eq!([0, 1, 2].map(|at| slots.handle_at(at)), [None, Some(handles[1]), None]);
}
