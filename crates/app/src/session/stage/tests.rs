use std::sync::Arc;
use std::thread::sleep;

use drystone_render::{Atmosphere, SlotPolicy, SoftDevice};
use drystone_voxel::{Material, VoxelPos};
use drystone_world::{Edit, GeneratedWorld, GeneratorConfig, VoxelShape};

use super::*;
use crate::scene::{Framing, MemoryBudget, Side, level_corners};

const SIZE: Size = Size { width: 96, height: 64 };
const CUBES: RendererKind = RendererKind::Instanced(SlotPolicy::Lowest);
/// Number of pixels at edges that quads with other cuts may change.
const FEW: u32 = 20;

fn full_detail() -> LodLimits {
    LodLimits::from(MemoryBudget::new(64 << 20)).full_detail()
}

/// Shows a generated world, with all meshes.
fn shown(limits: LodLimits) -> Stage {
    let config = GeneratorConfig::default().with_size_chunks([8, 4, 8]);
    let source = Box::new(GeneratedWorld::new(config).unwrap());
    let data = Arc::new(LodData::new(source, 16 << 20));
    let content = Content::Voxels(data, limits);
    let device = OpenDevice::new(SoftDevice::new(SIZE.width, SIZE.height).unwrap());
    let renderer = device.renderer(RendererKind::Pool, content.capacity()).unwrap();
    let scene = Shown::new(content, limits.config.meshing, renderer, Pace::Frames).unwrap();
    let mut stage = Stage::new(scene, device);
    let view = view(&stage, 0.0);
    stage.scene.settle(&view, SIZE).unwrap();
    stage
}

fn view(stage: &Stage, occlusion: f32) -> View {
    let corners = level_corners(stage.data().unwrap());
    let mut view =
        View::new(Framing::of_voxels(corners).default_view(Side::default(), SIZE.aspect()).camera);
    view.atmosphere.ambient_occlusion = occlusion;
    view
}

fn picture(stage: &mut Stage, occlusion: f32) -> Image {
    let view = view(stage, occlusion);
    stage.picture(&view).unwrap().0
}

fn differing(one: &Image, other: &Image) -> u32 {
    one.difference(other, 8).unwrap().pixels
}

/// Continues a change until it is complete, and calls `check` after each step.
fn step_through(stage: &mut Stage, mut check: impl FnMut(&mut Stage, u32)) -> u32 {
    let (view, mut steps) = (view(stage, 0.0), 0);
    while let Some(part) = stage.follow(&view, SIZE, Duration::ZERO).unwrap() {
        assert!((0.0..1.0).contains(&part) && steps < 10_000, "{part} {steps}");
        check(stage, steps);
        steps += 1;
        sleep(Duration::from_millis(1));
    }
    steps
}

/// Puts a ball into view.
fn edit(stage: &mut Stage) {
    let ball = VoxelShape::Sphere { center: VoxelPos::new(128, 100, 128), radius_voxels: 30 };
    let edit = Edit::fill(stage.data().unwrap(), &ball, Material(1)).unwrap();
    let scene = stage.voxel_scene().unwrap();
    assert!(scene.apply_edit(&edit).unwrap() > 0);
    scene.finish(|_| {}).unwrap();
}

/// Neither does a change of the levels of detail.
#[test]
fn a_change_of_limits_never_shows_an_incomplete_picture() {
    let (levels, full) = (full_detail().all_levels(), full_detail());
    for (now, then) in [(levels, full), (full, levels)] {
        let mut stage = shown(now);
        let (before, after) = (picture(&mut stage, 0.0), picture(&mut shown(then), 0.0));
        let limits = if then.has_levels() { LodLimits::all_levels } else { LodLimits::full_detail };
        stage.change_limits(limits, RendererKind::Pool).unwrap();
        let steps = step_through(&mut stage, |stage, _| assert!(picture(stage, 0.0) == before));
        assert!(steps > 1 && stage.has_levels() == then.has_levels(), "{steps}");
        assert!(differing(&after, &picture(&mut stage, 0.0)) < FEW);
    }
}

/// Every picture during the change equals the one before, or the one with the edit.
#[test]
fn a_change_of_renderer_never_shows_an_incomplete_picture() {
    for (limits, kind) in [
        (full_detail().all_levels(), RendererKind::Naive),
        (full_detail(), RendererKind::Naive),
        (full_detail(), CUBES),
    ] {
        let mut stage = shown(limits);
        let mut expected = picture(&mut stage, 0.0);
        stage.change_renderer(kind, Meshing::default()).unwrap();
        let steps = step_through(&mut stage, |stage, step| {
            assert_eq!(stage.renderer().name(), "pool");
            assert!(picture(stage, 0.0) == expected, "{kind:?}");
            if step == 1 {
                // The meshes of the next one are older than the edit.
                let next = stage.next.as_mut().unwrap();
                next.scene.voxel_scene().unwrap().finish(|_| {}).unwrap();
                edit(stage);
                stage.edited().unwrap();
                let before = std::mem::replace(&mut expected, picture(stage, 0.0));
                assert!(before != expected, "the edit is visible");
            }
        });
        assert!(steps > 1, "{steps}");
        assert_ne!(stage.renderer().name(), "pool");
        assert!(differing(&expected, &picture(&mut stage, 0.0)) < FEW, "{kind:?}");
    }
}

/// At all levels of detail, too.
#[test]
fn a_change_of_ambient_occlusion_is_invisible_until_it_is_enabled() {
    for limits in [full_detail(), full_detail().all_levels()] {
        let mut stage = shown(limits);
        let before = picture(&mut stage, 0.0);
        let shaded = Meshing { occlusion: true };
        let mut always = limits;
        always.config.meshing = shaded;
        let dark = picture(&mut shown(always), Atmosphere::OCCLUSION);
        assert!(differing(&before, &dark) > 15 * FEW, "{}", differing(&before, &dark));
        for meshing in [shaded, Meshing::default()] {
            stage.change_meshing(meshing);
            let steps = step_through(&mut stage, |stage, _| {
                assert!(differing(&picture(stage, 0.0), &before) < FEW, "{meshing:?}");
            });
            assert!(steps > 0, "{steps}");
            let expected = if meshing.occlusion { &dark } else { &before };
            let now = picture(&mut stage, Atmosphere::OCCLUSION);
            assert!(differing(&now, expected) < FEW, "{meshing:?}");
        }
        // A cancelled change ends with the meshes of before.
        stage.change_meshing(shaded);
        let view = view(&stage, 0.0);
        stage.follow(&view, SIZE, Duration::ZERO).unwrap();
        stage.stop_change();
        stage.voxel_scene().unwrap().finish(|_| {}).unwrap();
        assert!(differing(&picture(&mut stage, Atmosphere::OCCLUSION), &before) < FEW);
    }
}

/// A renderer that refuses a mesh does not affect the picture.
#[test]
fn a_refused_change_keeps_the_current_renderer() {
    let mut limits = full_detail();
    limits.config.meshing = Meshing { occlusion: true };
    let mut stage = shown(limits);
    let before = picture(&mut stage, Atmosphere::OCCLUSION);
    stage.change_renderer(CUBES, limits.config.meshing).unwrap();
    let view = view(&stage, 0.0);
    let mut follow = || stage.follow(&view, SIZE, Duration::ZERO);
    let refused = (0..10_000).find_map(|_| {
        sleep(Duration::from_millis(1));
        follow().err()
    });
    assert!(refused.is_some(), "cubes have no ambient occlusion");
    assert!(matches!(follow(), Ok(None)), "the change is cancelled");
    assert_eq!(stage.renderer().name(), "pool");
    assert!(picture(&mut stage, Atmosphere::OCCLUSION) == before);
}

/// A renderer without memory for all meshes does not affect the picture, and the change ends.
#[test]
fn a_change_to_a_full_renderer_is_cancelled() {
    let mut stage = shown(full_detail());
    let before = picture(&mut stage, 0.0);
    stage.change_renderer(RendererKind::Naive, Meshing::default()).unwrap();
    let next = stage.next.as_mut().unwrap();
    next.scene.voxel_scene().unwrap().set_max_bytes(64 << 10);
    let view = view(&stage, 0.0);
    let mut follow = || stage.follow(&view, SIZE, Duration::from_millis(1));
    let refused = (0..20_000).find_map(|_| follow().err());
    assert!(refused.is_some_and(|it| it.to_string().contains("memory")), "never refused");
    assert!(matches!(follow(), Ok(None)), "the change is cancelled");
    assert!(picture(&mut stage, 0.0) == before);
}

/// Scenes of the same voxels share a cache. Without levels of detail it has no limit.
#[test]
fn a_cancelled_change_restores_the_limit_of_the_cache() {
    let mut limits = full_detail().all_levels();
    limits.cache_bytes = 64 << 10;
    let mut stage = shown(limits);
    stage.change_limits(LodLimits::full_detail, RendererKind::Pool).unwrap();
    stage.stop_change();
    let data = stage.data().unwrap();
    for position in data.chunk_positions() {
        data.chunk(position.into());
    }
    assert!(data.cached_bytes() <= limits.cache_bytes, "{}", data.cached_bytes());
}
