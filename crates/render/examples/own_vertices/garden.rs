//! The scene: crystals that grow, lose and gain edges, appear and disappear. Everything is a
//! function of a crystal's number and the frame.

use bytemuck::{Pod, Zeroable};

use super::engine::{Triangle, Vertex};

/// Maximum number of edges around a crystal.
const MAX_EDGES: u32 = 12;
/// Maximum number of triangles of a crystal: two for each side, and one for its tip.
pub(crate) const MAX_TRIANGLES: u32 = 3 * MAX_EDGES;
/// Number of frames in which a crystal does not change.
const PERIOD: u32 = 8;

/// Data of each mesh: the pool's per-draw data, and the shader's second buffer.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CrystalData {
    /// Position of the crystal's foot.
    pub(crate) origin: [f32; 3],
    /// Size of the crystal.
    pub(crate) scale: f32,
}

impl CrystalData {
    /// The position of a crystal in a square of `side` by `side`.
    pub(crate) fn of(number: u32, side: u32) -> Self {
        let at = |n: u32| n as f32 - (side - 1) as f32 * 0.5;
        Self { origin: [at(number % side), 0.0, at(number / side)], scale: 0.44 }
    }

    /// Whether it lies in the visible circle.
    pub(crate) fn is_inside(&self) -> bool {
        let [x, _, z] = self.origin;
        x * x + z * z < 90.0
    }
}

/// The shape of one crystal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    edges: u32,
    height: f32,
    rgb: [f32; 3],
}

impl Shape {
    /// Whether crystal `number` differs in this frame from the one before.
    pub(crate) const fn changes(number: u32, frame: u32) -> bool {
        (frame + number * 5).is_multiple_of(PERIOD)
    }

    /// The shape in a frame; sometimes there is none.
    pub(crate) fn at(number: u32, frame: u32) -> Option<Self> {
        let random = scramble(number, (frame + number * 5) / PERIOD);
        let edges = 3 + random % (MAX_EDGES - 2);
        let [red, green, blue] = [8, 14, 20].map(|shift| (random >> shift & 63) as f32 / 63.0);
        (random >> 27 != 0).then_some(Self {
            edges,
            height: 1.0 + (random >> 26 & 31) as f32 / 16.0,
            rgb: [0.35 + 0.6 * red, 0.4 + 0.3 * green, 0.55 + 0.4 * blue],
        })
    }

    /// Replaces `triangles` by the crystal's: a widening column and a tip.
    pub(crate) fn fill(&self, triangles: &mut Vec<Triangle>) {
        triangles.clear();
        let tip = [0.0, self.height * 1.5, 0.0];
        for edge in 0..self.edges {
            let [[x0, z0], [x1, z1]] = [edge, edge + 1].map(|n| {
                let angle = n as f32 / self.edges as f32 * std::f32::consts::TAU;
                [angle.cos(), angle.sin()]
            });
            let foot = |x: f32, z: f32| [0.7 * x, 0.0, 0.7 * z];
            let rim = |x: f32, z: f32| [x, self.height, z];
            // Light from one side, computed here, because the format has no normals.
            let light = 0.62 + 0.28 * (x0 + x1) * 0.5 + 0.1 * (z0 + z1) * 0.5;
            let side = self.rgb.map(|c| c * light);
            let roof = self.rgb.map(|c| (c * (light + 0.25)).min(1.0));
            triangles.push(Vertex::triangle([foot(x0, z0), rim(x0, z0), rim(x1, z1)], side));
            triangles.push(Vertex::triangle([foot(x0, z0), rim(x1, z1), foot(x1, z1)], side));
            triangles.push(Vertex::triangle([rim(x0, z0), tip, rim(x1, z1)], roof));
        }
    }
}

/// A pseudo-random number.
const fn scramble(a: u32, b: u32) -> u32 {
    let mut x = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    x = (x ^ x >> 12).wrapping_mul(0x297a_2d39);
    x ^ x >> 15
}
