//! The commands, on generated worlds and on real files.

use std::{collections::HashSet, fs, path::Path, time::Instant};

use drystone_render::Image;
use serde_json::Value;

use crate::program::{data_or_skip, drystone, one_line, run, scratch};

const REAL_MODELS: [&str; 4] = ["monu10.vox", "dragon.vox", "teapot.vox", "maze.vox"];

fn json(words: &[&str]) -> Value {
    let output = run(words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.is_empty(), "{words:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn bare_command_without_a_display_draws_a_picture() {
    let folder = scratch("bare");
    let output = drystone(&["--backend", "soft"]).current_dir(&folder).output().unwrap();
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(line.starts_with("drystone.png: ") && line.lines().count() == 1, "{line}");
    let picture = Image::load_png(&folder.join("drystone.png")).unwrap();
    assert_eq!((picture.width(), picture.height()), (1280, 720));
    // Sky, water, several materials lit from several sides.
    let colors: HashSet<[u8; 3]> =
        picture.rgba().chunks_exact(4).map(|p| [p[0] >> 4, p[1] >> 4, p[2] >> 4]).collect();
    assert!(colors.len() > 60, "only {} colours", colors.len());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn shot_reports_what_it_drew() {
    let folder = scratch("shot");
    let picture = folder.join("a.png");
    let name = picture.to_str().unwrap();
    let world = ["--chunks", "2x4x2", "--seed", "5", "--size", "200x120", "--json"];
    for renderer in ["pool", "naive", "instanced"] {
        let words = ["shot", "-o", name, "--backend", "soft", "--renderer", renderer];
        let report = json(&[&words[..], &world].concat());
        assert_eq!(report["renderer"], renderer);
        assert!(report["draw_commands"].as_u64().unwrap() > 0);
        let bytes = report["vertex_bytes"].as_u64().unwrap();
        match renderer {
            // Visible cubes; many share a quad.
            "instanced" => assert!(bytes > 0 && bytes.is_multiple_of(8)),
            _ => assert_eq!(bytes, report["quads"].as_u64().unwrap() * 8),
        }
        assert_eq!(Image::load_png(&picture).unwrap().width(), 200);
    }
}

/// Culling on the GPU is reported and does not change the picture.
#[test]
fn culling_on_the_gpu_does_not_change_the_picture() {
    let folder = scratch("cull");
    let draw = |cull: &str, backend: &str| {
        let picture = folder.join(format!("{cull}-{backend}.png"));
        let name = picture.to_str().unwrap();
        let words = ["shot", "-o", name, "--backend", backend, "--cull", cull, "--json"];
        let world = ["--chunks", "3x4x3", "--seed", "5", "--size", "200x120"];
        let output = run(&[&words[..], &world].concat());
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        let report = serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default();
        (report, notes, Image::load_png(&picture).ok())
    };
    // A backend without culling on the GPU prints a note and draws.
    let (report, notes, picture) = draw("gpu", "soft");
    assert_eq!(report["cull"], "cpu");
    assert!(notes.lines().count() == 1 && notes.contains("does not cull on the GPU"), "{notes}");
    assert!(picture.is_some());

    let (by_gpu, notes, culled) = draw("gpu", "wgpu");
    if notes.contains("adapter found") || notes.contains("does not cull") {
        return println!("skipped: culling_on_the_gpu_does_not_change_the_picture: {notes}");
    }
    assert!(by_gpu["cull"] == "gpu" && notes.is_empty(), "{by_gpu} {notes}");
    let (by_cpu, _, plain) = draw("cpu", "wgpu");
    let count = |report: &Value, what: &str| report[what].as_u64().unwrap();
    for report in [&by_gpu, &by_cpu] {
        for (drawn, all) in [
            ("draw_commands", "draw_commands_of_all"),
            ("meshes_drawn", "meshes"),
            ("quads_drawn", "quads"),
        ] {
            let [drawn, all] = [drawn, all].map(|what| count(report, what));
            assert!(0 < drawn && drawn <= all, "{report}");
        }
    }
    assert!(count(&by_gpu, "quads_drawn") <= count(&by_cpu, "quads_drawn"));
    let seen = plain.unwrap().difference(&culled.unwrap(), 0).unwrap();
    assert!(seen.pixels <= 120, "{seen:?}");
}

/// Corners get darker and no pixel gets lighter; renderers without ambient occlusion refuse.
#[test]
fn ambient_occlusion_darkens_corners() {
    let folder = scratch("ao");
    let picture = folder.join("a.png");
    let name = picture.to_str().unwrap();
    let words = ["shot", "-o", name, "--backend", "soft", "--json"];
    // One sample: with more, far faces fade by the steps at the edges of their quads, and ambient
    // occlusion cuts quads.
    let world = ["--chunks", "2x4x2", "--seed", "5", "--size", "200x120", "--samples", "1"];
    // The camera is near, so that few pixels are on seams.
    let camera = ["--eye", "86.2,57,105.7", "--look", "32.9,14,38.7"];
    let draw = |more: &[&str]| {
        let report = json(&[&words[..], &world, &camera, more].concat());
        (report["quads"].as_u64().unwrap(), Image::load_png(&picture).unwrap())
    };
    let (plain_quads, plain) = draw(&["--ao", "off"]);
    let (quads, shaded) = draw(&["--ao"]);
    assert!(quads > plain_quads);
    assert!(draw(&[]) == (quads, shaded.clone()), "it is on by default");
    assert!(draw(&["--ao", "--renderer", "naive"]).1 == shaded);
    let darker = plain.difference(&shaded, 8).unwrap().pixels;
    assert!(darker > 1000, "{darker}");
    let sum = |image: &Image| image.rgba().iter().map(|&c| u64::from(c)).sum::<u64>();
    let lighter = |(a, b): (&u8, &u8)| *b > a.saturating_add(2);
    // On seams a pixel may show another quad.
    let wrong = plain.rgba().iter().zip(shaded.rgba()).filter(|&pair| lighter(pair)).count();
    assert!(sum(&shaded) < sum(&plain) && wrong < 10, "{wrong}");

    fs::remove_file(&picture).unwrap();
    for renderer in ["instanced", "instanced-oldest"] {
        let line = one_line(&run(&["shot", "-o", name, "--ao", "--renderer", renderer]), 2);
        assert!(line.contains("--renderer pool"), "{line}");
    }
    // Polygon models have no ambient occlusion.
    let line = one_line(&run(&["shot", "no.obj", "-o", name, "--ao"]), 2);
    assert!(line.contains("not available for polygon models"), "{line}");
    let line = one_line(&run(&["shot", "no.obj", "-o", name, "--tint", "levels"]), 2);
    assert!(line.contains("no levels of detail"), "{line}");
    assert!(!picture.exists());
}

#[test]
fn equal_seeds_give_equal_pictures() {
    let folder = scratch("seeds");
    let draw = |seed: &str| {
        let picture = folder.join("seed.png");
        let words = ["shot", "-o", picture.to_str().unwrap(), "--backend", "soft", "--seed", seed];
        let output = run(&[&words[..], &["--chunks", "2x4x2", "--size", "160x90"]].concat());
        assert!(output.status.success());
        Image::load_png(&picture).unwrap()
    };
    assert_eq!(draw("1"), draw("1"));
    assert_ne!(draw("1"), draw("2"));
}

#[test]
fn info_counts_the_voxels_of_a_file() {
    for name in REAL_MODELS {
        let Some(path) = data_or_skip("info_counts_the_voxels_of_a_file", name) else { return };
        let report = json(&["info", path.to_str().unwrap(), "--json"]);
        let bytes = fs::read(&path).unwrap();
        let file = dot_vox::load_bytes(&bytes).unwrap();
        // One model each, so its distinct positions are the world's voxels.
        assert_eq!(file.models.len(), 1, "{name}");
        let positions: HashSet<_> = file.models[0].voxels.iter().map(|v| (v.x, v.y, v.z)).collect();
        assert_eq!(report["voxels"], positions.len(), "{name}");
        let by_material: u64 = report["materials"]
            .as_array()
            .unwrap()
            .iter()
            .map(|material| material["voxels"].as_u64().unwrap())
            .sum();
        assert_eq!(by_material, positions.len() as u64, "{name}");
    }
}

/// Measured from the start of the process to the finished file. A release build is some times
/// faster than that of a test run.
#[test]
fn real_models_are_drawn_within_a_second() {
    let folder = scratch("quick");
    for name in REAL_MODELS {
        let Some(path) = data_or_skip("real_models_are_drawn_within_a_second", name) else {
            return;
        };
        let picture = folder.join(format!("{name}.png"));
        let words =
            ["shot", path.to_str().unwrap(), "-o", picture.to_str().unwrap(), "--backend", "soft"];
        // The fastest of three: other programs only add time.
        let seconds: Vec<f64> = (0..3)
            .map(|_| {
                let start = Instant::now();
                let output = run(&words);
                assert!(output.status.success(), "{name}");
                start.elapsed().as_secs_f64()
            })
            .collect();
        println!("{name}: {seconds:?} s");
        assert!(seconds.iter().any(|seconds| *seconds <= 1.0), "{name}: {seconds:?} s");
    }
}

/// A picture drawn with the reported camera shows the same.
#[test]
fn reports_have_the_box_of_the_scene_and_the_camera() {
    let folder = scratch("reported");
    let model = folder.join("wedge.obj");
    let text = "v 0.001 0 0\nv 0.009 0 0\nv 0.001 0.004 0\nv 0.002 0.001 0.006\n";
    fs::write(&model, format!("{text}f 1 2 3\nf 1 2 4\nf 2 3 4\n")).unwrap();
    let model = model.to_str().unwrap();
    let [first, second] = ["first.png", "second.png"].map(|name| folder.join(name));
    let [first, second] = [&first, &second].map(|path| path.to_str().unwrap());
    let common = ["--size", "200x120", "--backend", "soft", "--samples", "1", "--json", "-o"];
    for (source, max) in [
        (&["--chunks", "2x4x2"][..], [64.0, 128.0, 64.0]),
        (&["--chunks", "2x4x2", "--orthographic"], [64.0, 128.0, 64.0]),
        (&[model], [0.009, 0.004, 0.006]),
        (&[model, "--orthographic", "--from", "50"], [0.009, 0.004, 0.006]),
    ] {
        let shot = |options: &[&str], path: &str| {
            json(&[&["shot"], source, options, &common, &[path]].concat())
        };
        let report = shot(&[], first);
        let options = report["camera"]["options"].as_str().unwrap();
        let options: Vec<&str> = options.split(' ').filter(|it| *it != "--orthographic").collect();
        let source: Vec<&str> = source.iter().copied().take_while(|it| *it != "--from").collect();
        let again = json(&[&["shot"], &source[..], &options, &common, &[second]].concat());
        assert_eq!(again["box"], report["box"]);
        let [a, b] = [first, second].map(|path| Image::load_png(Path::new(path)).unwrap());
        let difference = a.difference(&b, 8).unwrap();
        assert!(difference.away_from_edges == 0, "{options:?}: {difference:?}");
        for axis in 0..3 {
            let high = report["box"]["max"][axis].as_f64().unwrap();
            assert!(high <= max[axis] * 1.000_001 && high > max[axis] * 0.3, "{report}");
        }
    }
    for source in [&["--chunks", "2x4x2"][..], &[model]] {
        let report = json(&[&["info", "--json"], source].concat());
        let drawn = json(&[&["shot"], source, &common, &[first]].concat());
        assert_eq!(report["box"], drawn["box"]);
        assert!(report["camera"]["options"].as_str().unwrap().starts_with("--eye "), "{report}");
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    for words in [&["--help"][..], &["shot", "--help"], &["--version"], &["view", "--keys"]] {
        let output = run(words);
        assert!(output.status.success() && output.stderr.is_empty());
        assert!(!output.stdout.is_empty());
    }
    let keys = String::from_utf8(run(&["view", "--keys"]).stdout).unwrap();
    assert!(keys.contains("X            ambient occlusion"), "{keys}");
}
