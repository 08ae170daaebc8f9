//! Level of detail (LOD) for worlds of any size: chunks at every level, the tree that selects the
//! nodes to show, and the threads that make their meshes.

mod config;
mod data;
mod lod_camera;
mod node_grid;
mod node_mesh;
mod node_sink;
#[cfg(test)]
mod tests;
mod tree;
mod workers;

pub use config::{LodConfig, Meshing};
pub use data::LodData;
pub use data::unsaved::Unsaved;
pub use lod_camera::{BlockedLight, LodCamera, PixelScale};
pub use node_sink::{CubeSink, NodeSink};
pub use tree::LodTree;
pub use tree::shown_nodes::LodCount;
