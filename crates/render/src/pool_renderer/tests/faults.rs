//! Failures around a renderer: each is a typed error or has no effect, and the next picture is
//! correct.

use drystone_mesh::Face;
#[cfg(feature = "gl")]
use drystone_pool::PoolError;
use glam::DVec3;

use super::*;
#[cfg(feature = "gl")]
use crate::{
    Access,
    gl::{GlConfig, GlDevice},
};
use crate::{
    camera::{Camera, Projection},
    image::Image,
    naive_renderer::NaiveRenderer,
    soft::SoftDevice,
};

/// Pixels a side.
const SIZE: u32 = 96;
/// Number of meshes along each side of a square of them, seen from the front.
const SIDE: i32 = 316;

fn pool() -> PoolRenderer<SoftDevice> {
    PoolRenderer::new(SoftDevice::new(SIZE, SIZE).unwrap(), 0, 0).unwrap()
}

fn naive() -> NaiveRenderer<SoftDevice> {
    NaiveRenderer::new(SoftDevice::new(SIZE, SIZE).unwrap())
}

/// A square of 1 by 1 that faces +Z, in one of three colours.
fn tile(nth: i32) -> (Quad, DrawData) {
    let origin = [nth % SIDE, nth / SIDE, 0];
    let material = 1 + (nth * 7 / 3 % 3) as u16;
    (
        Quad::new([0, 0, 0], [1, 1], Face::PosZ, material),
        DrawData { origin, level: 0, extent: 1, sort_rank: 0 },
    )
}

fn insert(renderer: &mut dyn Renderer, nth: i32) -> Result<MeshId, RenderError> {
    let (quad, draw_data) = tile(nth);
    let counts = Face::ALL.map(|face| u32::from(face == Face::PosZ));
    renderer.insert(&MeshData { quads: &[quad], counts, draw_data, layer: Layer::Opaque })
}

/// A view of the first `count` tiles, from the front.
fn view_of(count: i32) -> View {
    let (width, height) = (count.min(SIDE), 1 + (count - 1) / SIDE);
    let [x, y] = [width, height].map(|side| f64::from(side) / 2.0);
    let mut camera = Camera::look_at(DVec3::new(x, y, 50.0), DVec3::new(x, y, 0.0));
    camera.projection = Projection::Orthographic { height_voxels: width.max(height) as f32 };
    // If tiles meet, the drawing order is visible: it must be that of insertion.
    View { sort_opaque: false, ..View::new(camera) }
}

fn picture(renderer: &mut dyn Renderer, view: &View) -> (Image, DrawStats) {
    renderer
        .set_palette(&[[0; 4], [200, 60, 40, 255], [60, 200, 40, 255], [40, 60, 200, 255]])
        .unwrap();
    let drawn = renderer.draw(view).unwrap();
    (renderer.read_image().unwrap(), drawn)
}

#[test]
fn a_hundred_thousand_draws_are_one_picture() {
    const COUNT: i32 = 100_000;
    let view = view_of(COUNT);
    let (mut pool, mut naive) = (pool(), naive());
    for nth in 0..COUNT {
        insert(&mut pool, nth).unwrap();
        insert(&mut naive, nth).unwrap();
    }
    let (image, drawn) = picture(&mut pool, &view);
    assert_eq!((drawn.commands, drawn.meshes), (COUNT as u32, COUNT as u32));
    let (expected, _) = picture(&mut naive, &view);
    assert!(image == expected, "the pool's picture is not the naive one");
    let sky = picture(&mut self::pool(), &view).0;
    assert!(image.difference(&sky, 2).is_some_and(|it| it.pixels > SIZE * SIZE / 2));
}

#[test]
fn meshes_of_another_renderer_are_refused() {
    let (mut mine, mut other, view) = (pool(), pool(), view_of(4));
    for nth in 0..2 {
        insert(&mut mine, nth).unwrap();
    }
    let before = picture(&mut mine, &view).0;
    let foreign = [insert(&mut other, 3).unwrap(), insert(&mut naive(), 3).unwrap()];
    for id in foreign {
        let (quad, draw_data) = tile(3);
        let counts = Face::ALL.map(|face| u32::from(face == Face::PosZ));
        let mesh = MeshData { quads: &[quad], counts, draw_data, layer: Layer::Opaque };
        let refused = mine.replace(id, &mesh).unwrap_err();
        assert!(matches!(refused, RenderError::StaleMesh), "{refused}");
        assert!(matches!(mine.remove(id), Err(RenderError::StaleMesh)));
    }
    assert!(picture(&mut mine, &view).0 == before);
    assert!(picture(&mut other, &view).0 != before);
}

/// The naive renderer's handles are like those of other naive renderers: only its own number
/// distinguishes them.
#[test]
fn naive_renderers_refuse_meshes_of_others() {
    let (mut mine, mut other, view) = (naive(), naive(), view_of(4));
    let kept = insert(&mut mine, 0).unwrap();
    let before = picture(&mut mine, &view).0;
    let foreign = [insert(&mut other, 3).unwrap(), insert(&mut pool(), 3).unwrap()];
    for id in foreign {
        let (quad, draw_data) = tile(3);
        let counts = Face::ALL.map(|face| u32::from(face == Face::PosZ));
        let mesh = MeshData { quads: &[quad], counts, draw_data, layer: Layer::Opaque };
        assert!(matches!(mine.replace(id, &mesh), Err(RenderError::StaleMesh)));
        assert!(matches!(mine.remove(id), Err(RenderError::StaleMesh)));
    }
    assert!(picture(&mut mine, &view).0 == before);
    mine.remove(kept).unwrap();
    assert_eq!(picture(&mut mine, &view).1.meshes, 0);
    assert_eq!(picture(&mut other, &view).1.meshes, 1);
}

/// A lost device is a different error from a full pool. A caller that sees a full pool removes
/// meshes, which is useless if the device is lost.
#[cfg(feature = "gl")]
#[test]
fn a_lost_device_is_no_full_pool() {
    let device = match GlDevice::headless(GlConfig::default(), SIZE, SIZE) {
        Ok(device) => device,
        Err(error) => return println!("skipped: a_lost_device_is_no_full_pool: {error}"),
    };
    let mut renderer = PoolRenderer::new(device, 0, 2).unwrap();
    let kept = insert(&mut renderer, 0).unwrap();
    insert(&mut renderer, 1).unwrap();
    renderer.device.lose();
    // The table of per-draw data would have to grow for this one …
    let refused = insert(&mut renderer, 2).unwrap_err();
    assert!(matches!(refused, RenderError::Lost { .. }), "{refused}");
    // … and these would need another buffer.
    let (quad, draw_data) = tile(0);
    let quads = vec![quad; 1 << 17];
    let counts = Face::ALL.map(|face| if face == Face::PosZ { 1 << 17 } else { 0 });
    let large = MeshData { quads: &quads, counts, draw_data, layer: Layer::Opaque };
    for _ in 0..2 {
        let refused = renderer.insert(&large).unwrap_err();
        assert!(matches!(refused, RenderError::Lost { .. }), "{refused}");
        let refused = renderer.replace(kept, &large).unwrap_err();
        assert!(matches!(refused, RenderError::Lost { .. }), "{refused}");
    }
    assert!(matches!(renderer.draw(&view_of(1)), Err(RenderError::Lost { .. })));
}

#[test]
fn meshes_that_are_refused_or_empty_change_no_picture() {
    let (mut renderer, view) = (pool(), view_of(4));
    let kept = insert(&mut renderer, 0).unwrap();
    let before = picture(&mut renderer, &view).0;
    let (quad, draw_data) = tile(1);
    let empty = MeshData { quads: &[], counts: [0; Face::COUNT], draw_data, layer: Layer::Opaque };
    let none = renderer.insert(&empty).unwrap();
    // Counts that do not add up.
    let wrong = MeshData { quads: &[quad], ..empty };
    assert!(matches!(renderer.insert(&wrong), Err(RenderError::Pool(_))));
    assert!(matches!(renderer.replace(kept, &wrong), Err(RenderError::Pool(_))));
    assert!(picture(&mut renderer, &view).0 == before);
    renderer.replace(kept, &empty).unwrap();
    renderer.remove(none).unwrap();
    assert!(matches!(renderer.remove(none), Err(RenderError::StaleMesh)));
    assert_eq!(picture(&mut renderer, &view).1.commands, 0);
}

/// The device has memory for a few buffers. Then the pool is full and reports it, and still draws
/// its meshes. Removing meshes frees space.
#[cfg(feature = "gl")]
#[test]
fn a_device_out_of_memory_is_a_full_pool() {
    for access in [Access::Direct, Access::Staged] {
        let config = GlConfig { access, memory_limit_bytes: 16 << 20, ..GlConfig::default() };
        let device = match GlDevice::headless(config, SIZE, SIZE) {
            Ok(device) => device,
            Err(error) => {
                println!("skipped: a_device_out_of_memory_is_a_full_pool ({access:?}): {error}");
                return;
            }
        };
        let mut renderer = PoolRenderer::new(device, 0, 64).unwrap();
        let view = view_of(1);
        let (quad, draw_data) = tile(0);
        // One visible mesh, and many that face away and are only stored.
        let away = Quad::new([0, 0, 0], [1, 1], Face::NegZ, 1);
        let mut quads = vec![away; 50_000];
        quads.push(quad);
        let counts = Face::ALL.map(|face| match face {
            Face::NegZ => 50_000,
            Face::PosZ => 1,
            _ => 0,
        });
        let large = MeshData { quads: &quads, counts, draw_data, layer: Layer::Opaque };
        let mut ids = Vec::new();
        let refused = loop {
            match renderer.insert(&large) {
                Ok(id) => ids.push(id),
                Err(error) => break error,
            }
        };
        let RenderError::Pool(PoolError::Full { device_refused: true, .. }) = refused else {
            panic!("{refused}")
        };
        assert!(renderer.held().reserved_bytes <= 16 << 20 && ids.len() > 2);
        let (full, drawn) = picture(&mut renderer, &view);
        assert_eq!(drawn.meshes as usize, ids.len());
        // One is removed, and when no frame reads it any more, another one fits.
        renderer.remove(ids[0]).unwrap();
        renderer.finish().unwrap();
        picture(&mut renderer, &view);
        renderer.insert(&large).unwrap();
        assert!(picture(&mut renderer, &view).0 == full);
    }
}
