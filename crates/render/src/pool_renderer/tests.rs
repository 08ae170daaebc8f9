use drystone_mesh::{Face, Quad};
use drystone_testing::Random;

use super::*;
use crate::{draw_data::DrawData, soft::SoftDevice};

mod faults;
#[cfg(feature = "wgpu")]
mod flight;
mod owned_mesh;
mod same_view;
#[cfg(feature = "wgpu")]
mod table;

/// Meshes that become larger do not make a small scene reserve a multiple of its size.
#[test]
fn small_scenes_grow_in_small_steps() {
    for scene_quads in [20_000, 200_000] {
        let device = SoftDevice::new(4, 4).unwrap();
        let mut renderer = PoolRenderer::new(device, scene_quads, 20).unwrap();
        let quads = vec![Quad::new([0; 3], [1, 1], Face::PosX, 0); scene_quads as usize];
        let mesh = |count: u64| MeshData {
            quads: &quads[..count as usize],
            counts: [count as u32, 0, 0, 0, 0, 0],
            draw_data: DrawData { origin: [0; 3], level: 0, extent: 32, sort_rank: 0 },
            layer: Layer::Opaque,
        };
        let each = scene_quads / 20;
        let ids: Vec<_> = (0..20).map(|_| renderer.insert(&mesh(each)).unwrap()).collect();
        for id in &ids[..3] {
            renderer.replace(*id, &mesh(each + each / 10)).unwrap();
        }
        let held = renderer.held();
        let limit_bytes = held.used_bytes * 6 / 5;
        assert!(held.reserved_bytes <= limit_bytes, "{scene_quads} quads: {held:?}");
    }
}
