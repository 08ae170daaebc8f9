//! Sites: a packed world and the page that shows it, in a folder for any web server.

use std::{
    any::Any,
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use drystone_formats::Source;
use drystone_render::replace_file;
use drystone_store::{PackProgress, PackedWorld};
use glam::DVec3;

use super::pack;
use crate::{
    AppError, address,
    cli::{CopyArguments, PublishArguments},
    output, source,
};

/// Start of the file names of worlds. A checksum follows.
const WORLD: &str = "world-";
/// Number of hexadecimal digits of the checksum.
const SUM_DIGITS: usize = 32;
/// Name of a world that is being packed, whose checksum is not known yet.
const NEW_WORLD: &str = ".world.dsw";
const INDEX: &str = "index.html";
/// Folder where the page is built.
const BUILT: &str = "web/dist";
const NOT_BUILT: &str = "the page is not built; run make web in drystone's sources, or name the folder of a \
    built page with --page";
/// Parts of the page that are replaced.
const NO_TITLE: &str = "<title>drystone</title>";
const NO_WORLD: &str = "<meta name=\"world\" content=\"\">";
/// Part of a page that was published.
const HAS_WORLD: &str = "<meta name=\"world\" content=\"world=world-";

/// Writes a site, and prints a summary. Its start page is written last, so that an interrupted run leaves an older
/// site as it was.
pub(crate) fn run(options: &PublishArguments) -> Result<(), AppError> {
    let site = &options.output;
    let page = Page::read(options.page.as_deref())?;
    let older = page.check_output(site)?;
    fs::create_dir_all(site).map_err(|error| failed(site, error))?;
    let (world, progress) = write_world(&options.copy, site)?;
    let mut page_bytes = 0;
    for (name, bytes) in &page.files {
        page_bytes += write(&site.join(name), bytes)?;
    }
    let title = options.title.as_deref().unwrap_or(world.name());
    let index = page.index(title, &query(&world, options.eye.zip(options.look)));
    page_bytes += write(&site.join(INDEX), index.as_bytes())?;
    if let Some(older) = older.filter(|it| *it != file_name(&world)).map(|it| site.join(it)) {
        let is_source = |path: &PathBuf| pack::is_same_file(path, &older);
        if !options.copy.source.path.as_ref().is_some_and(is_source) {
            // It does no harm where it cannot be removed.
            let _ = fs::remove_file(older);
        }
    }
    let (chunks, bytes, lost) = (world.chunk_count(), world.file_bytes(), pack::lost(&progress));
    let [folder, name] = [&site.display().to_string(), world.name()].map(output::plain);
    output::print(&format!(
        "{folder}: {chunks} chunks of {name}, {bytes} bytes{lost}, and the page, {page_bytes} bytes\n\
         drystone serve \"{folder}\"\n"
    ))
}

/// Writes the packed world of a site. A packed world on this machine is copied.
fn write_world(copy: &CopyArguments, site: &Path) -> Result<(PackedWorld, PackProgress), AppError> {
    let source = source::open_as_voxels(copy)?;
    let any: &dyn Any = source.as_ref();
    let packed = any.downcast_ref::<PackedWorld>();
    if let Some(part) = packed.filter(|it| it.part().is_some()) {
        return Err(failed(part.path(), "is a part of a world; merge all parts before"));
    }
    let Some(packed) = packed.filter(|it| address::of(it.path()).is_none()) else {
        let path = site.join(NEW_WORLD);
        let progress = pack::write(source.as_ref(), copy, None, &path)?;
        let named = site.join(file_name(&PackedWorld::open(&path)?));
        fs::rename(&path, &named).map_err(|error| failed(&named, error))?;
        return Ok((PackedWorld::open(&named)?, progress));
    };
    let path = site.join(file_name(packed));
    if !pack::is_same_file(packed.path(), &path) {
        // With the permissions of a new file: web servers may not read a private one.
        replace(&path, |new| {
            io::copy(&mut File::open(packed.path())?, &mut File::create(new)?).map(drop)
        })?;
    }
    Ok((PackedWorld::open(&path)?, PackProgress::default()))
}

/// Returns the file name of a world in a site. The checksum gives every content an address of its own, so that
/// no cache mixes two of them, and an older page keeps its world until the new one is complete.
fn file_name(world: &PackedWorld) -> String {
    format!("{WORLD}{:032x}.{}", world.checksum(), PackedWorld::EXTENSION)
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

/// Returns the options of a site.
fn query(world: &PackedWorld, camera: Option<(DVec3, DVec3)>) -> String {
    let point = |DVec3 { x, y, z }| format!("{x},{y},{z}");
    let camera = camera.map(|(eye, look)| format!("&eye={}&look={}", point(eye), point(look)));
    format!("world={}{}", file_name(world), camera.unwrap_or_default())
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
            let problem = "is not a page that this version's make web built; build it again, or \
                name its folder with --page";
            return Err(failed(&start, problem));
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, error))? {
            let path = entry.map_err(|error| failed(&folder, error))?.path();
            let name = path.file_name().unwrap_or_default();
            let is_other = name == INDEX || name.to_string_lossy().starts_with('.');
            if path.is_file() && !is_other {
                let bytes = fs::read(&path).map_err(|error| failed(&path, error))?;
                files.push((name.into(), bytes));
            }
        }
        files.sort();
        Ok(Self { files, start: text })
    }

    /// Returns the file name of the world of an older site, if the folder has one. Fails if the folder has files
    /// that are not of a site and would be overwritten.
    fn check_output(&self, site: &Path) -> Result<Option<String>, AppError> {
        let start = site.join(INDEX);
        match fs::read_to_string(&start) {
            Ok(text) => {
                let named = text.split_once(HAS_WORLD).map(|(_, rest)| rest);
                let is_sum = |sum: &&str| sum.bytes().all(|it| it.is_ascii_hexdigit());
                let sum = named.and_then(|rest| rest.get(..SUM_DIGITS)).filter(is_sum);
                let name = sum.map(|sum| format!("{WORLD}{sum}.{}", PackedWorld::EXTENSION));
                return match name {
                    Some(name) => Ok(Some(name)),
                    None => Err(failed(&start, "is not of a published world; name another folder")),
                };
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed(&start, error));
            }
            Err(_) => {}
        }
        // Equal files are of a run that was interrupted.
        let is_other = |(name, bytes): &&(PathBuf, Vec<u8>)| {
            let path = site.join(name);
            path.exists() && fs::read(path).ok().as_ref() != Some(bytes)
        };
        match self.files.iter().find(is_other) {
            Some((name, _)) => Err(failed(&site.join(name), "exists; name another folder")),
            None => Ok(None),
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
