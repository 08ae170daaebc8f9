//! Worlds of any size, seen near and far: voxels at every level of detail, the tree that
//! chooses among them, and the threads that make their meshes.

mod cache;
mod data;
mod epochs;
mod lod_camera;
mod node_mesh;
#[cfg(test)]
mod tests;
mod tree;
mod workers;

use std::time::Duration;

pub(crate) use cache::Cache;
pub(crate) use data::top_level;
pub use data::{LodData, Unsaved};
pub(crate) use epochs::Epochs;
pub use lod_camera::{LodCamera, PixelScale};
pub use node_mesh::NodeMesh;
pub use tree::{LodCount, LodTree, NodeSink};

/// How fine a world is shown, how fast that follows the eye, and with how much memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LodConfig {
    /// A node is split when its voxels are longer than so many pixels. Default 3.5.
    pub max_voxel_pixels: f64,
    /// Eight nodes are merged when their parent's voxels are shorter than this part of
    /// that, so that an eye which trembles changes nothing. Default 0.8.
    pub hysteresis: f64,
    /// Bytes of meshes that an update shows, give or take one change. Default 2 MiB.
    pub frame_bytes: usize,
    /// Time that an update takes, give or take one change. Default 2 ms.
    pub frame_time: Duration,
    /// Bytes of meshes that may wait to be shown, give or take one for each thread and those
    /// that one split needs; of a sixteenth of these, those that were edited lately, of which the
    /// next edit makes only layers anew. Default 64 MiB.
    pub waiting_bytes: usize,
    /// Threads that make meshes; with none, [`LodTree::wait`] makes them. Default: one less
    /// than there are cores, at least one.
    pub threads: usize,
}

impl Default for LodConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            max_voxel_pixels: 3.5,
            hysteresis: 0.8,
            frame_bytes: 2 << 20,
            frame_time: Duration::from_millis(2),
            waiting_bytes: 64 << 20,
            threads: cores.saturating_sub(1).max(1),
        }
    }
}

impl LodConfig {
    /// Bytes of meshes that are kept since they were edited lately.
    const fn edited_bytes(&self) -> usize {
        self.waiting_bytes / 16
    }

    /// Bytes of meshes that may wait to be shown.
    const fn unshown_bytes(&self) -> usize {
        self.waiting_bytes - self.edited_bytes()
    }
}
