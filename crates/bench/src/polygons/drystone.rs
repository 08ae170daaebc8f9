use drystone_mesh::{
    Clipped, Lifetime, MeshVertex, PartCorner, Plane, PolygonHandle, PolygonStore, VertexLists,
};

use super::cutter::Scratch;
use super::{Model, Store, Tips, VisibleParts};

pub(super) struct Drystone<L: VertexLists> {
    store: PolygonStore<(), L>,
    polygons: Vec<PolygonHandle>,
}

impl<L: VertexLists> Store for Drystone<L> {
    /// `None` if the insertion failed, which the sums detect.
    type Polygon = Option<PolygonHandle>;

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
        Self { store, polygons }
    }

    fn clip_frame(
        &mut self,
        planes: &[Plane],
        scratch: &mut Scratch<Option<PolygonHandle>>,
    ) -> VisibleParts {
        let mut visible = VisibleParts::default();
        let (polygons, parts) = (&self.polygons, &mut scratch.parts);
        // Failed insertions are detected, because their polygons are missing.
        let _ =
            self.store.clip_all(polygons, planes, Lifetime::Frame, |_, clipped| match clipped {
                Clipped::Inside => visible.inside += 1,
                Clipped::Part(part) => parts.push(Some(part)),
                Clipped::Outside => {}
            });
        visible.parts = parts.len();
        for corner in parts.iter().flatten().flat_map(|&part| self.store.corners(part)).flatten() {
            visible.corners += 1;
            visible.sum += f64::from(corner.position()[0]);
        }
        self.end_frame(parts);
        visible
    }

    #[inline]
    fn temporary(
        &mut self,
        polygon: usize,
        tips: Tips,
        lifetime: Lifetime,
    ) -> Option<PolygonHandle> {
        let [c, d] = tips.map(|at| PartCorner::New { position: at, uv: [at[0], at[1]], data: () });
        let corners = [PartCorner::Kept(0), PartCorner::Kept(1), c, d];
        self.store.insert_part(self.polygons[polygon], &corners, lifetime).ok()
    }

    #[inline]
    fn remove(&mut self, polygon: Option<PolygonHandle>) {
        let _ = polygon.map(|polygon| self.store.remove(polygon));
    }

    fn end_frame(&mut self, temporaries: &mut Vec<Option<PolygonHandle>>) {
        self.store.end_frame();
        temporaries.clear();
    }

    #[inline]
    fn coordinates(&self, polygon: &Option<PolygonHandle>) -> impl Iterator<Item = f32> {
        let corners = polygon.and_then(|polygon| self.store.corners(polygon).ok());
        corners.into_iter().flatten().map(|corner| corner.position()[0])
    }

    fn bytes(&self) -> usize {
        self.store.stats().bytes as usize + size_of_val(&self.polygons[..])
    }
}
