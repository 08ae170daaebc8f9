//! A store that copies everything, and clips polygon by polygon, plane by plane.
//!
//! Cuts are rounded to `f32` as the store documents, so both decide on the same corners: which side
//! of a plane a corner is on, and whether a polygon is in the plane, is exact.

use drystone_mesh::PolygonHandle;

use crate::shapes::{dot, measure};

/// A half space, with the numbers of the store's plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half {
    pub(crate) normal: [f32; 3],
    pub(crate) offset: f32,
}

impl Half {
    fn distance(&self, at: [f32; 3]) -> f64 {
        dot(self.normal.map(f64::from), at.map(f64::from)) + f64::from(self.offset)
    }
}

/// A polygon without shared data.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    pub(crate) handle: PolygonHandle,
    pub(crate) corners: Vec<[f32; 3]>,
    pub(crate) owners: u32,
    /// Whether the frame is one of the owners.
    pub(crate) is_of_frame: bool,
    /// Offset of its texture coordinates from those of the first polygons.
    pub(crate) uv_more: f32,
}

/// The part of a polygon inside all half spaces.
pub(crate) fn clip(corners: &[[f32; 3]], halves: &[Half]) -> Vec<[f32; 3]> {
    let mut left = corners.to_vec();
    for half in halves {
        let distances: Vec<f64> = left.iter().map(|&at| half.distance(at)).collect();
        let is_kept = match distances.iter().all(|&distance| distance == 0.0) {
            true => is_in_front(&left, half),
            false => distances.iter().any(|&distance| distance > 0.0),
        };
        if !is_kept {
            return Vec::new();
        }
        let last = left.iter().cycle().skip(left.len() - 1);
        left = last.zip(&left).flat_map(|(&from, &to)| step(half, from, to)).collect();
    }
    left
}

/// Whether a polygon in the plane of a half belongs to that half space: the half space is behind it.
fn is_in_front(corners: &[[f32; 3]], half: &Half) -> bool {
    let corners: Vec<_> = corners.iter().map(|at| at.map(f64::from)).collect();
    dot(measure(&corners).0, half.normal.map(f64::from)) < 0.0
}

/// The corners that an edge adds: the cut, if there is one, then the end, if it is not outside.
fn step(half: &Half, from: [f32; 3], to: [f32; 3]) -> impl Iterator<Item = [f32; 3]> {
    let is_cut = half.distance(from) * half.distance(to) < 0.0;
    let cut = is_cut.then(|| if from <= to { cut(half, from, to) } else { cut(half, to, from) });
    cut.into_iter().chain((half.distance(to) >= 0.0).then_some(to))
}

/// The point where a plane cuts an edge, computed from its smaller to its larger end.
fn cut(half: &Half, low: [f32; 3], high: [f32; 3]) -> [f32; 3] {
    let (a, b) = (half.distance(low), half.distance(high));
    let (from, to) = (low.map(f64::from), high.map(f64::from));
    [0, 1, 2].map(|n| (from[n] + (to[n] - from[n]) * (a / (a - b))) as f32)
}
