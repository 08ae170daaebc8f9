use std::thread::sleep;

use drystone_render::{Atmosphere, Image, SlotPolicy, SoftDevice};
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{Edit, GeneratedWorld, GeneratorConfig, VoxelShape};

use super::*;
use crate::scene::{MemoryBudget, default_view_of_box, level_corners};

const SIZE: Size = Size { width: 96, height: 64 };
const CUBES: RendererKind = RendererKind::Instanced(SlotPolicy::Lowest);
/// Number of pixels at edges that quads with other cuts may change.
const FEW: u32 = 20;

fn full_detail() -> LodLimits {
    LodLimits::from(MemoryBudget::new(64 << 20)).full_detail()
}

fn device() -> OpenDevice {
    OpenDevice::new(SoftDevice::new(SIZE.width, SIZE.height).unwrap())
}

/// Shows a generated world, with all meshes.
fn shown(limits: LodLimits, device: &OpenDevice) -> ShownVoxels {
    let config = GeneratorConfig { size_chunks: [8, 4, 8], ..GeneratorConfig::default() };
    let source = Box::new(GeneratedWorld::new(config).unwrap());
    let data = Arc::new(LodData::new(source, 16 << 20));
    let content = Content::Voxels(Arc::clone(&data), limits);
    let renderer = device.renderer(RendererKind::Pool, content.capacity()).unwrap();
    let mut voxels = ShownVoxels::new(data, limits, renderer).unwrap();
    let view = view(&voxels, 0.0);
    voxels.scene.settle(&view, SIZE, |_| {}).unwrap();
    voxels
}

fn view(voxels: &ShownVoxels, occlusion: f32) -> View {
    let corners = level_corners(voxels.scene.data());
    let mut view = View::new(default_view_of_box(corners, SIZE.aspect()).camera);
    view.atmosphere.ambient_occlusion = occlusion;
    view
}

fn picture(voxels: &mut ShownVoxels, occlusion: f32) -> Image {
    let view = view(voxels, occlusion);
    voxels.scene.picture(&view).unwrap().0
}

fn differing(one: &Image, other: &Image) -> u32 {
    one.difference(other, 8).unwrap().pixels
}

/// Continues a change until it is complete, and calls `check` after each step.
fn step_through(voxels: &mut ShownVoxels, mut check: impl FnMut(&mut ShownVoxels, u32)) -> u32 {
    let (view, mut steps) = (view(voxels, 0.0), 0);
    while let Some(part) = voxels.follow(&view, SIZE, Duration::ZERO).unwrap() {
        assert!((0.0..1.0).contains(&part) && steps < 10_000, "{part} {steps}");
        check(voxels, steps);
        steps += 1;
        sleep(Duration::from_millis(1));
    }
    steps
}

/// Puts a ball into view.
fn edit(voxels: &mut ShownVoxels) {
    let ball = VoxelShape::Sphere { center: VoxelPos::new(128, 100, 128), radius_voxels: 30 };
    let edit = Edit::fill(voxels.scene.data(), &ball, Material(1)).unwrap();
    assert!(voxels.scene.apply_edit(&edit).unwrap() > 0);
    voxels.scene.finish(|_| {}).unwrap();
}

/// Every picture during the change equals the one before, or the one with the edit.
#[test]
fn a_change_of_renderer_never_shows_an_incomplete_picture() {
    for (limits, kind) in [
        (full_detail().all_levels(), RendererKind::Naive),
        (full_detail(), RendererKind::Naive),
        (full_detail(), CUBES),
    ] {
        let device = device();
        let mut voxels = shown(limits, &device);
        let mut expected = picture(&mut voxels, 0.0);
        voxels.change_renderer(&device, kind).unwrap();
        let steps = step_through(&mut voxels, |voxels, step| {
            assert_eq!(voxels.scene.renderer().name(), "pool");
            assert!(picture(voxels, 0.0) == expected, "{kind:?}");
            if step == 1 {
                // The meshes of the next one are older than the edit.
                let Some(Change::Renderer(next)) = &mut voxels.change else { panic!() };
                next.scene.finish(|_| {}).unwrap();
                edit(voxels);
                voxels.edited(&device).unwrap();
                let before = std::mem::replace(&mut expected, picture(voxels, 0.0));
                assert!(before != expected, "the edit is visible");
            }
        });
        assert!(steps > 1, "{steps}");
        assert_ne!(voxels.scene.renderer().name(), "pool");
        assert!(differing(&expected, &picture(&mut voxels, 0.0)) < FEW, "{kind:?}");
    }
}

/// At all levels of detail, too.
#[test]
fn a_change_of_ambient_occlusion_is_invisible_until_it_is_enabled() {
    for limits in [full_detail(), full_detail().all_levels()] {
        let device = device();
        let mut voxels = shown(limits, &device);
        let before = picture(&mut voxels, 0.0);
        let shaded = Meshing { occlusion: true };
        let mut always = limits;
        always.config.meshing = shaded;
        let dark = picture(&mut shown(always, &device), Atmosphere::OCCLUSION);
        assert!(differing(&before, &dark) > 15 * FEW, "{}", differing(&before, &dark));
        for meshing in [shaded, Meshing::default()] {
            voxels.change_meshing(meshing);
            let steps = step_through(&mut voxels, |voxels, _| {
                assert!(differing(&picture(voxels, 0.0), &before) < FEW, "{meshing:?}");
            });
            assert!(steps > 0, "{steps}");
            let expected = if meshing.occlusion { &dark } else { &before };
            let now = picture(&mut voxels, Atmosphere::OCCLUSION);
            assert!(differing(&now, expected) < FEW, "{meshing:?}");
        }
        // A cancelled change ends with the meshes of before.
        voxels.change_meshing(shaded);
        let view = view(&voxels, 0.0);
        voxels.follow(&view, SIZE, Duration::ZERO).unwrap();
        voxels.stop_change();
        voxels.scene.finish(|_| {}).unwrap();
        assert!(differing(&picture(&mut voxels, Atmosphere::OCCLUSION), &before) < FEW);
    }
}

/// A renderer that refuses a mesh does not affect the picture.
#[test]
fn a_refused_change_keeps_the_current_renderer() {
    let device = device();
    let mut limits = full_detail();
    limits.config.meshing = Meshing { occlusion: true };
    let mut voxels = shown(limits, &device);
    let before = picture(&mut voxels, Atmosphere::OCCLUSION);
    voxels.change_renderer(&device, CUBES).unwrap();
    let view = view(&voxels, 0.0);
    let mut follow = || voxels.follow(&view, SIZE, Duration::ZERO);
    let refused = (0..10_000).find_map(|_| {
        sleep(Duration::from_millis(1));
        follow().err()
    });
    assert!(refused.is_some(), "cubes have no ambient occlusion");
    assert!(matches!(follow(), Ok(None)), "the change is cancelled");
    assert_eq!(voxels.scene.renderer().name(), "pool");
    assert!(picture(&mut voxels, Atmosphere::OCCLUSION) == before);
}

/// A renderer without memory for all meshes does not affect the picture, and the change ends.
#[test]
fn a_change_to_a_full_renderer_is_cancelled() {
    let device = device();
    let mut voxels = shown(full_detail(), &device);
    let before = picture(&mut voxels, 0.0);
    voxels.change_renderer(&device, RendererKind::Naive).unwrap();
    let Some(Change::Renderer(next)) = &mut voxels.change else { panic!() };
    next.scene.set_max_bytes(64 << 10);
    let view = view(&voxels, 0.0);
    let mut follow = || voxels.follow(&view, SIZE, Duration::from_millis(1));
    let refused = (0..20_000).find_map(|_| follow().err());
    assert!(refused.is_some_and(|it| it.to_string().contains("memory")), "never refused");
    assert!(matches!(follow(), Ok(None)), "the change is cancelled");
    assert!(picture(&mut voxels, 0.0) == before);
}
