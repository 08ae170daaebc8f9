use std::cell::Cell;
use std::rc::Rc;

use drystone_mesh::{Lifetime, Plane};

use super::cutter::{CutCorner, CutStore, Scratch, clip_frame};
use super::{Model, Store, Tips, VisibleParts};

struct Coordinate {
    position: [f32; 3],
    _transformed: Cell<[f32; 3]>,
    _screen: Cell<[f32; 2]>,
    _stamp: Cell<u32>,
}

pub(super) struct Vertex {
    uv: [f32; 2],
    coordinate: Rc<Coordinate>,
}

type Polygon = Rc<[Rc<Vertex>]>;

/// Vertices and coordinates shared by `Rc`.
pub(super) struct Counted {
    polygons: Vec<Polygon>,
    vertex_count: usize,
}

fn vertex(position: [f32; 3], uv: [f32; 2]) -> Rc<Vertex> {
    let (_transformed, _screen, _stamp) = Default::default();
    let coordinate = Rc::new(Coordinate { position, _transformed, _screen, _stamp });
    Rc::new(Vertex { uv, coordinate })
}

fn new(position: [f32; 3]) -> Rc<Vertex> {
    vertex(position, [position[0], position[1]])
}

impl Store for Counted {
    type Polygon = Polygon;

    fn build(model: &Model) -> Self {
        let vertices: Vec<_> = model.positions.iter().map(|&position| new(position)).collect();
        let polygon = |face: &[u32; 4]| Rc::from(face.map(|n| vertices[n as usize].clone()));
        let polygons = model.faces.iter().map(polygon).collect();
        Self { polygons, vertex_count: vertices.len() }
    }

    fn clip_frame(&mut self, planes: &[Plane], scratch: &mut Scratch<Polygon>) -> VisibleParts {
        clip_frame(self, planes, scratch)
    }

    #[inline]
    fn temporary(&mut self, polygon: usize, tips: Tips, _: Lifetime) -> Polygon {
        let polygon = &self.polygons[polygon];
        let [c, d] = tips.map(new);
        Rc::from([polygon[0].clone(), polygon[1].clone(), c, d])
    }

    #[inline]
    fn remove(&mut self, _: Polygon) {}

    #[inline]
    fn coordinates(&self, polygon: &Polygon) -> impl Iterator<Item = f32> {
        polygon.iter().map(|vertex| vertex.coordinate.position[0])
    }

    fn bytes(&self) -> usize {
        let counts = 2 * size_of::<usize>();
        let polygon = size_of::<Polygon>() + counts + 4 * size_of::<Rc<Vertex>>();
        let vertex = 2 * counts + size_of::<Vertex>() + size_of::<Coordinate>();
        self.polygons.len() * polygon + self.vertex_count * vertex
    }
}

impl CutStore for Counted {
    fn polygon_count(&self) -> usize {
        self.polygons.len()
    }

    #[inline]
    fn for_each_corner(&self, polygon: usize, mut push: impl FnMut([f32; 3], [f32; 2])) {
        self.polygons[polygon].iter().for_each(|it| push(it.coordinate.position, it.uv));
    }

    fn insert_part(&mut self, polygon: usize, corners: &[CutCorner]) -> Polygon {
        let vertex = |corner: &CutCorner| match corner.from {
            Some(n) => self.polygons[polygon][n as usize].clone(),
            None => vertex(corner.position, corner.uv),
        };
        corners.iter().map(vertex).collect()
    }
}
