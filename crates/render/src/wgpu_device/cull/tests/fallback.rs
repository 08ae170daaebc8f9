//! The CPU culls scenes that exceed the device's limits.

use super::{super::super::tests::with_limits, *};
use crate::{
    cull::Cull,
    mesh_data::{Layer, MeshData},
    pool_renderer::PoolRenderer,
    renderer::Renderer,
};

/// A renderer whose GPU culls, on a device with lower limits than its adapter's.
fn renderer(
    test: &str,
    size: [u32; 2],
    lower: impl FnOnce(&mut wgpu::Limits),
) -> Option<PoolRenderer<WgpuDevice>> {
    let device = with_limits(open(test, 1, 1)?, size, lower);
    let mut renderer = PoolRenderer::new(device, 0, 0).unwrap();
    renderer.set_palette(&[[200, 60, 40, 255]]).unwrap();
    renderer.set_cull(Cull::Gpu).unwrap();
    Some(renderer)
}

/// Inserts meshes of one quad, side by side.
fn insert(renderer: &mut dyn Renderer, meshes: std::ops::Range<i32>) {
    let counts = Face::ALL.map(|face| u32::from(face == Face::PosZ));
    for x in meshes {
        let quads = [Quad::new([0, 0, 0], [1, 1], Face::PosZ, 0)];
        let draw_data = DrawData { origin: [x, 0, 0], level: 0, extent: 1, sort_rank: 0 };
        renderer
            .insert(&MeshData { quads: &quads, counts, draw_data, layer: Layer::Opaque })
            .unwrap();
    }
}

fn picture(renderer: &mut dyn Renderer) -> Image {
    let camera = Camera::look_at(DVec3::new(4.0, 4.0, 9.0), DVec3::new(4.0, 0.0, 0.0));
    renderer.draw(&View::new(camera)).unwrap();
    renderer.read_image().unwrap()
}

/// The picture of a renderer whose GPU can no longer cull: the CPU's, with one message.
fn falls_back(renderer: &mut dyn Renderer) {
    let culled = picture(renderer);
    assert_eq!(renderer.cull(), Cull::Cpu);
    let error = renderer.take_culling_error();
    assert!(matches!(error, Some(RenderError::NoCulling { .. })), "{error:?}");
    assert!(picture(renderer) == culled);
    assert!(renderer.take_culling_error().is_none());
}

/// The number of meshes counts, not the reserved capacity.
#[test]
fn the_cpu_culls_more_meshes_than_the_device_takes() {
    let test = "the_cpu_culls_more_meshes_than_the_device_takes";
    let three = |limits: &mut wgpu::Limits| limits.max_compute_workgroups_per_dimension = 3;
    let Some(mut renderer) = renderer(test, [16, 16], three) else { return };
    insert(&mut renderer, 0..192);
    picture(&mut renderer);
    assert_eq!(renderer.cull(), Cull::Gpu);
    insert(&mut renderer, 192..193);
    falls_back(&mut renderer);
}

#[test]
fn the_cpu_culls_where_the_depth_pyramid_is_too_large() {
    let test = "the_cpu_culls_where_the_depth_pyramid_is_too_large";
    let mebibyte = |limits: &mut wgpu::Limits| limits.max_storage_buffer_binding_size = 1 << 20;
    let Some(mut renderer) = renderer(test, [16, 16], mebibyte) else { return };
    insert(&mut renderer, 0..9);
    let small = picture(&mut renderer);
    assert_eq!(renderer.cull(), Cull::Gpu);
    // A third of these pixels, in four bytes each, are more than a mebibyte.
    renderer.resize(1024, 1024).unwrap();
    falls_back(&mut renderer);
    renderer.resize(16, 16).unwrap();
    renderer.set_cull(Cull::Gpu).unwrap();
    assert!(picture(&mut renderer) == small);
    assert_eq!(renderer.cull(), Cull::Gpu);
}
