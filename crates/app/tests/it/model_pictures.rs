//! Both renderers of polygon models draw `model_cases` alike on every backend, within the tolerance
//! of `pictures`.

use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use drystone::scene::{ModelScene, ModelTriangles};
use drystone_render::{
    Access, Api, Device, GlConfig, GlDevice, Image, InstancedRenderer, PoolRenderer,
    PoolRendererConfig, RenderError, Renderer, SlotPolicy, View, WgpuDevice,
};

use crate::{
    model_cases::{ModelCase, model_cases},
    pictures::{HEIGHT, References, WIDTH, compare, naive, pool, reference, soft},
};

fn pictures(case: &ModelCase, renderer: Box<dyn Renderer>) -> Vec<Image> {
    let mut scene = ModelScene::new(case.model.clone(), renderer).unwrap();
    let picture = |view: &View| {
        let (picture, drawn) = scene.picture(view).unwrap();
        assert!(drawn.triangles <= case.model.triangle_count());
        assert!(drawn.commands as usize <= case.model.parts.len());
        picture
    };
    case.views.iter().map(picture).collect()
}

fn agree(contender: &str, open: impl Fn() -> Box<dyn Renderer>) {
    static REFERENCES: References = LazyLock::new(Mutex::default);
    let mut wrong = Vec::new();
    for case in model_cases() {
        let expected = reference(&REFERENCES, &case.name, || pictures(&case, pool(soft(), 0)));
        let actual = pictures(&case, open());
        for (index, (want, got)) in expected.iter().zip(&actual).enumerate() {
            wrong.extend(compare(&case.name, index, contender, want, got));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tests both renderers on the devices of `open`; prints a note if there is none.
fn device_agrees<D: Device + 'static>(test: &str, open: impl Fn() -> Result<D, RenderError>) {
    match open() {
        Ok(device) => println!("{test}: {}", device.describe()),
        Err(error @ RenderError::NoAdapter { .. }) => return println!("skipped: {test}: {error}"),
        Err(error) => panic!("{test}: {error}"),
    }
    agree(&format!("{test}-pool"), || pool(open().unwrap(), 0));
    agree(&format!("{test}-naive"), || naive(open().unwrap()));
}

#[test]
fn models_are_the_same_in_naive() {
    agree("models-soft-naive", || naive(soft()));
}

#[test]
fn models_are_the_same_on_vulkan() {
    device_agrees("models-vulkan", || WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT));
}

#[test]
fn models_are_the_same_on_wgpus_opengl() {
    device_agrees("models-opengl", || WgpuDevice::headless(Api::OpenGl, WIDTH, HEIGHT));
}

#[test]
fn models_are_the_same_on_gl_written_directly_or_by_copies() {
    for access in [Access::Direct, Access::Staged] {
        let config = GlConfig::default().with_access(access);
        let test = format!("models-gl-{}", access.name());
        device_agrees(&test, || GlDevice::headless(config, WIDTH, HEIGHT));
    }
}

/// The cases show their content, and a model has the same size in the picture whatever its unit.
#[test]
fn the_model_cases_show_their_content() {
    let nothing = ModelTriangles::default();
    let mut shown = Vec::new();
    for case in model_cases() {
        let sky = ModelCase { model: nothing.clone(), ..case };
        let empty = pictures(&sky, pool(soft(), 0));
        let case = ModelCase { model: model_of(&sky.name), ..sky };
        let pictures = pictures(&case, pool(soft(), 0));
        let seen: Vec<u32> = pictures
            .iter()
            .zip(&empty)
            .map(|(picture, sky)| sky.difference(picture, 8).unwrap().pixels)
            .collect();
        match case.model.parts.is_empty() {
            true => assert!(seen.iter().all(|&pixels| pixels == 0), "{}", case.name),
            false => assert!(seen[..3].iter().all(|&it| it > 3000), "{}: {seen:?}", case.name),
        }
        // Lines along few edges of large triangles or many of small ones; but not everywhere.
        for ((plain, wired), seen) in pictures.iter().zip(&pictures[4..]).zip(&seen) {
            let lines = plain.difference(wired, 8).unwrap().pixels;
            let is_there = case.model.parts.is_empty() || lines > 200;
            assert!(is_there && lines <= *seen, "{}: {lines} of {seen}", case.name);
        }
        if let Some(folder) = std::env::var_os("DRYSTONE_KEEP_PICTURES") {
            for (index, picture) in pictures.iter().enumerate() {
                let name = format!("model-{}-{index}.png", case.name);
                picture.save_png(&PathBuf::from(&folder).join(name)).unwrap();
            }
        }
        shown.push((case.name, seen[0]));
    }
    let of = |name: &str| f64::from(shown.iter().find(|(it, _)| it == name).unwrap().1);
    for name in ["tiny-flat", "huge-flat"] {
        let ratio = of(name) / of("shapes-flat");
        assert!((0.45..2.2).contains(&ratio), "{name}: {ratio}");
    }
}

/// Models too large for a buffer are drawn in pieces, also after a replacement.
#[test]
fn models_larger_than_a_buffer_are_drawn_in_pieces() {
    let mut wrong = Vec::new();
    for case in model_cases().into_iter().filter(|case| case.name.starts_with("s")) {
        let expected = pictures(&case, pool(soft(), 0));
        let vertices = case.model.parts.iter().map(|part| part.vertices.len() as u64).max();
        let max_buffer_bytes = vertices.unwrap() * 20 / 3;
        let config = PoolRendererConfig::default().with_max_buffer_bytes(max_buffer_bytes);
        let small = || Box::new(PoolRenderer::with_config(soft(), 0, 8, config.clone()).unwrap());
        let mut scene = ModelScene::new(case.model.clone(), small()).unwrap();
        assert!(scene.model().parts.len() > case.model.parts.len(), "{}", case.name);
        for is_replaced in [false, true] {
            if is_replaced {
                scene = ModelScene::new(ModelTriangles::default(), small()).unwrap();
                scene.replace(case.model.clone()).unwrap();
            }
            for (index, (view, want)) in case.views.iter().zip(&expected).enumerate() {
                let got = scene.picture(view).unwrap().0;
                wrong.extend(compare(&case.name, index, "in-pieces", want, &got));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn model_of(name: &str) -> ModelTriangles {
    model_cases().into_iter().find(|case| case.name == name).unwrap().model
}

#[test]
fn the_instanced_renderer_refuses_models() {
    let renderer = Box::new(InstancedRenderer::new(soft(), SlotPolicy::Lowest).unwrap());
    let error = ModelScene::new(model_of("sheet-flat"), renderer).err().unwrap();
    assert!(matches!(error, RenderError::NoTriangles { renderer: "instanced" }));
    assert!(error.to_string().contains("use the pool or the naive renderer"), "{error}");
}
