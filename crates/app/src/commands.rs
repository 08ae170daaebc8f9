//! Commands, one module each.

mod check;
mod chunk_bar;
mod export;
mod fly;
mod import;
mod info;
mod pack;
mod pool_map;
mod publish;
#[cfg(feature = "remote")]
mod serve;
mod shot;

use std::{
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use drystone::{
    Content, Pace, Shown,
    keys::{self, Host},
    scene,
};
use drystone_render::{Cull, RenderError, Renderer};

#[cfg(feature = "window")]
use crate::viewer;
use crate::{
    AppError,
    cli::{Command, Options, SceneOptions},
    output, samples, source,
};

/// Output of the bare command without a display.
const DEFAULT_PICTURE: &str = "drystone.png";

pub(crate) fn run(options: Options) -> Result<(), AppError> {
    match options.command {
        Some(Command::View(view)) if view.keys => output::print(&keys::text(Host::Window)),
        #[cfg(feature = "window")]
        Some(Command::View(view)) => viewer::run(&view.scene, &view.save, view.frames),
        #[cfg(not(feature = "window"))]
        Some(Command::View(_)) => {
            Err(AppError::Window("this program was built without the feature window".into()))
        }
        Some(Command::Shot(options)) => shot::run(&options.scene, &options.output),
        Some(Command::Fly(options)) => fly::run(&options),
        Some(Command::Info(options)) => info::run(&options),
        Some(Command::Import(options)) => import::run(&options),
        Some(Command::Pack(options)) => pack::run(&options),
        Some(Command::Merge(options)) => pack::merge(&options),
        Some(Command::Publish(options)) => publish::run(&options),
        #[cfg(feature = "remote")]
        Some(Command::Serve(options)) => serve::run(&options),
        Some(Command::Export(options)) => export::run(&options),
        Some(Command::Check(options)) => check::run(&options),
        Some(Command::PoolMap(options)) => pool_map::run(&options),
        #[cfg(feature = "window")]
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

/// Handles Ctrl+C and termination signals, so that a command can stop without leaving a partial
/// file. The returned flag becomes true on the first signal. A second signal ends the program at
/// once.
fn stop_on_signal() -> Arc<AtomicBool> {
    /// 128 plus the number of the signal.
    const INTERRUPTED: i32 = 130;
    let is_stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_stopped);
    let handled = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            process::exit(INTERRUPTED);
        }
    });
    if let Err(error) = handled {
        output::note(&format!("cannot handle Ctrl+C, which may leave a partial file: {error}"));
    }
    is_stopped
}

/// Opens the renderer that the options name, for this content.
fn open_renderer(
    content: &Content,
    options: &SceneOptions,
) -> Result<Box<dyn Renderer>, RenderError> {
    let (capacity, drawing) = (content.capacity(), &options.drawing);
    let mut renderer =
        scene::open_renderer(drawing.renderer, drawing.backend, options.camera.size, capacity)?;
    samples::set_samples(renderer.as_mut(), drawing.samples)?;
    set_cull(renderer.as_mut(), drawing.cull)?;
    Ok(renderer)
}

/// Shows the content in a renderer, for single pictures.
fn show(
    content: Content,
    options: &SceneOptions,
    renderer: Box<dyn Renderer>,
) -> Result<Shown, RenderError> {
    Shown::new(content, options.meshing(), renderer, Pace::Pictures)
}

/// Prints the faults of voxels that were read, whose damaged parts are left out.
fn note_faults(shown: &Shown) {
    if let Some(data) = shown.data() {
        source::note_faults(data.source().name(), &data.faults());
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
