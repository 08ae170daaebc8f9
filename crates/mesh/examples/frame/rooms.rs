//! Two rooms with a door between them, in a polygon store.

use drystone_mesh::{Corner, Error, MeshVertex, PolygonHandle, PolygonStore};

use super::engine::Triangulation;

/// Corners of the room with the camera. The room behind the door is its mirror image at z = 0.
const LOW: [f32; 3] = [-6.0, 0.0, 0.0];
const HIGH: [f32; 3] = [6.0, 6.0, 12.0];
/// Opening of the door in the plane z = 0.
const DOOR: [[f32; 2]; 2] = [[-1.5, 0.0], [1.5, 4.5]];

/// Rooms, convex and closed except for the door. Their polygons face inwards.
pub(crate) struct Rooms {
    /// The data of a vertex is its colour.
    pub(crate) store: PolygonStore<[f32; 3]>,
    /// Polygons of the room with the camera.
    pub(crate) near: Vec<PolygonHandle>,
    /// Polygons of the room behind the door.
    pub(crate) far: Vec<PolygonHandle>,
    /// The opening. It is not drawn.
    pub(crate) door: PolygonHandle,
}

impl Rooms {
    /// Creates the rooms, with `side` × `side` tiles on each wall. `side` is a multiple of 8, so that
    /// the door is between tiles.
    pub(crate) fn new(side: usize, triangulation: Triangulation) -> Result<Self, Error> {
        let mut store = PolygonStore::new();
        let [[left, bottom], [right, top]] = DOOR;
        let door = [[left, bottom], [right, bottom], [right, top], [left, top]];
        let door =
            door.map(|[x, y]| Corner::New { position: [x, y, 0.0], uv: [0.0; 2], data: [0.0; 3] });
        let door = store.insert(&door)?;
        let (mut near, mut far) = (Vec::new(), Vec::new());
        let mirrored = ([LOW[0], LOW[1], -HIGH[2]], [HIGH[0], HIGH[1], -LOW[2]]);
        for wall in walls((LOW, HIGH)) {
            wall.insert(side, triangulation, &mut store, &mut near)?;
        }
        for wall in walls(mirrored) {
            wall.insert(side, triangulation, &mut store, &mut far)?;
        }
        Ok(Self { store, near, far, door })
    }
}

/// Wall, floor or ceiling: a corner and two edges, counter-clockwise seen from inside.
struct Wall {
    corner: [f32; 3],
    edges: [[f32; 3]; 2],
    color: [f32; 3],
}

/// Returns the six walls of a box.
fn walls((low, high): ([f32; 3], [f32; 3])) -> impl Iterator<Item = Wall> {
    const COLORS: [[f32; 3]; 3] = [[0.75, 0.42, 0.36], [0.70, 0.68, 0.60], [0.40, 0.50, 0.72]];
    (0..6).map(move |n| {
        let (axis, is_high) = (n / 2, n % 2 == 1);
        let edge = |axis: usize| {
            let mut edge = [0.0; 3];
            edge[axis] = high[axis] - low[axis];
            edge
        };
        let [u, v] = [edge((axis + 1) % 3), edge((axis + 2) % 3)];
        let mut corner = low;
        corner[axis] = if is_high { high[axis] } else { low[axis] };
        // The product of the edges is the normal, which points inwards.
        let edges = if is_high { [v, u] } else { [u, v] };
        Wall { corner, edges, color: COLORS[axis] }
    })
}

impl Wall {
    /// Inserts the tiles, which share their vertices. Tiles in the door are left out.
    fn insert(
        &self,
        side: usize,
        triangulation: Triangulation,
        store: &mut PolygonStore<[f32; 3]>,
        polygons: &mut Vec<PolygonHandle>,
    ) -> Result<(), Error> {
        let line = side + 1;
        let vertex = |n: usize| {
            let shade = if (n % line / 2 + n / line / 2).is_multiple_of(2) { 1.0 } else { 0.7 };
            MeshVertex {
                position: self.position(side, [n % line, n / line].map(|n| n as f32)),
                uv: [0.0; 2],
                data: self.color.map(|channel| channel * shade),
            }
        };
        let mut faces: Vec<Vec<u32>> = Vec::new();
        for (column, row) in (0..side).flat_map(|row| (0..side).map(move |column| (column, row))) {
            if is_in_door(self.position(side, [column, row].map(|n| n as f32 + 0.5))) {
                continue;
            }
            let at = row * line + column;
            let [a, b, c, d] = [at, at + 1, at + line + 1, at + line].map(|n| n as u32);
            match triangulation {
                Triangulation::Late => faces.push(vec![a, b, c, d]),
                Triangulation::Early => faces.extend([vec![a, b, c], vec![a, c, d]]),
            }
        }
        let faces = faces.iter().map(Vec::as_slice);
        store.insert_mesh(line * line, vertex, faces, |polygon| polygons.push(polygon))
    }

    /// Returns a position in tiles from the corner.
    fn position(&self, side: usize, [across, up]: [f32; 2]) -> [f32; 3] {
        let [u, v] = self.edges;
        [0, 1, 2].map(|n| self.corner[n] + (u[n] * across + v[n] * up) / side as f32)
    }
}

fn is_in_door([x, y, z]: [f32; 3]) -> bool {
    let [[left, bottom], [right, top]] = DOOR;
    z == 0.0 && (left..right).contains(&x) && (bottom..top).contains(&y)
}
