//! Table `flight-memory`: vertex memory during a flight of ten minutes over 16 km, and afterwards at home.
//!
//! Time is simulated: a frame stands for a sixtieth of a second, however long it takes. One thread makes
//! meshes for about 4 ms of each frame, so a faster machine shows more of them. The device draws nothing.
//! - `reserved` is the largest ratio of reserved to live vertex memory in any frame after the first ten
//!   seconds.
//! - `memory` is the largest reserved vertex memory of any frame, and `live` what meshes used of it then.
//! - `moved` is the largest number of bytes that defragmentation moved in a frame.
//! - `home` is the ratio of reserved to live memory 60 s after the camera has come back to its start.

use std::time::Duration;

use drystone::scene::VoxelScene;
use glam::DVec3;

use super::{NAME, vast};
use crate::{Error, Failure, Figure, Run};

const CASE: &str = "flight";
const FRAMES_PER_SECOND: u32 = 60;
/// Duration of the flight, and of the stay at home, in seconds.
const SECONDS: [u32; 2] = [600, 60];
const QUICK_SECONDS: [u32; 2] = [12, 2];
/// Seconds at the start that do not count: most of the world appears in them.
const FIRST_SECONDS: u32 = 10;
/// Time for which this thread makes meshes in each frame, if any are missing.
const MESHING_TIME: Duration = Duration::from_millis(4);

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let seconds = run.options.size(SECONDS, QUICK_SECONDS);
    let Some(figures) = run.prepare(CASE, || fly(&mut vast::scene_without_threads()?, seconds))?
    else {
        return Ok(());
    };
    figures.into_iter().for_each(|figure| run.push_once(CASE, NAME, figure));
    Ok(())
}

/// Returns the camera at a part of the flight, 0 to 1: a loop around the middle of the world, low and high.
fn camera_at(part: f64) -> [DVec3; 2] {
    let at = |part: f64| {
        let angle = part * std::f64::consts::TAU;
        let height = 450.0 - 130.0 * (9.0 * angle).cos();
        let radius = 5_500.0 + 1_500.0 * (3.0 * angle).sin();
        DVec3::new(8_000.0 + radius * angle.cos(), height, 8_000.0 + radius * angle.sin())
    };
    let (position, next) = (at(part), at(part + 1e-4));
    let ahead = (next - position).normalize_or(DVec3::X);
    [position, position + ahead - DVec3::new(0.0, 0.3, 0.0)]
}

fn fly(scene: &mut VoxelScene, [flight, home]: [u32; 2]) -> Result<Vec<Figure>, Failure> {
    let frames = flight * FRAMES_PER_SECOND;
    let (mut ratio, mut largest, mut live, mut moved) = (0.0_f64, 0, 0, 0);
    let mut last = 0.0;
    for frame in 0..frames + home * FRAMES_PER_SECOND {
        // At the end of the loop, the camera is at its start again.
        let [position, target] = camera_at(f64::from(frame.min(frames)) / f64::from(frames));
        let view = vast::view(scene.tree().data(), position, target);
        scene.update_for(&view, vast::SIZE, MESHING_TIME)?;
        scene.draw(&view)?;
        let stats = scene.renderer().pool().ok_or("the renderer has no pool")?.stats();
        moved = moved.max(stats.last_frame.moved_bytes);
        if stats.capacity_bytes > largest {
            (largest, live) = (stats.capacity_bytes, stats.used_bytes);
        }
        last = stats.capacity_bytes as f64 / stats.used_bytes.max(1) as f64;
        if frame >= FIRST_SECONDS * FRAMES_PER_SECOND {
            ratio = ratio.max(last);
        }
    }
    let tree = scene.tree();
    if tree.shown_solid().count() < 100 || (home >= SECONDS[1] && !tree.is_settled()) {
        return Err(format!("not everything is shown at home: {tree:?}").into());
    }
    Ok(vec![
        Figure::new("reserved", "of live", ratio),
        Figure::new("memory", "bytes", largest as f64),
        Figure::new("live", "bytes", live as f64),
        Figure::new("moved", "bytes/frame", moved as f64),
        Figure::new("home", "of live", last),
    ])
}
