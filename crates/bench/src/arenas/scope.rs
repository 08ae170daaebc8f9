//! Nested scopes with a few objects each, which are dropped at the end of their scope.

use std::{array, cell::Cell, hint::black_box, time::Instant};

use allocator_api2::{alloc::System, boxed::Box as BoxIn};
use bump_scope::{Bump, BumpScope};
use drystone_memory::{Region, Scope, ScopeStack};

use crate::{Contender, Error, Figure, Run, rounds::Round};

/// Objects per scope.
const OBJECTS: usize = 8;
/// Depth of nested scopes.
const DEPTH: usize = 8;
/// Number of times that all scopes are opened and closed in a round.
const REPEATS: usize = 20_000;
const QUICK_REPEATS: usize = 500;
/// Memory that is sufficient for all objects and their metadata.
const MEMORY_BYTES: usize = 1 << 14;

/// Number of dropped objects, by their number in the scope. A single counter would make each object
/// wait for the previous one.
type Counts = [Cell<u64>; OBJECTS];

/// An object in a scope.
trait Object<'c> {
    fn new(counts: &'c Counts, number: usize) -> Self;
    /// Called at the end of the scope.
    fn leave(&self, counts: &Counts);
}

/// An object of three words with a destructor.
struct Counted<'c> {
    count: &'c Cell<u64>,
    _number: u64,
    _square: u64,
}

impl<'c> Object<'c> for Counted<'c> {
    #[inline]
    fn new(counts: &'c Counts, number: usize) -> Self {
        let (count, _square) = (&counts[number], (number * number) as u64);
        Self { count, _number: number as u64, _square }
    }
    #[inline]
    fn leave(&self, _: &Counts) {}
}

impl Drop for Counted<'_> {
    #[inline]
    fn drop(&mut self) {
        self.count.set(self.count.get() + 1);
    }
}

/// A value without a destructor, for comparison with [`Counted`].
struct Plain {
    number: u64,
    _square: u64,
    _cube: u64,
}

impl Object<'_> for Plain {
    #[inline]
    fn new(_: &Counts, number: usize) -> Self {
        let [number, _square, _cube] = [1, 2, 3].map(|power| number.pow(power) as u64);
        Self { number, _square, _cube }
    }
    #[inline]
    fn leave(&self, counts: &Counts) {
        let count = &counts[self.number as usize % OBJECTS];
        count.set(count.get() + 1);
    }
}

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    run_case::<Counted<'_>>(run, "scope", &Counts::default())?;
    run_case::<Plain>(run, "scope-plain", &Counts::default())
}

fn run_case<'c, T: Object<'c>>(
    run: &mut Run<'_>,
    case: &str,
    counts: &'c Counts,
) -> Result<(), Error> {
    let repeats = run.options.size(REPEATS, QUICK_REPEATS);
    let mut bump = Bump::new();
    let mut arena = scoped_arena::Scope::with_capacity(MEMORY_BYTES);
    run.case(case, || {
        Ok(vec![
            Contender::new("drystone", || {
                let mut stack = ScopeStack::new(Region::heap(MEMORY_BYTES)?);
                time(repeats, counts, || {
                    stack.scope(|scope| in_drystone::<T>(scope, counts, DEPTH))
                })
            }),
            Contender::new("drystone-box", || {
                let mut stack = ScopeStack::new(Region::heap(MEMORY_BYTES)?);
                time(repeats, counts, || {
                    stack.scope(|scope| in_drystone_boxes::<T>(scope, counts, DEPTH))
                })
            }),
            Contender::new("bump-scope", || {
                time(repeats, counts, || {
                    bump.scoped(|scope| in_bump_scope::<T>(scope, counts, DEPTH))
                })
            }),
            Contender::new("scoped-arena", || {
                time(repeats, counts, || in_scoped_arena::<T>(arena.proxy().scope(), counts, DEPTH))
            }),
            Contender::new("box", || time(repeats, counts, || in_boxes::<T>(counts, DEPTH))),
        ])
    })
}

/// Measures the time per object.
fn time(repeats: usize, counts: &Counts, mut run: impl FnMut() -> Option<()>) -> Round {
    run().ok_or("full")?;
    counts.iter().for_each(|count| count.set(0));
    let start = Instant::now();
    for _ in 0..repeats {
        run().ok_or("full")?;
    }
    let figure = Figure::time_since(start, repeats * DEPTH * OBJECTS);
    let expected = (repeats * DEPTH) as u64;
    match counts.iter().find(|count| count.get() != expected) {
        None => Ok(vec![figure]),
        Some(count) => Err(format!("{} objects were dropped, not {expected}", count.get()).into()),
    }
}

/// Panics when memory runs out, as the other contenders do.
#[inline]
fn or_panic<T>(result: Result<T, drystone_memory::Error>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Puts objects into the scope, opens the next scope, and returns after its end.
#[inline(never)]
fn in_drystone<'c: 'p, 'p, T: Object<'c> + 'p>(
    scope: &mut Scope<'_, 'p>,
    counts: &'c Counts,
    depth: usize,
) -> Option<()> {
    let mut objects: [_; OBJECTS] =
        array::from_fn(|number| or_panic(scope.alloc(T::new(counts, number))));
    black_box(&mut objects);
    if depth > 1 {
        scope.scope(|inner| in_drystone::<T>(inner, counts, depth - 1))?;
    }
    objects.iter().for_each(|object| object.leave(counts));
    Some(())
}

/// Does the work of [`in_drystone`]; the caller owns the objects, as in bump-scope.
#[inline(never)]
fn in_drystone_boxes<'c, T: Object<'c>>(
    scope: &mut Scope<'_, '_>,
    counts: &'c Counts,
    depth: usize,
) -> Option<()> {
    let mut objects: [_; OBJECTS] =
        array::from_fn(|number| or_panic(scope.alloc_box(T::new(counts, number))));
    black_box(&mut objects);
    if depth > 1 {
        scope.scope(|inner| in_drystone_boxes::<T>(inner, counts, depth - 1))?;
    }
    objects.iter().for_each(|object| object.leave(counts));
    Some(())
}

#[inline(never)]
fn in_bump_scope<'c, T: Object<'c>>(
    scope: &mut BumpScope<'_>,
    counts: &'c Counts,
    depth: usize,
) -> Option<()> {
    let mut objects: [_; OBJECTS] = array::from_fn(|number| scope.alloc(T::new(counts, number)));
    black_box(&mut objects);
    if depth > 1 {
        scope.scoped(|inner| in_bump_scope::<T>(inner, counts, depth - 1))?;
    }
    objects.iter().for_each(|object| object.leave(counts));
    Some(())
}

#[inline(never)]
fn in_scoped_arena<'c, T: Object<'c>>(
    mut scope: scoped_arena::Scope<'_>,
    counts: &'c Counts,
    depth: usize,
) -> Option<()> {
    let mut scope = scope.proxy();
    let mut objects: [_; OBJECTS] = array::from_fn(|number| scope.to_scope(T::new(counts, number)));
    black_box(&mut objects);
    if depth > 1 {
        in_scoped_arena::<T>(scope.scope(), counts, depth - 1)?;
    }
    objects.iter().for_each(|object| object.leave(counts));
    Some(())
}

#[inline(never)]
fn in_boxes<'c, T: Object<'c>>(counts: &'c Counts, depth: usize) -> Option<()> {
    let mut objects: [_; OBJECTS] =
        array::from_fn(|number| BoxIn::new_in(T::new(counts, number), System));
    black_box(&mut objects);
    if depth > 1 {
        in_boxes::<T>(counts, depth - 1)?;
    }
    objects.iter().for_each(|object| object.leave(counts));
    Some(())
}
