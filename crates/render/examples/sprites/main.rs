//! Sprites in layers on a [`VertexPool`]: a park of 3,000 things. Each is a mesh of a few sprites,
//! masked, sorted and blended. Some change in every frame, and the view moves.
//!
//! ```text
//! cargo run --release -p drystone-render --example sprites -- -o park.png [--frames N]
//!
//! park.rs      the scene: ponds, trees, mushrooms, clouds             (the game)
//! painter.rs   the pool's `Backend` in plain memory, and a painter    (the engine)
//! main.rs      the park in a pool: masks, sort keys, frames
//! ```
//! A thing has two parts: its shadow and its body. One list of all things has two views: first the
//! shadows, which lie on the ground, then the bodies by layer and from far to near. The example
//! needs no GPU: the painter reads the commands like a vertex shader. On a GPU, blended sprites are
//! drawn in this order with one indirect call for each run of commands that read the same buffer;
//! `drystone-wgpu` has such a backend.
//!
//! The last picture is painted a second time without pool and lists, thing by thing, and must be
//! equal, byte for byte.

mod painter;
mod park;

use std::{error::Error, ffi::OsString, path::PathBuf};

use drystone_pool::{DrawList, DrawView, MeshHandle, PoolConfig, VertexPool};
use drystone_render::Image;

use self::{
    painter::Painter,
    park::{BODY, Park, SHADOW, Sprite, Thing, View},
};

/// Number of things in the park.
const THINGS: u32 = 3000;

/// A park in a pool.
struct Pictured {
    pool: VertexPool<Sprite, Thing>,
    /// All things, and the visible ones of their bodies.
    bodies: DrawList,
    /// A second view of the same list: the visible shadows.
    shadows: DrawView,
    painter: Painter,
    meshes: Vec<MeshHandle>,
    scratch: Vec<Sprite>,
    frame: u64,
}

impl Pictured {
    fn new(park: &Park, width: u32, height: u32) -> Result<Self, Box<dyn Error>> {
        // Sprites are quads of six indices and four vertices: the pool's default. Buffers are
        // small, so that there are several, and sorting across them is tested.
        let mut pictured = Self {
            pool: VertexPool::new(PoolConfig::default().with_min_buffer_elements(4096))?,
            bodies: DrawList::new(),
            shadows: DrawView::new(),
            painter: Painter::new(width, height),
            meshes: Vec::new(),
            scratch: Vec::new(),
            frame: 0,
        };
        for number in 0..park.len() {
            let (thing, parts) = park.thing(number, &mut pictured.scratch);
            let Self { pool, bodies, painter, scratch, meshes, .. } = &mut pictured;
            let mesh = pool.insert(scratch, &parts, thing, painter)?;
            bodies.insert(mesh)?;
            meshes.push(mesh);
        }
        Ok(pictured)
    }

    /// Updates the changed things. Another number of sprites is another mesh, which replaces the
    /// old one; a thing that only moved needs 16 bytes.
    fn update(&mut self, park: &Park) -> Result<(), Box<dyn Error>> {
        let Self { pool, painter, scratch, .. } = self;
        for (&mesh, number) in self.meshes.iter().zip(0..) {
            if park.has_changed(number) {
                let (thing, parts) = park.thing(number, scratch);
                pool.replace(mesh, scratch, &parts, thing, painter)?;
            } else if park.has_moved(number) {
                pool.set_data(mesh, park.draw_data(number), painter)?;
            }
        }
        Ok(())
    }

    /// Paints a frame, and returns the number of commands.
    fn draw(&mut self, view: &View) -> usize {
        let Self { pool, bodies, shadows, painter, .. } = self;
        // The painter is synchronous, so every earlier frame is complete.
        pool.frames_completed(self.frame, painter);
        painter.clear();
        // Without sorting, commands would be grouped by buffer: correct for opaque sprites, but
        // wrong for blended ones.
        shadows.mask_and_sort(bodies, pool, |thing| (view.shows(thing, SHADOW), thing.order()));
        let (runs, commands) = shadows.runs(bodies, pool);
        painter.paint(runs, commands, view);
        let mut count = commands.len();
        bodies.mask_and_sort(pool, |thing| (view.shows(thing, BODY), thing.order()));
        let (runs, commands) = bodies.runs(pool);
        painter.paint(runs, commands, view);
        count += commands.len();
        self.frame += 1;
        pool.frame_submitted(self.frame);
        count
    }
}

/// Paints the same picture without pool and lists: visible things, sorted, sprite by sprite.
fn painted_one_by_one(park: &Park, view: &View, width: u32, height: u32) -> Image {
    let mut painter = Painter::new(width, height);
    let mut scratch = Vec::new();
    let mut order: Vec<u32> = (0..park.len()).collect();
    order.sort_by_key(|&number| park.draw_data(number).order());
    for part in [SHADOW, BODY] {
        for &number in &order {
            let (thing, parts) = park.thing(number, &mut scratch);
            let shadow_sprites = parts[SHADOW] as usize;
            let sprites =
                if part == SHADOW { 0..shadow_sprites } else { shadow_sprites..scratch.len() };
            if !view.shows(&thing, part).is_empty() {
                scratch[sprites].iter().for_each(|sprite| painter.sprite(sprite, &thing, view));
            }
        }
    }
    painter.into_image()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (path, frames) = arguments(std::env::args_os().skip(1))?;
    let (width, height) = (960, 540);
    let mut park = Park::new(THINGS);
    let mut pictured = Pictured::new(&park, width, height)?;
    let mut commands = pictured.draw(&View::at(0, width, height));
    for frame in 1..=frames {
        park.set_frame(frame);
        pictured.update(&park)?;
        commands = pictured.draw(&View::at(frame, width, height));
    }
    let view = View::at(frames, width, height);
    let stats = pictured.pool.stats();
    let image = pictured.painter.into_image();
    if image != painted_one_by_one(&park, &view, width, height) {
        return Err("the pool's picture differs from that of the things painted one by one".into());
    }
    image.save_png(&path)?;
    println!(
        "{}: {} things of {} sprites in {} buffers; {commands} commands in frame {frames}",
        path.display(),
        stats.meshes,
        stats.used,
        stats.buffers,
    );
    Ok(())
}

/// The picture's path and the number of frames.
fn arguments(mut words: impl Iterator<Item = OsString>) -> Result<(PathBuf, u32), Box<dyn Error>> {
    let (mut path, mut frames) = (PathBuf::from("sprites.png"), 120);
    while let Some(word) = words.next() {
        let value = words.next().ok_or("usage: sprites [-o FILE.png] [--frames N]")?;
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

/// After replacements and moves, the picture equals one of the same things painted one by one.
#[test]
fn the_pool_paints_the_same_picture_as_one_by_one() {
    let (width, height) = (320, 180);
    let mut park = Park::new(THINGS);
    let mut pictured = Pictured::new(&park, width, height).unwrap();
    assert!(pictured.pool.stats().buffers > 1);
    let mut pictures = Vec::new();
    for frame in 1..=60 {
        park.set_frame(frame);
        pictured.update(&park).unwrap();
        let view = View::at(frame, width, height);
        let commands = pictured.draw(&view);
        if frame % 15 == 0 {
            // Some things are visible, others are masked.
            assert!((20..THINGS as usize).contains(&commands), "{commands} commands");
            let shown = pictured.painter.image();
            assert!(shown == painted_one_by_one(&park, &view, width, height), "frame {frame}");
            pictures.push(shown);
        }
    }
    assert!(pictures.windows(2).all(|pair| pair[0] != pair[1]), "nothing has moved");
    // Another sort order gives another picture, so the comparison above would detect it.
    let view = View::at(60, width, height);
    pictured.bodies.sort(&pictured.pool, |thing| u64::MAX - thing.order());
    pictured.painter.clear();
    let (runs, commands) = pictured.bodies.runs(&pictured.pool);
    pictured.painter.paint(runs, commands, &view);
    assert!(pictured.painter.image() != painted_one_by_one(&park, &view, width, height));
}

/// Hidden things are not drawn.
#[test]
fn masked_things_need_no_commands() {
    let park = Park::new(600);
    let mut pictured = Pictured::new(&park, 64, 64).unwrap();
    let everything = View { corner: [-4000, -4000], size: [20_000, 20_000] };
    let all = pictured.draw(&everything);
    let nothing = pictured.draw(&View { corner: [50_000, 0], ..everything });
    assert_eq!((all > 600, nothing), (true, 0), "{all}");
}
