//! Triangulation of a tile with few triangles.

use drystone_render::TriangleVertex;
use drystone_world::CraterLand;
use glam::Vec3;

/// Cells per side of a tile.
const TILE: usize = CraterLand::TILE;

/// Options of the triangulation.
#[derive(Clone, Copy)]
pub(crate) struct Detail {
    /// Tolerance of the triangles to the heights, in voxels.
    pub(crate) tolerance: f32,
    /// Height of the skirt at the edges, in voxels.
    pub(crate) skirt: f32,
}

impl Detail {
    /// Returns options with a skirt that closes every gap: each side of an edge is within the
    /// tolerance of the same heights.
    pub(crate) fn within(tolerance: f32) -> Self {
        Self { tolerance, skirt: 2.0 * tolerance }
    }
}

/// Triangles of a tile, in cells from its corner.
#[derive(Default)]
pub(crate) struct Tile {
    pub(crate) vertices: Vec<TriangleVertex>,
    pub(crate) indices: Vec<u32>,
}

impl Tile {
    /// Triangulates a tile on the coarsest grid that is within the tolerance, and adds the skirt.
    ///
    /// # Cost
    /// O(samples of the tile), at most some 1,200 vertices and 2,300 triangles.
    pub(crate) fn fill(&mut self, terrain: &CraterLand, tile: [usize; 2], detail: Detail) {
        self.vertices.clear();
        self.indices.clear();
        let step = widest_step(terrain, tile, detail.tolerance);
        let side = (TILE / step + 1) as u32;
        for at in 0..side * side {
            self.vertices.push(vertex(
                terrain,
                tile,
                [at % side, at / side].map(|n| n as usize * step),
            ));
        }
        for at in (0..side * (side - 1)).filter(|at| at % side + 1 < side) {
            let [west, east] = [[at, at + side], [at + 1, at + side + 1]];
            // Split from north-west to south-east, counter-clockwise from above.
            self.indices.extend([west[0], west[1], east[1], west[0], east[1], east[0]]);
        }
        self.add_skirt(side, detail.skirt);
    }

    /// Adds the skirt around a grid of `side` × `side` vertices.
    fn add_skirt(&mut self, side: u32, skirt: f32) {
        let last = side - 1;
        let rim = |at: u32| match (at / last, at % last) {
            (0, along) => along,
            (1, along) => along * side + last,
            (2, along) => last * side + last - along,
            (_, along) => (last - along) * side,
        };
        let (first, count) = (side * side, 4 * last);
        for at in 0..count {
            let mut vertex = self.vertices[rim(at) as usize];
            vertex.position[1] -= skirt;
            self.vertices.push(vertex);
        }
        for at in 0..count {
            let next = (at + 1) % count;
            let [above, below] = [[rim(at), rim(next)], [first + at, first + next]];
            self.indices.extend([above[0], above[1], below[1], above[0], below[1], below[0]]);
        }
    }
}

/// Returns the step of the coarsest grid, in cells, that is within the tolerance of every height.
fn widest_step(terrain: &CraterLand, tile: [usize; 2], tolerance: f32) -> usize {
    let fits = |step: &usize| {
        (0..(TILE + 1).pow(2)).all(|at| {
            let within = [at % (TILE + 1), at / (TILE + 1)];
            let flat = between(terrain, tile, within, *step);
            (flat - height(terrain, tile, within)).abs() <= tolerance
        })
    };
    [TILE, TILE / 2, TILE / 4, TILE / 8, 2].into_iter().find(fits).unwrap_or(1)
}

fn height(terrain: &CraterLand, tile: [usize; 2], [x, z]: [usize; 2]) -> f32 {
    terrain.height([tile[0] * TILE + x, tile[1] * TILE + z].map(|at| at as i32))
}

/// Returns the height of the grid's triangles at a sample.
fn between(terrain: &CraterLand, tile: [usize; 2], within: [usize; 2], step: usize) -> f32 {
    // The last row and column belong to the cells before them.
    let [x, z] = within.map(|at| (at / step).min(TILE / step - 1) * step);
    let [u, v] = [within[0] - x, within[1] - z].map(|part| part as f32 / step as f32);
    let at = |dx, dz| height(terrain, tile, [x + dx * step, z + dz * step]);
    let [near, far] = [at(0, 0), at(1, 1)];
    match u < v {
        true => near + (at(0, 1) - near) * v + (far - at(0, 1)) * u,
        false => near + (at(1, 0) - near) * u + (far - at(1, 0)) * v,
    }
}

/// Returns the vertex of a sample: its normal from the samples around it, its colour from height
/// and slope.
fn vertex(terrain: &CraterLand, tile: [usize; 2], [x, z]: [usize; 2]) -> TriangleVertex {
    let [at_x, at_z] = [tile[0] * TILE + x, tile[1] * TILE + z].map(|at| at as i32);
    let height = terrain.height([at_x, at_z]);
    let rise =
        |dx, dz| terrain.height([at_x + dx, at_z + dz]) - terrain.height([at_x - dx, at_z - dz]);
    let normal = Vec3::new(-rise(1, 0), 2.0, -rise(0, 1)).normalize();
    let color: [u8; 3] = match height {
        0.0 => [38, 92, 140],
        _ if normal.y < 0.62 => [118, 108, 98],
        ..1.5 => [214, 200, 150],
        38.0.. => [236, 240, 244],
        ..20.0 => [96, 140, 70],
        _ => [122, 132, 92],
    };
    let [red, green, blue] = color;
    TriangleVertex::new([x as f32, height, z as f32], normal.to_array(), [red, green, blue, 255])
}
