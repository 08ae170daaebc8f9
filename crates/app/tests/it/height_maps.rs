//! Height maps through the commands: scale and voids are reported and drawn.

use drystone_render::Image;
use serde_json::{Value, json};

use crate::program::{data_or_skip, one_line, run, scratch};

const NAME: &str = "jacksboro-dem-16bit.png";
const TO_SCALE: [&str; 2] = ["--metres-per-sample", "75x93"];

#[test]
fn info_reports_the_scale() {
    let Some(path) = data_or_skip("info_tells_the_scale", NAME) else { return };
    let words = [&["info", path.to_str().unwrap()], &TO_SCALE[..]].concat();
    let output = run(&[&words[..], &["--json"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        report["height_map"],
        json!({
            "format": "PNG, 16 bits of grey",
            "samples": [403, 344],
            "metres_per_sample": [75.0, 93.0],
            "metres_per_voxel": 75.0,
            "vertical_scale": 1.0,
            "metres": [236.0, 1076.0],
            "voids": 0,
            "voids_are": "holes",
        })
    );
    assert_eq!((&report["size_voxels"][0], &report["size_voxels"][2]), (&json!(403), &json!(427)));
    let text = String::from_utf8(run(&words).stdout).unwrap();
    assert!(text.contains("403 x 344 samples, 75.000 x 93.000 m apart; 236 to 1076 m"), "{text}");
}

#[test]
fn shot_draws_the_requested_scale() {
    let Some(path) = data_or_skip("shot_draws_the_requested_scale", NAME) else { return };
    let folder = scratch("height_map");
    let draw = |name: &str, more: &[&str]| {
        let picture = folder.join(name);
        let words = ["shot", path.to_str().unwrap(), "-o", picture.to_str().unwrap()];
        let plain = ["--backend", "soft", "--size", "200x120"];
        let output = run(&[&words[..], &plain, &TO_SCALE, more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Image::load_png(&picture).unwrap().rgba().to_vec()
    };
    let flat = draw("flat.png", &[]);
    assert!(flat == draw("same.png", &["--vertical-scale", "1"]));
    assert!(flat != draw("high.png", &["--vertical-scale", "4"]));
    assert!(flat != draw("coarse.png", &["--metres-per-voxel", "150"]));
    assert!(flat != draw("drowned.png", &["--sea-level", "400"]));
    let tiny = ["info", path.to_str().unwrap(), "--metres-per-voxel", "0.0001"];
    let line = one_line(&run(&tiny), 1);
    assert!(line.contains("size: ") && line.contains("use more metres per voxel"), "{line}");
}
