//! Memory of the program while it flies over, or edits, a world that does not fit in memory.

use std::{
    env, fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use drystone::scene::{
    self, BackendKind, Brush, BrushForm, EditSaver, Edited, Editor, MemoryBudget, RendererKind,
    SaveState, Size, VoxelScene,
};
use drystone_render::{Camera, Image, View};
use drystone_store::{CommitPolicy, EditAccess, EditOptions, EditedSource};
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{GeneratedWorld, GeneratorConfig, LodData, LodTree};
use glam::DVec3;

use crate::program::{drystone, scratch};

const MIB: u64 = 1 << 20;
const LIMIT_MIB: u64 = 32;
const FRAMES: usize = 2;
/// Large enough that the visible part takes more than the limit.
const SIZE: [u32; 2] = [960, 540];

/// 16 km × 16 km: from near the ground to far above it.
const PATH_TEXT: &str = "4000,300,4000 4600,200,4600\n7000,500,7200 7600,100,7600\n";

/// Returns the peak memory of a process so far, if the system reports it.
fn peak_bytes(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Maximum duration of a flight.
const LONGEST: Duration = Duration::from_secs(600);

/// Returns the peak memory of a process until it ended successfully.
pub(crate) fn watch(mut process: Child) -> u64 {
    let (mut peak, start) = (0, Instant::now());
    let status = loop {
        // The peak only grows, so the last value before the end counts.
        peak = peak.max(peak_bytes(process.id()).unwrap_or(0));
        if let Some(status) = process.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LONGEST {
            process.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success());
    peak
}

/// Flies without maps of shadows and of the sky, which the limit does not include, and with further options; returns the peak memory and the last picture.
fn fly(way: &Path, output: &Path, words: &[&str]) -> (u64, Image) {
    let [way, folder] = [way, output].map(|path| path.to_str().unwrap());
    let (frames, world) = (FRAMES.to_string(), ["--chunks", "512x16x512", "--levels", "on"]);
    let size = format!("{}x{}", SIZE[0], SIZE[1]);
    let drawing = ["--backend", "soft", "--shadows", "off", "--sky-light", "off"];
    let picture = ["--size", &size, "--frames", &frames];
    let flight = ["fly", "--path", way, "-o", folder];
    let all = [&flight, &world[..], &drawing, &picture, words].concat();
    let peak = watch(drystone(&all).stdout(Stdio::null()).spawn().unwrap());
    (peak, Image::load_png(&output.join(format!("{}.png", FRAMES - 1))).unwrap())
}

#[test]
fn a_flight_stays_within_its_budget() {
    let folder = scratch("memory");
    let way = folder.join("way.txt");
    fs::write(&way, PATH_TEXT).unwrap();
    let limit = LIMIT_MIB.to_string();
    let (bound, coarse) = fly(&way, &folder.join("bound"), &["--memory", &limit]);
    if bound == 0 {
        println!("skipped: this system does not say how much memory a process had");
        return;
    }
    let most = LIMIT_MIB * MIB + MemoryBudget::BASE_BYTES;
    assert!(bound < most, "{} MiB of {}", bound / MIB, most / MIB);
    // With a larger limit, the same flight takes more memory and shows the same land.
    let (free, fine) = fly(&way, &folder.join("free"), &[]);
    assert!(free > most, "only {} MiB", free / MIB);
    println!("{} MiB of {}, {} MiB without", bound / MIB, most / MIB, free / MIB);
    let differs = coarse.difference(&fine, 48).unwrap().pixels;
    assert!(differs < SIZE[0] * SIZE[1] / 3, "{differs} pixels");
}

/// Environment of the test's own editing process: its limit, and its file.
const EDITS: [&str; 2] = ["DRYSTONE_TEST_MEMORY", "DRYSTONE_TEST_EDITS"];
/// Number of balls of the largest brush, each in chunks of its own.
const BALLS: i32 = 180;

/// Edits all over a world of 16 km × 16 km, with the limits of `budget`, or with defaults.
fn edit_a_lot(budget: Option<MemoryBudget>, path: &Path) {
    let all = budget.unwrap_or_default();
    let config = GeneratorConfig::default().with_size_chunks([512, 16, 512]);
    let source = Box::new(GeneratedWorld::new(config).unwrap());
    let policy = all.commit_policy(CommitPolicy::default());
    let source = EditedSource::open(
        source,
        &EditOptions::at(path).with_access(EditAccess::Write).with_policy(policy),
    )
    .unwrap();
    let data = Arc::new(LodData::new(Box::new(source), all.cache_bytes()));
    let tree = LodTree::new(Arc::clone(&data), all.level_config()).unwrap();
    let size = Size { width: 320, height: 240 };
    let (kind, backend) = (RendererKind::Pool, BackendKind::Soft);
    let renderer = scene::open_renderer(kind, backend, size, VoxelScene::CAPACITY).unwrap();
    let mut scene = VoxelScene::new(tree, renderer).unwrap();
    scene.set_max_bytes(all.vertex_bytes());
    let saver = EditSaver::new(data);
    let mut editor = Editor::new(saver).with_history(all.history());
    let brush =
        Brush { form: BrushForm::Ball, radius_voxels: Brush::MAX_RADIUS, ..Brush::default() };
    for ball in 0..BALLS {
        let [x, z] = [ball % 20, ball / 20].map(|n| 4_000 + 80 * n);
        let center = VoxelPos::new(x, 60 + ball % 50, z);
        let eye = DVec3::new(f64::from(x) - 90.0, 160.0, f64::from(z) - 90.0);
        let look = DVec3::new(f64::from(x), 60.0, f64::from(z));
        // Alternating materials, so that rows take more than one run.
        let material = Material(1 + (ball % 2) as u16);
        editor.fill(&mut scene, &brush.shape_at(center), material).unwrap();
        let inner = Brush { radius_voxels: Brush::MAX_RADIUS - 3, ..brush };
        editor.fill(&mut scene, &inner.shape_at(center), Material::AIR).unwrap();
        editor.finish(&mut scene).unwrap();
        scene.draw(&View::new(Camera::look_at(eye, look))).unwrap();
        for _ in 0..3 {
            scene.update(&View::new(Camera::look_at(eye, look)), size).unwrap();
        }
        if ball % 9 == 0 {
            let undone = editor.undo(&mut scene).unwrap();
            let undone = editor.finish(&mut scene).unwrap().unwrap_or(undone);
            assert!(matches!(undone, Edited::Voxels(_)));
        }
    }
    editor.saver().save().unwrap();
    assert_eq!(editor.save_state(), SaveState::Saved);
    assert!(editor.history().undo_count() > 10);
}

#[test]
fn editing_stays_within_its_budget() {
    if let [Ok(limit), Ok(path)] = EDITS.map(env::var) {
        let budget = limit.parse::<u64>().ok().map(|mib| MemoryBudget::new(mib << 20));
        return edit_a_lot(budget, path.as_ref());
    }
    let folder = scratch("memory-edits");
    let edit = |limit: &str| {
        let path = folder.join(format!("edits-{limit}.drystone"));
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "memory::editing_stays_within_its_budget"]);
        command.env(EDITS[0], limit).env(EDITS[1], path).stdout(Stdio::null());
        watch(command.spawn().unwrap())
    };
    let bound = edit(&LIMIT_MIB.to_string());
    if bound == 0 {
        println!("skipped: this system does not say how much memory a process had");
        return;
    }
    let most = LIMIT_MIB * MIB + MemoryBudget::BASE_BYTES;
    let free = edit("none");
    println!("{} MiB of {}, {} MiB without", bound / MIB, most / MIB, free / MIB);
    assert!(bound < most, "{} MiB of {}", bound / MIB, most / MIB);
    assert!(free > most, "only {} MiB", free / MIB);
}
