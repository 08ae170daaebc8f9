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

#[test]
fn a_value_is_made_from_its_own_handle() {
    let mut slots = Slots::new();
    let first = slots.insert(0_u64).unwrap();
    let worn = Handle::new(first.index(), NonZeroU32::MAX);
    slots.slots[0] = Slot::Live { handle: worn, value: 0 };
    slots.remove(worn);
    // A retired slot, new slots while the table grows, and a slot that was free.
    for _ in 0..20 {
        let handle = slots.insert_with(Handle::to_bits).unwrap();
        assert_eq!(slots[handle], handle.to_bits());
        slots.validate().unwrap();
    }
    let freed = slots.handle_at(7).unwrap();
    slots.remove(freed);
    let handle = slots.insert_with(Handle::to_bits).unwrap();
    assert_eq!((handle.index(), slots[handle]), (7, handle.to_bits()));
    assert_eq!(slots.len(), 20);
}

#[test]
fn retain_and_drain_remove_each_value_once() {
    let value = alloc::rc::Rc::new(());
    let mut slots = Slots::new();
    let handles: Vec<_> = (0..9).map(|n| slots.insert((n, value.clone())).unwrap()).collect();
    let mut visited = Vec::new();
    slots.retain(|handle, value| {
        visited.push(handle);
        value.0 *= 10;
        value.0 % 20 == 0
    });
    assert_eq!(visited, handles);
    assert_eq!(slots.iter().map(|(_, value)| value.0).collect::<Vec<_>>(), [0, 20, 40, 60, 80]);
    slots.validate().unwrap();
    let mut drain = slots.drain();
    assert_eq!(drain.len(), 5);
    assert_eq!(drain.next().map(|(handle, value)| (handle, value.0)), Some((handles[0], 0)));
    drop(drain);
    assert_eq!((slots.len(), alloc::rc::Rc::strong_count(&value)), (0, 1));
    slots.validate().unwrap();
    let again = slots.insert((1, value)).unwrap();
    slots[again].0 += 1;
    assert_eq!(slots[again].0, 2);
}

#[test]
#[should_panic(expected = "stale")]
fn indexing_by_a_stale_handle_panics() {
    let mut slots = Slots::new();
    let handle = slots.insert(1).unwrap();
    slots.remove(handle);
    let _ = slots[handle];
}
