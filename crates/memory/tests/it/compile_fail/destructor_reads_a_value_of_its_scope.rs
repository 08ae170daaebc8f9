use std::cell::Cell;

use drystone_memory::{Region, ScopeStack};

struct Reads<'a>(Cell<Option<&'a String>>);

impl Drop for Reads<'_> {
    fn drop(&mut self) {
        println!("{:?}", self.0.get());
    }
}

fn main() {
    ScopeStack::new(Region::new(&mut [])).scope(|scope| {
        let first = scope.alloc(Reads(Cell::new(None))).unwrap();
        // Dropped before `first` is, whose destructor then reads it.
        let second = scope.alloc(String::from("gone")).unwrap();
        first.0.set(Some(second));
    });
}
