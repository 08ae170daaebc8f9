//! The vertex stage: positions of a quad's corners in clip space. The arithmetic is that of
//! `wgpu/shader.wgsl` in the same order, so that both round alike.

use drystone_mesh::{Cube, Face, Quad};
use glam::{Vec3A, Vec4};

use super::occlusion::{PixelKind, pixel_kind};
use super::wire::quad_bounds;
use crate::{DrawData, Frame, frame::QuadStyle};

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
        let [x, y, z, _] = frame.camera_voxel;
        let [fx, fy, fz, _] = frame.camera_fraction;
        let [sx, sy, sz, _] = frame.ray_forward;
        let is_parallel = frame.ground[3] > 0.0;
        Self {
            clip_from_relative: frame.clip_from_relative.map(Vec4::from_array),
            camera_voxel: [x, y, z],
            camera_fraction: Vec3A::new(fx, fy, fz),
            seam: if closes_seam { frame.horizon[3] } else { 0.0 },
            seam_stretch_max: frame.sun[3],
            is_wired: frame.quad_style() == QuadStyle::Wired,
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
        let bounds = if self.is_wired { quad_bounds(words, origin()) } else { 0 };
        PixelKind { word: pixel_kind(words, origin), level: level as u8, bounds }
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
        let low =
            Vec3A::new(field(position, 0), field(position, 6), field(position, 12)) + axes.rise;
        let along_u = u * (field(position, 18) + 1.0);
        let along_v = v * (field(position, 24) + 1.0);
        // Up to here all numbers are small integers: the order of the sums makes no difference.
        let locals = [low, low + along_u, low + along_v, low + along_u + along_v];
        let outwards = [-u - v, u - v, v - u, u + v];
        let mut clip = [Vec4::ZERO; 4];
        for i in 0..4 {
            let relative = self.relative(mesh.origin, locals[i] * mesh.scale);
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

/// Six bits of a quad's first word.
#[inline]
fn field(word: u32, shift: u32) -> f32 {
    f32::from((word >> shift & 63) as u8)
}

const _: () = assert!(Face::COUNT <= FACE_AXES.len());

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::{Atmosphere, Camera};

    #[test]
    fn corners_are_those_of_the_quad() {
        let camera = Camera::look_at(DVec3::new(-7.3, 40.1, 12.9), DVec3::new(1e3, -5.0, 70.0));
        let frame = Frame::new(&camera, &Atmosphere::default(), 640, 480);
        let stage = VertexStage::new(&frame, false);
        for (level, face) in (0..=9).flat_map(|level| Face::ALL.map(|face| (level, face))) {
            let data = DrawData { origin: [32, -64, 96], level, extent: 64 << level };
            let scale = f64::from(1 << level);
            let quad = Quad::new([5, 17, 63], [64, 3], face, 1);
            let corners = stage.corners(quad, stage.transform(&data));
            for (corner, seen) in (0..4).zip(corners) {
                let world: DVec3 = std::array::from_fn(|i| {
                    f64::from(data.origin[i]) + f64::from(quad.corner(corner)[i]) * scale
                })
                .into();
                let clip = camera.clip_from_relative(4.0 / 3.0)
                    * (world - camera.position).as_vec3().extend(1.0);
                let limit = 1e-3 + 1e-6 * clip.length();
                assert!((clip - seen).length() < limit, "{level} {face:?} {corner}: {clip} {seen}");
            }
        }
    }

    /// Quads that are twice as large at each level coincide, to the bit, with larger quads of small
    /// voxels.
    #[test]
    fn corners_of_lod_voxels_coincide_with_those_of_small_voxels() {
        let camera_position = DVec3::new(-70_007.3, 40.1, 9e5 + 0.9);
        let camera = Camera::look_at(camera_position, camera_position + DVec3::new(9.0, -5.0, 7.0));
        let frame = Frame::new(&camera, &Atmosphere::default(), 640, 480);
        for (closes_seam, level) in [false, true].into_iter().zip(0..6).cycle().take(12) {
            let stage = VertexStage::new(&frame, closes_seam);
            let origin = [-70_017, 3, 900_001];
            let large = stage.transform(&DrawData { origin, level, extent: 2 << level });
            for face in Face::ALL {
                let side = 1 << level;
                let mut low = [side; 3];
                // The face lies on the far side of the last of the small voxels.
                low[face.axis()] += if face.is_positive() { side - 1 } else { 0 };
                let one = Quad::new([1; 3], [1, 1], face, 0);
                let same = Quad::new(low, [side; 2], face, 0);
                let small = stage.transform(&DrawData { origin, level: 0, extent: 2 << level });
                assert_eq!(stage.corners(one, large), stage.corners(same, small), "{face:?}");
            }
        }
    }

    #[test]
    fn seam_moves_corners_outwards_by_its_part_of_a_pixel() {
        let camera = Camera::look_at(DVec3::new(3.0, 3.0, 30.0), DVec3::new(3.0, 3.0, 0.0));
        let frame = Frame::new(&camera, &Atmosphere::default(), 100, 100);
        let quad = Quad::new([2, 2, 0], [2, 2], Face::PosZ, 0);
        let pixels = [false, true].map(|closes_seam| {
            let stage = VertexStage::new(&frame, closes_seam);
            let corners = stage.corners(quad, stage.transform(&DrawData::default()));
            corners.map(|c| (c.truncate() / c.w).truncate() * 50.0)
        });
        for (moved, unmoved) in pixels[1].iter().zip(pixels[0]) {
            let by = moved - unmoved;
            assert!((by.abs() - Frame::SEAM_PIXELS).abs().max_element() < 1e-4, "{by}");
            assert!(by.x * unmoved.x > 0.0 && by.y * unmoved.y > 0.0, "outwards: {by}");
        }
    }

    /// At a low angle too, each edge moves by its part of a pixel, measured across the edge.
    #[test]
    fn seam_moves_edges_alike_at_low_angles() {
        let quad = Quad::new([2, 0, 2], [9, 5], Face::PosY, 0);
        for (height, yaw) in [(9.0, 0.3f64), (2.0, 0.7), (1.6, 1.2), (1.5, 0.2)] {
            let camera_position =
                DVec3::new(4.5, 0.0, 6.5) + DVec3::new(yaw.sin(), 0.0, yaw.cos()) * 20.0;
            let camera = Camera::look_at(camera_position.with_y(height), DVec3::new(4.5, 1.0, 6.5));
            let frame = Frame::new(&camera, &Atmosphere::default(), 400, 400);
            let [before, after] = [false, true].map(|closes_seam| {
                let stage = VertexStage::new(&frame, closes_seam);
                let corners = stage.corners(quad, stage.transform(&DrawData::default()));
                corners.map(|c| (c.truncate() / c.w).truncate().as_dvec2() * 200.0)
            });
            for [from, to, aside] in [[0, 1, 2], [1, 3, 0], [3, 2, 1], [2, 0, 3]] {
                let across = (before[to] - before[from]).perp().normalize();
                let outwards = across * -(before[aside] - before[from]).dot(across).signum();
                for corner in [from, to] {
                    let by = (after[corner] - before[corner]).dot(outwards);
                    let part = by / f64::from(Frame::SEAM_PIXELS);
                    assert!((0.95..1.1).contains(&part), "{height} {yaw} {from}-{to}: {part}");
                }
            }
        }
    }

    #[test]
    fn origins_far_apart_wrap_as_on_a_gpu() {
        let mut frame = Frame::new(&Camera::default(), &Atmosphere::default(), 8, 8);
        frame.camera_voxel = [i32::MIN, 5, i32::MAX, 0];
        let stage = VertexStage::new(&frame, true);
        let data = DrawData { origin: [i32::MAX, 7, i32::MAX - 3], ..DrawData::default() };
        assert_eq!(stage.origin(data.origin), Vec3A::new(-1.0, 2.0, -3.0));
    }
}
