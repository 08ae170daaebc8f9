//! Your own vertex format, your own shader and your own pipeline on a [`VertexPool`]: what an
//! engine that has all that already needs of `drystone-pool`, and nothing else.
//!
//! ```text
//! cargo run --release -p drystone-render --example own_vertices -- -o crystals.png [--frames N]
//!
//!  garden.rs    400 meshes, an eighth of which change in every frame       (your game)
//!  engine.rs    wgpu: device, pipeline, picture; draws commands            (your engine)
//!  buffers.rs   the pool's `Backend` over that device's buffers            (the glue)
//!  main.rs      the frame loop: which call of the pool comes when
//! ```
//! An *element* of this pool is a triangle: three vertices of position and colour. The vertex
//! buffer of the draw is a buffer of the pool; what differs from mesh to mesh comes in as a
//! second vertex buffer that moves on by instance, so that a command's `first_instance` picks
//! the mesh's. Nothing of drystone's voxels, shaders or renderers is used; `drystone-render`
//! gives the PNG file and hosts the example.

mod buffers;
mod engine;
mod garden;

use std::{error::Error, ffi::OsString, path::PathBuf};

use drystone_pool::{Config, DrawList, MeshHandle, MoveBudget, PartSet, VertexPool};
use drystone_render::Image;

use self::{
    buffers::Buffers,
    engine::{Engine, Triangle},
    garden::{MAX_TRIANGLES, Place, Shape},
};

/// Crystals a side.
const SIDE: u32 = 20;
/// Frames that may be on their way to the GPU: the loop waits for it when it is behind.
const FRAMES_IN_FLIGHT: u64 = 2;

/// The pool, the list of what is drawn, and the glue between them and the engine.
struct Garden {
    pool: VertexPool<Triangle, Place>,
    list: DrawList,
    buffers: Buffers,
    /// Of each crystal, while there is one.
    meshes: Vec<Option<MeshHandle>>,
    /// What crystals are made in, again and again.
    scratch: Vec<Triangle>,
    replaced: u32,
}

impl Garden {
    fn new(engine: &Engine) -> Result<Self, Box<dyn Error>> {
        let config = Config {
            // A triangle is three indices, which count three vertices.
            indices_per_element: 3,
            vertices_per_element: 3,
            // The engine's index buffer is as long as the largest mesh.
            pattern_elements: MAX_TRIANGLES,
            min_buffer_elements: 4096,
            ..Config::default()
        };
        Ok(Self {
            pool: VertexPool::new(config)?,
            list: DrawList::new(),
            buffers: Buffers::new(engine, size_of::<Place>()),
            meshes: vec![None; (SIDE * SIDE) as usize],
            scratch: Vec::new(),
            replaced: 0,
        })
    }

    /// Makes every crystal that looks otherwise than before as it is in this frame.
    fn update(&mut self, frame: u32, all: bool) -> Result<(), Box<dyn Error>> {
        for number in 0..SIDE * SIDE {
            if all || Shape::changes(number, frame) {
                self.set(number, Shape::at(number, frame))?;
            }
        }
        Ok(())
    }

    /// Puts a crystal where there was none, in another's place, or takes it away. Where the
    /// pool is full, `insert` and `replace` say so, and what was there stays.
    fn set(&mut self, number: u32, shape: Option<Shape>) -> Result<(), Box<dyn Error>> {
        let Self { pool, list, buffers, scratch, .. } = self;
        let mesh = &mut self.meshes[number as usize];
        match (shape, *mesh) {
            (Some(shape), old) => {
                shape.fill(scratch);
                // One part: all triangles are drawn or none. Up to eight can be masked apart.
                let parts = [scratch.len() as u32];
                let place = Place::of(number, SIDE);
                if let Some(old) = old {
                    pool.replace(old, scratch, &parts, place, buffers)?;
                    self.replaced += 1;
                } else {
                    let new = pool.insert(scratch, &parts, place, buffers)?;
                    list.insert(new)?;
                    *mesh = Some(new);
                }
            }
            (None, Some(old)) => {
                // The list drops it by itself.
                pool.remove(old)?;
                *mesh = None;
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// One frame: what is done is told to the pool, commands are made and drawn, and that is
    /// told to the pool.
    fn draw(&mut self, engine: &mut Engine) -> Result<u32, Box<dyn Error>> {
        let Self { pool, list, buffers, .. } = self;
        // 1. Which frames is the GPU done with? Polled; what only they could read is free now.
        pool.frames_completed(engine.completed()?, buffers);
        // 2. What is seen: here what is within a circle. A frustum test would stand here.
        list.mask(pool, |place| if place.is_inside() { PartSet::ALL } else { PartSet::EMPTY });
        // 3. One indirect call for each buffer that the pool has.
        let (runs, commands) = list.runs(pool);
        engine.draw(buffers, runs, commands)?;
        let drawn = commands.len() as u32;
        // 4. All that was written and taken so far belongs to this frame.
        pool.frame_submitted(engine.submitted());
        // 5. As many frames ahead of the GPU as you like; it is you who waits, not the pool.
        engine.wait_for(engine.submitted().saturating_sub(FRAMES_IN_FLIGHT))?;
        Ok(drawn)
    }

    /// Closes the gaps that removed meshes left: at most a MiB of copies a frame.
    fn defragment(&mut self, engine: &mut Engine) -> Result<u64, Box<dyn Error>> {
        let mut moved_bytes = 0;
        for _ in 0..100 {
            let moved = self.pool.defragment(&MoveBudget::default(), &mut self.buffers);
            moved_bytes += moved.bytes;
            self.draw(engine)?;
            if moved.is_done {
                break;
            }
        }
        Ok(moved_bytes)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (path, frames) = arguments(std::env::args_os().skip(1))?;
    let mut engine = Engine::open(960, 540)?;
    let mut garden = Garden::new(&engine)?;
    garden.update(0, true)?;
    let mut drawn = garden.draw(&mut engine)?;
    for frame in 1..=frames {
        garden.update(frame, false)?;
        drawn = garden.draw(&mut engine)?;
    }
    let moved_bytes = garden.defragment(&mut engine)?;
    picture(&engine)?.save_png(&path)?;
    let stats = garden.pool.stats();
    println!(
        "{}: {}: {drawn} commands in {} calls a frame; {frames} frames, {} meshes replaced, \
         {} triangles in {} places, {moved_bytes} bytes moved",
        path.display(),
        engine.name(),
        stats.buffers,
        garden.replaced,
        stats.used,
        stats.capacity,
    );
    Ok(())
}

fn picture(engine: &Engine) -> Result<Image, Box<dyn Error>> {
    let (width, height, rgba) = engine.read_picture()?;
    Ok(Image::from_rgba(width, height, rgba).ok_or("the picture is cut short")?)
}

/// The picture's path and the number of frames.
fn arguments(mut words: impl Iterator<Item = OsString>) -> Result<(PathBuf, u32), Box<dyn Error>> {
    let (mut path, mut frames) = (PathBuf::from("own_vertices.png"), 120);
    while let Some(word) = words.next() {
        let value = words.next().ok_or("usage: own_vertices [-o FILE.png] [--frames N]")?;
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

#[cfg(test)]
mod tests;
