//! `fly`: pictures along a camera path.

mod animation;
mod route;
mod sink;

use std::{sync::atomic::Ordering, time::Instant};

use drystone::{Framed, Progress, Shown};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::{AppError, cli::FlyOptions, commands, output, source};
use route::Route;
use sink::Sink;

/// Draws the source along a camera path. Every picture is settled before it is drawn. A moving scene
/// is one frame further in each picture.
pub(crate) fn run(options: &FlyOptions) -> Result<(), AppError> {
    // Errors in the path or the folder are reported before the world is read.
    let route = Route::open(&options.camera_path)?;
    let sink = Sink::open(options)?;
    let scene = &options.scene;
    let opened = source::open_edited(&scene.source, &scene.edits)?;
    let content = source::read(opened, scene, &Progress::default())?;
    let views = route.views(&Framed::new(&content), &scene.view_options(), options.frames);
    let renderer = commands::open_renderer(&content, scene)?;
    let mut shown = commands::show(content, scene, renderer)?;
    let start = Instant::now();
    let is_stopped = commands::stop_on_signal();
    let commands = sink.fill(views.len(), |n, write| {
        if is_stopped.load(Ordering::Relaxed) {
            return Err(AppError::Stopped { path: options.output.clone() });
        }
        if n > 0 {
            shown.advance()?;
        }
        shown.settle(&views[n], options.scene.camera.size)?;
        let (picture, drawn) = shown.picture(&views[n])?;
        write(&picture)?;
        Ok(drawn.commands)
    })?;
    let frame_ms = start.elapsed().as_secs_f64() * 1e3 / views.len() as f64;
    commands::note_faults(&shown);
    commands::culled_by(shown.renderer());
    report(options, &mut shown, &commands, frame_ms)
}

fn report(
    options: &FlyOptions,
    shown: &mut Shown,
    commands: &[u32],
    frame_ms: f64,
) -> Result<(), AppError> {
    let frames = commands.len();
    let min = commands.iter().min().copied().unwrap_or(0);
    let max = commands.iter().max().copied().unwrap_or(0);
    let (renderer, backend) = (shown.renderer().name(), shown.renderer().output().describe());
    let path = output::plain(&options.output.display().to_string());
    if options.scene.json {
        let json = json!({
            "output": path, "frames": frames, "least_commands": min, "most_commands": max,
            "frame_ms": frame_ms, "renderer": renderer, "backend": backend,
        });
        return output::print(&format!("{json}\n"));
    }
    output::print(&format!(
        "{path}: {frames} pictures, {min} to {max} draw commands, {frame_ms:.1} ms each, {renderer} on {backend}\n"
    ))
}

/// Creates the progress bar; without a terminal it draws nothing.
fn progress(frames: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} pictures, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(frames as u64).with_style(style)
}
