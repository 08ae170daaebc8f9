//! A height map that changes in every frame: a crater wanders over an island, and the ground
//! closes behind it. The heights are divided into tiles, each a mesh in the pool. A tile whose
//! heights have changed is rebuilt and replaced, and its old allocation is freed.
//!
//! ```text
//! cargo run --release --example height_map -- -o out.png [--frames N]
//! ```
//! N frames are drawn, and the last one is written. The grid of a tile is as coarse as its heights
//! allow: the sea takes two triangles per tile, the crater's rim two thousand. Meshes grow and shrink
//! as the crater passes, so the pool needs ranges of any size. Each mesh has a skirt that hides gaps
//! between grids of different resolutions.
//!
//! The viewer shows the same land in every frame as voxels, on any backend: `drystone --scene crater`.

mod pictured;
mod tile;

use std::{
    error::Error,
    path::PathBuf,
    time::{Duration, Instant},
};

use drystone_render::{PoolRenderer, SoftDevice};
use drystone_world::CraterLand;
use pictured::Pictured;

/// Tiles per side.
const TILES: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let (path, frames) = arguments(std::env::args_os().skip(1))?;
    let mut terrain = CraterLand::new(TILES);
    let renderer = PoolRenderer::new(SoftDevice::new(960, 540)?, 0, 8)?;
    let mut pictured = Pictured::new(&terrain, Box::new(renderer))?;
    let (mut replaced, mut max_reserved_bytes) = (0, pictured.held().reserved_bytes);
    let mut changing = Duration::ZERO;
    let mut drawn = pictured.renderer.draw(&pictured.view)?;
    for frame in 1..=frames {
        let start = Instant::now();
        let changed = terrain.set_frame(frame);
        replaced += pictured.update(&terrain, &changed)?;
        changing += start.elapsed();
        drawn = pictured.renderer.draw(&pictured.view)?;
        max_reserved_bytes = max_reserved_bytes.max(pictured.held().reserved_bytes);
    }
    pictured.renderer.read_image()?.save_png(&path)?;
    let frame_us = changing.as_secs_f64() * 1e6 / f64::from(frames.max(1));
    println!(
        "{}: {} triangles in {} commands; {frames} frames: {replaced} tiles replaced, {frame_us:.0} us per frame to update them, {} bytes in use, at most {max_reserved_bytes} reserved",
        path.display(),
        drawn.triangles,
        drawn.commands,
        pictured.held().used_bytes
    );
    Ok(())
}

/// Returns the picture's path and the number of frames.
fn arguments(
    mut words: impl Iterator<Item = std::ffi::OsString>,
) -> Result<(PathBuf, u32), Box<dyn Error>> {
    let (mut path, mut frames) = (PathBuf::from("height_map.png"), CraterLand::TURN_FRAMES);
    while let Some(word) = words.next() {
        let value = words.next().ok_or("usage: height_map [-o FILE.png] [--frames N]")?;
        match word.to_str() {
            Some("-o") => path = value.into(),
            Some("--frames") => {
                frames =
                    value.to_str().and_then(|n| n.parse().ok()).ok_or("--frames takes a number")?;
            }
            _ => return Err(format!("unknown option {}", word.display()).into()),
        }
    }
    Ok((path, frames))
}
