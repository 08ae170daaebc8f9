use drystone_mesh::Plane;

use super::cutter::{Cutter, Left};
use super::model::Model;
use super::{Store, VisibleParts};

#[derive(Clone, Copy, Default)]
struct Corner {
    position: [f32; 3],
    _transformed: [f32; 3],
    _screen: [f32; 2],
    uv: [f32; 2],
    _stamp: u32,
}

/// Polygons with their own copies of all corners.
pub(super) struct VecOfVecs {
    polygons: Vec<Vec<Corner>>,
    temporaries: Vec<Vec<Corner>>,
    cutter: Cutter,
}

fn corner(position: [f32; 3], uv: [f32; 2]) -> Corner {
    Corner { position, uv, ..Corner::default() }
}

fn new(position: [f32; 3]) -> Corner {
    corner(position, [position[0], position[1]])
}

impl Store for VecOfVecs {
    fn build(model: &Model) -> Self {
        let polygon = |face: &[u32; 4]| face.map(|n| new(model.positions[n as usize])).to_vec();
        let polygons = model.faces.iter().map(polygon).collect();
        Self { polygons, temporaries: Vec::new(), cutter: Cutter::default() }
    }

    fn clip_frame(&mut self, planes: &[Plane]) -> VisibleParts {
        let (mut visible, mut parts) = (VisibleParts::default(), Vec::new());
        for polygon in &self.polygons {
            self.cutter.start();
            polygon.iter().for_each(|corner| self.cutter.push(corner.position, corner.uv));
            match self.cutter.cut(planes) {
                Left::Nothing => {}
                Left::All => visible.inside += 1,
                Left::Part => {
                    let corners = self.cutter.corners.iter();
                    let part: Vec<_> = corners.map(|it| corner(it.position, it.uv)).collect();
                    visible.parts += 1;
                    visible.corners += part.len();
                    part.iter().for_each(|corner| visible.sum += f64::from(corner.position[0]));
                    parts.push(part);
                }
            }
        }
        visible
    }

    fn replace(&mut self, index: usize, polygon: usize, tips: [[f32; 3]; 2]) {
        if let Some(old) = self.temporaries.get_mut(index) {
            *old = Vec::new();
        }
        let polygon = &self.polygons[polygon];
        let made = vec![polygon[0], polygon[1], new(tips[0]), new(tips[1])];
        match self.temporaries.get_mut(index) {
            Some(old) => *old = made,
            None => self.temporaries.push(made),
        }
    }

    fn sum(&self) -> f64 {
        self.temporaries.iter().flatten().map(|corner| f64::from(corner.position[0])).sum()
    }

    fn frame(&mut self, parts: &[(usize, [[f32; 3]; 2])]) -> f64 {
        for &(polygon, tips) in parts {
            let polygon = &self.polygons[polygon];
            self.temporaries.push(vec![polygon[0], polygon[1], new(tips[0]), new(tips[1])]);
        }
        let sum = self.sum();
        self.temporaries.clear();
        sum
    }

    fn bytes(&self) -> usize {
        let corners = self.polygons.iter().map(Vec::capacity).sum::<usize>();
        corners * size_of::<Corner>() + size_of_val(&self.polygons[..])
    }
}
