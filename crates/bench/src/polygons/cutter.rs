use drystone_mesh::Plane;

use super::{Store, VisibleParts};

/// Reused memory of a frame.
pub(super) struct Scratch<P> {
    cutter: Cutter,
    /// Temporary polygons of a frame.
    pub(super) parts: Vec<P>,
}

impl<P> Default for Scratch<P> {
    fn default() -> Self {
        Self { cutter: Cutter::default(), parts: Vec::new() }
    }
}

/// A store that does not clip by itself.
pub(super) trait CutStore: Store {
    fn polygon_count(&self) -> usize;

    /// Calls `push` with the position and the texture coordinates of each corner of a polygon.
    fn for_each_corner(&self, polygon: usize, push: impl FnMut([f32; 3], [f32; 2]));

    /// Makes a temporary of the visible part of a polygon.
    fn insert_part(&mut self, polygon: usize, corners: &[CutCorner]) -> Self::Polygon;
}

/// Clips every polygon of a store, makes temporaries of the parts, reads them and drops them.
#[inline]
pub(super) fn clip_frame<S: CutStore>(
    store: &mut S,
    planes: &[Plane],
    scratch: &mut Scratch<S::Polygon>,
) -> VisibleParts {
    let Scratch { cutter, parts } = scratch;
    let mut visible = VisibleParts::default();
    for polygon in 0..store.polygon_count() {
        cutter.corners.clear();
        store.for_each_corner(polygon, |position, uv| cutter.push(position, uv));
        match cutter.cut(planes) {
            Left::Nothing => {}
            Left::All => visible.inside += 1,
            Left::Part => {
                let part = store.insert_part(polygon, &cutter.corners);
                visible.parts += 1;
                store.coordinates(&part).for_each(|x| {
                    visible.corners += 1;
                    visible.sum += f64::from(x);
                });
                parts.push(part);
            }
        }
    }
    store.end_frame(parts);
    visible
}

/// A corner of a polygon while it is clipped.
#[derive(Clone, Copy)]
pub(super) struct CutCorner {
    pub(super) position: [f32; 3],
    pub(super) uv: [f32; 2],
    /// Number of the corner in the original polygon, unless it is new.
    pub(super) from: Option<u32>,
}

/// Result of clipping a polygon.
#[derive(Clone, Copy, PartialEq)]
enum Left {
    Nothing,
    All,
    Part,
}

/// Clips polygons for stores without clipping, with reused memory and the algorithm of
/// `drystone_mesh`.
#[derive(Default)]
pub(super) struct Cutter {
    corners: Vec<CutCorner>,
    next: Vec<CutCorner>,
    distances: Vec<f64>,
}

impl Cutter {
    /// Returns what is left of a polygon inside all planes, without texture coordinates.
    pub(super) fn clip(&mut self, corners: &[[f32; 3]], planes: &[Plane]) -> Option<Vec<[f32; 3]>> {
        self.corners.clear();
        corners.iter().for_each(|&position| self.push(position, [0.0; 2]));
        let is_visible = self.cut(planes) != Left::Nothing;
        is_visible.then(|| self.corners.iter().map(|corner| corner.position).collect())
    }

    #[inline]
    fn push(&mut self, position: [f32; 3], uv: [f32; 2]) {
        let from = Some(self.corners.len() as u32);
        self.corners.push(CutCorner { position, uv, from });
    }

    /// Keeps the part of the polygon that is inside all planes.
    #[inline]
    fn cut(&mut self, planes: &[Plane]) -> Left {
        let mut left = Left::All;
        for plane in planes {
            let (mut min, mut max) = (0.0f64, 0.0f64);
            self.distances.clear();
            self.distances.extend(self.corners.iter().map(|corner| {
                let distance = plane.distance(corner.position);
                min = min.min(distance);
                max = max.max(distance);
                distance
            }));
            if max <= 0.0 {
                return Left::Nothing;
            }
            if min < 0.0 {
                self.cut_by_distance();
                left = Left::Part;
            }
        }
        left
    }

    fn cut_by_distance(&mut self) {
        self.next.clear();
        let count = self.corners.len();
        let mut last = count - 1;
        for n in 0..count {
            let (from, to) = (self.distances[last], self.distances[n]);
            if (from < 0.0 && to > 0.0) || (from > 0.0 && to < 0.0) {
                let cut = cut((self.corners[last], from), (self.corners[n], to));
                self.next.push(cut);
            }
            if to >= 0.0 {
                self.next.push(self.corners[n]);
            }
            last = n;
        }
        std::mem::swap(&mut self.corners, &mut self.next);
    }
}

fn cut(from: (CutCorner, f64), to: (CutCorner, f64)) -> CutCorner {
    let ((a, distance_a), (b, distance_b)) =
        if from.0.position <= to.0.position { (from, to) } else { (to, from) };
    let t = distance_a / (distance_a - distance_b);
    let mix = |a: f32, b: f32| {
        let (a, b) = (f64::from(a), f64::from(b));
        (a + (b - a) * t) as f32
    };
    CutCorner {
        position: [0, 1, 2].map(|n| mix(a.position[n], b.position[n])),
        uv: [0, 1].map(|n| mix(a.uv[n], b.uv[n])),
        from: None,
    }
}
