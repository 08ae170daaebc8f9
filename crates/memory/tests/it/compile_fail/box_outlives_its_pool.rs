use drystone_memory::{Heap, Pool};

fn main() {
    let outlives = {
        let pool = Pool::<u32>::new(&Heap);
        pool.insert(7).unwrap()
    };
    assert_eq!(*outlives, 7);
}
