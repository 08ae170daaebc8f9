//! Runs the drawing tables on small cases. Every contender checks its own result, so a run without
//! errors means that commands and pictures are right.

use serde_json::Value;

use super::bench;

/// Returns the rows of a quick run of a case, or `None` if the machine cannot draw it.
fn rows(table: &str, case: &str) -> Option<Vec<Value>> {
    let output = bench(&[table, "--quick", "--rounds", "1", "--case", case, "--json", "-"]);
    let text = String::from_utf8_lossy(&output.stderr);
    if text.contains(" adapter found (") {
        println!("skipped: {table}, case {case}: no graphics adapter");
        return None;
    }
    assert!(output.status.success(), "{text}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["table"], table);
    Some(json["rows"].as_array().unwrap().clone())
}

fn median(rows: &[Value], contender: &str, metric: &str) -> f64 {
    let is = |row: &&Value| row["contender"] == contender && row["metric"] == metric;
    let row = rows.iter().find(is).unwrap_or_else(|| panic!("{contender} has no {metric}"));
    row["median"].as_f64().unwrap()
}

#[test]
fn mask_order_has_its_stages() {
    let rows = rows("mask-order", "parts-750").unwrap();
    for contender in ["drystone", "drystone-single", "article"] {
        let stages = ["mask", "order", "upload"].map(|stage| median(&rows, contender, stage));
        let sum = median(&rows, contender, "cpu");
        assert!((stages.iter().sum::<f64>() / sum - 1.0).abs() < 1e-6, "{contender}");
    }
    for contender in ["drystone-at-once", "drystone-threads"] {
        assert!(median(&rows, contender, "cpu") > 0.0, "{contender}");
    }
}

#[test]
fn mask_order_draws_frames_with_and_without_masks() {
    let Some(rows) = rows("mask-order", "frame-16x5") else { return };
    for pool in ["pool-gl", "pool-gl-fat"] {
        for treatment in ["", "-masked", "-ordered", "-plain"] {
            let contender = format!("{pool}{treatment}");
            assert!(median(&rows, &contender, "draw") > 0.0, "{contender}");
        }
    }
    assert!(median(&rows, "naive-gl", "draw") > 0.0);
}

#[test]
fn mask_order_leaves_commands_out() {
    let Some(rows) = rows("mask-order", "leave-out") else { return };
    for contender in ["pool-gl-left-out", "pool-gl-zeroed"] {
        assert!(median(&rows, contender, "draw") > 0.0, "{contender}");
    }
}

/// Checks the reserved memory, which does not depend on the machine.
#[test]
fn bucket_size_reports_waste() {
    let Some(rows) = rows("bucket-size", "16x5") else { return };
    let waste = |contender| median(&rows, contender, "waste");
    assert!(waste("pool-gl-ranges") <= 3.0, "{}", waste("pool-gl-ranges"));
    assert!(waste("pool-gl-classes") <= 15.0, "{}", waste("pool-gl-classes"));
    // The waste inside allocations does not grow while the scene changes.
    for (contender, max) in [("pool-gl-ranges", 3.0), ("pool-gl-classes", 15.0)] {
        let [waste, gaps] = ["waste-changing", "gaps"].map(|it| median(&rows, contender, it));
        assert!(waste + gaps <= max, "{contender}: {waste} and {gaps}");
    }
    // The required capacity does grow.
    let smallest = median(&rows, "pool-gl-ranges", "least-changing");
    assert!(smallest > waste("pool-gl-ranges") && smallest < 50.0, "{smallest}");
    assert!(median(&rows, "pool-gl-ranges", "waiting") > 0.0);
    let buckets = ["pool-gl-k2400", "pool-gl-k3600", "pool-gl-k4800", "pool-gl-k9600"].map(waste);
    assert!(buckets.is_sorted() && buckets[0] < buckets[3], "{buckets:?}");
    assert!(median(&rows, "pool-gl-k2400", "mesh") > 0.0);
}

/// Every contender is meshed on all cores and on one, and `frame` includes the former.
#[test]
fn changing_scenes_are_meshed_before_every_frame() {
    for (table, case) in [("dynamic", "16x3"), ("noise", "16x3"), ("noise", "sparse")] {
        let Some(rows) = rows(table, case) else { return };
        for contender in ["pool-gl", "naive-gl", "pool-gl-fat", "merged-gl"] {
            let figure = |metric| median(&rows, contender, metric);
            assert!(figure("mesh") > 0.0 && figure("mesh-one-thread") > 0.0, "{contender}");
            assert!(figure("frame") > figure("draw"), "{contender}");
        }
    }
}

#[test]
fn lists_compares_three_ways() {
    let Some(rows) = rows("lists", "16x5") else { return };
    for contender in ["pool-gl-lists", "pool-gl-masked-twice", "pool-gl-pools"] {
        for metric in ["draw", "submit"] {
            assert!(median(&rows, contender, metric) > 0.0, "{contender} {metric}");
        }
    }
}

#[test]
fn grid_draws_a_layer_of_chunks() {
    let Some(rows) = rows("grid", "8x8") else { return };
    assert!(median(&rows, "pool-gl", "draw") > 0.0);
    assert!(median(&rows, "naive-gl", "bytes") > 19.0 * 8.0);
}

/// Checks counted figures, which do not depend on the speed: replacing nine tenths of all cubes
/// needs no more slots than before.
#[test]
fn replaced_cubes_need_no_more_slots_than_before() {
    let rows = rows("cubes", "refill").unwrap();
    for contender in ["drystone", "drystone-last-leaf", "drystone-oldest"] {
        let [before, tenth, after] = ["places-before", "places-tenth", "places-after"]
            .map(|it| median(&rows, contender, it));
        assert!(tenth <= before && after < before + 64.0, "{contender}");
    }
    assert_eq!(
        median(&rows, "drystone", "places-after"),
        median(&rows, "drystone", "places-before")
    );
}

#[test]
fn cubes_draws_what_pools_draw() {
    let Some(rows) = rows("cubes", "32x3") else { return };
    for contender in ["pool-gl", "instanced-gl"] {
        for metric in ["draw", "submit", "change"] {
            assert!(median(&rows, contender, metric) > 0.0, "{contender} {metric}");
        }
    }
}

/// Every switch is a contender, and only shadows draw shadow maps.
#[test]
fn switches_are_drawn_on_and_off() {
    for case in ["wgpu-flight", "gl-still", "soft-still"] {
        let Some(rows) = rows("switches", case) else { return };
        for contender in ["none", "samples-4", "shadows", "occlusion", "far-fade", "all"] {
            assert!(median(&rows, contender, "draw") > 0.0, "{case}: {contender}");
        }
        assert!(median(&rows, "none", "maps") == 0.0, "{case}");
    }
}

/// The pictures of both renderers are compared, and after replacements with those of new ones.
#[test]
fn million_has_its_cases() {
    for case in ["still", "moving", "replaced"] {
        let Some(rows) = rows("million", case) else { return };
        for contender in ["pool-wgpu", "pool-wgpu-culled"] {
            let figures = ["submit", "draw"].map(|metric| median(&rows, contender, metric));
            assert!(figures[0] > 0.0 && figures.is_sorted(), "{contender}: {figures:?}");
            median(&rows, contender, "beyond-empty");
            if case == "replaced" {
                assert!(median(&rows, contender, "replace") < figures[0], "{contender}");
            }
        }
    }
}
