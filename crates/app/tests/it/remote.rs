//! Commands read a world at an address as they read the file.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use drystone::Content;
use drystone_formats::Source;
use drystone_render::Image;
use drystone_store::{PackOptions, PackedWorld, pack};
use drystone_testing::http::{Answer, FileServer, Line};
use drystone_voxel::{Material, MaterialTable, VoxelPos};
use drystone_world::World;

use crate::program::{drystone, one_line, run, scratch};

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

/// A server that runs until it is dropped.
struct Serving(Child, String);

impl Serving {
    fn start(what: &Path) -> Self {
        let mut command = drystone(&["serve", path(what), "--port", "0"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.split(" at ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        Self(child, address)
    }

    /// Returns the whole answer to a request with these headers.
    fn answer(&self, name: &str, headers: &str) -> String {
        let host = self.1.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let request =
            format!("GET /{name} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).to_lowercase()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn serve_answers_viewers_and_pages_of_other_servers() {
    let folder = scratch("serve");
    let open = folder.join("open");
    fs::create_dir(&open).unwrap();
    fs::write(folder.join("secret.txt"), "secret").unwrap();
    let world = open.join("a world (1).dsw");
    output(&["pack", "--chunks", "4x4x4", "--seed", "4", "-o", path(&world)]);
    fs::write(open.join("index.html"), "<title>worlds</title>").unwrap();
    fs::write(open.join(".hidden"), "secret").unwrap();
    let server = Serving::start(&world);
    assert!(server.1.ends_with("/a%20world%20%281%29.dsw"), "{}", server.1);
    let [file, remote] = [path(&world), &server.1].map(|what| {
        let mut info: serde_json::Value =
            serde_json::from_slice(&output(&["info", what, "--json"])).unwrap();
        info.as_object_mut().unwrap().remove("file");
        info
    });
    assert_eq!(file, remote);
    let part =
        server.answer("a%20world%20(1).dsw", "Range: bytes=0-3\r\nOrigin: https://a.org\r\n");
    let expected = [
        "206 partial content",
        "content-range: bytes 0-3/",
        "access-control-allow-origin: https://a.org",
        "access-control-expose-headers: content-range",
        "cache-control: no-cache",
    ];
    for words in expected {
        assert!(part.contains(words), "{words}: {part}");
    }
    for name in ["", "index.html", "../secret.txt"] {
        let answer = server.answer(name, "");
        assert!(answer.starts_with("http/1.1 404"), "only the file is served: {answer}");
    }
    let server = Serving::start(&open);
    let page = server.answer("", "Origin: https://a.org\r\n");
    assert!(page.contains("<title>worlds</title>"), "{page}");
    // Without both, browsers do not let the page have threads.
    for header in ["opener-policy: same-origin", "embedder-policy: require-corp"] {
        assert!(page.contains(&format!("cross-origin-{header}")), "{header}: {page}");
    }
    assert!(!page.contains("access-control-allow-origin"), "{page}");
    for name in ["../secret.txt", "%2e%2e/secret.txt", ".hidden", "%2ehidden"] {
        let answer = server.answer(name, "");
        assert!(answer.starts_with("http/1.1 404") && !answer.contains("secret"), "{answer}");
    }
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let line = one_line(&run(&["serve", "nothing.dsw"]), 1);
    assert!(line.contains("nothing.dsw"), "{line}");
    let folder = scratch("serve-port");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let line = one_line(&run(&["serve", path(&folder), "--port", &port]), 1);
    assert!(line.contains("is in use") && line.contains("--port"), "{line}");
}

/// Interrupted, the server ends at once, without a failure.
#[cfg(unix)]
#[test]
fn a_server_stops_when_it_is_interrupted() {
    let mut server = Serving::start(&scratch("serve-stop"));
    let host = server.1.strip_prefix("http://").unwrap().trim_end_matches('/');
    // A connection that stays open after its answer.
    let mut idle = TcpStream::connect(host).unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    assert!(idle.read(&mut [0; 9]).unwrap() > 0);
    let begun = std::time::Instant::now();
    let id = server.0.id().to_string();
    let killed = std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert!(killed.success());
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// The default camera of a wide packed world needs chunks of a level, which are few, not those of full detail.
#[test]
fn a_wide_packed_world_is_framed_from_a_level() {
    let folder = scratch("remote-wide");
    let mut world = World::new("wide", MaterialTable::new());
    for x in [0, 3_200] {
        world.set(VoxelPos::new(x, 0, 0), Material(1));
    }
    let file = folder.join("wide.dsw");
    pack(&world, &file, &PackOptions::default(), &mut |_| {}).unwrap();
    let packed = PackedWorld::open(&file).unwrap();
    let level = |source: &dyn Source| Content::first_nodes(source)[0].level;
    assert_eq!([level(&world), level(&packed)], [0, 1]);
}
