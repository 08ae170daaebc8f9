//! The work of all cases with one allocator.

use std::hint::black_box;

#[cfg(feature = "peers")]
use super::trace::Trace;
use super::{
    allocator::{Allocator, trim},
    churn::{Churn, Live},
    document::Reader,
    tree::{Contents, Objects, Tree},
};
use crate::{
    Failure, Figure,
    rounds::{Round, resident_bytes, timed},
};

/// Work that does not depend on the type of the allocator. The loops inside are compiled for each
/// allocator.
pub(super) trait Work {
    /// Parses and frees a document with this content.
    fn parse(&mut self, text: &str, expected: &Contents) -> Round;

    /// Replaces objects at random.
    fn replace(&mut self, churn: &Churn) -> Round;

    /// Returns the bytes per object beyond the requested sizes, after much churn.
    fn overhead(&mut self, churn: &Churn) -> Result<f64, Failure>;

    /// Returns the resident bytes per object beyond the requested sizes, after much churn.
    fn resident(&mut self, churn: &Churn) -> Result<f64, Failure>;

    /// Repeats the steps of a program, and compares the content of its blocks.
    #[cfg(feature = "peers")]
    fn check(&mut self, trace: &Trace) -> Result<(), Failure>;

    /// Repeats the steps of a program.
    #[cfg(feature = "peers")]
    fn repeat(&mut self, trace: &Trace) -> Round;
}

/// Error of a contender whose blocks are wrong.
const WRONG: &str = "objects overlap, are out of line or were lost";

/// Parses a document. Returns `None` if memory runs out.
#[inline]
fn build<'d, O: Objects>(objects: &mut O, text: &'d str) -> Option<Tree<'d>> {
    Tree::build(objects, Reader::new(text).map_while(Result::ok))
}

/// Returns the objects of a churn after every one was replaced several times.
fn churned<A: Allocator>(objects: &mut A, churn: &Churn) -> Result<Live, Failure> {
    let mut live = churn.allocate_live();
    churn.start(objects, &mut live).ok_or("out of memory")?;
    churn.run_checked(objects, &mut live).ok_or(WRONG)?;
    Ok(live)
}

impl<A: Allocator> Work for A {
    fn parse(&mut self, text: &str, expected: &Contents) -> Round {
        // A first pass, not measured: checks the tree, and touches the memory again after other
        // contenders.
        let tree = build(self, text).ok_or("out of memory")?;
        let contents = tree.contents();
        // SAFETY: the tree was built with this allocator.
        if contents != *expected || !unsafe { tree.free(self) } {
            return Err(format!("the tree has {contents:?}, the document {expected:?}").into());
        }
        let overflows_before = self.overflows();
        let (tree, parse_ns) = timed(|| black_box(build(self, text)));
        let tree = tree.ok_or("out of memory")?;
        let overflows = overflows_before.zip(self.overflows()).map(|(before, now)| now - before);
        // SAFETY: the tree was built with this allocator.
        let (is_right, free_ns) = timed(|| unsafe { tree.free(self) });
        if !is_right {
            return Err("an object is missing".into());
        }
        let objects = expected.objects as f64;
        let mut figures = vec![Figure::time_ns_per_op(parse_ns, expected.objects)];
        figures.push(Figure::new("free", "ns/op", free_ns / objects));
        let percent = |count: u64| Figure::new("overflow", "%", count as f64 * 100.0 / objects);
        figures.extend(overflows.map(percent));
        Ok(figures)
    }

    fn replace(&mut self, churn: &Churn) -> Round {
        let mut live = churned(self, churn)?;
        let searched_before = self.searched_words();
        let (done, ns) = timed(|| churn.run(self, &mut live));
        let searched = searched_before.zip(self.searched_words()).map(|(before, now)| now - before);
        done.and_then(|()| live.end(self)).ok_or(WRONG)?;
        let steps = churn.steps();
        let words = |count: u64| Figure::new("searched", "words/op", count as f64 / steps as f64);
        let mut figures = vec![Figure::time_ns_per_op(ns, steps)];
        figures.extend(searched.map(words));
        Ok(figures)
    }

    fn overhead(&mut self, churn: &Churn) -> Result<f64, Failure> {
        let live = churned(self, churn)?;
        let bytes = live.block_bytes(self) + self.metadata_bytes();
        let overhead = (bytes as f64 - live.bytes() as f64) / live.len() as f64;
        live.end(self).ok_or(WRONG)?;
        Ok(overhead)
    }

    fn resident(&mut self, churn: &Churn) -> Result<f64, Failure> {
        let resident = || resident_bytes().ok_or("the system does not report resident memory");
        let mut live = churn.allocate_live();
        trim();
        let before = resident()?;
        churn.start(self, &mut live).ok_or("out of memory")?;
        churn.run_checked(self, &mut live).ok_or(WRONG)?;
        Ok((resident()? - before - live.bytes() as f64) / live.len() as f64)
    }

    #[cfg(feature = "peers")]
    fn check(&mut self, trace: &Trace) -> Result<(), Failure> {
        Ok(trace.replay::<true, A>(self).ok_or(WRONG)?)
    }

    #[cfg(feature = "peers")]
    fn repeat(&mut self, trace: &Trace) -> Round {
        let (done, ns) = timed(|| trace.replay::<false, A>(self));
        done.ok_or(WRONG)?;
        Ok(vec![Figure::time_ns_per_op(ns, trace.steps.len())])
    }
}
