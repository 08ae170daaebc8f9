use drystone_memory::{Region, ScopeStack};

fn main() {
    let mut stack = ScopeStack::new(Region::new(&mut []));
    let mut kept = None;
    stack.scope(|scope| {
        kept = Some(scope.alloc(1).unwrap());
    });
    println!("{kept:?}");
}
