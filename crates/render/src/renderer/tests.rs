//! The contract of [`Renderer`], tested on every renderer.

use drystone_mesh::Face;

use super::*;
use crate::{
    camera::Camera,
    instanced_renderer::{InstancedRenderer, SlotPolicy},
    mesh_data::Layer,
    naive_renderer::NaiveRenderer,
    pool_renderer::PoolRenderer,
    soft::SoftDevice,
};

fn renderers() -> [Box<dyn Renderer>; 3] {
    let soft = || SoftDevice::new(40, 30).unwrap();
    [
        Box::new(PoolRenderer::new(soft(), 10, 2).unwrap()),
        Box::new(NaiveRenderer::new(soft())),
        Box::new(InstancedRenderer::new(soft(), SlotPolicy::Lowest).unwrap()),
    ]
}

/// Checks all renderers and both layers. After a refused call the previous mesh remains.
#[test]
fn meshes_with_bad_transforms_are_refused() {
    let quads = [Quad::new([0; 3], [4, 4], Face::PosZ, 0)];
    let shaded = quads.map(|quad| quad.with_ambient_occlusion(1));
    let counts = [0, 0, 0, 0, 0, 1];
    for (mut renderer, layer) in [Layer::Opaque, Layer::Blended]
        .into_iter()
        .flat_map(|layer| renderers().map(|renderer| (renderer, layer)))
    {
        renderer.set_palette(&[[90, 160, 60, 255]]).unwrap();
        let at =
            |level| DrawData { origin: [-1, -2, -20], level, extent: 4 << level, sort_rank: 0 };
        let good = MeshData { quads: &quads, counts, draw_data: at(1), layer };
        let too_large = MeshData { draw_data: at(DrawData::MAX_LEVEL + 1), ..good };
        let off_grid = MeshData { quads: &shaded, ..good };
        let view = View::new(Camera::default());
        let picture = |renderer: &mut Box<dyn Renderer>| {
            renderer.draw(&view).unwrap();
            renderer.read_image().unwrap()
        };
        let sky = picture(&mut renderer);
        let mesh = renderer.insert(&good).unwrap();
        let before = picture(&mut renderer);
        assert!(before != sky, "{}", renderer.name());
        for bad in [too_large, off_grid] {
            for refused in [renderer.insert(&bad).map(|_| ()), renderer.replace(mesh, &bad)] {
                let is_refused = matches!(refused, Err(RenderError::BadTransform { .. }));
                assert!(is_refused, "{} {bad:?}", renderer.name());
            }
        }
        assert!(picture(&mut renderer) == before, "{}", renderer.name());
        assert_eq!(renderer.held().meshes, 1);
        // At level 0 all origins are on the grid.
        if renderer.name() != "instanced" {
            renderer.replace(mesh, &MeshData { draw_data: at(0), ..off_grid }).unwrap();
        }
    }
}

#[test]
fn cube_regions_above_the_maximum_level_are_refused() {
    let device = SoftDevice::new(8, 8).unwrap();
    let mut renderer = InstancedRenderer::new(device, SlotPolicy::Lowest).unwrap();
    let at = |level| DrawData { origin: [0; 3], level, extent: 1, sort_rank: 0 };
    let region = renderer.insert_region(at(DrawData::MAX_LEVEL)).unwrap();
    let refused = [
        renderer.insert_region(at(DrawData::MAX_LEVEL + 1)).map(|_| ()),
        renderer.set_region(region, at(u32::MAX)),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(RenderError::BadTransform { .. })), "{refused:?}");
    }
    renderer.set_region(region, at(0)).unwrap();
}
