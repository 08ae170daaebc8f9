use serde::{Deserialize, Serialize};

use crate::{Machine, json::NotedRow, version_of};

/// One measured line of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "NotedRow")]
pub struct Row {
    /// The case.
    pub case: String,
    /// Who did it: `drystone`, a variant of it, or a crate.
    pub contender: String,
    /// What was measured.
    pub metric: String,
    /// In which unit.
    pub unit: String,
    /// The median of all rounds.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many rounds were counted.
    pub rounds: usize,
}

/// Rows measured in one run on one machine.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    /// What they were measured on. A drawing table names its adapter here.
    pub machine: Machine,
    rows: Vec<Row>,
}

impl Table {
    /// A table without rows.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), machine: Machine::here(), rows: Vec::new() }
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All rows, a case's contenders one after the other.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds a row that was not measured by [`run_case`](Self::run_case).
    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// What a row is compared with: in its case and metric the contender `drystone`, else
    /// the first.
    pub fn reference(&self, row: &Row) -> Option<&Row> {
        let same = |other: &&Row| other.case == row.case && other.metric == row.metric;
        let mut peers = self.rows.iter().filter(same);
        let first = peers.clone().next();
        peers.find(|peer| peer.contender == "drystone").or(first)
    }

    /// Every contender that is a crate, with the version that was built in, by name.
    pub fn versions(&self) -> Vec<(&str, &'static str)> {
        let names = self.rows.iter().map(|row| row.contender.as_str());
        let mut versions: Vec<_> =
            names.filter_map(|name| Some((name, version_of(name)?))).collect();
        versions.sort_unstable();
        versions.dedup();
        versions
    }
}
