//! Loads a level in a [`ScopeStack`]: data of the level stays until it ends, temporary data is
//! freed at once, and an error in the middle leaks nothing.
//!
//! ```text
//! cargo run -p drystone-memory --example level_loader
//! ```
//! ```text
//!  |<-- the level ------------------->|<-- reading it -->|
//!  | names | objects | texture handle | tokens | numbers |→ free
//!                      ▲ has a destructor: runs when the level ends, or at the first error
//! ```
//! All data is in one region, and nothing has to be freed by hand: scopes end in reverse order, and
//! so do the values in them.

use std::cell::Cell;

use drystone_memory::{Region, Scope, ScopeStack};

/// A texture on the GPU. Its number must be released.
struct Texture<'gpu> {
    name: &'gpu str,
    loaded: &'gpu Cell<u32>,
}

impl<'gpu> Texture<'gpu> {
    fn load(name: &'gpu str, loaded: &'gpu Cell<u32>) -> Self {
        loaded.set(loaded.get() + 1);
        Self { name, loaded }
    }
}

impl Drop for Texture<'_> {
    fn drop(&mut self) {
        self.loaded.set(self.loaded.get() - 1);
        println!("  texture {} is released", self.name);
    }
}

#[derive(Clone, Copy, Debug)]
struct Object<'s> {
    name: &'s str,
    position: [f32; 3],
}

/// Reads a level of lines `name x y z` into `level`. Temporary data is in a nested scope and freed
/// when this returns.
fn read_objects<'s>(text: &str, level: &mut Scope<'s, '_>) -> Result<&'s [Object<'s>], String> {
    let full = |error: drystone_memory::Error| error.to_string();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let empty = Object { name: "", position: [0.0; 3] };
    let objects = level.alloc_slice(&vec![empty; lines.clone().count()]).map_err(full)?;
    for (number, line) in (1..).zip(lines) {
        // Words and numbers of a line: temporary data.
        let (length, position) = level.scope(|scratch| {
            let words = scratch.alloc(line.split_whitespace().collect::<Vec<_>>()).map_err(full)?;
            let [name, numbers @ ..] = words.as_slice() else {
                return Err(format!("line {number}: the line is empty"));
            };
            let [x, y, z] = numbers else {
                return Err(format!("line {number}: a position is three numbers"));
            };
            let numbers = [x, y, z].map(|word| word.parse::<f32>());
            let [Ok(x), Ok(y), Ok(z)] = numbers else {
                return Err(format!("line {number}: not a number"));
            };
            Ok((name.len(), [x, y, z]))
        })?;
        let name = level.alloc_str(&line.trim_start()[..length]).map_err(full)?;
        objects[number - 1] = Object { name, position };
    }
    Ok(objects)
}

/// Loads a level, plays it, and ends it.
fn play(stack: &mut ScopeStack<'_>, text: &str, loaded: &Cell<u32>) -> Result<usize, String> {
    stack.scope(|level| {
        level.alloc(Texture::load("stone", loaded)).map_err(|error| error.to_string())?;
        level.alloc(Texture::load("moss", loaded)).map_err(|error| error.to_string())?;
        let objects = read_objects(text, level)?;
        for object in objects {
            println!("  {} at {:?}", object.name, object.position);
        }
        println!("  the level takes {} bytes, {} textures", level.used(), loaded.get());
        Ok(objects.len())
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut stack = ScopeStack::new(Region::heap(16 << 10)?);
    let loaded = Cell::new(0);

    println!("a level:");
    let count = play(&mut stack, "gate 0 0 5\ntower 12 0 -3\ntower -12 0 -3\n", &loaded)?;
    assert_eq!((count, loaded.get()), (3, 0), "every texture was released");

    println!("a damaged level:");
    let error = play(&mut stack, "gate 0 0 5\ntower twelve 0 -3\n", &loaded);
    assert_eq!(error, Err("line 2: not a number".into()));
    assert_eq!(loaded.get(), 0, "textures are released after an error, too");

    println!("at most {} of {} bytes were in use", stack.high_water(), stack.capacity());
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
