/// Lock file of this build, which contains the versions.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// Returns the version of a crate that the benchmark depends on, from the lock file. For `drystone`
/// and its variants, returns the version of `drystone-alloc`, which is that of the whole workspace.
pub fn version_of(contender: &str) -> Option<&'static str> {
    let base = if contender.starts_with("drystone") { "drystone-alloc" } else { contender };
    packages().find(|package| package.name == base && is_dependency(package)).map(|p| p.version)
}

struct Package {
    name: &'static str,
    version: &'static str,
    text: &'static str,
}

fn packages() -> impl Iterator<Item = Package> {
    LOCK.split("[[package]]").filter_map(|text| {
        let name = quoted_after(text, "name = ")?;
        let version = quoted_after(text, "version = ")?;
        Some(Package { name, version, text })
    })
}

/// Whether the benchmark depends on the package. The lock file adds the version only if there are
/// several versions.
fn is_dependency(package: &Package) -> bool {
    let Some(bench) = packages().find(|p| p.name == env!("CARGO_PKG_NAME")) else { return false };
    let alone = format!("\n \"{}\",", package.name);
    let with_version = format!("\n \"{} {}", package.name, package.version);
    bench.text.contains(&alone) || bench.text.contains(&with_version)
}

fn quoted_after(text: &'static str, key: &str) -> Option<&'static str> {
    text.split_once(key)?.1.strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        assert_eq!(version_of("drystone"), Some(env!("CARGO_PKG_VERSION")));
        assert_eq!(version_of("drystone-lowest"), Some(env!("CARGO_PKG_VERSION")));
        assert!(version_of("clap").is_some_and(|version| version.starts_with("4.")));
        assert_eq!(version_of("no-such-crate"), None);
        // In the lock file, but not a dependency of the benchmark.
        assert!(packages().any(|package| package.name == "syn"));
        assert_eq!(version_of("syn"), None);
    }
}
