use drystone_mesh::Plane;
use slotmap::{DefaultKey, SlotMap};

use super::cutter::{Cutter, Left};
use super::model::Model;
use super::{Store, VisibleParts};

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
    temporaries: Vec<DefaultKey>,
    /// Temporary polygons of a frame.
    parts: Vec<DefaultKey>,
    cutter: Cutter,
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

    /// Makes a polygon of the cutter's result.
    fn insert_part(&mut self, original: DefaultKey) -> DefaultKey {
        let mut vertices = Vec::with_capacity(self.cutter.corners.len());
        for n in 0..self.cutter.corners.len() {
            let corner = self.cutter.corners[n];
            vertices.push(match corner.from {
                Some(from) => self.share(self.polygons[original][from as usize]),
                None => self.vertex(corner.position, corner.uv, 1),
            });
        }
        self.polygons.insert(vertices)
    }

    /// Makes a polygon of two vertices of another one and two new ones.
    fn temporary(&mut self, polygon: usize, tips: [[f32; 3]; 2]) -> DefaultKey {
        let list = &self.polygons[self.keys[polygon]];
        let [a, b] = [list[0], list[1]].map(|vertex| self.share(vertex));
        let [c, d] = tips.map(|at| self.vertex(at, [at[0], at[1]], 1));
        self.polygons.insert(vec![a, b, c, d])
    }

    fn position(&self, vertex: DefaultKey) -> [f32; 3] {
        self.coordinates[self.vertices[vertex].coordinate].position
    }
}

impl Store for SlotMaps {
    fn build(model: &Model) -> Self {
        let (faces, positions) = (model.faces.len(), model.positions.len());
        let mut store = Self {
            coordinates: SlotMap::with_capacity(positions),
            vertices: SlotMap::with_capacity(positions),
            polygons: SlotMap::with_capacity(faces),
            keys: Vec::with_capacity(faces),
            temporaries: Vec::new(),
            parts: Vec::new(),
            cutter: Cutter::default(),
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

    fn clip_frame(&mut self, planes: &[Plane]) -> VisibleParts {
        let mut visible = VisibleParts::default();
        for n in 0..self.keys.len() {
            let key = self.keys[n];
            self.cutter.start();
            for &vertex in &self.polygons[key] {
                let vertex = &self.vertices[vertex];
                self.cutter.push(self.coordinates[vertex.coordinate].position, vertex.uv);
            }
            match self.cutter.cut(planes) {
                Left::Nothing => {}
                Left::All => visible.inside += 1,
                Left::Part => {
                    let part = self.insert_part(key);
                    visible.parts += 1;
                    for &vertex in &self.polygons[part] {
                        visible.corners += 1;
                        visible.sum += f64::from(self.position(vertex)[0]);
                    }
                    self.parts.push(part);
                }
            }
        }
        while let Some(part) = self.parts.pop() {
            self.remove(part);
        }
        visible
    }

    fn replace(&mut self, index: usize, polygon: usize, tips: [[f32; 3]; 2]) {
        if let Some(&old) = self.temporaries.get(index) {
            self.remove(old);
        }
        let made = self.temporary(polygon, tips);
        match self.temporaries.get_mut(index) {
            Some(old) => *old = made,
            None => self.temporaries.push(made),
        }
    }

    fn frame(&mut self, parts: &[(usize, [[f32; 3]; 2])]) -> f64 {
        for &(polygon, tips) in parts {
            let made = self.temporary(polygon, tips);
            self.temporaries.push(made);
        }
        let sum = self.sum();
        while let Some(part) = self.temporaries.pop() {
            self.remove(part);
        }
        sum
    }

    fn sum(&self) -> f64 {
        let vertices = self.temporaries.iter().flat_map(|&polygon| &self.polygons[polygon]);
        vertices.map(|&vertex| f64::from(self.position(vertex)[0])).sum()
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
