use drystone_mesh::Plane;

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
pub(super) enum Left {
    Nothing,
    All,
    Part,
}

/// Clips polygons for stores without clipping, with reused memory and the algorithm of
/// `drystone_mesh`.
#[derive(Default)]
pub(super) struct Cutter {
    pub(super) corners: Vec<CutCorner>,
    next: Vec<CutCorner>,
    distances: Vec<f64>,
}

impl Cutter {
    #[inline]
    pub(super) fn start(&mut self) {
        self.corners.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, position: [f32; 3], uv: [f32; 2]) {
        let from = Some(self.corners.len() as u32);
        self.corners.push(CutCorner { position, uv, from });
    }

    /// Keeps the part of the polygon that is inside all planes.
    #[inline]
    pub(super) fn cut(&mut self, planes: &[Plane]) -> Left {
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
