use std::collections::{BTreeMap, BTreeSet};

use crate::fault::Fault;
use crate::faults::Faults;

/// Problems with the biomes of a column, each once.
#[derive(Debug, Default)]
pub(super) struct ColumnProblems(BTreeSet<String>);

impl ColumnProblems {
    /// Maximum number of stored problems.
    const MAX: usize = 16;

    pub(super) fn add(&mut self, problem: String) {
        if self.0.len() < Self::MAX {
            self.0.insert(problem);
        }
    }
}

/// Number of columns by problem with their biomes. Such columns are read, in the default tint.
#[derive(Clone, Debug, Default)]
pub(super) struct BiomeProblems(BTreeMap<String, u64>);

impl BiomeProblems {
    /// Adds the problems of one column.
    pub(super) fn add(&mut self, problems: ColumnProblems) {
        self.merge(Self(problems.0.into_iter().map(|problem| (problem, 1)).collect()));
    }

    /// Adds the problems of other columns.
    pub(super) fn merge(&mut self, others: Self) {
        for (problem, columns) in others.0 {
            if self.0.len() < Faults::MAX || self.0.contains_key(&problem) {
                *self.0.entry(problem).or_default() += columns;
            }
        }
    }

    /// Returns one message per problem. `name` is that of the world.
    pub(super) fn messages(&self, name: &str) -> impl Iterator<Item = String> {
        self.0.iter().map(move |(problem, columns)| {
            let columns = match columns {
                1 => "1 column".into(),
                columns => format!("{columns} columns"),
            };
            format!("{name}: {columns} with {problem}, shown in the colours of plains")
        })
    }
}

/// Data that is cut off or damaged.
pub(super) fn damaged(problem: impl Into<String>) -> Fault {
    let advice = "restore the file from a backup, or let the game generate the column again";
    Fault::new("column", problem, advice)
}

/// Data that only other programs write.
pub(super) fn unknown(problem: impl Into<String>) -> Fault {
    Fault::new("column", problem, "open the world with the game once and save it")
}

impl From<std::io::Error> for Fault {
    fn from(problem: std::io::Error) -> Self {
        damaged(format!("cannot be read: {problem}"))
    }
}
