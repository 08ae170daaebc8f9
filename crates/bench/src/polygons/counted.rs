use std::cell::Cell;
use std::rc::Rc;

use drystone_mesh::Plane;

use super::cutter::{Cutter, Left};
use super::model::Model;
use super::{Store, VisibleParts};

struct Coordinate {
    position: [f32; 3],
    _transformed: Cell<[f32; 3]>,
    _screen: Cell<[f32; 2]>,
    _stamp: Cell<u32>,
}

struct Vertex {
    uv: [f32; 2],
    coordinate: Rc<Coordinate>,
}

type Polygon = Rc<[Rc<Vertex>]>;

/// Vertices and coordinates shared by `Rc`.
pub(super) struct Counted {
    polygons: Vec<Polygon>,
    temporaries: Vec<Option<Polygon>>,
    cutter: Cutter,
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
    fn build(model: &Model) -> Self {
        let vertices: Vec<_> = model.positions.iter().map(|&position| new(position)).collect();
        let polygon = |face: &[u32; 4]| Rc::from(face.map(|n| vertices[n as usize].clone()));
        let polygons = model.faces.iter().map(polygon).collect();
        let vertex_count = vertices.len();
        Self { polygons, temporaries: Vec::new(), cutter: Cutter::default(), vertex_count }
    }

    fn clip_frame(&mut self, planes: &[Plane]) -> VisibleParts {
        let (mut visible, mut parts) = (VisibleParts::default(), Vec::<Polygon>::new());
        for polygon in &self.polygons {
            self.cutter.start();
            polygon.iter().for_each(|it| self.cutter.push(it.coordinate.position, it.uv));
            match self.cutter.cut(planes) {
                Left::Nothing => {}
                Left::All => visible.inside += 1,
                Left::Part => {
                    let corners = self.cutter.corners.iter();
                    let part: Polygon = corners
                        .map(|it| match it.from {
                            Some(n) => polygon[n as usize].clone(),
                            None => vertex(it.position, it.uv),
                        })
                        .collect();
                    visible.parts += 1;
                    visible.corners += part.len();
                    part.iter().for_each(|it| visible.sum += f64::from(it.coordinate.position[0]));
                    parts.push(part);
                }
            }
        }
        visible
    }

    fn replace(&mut self, index: usize, polygon: usize, tips: [[f32; 3]; 2]) {
        if let Some(old) = self.temporaries.get_mut(index) {
            *old = None;
        }
        let polygon = &self.polygons[polygon];
        let [c, d] = tips.map(new);
        let made: Polygon = Rc::from([polygon[0].clone(), polygon[1].clone(), c, d]);
        match self.temporaries.get_mut(index) {
            Some(old) => *old = Some(made),
            None => self.temporaries.push(Some(made)),
        }
    }

    fn sum(&self) -> f64 {
        let vertices = self.temporaries.iter().flatten().flat_map(|polygon| polygon.iter());
        vertices.map(|vertex| f64::from(vertex.coordinate.position[0])).sum()
    }

    fn frame(&mut self, parts: &[(usize, [[f32; 3]; 2])]) -> f64 {
        for &(polygon, tips) in parts {
            let polygon = &self.polygons[polygon];
            let [c, d] = tips.map(new);
            let made = Rc::from([polygon[0].clone(), polygon[1].clone(), c, d]);
            self.temporaries.push(Some(made));
        }
        let sum = self.sum();
        self.temporaries.clear();
        sum
    }

    fn bytes(&self) -> usize {
        let counts = 2 * size_of::<usize>();
        let polygon = size_of::<Polygon>() + counts + 4 * size_of::<Rc<Vertex>>();
        let vertex = 2 * counts + size_of::<Vertex>() + size_of::<Coordinate>();
        self.polygons.len() * polygon + self.vertex_count * vertex
    }
}
