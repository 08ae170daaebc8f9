//! Sites: a packed world with the page that shows it. That the page shows it is tested in `web/test`.

use std::fs;
use std::path::Path;

use crate::program::{one_line, run, scratch};

const START: &str = "<title>drystone</title>\n<meta name=\"world\" content=\"\">\n<p>page</p>\n";

/// Writes what a page consists of, as far as a site needs it.
fn page(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("index.html"), START).unwrap();
    fs::write(folder.join("main.js"), "let page;").unwrap();
    fs::write(folder.join(".hidden"), "").unwrap();
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Publishes a small world with further options, and returns the start page.
fn publish(page: &Path, site: &Path, words: &[&str]) -> String {
    let folders = ["--page", text(page), "-o", text(site)];
    let done = run(&[&["publish"], words, &folders].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let printed = String::from_utf8(done.stdout).unwrap();
    assert!(printed.contains(&format!("drystone serve \"{}\"", site.display())), "{printed}");
    fs::read_to_string(site.join("index.html")).unwrap()
}

const SMALL: [&str; 4] = ["--chunks", "4x4x4", "--seed", "5"];

#[test]
fn a_site_has_the_packed_world_the_page_and_what_it_shows() {
    let folder = scratch("publish");
    let (made, site, packed) = (folder.join("page"), folder.join("a/site"), folder.join("a.dsw"));
    page(&made);
    assert!(run(&[&["pack", "-o", text(&packed)], &SMALL[..]].concat()).status.success());
    let camera = ["--eye", "-1,20.5,3", "--look", "10,4,3"];
    let title = ["--title", "Hills & <lakes>"];
    let start = publish(&made, &site, &[&SMALL[..], &title, &camera].concat());
    let world = fs::read(&packed).unwrap();
    assert_eq!(fs::read_to_string(site.join("main.js")).unwrap(), "let page;");
    assert_eq!(fs::read_dir(&site).unwrap().count(), 3);
    let info = run(&["info", "--json", text(&packed)]).stdout;
    let info: serde_json::Value = serde_json::from_slice(&info).unwrap();
    let checksum = info["checksum"].as_str().unwrap();
    let in_site = site.join(format!("world-{checksum}.dsw"));
    assert!(fs::read(&in_site).unwrap() == world);
    let world_of_site = format!(
        "<title>Hills &amp; &lt;lakes&gt;</title>\n<meta name=\"world\" content=\"world=world-{checksum}\
         .dsw&amp;eye=-1,20.5,3&amp;look=10,4,3\">\n<p>page</p>\n"
    );
    assert_eq!(start, world_of_site);

    // A packed world is copied, with the permissions of other files. A site can be published again from its own
    // world. Other files stay, packed worlds too.
    fs::write(site.join("CNAME"), "a.org").unwrap();
    fs::copy(&packed, site.join("world.dsw")).unwrap();
    fs::remove_file(&in_site).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&packed, std::os::unix::fs::PermissionsExt::from_mode(0o400)).unwrap();
    for source in [&packed, &in_site] {
        let start = publish(&made, &site, &[text(source)]);
        assert!(!start.contains("eye=") && start.contains(checksum), "{start}");
        assert!(fs::read(&in_site).unwrap() == world);
        assert_eq!(fs::read_dir(&site).unwrap().count(), 5);
        let permissions = |path: &Path| fs::metadata(path).unwrap().permissions();
        assert_eq!(permissions(&in_site), permissions(&site.join("main.js")));
    }

    // Another world replaces the world of the site, and nothing else.
    let start = publish(&made, &site, &["--chunks", "2x2x2"]);
    assert!(!start.contains(checksum) && !in_site.exists());
    assert_eq!(fs::read_dir(&site).unwrap().count(), 5);
    assert!(fs::read(site.join("world.dsw")).unwrap() == world);
    // The source is never removed, whatever it is named.
    let (_, named) = start.split_once("content=\"world=").unwrap();
    let named = site.join(named.split_once('"').unwrap().0);
    fs::copy(site.join("world.dsw"), &named).unwrap();
    publish(&made, &site, &[text(&named)]);
    assert!(named.exists() && fs::read(&in_site).unwrap() == world);
    let part = folder.join("part.dsw");
    let words = ["pack", "--part", "1/2", "-o", text(&part)];
    assert!(run(&[&words, &SMALL[..]].concat()).status.success());
    let folders = ["publish", text(&part), "--page", text(&made), "-o", text(&site)];
    let line = one_line(&run(&folders), 1);
    assert!(line.contains("merge all parts"), "{line}");
}

#[test]
fn nothing_is_overwritten_but_an_older_site() {
    let folder = scratch("publish-refused");
    let (made, site) = (folder.join("page"), folder.join("site"));
    page(&made);
    let refused = |page: &Path, words: &str| {
        let folders = ["publish", "--page", text(page), "-o", text(&site)];
        let line = one_line(&run(&[&folders, &SMALL[..]].concat()), 1);
        assert!(line.contains(words), "{line}");
        let worlds = fs::read_dir(&site).into_iter().flatten().flatten();
        assert_eq!(
            worlds.filter(|it| it.path().extension().is_some_and(|it| it == "dsw")).count(),
            0
        );
    };
    refused(&folder, "index.html");
    fs::write(folder.join("index.html"), "<title>Mine</title>").unwrap();
    refused(&folder, "make web built");
    fs::create_dir(&site).unwrap();
    fs::write(site.join("main.js"), "let mine;").unwrap();
    refused(&made, "main.js: exists");
    // What an interrupted run has written is not in the way.
    fs::write(site.join("main.js"), "let page;").unwrap();
    fs::write(site.join("index.html"), "<title>Mine</title>").unwrap();
    refused(&made, "not of a published world");
    fs::remove_file(site.join("index.html")).unwrap();
    publish(&made, &site, &SMALL);
    let line = one_line(&run(&["publish", "-o", text(&site), "--eye", "1,2,3"]), 2);
    assert!(line.contains("--look"), "{line}");
}
