use drystone_alloc::memory::{Region, ScopeStack};

struct Looks<'a>(&'a String);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() {
    ScopeStack::new(Region::new(&mut [])).scope(|scope| {
        let local = String::from("dropped before the scope ends");
        scope.alloc(Looks(&local)).unwrap();
    });
}
