//! Minecraft worlds on the command line: damaged parts are reported, the rest is shown.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

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

/// Counts visible block faces with a script that reads the file by itself. Without shapes in the report,
/// the script must fail.
#[test]
fn an_independent_script_finds_the_shapes_of_visible_faces() {
    let test = "an_independent_script_finds_the_shapes_of_visible_faces";
    let Some(path) = data_or_skip(test, "r.0.0.mca") else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        return println!("skipped: {test}: there is no python3");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/shapes.py");
    let count = |report: &[u8]| {
        let mut python = Command::new("python3")
            .arg(&script)
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        python.stdin.take().unwrap().write_all(report).unwrap();
        let output = python.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let info = run(&["info", "--json", path.to_str().unwrap()]);
    let (is_right, text) = count(&info.stdout);
    println!("{text}");
    assert!(is_right && text.contains("447373 of 447380 visible block faces"), "{text}");
    let (is_right, text) = count(br#"{"materials": []}"#);
    assert!(!is_right && text.contains("(63.22 %)"), "{text}");

    let report: Value = serde_json::from_slice(&info.stdout).unwrap();
    let shapes = |name: &str| report["shapes"][name].as_u64().unwrap();
    assert!(shapes("visible_voxels") > 100_000 && shapes("not_cubes") > 30_000);
    // Leaning torches stand upright.
    assert_eq!(shapes("visible_voxels") - shapes("with_their_shape"), 2);
    assert_eq!(shapes("bytes"), 8 * shapes("quads"));
}
