use drystone_mesh::{Lifetime, Plane};

use super::cutter::{CutCorner, CutStore, Scratch, clip_frame};
use super::{Model, Store, Tips, VisibleParts};

#[derive(Clone, Copy, Default)]
pub(super) struct Corner {
    position: [f32; 3],
    _transformed: [f32; 3],
    _screen: [f32; 2],
    uv: [f32; 2],
    _stamp: u32,
}

/// Polygons with their own copies of all corners.
pub(super) struct VecOfVecs(Vec<Vec<Corner>>);

fn new(position: [f32; 3]) -> Corner {
    Corner { position, uv: [position[0], position[1]], ..Corner::default() }
}

impl Store for VecOfVecs {
    type Polygon = Vec<Corner>;

    fn build(model: &Model) -> Self {
        let polygon = |face: &[u32; 4]| face.map(|n| new(model.positions[n as usize])).to_vec();
        Self(model.faces.iter().map(polygon).collect())
    }

    fn clip_frame(&mut self, planes: &[Plane], scratch: &mut Scratch<Vec<Corner>>) -> VisibleParts {
        clip_frame(self, planes, scratch)
    }

    #[inline]
    fn temporary(&mut self, polygon: usize, tips: Tips, _: Lifetime) -> Vec<Corner> {
        let polygon = &self.0[polygon];
        vec![polygon[0], polygon[1], new(tips[0]), new(tips[1])]
    }

    #[inline]
    fn remove(&mut self, _: Vec<Corner>) {}

    #[inline]
    fn coordinates(&self, polygon: &Vec<Corner>) -> impl Iterator<Item = f32> {
        polygon.iter().map(|corner| corner.position[0])
    }

    fn bytes(&self) -> usize {
        let corners = self.0.iter().map(Vec::capacity).sum::<usize>();
        corners * size_of::<Corner>() + size_of_val(&self.0[..])
    }
}

impl CutStore for VecOfVecs {
    fn polygon_count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn for_each_corner(&self, polygon: usize, mut push: impl FnMut([f32; 3], [f32; 2])) {
        self.0[polygon].iter().for_each(|corner| push(corner.position, corner.uv));
    }

    fn insert_part(&mut self, _: usize, corners: &[CutCorner]) -> Vec<Corner> {
        let corner = |&CutCorner { position, uv, .. }: &CutCorner| Corner {
            position,
            uv,
            ..Corner::default()
        };
        corners.iter().map(corner).collect()
    }
}
