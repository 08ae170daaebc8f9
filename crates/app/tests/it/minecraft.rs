//! Minecraft worlds on the command line: damaged parts are reported, the rest is shown.

use std::fs;

use serde_json::Value;

use crate::program::{data_or_skip, one_line, run, scratch};

/// A real region, complete, with one damaged column, and with only damaged ones.
#[test]
fn damaged_columns_are_reported_and_the_rest_is_counted() {
    let test = "damaged_columns_are_named_and_the_rest_is_counted";
    let Some(path) = data_or_skip(test, "r.0.0.mca") else { return };
    let folder = scratch("minecraft");
    let voxels = |output: &std::process::Output| {
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["voxels"].as_u64().unwrap()
    };
    let whole = run(&["info", "--json", path.to_str().unwrap()]);
    assert!(whole.stderr.is_empty(), "{whole:?}");
    let whole = voxels(&whole);

    let mut bytes = fs::read(&path).unwrap();
    let entry = bytes[..4096].chunks(4).position(|entry| entry != [0; 4]).unwrap();
    let start = usize::from(bytes[4 * entry + 1]) * 256 + usize::from(bytes[4 * entry + 2]);
    bytes[start * 4096 + 100] ^= 0x55;
    let file = folder.join("r.0.0.mca");
    fs::write(&file, &bytes).unwrap();
    let part = run(&["info", "--json", file.to_str().unwrap()]);
    let line = String::from_utf8(part.stderr.clone()).unwrap();
    let column = format!("r.0.0.mca: column {}, {}: ", entry % 32, entry / 32);
    assert!(line.contains(&column) && line.lines().count() == 1, "{line}");
    let part = voxels(&part);
    assert!(part < whole && part > whole - 16 * 16 * 256, "{part} of {whole}");

    fs::write(&file, &bytes[..8192]).unwrap();
    let line = one_line(&run(&["info", file.to_str().unwrap()]), 1);
    assert!(line.contains("column 0, 0") || line.contains("more faults"), "{line}");
    fs::write(&file, &bytes[..5000]).unwrap();
    let line = one_line(&run(&["info", file.to_str().unwrap()]), 1);
    assert!(line.contains("r.0.0.mca: cannot be read: cut off in its tables"), "{line}");
}
