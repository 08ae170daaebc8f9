//! Kills a child process while it packs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use drystone_store::{PackOptions, PackedWorld, pack};
use drystone_world::{GeneratedWorld, GeneratorConfig};

use crate::stored_child::{Folder, command, order};

fn source() -> GeneratedWorld {
    let config = GeneratorConfig::default().with_size_chunks([28, 4, 28]);
    GeneratedWorld::new(config).unwrap()
}

/// Options with which each part is a step, and saved.
fn options() -> PackOptions {
    PackOptions::default().with_memory_bytes(0).with_save_interval(Duration::ZERO)
}

/// The child: packs, and prints a line after each part.
#[test]
fn child_packs() {
    let Some((path, _)) = order() else { return };
    let mut out = std::io::stdout();
    let options = options();
    pack(&source(), &path, &options, &mut |progress| {
        writeln!(out, "packed {} resumed {}", progress.done, progress.resumed).unwrap();
        out.flush().unwrap();
    })
    .unwrap();
}

#[test]
fn a_world_is_the_same_after_killed_runs() {
    let folder = Folder::new();
    let (once, killed) = (folder.file("once.dsw"), folder.file("killed.dsw"));
    pack(&source(), &once, &PackOptions::default(), &mut |_| {}).unwrap();
    for line_count in [1, 3, 3] {
        let mut child = command("packed_kill::child_packs", &killed, 0).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let packed = lines.map_while(Result::ok).filter(|line| line.contains("packed "));
        assert_eq!(packed.take(line_count).count(), line_count);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!killed.exists(), "a file that is not complete");
    }
    let output = command("packed_kill::child_packs", &killed, 0).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(" resumed ") && !text.contains(" resumed 0"), "{text}");
    assert!(fs::read(&killed).unwrap() == fs::read(&once).unwrap());
    assert_eq!(PackedWorld::check(&killed).unwrap().damage, Vec::<String>::new());
}
