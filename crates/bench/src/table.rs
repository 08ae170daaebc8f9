use serde::{Deserialize, Serialize};

use crate::version_of;

/// A measured row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "NotedRow")]
pub struct Row {
    /// Name of the case.
    pub case: String,
    /// Name of the contender: `drystone`, a variant of it, or a crate.
    pub contender: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the metric.
    pub unit: String,
    /// Median of all rounds.
    pub median: f64,
    /// Smallest value of all rounds.
    pub min: f64,
    /// Largest value of all rounds.
    pub max: f64,
    /// Number of measured rounds.
    pub rounds: usize,
}

/// A row that may be written by hand: the spread and the number of rounds are optional.
#[derive(Deserialize)]
struct NotedRow {
    case: String,
    contender: String,
    metric: String,
    unit: String,
    median: f64,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(default)]
    rounds: usize,
}

impl From<NotedRow> for Row {
    fn from(noted: NotedRow) -> Self {
        let NotedRow { case, contender, metric, unit, median, min, max, rounds } = noted;
        let [min, max] = [min, max].map(|bound| bound.unwrap_or(median));
        Self { case, contender, metric, unit, median, min, max, rounds }
    }
}

/// The machine that figures were measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's model name.
    pub cpu: String,
    /// Threads that can run at once.
    pub cores: usize,
    /// GPU adapter of a drawing table; `none` for other tables.
    pub gpu: String,
}

impl Machine {
    /// Describes this machine, as far as the operating system reports it.
    pub fn here() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
        let cpu =
            model.map_or(std::env::consts::ARCH, |rest| rest.trim_start_matches([' ', '\t', ':']));
        Self {
            cpu: cpu.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            gpu: "none".to_owned(),
        }
    }
}

/// Rows that were measured in one run on one machine.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    /// Machine of the measurements. A drawing table sets its GPU adapter.
    pub machine: Machine,
    rows: Vec<Row>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), machine: Machine::here(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Returns the table's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all rows. The contenders of a case are next to each other.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the reference for a row: the contender `drystone` in the same case and metric, or
    /// the first one.
    pub fn reference(&self, row: &Row) -> Option<&Row> {
        let same = |other: &&Row| other.case == row.case && other.metric == row.metric;
        let mut peers = self.rows.iter().filter(same);
        let first = peers.clone().next();
        peers.find(|peer| peer.contender == "drystone").or(first)
    }

    /// Returns the contenders that are crates, with the versions of this build, sorted by name.
    pub fn versions(&self) -> Vec<(&str, &'static str)> {
        let names = self.rows.iter().map(|row| row.contender.as_str());
        let mut versions: Vec<_> =
            names.filter_map(|name| Some((name, version_of(name)?))).collect();
        versions.sort_unstable();
        versions.dedup();
        versions
    }
}
