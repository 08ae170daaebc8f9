//! The number of packages that a user of a crate compiles, by feature.

use std::collections::BTreeSet;
use std::process::Command;

use crate::offence::Offence;

/// Crates with features, each with the largest number of packages on Linux, itself included.
/// Packages that only build scripts need are not counted. Raise a limit only if the new package is
/// worth its time.
const LIMITS: &[(&str, &str, usize)] = &[
    ("drystone-alloc", "", 2),
    ("drystone-memory", "std", 1),
    ("drystone-mesh", "", 3),
    ("drystone-voxel", "std", 5),
    ("drystone-pool", "", 9),
    ("drystone-render", "soft", 15),
    ("drystone-formats", "vox", 20),
];

/// Counts the packages of each row with `cargo tree`.
pub(crate) fn check() -> Vec<Offence> {
    LIMITS.iter().filter_map(|&(name, features, limit)| check_row(name, features, limit)).collect()
}

fn check_row(name: &str, features: &str, limit: usize) -> Option<Offence> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--no-default-features", "--edges=normal"])
        .args(["--target=x86_64-unknown-linux-gnu", "--prefix=none", "--package", name])
        .args(["--features", features])
        .output()
        .unwrap_or_else(|error| panic!("cargo tree did not start: {error}"));
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let packages = packages(&String::from_utf8_lossy(&tree.stdout));
    let advice = format!(
        "`{name}` with the features `{features}` has {} packages, at most {limit} are allowed; \
         make a dependency optional: {packages:?}",
        packages.len()
    );
    let path = format!("crates/{}/Cargo.toml", name.trim_start_matches("drystone-"));
    (packages.len() > limit).then(|| Offence::new(&path, 1, advice))
}

/// Returns the names and versions in the output of `cargo tree`, each once.
fn packages(tree: &str) -> BTreeSet<String> {
    let name = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    tree.lines().filter(|line| !line.trim().is_empty()).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_packages_count_once() {
        let tree = "a v0.1.0 (/src/a)\nb v1.0.0\nc v1.0.0 (proc-macro)\nb v1.0.0 (*)\nb v2.0.0\n\n";
        assert_eq!(packages(tree).len(), 4);
    }

    #[test]
    fn more_packages_than_the_limit_are_reported() {
        assert_eq!(check_row("drystone-memory", "std", 1), None);
        let offence = check_row("drystone-alloc", "", 1).unwrap();
        assert!(offence.advice.contains("2 packages"), "{}", offence.advice);
    }
}
