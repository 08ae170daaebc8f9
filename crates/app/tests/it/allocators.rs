//! The program with each allocator gives the same results; statistics of the small-object
//! allocator.

use drystone_render::Image;
use serde_json::Value;

use crate::program::{data_or_skip, run, scratch};

/// Returns the picture, standard output and standard error of `shot`.
fn shot(folder: &str, source: &[&str], words: &[&str]) -> (Image, String, String) {
    let path = scratch(folder).join("a.png");
    let name = path.to_str().unwrap();
    let shot = ["shot", "-o", name, "--backend", "soft", "--size", "320x180"];
    let output = run(&[&shot[..], source, words].concat());
    let [out, error] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(output.status.success(), "{error}");
    (Image::load_png(&path).unwrap(), out, error)
}

fn json(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()["allocator"].take()
}

/// Checks that statistics of the allocator are plausible for a program of this size.
fn assert_used(allocator: &Value) {
    assert_eq!(allocator["kind"], "small");
    let classes = allocator["classes"].as_array().unwrap();
    let sum = |part: &str| classes.iter().map(|class| class[part].as_u64().unwrap()).sum::<u64>();
    assert!(sum("peak") > 50, "{allocator}");
    assert!(classes.iter().all(|class| class["peak"].as_u64() <= class["slots"].as_u64()));
    assert!(sum("live") <= sum("peak"));
    assert_eq!(allocator["live"], sum("live"));
    assert!(allocator["too_large"].as_u64().unwrap() > 10, "{allocator}");
}

#[test]
fn small_objects_do_not_change_the_picture_and_are_counted() {
    let world = ["--chunks", "4x4x4", "--seed", "3"];
    let small = [&world[..], &["--allocator", "small"]].concat();
    let (picture, text, error) = shot("memory-system", &world, &[]);
    assert!(error.is_empty() && !text.contains("allocator"), "{text}{error}");
    let (with_small, _, error) = shot("memory-small", &small, &["-v"]);
    assert_eq!(picture, with_small);
    let line = error.lines().find(|line| line.contains("allocator small: ")).unwrap();
    assert!(line.contains("peak slots: 8: "), "{line}");
    let (_, text, _) = shot("memory-json", &small, &["--json"]);
    assert_used(&json(&text));
    let (_, text, _) = shot("memory-json", &world, &["--json", "--allocator", "system"]);
    assert_eq!(json(&text), serde_json::json!({"kind": "system"}));
}

#[test]
fn small_objects_do_not_change_the_picture_of_a_real_model() {
    let name = "small_objects_do_not_change_the_picture_of_a_real_model";
    let Some(path) = data_or_skip(name, "monu10.vox") else { return };
    let source = [path.to_str().unwrap()];
    let (picture, ..) = shot("memory-model", &source, &[]);
    let (with_small, text, _) = shot("memory-model", &source, &["--json", "--allocator", "small"]);
    assert_eq!(picture, with_small);
    assert_used(&json(&text));
}

#[test]
fn info_reports_the_allocator() {
    let words = ["info", "--chunks", "2x4x2", "--allocator", "small"];
    let output = run(&words);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("allocator small: "), "{text}");
    let output = run(&[&words[..], &["--json"]].concat());
    assert_used(&json(&String::from_utf8(output.stdout).unwrap()));
    let output = run(&words[..3]);
    assert!(!String::from_utf8(output.stdout).unwrap().contains("allocator"));
}

/// Returns the slot sizes and numbers of slots that a record proposes.
fn proposed(report: &str) -> Vec<(u64, u64)> {
    let (_, proposal) = report.split_once("proposed size classes:\n").unwrap();
    let number_pair = |line: &str| {
        let mut words = line.split_whitespace().map(str::parse);
        Some((words.next()?.ok()?, words.next()?.ok()?))
    };
    proposal.lines().filter_map(number_pair).collect()
}

/// Checks the table and the classes of `--allocator record`.
fn assert_recorded(report: &str) {
    let missed =
        report.contains(" allocations missed") && !report.contains("\n0 allocations missed");
    assert!(!missed, "{report}");
    let allocations = report.lines().find_map(|line| line.split_once(" allocations of "));
    let allocations: u64 = allocations.unwrap().0.parse().unwrap();
    assert!(allocations > 50, "{report}");
    assert!(report.contains("percent       live       peak"), "{report}");
    let classes = proposed(report);
    assert!((3..=13).contains(&classes.len()) && classes.is_sorted(), "{report}");
    assert!(classes.iter().all(|&(bytes, slots)| bytes <= 512 && slots > 1024), "{report}");
}

/// Returns standard output and the record of a run that must succeed.
fn recorded(words: &[&str]) -> (String, String) {
    let output = run(&[words, &["--allocator", "record"]].concat());
    let [out, report] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(output.status.success(), "{words:?}: {report}");
    assert_recorded(&report);
    (out, report)
}

#[test]
fn every_command_can_be_recorded() {
    let folder = scratch("record-commands");
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [png, gif, map, world] = ["a.png", "a.gif", "a.svg", "a.drystone"].map(file);
    let source = ["--chunks", "2x4x2"];
    let draw = ["--backend", "soft", "--size", "64x36"];
    recorded(&[&["shot", "-o", &png][..], &source, &draw].concat());
    recorded(&[&["fly", "-o", &gif, "--frames", "2"][..], &source, &draw].concat());
    recorded(&[&["pool-map", "-o", &map][..], &source].concat());
    recorded(&[&["import"][..], &source, &[&world]].concat());
    recorded(&["check", &world]);
    let (text, _) = recorded(&[&["info"][..], &source].concat());
    let same = run(&[&["info"][..], &source].concat());
    assert_eq!(text, String::from_utf8(same.stdout).unwrap());
    let (text, _) = recorded(&[&["info", "--json"][..], &source].concat());
    assert_eq!(json(&text), serde_json::json!({"kind": "record"}));
}

#[test]
fn a_record_is_drawn_with_its_classes() {
    let svg = scratch("record-svg").join("sizes.svg");
    let words = ["info", "--chunks", "2x4x2", "--record-svg", svg.to_str().unwrap()];
    let (_, report) = recorded(&words);
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
    for (bytes, _) in proposed(&report) {
        assert_eq!(svg.matches(&format!(">{bytes}</text>")).count().min(2), 2, "{bytes}: {svg}");
    }
}

#[test]
fn a_record_whose_picture_cannot_be_written_is_an_error_after_the_table() {
    let folder = scratch("record-unwritable");
    let missing = folder.join("missing").join("a.svg");
    for path in [missing.as_path(), folder.as_path()] {
        let path = path.to_str().unwrap();
        let words = ["info", "--chunks", "2x4x2", "--allocator", "record", "--record-svg", path];
        let output = run(&words);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(!output.stdout.is_empty(), "{error}");
        let (table, last) = error.trim_end().rsplit_once('\n').unwrap();
        assert_recorded(table);
        assert!(last.starts_with(&format!("drystone: {path}")), "{last}");
    }
}

#[test]
fn a_command_that_fails_is_recorded_too() {
    let output = run(&["info", "missing.vox", "--allocator", "record"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    let first = error.lines().next().unwrap();
    assert!(first.starts_with("drystone: missing.vox"), "{first}");
    assert!(error.contains(" allocations of "), "{error}");
}

/// The classes of `--allocator small` come from a record of the viewer. They also hold what other
/// commands allocate.
#[test]
fn shot_and_info_fill_no_class_of_the_program() {
    let world = ["--chunks", "12x4x12", "--allocator", "small"];
    let (_, text, _) = shot("classes", &world, &["--json"]);
    let allocator = json(&text);
    assert_used(&allocator);
    assert_eq!(allocator["fallbacks"], 0, "{allocator}");
    let output = run(&["info", "--chunks", "12x4x12", "--allocator", "small", "--json"]);
    let allocator = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(allocator["fallbacks"], 0, "{allocator}");
}
