//! Dependencies between crates. Each crate may depend only on the layers below it.

use crate::offence::Offence;
use crate::repository::{Package, TextFile};

/// Folders of the crates, each with the crates that its code may use. Dependencies of tests
/// are not restricted.
const ARROWS: &[(&str, &[&str])] = &[
    ("alloc", &[]),
    // Tests of any crate may use it, and benchmarks, which are not published either.
    ("testing", &[]),
    ("memory", &[]),
    ("mesh", &["alloc"]),
    ("voxel", &["memory", "mesh"]),
    ("pool", &["alloc"]),
    ("wgpu", &["mesh", "pool"]),
    ("formats", &["memory", "mesh", "voxel"]),
    ("store", &["voxel", "formats"]),
    ("world", &["mesh", "voxel", "formats", "store"]),
    ("render", &["alloc", "mesh", "pool", "wgpu"]),
    ("app", &["alloc", "memory", "mesh", "voxel", "pool", "formats", "store", "world", "render"]),
    (
        "bench",
        &[
            "alloc", "memory", "mesh", "voxel", "pool", "wgpu", "formats", "store", "world",
            "render", "app", "testing",
        ],
    ),
    ("tidy", &[]),
];

/// Compares the packages with the table. The manifests among `files` provide line numbers.
pub(crate) fn check(packages: &[Package], files: &[TextFile]) -> Vec<Offence> {
    packages.iter().flat_map(|package| check_package(package, packages, files)).collect()
}

fn check_package(package: &Package, packages: &[Package], files: &[TextFile]) -> Vec<Offence> {
    let manifest = package.manifest();
    let folder = short(package);
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == folder) else {
        let advice = format!("`{folder}` has no row in ARROWS of the tidy test; add one");
        return vec![Offence::new(&manifest, 1, advice)];
    };
    let mut offences = Vec::new();
    if package.name != expected_name(folder) {
        let advice = format!("`{}` should be called `{}`", package.name, expected_name(folder));
        offences.push(Offence::new(&manifest, line_of("name", &manifest, files), advice));
    }
    for dependency in package.dependencies.iter().filter(|dependency| !dependency.is_dev) {
        let Some(target) = packages.iter().find(|it| it.name == dependency.name) else { continue };
        if !allowed.contains(&short(target)) {
            let advice = format!(
                "`{folder}` may not depend on `{}`; reverse the dependency or move the code",
                short(target)
            );
            let line = line_of(&dependency.name, &manifest, files);
            offences.push(Offence::new(&manifest, line, advice));
        }
    }
    offences
}

/// Name of the package's folder, without `crates/`.
fn short(package: &Package) -> &str {
    package.folder.rsplit('/').next().unwrap_or_default()
}

fn expected_name(folder: &str) -> String {
    if folder == "app" { "drystone".to_owned() } else { format!("drystone-{folder}") }
}

/// Returns the first line of a manifest that sets `key`, or 1.
fn line_of(key: &str, manifest: &str, files: &[TextFile]) -> usize {
    let sets_key = |line: &str| {
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(['.', '=']))
    };
    let file = files.iter().find(|file| file.path == manifest);
    file.and_then(|file| file.text.lines().position(sets_key)).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Dependency;

    fn package(folder: &str, dependencies: &[(&str, bool)]) -> Package {
        Package {
            name: expected_name(folder),
            folder: format!("crates/{folder}"),
            dependencies: dependencies
                .iter()
                .map(|&(name, is_dev)| Dependency { name: name.to_owned(), is_dev })
                .collect(),
            ..Package::default()
        }
    }

    #[test]
    fn dependencies_on_lower_layers_and_those_of_tests_pass() {
        let packages = [
            package("alloc", &[("drystone-mesh", true), ("libm", false)]),
            package("mesh", &[("drystone-alloc", false)]),
            package("app", &[("drystone-mesh", false)]),
        ];
        assert_eq!(check(&packages, &[]), []);
    }

    #[test]
    fn a_dependency_on_a_higher_layer_is_found_with_its_line() {
        let packages = [package("alloc", &[("drystone-mesh", false)]), package("mesh", &[])];
        let manifest = TextFile::new(
            "crates/alloc/Cargo.toml",
            "[dependencies]\ndrystone-mesh.workspace = true",
        );
        let offences = check(&packages, &[manifest]);
        assert_eq!(offences.len(), 1);
        assert_eq!((offences[0].path.as_str(), offences[0].line), ("crates/alloc/Cargo.toml", 2));
        assert!(offences[0].advice.starts_with("`alloc` may not depend on `mesh`"));
    }

    #[test]
    fn a_crate_without_a_row_or_with_another_name_is_found() {
        assert!(check(&[package("extra", &[])], &[])[0].advice.contains("no row"));
        let misnamed = Package { name: "dry-mesh".to_owned(), ..package("mesh", &[]) };
        assert!(check(&[misnamed], &[])[0].advice.contains("`drystone-mesh`"));
    }

    #[test]
    fn the_table_has_no_cycles() {
        for (row, (folder, allowed)) in ARROWS.iter().enumerate() {
            let above = &ARROWS[..row];
            for target in *allowed {
                assert!(above.iter().any(|(name, _)| name == target), "{folder} -> {target}");
            }
        }
    }
}
