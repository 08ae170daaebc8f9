use drystone_memory::{Linear, Region};

fn main() {
    let mut linear = Linear::new(Region::new(&mut []));
    let value = linear.alloc(1).unwrap();
    linear.reset();
    *value += 1;
}
