//! What the program takes of memory while it flies over a world that none could hold.

use std::{fs, path::Path, process::Stdio, time::Duration};

use drystone::scene::MemoryBudget;
use drystone_render::Image;

use crate::program::{drystone, scratch};

const MIB: u64 = 1 << 20;
const LIMIT_MIB: u64 = 32;
const FRAMES: usize = 2;
/// Large enough that what is seen takes more than the limit.
const SIZE: [u32; 2] = [960, 540];

/// 16 km × 16 km: from near the ground to far above it.
const WAY: &str = "4000,300,4000 4600,200,4600\n7000,500,7200 7600,100,7600\n";

/// The most memory that a process has had so far, where the system tells.
fn peak_bytes(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Flies with further words; the most memory that it took, and the last picture.
fn fly(way: &Path, output: &Path, words: &[&str]) -> (u64, Image) {
    let [way, folder] = [way, output].map(|path| path.to_str().unwrap());
    let (frames, world) = (FRAMES.to_string(), ["--chunks", "512x16x512", "--levels", "on"]);
    let size = format!("{}x{}", SIZE[0], SIZE[1]);
    let picture = ["--backend", "soft", "--size", &size, "--frames", &frames];
    let all = [&["fly", "--path", way, "-o", folder], &world[..], &picture[..], words].concat();
    let mut flying = drystone(&all).stdout(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        // It never becomes less, so the last look before the end counts.
        peak = peak.max(peak_bytes(flying.id()).unwrap_or(0));
        if let Some(status) = flying.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success());
    (peak, Image::load_png(&output.join(format!("{}.png", FRAMES - 1))).unwrap())
}

#[test]
fn a_flight_stays_within_its_budget() {
    let folder = scratch("memory");
    let way = folder.join("way.txt");
    fs::write(&way, WAY).unwrap();
    let limit = LIMIT_MIB.to_string();
    let (bound, coarse) = fly(&way, &folder.join("bound"), &["--memory", &limit]);
    if bound == 0 {
        println!("skipped: this system does not say how much memory a process had");
        return;
    }
    let most = LIMIT_MIB * MIB + MemoryBudget::BASE_BYTES;
    assert!(bound < most, "{} MiB of {}", bound / MIB, most / MIB);
    // The same flight takes more where it may, and shows the same land.
    let (free, fine) = fly(&way, &folder.join("free"), &[]);
    assert!(free > most, "only {} MiB", free / MIB);
    println!("{} MiB of {}, {} MiB without", bound / MIB, most / MIB, free / MIB);
    let differs = coarse.difference(&fine, 48).unwrap().pixels;
    assert!(differs < SIZE[0] * SIZE[1] / 3, "{differs} pixels");
}
