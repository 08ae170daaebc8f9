use drystone_mesh::{Plane, portal};

/// A field of quads with hills.
pub(super) struct Model {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) faces: Vec<[u32; 4]>,
    side: usize,
}

impl Model {
    /// Creates a field of `side` × `side` quads.
    pub(super) fn field(side: usize) -> Self {
        let line = side + 1;
        let position = |n: usize| {
            let (x, y) = ((n % line) as f32, (n / line) as f32);
            [x, y, (x * 0.1).sin() + (y * 0.13).cos()]
        };
        let face = |n: usize| {
            let at = n / side * line + n % side;
            [at, at + 1, at + line + 1, at + line].map(|n| n as u32)
        };
        let positions = (0..line * line).map(position).collect();
        Self { positions, faces: (0..side * side).map(face).collect(), side }
    }

    /// Returns the planes of the view of a camera that flies over the field. At most a quarter of
    /// the field is visible.
    pub(super) fn view(&self, frame: usize) -> Vec<Plane> {
        let side = self.side as f32;
        let [x, y] = [0.3, 0.35].map(|at| side * (at + 0.04 * frame as f32));
        let (half, height) = (side * 0.21, side * 0.5);
        let base = [[-1.0, -1.0], [1.0, -0.9], [1.1, 1.0], [-1.0, 1.05]]
            .map(|[dx, dy]| [x + half * dx, y + half * dy, 4.0]);
        let mut planes = Vec::new();
        // An invalid plane would clip nothing, which the comparison of the frames detects.
        let _ = portal([x, y, height], &base, &mut planes);
        planes.extend(Plane::new([0.0, 0.0, 1.0], 100.0));
        planes
    }
}
