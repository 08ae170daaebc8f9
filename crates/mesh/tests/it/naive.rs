//! A store that copies everything, and clips in `f64` as the book says.

use drystone_mesh::PolygonHandle;

use crate::shapes::{dot, measure};

/// A half-space by its numbers, as the store's planes are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half {
    pub(crate) normal: [f32; 3],
    pub(crate) offset: f32,
}

impl Half {
    pub(crate) fn distance(&self, at: [f64; 3]) -> f64 {
        dot(self.normal.map(f64::from), at) + f64::from(self.offset)
    }
}

/// A polygon that shares nothing.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    pub(crate) handle: PolygonHandle,
    pub(crate) corners: Vec<[f64; 3]>,
    pub(crate) owners: u32,
    /// Whether the frame is one of the owners.
    pub(crate) is_of_frame: bool,
    /// What its texture coordinates are more than those of the first polygons.
    pub(crate) uv_more: f32,
}

/// What is left of a polygon inside of all halves.
pub(crate) fn clip(corners: &[[f64; 3]], halves: &[Half]) -> Vec<[f64; 3]> {
    let mut left = corners.to_vec();
    for half in halves {
        let inside = |at: &[f64; 3]| half.distance(*at) >= 0.0;
        if left.iter().all(|&at| half.distance(at) == 0.0) {
            let (area, _) = measure(&left);
            if dot(area, half.normal.map(f64::from)) >= 0.0 {
                return Vec::new();
            }
            continue;
        }
        let next = left.iter().cycle().skip(1);
        left = left.iter().zip(next).flat_map(|(&from, &to)| step(half, from, to)).collect();
        if !left.iter().any(inside) {
            return Vec::new();
        }
    }
    left
}

/// What an edge adds: its end, if that is inside, after the cut, if there is one.
fn step(half: &Half, from: [f64; 3], to: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
    let (a, b) = (half.distance(from), half.distance(to));
    let t = a / (a - b);
    let cut = (a * b < 0.0).then(|| [0, 1, 2].map(|n| from[n] + (to[n] - from[n]) * t));
    cut.into_iter().chain((b >= 0.0).then_some(to))
}
