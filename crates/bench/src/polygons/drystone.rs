use drystone_mesh::{
    Clipped, Lifetime, MeshVertex, PartCorner, Plane, PolygonHandle, PolygonStore, VertexLists,
};

use super::model::Model;
use super::{Store, VisibleParts};

pub(super) struct Drystone<L: VertexLists> {
    store: PolygonStore<(), L>,
    polygons: Vec<PolygonHandle>,
    temporaries: Vec<PolygonHandle>,
    /// Temporary polygons of a frame.
    parts: Vec<PolygonHandle>,
}

impl<L: VertexLists> Store for Drystone<L> {
    fn build(model: &Model) -> Self {
        let mut store = PolygonStore::new();
        // If reserving fails, later insertions fail too, and missing polygons are detected.
        let count = model.faces.len();
        let _ = store.reserve(count, 4 * count, model.positions.len());
        let vertex = |n: usize| {
            let position = model.positions[n];
            MeshVertex { position, uv: [position[0], position[1]], data: () }
        };
        let mut polygons = Vec::with_capacity(count);
        let faces = model.faces.iter().map(|face| &face[..]);
        let _ = store.insert_mesh(model.positions.len(), vertex, faces, |it| polygons.push(it));
        Self { store, polygons, temporaries: Vec::new(), parts: Vec::new() }
    }

    fn clip_frame(&mut self, planes: &[Plane]) -> VisibleParts {
        let mut visible = VisibleParts::default();
        let (polygons, parts) = (&self.polygons, &mut self.parts);
        parts.clear();
        let clipped =
            self.store.clip_all(polygons, planes, Lifetime::Frame, |_, clipped| match clipped {
                Clipped::Inside => visible.inside += 1,
                Clipped::Part(part) => parts.push(part),
                Clipped::Outside => {}
            });
        // Failed insertions are detected, because their polygons are missing.
        let _ = clipped;
        visible.parts = parts.len();
        for corner in parts.iter().flat_map(|&part| self.store.corners(part)).flatten() {
            visible.corners += 1;
            visible.sum += f64::from(corner.position()[0]);
        }
        self.store.end_frame();
        visible
    }

    fn replace(&mut self, index: usize, polygon: usize, tips: [[f32; 3]; 2]) {
        if let Some(&old) = self.temporaries.get(index) {
            let _ = self.store.remove(old);
        }
        let corners = part(tips);
        let made = self.store.insert_part(self.polygons[polygon], &corners, Lifetime::Kept);
        let Ok(made) = made else { return };
        match self.temporaries.get_mut(index) {
            Some(old) => *old = made,
            None => self.temporaries.push(made),
        }
    }

    fn frame(&mut self, parts: &[(usize, [[f32; 3]; 2])]) -> f64 {
        for &(polygon, tips) in parts {
            let polygon = self.polygons[polygon];
            self.temporaries.extend(self.store.insert_part(polygon, &part(tips), Lifetime::Frame));
        }
        let sum = self.sum();
        self.store.end_frame();
        self.temporaries.clear();
        sum
    }

    fn sum(&self) -> f64 {
        let mut sum = 0.0;
        for corner in self.temporaries.iter().flat_map(|&it| self.store.corners(it)).flatten() {
            sum += f64::from(corner.position()[0]);
        }
        sum
    }

    fn bytes(&self) -> usize {
        self.store.stats().bytes as usize + size_of_val(&self.polygons[..])
    }
}

/// Returns the corners of a polygon with two existing corners and two new ones.
fn part(tips: [[f32; 3]; 2]) -> [PartCorner<()>; 4] {
    let [c, d] = tips.map(|at| PartCorner::New { position: at, uv: [at[0], at[1]], data: () });
    [PartCorner::Kept(0), PartCorner::Kept(1), c, d]
}
