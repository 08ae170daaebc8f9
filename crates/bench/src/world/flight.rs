use std::time::{Duration, Instant};

use drystone::scene::{self, VoxelScene};
use drystone_render::{DrawStats, View};
use drystone_world::LodTree;
use glam::DVec3;

use super::{NAME, vast};
use crate::{Error, Failure, Figure, Run, rounds::thread_cpu_ns};

const FRAMES_PER_SECOND: u32 = 60;
/// Names of the cases, which are also the metrics, with their units.
const CASES: [(&str, &str); 5] = [
    ("frame-p50", "us/frame"),
    ("frame-p99", "us/frame"),
    ("frame-max", "us/frame"),
    ("frame-chunks", "count"),
    ("frame-commands", "count"),
];

/// Flies once, and adds the figures of the frames.
pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    if !CASES.iter().any(|(case, _)| run.options.selects(case)) {
        return Ok(());
    }
    let flight = vast::scene().and_then(|scene| fly(scene, run.options.size(60, 2)));
    let flight = flight.map_err(|failure| run.error("frame", failure))?;
    let [p50, p99, max] = [50, 99, 100].map(|part| flight.time_us(part));
    let values = [p50, p99, max, flight.max.meshes.into(), flight.max.commands.into()];
    for ((case, unit), value) in CASES.into_iter().zip(values) {
        if run.options.selects(case) {
            run.push_once(case, NAME, Figure::new(case, unit, value));
        }
    }
    Ok(())
}

pub(super) struct Flight {
    /// CPU times of frames, in ascending order.
    times_us: Vec<f64>,
    /// Largest value of a frame.
    max: DrawStats,
}

impl Flight {
    /// Returns the time of a frame that this percentage of the frames do not exceed.
    pub(super) fn time_us(&self, percent: usize) -> f64 {
        let last = self.times_us.len().saturating_sub(1);
        self.times_us.get(last * percent / 100).copied().unwrap_or_default()
    }
}

/// Returns the camera after `time` seconds. It flies twenty seconds at 100 m/s in bends and twenty
/// seconds at 200 to 400 m/s. Then it jumps to the other end of the world and flies low over the
/// ground.
fn camera_at(time: f64) -> [DVec3; 2] {
    let path = |time: f64| {
        let bend = DVec3::new(0.0, 40.0 * (time * 0.4).sin(), 300.0 * (time * 0.25).sin());
        bend + match time {
            ..20.0 => DVec3::new(2_000.0 + 100.0 * time, 420.0, 4_000.0),
            ..40.0 => {
                let since = time - 20.0;
                DVec3::new(4_000.0 + (200.0 + 5.0 * since) * since, 420.0, 4_000.0)
            }
            _ => DVec3::new(14_000.0 - 100.0 * (time - 40.0), 380.0, 13_000.0),
        }
    };
    let (position, direction) = (path(time), path(time + 1e-3) - path(time));
    // The camera turns while it flies.
    let turn = glam::DQuat::from_rotation_y(0.8 * (time * 0.7).sin());
    let ahead = turn * DVec3::new(direction.x, 0.0, direction.z).normalize_or(DVec3::X);
    [position, position + ahead - DVec3::new(0.0, 0.25, 0.0)]
}

/// Flies in real time, and checks what is shown in the end.
pub(super) fn fly(mut scene: VoxelScene, seconds: u32) -> Result<Flight, Failure> {
    let count = seconds * FRAMES_PER_SECOND;
    let mut flight = Flight { times_us: Vec::new(), max: DrawStats::default() };
    let start = Instant::now();
    let mut last_view = None;
    for frame in 0..count {
        // A short flight visits all parts, too.
        let time = f64::from(frame) / f64::from(count) * 60.0;
        let [position, target] = camera_at(time);
        let view = vast::view(scene.tree().data(), position, target);
        let start_ns = thread_cpu_ns();
        scene.update(&view, vast::SIZE)?;
        let drawn = scene.draw(&view)?;
        flight.times_us.push((thread_cpu_ns() - start_ns) / 1e3);
        flight.max.meshes = flight.max.meshes.max(drawn.meshes);
        flight.max.commands = flight.max.commands.max(drawn.commands);
        last_view = Some(view);
        let next = Duration::from_secs(1) * (frame + 1) / FRAMES_PER_SECOND;
        std::thread::sleep(next.saturating_sub(start.elapsed()));
    }
    let view = last_view.ok_or("no frame was flown")?;
    if flight.max.commands == 0 {
        return Err("nothing was drawn".into());
    }
    check(&mut scene, &view, seconds >= 60)?;
    flight.times_us.sort_by(f64::total_cmp);
    Ok(flight)
}

/// Checks that each position of the world is covered once. If `waits` is set, first waits for all
/// meshes, and then also checks the levels.
fn check(scene: &mut VoxelScene, view: &View, waits: bool) -> Result<(), Failure> {
    if waits {
        scene.settle(view, vast::SIZE, |_| {})?;
    }
    let tree = scene.tree();
    let volume = |level: u8| 1u128 << (3 * u32::from(level));
    let roots = tree.data().roots();
    let whole: u128 = roots.iter().map(|root| volume(root.level)).sum();
    let found: u128 = inside_volume(tree);
    let expected =
        tree.data().extent().map_or(0, |it| it.size_chunks().into_iter().map(u128::from).product());
    if whole < expected || found != expected {
        return Err(format!("{found} chunks are covered, not {expected}").into());
    }
    let camera = scene::lod_camera(view, vast::SIZE);
    let (max_pixels, min_pixels) = {
        let config = tree.config();
        (config.max_voxel_pixels, config.max_voxel_pixels * config.hysteresis)
    };
    let is_coarsened = scene.coarsening() > 1.0;
    for node in tree.shown() {
        let is_air = || tree.data().chunk(node).is_empty();
        let is_coarse = node.level > 0 && camera.voxel_pixels(node) > max_pixels && !is_air();
        let is_top = node.level == tree.data().top_level();
        let is_fine = !is_top && camera.voxel_pixels(node.parent()) < min_pixels;
        if waits && !is_coarsened && (is_coarse || is_fine) {
            return Err(format!("{node:?} has the wrong level of detail").into());
        }
    }
    Ok(())
}

/// Returns the number of chunks of level 0 in the world that are covered. A chunk counts once for
/// each node that covers it.
fn inside_volume(tree: &LodTree) -> u128 {
    let Some(extent) = tree.data().extent() else { return 0 };
    let [min, max] = [extent.min, extent.max].map(|c| [c.x, c.y, c.z].map(i64::from));
    let covered = |node: drystone_voxel::NodePos| -> u128 {
        let low = [node.chunk.x, node.chunk.y, node.chunk.z].map(|c| i64::from(c) << node.level);
        (0..3)
            .map(|axis| {
                let end = (low[axis] + (1 << node.level)).min(max[axis] + 1);
                (end - low[axis].max(min[axis])).max(0) as u128
            })
            .product()
    };
    tree.shown().map(covered).sum()
}
