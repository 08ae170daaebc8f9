//! A custom vertex format, shader and pipeline on a [`VertexPool`]. This is all that an existing
//! engine needs of `drystone-pool`.
//!
//! ```text
//! cargo run --release -p drystone-render --example own_vertices -- -o crystals.png [--frames N]
//!
//! garden.rs    400 meshes; one in eight changes in every frame       (the game)
//! engine.rs    wgpu: device, pipeline, picture; draws commands         (the engine)
//! buffers.rs   the pool's `Backend` over that device's buffers         (the glue)
//! main.rs      the frame loop: when to call each function of the pool
//! ```
//! An *element* of this pool is a triangle: three vertices of position and colour. The draw reads a
//! buffer of the pool as its vertex buffer. Data that differs from mesh to mesh is in a second
//! vertex buffer that advances by instance, so a command's `first_instance` selects the mesh's
//! data. Voxels, shaders and renderers of drystone are not used; `drystone-render` writes the PNG
//! file and hosts the example.

mod buffers;
mod engine;
mod garden;

use std::{error::Error, ffi::OsString, path::PathBuf};

use drystone_pool::{DrawList, MeshHandle, MoveBudget, PartSet, PoolConfig, VertexPool};
use drystone_render::Image;

use self::{
    buffers::Buffers,
    engine::{Engine, Triangle},
    garden::{CrystalData, MAX_TRIANGLES, Shape},
};

/// Number of crystals along each side.
const SIDE: u32 = 20;
/// Maximum number of frames in flight: the loop waits for the GPU beyond it.
const FRAMES_IN_FLIGHT: u64 = 2;

/// The pool, the draw list, and their connection to the engine.
struct Garden {
    pool: VertexPool<Triangle, CrystalData>,
    list: DrawList,
    buffers: Buffers,
    /// Handle of each crystal, if it exists.
    meshes: Vec<Option<MeshHandle>>,
    /// Memory for new crystals, reused.
    scratch: Vec<Triangle>,
    replaced: u32,
}

impl Garden {
    fn new(engine: &Engine) -> Result<Self, Box<dyn Error>> {
        let config = PoolConfig {
            // A triangle has three indices, for three vertices.
            indices_per_element: 3,
            vertices_per_element: 3,
            // The engine's index buffer is as long as the largest mesh.
            pattern_elements: MAX_TRIANGLES,
            min_buffer_elements: 4096,
            ..PoolConfig::default()
        };
        Ok(Self {
            pool: VertexPool::new(config)?,
            list: DrawList::new(),
            buffers: Buffers::new(engine, size_of::<CrystalData>()),
            meshes: vec![None; (SIDE * SIDE) as usize],
            scratch: Vec::new(),
            replaced: 0,
        })
    }

    /// Updates every crystal that differs in this frame.
    fn update(&mut self, frame: u32, all: bool) -> Result<(), Box<dyn Error>> {
        for number in 0..SIDE * SIDE {
            if all || Shape::changes(number, frame) {
                self.set(number, Shape::at(number, frame))?;
            }
        }
        Ok(())
    }

    /// Inserts, replaces or removes a crystal. If the pool is full, `insert` and `replace` return
    /// an error, and the old crystal remains.
    fn set(&mut self, number: u32, shape: Option<Shape>) -> Result<(), Box<dyn Error>> {
        let Self { pool, list, buffers, scratch, .. } = self;
        let mesh = &mut self.meshes[number as usize];
        match (shape, *mesh) {
            (Some(shape), old) => {
                shape.fill(scratch);
                // One part: all triangles are drawn or none. Up to eight parts can be masked
                // separately.
                let parts = [scratch.len() as u32];
                let data = CrystalData::of(number, SIDE);
                if let Some(old) = old {
                    pool.replace(old, scratch, &parts, data, buffers)?;
                    self.replaced += 1;
                } else {
                    let new = pool.insert(scratch, &parts, data, buffers)?;
                    list.insert(new)?;
                    *mesh = Some(new);
                }
            }
            (None, Some(old)) => {
                // The list drops the stale handle itself.
                pool.remove(old)?;
                *mesh = None;
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// Draws one frame: reports completed frames to the pool, draws the commands, and reports the
    /// submitted frame.
    fn draw(&mut self, engine: &mut Engine) -> Result<u32, Box<dyn Error>> {
        let Self { pool, list, buffers, .. } = self;
        // 1. Report the frames that the GPU has completed (polled). Ranges that only they could
        // read become free.
        pool.frames_completed(engine.completed()?, buffers);
        // 2. Mask the meshes: here by a circle. A real program would test the frustum here.
        list.mask(pool, |crystal| if crystal.is_inside() { PartSet::ALL } else { PartSet::EMPTY });
        // 3. Issue one indirect call for each buffer of the pool.
        let (runs, commands) = list.runs(pool);
        engine.draw(buffers, runs, commands)?;
        let drawn = commands.len() as u32;
        // 4. All writes and frees so far belong to this frame.
        pool.frame_submitted(engine.submitted());
        // 5. Choose the number of frames in flight; the program waits, not the pool.
        engine.wait_for(engine.submitted().saturating_sub(FRAMES_IN_FLIGHT))?;
        Ok(drawn)
    }

    /// Closes the gaps of removed meshes, with at most 1 MiB of copies a frame.
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
         {} of {} allocated triangles used, {moved_bytes} bytes moved",
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
    Ok(Image::from_rgba(width, height, rgba).ok_or("the picture is truncated")?)
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
