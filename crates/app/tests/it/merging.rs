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

#[test]
fn parts_of_a_folder_of_height_maps_are_joined_to_the_file_of_one() {
    let folder = scratch("merging-heights");
    let maps = folder.join("maps");
    fs::create_dir(&maps).unwrap();
    for (name, base) in [("N47E011.hgt", 0), ("N47E012.hgt", 1_200)] {
        let height = |n: usize| ((n % 1_201 + base) / 2 + n / 1_201) as i16;
        let tile: Vec<u8> = (0..1_201 * 1_201).flat_map(|n| height(n).to_be_bytes()).collect();
        fs::write(maps.join(name), tile).unwrap();
    }
    let scale = ["--metres-per-voxel", "150"];
    let info = printed(&[&["info", text(&maps)], &scale[..]].concat());
    assert!(info.contains("2 files, SRTM: 2401 x 1201 samples, 62.67"), "{info}");
    assert!(info.contains("m apart; voids are holes\n"), "{info}");
    let (whole, joined) = (folder.join("whole.dsw"), folder.join("joined.dsw"));
    printed(&[&["pack", text(&maps), "-o", text(&whole)], &scale[..]].concat());
    let parts: Vec<PathBuf> = (1..=3).map(|it| folder.join(format!("part-{it}.dsw"))).collect();
    for (index, path) in parts.iter().enumerate() {
        let part = format!("{}/3", index + 1);
        let own = ["pack", text(&maps), "--part", &part, "-o", text(path)];
        printed(&[&own, &scale[..]].concat());
        let info = printed(&["info", text(path)]);
        assert!(!info.contains(" 0 chunks"), "{info}");
    }
    let parts: Vec<&str> = parts.iter().map(|it| text(it)).collect();
    printed(&[&["merge", "-o", text(&joined)], &parts[..]].concat());
    assert!(fs::read(&joined).unwrap() == fs::read(&whole).unwrap());

    // A file that is cut off is no land of height 0.
    let cut = maps.join("N47E012.hgt");
    fs::write(&cut, [0; 9]).unwrap();
    let line = one_line(&run(&["pack", text(&maps), "-o", text(&joined)]), 1);
    assert!(line.contains("N47E012.hgt: file: 9 bytes, not the size of a tile"), "{line}");
}
