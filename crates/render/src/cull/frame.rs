use bytemuck::{Pod, Zeroable};
use drystone_mesh::FaceSet;

use crate::{Frame, Projection, View, Visibility};

/// What deciding about meshes takes, the same for all of them: as compute shaders read it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CullFrame {
    /// From places relative to the eye to clip space, by columns.
    pub(crate) clip_from_relative: [[f32; 4]; 4],
    /// The planes of the view relative to the eye, positive inside.
    pub(crate) planes: [[f32; 4]; 6],
    /// For each plane: how far a unit box reaches along its normal; what rounding may take
    /// away, per voxel of distance.
    pub(crate) reaches: [[f32; 4]; 6],
    /// The eye's voxel; `w`: [flags](CullFrame::MASK_FACINGS).
    pub(crate) camera_voxel: [i32; 4],
    /// The eye's place in its voxel; `w`: how far a mesh's corners may be moved to close
    /// seams, in voxels per unit of clip `w`.
    pub(crate) camera_fraction: [f32; 4],
    /// Which bin a mesh is drawn in, by clip `w` and depth of its middle:
    /// `x · log2 w + y · depth + z`.
    pub(crate) bins: [f32; 4],
}

const _: () = assert!(size_of::<CullFrame>() == 304);

impl CullFrame {
    /// Set to leave out facings that look away from the eye.
    pub(crate) const MASK_FACINGS: i32 = 1;
    /// Set to leave out meshes outside the view.
    pub(crate) const CULL_FRUSTUM: i32 = 2;
    /// Set where rays are parallel: then the facings seen are those of
    /// [`PARALLEL_SHIFT`](Self::PARALLEL_SHIFT), for every mesh.
    pub(crate) const PARALLEL: i32 = 4;
    /// How far the facings that parallel rays see are shifted within the flags.
    pub(crate) const PARALLEL_SHIFT: u32 = 8;

    /// Bins that meshes are drawn in, nearest first. Near meshes hide far ones, which then
    /// cost no shading; a few steps of distance give most of what a sort would.
    pub(crate) const BINS: u32 = 16;

    /// What culling for `view` takes; `frame` is what it is drawn with.
    pub fn new(view: &View, visibility: &Visibility, frame: &Frame) -> Self {
        let [x, y, z, _] = frame.camera_voxel;
        let [fraction_x, fraction_y, fraction_z, _] = frame.camera_fraction;
        let seam = frame.horizon[3] * frame.sun[3];
        Self {
            clip_from_relative: frame.clip_from_relative,
            planes: visibility.planes(),
            reaches: visibility.reaches(),
            camera_voxel: [x, y, z, flags(view, visibility)],
            camera_fraction: [fraction_x, fraction_y, fraction_z, seam],
            bins: bins(view),
        }
    }
}

fn flags(view: &View, visibility: &Visibility) -> i32 {
    let set = |condition: bool, flag: i32| if condition { flag } else { 0 };
    let facings = visibility.parallel_facings();
    let parallel = facings.unwrap_or(FaceSet::EMPTY).bits();
    set(view.mask_facings, CullFrame::MASK_FACINGS)
        | set(view.cull_frustum, CullFrame::CULL_FRUSTUM)
        | set(facings.is_some(), CullFrame::PARALLEL)
        | i32::from(parallel) << CullFrame::PARALLEL_SHIFT
}

fn bins(view: &View) -> [f32; 4] {
    /// Doublings of distance that are told apart, up to the farthest that is drawn: what is
    /// nearer than 1/256 of it is few meshes.
    const OCTAVES: f32 = 8.0;
    let count = CullFrame::BINS as f32;
    match view.camera.projection {
        _ if !view.order => [0.0; 4],
        Projection::Perspective { .. } => {
            let per_octave = count / OCTAVES;
            let farthest = view.camera.depth_range[1].max(1.0).log2();
            [per_octave, 0.0, count - per_octave * farthest, 0.0]
        }
        // Depth falls evenly from 1 to 0.
        Projection::Orthographic { .. } => [0.0, -count, count, 0.0],
    }
}
