use std::time::Instant;

#[cfg(unix)]
use rustix::time::ClockId as CpuClock;

use crate::{Error, Failure, Row, Table, error::By};

/// Options for running a table.
#[derive(Clone, Debug)]
pub struct Options {
    /// Measured rounds of each case. One more round before them warms up.
    pub rounds: usize,
    /// Whether cases are smaller and rounds fewer: a test that every case runs, not a measurement.
    pub quick: bool,
    /// Part of the names of cases to run; `None` runs all.
    pub case: Option<String>,
}

impl Options {
    /// Rounds of a full run. The number is odd, so that the median is one of the measurements.
    pub const ROUNDS: usize = 9;
    /// Rounds of a quick run.
    pub const QUICK_ROUNDS: usize = 3;

    /// Returns the options of a quick run.
    pub fn quick() -> Self {
        Self { rounds: Self::QUICK_ROUNDS, quick: true, case: None }
    }

    /// Whether the case of this name is selected.
    pub fn selects(&self, case: &str) -> bool {
        self.case.as_deref().is_none_or(|part| case.contains(part))
    }

    /// Returns `full` in a full run, and `quick` in a quick run.
    pub fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

impl Default for Options {
    /// Returns the options of a full run.
    fn default() -> Self {
        Self { rounds: Self::ROUNDS, quick: false, case: None }
    }
}

/// A measurement of one round.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of the metric. `time` is the cost of the operations that the case is named after.
    pub metric: &'static str,
    /// Unit, such as `ns/op`, `us/frame`, `bytes` or `percent`.
    pub unit: &'static str,
    /// Measured value.
    pub value: f64,
}

impl Figure {
    /// Creates a figure of any metric and unit.
    pub const fn new(metric: &'static str, unit: &'static str, value: f64) -> Self {
        Self { metric, unit, value }
    }

    /// Creates a figure of the metric `time` in `ns/op`: `total_ns` divided by `count` operations.
    pub fn time_ns_per_op(total_ns: f64, count: usize) -> Self {
        Self::new("time", "ns/op", total_ns / count.max(1) as f64)
    }

    /// Creates a figure of the metric `time` in `ns/op` for the `count` operations since `start`.
    pub fn time_since(start: Instant, count: usize) -> Self {
        Self::time_ns_per_op(elapsed_ns(start), count)
    }
}

/// Returns the nanoseconds since `start`.
pub(crate) fn elapsed_ns(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9
}

/// Returns the CPU time of this thread, in nanoseconds. Wall-clock time on systems without such a clock.
pub(crate) fn thread_cpu_ns() -> f64 {
    cpu_ns(CpuClock::ThreadCPUTime)
}

/// Returns the CPU time of all threads of this process, in nanoseconds. Wall-clock time on systems without
/// such a clock.
pub(crate) fn process_cpu_ns() -> f64 {
    cpu_ns(CpuClock::ProcessCPUTime)
}

#[cfg(unix)]
fn cpu_ns(clock: CpuClock) -> f64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[cfg(not(unix))]
enum CpuClock {
    ThreadCPUTime,
    ProcessCPUTime,
}

#[cfg(not(unix))]
fn cpu_ns(_: CpuClock) -> f64 {
    use std::sync::LazyLock;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    elapsed_ns(*START)
}

/// Returns the resident bytes of this process that are not mapped from a file, or `None` if the
/// system does not report them.
pub(crate) fn resident_bytes() -> Option<f64> {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0)
}

/// Runs `work` and returns its result and its time in nanoseconds.
#[inline]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, elapsed_ns(start))
}

/// Result of one round.
pub(crate) type Round = Result<Vec<Figure>, Failure>;

/// A contender of a case. In each round it does the work once, checks its own result, and returns
/// its figures or a failure.
pub struct Contender<'a> {
    name: String,
    round: Box<dyn FnMut() -> Round + 'a>,
}

impl<'a> Contender<'a> {
    /// Creates a contender. `round` is called once per round.
    pub fn new(
        name: impl Into<String>,
        round: impl FnMut() -> Result<Vec<Figure>, Failure> + 'a,
    ) -> Self {
        Self { name: name.into(), round: Box::new(round) }
    }
}

/// A run of one table: its options, and the rows so far.
pub struct Run<'o> {
    /// Options of all cases.
    pub options: &'o Options,
    /// The rows so far.
    pub table: Table,
}

impl<'o> Run<'o> {
    /// Starts a run of the table with this name.
    pub fn new(table: &str, options: &'o Options) -> Self {
        Self { options, table: Table::new(table) }
    }

    /// Runs a case: every contender once per round, after one round that is not measured. The order
    /// of the contenders rotates from round to round. Neither prepares nor runs a case that is not
    /// selected.
    ///
    /// # Errors
    /// `Contender` as soon as the preparation or a contender fails, or a figure is not finite.
    pub fn case<'a>(
        &mut self,
        case: &str,
        prepare: impl FnOnce() -> Result<Vec<Contender<'a>>, Failure>,
    ) -> Result<(), Error> {
        let Some(mut contenders) = self.prepare(case, prepare)? else { return Ok(()) };
        let count = contenders.len();
        let mut samples: Vec<Vec<Samples>> = (0..count).map(|_| Vec::new()).collect();
        for round in 0..=self.options.rounds {
            for turn in 0..count {
                let i = (turn + round) % count;
                let Contender { name, round: measure } = &mut contenders[i];
                let figures = measure().and_then(finite).by(name);
                let figures = figures.map_err(|failure| self.error(case, failure))?;
                if round > 0 {
                    collect(&mut samples[i], figures);
                }
            }
        }
        for (contender, metrics) in contenders.iter().zip(samples) {
            for samples in metrics {
                self.table.push(samples.into_row(case, &contender.name));
            }
        }
        Ok(())
    }

    /// Prepares something for a case, unless the case is not selected.
    pub(crate) fn prepare<T>(
        &self,
        case: &str,
        prepare: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Option<T>, Error> {
        let is_selected = self.options.selects(case);
        let prepared = is_selected.then(prepare).transpose();
        prepared.map_err(|failure| self.error(case, failure))
    }

    /// Adds figures that were measured once, outside of [`case`](Self::case).
    pub(crate) fn push_once(&mut self, case: &str, contender: &str, figure: Figure) {
        let Figure { metric, unit, value } = figure;
        self.table.push(Samples { metric, unit, values: vec![value] }.into_row(case, contender));
    }

    /// Returns the error of a case.
    pub(crate) fn error(&self, case: &str, failure: Failure) -> Error {
        let [table, case] = [self.table.name(), case].map(str::to_owned);
        Error::Contender { table, case, contender: failure.contender, message: failure.message }
    }
}

/// All measurements of one metric by one contender, in one case.
struct Samples {
    metric: &'static str,
    unit: &'static str,
    values: Vec<f64>,
}

impl Samples {
    fn into_row(mut self, case: &str, contender: &str) -> Row {
        self.values.sort_by(f64::total_cmp);
        let at = |index: usize| self.values.get(index).copied().unwrap_or_default();
        let last = self.values.len().saturating_sub(1);
        Row {
            case: case.to_owned(),
            contender: contender.to_owned(),
            metric: self.metric.to_owned(),
            unit: self.unit.to_owned(),
            median: (at(last / 2) + at(last.div_ceil(2))) / 2.0,
            min: at(0),
            max: at(last),
            rounds: self.values.len(),
        }
    }
}

fn finite(figures: Vec<Figure>) -> Round {
    match figures.iter().find(|figure| !figure.value.is_finite()) {
        Some(it) => Err(format!("{} is {}, not a number", it.metric, it.value).into()),
        None => Ok(figures),
    }
}

fn collect(metrics: &mut Vec<Samples>, figures: Vec<Figure>) {
    for Figure { metric, unit, value } in figures {
        match metrics.iter_mut().find(|samples| samples.metric == metric) {
            Some(samples) => samples.values.push(value),
            None => metrics.push(Samples { metric, unit, values: vec![value] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn contenders_take_turns_and_the_first_round_is_not_counted() {
        let order = RefCell::new(String::new());
        let counted = |name: char| {
            let (order, mut calls) = (&order, 0.0);
            Contender::new(name.to_string(), move || {
                order.borrow_mut().push(name);
                calls += 1.0;
                Ok(vec![Figure::new("calls", "count", calls)])
            })
        };
        let options = Options { rounds: 3, ..Options::default() };
        let mut run = Run::new("turns", &options);
        run.case("case", || Ok(vec![counted('a'), counted('b')])).unwrap();
        assert_eq!(*order.borrow(), "abbaabba");
        let row = &run.table.rows()[1];
        assert_eq!((row.contender.as_str(), row.rounds), ("b", 3));
        assert_eq!((row.median, row.min, row.max), (3.0, 2.0, 4.0));
    }

    #[test]
    fn wrong_results_and_values_that_are_not_finite_are_errors() {
        let options = Options::quick();
        let mut run = Run::new("wrong", &options);
        let wrong = Contender::new("x", || Err("2 + 2 is not 5".into()));
        let error = run.case("sum", || Ok(vec![wrong])).unwrap_err();
        assert_eq!(error.to_string(), "wrong, case sum, contender x: 2 + 2 is not 5");
        let nan = Contender::new("x", || Ok(vec![Figure::new("time", "ns/op", f64::NAN)]));
        assert!(run.case("nan", || Ok(vec![nan])).is_err());
        let error = run.case("set-up", || Err("no memory".into())).unwrap_err();
        assert_eq!(error.to_string(), "wrong, case set-up, contender set-up: no memory");
        assert!(run.table.rows().is_empty());
    }

    #[test]
    fn the_median_of_an_even_number_of_rounds_is_a_mean() {
        let samples = Samples { metric: "m", unit: "u", values: vec![4.0, 1.0, 2.0, 100.0] };
        assert_eq!(samples.into_row("c", "x").median, 3.0);
    }
}
