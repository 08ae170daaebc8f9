use std::fmt;

use crate::{Row, Table};

const HEAD: [&str; 7] = ["case", "metric", "contender", "median", "unit", "min .. max", "ratio"];
/// Whether each column is aligned left: those with words are, those with figures are not.
const LEFT: [bool; 7] = [true, true, true, false, true, false, false];

/// Prints the table for people. The rows of a case and metric are together. Each has its ratio to
/// `drystone`: a value above 1 means more of the metric than drystone.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = &self.machine;
        writeln!(
            f,
            "{} on {}, {} cores, gpu {}",
            self.name(),
            machine.cpu,
            machine.cores,
            machine.gpu
        )?;
        let versions = self.versions();
        let names: Vec<_> = versions.iter().map(|(name, v)| format!("{name} {v}")).collect();
        writeln!(f, "contenders: {}\n", names.join(", "))?;
        let lines = self.lines();
        let widths = widths(&lines);
        for (at, line) in lines.iter().enumerate() {
            let starts_group = at > 1 && line[..2] != lines[at - 1][..2];
            if starts_group && line[0] != lines[at - 1][0] {
                writeln!(f)?;
            }
            write_line(f, line, &widths)?;
        }
        Ok(())
    }
}

impl Table {
    /// Returns the header and all rows as cells, grouped by case and metric in order of appearance.
    fn lines(&self) -> Vec<[String; 7]> {
        let mut lines = vec![HEAD.map(str::to_owned)];
        let mut groups: Vec<(&str, &str)> = Vec::new();
        for row in self.rows() {
            let group = (row.case.as_str(), row.metric.as_str());
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        for (case, metric) in groups {
            let rows = self.rows().iter().filter(|row| row.case == case && row.metric == metric);
            lines.extend(rows.map(|row| self.cells(row)));
        }
        lines
    }

    fn cells(&self, row: &Row) -> [String; 7] {
        let ratio = match self.reference(row) {
            Some(reference) if reference.median != 0.0 => {
                format!("{:.2}", row.median / reference.median)
            }
            _ => "-".to_owned(),
        };
        [
            row.case.clone(),
            row.metric.clone(),
            row.contender.clone(),
            number(row.median),
            row.unit.clone(),
            format!("{} .. {}", number(row.min), number(row.max)),
            ratio,
        ]
    }
}

/// Formats a number with at least three significant digits, without an exponent.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn widths(lines: &[[String; 7]]) -> [usize; 7] {
    let mut widths = [0; 7];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

fn write_line(f: &mut fmt::Formatter<'_>, line: &[String; 7], widths: &[usize; 7]) -> fmt::Result {
    let mut text = String::new();
    for ((cell, &width), left) in line.iter().zip(widths).zip(LEFT) {
        let padded = if left { format!("{cell:<width$}  ") } else { format!("{cell:>width$}  ") };
        text.push_str(&padded);
    }
    writeln!(f, "{}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, contender: &str, median: f64) -> Row {
        Row {
            case: case.to_owned(),
            contender: contender.to_owned(),
            metric: "time".to_owned(),
            unit: "ns/op".to_owned(),
            median,
            min: median / 2.0,
            max: median * 2.0,
            rounds: 9,
        }
    }

    #[test]
    fn ratios_are_against_drystone_or_the_first() {
        let mut table = Table::new("t");
        for (case, contender, median) in
            [("a", "slab", 6.0), ("a", "drystone", 2.0), ("b", "x", 4.0), ("b", "y", 1.0)]
        {
            table.push(row(case, contender, median));
        }
        let text = table.to_string();
        let ratios: Vec<_> =
            text.lines().filter_map(|line| line.split("  ").last()).map(str::trim).collect();
        for (contender, ratio) in [("slab", "3.00"), ("drystone", "1.00"), ("y", "0.25")] {
            let line = text.lines().find(|line| line.contains(&format!("  {contender} ")));
            assert!(line.is_some_and(|line| line.ends_with(ratio)), "{contender}: {ratios:?}");
        }
    }

    #[test]
    fn numbers_keep_three_digits() {
        let shown = [12345.6, 123.45, 1.234, 0.12345, 0.0].map(number);
        assert_eq!(shown, ["12346", "123.5", "1.23", "0.1235", "0.00"]);
    }
}
