//! The three cases. Their code is the same for every contender.

use std::{hint::black_box, time::Instant};

use drystone_memory::{SlotClass, SmallObjectsConfig};

use super::{
    churn::Churn,
    contenders::{self, Dlmalloc, InProgram, Objects, Rlsf, Talc},
    document::Token,
    resident,
    statistics::Statistics,
    tree::{Contents, Tree},
};
use crate::{Contender, Error, Figure, Options, Table, rounds::elapsed_ns};

/// Number of live objects in a quick run. A full run has the number of the document.
const QUICK_LIVE: usize = 1000;
/// Mean number of replacements per object.
const LIVES: usize = 5;

/// Input of all cases.
pub(super) struct Input<'a> {
    pub(super) tokens: &'a [Token<'a>],
    pub(super) statistics: &'a Statistics,
    pub(super) options: &'a Options,
}

impl Input<'_> {
    fn churn(&self) -> Churn {
        let layouts = &self.statistics.layouts;
        let live = self.options.size(layouts.len(), QUICK_LIVE);
        Churn::new(layouts, live, live * LIVES)
    }
}

/// A case that can be run with a contender of any type.
trait Visit {
    type Output;
    fn visit<O: Objects + 'static>(self, objects: O) -> Result<Self::Output, String>;
}

const NAMES: &[&str] = &[
    "drystone",
    "drystone-default",
    "malloc",
    #[cfg(feature = "peers")]
    "mimalloc",
    #[cfg(feature = "peers")]
    "snmalloc-rs",
    "talc",
    "rlsf",
    "dlmalloc",
];

/// Creates the contender of that name and passes it to a visitor.
fn show<V: Visit>(name: &str, classes: &[SlotClass], visitor: V) -> Result<V::Output, String> {
    match name {
        "drystone" => visitor.visit(contenders::drystone(classes)?),
        "drystone-default" => {
            visitor.visit(contenders::drystone(SmallObjectsConfig::default().classes)?)
        }
        "malloc" => visitor.visit(InProgram(std::alloc::System)),
        #[cfg(feature = "peers")]
        "mimalloc" => visitor.visit(InProgram(mimalloc::MiMalloc)),
        #[cfg(feature = "peers")]
        "snmalloc-rs" => visitor.visit(InProgram(snmalloc_rs::SnMalloc)),
        "talc" => visitor.visit(Talc::new()?),
        "rlsf" => visitor.visit(Rlsf::new()?),
        "dlmalloc" => visitor.visit(Dlmalloc::new()?),
        _ => Err("unknown contender".to_owned()),
    }
}

type Round<'a> = Box<dyn FnMut() -> Result<Vec<Figure>, String> + 'a>;

pub(super) fn run(table: &mut Table, input: &Input<'_>) -> Result<(), Error> {
    let options = input.options;
    let churn = input.churn();
    let classes = &input.statistics.classes;
    let contents = Contents::of(input.tokens);
    let parse = Parse { tokens: input.tokens, contents };
    run_case(table, "small-parse", options, |name| show(name, classes, parse))?;
    run_case(table, "small-random", options, |name| show(name, classes, Lifetimes(&churn)))?;
    run_case(table, "small-memory", options, |name| {
        let (churn, classes) = (&churn, &classes);
        Ok(Box::new(move || memory_round(name, churn, classes, options)))
    })
}

/// Runs a case with the contenders of all names.
fn run_case<'a>(
    table: &mut Table,
    case: &str,
    options: &Options,
    make: impl Fn(&'static str) -> Result<Round<'a>, String>,
) -> Result<(), Error> {
    if !options.selects(case) {
        return Ok(());
    }
    let mut contenders = Vec::new();
    for &name in NAMES {
        let round = make(name).map_err(|why| resident::failed(table, case, name, &why))?;
        contenders.push(Contender::new(name, round));
    }
    table.run_case(case, options, contenders)
}

/// Parses and frees the document.
#[derive(Clone, Copy)]
struct Parse<'a> {
    tokens: &'a [Token<'a>],
    contents: Contents,
}

impl<'a> Visit for Parse<'a> {
    type Output = Round<'a>;

    fn visit<O: Objects + 'static>(self, mut objects: O) -> Result<Round<'a>, String> {
        Ok(Box::new(move || self.round(&mut objects)))
    }
}

impl Parse<'_> {
    fn round<O: Objects>(&self, objects: &mut O) -> Result<Vec<Figure>, String> {
        let count = self.contents.objects();
        // A first pass, not measured: checks the tree, and touches the memory again after other
        // contenders.
        let tree = Tree::build(objects, self.tokens).ok_or("out of memory")?;
        let contents = tree.contents();
        // SAFETY: the tree was built with this allocator.
        if contents != self.contents || !unsafe { tree.free(objects) } {
            return Err(format!("the tree has {contents:?}, the document {:?}", self.contents));
        }
        let start = Instant::now();
        let tree = black_box(Tree::build(objects, self.tokens).ok_or("out of memory")?);
        let parse_ns = elapsed_ns(start);
        let start = Instant::now();
        // SAFETY: the tree was built with this allocator.
        let is_right = unsafe { tree.free(objects) };
        let free_ns = elapsed_ns(start);
        if !is_right {
            return Err("an object is missing".to_owned());
        }
        let free = Figure::new("free", "ns/op", free_ns / count as f64);
        Ok(vec![Figure::time_ns_per_op(parse_ns, count), free])
    }
}

/// Replaces objects at random.
struct Lifetimes<'a>(&'a Churn);

impl<'a> Visit for Lifetimes<'a> {
    type Output = Round<'a>;

    fn visit<O: Objects + 'static>(self, mut objects: O) -> Result<Round<'a>, String> {
        let churn = self.0;
        Ok(Box::new(move || {
            let mut live = churn.allocate_live();
            churn.start(&mut objects, &mut live).ok_or("out of memory")?;
            let wrong = "objects overlap, are out of line or were lost";
            churn.run_checked(&mut objects, &mut live).ok_or(wrong)?;
            let start = Instant::now();
            churn.run(&mut objects, &mut live).ok_or(wrong)?;
            let time = Figure::time_since(start, churn.steps());
            live.end(&mut objects).ok_or(wrong)?;
            Ok(vec![time])
        }))
    }
}

fn memory_round(
    name: &str,
    churn: &Churn,
    classes: &[SlotClass],
    options: &Options,
) -> Result<Vec<Figure>, String> {
    let overhead = show(name, classes, Overhead(churn))?;
    let mut figures = vec![Figure::new("overhead", "bytes/object", overhead)];
    if resident::bytes().is_some() {
        let resident = resident::measure_in_process("small-memory", name, options)?;
        figures.push(Figure::new(resident::METRIC, "bytes/object", resident));
    }
    Ok(figures)
}

/// Overhead in bytes beyond the requested sizes, after much churn.
struct Overhead<'a>(&'a Churn);

impl Visit for Overhead<'_> {
    type Output = f64;

    fn visit<O: Objects + 'static>(self, mut objects: O) -> Result<f64, String> {
        let mut live = self.0.allocate_live();
        self.0.start(&mut objects, &mut live).ok_or("out of memory")?;
        self.0.run_checked(&mut objects, &mut live).ok_or("objects overlap or were lost")?;
        let bytes = live.block_bytes(&objects) + objects.metadata_bytes();
        let overhead = (bytes as f64 - live.bytes() as f64) / live.len() as f64;
        live.end(&mut objects).ok_or("an object was lost")?;
        Ok(overhead)
    }
}

/// Measures the contender for which this process was started.
pub(super) fn measure_resident(
    table: &mut Table,
    input: &Input<'_>,
    contender: &str,
) -> Result<(), Error> {
    let churn = input.churn();
    let bytes = show(contender, &input.statistics.classes, Resident(&churn))
        .map_err(|why| resident::failed(table, "small-memory", contender, &why))?;
    resident::report(table, "small-memory", contender, bytes);
    Ok(())
}

/// Resident bytes beyond the requested sizes, after much churn.
struct Resident<'a>(&'a Churn);

impl Visit for Resident<'_> {
    type Output = f64;

    fn visit<O: Objects + 'static>(self, mut objects: O) -> Result<f64, String> {
        let unknown = "the system does not report resident memory";
        let mut live = self.0.allocate_live();
        contenders::trim();
        let before = resident::bytes().ok_or(unknown)?;
        self.0.start(&mut objects, &mut live).ok_or("out of memory")?;
        self.0.run_checked(&mut objects, &mut live).ok_or("objects overlap or were lost")?;
        let grown = resident::bytes().ok_or(unknown)? - before;
        Ok((grown - live.bytes() as f64) / live.len() as f64)
    }
}
