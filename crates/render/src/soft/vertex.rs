//! The vertex stage: positions of a quad's corners in clip space. The arithmetic is that of
//! `wgpu_device/shader.wgsl` in the same order, so that both round alike.

use drystone_mesh::{Cube, Face, Quad};
use glam::{Vec3A, Vec4};

use super::fade::Fade;
use super::occlusion::{PixelKind, pixel_kind};
use super::wire::quad_bounds;
use crate::{
    draw_data::DrawData,
    frame::{Frame, QuadStyle},
};

/// Data for the corners of every quad.
pub(super) struct VertexStage {
    clip_from_relative: [Vec4; 4],
    camera_voxel: [i32; 3],
    camera_fraction: Vec3A,
    /// Outward move of corners on faces seen straight on, in voxels per unit of clip `w`.
    seam: f32,
    seam_stretch_max: f32,
    /// Whether pixels need the bounds of their quad.
    is_wired: bool,
    /// Fading of far faces.
    fade: Option<Fade>,
    /// Direction of all rays, if they are parallel.
    parallel_sight: Option<Vec3A>,
}

/// Transform of a mesh for its corners.
#[derive(Clone, Copy)]
pub(super) struct MeshTransform {
    /// Relative to the camera's voxel.
    origin: Vec3A,
    /// Side of the mesh's voxels in units.
    scale: f32,
}

/// A face direction as in the shader.
#[derive(Clone, Copy)]
struct FaceAxes {
    u: Vec3A,
    v: Vec3A,
    /// Offset of the face in its voxel: one along the normal's axis, or zero.
    rise: Vec3A,
    normal: Vec3A,
    is_positive: bool,
}

/// Indexed by the three bits of a quad. Six and seven are no face directions; the shader takes them
/// for +X and +Y, and so does this table.
const FACE_AXES: [FaceAxes; 8] = [
    FaceAxes::new(0),
    FaceAxes::new(1),
    FaceAxes::new(2),
    FaceAxes::new(3),
    FaceAxes::new(4),
    FaceAxes::new(5),
    FaceAxes::new(6),
    FaceAxes::new(7),
];

impl FaceAxes {
    const fn new(bits: usize) -> Self {
        const AXES: [Vec3A; 3] = [Vec3A::X, Vec3A::Y, Vec3A::Z];
        let axis = bits % 3;
        let is_positive = bits >= 3;
        Self {
            u: AXES[(axis + 1) % 3],
            v: AXES[(axis + 2) % 3],
            rise: if is_positive { AXES[axis] } else { Vec3A::ZERO },
            normal: AXES[axis],
            is_positive,
        }
    }
}

impl VertexStage {
    /// Creates the stage of a frame. Seams are closed for opaque quads, but not for blended ones,
    /// because overlaps would show twice.
    pub(super) fn new(frame: &Frame, closes_seam: bool) -> Self {
        let [fx, fy, fz] = frame.camera_fraction;
        let [sx, sy, sz] = frame.ray_forward;
        let is_parallel = frame.is_parallel > 0.0;
        Self {
            clip_from_relative: frame.clip_from_relative.map(Vec4::from_array),
            camera_voxel: frame.camera_voxel,
            camera_fraction: Vec3A::new(fx, fy, fz),
            seam: if closes_seam { frame.seam } else { 0.0 },
            seam_stretch_max: frame.seam_stretch_max,
            is_wired: frame.quad_style() == QuadStyle::Wired,
            fade: Fade::new(frame),
            parallel_sight: is_parallel.then_some(Vec3A::new(sx, sy, sz)),
        }
    }

    /// Transform of a mesh.
    pub(super) fn transform(&self, data: &DrawData) -> MeshTransform {
        MeshTransform { origin: self.origin(data.origin), scale: data.scale() }
    }

    /// A mesh's origin relative to the camera's voxel.
    pub(super) fn origin(&self, origin: [i32; 3]) -> Vec3A {
        let [x, y, z] = [0, 1, 2].map(|i| origin[i].wrapping_sub(self.camera_voxel[i]) as f32);
        Vec3A::new(x, y, z)
    }

    /// Data of a quad that its pixels store.
    #[inline]
    pub(super) fn pixel_kind(&self, quad: Quad, data: &DrawData) -> PixelKind {
        let level = data.level.min(DrawData::MAX_LEVEL);
        let origin = || {
            [0, 1, 2].map(|i| (data.origin[i] >> level).wrapping_sub(self.camera_voxel[i] >> level))
        };
        let words = bytemuck::cast(quad);
        let bounds = if self.is_wired { quad_bounds(quad, origin()) } else { 0 };
        let shares = match &self.fade {
            Some(fade) => {
                let mesh = self.transform(data);
                fade.shares(quad, self.middle(quad, mesh), mesh.scale)
            }
            None => [0; 2],
        };
        PixelKind { word: pixel_kind(words, origin), level: level as u8, shares, bounds }
    }

    /// Position of a quad's middle relative to the camera.
    fn middle(&self, quad: Quad, mesh: MeshTransform) -> Vec3A {
        let [position, kind]: [u32; 2] = bytemuck::cast(quad);
        let FaceAxes { u, v, rise, .. } = FACE_AXES[(kind & 7) as usize];
        let across = u * (field(position, 18) + 1.0) + v * (field(position, 24) + 1.0);
        let scale = mesh.scale * quad.cell();
        self.relative(mesh.origin, (lowest_cell(quad) + across * 0.5 + rise) * scale)
    }

    /// Position relative to the camera of a local position in a mesh with this origin.
    #[inline]
    pub(super) fn relative(&self, origin: Vec3A, local: Vec3A) -> Vec3A {
        (origin + local) - self.camera_fraction
    }

    /// For each axis, the face of a cube that can point towards the camera.
    pub(super) fn faces_towards_camera(&self, cube: Cube, mesh: MeshTransform) -> [Face; 3] {
        let [x, y, z] = cube.position().map(|c| c as f32 + 0.5);
        let middle = self.relative(mesh.origin, Vec3A::new(x, y, z) * mesh.scale);
        let sight = self.parallel_sight.unwrap_or(middle);
        [
            if sight.x < 0.0 { Face::PosX } else { Face::NegX },
            if sight.y < 0.0 { Face::PosY } else { Face::NegY },
            if sight.z < 0.0 { Face::PosZ } else { Face::NegZ },
        ]
    }

    /// The quad's four corners in clip space, in the order of the index pattern.
    #[inline]
    pub(super) fn corners(&self, quad: Quad, mesh: MeshTransform) -> [Vec4; 4] {
        let [position, kind]: [u32; 2] = bytemuck::cast(quad);
        let axes = &FACE_AXES[(kind & 7) as usize];
        let FaceAxes { u, v, .. } = *axes;
        let low = lowest_cell(quad) + axes.rise;
        let scale = mesh.scale * quad.cell();
        let along_u = u * (field(position, 18) + 1.0);
        let along_v = v * (field(position, 24) + 1.0);
        // Up to here all numbers are small integers: the order of the sums makes no difference.
        let locals = [low, low + along_u, low + along_v, low + along_u + along_v];
        let outwards = [-u - v, u - v, v - u, u + v];
        let mut clip = [Vec4::ZERO; 4];
        for i in 0..4 {
            let relative = self.relative(mesh.origin, locals[i] * scale);
            clip[i] = self.to_clip(relative);
            if self.seam != 0.0 {
                let stretch = self.seam_stretch(relative, axes);
                let moved = relative + outwards[i] * stretch * (self.seam * clip[i].w);
                clip[i] = self.to_clip(moved);
            }
        }
        if !axes.is_positive {
            clip.swap(1, 2);
        }
        clip
    }

    /// Factor of a corner's move along each axis of its face.
    #[inline]
    fn seam_stretch(&self, relative: Vec3A, axes: &FaceAxes) -> Vec3A {
        let sight = self.parallel_sight.unwrap_or(relative);
        let squares = sight * sight;
        let off_plane = squares.dot(axes.normal).max(1e-6);
        let stretch = Vec3A::ONE + squares / off_plane;
        stretch.map(f32::sqrt).min(Vec3A::splat(self.seam_stretch_max))
    }

    #[inline]
    pub(super) fn to_clip(&self, relative: Vec3A) -> Vec4 {
        let [x, y, z, w] = self.clip_from_relative;
        x * relative.x + y * relative.y + z * relative.z + w
    }
}

/// Position of a quad's lowest cell.
#[inline]
fn lowest_cell(quad: Quad) -> Vec3A {
    if quad.is_fine() {
        return Vec3A::from(quad.position().map(|cells| cells as f32));
    }
    let [position, _]: [u32; 2] = bytemuck::cast(quad);
    Vec3A::new(field(position, 0), field(position, 6), field(position, 12))
}

/// Six bits of a quad's first word.
#[inline]
fn field(word: u32, shift: u32) -> f32 {
    f32::from((word >> shift & 63) as u8)
}

const _: () = assert!(Face::COUNT <= FACE_AXES.len());

#[cfg(test)]
mod tests;
