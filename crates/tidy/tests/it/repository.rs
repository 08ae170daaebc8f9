//! Text files of the repository, and its packages as `cargo metadata` describes them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A text file that git does not ignore.
#[derive(Debug, Clone)]
pub(crate) struct TextFile {
    /// Path from the root of the repository, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    pub(crate) fn new(path: &str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), text: text.into() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn line_count(&self) -> usize {
        self.text.lines().count()
    }
}

/// A member of the workspace, with the parts that the checks read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Path from the root of the repository, such as `crates/mesh`.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
    /// Root files of its integration tests.
    pub(crate) test_binaries: Vec<String>,
}

impl Package {
    pub(crate) fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only tests, examples and benchmarks need it.
    pub(crate) is_dev: bool,
}

/// The files and packages that the checks read.
pub(crate) struct Repository {
    pub(crate) files: Vec<TextFile>,
    /// Paths of all files, including binary ones.
    pub(crate) paths: Vec<String>,
    pub(crate) packages: Vec<Package>,
}

impl Repository {
    /// Reads the repository that contains this crate.
    ///
    /// # Panics
    /// If git or cargo is missing, or outside a clone.
    pub(crate) fn load() -> Self {
        let root = root();
        let paths = paths(&root);
        let text_file = |path: &String| Some(TextFile::new(path, text_of(&root.join(path))?));
        let files = paths.iter().filter_map(text_file).collect();
        Self { files, paths, packages: packages(&metadata(&root)) }
    }

    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.is_rust())
    }
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Lists the files that git tracks or does not ignore, so that new files are checked before
/// they are committed. Deleted files are left out.
fn paths(root: &Path) -> Vec<String> {
    // The clone may belong to another user: it is only read.
    let list = output(Command::new("git").current_dir(root).args([
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]));
    list.split('\0')
        .filter(|path| !path.is_empty() && root.join(path).exists())
        .map(str::to_owned)
        .collect()
}

/// The text of a file, or `None` if it is not UTF-8 or contains a zero byte.
fn text_of(path: &Path) -> Option<String> {
    let text = String::from_utf8(std::fs::read(path).ok()?).ok()?;
    (!text.contains('\0')).then_some(text)
}

fn metadata(root: &Path) -> Value {
    let text = output(Command::new(env!("CARGO")).current_dir(root).args([
        "metadata",
        "--no-deps",
        "--format-version=1",
    ]));
    serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("cargo metadata printed no JSON: {error}"))
}

/// Runs a command and returns its standard output.
fn output(command: &mut Command) -> String {
    let output =
        command.output().unwrap_or_else(|error| panic!("{command:?} did not start: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Resolves a path relative to the file `from`, from the root of the repository.
pub(crate) fn resolve(from: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Parses the packages in the output of `cargo metadata`.
pub(crate) fn packages(metadata: &Value) -> Vec<Package> {
    let root = slashed(&metadata["workspace_root"]);
    let relative = |path: &Value| {
        let path = slashed(path);
        path.strip_prefix(&root).unwrap_or(&path).trim_start_matches('/').to_owned()
    };
    list(&metadata["packages"])
        .map(|package| Package {
            name: text(&package["name"]),
            folder: relative(&package["manifest_path"]).trim_end_matches("/Cargo.toml").to_owned(),
            dependencies: list(&package["dependencies"])
                .map(|it| Dependency { name: text(&it["name"]), is_dev: it["kind"] == "dev" })
                .collect(),
            test_binaries: list(&package["targets"])
                .filter(|target| list(&target["kind"]).any(|kind| kind == "test"))
                .map(|target| relative(&target["src_path"]))
                .collect(),
        })
        .collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns a path as text with `/` between its parts, also on Windows.
fn slashed(path: &Value) -> String {
    text(path).replace('\\', "/")
}

#[test]
fn packages_are_read_from_metadata() {
    let metadata = serde_json::json!({
        "workspace_root": "C:\\dry",
        "packages": [{
            "name": "drystone-mesh",
            "manifest_path": "C:\\dry\\crates\\mesh\\Cargo.toml",
            "dependencies": [
                { "name": "drystone-alloc", "kind": null },
                { "name": "proptest", "kind": "dev" },
            ],
            "targets": [
                { "kind": ["lib"], "src_path": "C:\\dry\\crates\\mesh\\src\\lib.rs" },
                { "kind": ["test"], "src_path": "C:\\dry\\crates\\mesh\\tests\\it\\main.rs" },
            ],
        }],
    });
    let [mesh] = &packages(&metadata)[..] else { panic!("one package expected") };
    assert_eq!((mesh.name.as_str(), mesh.folder.as_str()), ("drystone-mesh", "crates/mesh"));
    assert_eq!(mesh.manifest(), "crates/mesh/Cargo.toml");
    assert_eq!(mesh.test_binaries, ["crates/mesh/tests/it/main.rs"]);
    let dependencies: Vec<_> =
        mesh.dependencies.iter().map(|it| (it.name.as_str(), it.is_dev)).collect();
    assert_eq!(dependencies, [("drystone-alloc", false), ("proptest", true)]);
}

#[test]
fn this_file_is_found() {
    let repository = Repository::load();
    assert!(repository.rust_files().any(|file| file.path == "crates/tidy/tests/it/repository.rs"));
    assert!(repository.packages.iter().any(|package| package.folder == "crates/tidy"));
}
