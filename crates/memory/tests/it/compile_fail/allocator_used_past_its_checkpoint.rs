use drystone_memory::{Linear, Region};

fn main() {
    let mut linear = Linear::new(Region::new(&mut []));
    let checkpoint = linear.checkpoint();
    linear.alloc(1).unwrap();
    drop(checkpoint);
}
