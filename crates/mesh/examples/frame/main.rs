//! A frame of an engine that draws polygons, whole: two rooms, the door between them, a light that
//! moves and a lamp that does not.
//!
//! ```text
//! cargo run --release -p drystone-mesh --example frame -- frame.ppm
//!
//!  near room ──frustum──► visible ─┬─────────────────────────► dim  ┐ transform each
//!                                  └──pyramid of the light───► lit  │ vertex once, then
//!  door ──frustum──► opening ──┐                                    │ triangulate, then
//!  far room ───────────────────┴─portal──► visible ──────────► dim  │ draw
//!     └──pyramid of the lamp──► lit parts, kept ──portal─────► lit  ┘
//! ```
//! Everything visible is a polygon of the scene or a temporary part, which the end of the frame frees.
//! The lamp keeps its lit parts until it moves. Rooms are convex, so no depth buffer is needed.
//! There are no shadows, and light stays in its room. The software rasteriser draws a small picture;
//! a program with a GPU would upload the same vertices and triangles.
//!
//! Source: Jacco Bikker's article on polygonal data, which manages polygons for such an engine. The
//! table `polygons` of `drystone-bench` measures the same code as its case `frame`.

mod engine;
mod picture;
mod rooms;
mod view;

use std::{env, error::Error, fs};

use engine::{Engine, EngineOptions, LampParts, Transforms, Triangulation};
use picture::Picture;
use view::{SIZE, Spot, TURN_FRAMES};

/// Tiles along a side of a wall.
const SIDE: usize = 16;
/// Frame of the picture.
const PICTURED: u32 = 5;
/// Frame in which the lamp moves.
const LAMP_MOVES: u32 = 24;

fn main() -> Result<(), Box<dyn Error>> {
    let default = EngineOptions::default();
    let per_polygon = EngineOptions { transforms: Transforms::PerPolygon, ..default };
    let early = EngineOptions { triangulation: Triangulation::Early, ..default };
    let every_frame = EngineOptions { lamp_parts: LampParts::EveryFrame, ..default };
    for (name, options) in [
        ("as in the article", default),
        ("transformed per polygon", per_polygon),
        ("triangulated early", early),
        ("lamp parts of a frame", every_frame),
    ] {
        let mut engine = Engine::new(SIDE, Spot::lamp(0), options)?;
        let mut sums = [0; 3];
        for frame in 0..TURN_FRAMES {
            if frame == LAMP_MOVES {
                engine.set_lamp(Spot::lamp(1))?;
            }
            engine.draw(frame)?;
            let triangles = engine.buffer.triangles.len();
            let counts = [engine.transform_count as usize, engine.polygon_count(), triangles];
            sums = [0, 1, 2].map(|n| sums[n] + counts[n]);
            // Both rooms cover the picture without a gap.
            let [far, _, near, _] = engine.buffer.areas();
            let share = (far + near) / f64::from(SIZE[0] * SIZE[1]);
            assert!((share - 1.0).abs() < 1e-4, "frame {frame} covers {share} of the picture");
            if let Some(path) = env::args_os().nth(1)
                && (frame, options) == (PICTURED, default)
            {
                fs::write(path, Picture::draw(&engine.buffer).to_ppm())?;
            }
        }
        let [transforms, polygons, triangles] = sums.map(|sum| sum / TURN_FRAMES as usize);
        println!(
            "{name}: {transforms} transforms, {polygons} polygons, {triangles} triangles a frame"
        );
    }
    Ok(())
}
