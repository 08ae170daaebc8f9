use drystone_voxel::NodePos;

use crate::lod::config::LodConfig;
use crate::lod::lod_camera::{LodCamera, PixelScale};

/// Safety margin in voxels of level 0, much larger than the rounding error of distances.
const ROUNDING: f64 = 1e-2;

/// Camera travel at which a subtree has to be evaluated again. Until then no node in it can change.
///
/// Each node changes at some distance from the camera. The camera's travel bounds the change of
/// every distance, so the node that is closest to changing decides for its subtree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NextEvaluation {
    at_voxels: f64,
}

impl NextEvaluation {
    /// The subtree has to be evaluated in the next update.
    pub(super) const NOW: Self = Self { at_voxels: 0.0 };

    /// The next evaluation after the camera travels `reach` more voxels. `travelled` is its travel
    /// so far.
    pub(super) fn after(travelled: f64, reach: f64) -> Self {
        Self { at_voxels: if reach > ROUNDING { travelled + reach - ROUNDING } else { 0.0 } }
    }

    /// Returns the travel that remains, in voxels. At most 0 if the evaluation is due.
    pub(super) fn remaining(self, travelled: f64) -> f64 {
        self.at_voxels - travelled
    }

    pub(super) const fn is_now(self) -> bool {
        self.at_voxels <= 0.0
    }
}

/// Path of the camera through all updates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CameraPath {
    last: [f64; 3],
    /// Total length in voxels of level 0.
    pub(super) travelled_voxels: f64,
    reaches: Option<Reaches>,
}

impl CameraPath {
    /// Continues the path to `camera`. Returns the distances of splits and merges there, and
    /// whether these have changed.
    pub(super) fn follow(&mut self, camera: &LodCamera, config: &LodConfig) -> (Reaches, bool) {
        let (from, to) = (self.last, camera.position);
        let moved: f64 = (0..3).map(|axis| (to[axis] - from[axis]).powi(2)).sum();
        if moved.is_finite() {
            (self.last, self.travelled_voxels) = (to, self.travelled_voxels + moved.sqrt());
        }
        let reaches = Reaches::new(camera.scale, config);
        let before = self.reaches.replace(reaches);
        (reaches, before != Some(reaches))
    }
}

const LEVELS: usize = NodePos::MAX_LEVEL as usize + 1;

/// Distances at which nodes are split and merged, by level. They avoid a division for each node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reaches {
    /// Nodes closer than this are split.
    split: [f64; LEVELS],
    /// Nodes farther away than this are merged.
    merge: [f64; LEVELS],
    /// Whether the projection is parallel. The distance then does not matter.
    is_parallel: bool,
}

impl Reaches {
    fn new(scale: PixelScale, config: &LodConfig) -> Self {
        let within = |pixels: f64| {
            std::array::from_fn(|level| {
                let units = f64::from(1u32 << level);
                match scale {
                    PixelScale::Perspective(scale) => units * scale / pixels,
                    PixelScale::Parallel(scale) if units * scale > pixels => f64::INFINITY,
                    PixelScale::Parallel(_) => 0.0,
                }
            })
        };
        Self {
            split: within(config.max_voxel_pixels),
            merge: within(config.max_voxel_pixels * config.hysteresis),
            is_parallel: matches!(scale, PixelScale::Parallel(_)),
        }
    }

    /// Whether a node at this distance is too coarse.
    pub(super) fn is_coarse(&self, node: NodePos, distance: f64) -> bool {
        distance < self.split[usize::from(node.level)]
    }

    /// Whether a node at this distance is fine enough to replace its children.
    pub(super) fn is_fine(&self, node: NodePos, distance: f64) -> bool {
        let merge = self.merge[usize::from(node.level)];
        distance > merge || (self.is_parallel && merge == 0.0)
    }

    /// Returns the travel after which the camera may make the node too coarse.
    pub(super) fn travel_to_split(&self, node: NodePos, distance: f64) -> f64 {
        self.travel_to(distance, self.split[usize::from(node.level)])
    }

    /// Returns the travel after which the camera may make the node fine enough.
    pub(super) fn travel_to_merge(&self, node: NodePos, distance: f64) -> f64 {
        self.travel_to(distance, self.merge[usize::from(node.level)])
    }

    fn travel_to(&self, distance: f64, reach: f64) -> f64 {
        if self.is_parallel { f64::INFINITY } else { (distance - reach).abs() }
    }
}
