use drystone_alloc::Handle;
use drystone_pool::{MeshHandle, PoolError};

use crate::{
    draw_data::DrawData,
    error::RenderError,
    mesh_data::{Layer, NaiveMark},
    triangle_vertex::{TriangleTransform, TriangleVertex},
};

/// Triangles to be drawn: vertices, and three indices for each triangle, relative to the first
/// vertex. Front faces are counter-clockwise. Both sides are drawn, and normals are turned to the
/// visible side.
#[derive(Clone, Copy, Debug)]
pub struct TriangleMesh<'a> {
    /// The vertices.
    pub vertices: &'a [TriangleVertex],
    /// Indices of vertices, three for each triangle.
    pub indices: &'a [u32],
    /// Position and scale of the model.
    pub transform: TriangleTransform,
    /// The pass. Blended triangles are sorted mesh by mesh, farthest first, and drawn after all
    /// blended quads. Within a mesh they are drawn in order.
    pub layer: Layer,
    /// Whether vertices have corners in the device's [`TextureSet`](crate::TextureSet) instead of
    /// colours. Corners that do not exist show the last one.
    pub is_textured: bool,
}

/// Id of triangles of one renderer; stale once they are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrianglesId(pub(crate) TrianglesOwner);

/// The store that a [`TrianglesId`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrianglesOwner {
    Pool(MeshHandle),
    /// Renderer number and mesh handle.
    Naive(u32, Handle<NaiveMark>),
}

impl TriangleMesh<'_> {
    /// The data of the mesh's slot.
    pub(crate) fn slot_data(&self) -> DrawData {
        match self.is_textured {
            true => self.transform.textured_slot(),
            false => self.transform.into(),
        }
    }

    /// Checks the mesh and returns a box around it, in voxels.
    ///
    /// # Cost
    /// O(vertices + indices).
    ///
    /// # Errors
    /// `BadTriangles`, or `Pool` when an index is out of range.
    pub(crate) fn bounds(&self) -> Result<DrawData, RenderError> {
        let bad = |reason| Err(RenderError::BadTriangles { reason });
        let TriangleTransform { origin, scale } = self.transform;
        if !(scale.is_finite() && scale > 0.0) {
            return bad("the scale is not above zero");
        }
        if !self.indices.len().is_multiple_of(3) {
            return bad("the number of indices is not a multiple of three");
        }
        let vertices = self.vertices.len();
        if let Some(&index) = self.indices.iter().find(|&&index| index as usize >= vertices) {
            return Err(PoolError::NoSuchVertex { index, vertices }.into());
        }
        let (mut min, mut max) = ([f32::MAX; 3], [f32::MIN; 3]);
        for TriangleVertex { position, .. } in self.vertices {
            if !position.iter().all(|number| number.is_finite()) {
                return bad("a coordinate of a vertex is not finite");
            }
            min = [0, 1, 2].map(|axis| min[axis].min(position[axis]));
            max = [0, 1, 2].map(|axis| max[axis].max(position[axis]));
        }
        if vertices == 0 {
            return Ok(DrawData { origin, level: 0, extent: 0, sort_rank: 0 });
        }
        let voxel = |number: f32| (f64::from(number) * f64::from(scale)).floor();
        let sides = [0, 1, 2].map(|axis| voxel(max[axis]) - voxel(min[axis]) + 1.0);
        let extent = sides.into_iter().fold(0.0, f64::max);
        // The cube has the same middle as the box, because distances are measured to it. The casts
        // saturate.
        let lowest = [0, 1, 2].map(|axis| {
            let before = ((extent - sides[axis]) / 2.0).floor();
            (f64::from(origin[axis]) + voxel(min[axis]) - before) as i32
        });
        Ok(DrawData { origin: lowest, level: 0, extent: extent as u32, sort_rank: 0 })
    }
}

#[cfg(test)]
mod tests;
