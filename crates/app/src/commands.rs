//! One function a command.

mod check;
mod edits;
mod fly;
mod framed;
mod import;
mod info;
mod pool_map;
mod shot;

use std::path::Path;

use drystone_render::{Cull, RenderError, Renderer};
use drystone_world::{
    GeneratedWorld, GeneratorConfig, HeightMap, Model, ModelOptions, ModelWarning, Source, World,
    open_source,
};

pub(crate) use edits::{can_save_edits, open_edited, open_to_edit, save_in_new_file};
pub(crate) use framed::Framed;
pub(crate) use pool_map::{bytes, grouped, mesh_color};

use crate::{
    AppError,
    cli::{Command, LevelsKind, Options, SceneOptions, SourceOptions},
    output,
    progress::Progress,
    viewer,
};

/// Where the bare command draws to when there is no display.
const DEFAULT_PICTURE: &str = "drystone.png";

pub(crate) fn run(options: Options) -> Result<(), AppError> {
    match options.command {
        Some(Command::View(view)) if view.keys => output::print(&viewer::keys_text()),
        Some(Command::View(view)) => viewer::run(&view.scene, &view.save, view.frames),
        Some(Command::Shot(options)) => shot::run(&options.scene, &options.output),
        Some(Command::Fly(options)) => fly::run(&options),
        Some(Command::Info(options)) => info::run(&options),
        Some(Command::Import(options)) => import::run(&options),
        Some(Command::Check(options)) => check::run(&options),
        Some(Command::PoolMap(options)) => pool_map::run(&options),
        None if viewer::has_display() => match viewer::run(&options.scene, &options.save, None) {
            // A display that is named but not there, or that no adapter can show on.
            Err(AppError::Window(reason)) => {
                output::note(&format!("no window ({reason}); drawing a picture instead"));
                shot::run(&options.scene, DEFAULT_PICTURE.as_ref())
            }
            done => done,
        },
        None => shot::run(&options.scene, DEFAULT_PICTURE.as_ref()),
    }
}

/// Opens the source that the options name.
pub(crate) fn open(options: &SourceOptions) -> Result<Box<dyn Source>, AppError> {
    if let Some(path) = options.path.as_deref().filter(|path| HeightMap::is_height_map(path)) {
        return Ok(Box::new(HeightMap::open(path, &options.height_map.options())?));
    }
    if options.path.is_some() {
        return Ok(open_source(options.path.as_deref())?);
    }
    let size_chunks = options.chunks.unwrap_or(GeneratorConfig::default().size_chunks);
    let (seed, relief_voxels) = (options.seed, options.relief);
    let config = GeneratorConfig { seed, size_chunks, relief_voxels };
    Ok(Box::new(GeneratedWorld::new(config)?))
}

/// Reads a polygon model.
pub(crate) fn read_model(options: &SourceOptions, path: &Path) -> Result<Model, AppError> {
    let merge_tolerance = options.merge;
    Ok(Model::open(path, &ModelOptions { merge_tolerance, ..ModelOptions::default() })?)
}

/// Reads a polygon model to be shown; what it lacks is noted.
pub(crate) fn open_model(options: &SceneOptions, path: &Path) -> Result<Model, AppError> {
    let model = read_model(&options.source, path)?;
    if options.verbose {
        for ModelWarning { kind, count, first_location } in model.warnings.iter() {
            output::note(&format!("{kind}: {count}, the first at {first_location}"));
        }
    }
    Ok(model)
}

/// So many places that are damaged are named one by one.
const NAMED_FAULTS: usize = 10;

/// Loads all of a source. What is damaged is named on standard error, and the rest is there.
pub(crate) fn load(source: &dyn Source) -> Result<World, AppError> {
    load_with_progress(source, &Progress::default())
}

/// The same; `progress` is told how far it is.
pub(crate) fn load_with_progress(
    source: &dyn Source,
    progress: &Progress,
) -> Result<World, AppError> {
    progress.begin(format!("reading {}", source.name()), source.chunk_count());
    let world = World::load_with_progress(source, || progress.step())?;
    let faults = source.faults();
    if let (true, [first, ..]) = (world.is_empty(), faults.as_slice()) {
        return Err(AppError::AllDamaged { first: output::plain(first), count: faults.len() });
    }
    note_faults(source.name(), &faults);
    Ok(world)
}

/// Names what is damaged and left out, on standard error.
pub(crate) fn note_faults(name: &str, faults: &[String]) {
    faults.iter().take(NAMED_FAULTS).for_each(|fault| output::note(fault));
    if faults.len() > NAMED_FAULTS {
        let more = faults.len() - NAMED_FAULTS;
        output::note(&format!("{name}: {more} more places are damaged and left out"));
    }
}

/// Has the GPU or the CPU leave out what cannot be seen. Where the GPU cannot, that is
/// said, and the CPU does.
pub(crate) fn set_cull(renderer: &mut dyn Renderer, cull: Cull) -> Result<(), RenderError> {
    match renderer.set_cull(cull) {
        Err(error @ RenderError::NoCulling { .. }) => {
            output::note(&error.to_string());
            Ok(())
        }
        done => done,
    }
}

/// Returns whether the GPU or the CPU left out what cannot be seen. Where the GPU stopped to, says
/// why, once.
pub(crate) fn culled_by(renderer: &mut dyn Renderer) -> Cull {
    if let Some(error) = renderer.take_culling_error() {
        output::note(&error.to_string());
    }
    renderer.cull()
}

/// Sources of more chunks than this are shown at levels of detail, if nothing else is said.
const CHUNKS_IN_MEMORY: u64 = 8_192;

/// Whether the source is shown at levels of detail, instead of loaded whole.
pub(crate) fn wants_levels(options: &SceneOptions, source: &dyn Source) -> bool {
    match options.levels {
        LevelsKind::On => true,
        LevelsKind::Off => false,
        LevelsKind::Auto => options.can_have_levels() && source.chunk_count() > CHUNKS_IN_MEMORY,
    }
}
