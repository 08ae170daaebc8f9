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
