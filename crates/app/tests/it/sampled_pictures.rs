//! Pictures with several samples a pixel: every renderer on every backend draws those of
//! `picture_cases` and `model_cases` alike, and they are nearer to the true picture than pictures
//! with one sample.
//!
//! The software rasteriser's `pool` picture is the reference. One limit is that of `pictures`, four
//! times as coarse in colour: at most [`SILHOUETTE`] of the pixels may differ by more than
//! [`CLEARLY`], a quarter of a contrast of 64. That is the change if one of four samples is decided
//! differently.
//!
//! Smaller differences are more frequent. With one sample, a pixel shows one face, at the pixel's
//! centre. With four it shows up to four faces, each at a sample. In perspective, Mesa's software
//! drivers interpolate there with `w` of the pixel's centre, so positions and normals are wrong by
//! the change of `w` within half a pixel. Ambient occlusion and lines make visible differences of
//! it, and so do normals on large triangles near the camera. Orthographic views have fewer. At most
//! [`ROUNDED`] of the pixels may differ by more than the tolerance of `pictures`, and of models at
//! most [`STRAY_ON_MODELS`] away from silhouettes.

use std::sync::{LazyLock, Mutex};

use drystone::scene::{ModelScene, quad_count};
use drystone_render::{
    Access, Api, Cull, Device, GlConfig, GlDevice, Image, Output, RenderError, Renderer, Samples,
    SoftDevice, View, WgpuDevice,
};

use crate::{
    model_cases::{ModelCase, model_cases},
    picture_cases::{Case, cases},
    pictures::{
        HEIGHT, References, SILHOUETTE, STRAY, WIDTH, all_cases, compare_within, culled, culls,
        instanced, naive, pictures, pool, reference, soft,
    },
};

/// Share of pixels that may differ by more than the tolerance of `pictures`.
const ROUNDED: f64 = 0.1;
/// Difference of a channel that is visible on an edge.
const CLEARLY: u8 = 16;
/// Share of pixels of models away from silhouettes that may differ by more than the tolerance of
/// `pictures`: where triangles of a smooth surface meet.
const STRAY_ON_MODELS: f64 = 0.002;

/// Compares pictures and returns the differences beyond the limits.
fn compare(stray: f64, case: (&str, usize, &str), want: &Image, got: &Image) -> Option<String> {
    let clear = want.difference(got, CLEARLY).expect("pictures of one size");
    if f64::from(clear.pixels) > SILHOUETTE * f64::from(WIDTH * HEIGHT) {
        return Some(format!("{case:?}: {clear:?} differ clearly"));
    }
    compare_within([stray, ROUNDED], case, want, got)
}

/// A renderer that draws four samples a pixel.
fn sampled(mut renderer: Box<dyn Renderer>) -> Box<dyn Renderer> {
    renderer.output().set_samples(Samples::Four).unwrap();
    assert_eq!(renderer.output().info().samples, Samples::Four);
    renderer
}

/// Draws the cases with the renderer that `open` returns for a number of quads.
fn agree_on(cases: Vec<Case>, contender: &str, open: impl Fn(u64) -> Box<dyn Renderer>) {
    static REFERENCES: References = LazyLock::new(Mutex::default);
    let mut wrong = Vec::new();
    for case in cases {
        let quads = quad_count(&case.quads());
        let draw = || pictures(&case, &case.views, sampled(pool(soft(), quads)));
        let expected = reference(&REFERENCES, case.name, draw);
        let actual = pictures(&case, &case.views, sampled(open(quads)));
        for (index, (want, got)) in expected.iter().zip(&actual).enumerate() {
            let name = format!("{contender}-sampled");
            wrong.extend(compare(STRAY, (case.name, index, &name), want, got));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn model_pictures(case: &ModelCase, renderer: Box<dyn Renderer>) -> Vec<Image> {
    let mut scene = ModelScene::new(case.model.clone(), sampled(renderer)).unwrap();
    case.views.iter().map(|view| scene.picture(view).unwrap().0).collect()
}

/// Draws all models with the renderer that `open` returns.
fn models_agree(contender: &str, open: impl Fn() -> Box<dyn Renderer>) {
    static REFERENCES: References = LazyLock::new(Mutex::default);
    let mut wrong = Vec::new();
    for case in model_cases() {
        let draw = || model_pictures(&case, pool(soft(), 0));
        let expected = reference(&REFERENCES, &case.name, draw);
        let actual = model_pictures(&case, open());
        for (index, (want, got)) in expected.iter().zip(&actual).enumerate() {
            let name = format!("{contender}-sampled");
            wrong.extend(compare(STRAY_ON_MODELS, (&case.name, index, &name), want, got));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tests the pool on the devices of `open`. Without an adapter, prints a note that is counted, and returns
/// false.
fn pool_agrees<D: Device + 'static>(test: &str, open: impl Fn() -> Result<D, RenderError>) -> bool {
    match open() {
        Ok(device) => println!("{test}: {}", device.describe()),
        Err(error @ RenderError::NoAdapter { .. }) => {
            println!("skipped: {test}: {error}");
            return false;
        }
        Err(error) => panic!("{test}: {error}"),
    }
    agree_on(all_cases(), &format!("{test}-pool"), |quads| pool(open().unwrap(), quads));
    true
}

/// Tests all renderers on the devices of `open`.
fn device_agrees<D: Device + 'static>(test: &str, open: impl Fn() -> Result<D, RenderError>) {
    if !pool_agrees(test, &open) {
        return;
    }
    agree_on(all_cases(), &format!("{test}-naive"), |_| naive(open().unwrap()));
    // Cubes have no ambient occlusion.
    agree_on(cases(), &format!("{test}-instanced"), |_| instanced(open().unwrap()));
    models_agree(&format!("{test}-models"), || pool(open().unwrap(), 0));
}

#[test]
fn samples_are_the_same_with_every_renderer() {
    agree_on(all_cases(), "soft-naive", |_| naive(soft()));
    agree_on(cases(), "soft-instanced", |_| instanced(soft()));
    models_agree("soft-naive", || naive(soft()));
}

#[test]
fn samples_are_the_same_on_vulkan() {
    device_agrees("vulkan", || WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT));
}

#[test]
fn samples_are_the_same_on_wgpus_opengl() {
    device_agrees("opengl", || WgpuDevice::headless(Api::OpenGl, WIDTH, HEIGHT));
}

#[test]
fn samples_are_the_same_on_gl_written_directly_or_by_copies() {
    let open = |access| GlDevice::headless(GlConfig::default().with_access(access), WIDTH, HEIGHT);
    device_agrees("gl-direct", || open(Access::Direct));
    // Only pools write in different ways.
    pool_agrees("gl-staged", || open(Access::Staged));
}

/// Culling reads the depth of all samples: what is left out is hidden at every sample.
#[test]
fn samples_are_the_same_with_culling_on_the_gpu() {
    let test = "samples_are_the_same_with_culling_on_the_gpu";
    if !culls(test) {
        return;
    }
    agree_on(all_cases(), "vulkan-culled", |quads| culled(quads).unwrap());
    let mut drawn = [0, 0];
    for case in cases() {
        let open = || WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT).unwrap();
        let quads = quad_count(&case.quads());
        let renderers = [pool(open(), quads), culled(quads).unwrap()];
        let mut scenes = renderers.map(|renderer| case.scene(sampled(renderer)));
        assert_eq!(scenes[1].renderer().cull(), Cull::Gpu);
        // Meshes are hidden by those of the picture before.
        for view in case.views.iter().flat_map(|view| [view, view]) {
            for (scene, drawn) in scenes.iter_mut().zip(&mut drawn) {
                *drawn += scene.picture(view).unwrap().1.quads;
            }
        }
    }
    assert!(drawn[1] < drawn[0], "{drawn:?}");
}

/// Draws the case in a picture that is larger by a factor along each side.
fn larger(case: &Case, views: &[View], scale: u32, samples: Samples) -> Vec<Image> {
    let mut device = SoftDevice::new(WIDTH * scale, HEIGHT * scale).unwrap();
    device.set_samples(samples).unwrap();
    pictures(case, views, pool(device, quad_count(&case.quads())))
}

/// Mean of each square of pixels.
pub(crate) fn reduced(picture: &Image, scale: u32) -> Vec<f64> {
    let (width, scale) = (WIDTH as usize, scale as usize);
    let mut sums = vec![0; width * HEIGHT as usize * 3];
    for (y, row) in picture.rgba().chunks_exact(width * scale * 4).enumerate() {
        for (x, pixel) in row.chunks_exact(4).enumerate() {
            let at = (y / scale * width + x / scale) * 3;
            (0..3).for_each(|channel| sums[at + channel] += u32::from(pixel[channel]));
        }
    }
    sums.iter().map(|&sum| f64::from(sum) / (scale * scale) as f64).collect()
}

/// Root of the mean square of the differences of channels.
pub(crate) fn error(picture: &Image, truth: &[f64]) -> f64 {
    let found = reduced(picture, 1);
    let squares: f64 = found.iter().zip(truth).map(|(a, b)| (a - b) * (a - b)).sum();
    (squares / truth.len() as f64).sqrt()
}

/// More samples give pictures that are nearer to a picture with 36 samples on a grid.
#[test]
fn more_samples_are_nearer_to_the_true_picture() {
    // Lines along edges are as wide in a larger picture, so they are thinner in its means.
    // Faces fade by the size of pixels.
    let is_compared = |case: &Case| {
        case.name != "empty" && !["marked", "faded"].iter().any(|kind| case.name.contains(kind))
    };
    for case in all_cases().into_iter().filter(is_compared) {
        let views = &case.views[..2];
        let truth = larger(&case, views, 6, Samples::One);
        let errors = Samples::ALL.map(|samples| {
            let drawn = larger(&case, views, 1, samples);
            let pairs = drawn.iter().zip(&truth);
            pairs.map(|(drawn, truth)| error(drawn, &reduced(truth, 6))).sum::<f64>()
        });
        println!("{}: {errors:.3?}", case.name);
        assert!(errors[1] < 0.6 * errors[0], "{}: {errors:?}", case.name);
        assert!(errors[2] < 0.9 * errors[1], "{}: {errors:?}", case.name);
    }
}

/// A device that offers fewer samples than requested says how many it draws.
#[test]
fn requests_are_lowered_to_what_a_device_offers() {
    let test = "requests_are_lowered_to_what_a_device_offers";
    let vulkan = WgpuDevice::headless(Api::Vulkan, 64, 48).map(naive);
    let gl = GlDevice::headless(GlConfig::default(), 64, 48).map(naive);
    for (name, opened) in [("vulkan", vulkan), ("gl", gl)] {
        let Ok(mut renderer) = opened else {
            println!("skipped: {test}: {name}");
            continue;
        };
        let output = renderer.output();
        for requested in Samples::ALL {
            output.set_samples(requested).unwrap();
            let offered = output.info().samples;
            assert!(offered <= requested, "{name}: {offered} of {requested}");
            // Every Vulkan and OpenGL 4.5 driver offers four.
            assert!(offered >= requested.min(Samples::Four), "{name}: {offered} of {requested}");
            if output.describe().contains("llvmpipe") {
                assert_eq!(offered, requested.min(Samples::Four), "{name}");
            }
        }
    }
}
