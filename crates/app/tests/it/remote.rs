//! Commands read a world at an address as they read the file.

use std::fs;
use std::path::Path;

use drystone_render::Image;
use drystone_testing::http::{Answer, FileServer, Line};

use crate::program::{one_line, run, scratch};

fn output(words: &[&str]) -> Vec<u8> {
    let output = run(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn commands_read_a_world_at_an_address_as_the_file() {
    let folder = scratch("remote-commands");
    let world = folder.join("world.dsw");
    output(&["pack", "--chunks", "16x4x16", "--seed", "4", "-o", path(&world)]);
    let line = Line { round_trip: std::time::Duration::from_millis(20), bytes_per_s: 20_000_000 };
    let server = FileServer::start(fs::read(&world).unwrap(), Some(line)).unwrap();
    let address = server.address("folder/world.dsw");
    let shot = |what: &str, levels: &str, name: &str| {
        let picture = folder.join(name);
        let view = ["--levels", levels, "--backend", "soft", "--size", "320x180"];
        output(&[&["shot", what, "-o", path(&picture)], &view[..]].concat());
        Image::load_png(&picture).unwrap()
    };
    for levels in ["off", "on"] {
        let pictures = [(path(&world), "file.png"), (&address, "address.png")];
        let [file, remote] = pictures.map(|(what, name)| shot(what, levels, name));
        assert_eq!(file.difference(&remote, 0).unwrap().pixels, 0, "levels {levels}");
    }
    let json =
        |words: &[&str]| -> serde_json::Value { serde_json::from_slice(&output(words)).unwrap() };
    let [mut file, mut remote] =
        [path(&world), &address].map(|what| json(&["info", what, "--json"]));
    for info in [&mut file, &mut remote] {
        info.as_object_mut().unwrap().remove("file");
    }
    assert_eq!(file, remote);
    assert_eq!(json(&["check", &address, "--json"])["damage"], serde_json::json!([]));
    let exported = [path(&world), &address].map(|what| {
        let model = folder.join("model.ply");
        output(&["export", what, "-o", path(&model)]);
        fs::read(model).unwrap()
    });
    assert!(exported[0] == exported[1] && !exported[0].is_empty());
}

#[test]
fn addresses_that_cannot_be_read_are_reported_in_one_line() {
    let server = FileServer::start(b"text".to_vec(), None).unwrap();
    let address = server.address("a.dsw");
    let line = one_line(&run(&["info", &address]), 1);
    assert!(line.contains(&address) && line.contains("not a packed world"), "{line}");
    server.set_answer(Answer::Status(404));
    let line = one_line(&run(&["shot", &address, "-o", "nothing.png"]), 1);
    assert!(line.contains(&address) && line.contains("no such file (404)"), "{line}");
    assert!(!Path::new("nothing.png").exists());
}
