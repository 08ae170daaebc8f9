use drystone_memory::{Region, ScopeStack};

struct Reads<'a>(&'a String);

impl Drop for Reads<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() {
    ScopeStack::new(Region::new(&mut [])).scope(|scope| {
        let local = String::from("dropped before the scope ends");
        scope.alloc(Reads(&local)).unwrap();
    });
}
