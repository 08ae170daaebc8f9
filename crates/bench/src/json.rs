use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use drystone_render::replace_file;
use serde_json::{Value, json};

use crate::{Error, Row, Table};

impl Table {
    /// The table as the JSON that other tools read.
    pub fn to_json(&self) -> Value {
        let machine = &self.machine;
        let versions: serde_json::Map<_, _> =
            self.versions().into_iter().map(|(name, v)| (name.to_owned(), v.into())).collect();
        json!({
            "table": self.name(),
            "machine": { "cpu": machine.cpu, "cores": machine.cores, "gpu": machine.gpu },
            "versions": versions,
            "rows": self.rows().iter().map(row_to_json).collect::<Vec<_>>(),
        })
    }
}

fn row_to_json(row: &Row) -> Value {
    json!({
        "case": row.case,
        "contender": row.contender,
        "metric": row.metric,
        "unit": row.unit,
        "median": row.median,
        "min": row.min,
        "max": row.max,
        "rounds": row.rounds,
    })
}

/// Writes the table to a file, whole or not at all, or to standard output when `path` is
/// `-`.
///
/// # Errors
/// `Write` with the path and the system's reason.
pub fn write_json(table: &Table, path: &Path) -> Result<(), Error> {
    let text = format!("{:#}\n", table.to_json());
    let reason = |error: io::Error| error.to_string();
    let written = if path == Path::new("-") {
        io::stdout().write_all(text.as_bytes()).map_err(reason)
    } else {
        replace_file(path, |part| fs::write(part, &text).map_err(reason))
    };
    written.map_err(|reason| Error::Write { path: path.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_keys_that_others_rely_on() {
        let mut table = Table::new("t");
        let [case, contender, metric, unit] = ["c", "drystone", "time", "ns/op"].map(str::to_owned);
        table.push(Row {
            case,
            contender,
            metric,
            unit,
            median: 1.5,
            min: 1.0,
            max: 2.0,
            rounds: 9,
        });
        let json = table.to_json();
        let expected = json!({"case": "c", "contender": "drystone", "metric": "time",
            "unit": "ns/op", "median": 1.5, "min": 1.0, "max": 2.0, "rounds": 9});
        assert_eq!(json["rows"], json!([expected]));
        assert_eq!(json["table"], "t");
        assert!(json["machine"]["cores"].as_u64().is_some_and(|cores| cores > 0));
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let error = write_json(&Table::new("t"), Path::new("/no/such/folder/t.json"));
        assert!(error.is_err_and(|error| error.to_string().contains("/no/such/folder/t.json")));
    }
}
