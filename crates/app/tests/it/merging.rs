//! Worlds that several processes pack, a part each, and another one joins.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{drystone, one_line, run, scratch};

const WORLD: [&str; 6] = ["--chunks", "36x4x36", "--relief", "100", "--seed", "6"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn printed(words: &[&str]) -> String {
    let done = run(words);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn parts_of_several_processes_are_joined_to_the_file_of_one() {
    let folder = scratch("merging");
    let (whole, joined) = (folder.join("whole.dsw"), folder.join("joined.dsw"));
    printed(&[&["pack", "-o", text(&whole)], &WORLD[..]].concat());
    let parts: Vec<PathBuf> = (1..=4).map(|it| folder.join(format!("part-{it}.dsw"))).collect();
    let start = |index: usize| {
        let part = format!("{}/4", index + 1);
        let own = ["pack", "--part", &part, "-o", text(&parts[index])];
        drystone(&[&own, &WORLD[..]].concat()).spawn().unwrap()
    };
    // A process is killed, and its part is packed by the next one.
    let mut killed = start(2);
    let begun = folder.join("part-3.dsw.part");
    while !begun.exists() && killed.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let others: Vec<_> = (0..4).map(start).collect();
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    let info = printed(&["info", text(&parts[1])]);
    assert!(info.contains("part      2 of 4"), "{info}");
    let merge = |parts: &[PathBuf]| {
        let parts: Vec<&str> = parts.iter().map(|it| text(it)).collect();
        run(&[&["merge", "-o", text(&joined)], &parts[..]].concat())
    };
    let line = one_line(&merge(&parts[1..]), 1);
    assert!(line.contains("1 of 4 parts are missing: 1"), "{line}");
    assert!(!joined.exists());
    let done = merge(&parts);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(fs::read(&joined).unwrap() == fs::read(&whole).unwrap());
    assert!(printed(&["check", text(&joined)]).contains(": OK"));

    // Nothing else is overwritten.
    let line = one_line(&run(&["merge", text(&parts[0]), "-o", text(&parts[0])]), 1);
    assert!(line.contains("is one of the parts"), "{line}");
    let notes = folder.join("notes.txt");
    fs::write(&notes, "mine").unwrap();
    let line = one_line(&run(&["merge", text(&parts[0]), "-o", text(&notes)]), 1);
    assert!(line.contains("not a packed world"), "{line}");
    for part in ["0/4", "5/4", "1", "1/99999999"] {
        let line = one_line(&run(&["pack", "--part", part, "-o", text(&joined)]), 2);
        assert!(line.contains("3/8 for the third of 8"), "{line}");
    }
}
