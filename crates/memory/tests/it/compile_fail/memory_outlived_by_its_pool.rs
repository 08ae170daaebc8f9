use core::mem::MaybeUninit;
use drystone_memory::{Pool, Region};

fn main() {
    let pool = {
        let mut bytes = [MaybeUninit::uninit(); 8192];
        Pool::<u32, 4096>::in_region(Region::new(&mut bytes))
    };
    assert!(pool.is_empty());
}
