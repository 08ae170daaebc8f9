use std::f32::consts::TAU;

use drystone_mesh::{Corner, Interpolate, MeshVertex, PolygonHandle, PolygonStore, VertexLists};

/// Twice the area of a polygon, as a vector, and what it adds to six times the volume of the
/// hull that it belongs to.
pub(crate) fn measure(corners: &[[f64; 3]]) -> ([f64; 3], f64) {
    let (mut area, mut volume) = ([0.0; 3], 0.0);
    for n in 1..corners.len().saturating_sub(1) {
        let (a, b, c) = (corners[0], corners[n], corners[n + 1]);
        let normal = cross(minus(b, a), minus(c, a));
        area = [0, 1, 2].map(|n| area[n] + normal[n]);
        volume += dot(normal, a);
    }
    (area, volume)
}

/// Returns the shape of a polygon in a store.
pub(crate) fn measure_in<T, L: VertexLists>(
    store: &PolygonStore<T, L>,
    polygon: PolygonHandle,
) -> ([f64; 3], f64) {
    let corners = store.corners(polygon).unwrap();
    measure(&corners.map(|corner| corner.position().map(f64::from)).collect::<Vec<_>>())
}

pub(crate) fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|n| a[n] - b[n])
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn new(position: [f32; 3]) -> Corner<()> {
    Corner::New { position, uv: [0.0; 2], data: () }
}

/// Positions and faces that wind counter-clockwise as seen from outside.
pub(crate) struct Mesh {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) faces: Vec<Vec<usize>>,
}

impl Mesh {
    /// Inserts faces, where each vertex is created by the first face and shared by the others.
    pub(crate) fn insert_into<T: Interpolate + Default, L: VertexLists>(
        &self,
        store: &mut PolygonStore<T, L>,
    ) -> Vec<PolygonHandle> {
        let mut vertices = vec![None; self.positions.len()];
        let mut polygons = Vec::new();
        for face in &self.faces {
            let corner = |&n: &usize| match vertices[n] {
                Some(vertex) => Corner::Shared(vertex),
                None => {
                    let [x, y, _] = self.positions[n];
                    let (position, data) = (self.positions[n], T::default());
                    Corner::New { position, uv: [x, y], data }
                }
            };
            let corners: Vec<_> = face.iter().map(corner).collect();
            let polygon = store.insert(&corners).unwrap();
            for (&n, corner) in face.iter().zip(store.corners(polygon).unwrap()) {
                vertices[n] = corner.vertex();
            }
            polygons.push(polygon);
        }
        polygons
    }

    /// Clips all polygons at once.
    pub(crate) fn insert_whole_into<T: Interpolate + Default, L: VertexLists>(
        &self,
        store: &mut PolygonStore<T, L>,
    ) -> Vec<PolygonHandle> {
        let vertex = |n: usize| {
            let [x, y, _] = self.positions[n];
            MeshVertex { position: self.positions[n], uv: [x, y], data: T::default() }
        };
        let faces: Vec<Vec<u32>> =
            self.faces.iter().map(|face| face.iter().map(|&n| n as u32).collect()).collect();
        let (faces, mut polygons) = (faces.iter().map(Vec::as_slice), Vec::new());
        let count = self.positions.len();
        store.insert_mesh(count, vertex, faces, |polygon| polygons.push(polygon)).unwrap();
        polygons
    }

    /// A box with corners at whole numbers.
    pub(crate) fn cuboid(low: [f32; 3], high: [f32; 3]) -> Self {
        let corner = |n: usize| [0, 1, 2].map(|axis| [low, high][n >> axis & 1][axis]);
        let positions = (0..8).map(corner).collect();
        let faces =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Self { positions, faces: faces.map(|face| face.to_vec()).to_vec() }
    }

    /// A ring of triangles and quads around the z axis.
    pub(crate) fn torus(around: usize, across: usize) -> Self {
        let position = |n: usize| {
            let [a, b] = [(n / across, around), (n % across, across)]
                .map(|(n, count)| TAU * n as f32 / count as f32);
            let radius = 3.1 + 1.3 * b.cos();
            [radius * a.cos() + 0.07, radius * a.sin() - 0.03, 1.3 * b.sin() + 0.11]
        };
        let at = |a: usize, b: usize| a % around * across + b % across;
        let mut faces = Vec::new();
        for (a, b) in (0..around).flat_map(|a| (0..across).map(move |b| (a, b))) {
            let [p, q, r, s] = [at(a, b), at(a + 1, b), at(a + 1, b + 1), at(a, b + 1)];
            match (a + b) % 2 {
                0 => faces.push(vec![p, q, r, s]),
                _ => faces.extend([vec![p, q, r], vec![p, r, s]]),
            }
        }
        Self { positions: (0..around * across).map(position).collect(), faces }
    }

    /// A field of quads in the plane z = 0.
    pub(crate) fn field(side: usize) -> Self {
        let line = side + 1;
        let position = |n: usize| [(n % line) as f32, (n / line) as f32, 0.0];
        let face = |n: usize| {
            let at = n / side * line + n % side;
            vec![at, at + 1, at + line + 1, at + line]
        };
        Self {
            positions: (0..line * line).map(position).collect(),
            faces: (0..side * side).map(face).collect(),
        }
    }
}
