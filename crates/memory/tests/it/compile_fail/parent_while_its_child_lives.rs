use drystone_memory::{Region, ScopeStack};

fn main() {
    ScopeStack::new(Region::new(&mut [])).scope(|parent| {
        parent.scope(|_child| {
            parent.alloc(1).unwrap();
        });
    });
}
