//! Tests of the binary: exit codes, and the destination and content of its JSON.

#![allow(clippy::unwrap_used)]

mod drawing;
mod meshing;

use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drystone-bench")).args(arguments).output().unwrap()
}

#[test]
fn unknown_tables_and_cases_are_usage_errors_of_one_line() {
    for arguments in [&["nonsense"][..], &["spaces", "--quick", "--case", "nonsense"]] {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.lines().count() == 1 && text.contains("nonsense"), "{text}");
    }
    assert_eq!(bench(&[]).status.code(), Some(2));
}

#[test]
fn standard_output_has_only_the_json() {
    let output =
        bench(&["spaces", "--quick", "--rounds", "1", "--case", "sequential", "--json", "-"]);
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["table"], "spaces");
    assert!(json["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
    assert!(String::from_utf8(output.stderr).unwrap().contains("sequential"));
}

#[test]
fn json_and_chart_are_written_to_files() {
    let path = std::env::temp_dir().join(format!("drystone-bench-{}.json", std::process::id()));
    std::fs::write(&path, "old").unwrap();
    let chart_path = path.with_extension("svg");
    let [name, chart_name] = [&path, &chart_path].map(|path| path.to_str().unwrap());
    let arguments = ["spaces", "--quick", "--rounds", "1", "--case", "sequential"];
    let output = bench(&[&arguments[..], &["--json", name, "--svg", chart_name]].concat());
    assert!(output.status.success());
    let text = std::fs::read_to_string(&path).unwrap();
    let chart = std::fs::read_to_string(&chart_path).unwrap();
    [path, chart_path].iter().for_each(|path| std::fs::remove_file(path).unwrap());
    assert!(chart.starts_with("<svg") && chart.contains("hibitset"), "{chart}");
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("sequential"));
}

/// Every contender of every case runs and accepts its own results.
#[test]
fn spaces_has_its_cases() {
    let output = bench(&["spaces", "--quick", "--rounds", "1", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    for case in [
        "sequential",
        "refill",
        "churn-90",
        "churn-999",
        "churn-90-16m",
        "bulk",
        "handles",
        "ranges-churn",
        "ranges-fail",
        "defrag",
    ] {
        let ours = |row: &&serde_json::Value| row["case"] == case && row["contender"] == "drystone";
        assert!(rows.iter().any(|row| ours(&row)), "{case}");
    }
    // The article's rule is a row of every case with single indices.
    let last_leaf = rows.iter().filter(|row| row["contender"] == "drystone-last-leaf");
    assert_eq!(last_leaf.filter(|row| row["metric"] == "time").count(), 5);
}

/// Every contender of the pool table is valid after its work, and has the figures that other tools
/// rely on.
#[test]
fn pool_has_its_cases() {
    let output = bench(&["pool", "--quick", "--rounds", "1", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let median = |case: &str, contender: &str, metric: &str| {
        let row = rows.iter().find(|row| {
            row["case"] == case && row["contender"] == contender && row["metric"] == metric
        });
        row.unwrap_or_else(|| panic!("{case} {contender} {metric}"))["median"].as_f64().unwrap()
    };
    for (case, bare) in [
        ("insert-remove-buckets", "bucket-ring"),
        ("insert-remove-ranges", "range-space"),
        ("insert-remove-classes", "size-classes"),
    ] {
        for contender in ["drystone", "drystone-direct", bare] {
            assert!(median(case, contender, "time") > 0.0, "{case} {contender}");
        }
    }
    for case in ["list-remove-1000", "list-remove-100000"] {
        assert!(median(case, "drystone", "time") > 0.0, "{case}");
    }
    // Counted figures do not depend on the speed.
    assert!(median("reserved", "drystone", "bytes") <= 9.0);
    for contender in ["drystone", "drystone-direct"] {
        let figure = |metric| median("churn-defrag", contender, metric);
        assert!(figure("frames") <= figure("frames-stated"), "{contender}");
        assert!(figure("bytes") <= figure("bytes-before"), "{contender}");
    }
}

/// Runs the cases of arenas and stacks; every contender accepts its own results.
#[test]
fn arenas_has_its_cases_of_arenas_and_stacks() {
    for case in ["bump-100", "scope", "stack", "double-stack", "frame-ring"] {
        let output = bench(&["arenas", "--quick", "--rounds", "1", "--case", case, "--json", "-"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let is_ours =
            |row: &serde_json::Value| row["case"] == case && row["contender"] == "drystone";
        assert!(json["rows"].as_array().unwrap().iter().any(is_ours), "{case}");
    }
}

/// Every contender of the case `frame` draws what it must, and the counted figures show what the ideas
/// of the article save.
#[test]
fn polygons_has_a_whole_frame() {
    let output = bench(&["polygons", "--quick", "--rounds", "1", "--case", "frame", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figure = |contender: &str, metric: &str| {
        let is_it = |row: &&serde_json::Value| {
            row["case"] == "frame" && row["contender"] == contender && row["metric"] == metric
        };
        let row = json["rows"].as_array().unwrap().iter().find(is_it);
        row.unwrap_or_else(|| panic!("{contender} {metric}"))["median"].as_f64().unwrap()
    };
    let ours = "drystone";
    let [per_polygon, early, relit] =
        ["transform-per-polygon", "triangulate-early", "light-every-frame"]
            .map(|name| format!("{ours}-{name}"));
    assert!(figure(&per_polygon, "transforms") > 2.0 * figure(ours, "transforms"));
    assert!(figure(&early, "polygons") > 1.5 * figure(ours, "polygons"));
    assert!(figure(&early, "triangles") > figure(ours, "triangles"));
    for metric in ["transforms", "polygons", "triangles"] {
        assert_eq!(figure(&relit, metric), figure(ours, metric), "{metric}");
    }
}

/// Runs the cases of small objects, which need a real document.
#[test]
fn arenas_has_its_cases_of_small_objects() {
    if std::env::var_os("DRYSTONE_DATA").is_none() {
        println!("skipped: arenas_has_its_cases_of_small_objects: DRYSTONE_DATA is not set");
        return;
    }
    let output = bench(&["arenas", "--quick", "--rounds", "1", "--case", "small-", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let figure = |case: &str, contender: &str, metric: &str| {
        let is_it = |row: &&serde_json::Value| {
            row["case"] == case && row["contender"] == contender && row["metric"] == metric
        };
        let row = rows.iter().find(is_it);
        row.unwrap_or_else(|| panic!("{case} {contender} {metric}"))["median"].as_f64().unwrap()
    };
    for (case, metric) in [
        ("small-parse", "time"),
        ("small-parse", "free"),
        ("small-random", "time"),
        ("small-memory", "overhead"),
        ("small-overflow", "time"),
        ("small-48", "time"),
        ("small-48-worst", "time"),
        ("small-8", "bytes"),
    ] {
        assert!(figure(case, "drystone", metric) > 0.0 && figure(case, "article", metric) > 0.0);
    }
    // Counted figures do not depend on the speed.
    let article = |case: &str, metric: &str| figure(case, "article", metric);
    // The first slot is found in the first word, the last one in the last of 200.
    assert_eq!(article("small-48-worst", "searched"), 100.5);
    assert!(article("small-48", "searched") > 10.0);
    assert_eq!(article("small-8", "bytes"), 8128.0);
    assert!(article("small-parse", "overflow") < 0.1);
    for contender in ["drystone", "drystone-default", "article"] {
        let percent = figure("small-overflow", contender, "overflow");
        assert!((20.0..80.0).contains(&percent), "{contender}: {percent} %");
    }
    assert!(figure("small-parse", "tokens-only", "time") > 0.0);
}

/// The parse of the case `global` under a recorder proposes the classes of its contender `drystone`,
/// and every process reports its memory.
#[test]
fn global_has_the_classes_of_a_recorded_run() {
    let Some(folder) = std::env::var_os("DRYSTONE_DATA") else {
        println!("skipped: global_has_the_classes_of_a_recorded_run: DRYSTONE_DATA is not set");
        return;
    };
    let parse = |program: &str| {
        let file = std::path::Path::new(&folder).join("mime-types.xml");
        let output = Command::new(program).arg(file).arg("1").output().unwrap();
        let [text, code] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        if cfg!(target_os = "linux") {
            let bytes = |name: &str| json[name].as_u64().unwrap();
            assert!((1..bytes("peak_bytes")).contains(&bytes("resident_bytes")), "{text}");
        }
        code
    };
    parse(env!("CARGO_BIN_EXE_global-drystone-default"));
    parse(env!("CARGO_BIN_EXE_global-drystone"));
    // Classes of few objects depend on the length of paths.
    let frequent = |code: &str| -> Vec<(usize, usize)> {
        let calls = code.split("SlotClass::new(").skip(1).filter_map(|it| it.split(')').next());
        let number = |text: &str| text.trim().replace('_', "").parse::<usize>().unwrap();
        let classes = calls.filter_map(|it| it.split_once(','));
        let classes = classes.map(|(bytes, slots)| (number(bytes), number(slots)));
        classes.filter(|(_, slots)| *slots > 2000).collect()
    };
    let recorded = frequent(&parse(env!("CARGO_BIN_EXE_global-record")));
    let code = include_str!("../../src/arenas/global/drystone.rs");
    let stored = frequent(code.split("const THREAD_CLASSES").next().unwrap());
    let sizes = |classes: &[(usize, usize)]| classes.iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!((sizes(&recorded), recorded.len()), (sizes(&stored), 5));
    for (recorded, stored) in recorded.iter().zip(&stored) {
        assert!(recorded.1.abs_diff(stored.1) * 100 < stored.1, "{recorded:?}, {stored:?}");
    }
}

/// Runs the drawing table on its smallest case, if there is an adapter.
#[test]
fn static_compares_pool_and_naive() {
    let output = bench(&["static", "--quick", "--rounds", "1", "--case", "16x3", "--json", "-"]);
    let text = String::from_utf8(output.stderr).unwrap();
    if text.contains("no graphics adapter found") {
        println!("skipped: static_compares_pool_and_naive: no graphics adapter");
        return;
    }
    assert!(output.status.success(), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["table"], "static");
    assert!(json["machine"]["gpu"].as_str().is_some_and(|gpu| gpu.starts_with("wgpu: ")));
    for contender in ["pool-wgpu", "naive-wgpu"] {
        for metric in ["draw", "submit", "bytes"] {
            let row = json["rows"].as_array().unwrap().iter().find(|row| {
                row["case"] == "16x3" && row["contender"] == contender && row["metric"] == metric
            });
            assert!(row.unwrap()["median"].as_f64().unwrap() > 0.0, "{contender} {metric}");
        }
    }
}

/// Runs the table of culling: a GPU that culls draws less than the CPU leaves.
#[test]
fn culling_compares_cpu_and_gpu() {
    let output = bench(&["culling", "--quick", "--rounds", "1", "--case", "ground", "--json", "-"]);
    let text = String::from_utf8(output.stderr).unwrap();
    if text.contains("skipped") {
        println!("skipped: culling_compares_cpu_and_gpu: {text}");
        return;
    }
    assert!(output.status.success(), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figure = |contender: &str, metric: &str| {
        let is_it = |row: &&serde_json::Value| {
            row["case"] == "ground" && row["contender"] == contender && row["metric"] == metric
        };
        let row = json["rows"].as_array().unwrap().iter().find(is_it);
        row.unwrap()["median"].as_f64().unwrap()
    };
    let (by_cpu, by_gpu) = ("pool-wgpu", "pool-wgpu-culled");
    assert!(figure(by_gpu, "quads") < figure(by_cpu, "quads"));
    for contender in [by_cpu, by_gpu] {
        assert!(figure(contender, "draw") > 0.0 && figure(contender, "submit") > 0.0);
    }
}

/// Each process checks the content of all of its objects.
#[test]
fn threads_share_an_allocator() {
    for program in [env!("CARGO_BIN_EXE_global-drystone"), env!("CARGO_BIN_EXE_global-malloc")] {
        for (work, threads) in [("larson", "2"), ("handoff", "1"), ("handoff", "4"), ("churn", "2")]
        {
            let output =
                Command::new(program).args(["threads", work, threads, "20000"]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let steps = threads.parse::<u64>().unwrap() * 20_000;
            assert_eq!(json["steps"].as_u64(), Some(steps), "{work} {threads}");
            assert!(json["cpu_ns"].as_u64().unwrap() > 0, "{work} {threads}");
        }
    }
}
