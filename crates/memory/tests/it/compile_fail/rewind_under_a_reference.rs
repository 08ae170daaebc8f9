use drystone_memory::{Linear, Region};

fn main() {
    let mut linear = Linear::new(Region::new(&mut []));
    let mut checkpoint = linear.checkpoint();
    let value = checkpoint.alloc(1).unwrap();
    checkpoint.rewind();
    *value += 1;
}
