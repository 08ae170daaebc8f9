/// The versions that this binary was built with.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The version of a crate that the bench depends on, straight from the lock file.
/// `drystone` and its variants answer with the version of `drystone-alloc`: all of the
/// workspace has one.
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

/// The lock file names a dependency alone while one version exists, else with its version.
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
        // In the lock file, but no dependency of the bench.
        assert!(packages().any(|package| package.name == "syn"));
        assert_eq!(version_of("syn"), None);
    }
}
