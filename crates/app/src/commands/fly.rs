//! Pictures along a way: turntables and flights.

mod route;
mod sink;

use std::{
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use drystone::scene;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::{
    AppError,
    cli::FlyOptions,
    commands,
    content::{Content, Shown},
    output,
    progress::Progress,
};
use route::Route;
use sink::Sink;

/// Draws the source from place to place along a way, every picture whole.
pub(crate) fn run(options: &FlyOptions) -> Result<(), AppError> {
    // What is wrong with the way or the folder is said before a world is read.
    let route = Route::open(&options.way)?;
    let sink = Sink::open(options)?;
    let edits = &options.scene.edits;
    let open = || commands::open_edited(&options.scene.source, edits).map(Arc::from);
    let (content, _) = Content::open(&options.scene, open, &Progress::default())?;
    let views = route.views(&content.framed(), &options.scene, options.frames);
    let mut shown = show(content, options)?;
    let start = Instant::now();
    let is_stopped = stops();
    let commands = sink.fill(views.len(), |n, write| {
        if is_stopped.load(Ordering::Relaxed) {
            return Err(AppError::Stopped { path: options.output.clone() });
        }
        shown.settle(&views[n], options.scene.size)?;
        let (picture, drawn) = shown.picture(&views[n])?;
        write(&picture)?;
        Ok(drawn.commands)
    })?;
    let frame_ms = start.elapsed().as_secs_f64() * 1e3 / views.len() as f64;
    commands::culled_by(shown.renderer());
    report(options, &mut shown, &commands, frame_ms)
}

/// Has Ctrl+C, and a system that ends programs, end the flight before the next picture, so that no
/// part of a file is left: what is returned becomes true then. Asked again, the program ends at once.
fn stops() -> Arc<AtomicBool> {
    /// 128 and the number of the signal.
    const INTERRUPTED: i32 = 130;
    let asked = Arc::new(AtomicBool::new(false));
    let was_asked = Arc::clone(&asked);
    let handled = ctrlc::set_handler(move || {
        if was_asked.swap(true, Ordering::Relaxed) {
            process::exit(INTERRUPTED);
        }
    });
    if let Err(error) = handled {
        output::note(&format!("Ctrl+C may leave a part of the file: {error}"));
    }
    asked
}

/// The content in a renderer as the options want it.
fn show(content: Content, options: &FlyOptions) -> Result<Shown, AppError> {
    let scene = &options.scene;
    let quads = content.quads(scene.meshing(), &Progress::default());
    let room = content.room(&quads);
    let mut renderer = scene::open_renderer(scene.renderer, scene.backend, scene.size, room)?;
    commands::set_cull(renderer.as_mut(), scene.cull)?;
    Ok(Shown::new(content, &quads, scene.meshing(), renderer)?)
}

fn report(
    options: &FlyOptions,
    shown: &mut Shown,
    commands: &[u32],
    frame_ms: f64,
) -> Result<(), AppError> {
    let frames = commands.len();
    let least = commands.iter().min().copied().unwrap_or(0);
    let most = commands.iter().max().copied().unwrap_or(0);
    let (renderer, backend) = (shown.renderer().name(), shown.renderer().backend());
    let path = output::plain(&options.output.display().to_string());
    if options.scene.json {
        let json = json!({
            "output": path, "frames": frames, "least_commands": least, "most_commands": most,
            "frame_ms": frame_ms, "renderer": renderer, "backend": backend,
        });
        return output::print(&format!("{json}\n"));
    }
    output::print(&format!(
        "{path}: {frames} pictures, {least} to {most} draw commands, {frame_ms:.1} ms each, {renderer} on {backend}\n"
    ))
}

/// A bar that shows how many pictures are done; without a terminal it draws nothing.
fn progress(frames: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} pictures, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(frames as u64).with_style(style)
}
