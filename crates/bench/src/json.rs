use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use drystone_render::replace_file;
use serde_json::{Value, json};

use crate::{Error, Machine, Row, Table};

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

/// Reads a table as [`write_json`] writes it. Of a row, `min` and `max` may be left out, which
/// are the median then, and `rounds`, 0 then: figures that were noted without them can be drawn.
///
/// # Errors
/// `Read` with the path and what is wrong.
pub fn read_json(path: &Path) -> Result<Table, Error> {
    let failed = |reason: String| Error::Read { path: path.to_owned(), reason };
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let json = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    table_of(&json).map_err(|missing| failed(format!("it has no `{missing}`")))
}

/// The table in some JSON, or what it lacks.
fn table_of(json: &Value) -> Result<Table, &'static str> {
    let machine = &json["machine"];
    let mut table = Table::new(text(json, "table")?);
    table.machine = Machine {
        cpu: text(machine, "cpu")?,
        cores: machine["cores"].as_u64().ok_or("cores")? as usize,
        gpu: text(machine, "gpu")?,
    };
    for row in json["rows"].as_array().ok_or("rows")? {
        let median = row["median"].as_f64().ok_or("median")?;
        table.push(Row {
            case: text(row, "case")?,
            contender: text(row, "contender")?,
            metric: text(row, "metric")?,
            unit: text(row, "unit")?,
            median,
            min: row["min"].as_f64().unwrap_or(median),
            max: row["max"].as_f64().unwrap_or(median),
            rounds: row["rounds"].as_u64().unwrap_or(0) as usize,
        });
    }
    Ok(table)
}

fn text(json: &Value, key: &'static str) -> Result<String, &'static str> {
    json[key].as_str().map(str::to_owned).ok_or(key)
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
    fn what_is_written_is_read_again() {
        let mut table = Table::new("t");
        let [case, contender, metric, unit] = ["c", "slab", "draw", "us/frame"].map(str::to_owned);
        let row = Row { case, contender, metric, unit, median: 2.5, min: 2.0, max: 7.0, rounds: 5 };
        table.push(row.clone());
        let read = table_of(&table.to_json()).unwrap();
        assert_eq!((read.name(), read.rows()), ("t", &[row][..]));
        assert_eq!(read.machine, table.machine);
        // Without what may be left out it is the median; without anything else no table.
        let mut json = table.to_json();
        let fields = json["rows"][0].as_object_mut().unwrap();
        assert!(fields.remove("min").is_some() && fields.remove("rounds").is_some());
        let noted = table_of(&json).unwrap();
        assert_eq!((noted.rows()[0].min, noted.rows()[0].rounds), (2.5, 0));
        json["rows"][0]["median"] = "fast".into();
        assert_eq!(table_of(&json).err(), Some("median"));
        assert_eq!(table_of(&json!([1])).err(), Some("table"));
        let missing = read_json(Path::new("/no/such/t.json"));
        assert!(missing.is_err_and(|error| error.to_string().contains("/no/such/t.json")));
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let error = write_json(&Table::new("t"), Path::new("/no/such/folder/t.json"));
        assert!(error.is_err_and(|error| error.to_string().contains("/no/such/folder/t.json")));
    }
}
