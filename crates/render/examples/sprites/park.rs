//! The scene. Everything is a function of a thing's number and the frame.

use bytemuck::{Pod, Zeroable};
use drystone_pool::PartSet;

/// The part of a thing's mesh that is its shadow.
pub(crate) const SHADOW: usize = 0;
/// The part that is the thing itself.
pub(crate) const BODY: usize = 1;

/// Pixels a side of the park.
const SIDE: u32 = 2600;
/// Maximum reach of a thing and its shadow from its position, in pixels.
const REACH: i32 = 190;
/// Number of frames in which a thing keeps its sprites.
const PERIOD: u32 = 24;

/// An element of the pool: an ellipse, in pixels relative to the thing's position.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Sprite {
    pub(crate) middle: [i16; 2],
    pub(crate) half: [u16; 2],
    pub(crate) rgba: [u8; 4],
}

/// A thing's per-draw data.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Thing {
    /// Position, in pixels of the park.
    pub(crate) at: [i32; 2],
    /// 0 lies on the ground, 1 stands on it, 2 floats above.
    pub(crate) layer: u32,
    number: u32,
}

impl Thing {
    /// Sort key: layer by layer, from far to near. No two things have the same key, because
    /// blending depends on the order.
    pub(crate) fn order(&self) -> u64 {
        let row = (self.at[1] + (1 << 20)) as u64;
        u64::from(self.layer) << 56 | row << 32 | u64::from(self.number)
    }
}

/// The visible part of the park.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// The upper left corner.
    pub(crate) corner: [i32; 2],
    /// Width and height in pixels.
    pub(crate) size: [i32; 2],
}

impl View {
    /// The view in a frame: it moves from left to right.
    pub(crate) fn at(frame: u32, width: u32, height: u32) -> Self {
        let corner = [(frame % 1500) as i32, 700 + (frame % 400) as i32];
        Self { corner, size: [width as i32, height as i32] }
    }

    /// Parts of a thing to draw in the pass for `part`: that part or none.
    pub(crate) fn shows(&self, thing: &Thing, part: usize) -> PartSet {
        let is_near = (0..2).all(|axis| {
            let at = thing.at[axis] - self.corner[axis];
            (-REACH..self.size[axis] + REACH).contains(&at)
        });
        if is_near { PartSet::EMPTY.with(part) } else { PartSet::EMPTY }
    }
}

/// All things.
pub(crate) struct Park {
    len: u32,
    frame: u32,
}

impl Park {
    /// Creates a park of `len` things.
    pub(crate) const fn new(len: u32) -> Self {
        Self { len, frame: 0 }
    }

    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// Sets the current frame.
    pub(crate) const fn set_frame(&mut self, frame: u32) {
        self.frame = frame;
    }

    /// Whether a thing has other sprites than in the frame before.
    pub(crate) fn has_changed(&self, number: u32) -> bool {
        self.draw_data(number).layer == 1 && (self.frame + number).is_multiple_of(PERIOD)
    }

    /// Whether a thing has moved since the frame before.
    pub(crate) fn has_moved(&self, number: u32) -> bool {
        self.draw_data(number).layer == 2
    }

    /// Per-draw data of a thing.
    pub(crate) fn draw_data(&self, number: u32) -> Thing {
        let random = scramble(number, 0);
        let layer = match random & 15 {
            0 | 1 => 0,
            15 => 2,
            _ => 1,
        };
        let drift = if layer == 2 { 2 * self.frame } else { 0 };
        let x = (scramble(number, 1) + drift) % SIDE;
        let y = scramble(number, 2) % SIDE;
        Thing { at: [x as i32, y as i32], layer, number }
    }

    /// A thing, and its sprites in `sprites`, the shadow's first. Returns the number of sprites in
    /// each part.
    pub(crate) fn thing(&self, number: u32, sprites: &mut Vec<Sprite>) -> (Thing, [u32; 2]) {
        let thing = self.draw_data(number);
        sprites.clear();
        let random = |n: u32| scramble(number, n);
        match thing.layer {
            0 => pond(sprites, random),
            1 if random(3) % 4 == 0 => mushroom(sprites, random),
            1 => tree(sprites, random, (self.frame + number) / PERIOD),
            _ => cloud(sprites, random),
        }
        let shadow_sprites = u32::from(thing.layer > 0);
        (thing, [shadow_sprites, sprites.len() as u32 - shadow_sprites])
    }
}

fn sprite(middle: [i32; 2], half: [u32; 2], rgba: [u8; 4]) -> Sprite {
    Sprite { middle: middle.map(|c| c as i16), half: half.map(|c| c as u16), rgba }
}

/// A number from `low` to below `high`.
const fn between(random: u32, low: i32, high: i32) -> i32 {
    low + (random >> 8) as i32 % (high - low)
}

fn pond(sprites: &mut Vec<Sprite>, random: impl Fn(u32) -> u32) {
    for n in 0..3 + random(4) % 3 {
        let middle = [between(random(10 + n), -22, 22), between(random(20 + n), -8, 8)];
        sprites.push(sprite(middle, [18 + random(30 + n) % 14, 9], [92, 144, 176, 150]));
    }
}

fn mushroom(sprites: &mut Vec<Sprite>, random: impl Fn(u32) -> u32) {
    sprites.push(sprite([4, 1], [9, 3], [20, 30, 20, 90]));
    sprites.push(sprite([0, -4], [2, 5], [226, 216, 196, 255]));
    let cap = if random(5) & 1 == 0 { [196, 62, 50, 255] } else { [206, 160, 92, 255] };
    sprites.push(sprite([0, -9], [7, 4], cap));
    sprites.push(sprite([-2, -10], [1, 1], [250, 246, 236, 220]));
}

/// Leaves appear and disappear with the `age`.
fn tree(sprites: &mut Vec<Sprite>, random: impl Fn(u32) -> u32, age: u32) {
    sprites.push(sprite([9, 2], [20, 6], [20, 30, 20, 90]));
    sprites.push(sprite([0, -9], [3, 12], [104, 78, 56, 255]));
    let tint = [6, 7].map(|n| (random(n) % 40) as u8);
    for n in 0..3 + scramble(random(8), age) % 6 {
        let middle = [between(random(40 + n), -12, 12), between(random(50 + n), -42, -18)];
        let light = 18 * (n % 3) as u8;
        let rgba = [48 + tint[0] + light, 92 + tint[1] + light, 44 + light, 215];
        sprites.push(sprite(middle, [9 + random(60 + n) % 5, 8 + random(70 + n) % 4], rgba));
    }
}

fn cloud(sprites: &mut Vec<Sprite>, random: impl Fn(u32) -> u32) {
    sprites.push(sprite([0, 60], [70, 24], [20, 30, 20, 60]));
    for n in 0..5 + random(9) % 4 {
        let middle = [between(random(80 + n), -48, 48), between(random(90 + n), -112, -88)];
        sprites.push(sprite(middle, [30 + random(100 + n) % 18, 16], [246, 248, 252, 105]));
    }
}

/// A pseudo-random number.
const fn scramble(a: u32, b: u32) -> u32 {
    let mut x = (a.wrapping_add(1)).wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    x = (x ^ x >> 12).wrapping_mul(0x297a_2d39);
    x ^ x >> 15
}
