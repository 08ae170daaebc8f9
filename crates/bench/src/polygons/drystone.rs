use drystone_mesh::{
    Clipped, Corner, Lifetime, Plane, PolygonHandle, PolygonStore, VertexHandle, VertexLists,
};

use super::model::Model;
use super::{Seen, Store};

pub(super) struct Drystone<L: VertexLists> {
    store: PolygonStore<(), L>,
    polygons: Vec<PolygonHandle>,
    /// Two vertices of every polygon.
    edges: Vec<[VertexHandle; 2]>,
    temporaries: Vec<PolygonHandle>,
    /// Parts of a frame.
    parts: Vec<PolygonHandle>,
}

impl<L: VertexLists> Store for Drystone<L> {
    fn build(model: &Model) -> Self {
        let mut store = PolygonStore::new();
        let mut vertices: Vec<Option<VertexHandle>> = vec![None; model.positions.len()];
        let (mut polygons, mut edges) = (Vec::new(), Vec::new());
        for face in &model.faces {
            let corners = face.map(|n| match vertices[n as usize] {
                Some(vertex) => Corner::Shared(vertex),
                None => new(model.positions[n as usize]),
            });
            let Ok(polygon) = store.insert(&corners) else { break };
            let mut made = [None; 4];
            for ((&n, corner), made) in
                face.iter().zip(store.corners(polygon).into_iter().flatten()).zip(&mut made)
            {
                *made = corner.vertex();
                vertices[n as usize] = *made;
            }
            polygons.push(polygon);
            edges.extend(made[0].zip(made[1]).map(|(a, b)| [a, b]));
        }
        Self { store, polygons, edges, temporaries: Vec::new(), parts: Vec::new() }
    }

    fn clip_frame(&mut self, planes: &[Plane]) -> Seen {
        let mut seen = Seen::default();
        let (polygons, parts) = (&self.polygons, &mut self.parts);
        parts.clear();
        let clipped =
            self.store.clip_all(polygons, planes, Lifetime::Frame, |_, clipped| match clipped {
                Clipped::Inside => seen.inside += 1,
                Clipped::Part(part) => parts.push(part),
                Clipped::Outside => {}
            });
        // What failed shows by what was not seen.
        let _ = clipped;
        seen.parts = parts.len();
        for corner in parts.iter().flat_map(|&part| self.store.corners(part)).flatten() {
            seen.corners += 1;
            seen.sum += f64::from(corner.position()[0]);
        }
        self.store.end_frame();
        seen
    }

    fn replace(&mut self, place: usize, polygon: usize, tips: [[f32; 3]; 2]) {
        if let Some(&old) = self.temporaries.get(place) {
            let _ = self.store.remove(old);
        }
        let [a, b] = self.edges[polygon].map(Corner::Shared);
        let Ok(made) = self.store.insert(&[a, b, new(tips[0]), new(tips[1])]) else { return };
        match self.temporaries.get_mut(place) {
            Some(old) => *old = made,
            None => self.temporaries.push(made),
        }
    }

    fn sum(&self) -> f64 {
        let corners = self.temporaries.iter().flat_map(|&it| self.store.corners(it)).flatten();
        corners.map(|corner| f64::from(corner.position()[0])).sum()
    }

    fn bytes(&self) -> usize {
        self.store.stats().bytes as usize + size_of_val(&self.polygons[..])
    }
}

fn new(position: [f32; 3]) -> Corner<()> {
    Corner::New { position, uv: [position[0], position[1]], data: () }
}
