//! Sites: a packed world and the page that shows it, in a folder for any web server.

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use drystone_formats::{Format, Input, Source};
use drystone_render::replace_file;
use drystone_store::PackedWorld;
use glam::DVec3;

use super::pack;
use crate::{AppError, address, cli::PublishArguments, output};

const WORLD: &str = "world.dsw";
const INDEX: &str = "index.html";
/// Folder where the page is built.
const BUILT: &str = "web/dist";
const NOT_BUILT: &str = "the page is not built; run make web in drystone's sources, or name the folder of a \
    built page with --page";
/// Parts of the page that are replaced.
const NO_TITLE: &str = "<title>drystone</title>";
const NO_WORLD: &str = "<meta name=\"world\" content=\"\">";
/// Part of a page that was published.
const HAS_WORLD: &str = "<meta name=\"world\" content=\"world=";

/// Writes a site, and prints a summary. Its start page is written last, so that an interrupted run leaves no
/// page without a world.
pub(crate) fn run(options: &PublishArguments) -> Result<(), AppError> {
    let site = &options.output;
    let page = Page::read(options.page.as_deref())?;
    page.check_output(site)?;
    fs::create_dir_all(site).map_err(|error| failed(site, error))?;
    let path = site.join(WORLD);
    write_world(options, &path)?;
    let world = PackedWorld::open(&path)?;
    let mut page_bytes = 0;
    for (name, bytes) in &page.files {
        page_bytes += write(&site.join(name), bytes)?;
    }
    let title = options.title.as_deref().unwrap_or(world.name());
    let index = page.index(title, &query(&world, options.eye.zip(options.look)));
    page_bytes += write(&site.join(INDEX), index.as_bytes())?;
    let (chunks, bytes) = (world.chunk_count(), world.file_bytes());
    let [folder, name] = [&site.display().to_string(), world.name()].map(output::plain);
    output::print(&format!(
        "{folder}: {chunks} chunks of {name}, {bytes} bytes, and the page, {page_bytes} bytes\n\
         drystone serve {folder}\n"
    ))
}

/// Writes the packed world of a site. A packed world without new edits is copied.
fn write_world(options: &PublishArguments, path: &Path) -> Result<(), AppError> {
    let copy = &options.copy;
    let source = copy.source.path.as_deref().filter(|_| copy.edits.edits.is_none());
    let is_packed = |source: &&Path| {
        address::of(source).is_none() && Format::of(Input::Path(source)) == Some(Format::Packed)
    };
    let Some(source) = source.filter(is_packed) else { return pack::write(copy, path).map(drop) };
    if pack::is_same_file(source, path) {
        return Ok(());
    }
    PackedWorld::open(source)?;
    // With the permissions of a new file: web servers may not read a private one.
    replace(path, |part| io::copy(&mut File::open(source)?, &mut File::create(part)?).map(drop))
}

/// Writes a file of the page, and returns its length.
fn write(path: &Path, bytes: &[u8]) -> Result<usize, AppError> {
    replace(path, |part| fs::write(part, bytes))?;
    Ok(bytes.len())
}

/// Replaces a file by what `write` writes.
fn replace(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), AppError> {
    let written = replace_file(path, |part| write(part).map_err(|error| error.to_string()));
    written.map_err(|problem| failed(path, problem))
}

fn failed(path: &Path, error: impl ToString) -> AppError {
    AppError::File { path: path.into(), problem: error.to_string() }
}

/// Returns the options of a site. The checksum gives every content an address of its own, so that no cache
/// mixes two of them.
fn query(world: &PackedWorld, camera: Option<(DVec3, DVec3)>) -> String {
    let point = |DVec3 { x, y, z }| format!("{x},{y},{z}");
    let camera = camera.map(|(eye, look)| format!("&eye={}&look={}", point(eye), point(look)));
    format!("world={WORLD}%3Fv%3D{:032x}{}", world.checksum(), camera.unwrap_or_default())
}

/// Replaces what has a meaning in HTML.
fn escaped(text: &str) -> String {
    let shown = output::plain(text).replace('&', "&amp;");
    shown.replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The page as it was built.
struct Page {
    /// Names and bytes of the files besides the start page.
    files: Vec<(PathBuf, Vec<u8>)>,
    start: String,
}

impl Page {
    /// Reads the page from a folder; without one, from where it usually is.
    fn read(named: Option<&Path>) -> Result<Self, AppError> {
        let folder = match named {
            Some(folder) => folder.to_owned(),
            None => usual_folder().ok_or_else(|| failed(Path::new(BUILT), NOT_BUILT))?,
        };
        let start = folder.join(INDEX);
        let text = fs::read_to_string(&start).map_err(|error| failed(&start, error))?;
        if ![NO_TITLE, NO_WORLD].iter().all(|part| text.contains(part)) {
            let problem =
                "is not drystone's page as make web builds it; name its folder with --page";
            return Err(failed(&start, problem));
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, error))? {
            let path = entry.map_err(|error| failed(&folder, error))?.path();
            let name = path.file_name().unwrap_or_default();
            let is_other =
                name == INDEX || name == WORLD || name.to_string_lossy().starts_with('.');
            if path.is_file() && !is_other {
                let bytes = fs::read(&path).map_err(|error| failed(&path, error))?;
                files.push((name.into(), bytes));
            }
        }
        files.sort();
        Ok(Self { files, start: text })
    }

    /// Fails if the folder has files that are not of a site and would be overwritten.
    fn check_output(&self, site: &Path) -> Result<(), AppError> {
        let start = site.join(INDEX);
        match fs::read_to_string(&start) {
            Ok(text) if text.contains(HAS_WORLD) => return Ok(()),
            Ok(_) => {
                return Err(failed(&start, "is not of a published world; name another folder"));
            }
            Err(_) if start.exists() => return Err(failed(&start, "cannot be read")),
            Err(_) => {}
        }
        // Equal files are of a run that was interrupted.
        let is_other = |(name, bytes): &&(PathBuf, Vec<u8>)| {
            let path = site.join(name);
            path.exists() && fs::read(path).ok().as_ref() != Some(bytes)
        };
        match self.files.iter().find(is_other) {
            Some((name, _)) => Err(failed(&site.join(name), "exists; name another folder")),
            None => Ok(()),
        }
    }

    /// Returns the start page with a title and the options of a site.
    fn index(&self, title: &str, query: &str) -> String {
        let title = format!("<title>{}</title>", escaped(title));
        let world = format!("<meta name=\"world\" content=\"{}\">", escaped(query));
        self.start.replacen(NO_TITLE, &title, 1).replacen(NO_WORLD, &world, 1)
    }
}

/// Returns the folder of the page, if it is beside this program, or where it is built.
fn usual_folder() -> Option<PathBuf> {
    let program = env::current_exe().ok();
    let beside = program.and_then(|it| Some(it.parent()?.join("page")));
    let mut folders = beside.into_iter().chain([PathBuf::from(BUILT)]);
    folders.find(|folder| folder.join(INDEX).is_file())
}
