//! Runs the table `meshing` on a few chunks. Every contender checks its own mesh, so a run without
//! errors means that all cover the same faces.

use serde_json::Value;

use super::bench;

fn rows(case: &str) -> Vec<Value> {
    let output = bench(&["meshing", "--quick", "--rounds", "1", "--case", case, "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["rows"].as_array().unwrap().clone()
}

fn median(rows: &[Value], contender: &str, metric: &str) -> f64 {
    let is = |row: &&Value| row["contender"] == contender && row["metric"] == metric;
    let row = rows.iter().find(is).unwrap_or_else(|| panic!("{contender} has no {metric}"));
    row["median"].as_f64().unwrap()
}

#[test]
fn no_case_takes_more_quads_than_a_peer() {
    for case in ["random-16", "noise-16", "terrain-32", "caves-32", "solid-32"] {
        let rows = rows(case);
        let quads = |contender: &str| median(&rows, contender, "quads");
        assert!(quads("classic") > 0.0);
        assert_eq!(quads("drystone"), quads("drystone-array"));
        // Both merge greedily, but not in the same order: either can be ahead by a few quads, at most 0.54 %
        // in these cases.
        assert!(quads("drystone") <= 1.006 * quads("classic"), "{case}: {}", quads("drystone"));
        for peer in ["block-mesh", "block-mesh-bgm", "binary-greedy-meshing"] {
            assert!(median(&rows, peer, "time") > 0.0, "{case}: {peer}");
            assert!(quads("drystone") <= quads(peer), "{case}: {peer}");
            assert_eq!(quads(&format!("{peer}-chunk")), quads(peer), "{case}: {peer}");
        }
        assert_eq!(quads("drystone"), quads("drystone-padded"));
        assert!(median(&rows, "drystone", "fill") > 0.0);
    }
}

#[test]
fn an_empty_chunk_is_found_by_flag_and_by_scan() {
    let rows = rows("empty-32");
    for contender in ["drystone", "drystone-scan"] {
        assert_eq!(median(&rows, contender, "quads"), 0.0);
    }
}

#[test]
fn ambient_occlusion_is_measured() {
    let rows = rows("ao-32");
    assert!(median(&rows, "drystone-ao", "quads") > median(&rows, "drystone", "quads"));
    assert!(median(&rows, "block-mesh-bgm-ao", "time") > 0.0);
}

/// Every contender checks that the memory of its pool contains the meshes.
#[test]
fn chunks_are_meshed_into_pools_in_place_and_gathered() {
    let rows = rows("fill-");
    for contender in ["gathered-mapped", "in-place-mapped", "gathered-staged", "in-place-staged"] {
        assert!(median(&rows, contender, "time") > 0.0, "{contender}");
    }
}

#[test]
fn terrain_is_divided_into_boxes() {
    let rows = rows("boxes");
    let count = median(&rows, "drystone", "boxes");
    assert!((1.0..2000.0).contains(&count), "{count} boxes");
}
