//! `pool-map`: the layout of the vertex pool, as an SVG or a PNG.

use std::{collections::HashMap, fs, path::Path};

use drystone_render::Image;
use serde_json::Value;
use xml::reader::{EventReader, XmlEvent};

use crate::program::{data_or_skip, one_line, run, scratch};

/// Contents of a picture.
#[derive(Default)]
struct Picture {
    /// Number and total width of stripes, by the first word of their titles.
    stripes: HashMap<String, (u32, f64)>,
    /// Colours of meshes.
    colors: HashMap<String, u32>,
    texts: Vec<String>,
}

/// Reads a picture with a strict XML parser.
fn read(path: &Path) -> Picture {
    let (mut picture, mut width, mut in_title, mut in_text) =
        (Picture::default(), 0.0, false, false);
    for event in EventReader::new(fs::File::open(path).unwrap()) {
        match event.unwrap() {
            XmlEvent::StartElement { name, attributes, .. } => {
                let value = |key| attributes.iter().find(|a| a.name.local_name == key);
                in_title = name.local_name == "title";
                in_text = name.local_name == "text" || name.local_name == "tspan" && in_text;
                if name.local_name == "rect" {
                    width = value("width").unwrap().value.parse().unwrap_or(0.0);
                    let fill = value("fill").map(|fill| fill.value.clone());
                    *picture.colors.entry(fill.unwrap_or_default()).or_default() += 1;
                }
            }
            XmlEvent::Characters(text) if in_title => {
                let word = text.split([' ', ':']).next().unwrap().to_owned();
                let (count, all) = picture.stripes.entry(word).or_default();
                (*count, *all) = (*count + 1, *all + width);
            }
            XmlEvent::Characters(text) if in_text => picture.texts.push(text),
            XmlEvent::EndElement { .. } => in_title = false,
            _ => {}
        }
    }
    picture
}

/// Runs `pool-map` on a small generated world.
fn map(folder: &Path, more: &[&str]) -> (Picture, Value) {
    let path = folder.join("map.svg");
    let words = ["pool-map", "-o", path.to_str().unwrap(), "--chunks", "3x4x3", "--json"];
    let output = run(&[&words[..], more].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.is_empty(), "{more:?}: {error}");
    (read(&path), serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn everything_in_the_pool_is_in_the_picture() {
    let folder = scratch("pool-map");
    for placement in ["ranges", "classes", "buckets"] {
        let more = ["--placement", placement, "--holes", "30", "--buffer-kib", "200"];
        let (picture, report) = map(&folder, &more);
        let quads = &report["quads"];
        assert_eq!(report["access"], "direct");
        assert!(report["buffers"].as_array().unwrap().len() > 1, "{report}");
        let capacity = quads["capacity"].as_f64().unwrap();
        let all: f64 = picture.stripes.values().map(|(_, width)| width).sum();
        let part = |number: &Value| number.as_f64().unwrap() / capacity;
        let parts = [("mesh", "live"), ("waiting", "waiting"), ("free", "free")];
        let parts = parts.map(|(word, key)| (word, part(&quads[key])));
        assert!((parts.iter().map(|(_, part)| part).sum::<f64>() - 1.0).abs() < 1e-9);
        for (name, expected) in parts {
            assert!(expected > 0.0, "{placement}: nothing is {name}");
            let (_, width) = picture.stripes[name];
            // Seams between meshes are left out, and widths are rounded.
            assert!((width / all - expected).abs() < 0.03, "{placement} {name}: {width} of {all}");
        }
        assert!(picture.colors.len() as u64 > report["meshes"].as_u64().unwrap() / 2);
        let legend = picture.texts.join("\n");
        for word in ["Vertex pool of", "live, one colour per mesh", "waiting", "free", "buffer 0"] {
            assert!(legend.contains(word), "{word}: {legend}");
        }
    }
}

#[test]
fn a_loaded_scene_has_no_waiting_ranges() {
    let folder = scratch("pool-map-still");
    let (picture, report) = map(&folder, &[]);
    assert_eq!(
        (&report["quads"]["waiting"], picture.stripes.get("waiting")),
        (&Value::from(0), None)
    );
    let places: u64 =
        report["buffers"].as_array().unwrap().iter().map(|b| b["places"].as_u64().unwrap()).sum();
    assert_eq!(places, report["meshes"].as_u64().unwrap());
    // Equal worlds give equal pictures.
    let first = fs::read(folder.join("map.svg")).unwrap();
    map(&folder, &[]);
    assert_eq!(fs::read(folder.join("map.svg")).unwrap(), first);
}

/// In the mean of several worlds: where the last holes are, moves of the last frame are worth more or
/// less.
#[test]
fn defragmentation_leaves_fewer_gaps() {
    const SEEDS: [&str; 6] = ["1", "2", "3", "4", "5", "6"];
    let path = scratch("pool-map-defragment").join("map.svg");
    let gaps = |more: &[&str]| {
        let of = |seed| {
            let words = ["pool-map", "-o", path.to_str().unwrap(), "--json", "--holes", "80"];
            let output = run(&[&words[..], &["--seed", seed], more].concat());
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            report["external_fragmentation"].as_f64().unwrap()
        };
        SEEDS.map(of).iter().sum::<f64>() / SEEDS.len() as f64
    };
    let (moved, left) = (gaps(&["--defragment"]), gaps(&[]));
    println!("{moved} with moves, {left} without");
    assert!(moved < 0.9 * left, "{moved} {left}");
}

#[test]
fn a_real_model_is_mapped() {
    let Some(model) = data_or_skip("a_real_model_is_mapped", "monu10.vox") else { return };
    let path = scratch("pool-map-real").join("map.svg");
    let output = run(&["pool-map", model.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    assert!(output.status.success());
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(line.lines().count() == 1 && line.contains("meshes in 1 buffer,"), "{line}");
    assert!(read(&path).stripes["mesh"].0 > 0);
}

/// Both pools of a polygon model, in pieces if a buffer is too small for it.
#[test]
fn a_polygon_model_is_mapped() {
    const TRIANGLES: [(&str, u32); 2] = [("one", 400), ("two", 90)];
    let folder = scratch("pool-map-model");
    let (model, path) = (folder.join("two.obj"), folder.join("map.svg"));
    let mut text = String::new();
    for (name, count) in TRIANGLES {
        text += &format!("g {name}\n");
        for n in 0..count {
            text += &format!("v {n} 0 {count}\nv {n} 1 {count}\nv {n}.5 1 {count}\nf -1 -2 -3\n");
        }
    }
    fs::write(&model, text).unwrap();
    let words = ["pool-map", model.to_str().unwrap(), "-o", path.to_str().unwrap()];
    let corners = TRIANGLES.map(|(_, count)| 3 * u64::from(count)).iter().sum::<u64>();
    let mut widths = Vec::new();
    for (more, max_bytes) in [(&[][..], 128 << 20), (&["--buffer-kib", "8"], 8 << 10)] {
        let output = run(&[&words[..], more, &["--json"]].concat());
        assert!(output.status.success() && output.stderr.is_empty());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        for (kind, bytes) in [("vertices", 20), ("indices", 4)] {
            let pool = &report["pools"][kind];
            assert_eq!(pool[kind]["live"], corners, "{pool}");
            let meshes = pool["meshes"].as_u64().unwrap();
            assert!(if more.is_empty() { meshes == 2 } else { meshes > 2 }, "{pool}");
            for buffer in pool["buffers"].as_array().unwrap() {
                assert!(buffer[kind].as_u64().unwrap() * bytes <= max_bytes, "{buffer}");
            }
        }
        let picture = read(&path);
        let legend = picture.texts.join("\n");
        for word in ["Vertex pool of", "Index pool of", "bytes a vertex", "bytes an index"] {
            assert!(legend.contains(word), "{word}: {legend}");
        }
        widths.push(picture.stripes["mesh"]);
    }
    assert!(widths[1].0 > widths[0].0, "{widths:?}");
    let line = String::from_utf8(run(&words).stdout).unwrap();
    assert!(line.lines().count() == 1 && line.contains("; indices: "), "{line}");
    for more in [["--holes", "3"], ["--placement", "buckets"]] {
        one_line(&run(&[&words[..], &more].concat()), 2);
    }
}

/// Returns position and colour of the middle of each rectangle in an SVG of one pool, if it is wide
/// enough to have one.
fn middles(path: &Path) -> Vec<([u32; 2], [u8; 3])> {
    let mut middles = Vec::new();
    for event in EventReader::new(fs::File::open(path).unwrap()) {
        let XmlEvent::StartElement { name, attributes, .. } = event.unwrap() else { continue };
        let value = |key| attributes.iter().find(|a| a.name.local_name == key).map(|a| &*a.value);
        let number = |key| value(key).and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0);
        let color = match (value("fill"), value("class")) {
            (Some(fill), _) => u32::from_str_radix(&fill[1..], 16).unwrap_or(0),
            (None, Some("f")) => 0xec_eff1,
            _ => continue,
        };
        if name.local_name == "rect" && number("x") > 0.0 && number("width") >= 3.0 {
            let middle = [("x", "width"), ("y", "height")]
                .map(|(start, size)| (number(start) + number(size) / 2.0) as u32);
            let [_, red, green, blue] = color.to_be_bytes();
            middles.push((middle, [red, green, blue]));
        }
    }
    middles
}

#[test]
fn a_png_shows_what_an_svg_does() {
    let folder = scratch("pool-map-png");
    let paths = ["map.svg", "map.png"].map(|name| folder.join(name));
    for path in &paths {
        let words = ["pool-map", "-o", path.to_str().unwrap(), "--chunks", "3x4x3"];
        assert!(run(&[&words[..], &["--holes", "20"]].concat()).status.success());
    }
    let picture = Image::load_png(&paths[1]).unwrap();
    let middles = middles(&paths[0]);
    assert!(middles.len() > 50, "{}", middles.len());
    for ([x, y], [red, green, blue]) in middles {
        assert_eq!(picture.pixel(x, y), [red, green, blue, 255], "{x} {y}");
    }
    // Dark letters of the title, and slanted lines of waiting ranges.
    let is_dark = |&(x, y): &(u32, u32)| picture.pixel(x, y)[..3].iter().all(|&it| it < 90);
    let dark = |rows: std::ops::Range<u32>| {
        rows.flat_map(|y| (0..picture.width()).map(move |x| (x, y))).filter(is_dark).count()
    };
    let counts = [dark(12..34), dark(84..picture.height())];
    assert!(counts[0] > 200 && counts[1] > 200, "{counts:?}");
}

#[test]
fn unwritable_maps_and_missing_sources_are_errors() {
    let folder = scratch("pool-map-unwritable");
    let path = folder.join("no/such/folder/map.svg");
    let words = ["pool-map", "--chunks", "1x4x1", "-o", path.to_str().unwrap()];
    let line = one_line(&run(&words), 1);
    assert!(line.contains("no/such/folder"), "{line}");
    let line = one_line(&run(&["pool-map", "missing.vox", "-o", "map.svg"]), 1);
    assert!(line.contains("missing.vox"), "{line}");
    for words in [&["pool-map"][..], &["pool-map", "-o", "map.gif"]] {
        one_line(&run(words), 2);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
