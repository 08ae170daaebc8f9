use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::Path,
};

use drystone_render::replace_file;
use serde::{Deserialize, Serialize};

use crate::{Error, Machine, Row, Table};

/// JSON form of a table. Other tools rely on the names of these fields.
#[derive(Serialize, Deserialize)]
struct TableFile {
    table: String,
    machine: Machine,
    /// Versions of the contenders that are crates. Charts do not need them.
    #[serde(default)]
    versions: BTreeMap<String, String>,
    rows: Vec<Row>,
}

impl Table {
    /// Returns the table as indented JSON text with a final line break.
    fn to_json(&self) -> Result<String, serde_json::Error> {
        let versions = self.versions().into_iter();
        let file = TableFile {
            table: self.name().to_owned(),
            machine: self.machine.clone(),
            versions: versions.map(|(name, of)| (name.to_owned(), of.to_owned())).collect(),
            rows: self.rows().to_vec(),
        };
        Ok(serde_json::to_string_pretty(&file)? + "\n")
    }

    fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let TableFile { table, machine, rows, .. } = serde_json::from_str(text)?;
        let mut read = Self::new(table);
        read.machine = machine;
        rows.into_iter().for_each(|row| read.push(row));
        Ok(read)
    }
}

/// Writes the table to a file, or to standard output if `path` is `-`. On an error, an existing
/// file is unchanged.
///
/// # Errors
/// `File` with the path and the system's reason.
pub fn write_json(table: &Table, path: &Path) -> Result<(), Error> {
    let reason = |error: io::Error| error.to_string();
    let written = match table.to_json() {
        Err(error) => Err(error.to_string()),
        Ok(text) if path == Path::new("-") => {
            io::stdout().write_all(text.as_bytes()).map_err(reason)
        }
        Ok(text) => replace_file(path, |part| fs::write(part, &text).map_err(reason)),
    };
    written.map_err(|reason| Error::File { path: path.to_owned(), reason })
}

/// Reads a table that [`write_json`] wrote. The fields `min`, `max` and `rounds` of a row are
/// optional: `min` and `max` default to `median`, `rounds` to 0.
///
/// # Errors
/// `File` with the path and the reason. For invalid JSON, the reason names the field and its line.
pub fn read_json(path: &Path) -> Result<Table, Error> {
    let failed = |reason: String| Error::File { path: path.to_owned(), reason };
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    Table::from_json(&text).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn table() -> Table {
        let mut table = Table::new("t");
        let [case, contender, metric, unit] = ["c", "slab", "time", "ns/op"].map(str::to_owned);
        let [median, min, max] = [1.5, 1.0, 2.0];
        table.push(Row { case, contender, metric, unit, median, min, max, rounds: 9 });
        table
    }

    #[test]
    fn rows_have_the_keys_that_other_tools_use() {
        let json: Value = serde_json::from_str(&table().to_json().unwrap()).unwrap();
        let expected = json!({"case": "c", "contender": "slab", "metric": "time",
            "unit": "ns/op", "median": 1.5, "min": 1.0, "max": 2.0, "rounds": 9});
        assert_eq!(json["rows"], json!([expected]));
        assert_eq!(json["table"], "t");
        assert!(json["machine"]["cores"].as_u64().is_some_and(|cores| cores > 0));
        assert!(json["versions"]["slab"].is_string());
    }

    #[test]
    fn a_written_table_can_be_read() {
        let table = table();
        let text = table.to_json().unwrap();
        let read = Table::from_json(&text).unwrap();
        assert_eq!((read.name(), read.rows()), ("t", table.rows()));
        assert_eq!(read.machine, table.machine);
    }

    #[test]
    fn only_the_spread_and_the_rounds_of_a_row_are_optional() {
        let mut json: Value = serde_json::from_str(&table().to_json().unwrap()).unwrap();
        let fields = json["rows"][0].as_object_mut().unwrap();
        assert!(fields.remove("min").is_some() && fields.remove("rounds").is_some());
        let noted = Table::from_json(&json.to_string()).unwrap();
        assert_eq!((noted.rows()[0].min, noted.rows()[0].rounds), (1.5, 0));
        let fields = json["rows"][0].as_object_mut().unwrap();
        assert!(fields.remove("median").is_some());
        let missing = Table::from_json(&json.to_string()).map_err(|error| error.to_string());
        assert!(missing.is_err_and(|text| text.contains("`median`")));
        assert!(Table::from_json("[1]").is_err());
        let missing = read_json(Path::new("/no/such/t.json"));
        assert!(missing.is_err_and(|error| error.to_string().contains("/no/such/t.json")));
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let error = write_json(&Table::new("t"), Path::new("/no/such/folder/t.json"));
        assert!(error.is_err_and(|error| error.to_string().contains("/no/such/folder/t.json")));
    }
}
