//! A spot light that orbits in a hall. In each frame the hall's polygons are clipped against the
//! pyramid of the light's cone. The results are temporary polygons, which share all vertices except
//! at the cuts with the originals. They are drawn brightly over these and freed after the frame.
//!
//! ```text
//! cargo run --release --example light -- FOLDER      four pictures there, then 10,000 frames
//! ```
//! The lit portions lie in the planes of the dim polygons below them. To avoid depth fighting, a
//! portion is drawn a 1024th of its distance nearer to the camera. Each corner moves along its line of
//! sight, so it covers the same pixels, and the depth differs by far more than rounding errors.
//!
//! There are no shadows: the light reaches all front faces in its pyramid.

mod hall;

use std::{error::Error, path::PathBuf};

use drystone_render::{PoolRenderer, Renderer, SoftDevice};
use hall::{Hall, Lamp, Pictured, TURN_FRAMES};

/// Frames in which the store must not grow.
const FRAMES: u32 = 10_000;
/// Pictures of one turn of the lamp.
const PICTURES: u32 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let mut hall = Hall::new()?;
    let renderer = PoolRenderer::new(SoftDevice::new(960, 540)?, 0, 8)?;
    let mut pictured = Pictured::new(&hall, Box::new(renderer) as Box<dyn Renderer>)?;
    for number in 0..PICTURES {
        hall.light(&Lamp::at(number * TURN_FRAMES / PICTURES))?;
        let path = folder.join(format!("light-{number}.png"));
        pictured.draw(&hall)?.save_png(&path)?;
        println!("{}: {} polygons lit", path.display(), hall.lit().len());
        hall.end_frame();
    }
    let report = hall.turn_for(FRAMES)?;
    println!(
        "{FRAMES} frames, {} lit portions: {} bytes in the store before and after, {} reserved",
        report.portions, report.bytes, report.reserved_bytes
    );
    Ok(())
}
