use std::ops::Range;

use drystone_voxel::Chunk;

/// A triangle in space, in units of voxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Triangle([Vector; 3]);

type Vector = [f64; 3];

impl Triangle {
    pub(super) const fn new(corners: [Vector; 3]) -> Self {
        Self(corners)
    }

    pub(super) const fn corners(&self) -> [Vector; 3] {
        self.0
    }

    /// Whether the triangle touches the cube of side `side` from `low` on, including its border.
    ///
    /// Two convex bodies are separate exactly if they are separate along one of a few axes: those
    /// of the cube, the triangle's normal, and the cross products of their edges (T.
    /// Akenine-Möller, *Fast 3D Triangle-Box Overlap Testing*, 2001).
    pub(super) fn touches(&self, low: Vector, side: f64) -> bool {
        let half = side / 2.0;
        let corners = self.0.map(|corner| [0, 1, 2].map(|n| corner[n] - (low[n] + half)));
        let apart = |axis: Vector| {
            let along = corners.map(|corner| dot(corner, axis));
            let reach = half * (axis[0].abs() + axis[1].abs() + axis[2].abs());
            let (least, most) = (min(along), max(along));
            least > reach || most < -reach
        };
        const UNITS: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        if UNITS.into_iter().any(apart) {
            return false;
        }
        let [a, b, c] = corners;
        let edges = [minus(b, a), minus(c, b), minus(a, c)];
        if apart(cross(edges[0], edges[1])) {
            return false;
        }
        let crosses = edges.into_iter().flat_map(|edge| UNITS.map(|unit| cross(unit, edge)));
        !crosses.into_iter().any(apart)
    }

    /// Returns the voxels of the chunk at `low` that the bounding box touches, on each axis.
    pub(super) fn span(&self, low: Vector, side: usize) -> [Range<usize>; 3] {
        [0, 1, 2].map(|axis| {
            let along = self.0.map(|corner| corner[axis] - low[axis]);
            // The conversion to an integer saturates.
            let first = (min(along).floor() - 1.0) as usize;
            let last = (max(along).floor() + 2.0) as usize;
            first.min(side)..last.min(side)
        })
    }

    /// Number of chunks that the bounding box touches. The triangle itself touches no more.
    pub(super) fn box_chunks(&self) -> u64 {
        let side = f64::from(Chunk::SIDE);
        let along = |axis: usize| {
            let along = self.0.map(|corner| corner[axis]);
            // Borders belong to the chunks on both sides.
            ((max(along) / side).floor() - (min(along) / side).ceil() + 2.0) as u64
        };
        along(0).saturating_mul(along(1)).saturating_mul(along(2))
    }

    /// Returns the point at these barycentric coordinates.
    #[cfg(test)]
    pub(super) fn at(&self, u: f64, v: f64) -> Vector {
        let [a, b, c] = self.0;
        [0, 1, 2].map(|n| a[n] + u * (b[n] - a[n]) + v * (c[n] - a[n]))
    }
}

fn min([a, b, c]: Vector) -> f64 {
    a.min(b).min(c)
}

fn max([a, b, c]: Vector) -> f64 {
    a.max(b).max(c)
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
