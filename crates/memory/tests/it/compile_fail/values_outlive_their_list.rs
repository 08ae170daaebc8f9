use drystone_memory::{Heap, SizeLists};

fn main() {
    let mut lists = SizeLists::<u32>::new(&Heap);
    let list = lists.insert(&[1, 2, 3]).unwrap();
    let values = lists.get(&list).unwrap();
    lists.remove(list).unwrap();
    assert_eq!(values, [1, 2, 3]);
}
