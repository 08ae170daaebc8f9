//! Commands, one module each.

mod check;
mod edits;
mod fly;
mod framed;
mod import;
mod info;
mod pool_map;
mod shot;

use std::path::Path;

use drystone_formats::{Model, ModelWarning, Source};
use drystone_render::{Cull, RenderError, Renderer};
use drystone_world::{GeneratedWorld, GeneratorConfig, World, open_voxels};

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

/// Output of the bare command without a display.
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
            // The display does not exist, or no adapter can present to it.
            Err(AppError::Window(reason)) => {
                output::note(&format!(
                    "cannot open a window ({reason}); drawing to {DEFAULT_PICTURE} instead"
                ));
                shot::run(&options.scene, DEFAULT_PICTURE.as_ref())
            }
            result => result,
        },
        None => shot::run(&options.scene, DEFAULT_PICTURE.as_ref()),
    }
}

/// Opens the source that the options name.
pub(crate) fn open(options: &SourceOptions) -> Result<Box<dyn Source>, AppError> {
    if let Some(path) = &options.path {
        return Ok(open_voxels(path, &options.open_options())?);
    }
    let size_chunks = options.chunks.unwrap_or(GeneratorConfig::default().size_chunks);
    let (seed, relief_voxels) = (options.seed, options.relief);
    let config = GeneratorConfig { seed, size_chunks, relief_voxels };
    Ok(Box::new(GeneratedWorld::new(config)?))
}

/// Reads a polygon model.
pub(crate) fn read_model(options: &SourceOptions, path: &Path) -> Result<Model, AppError> {
    Ok(Model::open(path, &options.open_options().model)?)
}

/// Reads a polygon model to be shown; logs its warnings if verbose.
pub(crate) fn open_model(options: &SceneOptions, path: &Path) -> Result<Model, AppError> {
    let model = read_model(&options.source, path)?;
    if options.verbose {
        for ModelWarning { kind, count, first_location } in model.warnings.iter() {
            output::note(&format!("{kind}: {count}, first at {first_location}"));
        }
    }
    Ok(model)
}

/// Faults that are printed one by one.
const MAX_PRINTED_FAULTS: usize = 10;

/// Loads the whole source. Prints its faults on standard error and leaves out the damaged parts.
pub(crate) fn load(source: &dyn Source) -> Result<World, AppError> {
    load_with_progress(source, &Progress::default())
}

/// Loads the whole source as [`load`] does, and counts loaded chunks in `progress`.
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

/// Prints faults of a source on standard error.
pub(crate) fn note_faults(name: &str, faults: &[String]) {
    faults.iter().take(MAX_PRINTED_FAULTS).for_each(|fault| output::note(fault));
    if faults.len() > MAX_PRINTED_FAULTS {
        let more = faults.len() - MAX_PRINTED_FAULTS;
        output::note(&format!("{name}: {more} more faults; damaged parts are left out"));
    }
}

/// Sets where culling runs. If the GPU cannot cull, prints a note and culls on the CPU.
pub(crate) fn set_cull(renderer: &mut dyn Renderer, cull: Cull) -> Result<(), RenderError> {
    match renderer.set_cull(cull) {
        Err(error @ RenderError::NoCulling { .. }) => {
            output::note(&error.to_string());
            Ok(())
        }
        done => done,
    }
}

/// Returns where culling ran. If culling on the GPU failed, prints the reason once.
pub(crate) fn culled_by(renderer: &mut dyn Renderer) -> Cull {
    if let Some(error) = renderer.take_culling_error() {
        output::note(&error.to_string());
    }
    renderer.cull()
}

/// Sources of more chunks than this are shown at levels of detail by default.
const MAX_CHUNKS_IN_MEMORY: u64 = 8_192;

/// Whether the source is shown at levels of detail, instead of loaded whole.
pub(crate) fn uses_levels(options: &SceneOptions, source: &dyn Source) -> bool {
    match options.levels {
        LevelsKind::On => true,
        LevelsKind::Off => false,
        LevelsKind::Auto => {
            options.can_have_levels() && source.chunk_count() > MAX_CHUNKS_IN_MEMORY
        }
    }
}
