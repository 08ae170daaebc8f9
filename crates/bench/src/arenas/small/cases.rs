//! The cases of a document: its tree, random lifetimes, and memory.

use std::hint::black_box;

use super::{
    churn::Churn,
    contenders::{MEMORY_BYTES, NAMES, UNRECORDED, open},
    document::{Reader, Token},
    resident,
    statistics::{self, Classes},
    tree::Contents,
};
use crate::{
    Contender, Error, Failure, Figure, Options, Run,
    arenas::document_path,
    error::By,
    rounds::{Round, resident_bytes, timed},
};

/// Number of live objects in a quick run. A full run has the number of the document.
const QUICK_LIVE: usize = 1000;
/// Mean number of replacements per object.
const LIVES: usize = 5;
/// Size of the article's fixed area, in bytes. Its default classes have this size, too.
const SMALL_MEMORY_BYTES: usize = 2 << 20;
/// Contenders of the case with little memory: those that have a fixed area and continue with the
/// system's allocator, and that allocator.
const OVERFLOW_NAMES: &[&str] = &["drystone", UNRECORDED, "drystone-default", "article", "malloc"];

const CASES: [&str; 4] = ["small-parse", "small-random", "small-memory", "small-overflow"];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    if !CASES.iter().any(|case| run.options.selects(case)) {
        return Ok(());
    }
    let Some(path) = document_path(&CASES.join(", ")) else { return Ok(()) };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| run.error(CASES[0], format!("{}: {error}", path.display()).into()))?;
    let result = Reader::new(&text).collect::<Result<Vec<_>, _>>().map_err(Failure::from);
    let tokens = result.map_err(|failure| run.error(CASES[0], failure))?;
    run_with(run, &text, &tokens)
}

fn run_with(run: &mut Run<'_>, text: &str, tokens: &[Token<'_>]) -> Result<(), Error> {
    let options = run.options;
    let statistics::Statistics { layouts, classes } =
        &statistics::record(tokens).map_err(|message| run.error(CASES[0], message.into()))?;
    let live = options.size(layouts.len(), QUICK_LIVE);
    let churn = &Churn::new(layouts, live, live * LIVES);
    let contents = &Contents::of(tokens.iter().copied());
    let [parse, random, memory, overflow] = CASES;
    if let Some(contender) = resident::requested_contender() {
        let work = open(contender, classes, MEMORY_BYTES);
        let resident = work.and_then(|mut work| work.resident(churn));
        let resident = resident.map_err(|failure| run.error(memory, failure))?;
        run.push_once(memory, contender, resident_figure(resident));
        return Ok(());
    }
    let parse_with = |name: &'static str, classes: &Classes, memory_bytes: usize| {
        let mut work = open(name, classes, memory_bytes)?;
        Ok(Contender::new(name, move || work.parse(text, contents)))
    };
    run.case(parse, || {
        let mut all = for_each(NAMES, |name| parse_with(name, classes, MEMORY_BYTES))?;
        all.push(Contender::new("tokens-only", || Ok(vec![read(text, contents)])));
        Ok(all)
    })?;
    run.case(random, || {
        for_each(NAMES, |name| {
            let mut work = open(name, classes, MEMORY_BYTES)?;
            Ok(Contender::new(name, move || work.replace(churn)))
        })
    })?;
    run.case(memory, || {
        for_each(NAMES, |name| {
            Ok(Contender::new(name, move || memory_round(name, churn, classes, options)))
        })
    })?;
    run.case(overflow, || {
        let classes = &classes.with_default_sections();
        for_each(OVERFLOW_NAMES, |name| parse_with(name, classes, SMALL_MEMORY_BYTES))
    })
}

/// Creates the contenders of these names.
pub(super) fn for_each<'a>(
    names: &[&'static str],
    contender: impl Fn(&'static str) -> Result<Contender<'a>, Failure>,
) -> Result<Vec<Contender<'a>>, Failure> {
    names.iter().map(|name| contender(name).by(name)).collect()
}

/// Reads the tokens of a document and does nothing with them: the part of a parse that is equal for
/// all allocators.
fn read(text: &str, contents: &Contents) -> Figure {
    let (_, ns) = timed(|| {
        for token in Reader::new(text).map_while(Result::ok) {
            black_box(token);
        }
    });
    Figure::time_ns_per_op(ns, contents.objects)
}

fn memory_round(name: &str, churn: &Churn, classes: &Classes, options: &Options) -> Round {
    let overhead = open(name, classes, MEMORY_BYTES)?.overhead(churn)?;
    let mut figures = vec![Figure::new("overhead", "bytes/object", overhead)];
    if resident_bytes().is_some() {
        let resident = resident::measure_in_process(CASES[2], name, options)?;
        figures.push(resident_figure(resident));
    }
    Ok(figures)
}

fn resident_figure(bytes: f64) -> Figure {
    Figure::new("resident", "bytes/object", bytes)
}
