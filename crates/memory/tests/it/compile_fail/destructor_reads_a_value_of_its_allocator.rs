use drystone_memory::{DropLinear, Region};

struct Reader<'n>(&'n String);

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() {
    let linear = DropLinear::new(Region::heap(64).unwrap());
    let text = linear.alloc(String::from("dropped before or after")).unwrap();
    linear.alloc(Reader(text)).unwrap();
}
