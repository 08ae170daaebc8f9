use bytemuck::{Pod, Zeroable};
use drystone_mesh::FaceSet;

use crate::{camera::Projection, frame::Frame, view::View, visibility::Visibility};

/// Uniform data of the culling shaders, the same for all meshes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CullFrame {
    /// Matrix from positions relative to the camera to clip space, column by column.
    pub(crate) clip_from_relative: [[f32; 4]; 4],
    /// The planes of the view frustum relative to the camera, positive inside.
    pub(crate) planes: [[f32; 4]; 6],
    /// For each plane: reach of a unit box along its normal, and tolerance for rounding, per voxel
    /// of distance.
    pub(crate) reaches: [[f32; 4]; 6],
    /// The camera's voxel.
    pub(crate) camera_voxel: [i32; 3],
    /// Options, see [`CullFrame::MASK_BACK_FACES`].
    pub(crate) flags: i32,
    /// The camera's position in its voxel.
    pub(crate) camera_fraction: [f32; 3],
    /// Maximum move of a mesh's corners to close seams, in voxels per unit of clip `w`.
    pub(crate) seam: f32,
    /// Bins of a mesh for each doubling of clip `w` of its middle.
    pub(crate) bins_per_octave: f32,
    /// Bins of a mesh for each unit of depth of its middle.
    pub(crate) bins_per_depth: f32,
    /// Bin of a mesh at clip `w` 1 and depth 0.
    pub(crate) first_bin: f32,
    /// Fills 16 bytes, to which shaders align vectors.
    pub(crate) padding: f32,
}

const _: () = assert!(size_of::<CullFrame>() == 304);

impl CullFrame {
    /// Flag: skip face directions that point away from the camera.
    pub(crate) const MASK_BACK_FACES: i32 = 1;
    /// Flag: skip meshes outside the view frustum.
    pub(crate) const CULL_FRUSTUM: i32 = 2;
    /// Flag: rays are parallel. Then the visible face directions, at
    /// [`PARALLEL_SHIFT`](Self::PARALLEL_SHIFT), are the same for every mesh.
    pub(crate) const PARALLEL: i32 = 4;
    /// Shift of the visible face directions of parallel rays within the flags.
    pub(crate) const PARALLEL_SHIFT: u32 = 8;

    /// Number of bins that meshes are drawn in, nearest first. Near meshes hide far ones, which
    /// then cost no shading. A few steps of distance give most of the benefit of sorting.
    pub(crate) const BINS: u32 = 16;

    /// Creates the uniform data for `view`; `frame` is the frame that it is drawn with.
    pub(crate) fn new(view: &View, visibility: &Visibility, frame: &Frame) -> Self {
        let [bins_per_octave, bins_per_depth, first_bin] = bins(view);
        Self {
            clip_from_relative: frame.clip_from_relative,
            planes: visibility.planes(),
            reaches: visibility.reaches(),
            camera_voxel: frame.camera_voxel,
            flags: flags(view, visibility),
            camera_fraction: frame.camera_fraction,
            seam: frame.seam * frame.seam_stretch_max,
            bins_per_octave,
            bins_per_depth,
            first_bin,
            padding: 0.0,
        }
    }
}

fn flags(view: &View, visibility: &Visibility) -> i32 {
    let set = |condition: bool, flag: i32| if condition { flag } else { 0 };
    let visible_faces = visibility.parallel_faces();
    let parallel = visible_faces.unwrap_or(FaceSet::EMPTY).bits();
    set(view.mask_back_faces, CullFrame::MASK_BACK_FACES)
        | set(view.cull_frustum, CullFrame::CULL_FRUSTUM)
        | set(visible_faces.is_some(), CullFrame::PARALLEL)
        | i32::from(parallel) << CullFrame::PARALLEL_SHIFT
}

/// Bins for each doubling of clip `w` and for each unit of depth, and the bin at `w` 1 and depth 0.
fn bins(view: &View) -> [f32; 3] {
    /// Number of doublings of distance that have their own bins, up to the far plane. Few meshes
    /// are nearer than 1/256 of it.
    const OCTAVES: f32 = 8.0;
    let count = CullFrame::BINS as f32;
    match view.camera.projection {
        _ if !view.sort_opaque => [0.0; 3],
        Projection::Perspective { .. } => {
            let per_octave = count / OCTAVES;
            let farthest = view.camera.depth_range[1].max(1.0).log2();
            [per_octave, 0.0, count - per_octave * farthest]
        }
        // Depth falls evenly from 1 to 0.
        Projection::Orthographic { .. } => [0.0, -count, count],
    }
}
