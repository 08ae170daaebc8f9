//! Worlds at levels of detail through the commands.

use std::path::Path;

use drystone_render::Image;
use serde_json::Value;

use crate::program::{binary, run, scratch};

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the report of a picture, as JSON, and the picture.
fn shot(picture: &Path, words: &[&str]) -> (Value, Image) {
    let output = run(&[&["shot", "--json", "-o", path(picture)], words].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    (serde_json::from_str(&text).unwrap(), Image::load_png(picture).unwrap())
}

/// From nearby, everything is shown at level 0 and equals the picture of the whole world.
#[test]
fn near_parts_are_shown_at_full_detail() {
    let folder = scratch("levels-near");
    let view = ["--chunks", "4x4x4", "--backend", "soft", "--size", "320x1800"];
    let eye = ["--eye", "64,90,-20", "--look", "64,40,64"];
    let words = [&view[..], &eye[..]].concat();
    let fine = [&words[..], &["--levels", "on"]].concat();
    let whole = [&words[..], &["--levels", "off"]].concat();
    let (report, levels) = shot(&folder.join("levels.png"), &fine[..]);
    let (_, all) = shot(&folder.join("all.png"), &whole[..]);
    let shown = report["levels"].as_array().unwrap();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert_eq!(shown[0]["level"], 0);
    // Haze depends on the world's box, which is rounded to chunks here: far things are a little
    // paler.
    let [apart, far_apart] = [4, 40].map(|most| levels.difference(&all, most).unwrap().pixels);
    assert!(far_apart < 320 * 1800 / 2_000, "{far_apart} pixels differ ({apart} a little)");
}

/// A world of 16 km is drawn whole, with few commands, by every backend.
#[test]
fn a_vast_world_takes_few_commands() {
    let folder = scratch("levels-vast");
    let words = ["--chunks", "500x16x500", "--relief", "512", "--size", "320x180"];
    let (report, soft) =
        shot(&folder.join("soft.png"), &[&words[..], &["--backend", "soft"]].concat());
    assert!(report["draw_commands"].as_u64().unwrap() < 5_000, "{report}");
    assert!(report["vertex_bytes"].as_u64().unwrap() < 150 << 20, "{report}");
    let levels = report["levels"].as_array().unwrap();
    let sum = |key: &str| levels.iter().map(|level| level[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("quads"), report["quads"].as_u64().unwrap());
    assert_eq!(sum("bytes"), 8 * sum("quads"));
    assert!(levels.iter().all(|level| level["level"].as_u64().unwrap() >= 3), "{levels:?}");
    let naive = [&words[..], &["--backend", "soft", "--renderer", "naive"]].concat();
    let (_, naive) = shot(&folder.join("naive.png"), &naive);
    assert!(soft.difference(&naive, 2).unwrap().pixels < 40);
    // A landscape and sky: the picture has several colours.
    let sky = soft.rgba()[..4].to_vec();
    let land = soft.rgba().chunks_exact(4).filter(|pixel| *pixel != sky).count();
    assert!(land > 320 * 180 / 4 && land < 320 * 180, "{land}");
}

/// Worlds larger than memory are drawn, and not counted as a whole.
#[test]
fn a_world_larger_than_memory_is_drawn() {
    let folder = scratch("levels-endless");
    let words = ["--chunks", "1000000x4x1000000", "--size", "64x36", "--backend", "soft"];
    let (report, _) = shot(&folder.join("far.png"), &words);
    assert!(report["chunks"].as_u64().unwrap() < 20_000, "{report}");
    assert!(binary().exists());
}
