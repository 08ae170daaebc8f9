//! Builds, links and runs the `no_std` crates in a program without the standard library.

use std::{path::Path, process::Command};

#[test]
fn programs_without_the_standard_library_link_and_run() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bare/Cargo.toml");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-std");
    let build = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--offline", "--manifest-path"])
        .args([manifest.as_os_str(), "--target-dir".as_ref(), target.as_os_str()])
        // Flags of the outer build (coverage, sanitizers) need the standard library.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let status = Command::new(target.join("debug/drystone-bare")).status().unwrap();
    assert!(status.success(), "{status}");
}
