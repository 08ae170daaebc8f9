//! Arenas: objects that are allocated one after another and freed all at once.

use std::{alloc::Layout, hint::black_box, time::Instant};

use allocator_api2::{alloc::System, boxed::Box as BoxIn};
use drystone_memory::{Linear, Region};

use super::small::allocator::trim;
use crate::{Contender, Error, Figure, Run, rounds::Round};

/// A list in an arena, similar to the trees and lists of a parser.
#[derive(Clone, Copy)]
struct Node<'a> {
    before: Option<&'a Self>,
    number: u64,
    square: u64,
}

const _: () = assert!(size_of::<Node<'_>>() == 24);

/// Cases: name, objects before each reset, and resets per round. The last case uses memory that was
/// never touched, so it mainly measures page faults.
const CASES: [(&str, usize, usize); 3] =
    [("bump-100", 100, 20_000), ("bump-10000", 10_000, 200), ("bump-2m", 2_000_000, 1)];
/// Factor by which a quick run has fewer fills and resets.
const QUICK: usize = 20;

/// Memory that is allocated from one end, and freed all at once.
trait Arena {
    const NAME: &'static str;
    /// Creates an arena for `count` nodes, whose memory was never touched.
    fn new(count: usize) -> Option<Self>
    where
        Self: Sized;
    fn put<'a>(&'a self, node: Node<'a>) -> Option<&'a Node<'a>>;
    fn reset(&mut self);
}

impl Arena for Linear<'static> {
    const NAME: &'static str = "drystone";
    fn new(count: usize) -> Option<Self> {
        Some(Self::new(Region::heap(count * size_of::<Node<'_>>()).ok()?))
    }
    #[inline]
    fn put<'a>(&'a self, node: Node<'a>) -> Option<&'a Node<'a>> {
        Some(self.alloc(node).ok()?)
    }
    fn reset(&mut self) {
        Linear::reset(self);
    }
}

impl Arena for bumpalo::Bump {
    const NAME: &'static str = "bumpalo";
    fn new(count: usize) -> Option<Self> {
        Some(Self::with_capacity(count * size_of::<Node<'_>>()))
    }
    #[inline]
    fn put<'a>(&'a self, node: Node<'a>) -> Option<&'a Node<'a>> {
        Some(self.alloc(node))
    }
    fn reset(&mut self) {
        bumpalo::Bump::reset(self);
    }
}

impl Arena for bump_scope::Bump {
    const NAME: &'static str = "bump-scope";
    fn new(count: usize) -> Option<Self> {
        Some(Self::with_capacity(Layout::array::<Node<'_>>(count).ok()?))
    }
    #[inline]
    fn put<'a>(&'a self, node: Node<'a>) -> Option<&'a Node<'a>> {
        Some(bump_scope::BumpBox::leak(self.alloc(node)))
    }
    fn reset(&mut self) {
        bump_scope::Bump::reset(self);
    }
}

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    for (case, count, repeats) in CASES {
        let (count, repeats) = match repeats {
            1 => (options.size(count, count / QUICK), 1),
            _ => (count, options.size(repeats, repeats / QUICK)),
        };
        run.case(case, || {
            Ok(vec![
                contender::<Linear<'static>>(count, repeats),
                contender::<bumpalo::Bump>(count, repeats),
                contender::<bump_scope::Bump>(count, repeats),
                Contender::new("malloc", move || boxes(count, repeats)),
            ])
        })?;
    }
    Ok(())
}

/// Measures one round with a new arena. If the arena is filled more than once, the first fill is
/// not measured.
fn contender<A: Arena>(count: usize, repeats: usize) -> Contender<'static> {
    Contender::new(A::NAME, move || {
        trim();
        let mut arena = A::new(count).ok_or("out of memory")?;
        if repeats > 1 {
            check(fill(&arena, count), count)?;
            arena.reset();
        }
        let start = Instant::now();
        for _ in 0..repeats {
            black_box(fill(&arena, count));
            arena.reset();
        }
        let figure = Figure::time_since(start, count * repeats);
        check(fill(&arena, count), count)?;
        Ok(vec![figure])
    })
}

/// Builds a list of `count` nodes. Returns the last one, or `None` if the arena is full.
#[inline(never)]
fn fill<A: Arena>(arena: &A, count: usize) -> Option<&Node<'_>> {
    let mut last = None;
    for number in 0..count as u64 {
        last = Some(arena.put(Node { before: last, number, square: number * number })?);
    }
    last
}

fn check(last: Option<&Node<'_>>, count: usize) -> Result<(), String> {
    let mut rest = last;
    for number in (0..count as u64).rev() {
        match rest {
            Some(node) if (node.number, node.square) == (number, number * number) => {
                rest = node.before;
            }
            _ => return Err(format!("node {number} of {count} is missing")),
        }
    }
    Ok(())
}

/// Builds the same list with each node in its own heap block.
struct Link {
    before: Option<BoxIn<Self, System>>,
    number: u64,
    square: u64,
}

const _: () = assert!(size_of::<Link>() == 24);

fn boxes(count: usize, repeats: usize) -> Round {
    trim();
    let start = Instant::now();
    let mut sum = 0;
    for _ in 0..repeats {
        let mut last = None;
        for number in 0..count as u64 {
            let link = Link { before: last, number, square: number * number };
            last = Some(BoxIn::new_in(link, System));
        }
        sum = 0;
        while let Some(mut link) = last {
            sum += link.number * 2 + (link.square - link.number * link.number);
            last = link.before.take();
        }
    }
    let figure = Figure::time_since(start, count * repeats);
    let expected = count as u64 * (count as u64 - 1);
    match sum == expected {
        true => Ok(vec![figure]),
        false => Err(format!("the sum of the numbers is {sum}, not {expected}").into()),
    }
}
