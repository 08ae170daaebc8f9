//! The camera and the spot lights: where they are in each frame.

use std::f32::consts::TAU;

use drystone_mesh::{Error, Plane, Projected, pyramid};

/// Width and height of the picture, in pixels.
pub(crate) const SIZE: [f32; 2] = [320.0, 200.0];
/// Frames until camera and light are back at their first position.
pub(crate) const TURN_FRAMES: u32 = 48;
/// Distance of the near plane.
const NEAR: f32 = 0.1;
/// Scale of the projection: half the picture's height at distance 1 is 1 / `ZOOM`.
const ZOOM: f32 = 1.3;
/// Sides of a light's pyramid.
const SIDES: usize = 10;

/// Camera of a frame.
pub(crate) struct View {
    pub(crate) eye: [f32; 3],
    /// Transforms positions to clip space, column by column.
    pub(crate) matrix: [[f32; 4]; 4],
}

impl View {
    /// Returns the camera of a frame: it sways before the door and turns left and right.
    pub(crate) fn at(frame: u32) -> Self {
        let (sin, cos) = angle(frame).sin_cos();
        let eye = [2.7 * sin, 2.6 + 0.4 * cos, 9.1 + 1.7 * cos];
        let target = [-1.9 * cos, 2.3 + 0.2 * sin, -0.3];
        let forward = normal(minus(target, eye));
        let [right, up] = axes(forward);
        let x = right.map(|n| n * ZOOM * SIZE[1] / SIZE[0]);
        let rows = [x, up.map(|n| n * ZOOM), [0.0; 3], forward];
        let mut matrix = [[0.0; 4]; 4];
        for (n, row) in rows.into_iter().enumerate() {
            for (column, value) in matrix.iter_mut().zip(row) {
                column[n] = value;
            }
            matrix[3][n] = -dot(row, eye);
        }
        // Clip space is (x, y, near, distance): depth is reversed, and no plane is far.
        matrix[3][2] = NEAR;
        Self { eye, matrix }
    }

    /// Returns a position in clip space, without depth, and in pixels of the picture.
    #[inline]
    pub(crate) fn project(&self, [x, y, z]: [f32; 3]) -> Projected {
        let [a, b, c, d] = &self.matrix;
        let row = |n: usize| a[n] * x + b[n] * y + c[n] * z + d[n];
        let position = [row(0), row(1), row(3)];
        let [x, y, w] = position;
        let half = SIZE.map(|pixels| pixels / 2.0);
        Projected { position, screen: [half[0] * (1.0 + x / w), half[1] * (1.0 - y / w)] }
    }
}

/// Spot light: its position and the base of its pyramid.
#[derive(Clone, Copy)]
pub(crate) struct Spot {
    position: [f32; 3],
    base: [[f32; 3]; SIDES],
}

impl Spot {
    /// Creates a light that shines at a target. `radius` is that of the cone there.
    pub(crate) fn new(position: [f32; 3], target: [f32; 3], radius: f32) -> Self {
        let [right, up] = axes(normal(minus(target, position)));
        let base = std::array::from_fn(|n| {
            let (sin, cos) = (TAU * (n as f32 + 0.3) / SIDES as f32).sin_cos();
            [0, 1, 2].map(|n| target[n] + radius * (cos * right[n] + sin * up[n]))
        });
        Self { position, base }
    }

    /// Returns the lamp of the far room, at one of two positions.
    pub(crate) fn lamp(number: u32) -> Self {
        match number {
            0 => Self::new([1.2, 5.4, -7.3], [-1.6, 0.0, -6.2], 3.1),
            _ => Self::new([-2.3, 4.9, -5.1], [1.1, 2.2, -12.0], 2.7),
        }
    }

    /// Returns the light that moves: under the ceiling of the near room, along the walls.
    pub(crate) fn moving(frame: u32) -> Self {
        let (sin, cos) = (angle(frame) * 2.0).sin_cos();
        Self::new([0.4, 5.3, 6.2], [4.1 * sin, 1.9 + cos, 1.1 + sin], 2.3)
    }

    /// Appends the planes of the pyramid.
    pub(crate) fn planes(&self, planes: &mut Vec<Plane>) -> Result<(), Error> {
        pyramid(self.position, &self.base, planes)
    }
}

fn angle(frame: u32) -> f32 {
    (frame % TURN_FRAMES) as f32 / TURN_FRAMES as f32 * TAU
}

/// Returns the axes to the right and upwards of a direction that is not vertical.
fn axes(forward: [f32; 3]) -> [[f32; 3]; 2] {
    let right = normal(cross(forward, [0.0, 1.0, 0.0]));
    [right, cross(right, forward)]
}

fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|n| a[n] - b[n])
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn normal(a: [f32; 3]) -> [f32; 3] {
    let length = dot(a, a).sqrt();
    a.map(|n| n / length)
}
