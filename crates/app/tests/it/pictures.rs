//! Every renderer on every backend draws the pictures of `picture_cases` alike.
//!
//! The software rasteriser's `pool` picture is the reference. A channel may differ by
//! [`TOLERANCE`]. Away from silhouettes at most [`STRAY`] of the pixels may differ more (faces
//! nearly edge-on, where rasterisers disagree on coverage), on silhouettes at most [`SILHOUETTE`].

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use drystone::scene::{Meshing, quad_count};
use drystone_bench::{ArticleDevice, FatDevice, MergedDevice};
use drystone_mesh::Quad;
use drystone_pool::Oversize;
use drystone_render::{
    Access, Api, Cull, Device, GlConfig, GlDevice, Image, InstancedRenderer, NaiveRenderer,
    PoolRenderer, PoolRendererConfig, RenderError, Renderer, SlotPolicy, SoftDevice, View,
    WgpuDevice,
};
use drystone_world::World;

use crate::picture_cases::{Case, cases, shaded_cases};

/// Odd, so that rows are padded when they are read back.
pub(crate) const WIDTH: u32 = 317;
pub(crate) const HEIGHT: u32 = 240;

/// Largest difference of a channel, out of 255: one for rounding, one for the sums before it.
const TOLERANCE: u8 = 2;
/// Share of pixels that may differ more, away from silhouettes.
pub(crate) const STRAY: f64 = 0.0002;
/// Share of pixels that may differ more, in total.
pub(crate) const SILHOUETTE: f64 = 0.01;

pub(crate) fn pool<D: Device + 'static>(device: D, quads: u64) -> Box<dyn Renderer> {
    Box::new(PoolRenderer::new(device, quads, 4096).unwrap())
}

pub(crate) fn naive<D: Device + 'static>(device: D) -> Box<dyn Renderer> {
    Box::new(NaiveRenderer::new(device))
}

pub(crate) fn instanced<D: Device + 'static>(device: D) -> Box<dyn Renderer> {
    Box::new(InstancedRenderer::new(device, SlotPolicy::Lowest).unwrap())
}

pub(crate) fn soft() -> SoftDevice {
    SoftDevice::new(WIDTH, HEIGHT).unwrap()
}

pub(crate) fn pictures(case: &Case, views: &[View], renderer: Box<dyn Renderer>) -> Vec<Image> {
    let mut scene = case.scene(renderer);
    views.iter().map(|view| scene.picture(view).unwrap().0).collect()
}

/// Pictures of cases, by name. Tests of several devices share them.
pub(crate) type References = LazyLock<Mutex<HashMap<String, Arc<Vec<Image>>>>>;

/// Returns the pictures of a case, which `draw` draws the first time.
pub(crate) fn reference(
    references: &References,
    name: &str,
    draw: impl FnOnce() -> Vec<Image>,
) -> Arc<Vec<Image>> {
    if let Some(drawn) = references.lock().unwrap().get(name) {
        return Arc::clone(drawn);
    }
    let drawn = Arc::new(draw());
    references.lock().unwrap().insert(name.into(), Arc::clone(&drawn));
    drawn
}

fn expected(case: &Case) -> Arc<Vec<Image>> {
    static REFERENCES: References = LazyLock::new(Mutex::default);
    let draw = || pictures(case, &case.views, pool(soft(), quad_count(&case.quads())));
    reference(&REFERENCES, case.name, draw)
}

/// Compares pictures and returns the differences beyond the tolerance. Writes different pictures to
/// files.
pub(crate) fn compare(
    case: &str,
    index: usize,
    contender: &str,
    want: &Image,
    got: &Image,
) -> Option<String> {
    compare_within([STRAY, SILHOUETTE], (case, index, contender), want, got)
}

/// Compares pictures. These shares of the pixels may differ by more than the tolerance: away from
/// silhouettes, and in total.
pub(crate) fn compare_within(
    [max_stray, max_all]: [f64; 2],
    (case, index, contender): (&str, usize, &str),
    want: &Image,
    got: &Image,
) -> Option<String> {
    let pixels = f64::from(WIDTH * HEIGHT);
    let seen = want.difference(got, TOLERANCE).expect("pictures of one size");
    let stray = f64::from(seen.away_from_edges) / pixels;
    let all = f64::from(seen.pixels) / pixels;
    if stray <= max_stray && all <= max_all {
        return None;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&folder).unwrap();
    let name = |kind: &str| folder.join(format!("{case}-{index}-{contender}.{kind}.png"));
    want.save_png(&name("expected")).unwrap();
    got.save_png(&name("actual")).unwrap();
    difference(want, got).save_png(&name("difference")).unwrap();
    Some(format!("{case}, view {index}, {contender}: {seen:?}; see {}", name("*").display()))
}

/// Returns a picture of the differences, brightened.
fn difference(want: &Image, got: &Image) -> Image {
    let mut picture = Image::new(want.width(), want.height(), [0, 0, 0, 255]);
    let pairs = want.rgba().iter().zip(got.rgba());
    for ((n, out), (a, b)) in picture.rgba_mut().iter_mut().enumerate().zip(pairs) {
        if n % 4 != 3 {
            *out = a.abs_diff(*b).saturating_mul(8);
        }
    }
    picture
}

/// Draws all cases, with and without ambient occlusion, with the renderer that `open` returns for a
/// number of quads.
fn agree(contender: &str, open: impl Fn(u64) -> Box<dyn Renderer>) {
    agree_on(all_cases(), contender, open);
}

pub(crate) fn all_cases() -> Vec<Case> {
    cases().into_iter().chain(shaded_cases()).collect()
}

fn agree_on(cases: Vec<Case>, contender: &str, open: impl Fn(u64) -> Box<dyn Renderer>) {
    let mut wrong = Vec::new();
    for case in cases {
        let actual = pictures(&case, &case.views, open(quad_count(&case.quads())));
        assert_eq!(actual.len(), case.views.len());
        for (index, (want, got)) in expected(&case).iter().zip(&actual).enumerate() {
            wrong.extend(compare(case.name, index, contender, want, got));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tests all renderers on the devices of `open`; without an adapter, prints a note that is counted.
fn device_agrees<D: Device + 'static>(test: &str, open: impl Fn() -> Result<D, RenderError>) {
    match open() {
        Ok(device) => println!("{test}: {}", device.describe()),
        Err(error @ RenderError::NoAdapter { .. }) => return println!("skipped: {test}: {error}"),
        Err(error) => panic!("{test}: {error}"),
    }
    agree(&format!("{test}-pool"), |quads| pool(open().unwrap(), quads));
    agree(&format!("{test}-naive"), |_| naive(open().unwrap()));
    // Cubes have no ambient occlusion.
    agree_on(cases(), &format!("{test}-instanced"), |_| instanced(open().unwrap()));
}

fn gl_agrees(test: &str, access: Access) {
    let config = GlConfig::default().with_access(access);
    device_agrees(test, || GlDevice::headless(config, WIDTH, HEIGHT));
}

#[test]
fn naive_draws_what_pool_draws() {
    agree("soft-naive", |_| naive(soft()));
}

#[test]
fn instanced_draws_what_pool_draws() {
    agree_on(cases(), "soft-instanced", |_| instanced(soft()));
}

#[test]
fn wgpu_on_vulkan_draws_what_soft_draws() {
    device_agrees("vulkan", || WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT));
}

#[test]
fn wgpu_on_opengl_draws_what_soft_draws() {
    device_agrees("opengl", || WgpuDevice::headless(Api::OpenGl, WIDTH, HEIGHT));
}

/// Opens a pool renderer on Vulkan that culls on the GPU.
pub(crate) fn culled(quads: u64) -> Result<Box<dyn Renderer>, RenderError> {
    let mut renderer = pool(WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT)?, quads);
    renderer.set_cull(Cull::Gpu)?;
    Ok(renderer)
}

/// Whether there is a GPU that culls; prints a note that is counted if not.
pub(crate) fn culls(test: &str) -> bool {
    match culled(1) {
        Ok(mut renderer) => println!("{test}: {}", renderer.output().describe()),
        Err(error @ (RenderError::NoAdapter { .. } | RenderError::NoCulling { .. })) => {
            println!("skipped: {test}: {error}");
            return false;
        }
        Err(error) => panic!("{test}: {error}"),
    }
    true
}

#[test]
fn wgpu_that_culls_draws_what_soft_draws() {
    if culls("wgpu_that_culls_draws_what_soft_draws") {
        agree("vulkan-culled-pool", |quads| culled(quads).unwrap());
    }
}

/// Culling on the GPU draws in another order, so it may change the same pixels as any order (see
/// `order_changes_pixels_on_seams_at_most`), with much or little history of the last frame. It
/// leaves out at least as much as the CPU.
#[test]
fn culling_changes_pixels_on_seams_at_most() {
    if !culls("culling_changes_pixels_on_seams_at_most") {
        return;
    }
    let (mut changed, mut drawn) = (Vec::new(), [0, 0]);
    for case in all_cases() {
        let quads = case.quads();
        let plain =
            pool(WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT).unwrap(), quad_count(&quads));
        let culled = culled(quad_count(&quads)).unwrap();
        let mut scenes = [plain, culled].map(|it| case.scene(it));
        for (index, view) in case.views.iter().enumerate() {
            let (want, plain) = scenes[0].picture(view).unwrap();
            for _ in 0..2 {
                let (got, culled) = scenes[1].picture(view).unwrap();
                match want.difference(&got, 0).unwrap().pixels {
                    0 => {}
                    pixels => changed.push((case.name, index, pixels)),
                }
                assert!(culled.quads <= plain.quads, "{}, view {index}", case.name);
                drawn[0] += plain.quads;
                drawn[1] += culled.quads;
            }
        }
    }
    assert_on_seams(&changed);
    assert!(drawn[1] < drawn[0], "{drawn:?}");
}

/// A pool whose buffers hold a quarter of the scene each, as for scenes above 128 MiB.
fn pool_of_buffers<D: Device + 'static>(device: D, quads: u64, cull: Cull) -> Box<dyn Renderer> {
    let max_buffer_bytes = quads.div_ceil(4).max(1) * size_of::<Quad>() as u64;
    let oversize = Oversize::Split;
    let config = PoolRendererConfig::default()
        .with_oversize(oversize)
        .with_max_buffer_bytes(max_buffer_bytes);
    let mut renderer = PoolRenderer::with_config(device, quads, 4096, config).unwrap();
    assert!(renderer.held().reserved_bytes >= quads * size_of::<Quad>() as u64);
    renderer.set_cull(cull).unwrap();
    Box::new(renderer)
}

#[test]
fn several_buffers_show_what_one_shows() {
    let test = "several_buffers_show_what_one_shows";
    agree("soft-buffers", |quads| pool_of_buffers(soft(), quads, Cull::Cpu));
    for access in [Access::Direct, Access::Staged] {
        let config = GlConfig::default().with_access(access);
        let open = || GlDevice::headless(config, WIDTH, HEIGHT);
        if let Err(error @ RenderError::NoAdapter { .. }) = open() {
            println!("skipped: {test} (gl, {}): {error}", access.name());
            continue;
        }
        let name = format!("gl-{}-buffers", access.name());
        agree(&name, |quads| pool_of_buffers(open().unwrap(), quads, Cull::Cpu));
    }
    if culls(test) {
        let open = || WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT).unwrap();
        for cull in [Cull::Cpu, Cull::Gpu] {
            let name = format!("vulkan-buffers-{cull:?}");
            agree(&name, |quads| pool_of_buffers(open(), quads, cull));
        }
    }
}

#[test]
fn gl_written_directly_draws_what_soft_draws() {
    gl_agrees("gl-direct", Access::Direct);
}

#[test]
fn gl_written_by_copies_draws_what_soft_draws() {
    gl_agrees("gl-staged", Access::Staged);
}

/// The devices that benchmarks compare with draw the same pictures, without translucency.
#[test]
fn devices_for_comparison_draw_what_soft_draws() {
    let test = "devices_for_comparison_draw_what_soft_draws";
    let opaque = || {
        let is_opaque =
            |case: &Case| case.quads().iter().all(|chunk| chunk.mesh.translucent.is_empty());
        cases().into_iter().filter(is_opaque).collect::<Vec<_>>()
    };
    assert!(opaque().len() > 5);
    let article = || ArticleDevice::headless(WIDTH, HEIGHT);
    if let Err(error @ RenderError::NoAdapter { .. }) = article() {
        return println!("skipped: {test}: {error}");
    }
    agree_on(opaque(), "naive-gl", |_| naive(article().unwrap()));
    agree_on(opaque(), "merged-gl", |_| naive(MergedDevice::headless(WIDTH, HEIGHT).unwrap()));
    for access in [Access::Direct, Access::Staged] {
        let config = GlConfig::default().with_access(access);
        let fat = || FatDevice::headless(config, WIDTH, HEIGHT).unwrap();
        agree_on(opaque(), &format!("pool-gl-fat-{}", access.name()), |quads| pool(fat(), quads));
    }
}

/// Counts pixels that `change` alters, with their case and view.
fn changed_by(change: impl Fn(&View) -> View) -> Vec<(&'static str, usize, u32)> {
    let mut changed = Vec::new();
    for case in all_cases() {
        let views: Vec<View> = case.views.iter().map(&change).collect();
        let actual = pictures(&case, &views, pool(soft(), quad_count(&case.quads())));
        for (index, (want, got)) in expected(&case).iter().zip(&actual).enumerate() {
            match want.difference(got, 0).unwrap().pixels {
                0 => {}
                pixels => changed.push((case.name, index, pixels)),
            }
        }
    }
    changed
}

/// Masks and culling change no pixel.
#[test]
fn masking_and_culling_change_nothing() {
    assert_eq!(changed_by(|view| View { mask_back_faces: false, ..*view }), []);
    assert_eq!(changed_by(|view| View { cull_frustum: false, ..*view }), []);
}

/// Quads without ambient occlusion look the same with it enabled.
#[test]
fn ambient_occlusion_does_not_change_unoccluded_quads() {
    let test = "occlusion_changes_nothing_where_there_is_none";
    type Open = fn(u64) -> Result<Box<dyn Renderer>, RenderError>;
    let devices: [(&str, Open); 4] = [
        ("soft", |quads| Ok(pool(soft(), quads))),
        ("vulkan", |quads| Ok(pool(WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT)?, quads))),
        ("culled", culled),
        ("gl", |quads| Ok(pool(GlDevice::headless(GlConfig::default(), WIDTH, HEIGHT)?, quads))),
    ];
    for (name, open) in devices {
        if let Err(error) = open(1) {
            println!("skipped: {test}: {name}: {error}");
            continue;
        }
        for mut case in cases().into_iter().filter(|case| ["glass", "seams"].contains(&case.name)) {
            let draw = |case: &Case| pictures(case, &case.views, open(50_000).unwrap());
            let plain = draw(&case);
            case.set_occlusion(0.3);
            assert!(draw(&case) == plain, "{name}, {}", case.name);
        }
    }
}

/// The order of opaque meshes changes no pixel except at seams, where quads of different chunks
/// overlap. Seen edge-on, one seam may cover a whole column of pixels.
#[test]
fn order_changes_pixels_on_seams_at_most() {
    assert_on_seams(&changed_by(|view| View { sort_opaque: false, ..*view }));
}

fn assert_on_seams(changed: &[(&str, usize, u32)]) {
    assert!(changed.iter().all(|&(_, _, pixels)| pixels <= HEIGHT), "{changed:?}");
    let all: u32 = changed.iter().map(|&(_, _, pixels)| pixels).sum();
    assert!(all <= 2 * HEIGHT, "{changed:?}");
}

/// Returns the views of a case on another world.
fn case_of(case: &Case, world: World, meshing: Meshing) -> Case {
    Case { name: case.name, world, views: case.views.clone(), meshing }
}

/// The cases show their content: only the empty one is all sky, and ambient occlusion is visible.
#[test]
fn the_cases_show_their_content() {
    for case in all_cases() {
        let quads = quad_count(&case.quads());
        let empty =
            case_of(&case, World::new("sky", case.world.materials().clone()), Meshing::default());
        let sky = pictures(&empty, &case.views, pool(soft(), 1));
        let shown = expected(&case);
        if case.meshing.occlusion {
            let plain = case_of(&case, case.world.clone(), Meshing::default());
            let plain = pictures(&plain, &plain.views, pool(soft(), quads));
            let pairs = shown.iter().zip(&plain);
            let darker = pairs.map(|(a, b)| b.difference(a, TOLERANCE).unwrap().pixels);
            let darker: Vec<u32> = darker.collect();
            let seen_in = darker.iter().filter(|&&pixels| pixels > 200).count();
            assert!(seen_in >= 4, "{}: {darker:?}", case.name);
        }
        let differ = |i: usize| sky[i].difference(&shown[i], 8).unwrap().pixels;
        let seen: Vec<u32> = (0..shown.len()).map(differ).collect();
        match case.name {
            "empty" => assert!(quads == 0 && seen.iter().all(|&pixels| pixels == 0)),
            // From inside a lone voxel only sky is visible.
            name => assert!(seen[..4].iter().all(|&pixels| pixels > 200), "{name}: {seen:?}"),
        }
        if let Some(folder) = std::env::var_os("DRYSTONE_KEEP_PICTURES") {
            for (index, picture) in shown.iter().enumerate() {
                let name = format!("{}-{index}.png", case.name);
                picture.save_png(&PathBuf::from(&folder).join(name)).unwrap();
            }
        }
    }
}

/// An edit shows at once and leaves no old meshes, in all renderers.
#[test]
fn edited_scenes_equal_newly_built_ones() {
    for kind in ["pool", "naive", "instanced"] {
        let open = || match kind {
            "pool" => pool(soft(), 100_000),
            "naive" => naive(soft()),
            _ => instanced(soft()),
        };
        let name = if kind == "instanced" { "glass" } else { "shaded-glass" };
        let case = all_cases().into_iter().find(|case| case.name == name).unwrap();
        let mut scene = case.scene(open());
        let mut edited = case.world.clone();
        for (n, corner) in [[31, 1, 31], [32, 0, 32], [20, 5, 4], [-1, 3, 0]].iter().enumerate() {
            let [x, y, z] = *corner;
            let voxel = drystone_voxel::VoxelPos::new(x, y, z);
            let material = drystone_voxel::Material(n as u16);
            scene.set([(voxel, material)]).unwrap();
            edited.set(voxel, material);
        }
        let edited = case_of(&case, edited, case.meshing);
        let fresh = pictures(&edited, &case.views, open());
        for (view, want) in case.views.iter().zip(&fresh) {
            let (got, _) = scene.picture(view).unwrap();
            assert_eq!(want.difference(&got, 0).unwrap().pixels, 0, "{kind}");
        }
    }
}
