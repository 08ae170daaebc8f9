//! Worlds that are packed from and to an object store.

use std::{fs, path::Path, process::Output};

use drystone_testing::objects::ObjectServer;

use crate::program::{data_or_skip, drystone, one_line, scratch};

/// Runs the program in a folder, with the variables of the object store.
fn run(server: &ObjectServer, folder: &Path, words: &[&str]) -> Output {
    let mut command = drystone(words);
    command.envs(server.variables()).current_dir(folder).output().unwrap()
}

fn printed(done: &Output) -> String {
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout.clone()).unwrap()
}

const SMALL: [&str; 2] = ["--chunks", "3x2x3"];

#[test]
fn parts_of_a_bucket_are_joined_to_the_file_of_one_process() {
    let Some(region) = data_or_skip("parts_of_a_bucket", "r.0.0.mca") else { return };
    let (server, folder) = (ObjectServer::start().unwrap(), scratch("object-store"));
    fs::create_dir_all(folder.join("Home/region")).unwrap();
    let bytes = fs::read(region).unwrap();
    for name in ["r.0.0.mca", "r.-1.0.mca"] {
        fs::write(folder.join("Home/region").join(name), &bytes).unwrap();
        server.put(&format!("worlds/saves/Home/region/{name}"), bytes.clone());
    }
    server.put("worlds/saves/Home/level.dat", vec![0]);
    for (part, region) in [("1/2", "r.-1.0.mca"), ("2/2", "r.0.0.mca")] {
        let output = format!("s3://worlds/part-{}.dsw", &part[..1]);
        // Failures that pass are not seen.
        for (method, part) in [("GET", "list-type"), ("GET", ".mca"), ("PUT", ".dsw")] {
            server.refuse(method, part, 503);
        }
        server.refuse("GET", ".mca", ObjectServer::CUT);
        let words = ["pack", "s3://worlds/saves/Home", "--part", part, "-o", &output];
        let line = printed(&run(&server, &folder, &words));
        assert!(line.starts_with(&format!("{output}: 120 chunks of Home")), "{line}");
        // A worker receives its own region, once, after two failures.
        let mut received = server.take_requests();
        received.retain(|it| it.starts_with("GET") && it.contains(".mca"));
        assert_eq!(
            received,
            [const { "GET /worlds/saves/Home/region/" }; 3].map(|it| format!("{it}{region}"))
        );
    }
    let parts = ["s3://worlds/part-1.dsw", "s3://worlds/part-2.dsw"];
    let merge = [&["merge", "-o", "s3://worlds/home.dsw"], &parts[..]].concat();
    printed(&run(&server, &folder, &merge));
    printed(&run(&server, &folder, &["pack", "Home", "-o", "home.dsw"]));
    assert!(server.get("worlds/home.dsw").unwrap() == fs::read(folder.join("home.dsw")).unwrap());
    // Nothing is left on this machine.
    let left = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name());
    assert_eq!(
        left.collect::<std::collections::BTreeSet<_>>(),
        ["Home".into(), "home.dsw".into()].into()
    );
    // The world is shown from there, too.
    let info = printed(&run(&server, &folder, &["info", "s3://worlds/home.dsw"]));
    assert!(info.contains("chunks    240"), "{info}");
}

#[test]
fn what_an_object_store_refuses_is_said_before_the_work() {
    let (server, folder) = (ObjectServer::start().unwrap(), scratch("object-store-refused"));
    server.put("worlds/notes.txt", b"notes, not a packed world".to_vec());
    let refused = |words: &[&str]| one_line(&run(&server, &folder, words), 1);
    let pack = |to: &str| refused(&[&["pack", "-o", to], &SMALL[..]].concat());
    let line = pack("s3://worlds/notes.txt");
    assert!(line.contains("notes.txt: exists and is not a packed world"), "{line}");
    let line = pack("https://127.0.0.1/a.dsw");
    assert!(line.contains("only object stores can be written"), "{line}");
    server.refuse("POST", "a.dsw", 403);
    let line = pack("s3://worlds/a.dsw");
    assert!(line.contains("a.dsw: cannot be uploaded: the server denies access"), "{line}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    let line = refused(&["merge", "s3://worlds/none.dsw", "-o", "a.dsw"]);
    assert!(line.contains("none.dsw: cannot be received: the server has no such file"), "{line}");
    let line = refused(&["info", "s3://worlds/saves"]);
    assert!(line.contains("s3://worlds/saves: a folder without Minecraft's regions"), "{line}");
    for words in [
        ["merge", "s3://worlds/a.dsw", "-o", "s3://worlds/a.dsw"],
        ["pack", "s3://worlds/a.dsw", "-o", "s3://worlds/a.dsw"],
    ] {
        let line = refused(&words);
        assert!(line.contains("name another file"), "{line}");
    }
    assert_eq!(server.get("worlds/notes.txt").unwrap(), b"notes, not a packed world");
    assert_eq!(server.get("worlds/a.dsw"), None);

    for to in ["s3://worlds", "s3://worlds/", "s3://worlds/folder/"] {
        let line = pack(to);
        assert!(line.contains("this is a folder; name an object, such as s3://"), "{line}");
    }

    // The complete file stays if it cannot be uploaded. It is not lost when it is used.
    server.refuse("PUT", "a.dsw", 403);
    let line = pack("s3://worlds/a.dsw");
    assert!(
        line.contains("denies access (401 or 403); the complete file stays in a.dsw."),
        "{line}"
    );
    let files = || fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect::<Vec<_>>();
    let [file] = files().try_into().unwrap();
    let line = refused(&["pack", file.to_str().unwrap(), "-o", "s3://worlds/a.dsw"]);
    assert!(line.contains("is the source itself"), "{line}");
    let kept = fs::read(&file).unwrap();
    let packed = |to| printed(&run(&server, &folder, &[&["pack", "-o", to], &SMALL[..]].concat()));
    packed("s3://worlds/folder/a.dsw");
    assert!(fs::read(&file).unwrap() == kept);
    packed("s3://worlds/a.dsw");
    assert!(server.get("worlds/a.dsw").unwrap() == kept);
    assert_eq!(files(), Vec::<std::path::PathBuf>::new());
    fs::write(&file, "notes").unwrap();
    let line = pack("s3://worlds/a.dsw");
    assert!(line.contains(".upload: exists and is not a packed world"), "{line}");

    // An empty object is replaced, and the right to cancel uploads is not needed.
    fs::remove_file(&file).unwrap();
    server.put("worlds/empty.dsw", Vec::new());
    server.refuse("DELETE", "empty", 403);
    packed("s3://worlds/empty.dsw");
    assert!(server.get("worlds/empty.dsw").unwrap() == kept);
}

#[test]
fn other_clouds_are_written_and_read_too() {
    let (server, folder) = (ObjectServer::start().unwrap(), scratch("object-store-clouds"));
    printed(&run(&server, &folder, &[&["pack", "-o", "a.dsw"], &SMALL[..]].concat()));
    let expected = fs::read(folder.join("a.dsw")).unwrap();
    for (scheme, name) in [("gs", "worlds/gs.dsw"), ("az", "worlds/az.dsw")] {
        let address = format!("{scheme}://{name}");
        printed(&run(&server, &folder, &[&["pack", "-o", &address], &SMALL[..]].concat()));
        assert!(server.get(name) == Some(expected.clone()), "{:?}", server.take_requests());
        let info = printed(&run(&server, &folder, &["info", &address]));
        assert!(info.contains("chunks    "), "{info}");
        let none = format!("{scheme}://worlds/none.dsw");
        let line = one_line(&run(&server, &folder, &["merge", &none, "-o", "b.dsw"]), 1);
        assert!(
            line.contains("none.dsw: cannot be received: the server has no such file"),
            "{line}"
        );
    }
}

#[test]
fn without_a_key_requests_are_not_signed_and_go_nowhere_else() {
    let (server, folder) = (ObjectServer::start().unwrap(), scratch("object-store-no-key"));
    for scheme in ["s3", "gs", "az"] {
        let address = format!("{scheme}://worlds/a.dsw");
        let mut command = drystone(&["info", &address]);
        let is_place = |name: &str| {
            ["ENDPOINT", "ACCOUNT_NAME", "BASE_URL", "REGION", "ALLOW_HTTP"]
                .iter()
                .any(|end| name.ends_with(end))
        };
        let places = server.variables().into_iter().filter(|(name, _)| is_place(name));
        let done = command.envs(places).current_dir(&folder).output().unwrap();
        // The server refuses what is not signed.
        let line = one_line(&done, 1);
        assert!(line.contains("the server denies access"), "{line}");
        assert!(!server.take_requests().is_empty());
    }
}
