use drystone_memory::{Heap, Pool};

fn main() {
    let mut pool = Pool::<u32>::new(&Heap);
    let seven = pool.insert(7).unwrap();
    pool.reset();
    assert_eq!(*seven, 7);
}
