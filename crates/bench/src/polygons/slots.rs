use drystone_mesh::{Lifetime, Plane};
use slotmap::{DefaultKey, SlotMap};

use super::cutter::{CutCorner, CutStore, Scratch, clip_frame};
use super::{Model, Store, Tips, VisibleParts};

struct Coordinate {
    position: [f32; 3],
    _transformed: [f32; 3],
    _screen: [f32; 2],
    _stamp: u32,
    users: u32,
}

struct Vertex {
    uv: [f32; 2],
    coordinate: DefaultKey,
    users: u32,
}

/// Vertices and coordinates in slot maps, with reference counts.
pub(super) struct SlotMaps {
    coordinates: SlotMap<DefaultKey, Coordinate>,
    vertices: SlotMap<DefaultKey, Vertex>,
    polygons: SlotMap<DefaultKey, Vec<DefaultKey>>,
    keys: Vec<DefaultKey>,
}

impl SlotMaps {
    fn vertex(&mut self, position: [f32; 3], uv: [f32; 2], users: u32) -> DefaultKey {
        let (_transformed, _screen, _stamp) = Default::default();
        let made = Coordinate { position, _transformed, _screen, _stamp, users: 1 };
        let coordinate = self.coordinates.insert(made);
        self.vertices.insert(Vertex { uv, coordinate, users })
    }

    fn share(&mut self, vertex: DefaultKey) -> DefaultKey {
        if let Some(vertex) = self.vertices.get_mut(vertex) {
            vertex.users += 1;
        }
        vertex
    }
}

impl Store for SlotMaps {
    type Polygon = DefaultKey;

    fn build(model: &Model) -> Self {
        let (faces, positions) = (model.faces.len(), model.positions.len());
        let mut store = Self {
            coordinates: SlotMap::with_capacity(positions),
            vertices: SlotMap::with_capacity(positions),
            polygons: SlotMap::with_capacity(faces),
            keys: Vec::with_capacity(faces),
        };
        let vertices: Vec<_> =
            model.positions.iter().map(|&at| store.vertex(at, [at[0], at[1]], 0)).collect();
        for face in &model.faces {
            let list = face.iter().map(|&n| store.share(vertices[n as usize])).collect();
            let key = store.polygons.insert(list);
            store.keys.push(key);
        }
        store
    }

    fn clip_frame(&mut self, planes: &[Plane], scratch: &mut Scratch<DefaultKey>) -> VisibleParts {
        clip_frame(self, planes, scratch)
    }

    #[inline]
    fn temporary(&mut self, polygon: usize, tips: Tips, _: Lifetime) -> DefaultKey {
        let list = &self.polygons[self.keys[polygon]];
        let [a, b] = [list[0], list[1]].map(|vertex| self.share(vertex));
        let [c, d] = tips.map(|at| self.vertex(at, [at[0], at[1]], 1));
        self.polygons.insert(vec![a, b, c, d])
    }

    fn remove(&mut self, polygon: DefaultKey) {
        for key in self.polygons.remove(polygon).into_iter().flatten() {
            let vertex = &mut self.vertices[key];
            vertex.users -= 1;
            if vertex.users == 0 {
                let at = vertex.coordinate;
                self.vertices.remove(key);
                let coordinate = &mut self.coordinates[at];
                coordinate.users -= 1;
                if coordinate.users == 0 {
                    self.coordinates.remove(at);
                }
            }
        }
    }

    #[inline]
    fn coordinates(&self, polygon: &DefaultKey) -> impl Iterator<Item = f32> {
        let coordinate = |vertex: &DefaultKey| self.vertices[*vertex].coordinate;
        let coordinates = self.polygons[*polygon].iter().map(coordinate);
        coordinates.map(|coordinate| self.coordinates[coordinate].position[0])
    }

    fn bytes(&self) -> usize {
        // A slot map stores a version with each value.
        let version = size_of::<u32>();
        let list = 4 * size_of::<DefaultKey>();
        self.coordinates.len() * (size_of::<Coordinate>() + version)
            + self.vertices.len() * (size_of::<Vertex>() + version)
            + self.polygons.len() * (size_of::<Vec<DefaultKey>>() + 2 * version + list)
            + size_of_val(&self.keys[..])
    }
}

impl CutStore for SlotMaps {
    fn polygon_count(&self) -> usize {
        self.keys.len()
    }

    #[inline]
    fn for_each_corner(&self, polygon: usize, mut push: impl FnMut([f32; 3], [f32; 2])) {
        for &vertex in &self.polygons[self.keys[polygon]] {
            let vertex = &self.vertices[vertex];
            push(self.coordinates[vertex.coordinate].position, vertex.uv);
        }
    }

    fn insert_part(&mut self, polygon: usize, corners: &[CutCorner]) -> DefaultKey {
        let original = self.keys[polygon];
        let vertex = |corner: &CutCorner| match corner.from {
            Some(from) => self.share(self.polygons[original][from as usize]),
            None => self.vertex(corner.position, corner.uv, 1),
        };
        let vertices = corners.iter().map(vertex).collect();
        self.polygons.insert(vertices)
    }
}
