use std::time::Duration;

use drystone_voxel::{MesherOptions, NodePos};

/// Options for the meshes of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
pub struct Meshing {
    /// Whether quads store ambient occlusion. The renderer chooses its strength. Takes more quads,
    /// since only faces with equal occlusion are merged. A renderer of instanced cubes cannot show
    /// such meshes. Default: false.
    pub occlusion: bool,
}

impl From<Meshing> for MesherOptions {
    fn from(meshing: Meshing) -> Self {
        // Needed by pictures in which far faces fade.
        let options = Self::default().with_steps();
        if meshing.occlusion { options.with_ambient_occlusion() } else { options }
    }
}

/// Detail, budgets and memory limits of a [`LodTree`](crate::LodTree).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[non_exhaustive]
pub struct LodConfig {
    /// Highest level of the shown nodes. With 0 the whole world is shown in full detail, whatever
    /// the distance, and takes memory accordingly. Fixed once a tree exists. Default:
    /// [`NodePos::MAX_LEVEL`], no limit.
    pub max_level: u8,
    /// Length of a node's voxels on screen, in pixels, above which the node is split. Default: 3.5.
    pub max_voxel_pixels: f64,
    /// Fraction of [`max_voxel_pixels`](Self::max_voxel_pixels) below which eight nodes are merged
    /// into their parent. Values below 1 keep small camera movements from changing anything.
    /// Default: 0.8.
    pub hysteresis: f64,
    /// Budget of an update for newly shown meshes, in bytes. One change may exceed it. Default:
    /// 2 MiB.
    pub frame_bytes: usize,
    /// Time budget of an update. One change may exceed it. Default: 2 ms.
    pub frame_time: Duration,
    /// Limit for finished meshes that are not shown yet, in bytes. One mesh per thread and the
    /// eight meshes of one split may exceed it. Default: 64 MiB.
    ///
    /// One sixteenth of the limit is reserved for the bodies of recently edited nodes. The next
    /// edit of such a node rebuilds only the changed layers.
    pub waiting_bytes: usize,
    /// Number of threads that make meshes. With 0, [`LodTree::wait`](crate::LodTree::wait) makes
    /// them. Default: one less than the number of cores, at least 1. On WebAssembly, where a crate
    /// cannot start threads, they are taken from rayon's global pool, which must have more; default
    /// there: 0.
    pub threads: usize,
    /// Options for the meshes of all nodes. [`LodTree::set_meshing`](crate::LodTree::set_meshing)
    /// changes them later. Default: without ambient occlusion.
    pub meshing: Meshing,
}

impl Default for LodConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            max_level: NodePos::MAX_LEVEL,
            max_voxel_pixels: 3.5,
            hysteresis: 0.8,
            frame_bytes: 2 << 20,
            frame_time: Duration::from_millis(2),
            waiting_bytes: 64 << 20,
            threads: if cfg!(target_arch = "wasm32") { 0 } else { cores.saturating_sub(1).max(1) },
            meshing: Meshing::default(),
        }
    }
}

impl LodConfig {
    /// Replaces [`max_level`](Self::max_level).
    #[must_use]
    pub fn with_max_level(mut self, max_level: u8) -> Self {
        self.max_level = max_level;
        self
    }

    /// Replaces [`max_voxel_pixels`](Self::max_voxel_pixels).
    #[must_use]
    pub fn with_max_voxel_pixels(mut self, max_voxel_pixels: f64) -> Self {
        self.max_voxel_pixels = max_voxel_pixels;
        self
    }

    /// Replaces [`hysteresis`](Self::hysteresis).
    #[must_use]
    pub fn with_hysteresis(mut self, hysteresis: f64) -> Self {
        self.hysteresis = hysteresis;
        self
    }

    /// Replaces [`frame_bytes`](Self::frame_bytes).
    #[must_use]
    pub fn with_frame_bytes(mut self, frame_bytes: usize) -> Self {
        self.frame_bytes = frame_bytes;
        self
    }

    /// Replaces [`frame_time`](Self::frame_time).
    #[must_use]
    pub fn with_frame_time(mut self, frame_time: Duration) -> Self {
        self.frame_time = frame_time;
        self
    }

    /// Replaces [`waiting_bytes`](Self::waiting_bytes).
    #[must_use]
    pub fn with_waiting_bytes(mut self, waiting_bytes: usize) -> Self {
        self.waiting_bytes = waiting_bytes;
        self
    }

    /// Replaces [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Replaces [`meshing`](Self::meshing).
    #[must_use]
    pub fn with_meshing(mut self, meshing: Meshing) -> Self {
        self.meshing = meshing;
        self
    }
}

impl LodConfig {
    /// Limit for the bodies of recently edited nodes, in bytes.
    pub(super) const fn edited_bytes(&self) -> usize {
        self.waiting_bytes / 16
    }

    /// Limit for finished meshes that are not shown yet, in bytes.
    pub(super) const fn unshown_bytes(&self) -> usize {
        self.waiting_bytes - self.edited_bytes()
    }
}
