//! Bloom of small scenes, in every renderer on every device.

use drystone_mesh::{Face, Quad};
use glam::{DVec3, Vec3};

use super::*;
use crate::{
    Camera, DrawData, Image, Layer, MaterialLook, MeshData, Overlay, OverlayCorner, OverlayPart,
    OverlayPatch, QuadTextures, Renderer, Samples, SurfaceMaterial, SurfaceTexture, TextureSet,
    TriangleMesh, TriangleTransform, TriangleVertex, View,
    shadows::tests::{SIZE, Voxels, at, on_gpus, picture, soft},
};

/// Largest difference of a channel: one for rounding of a colour, one for that of the glow.
const TOLERANCE: u8 = 2;
/// Share of pixels that may differ more, at silhouettes.
const EDGES: f64 = 0.01;

const LAMP: u16 = 3;
const EMBER: u16 = 4;

fn looks() -> [MaterialLook; 5] {
    [
        MaterialLook::new([190, 180, 170, 255]),
        MaterialLook::new([90, 160, 70, 255]),
        MaterialLook::new([90, 120, 230, 110]),
        MaterialLook::new([255, 220, 90, 255]).with_emission(255),
        MaterialLook::new([240, 80, 30, 255]).with_emission(110),
    ]
}

/// All renderers on the rasteriser, then those on GPUs, with materials that emit light.
fn all(test: &str) -> Vec<Box<dyn Renderer>> {
    let mut all = soft();
    all.extend(on_gpus(test));
    for renderer in &mut all {
        renderer.set_materials(&looks()).unwrap();
    }
    all
}

fn name(renderer: &mut dyn Renderer) -> String {
    format!("{} on {}", renderer.name(), renderer.output().describe())
}

/// A view at night.
fn night(from: [f64; 3], target: [f64; 3]) -> View {
    let mut view = View::new(Camera::look_at(from.into(), target.into()));
    view.atmosphere = view.atmosphere.with_hour(23.0);
    View { bloom: true, ..view }
}

/// The picture with and without bloom.
fn both(renderer: &mut dyn Renderer, view: &View) -> [Image; 2] {
    [true, false].map(|bloom| picture(renderer, &View { bloom, ..*view }))
}

fn insert(renderer: &mut dyn Renderer, material: u16, low: [i32; 3], size: [i32; 3]) {
    let layer = if material == 2 { Layer::Blended } else { Layer::Opaque };
    Voxels::filled([0; 3], size).insert_in(renderer, (low, 0), (material, layer));
}

/// A city with lights among the houses, glass before one of them.
fn fill(renderer: &mut dyn Renderer) {
    Voxels::city(1).insert(renderer, [0; 3]);
    for (material, low, size) in [
        (LAMP, [6, 12, 8], [4, 3, 4]),
        (EMBER, [24, 3, 25], [9, 1, 7]),
        (LAMP, [34, 2, 36], [1, 1, 1]),
        (EMBER, [14, 9, 30], [2, 6, 2]),
        (2, [12, 8, 33], [6, 8, 1]),
    ] {
        insert(renderer, material, low, size);
    }
}

#[test]
fn sizes_are_rounded_up_and_never_zero() {
    assert_eq!(sizes([1280, 720]), [[640, 360], [320, 180], [160, 90], [80, 45], [40, 23]]);
    assert_eq!(sizes([0, 5]), [[1, 3], [1, 2], [1, 1], [1, 1], [1, 1]]);
}

#[test]
fn every_renderer_on_every_device_draws_the_same_bloom() {
    let mut all = all("every_renderer_on_every_device_draws_the_same_bloom");
    all.iter_mut().for_each(|renderer| fill(renderer.as_mut()));
    for (samples, size) in [(Samples::One, [157, 118]), (Samples::Four, SIZE)] {
        for (wire, hour) in [(false, 23.0), (samples == Samples::One, 15.0)] {
            let mut view = View { wire, ..night([-14.0, 30.0, 62.0], [20.0, 4.0, 20.0]) };
            view.atmosphere = view.atmosphere.with_hour(hour).with_haze(40.0, 120.0, 0.8);
            let mut pictures = all.iter_mut().map(|renderer| {
                renderer.output().set_samples(samples).unwrap();
                renderer.resize(size[0], size[1]).unwrap();
                (name(renderer.as_mut()), both(renderer.as_mut(), &view))
            });
            let (_, [want, plain]) = pictures.next().unwrap();
            let brighter = plain.difference(&want, 3).unwrap().pixels;
            assert!(brighter > 300, "{brighter} pixels at {hour} h");
            for (name, [seen, _]) in pictures {
                let seen = want.difference(&seen, TOLERANCE).unwrap();
                println!("{name}, {samples} samples, {hour} h: {seen:?}");
                let pixels = f64::from(size[0] * size[1]);
                assert!(f64::from(seen.pixels) <= EDGES * pixels, "{name}: {seen:?}");
                assert!(seen.away_from_edges <= 8, "{name}: {seen:?}");
            }
        }
    }
}

/// A scene without emitted light, and one whose lights are hidden, is the same to the last bit; and
/// a picture without bloom is not changed by those with it.
#[test]
fn without_visible_lights_no_byte_changes() {
    for mut renderer in all("without_visible_lights_no_byte_changes") {
        let name = name(renderer.as_mut());
        let view = night([20.0, 12.0, 52.0], [20.0, 8.0, 20.0]);
        Voxels::city(1).insert(renderer.as_mut(), [0; 3]);
        insert(renderer.as_mut(), 0, [10, 1, 30], [20, 16, 1]);
        let [seen, plain] = both(renderer.as_mut(), &view);
        assert!(seen == plain, "{name}: no light");
        insert(renderer.as_mut(), LAMP, [19, 8, 27], [2, 2, 2]);
        let [seen, hidden] = both(renderer.as_mut(), &view);
        assert!(seen == hidden, "{name}: a hidden light");
        insert(renderer.as_mut(), LAMP, [19, 8, 32], [2, 2, 2]);
        let [glowing, visible] = both(renderer.as_mut(), &view);
        assert!(visible.difference(&glowing, 3).unwrap().pixels > 300, "{name}");
        let again = picture(renderer.as_mut(), &View { bloom: false, ..view });
        assert!(again == visible, "{name}: off again");
    }
}

/// The glow is brightest at its light, falls off to nothing within 60 pixels, and darkens nothing.
#[test]
fn a_glow_falls_off_around_its_light() {
    for mut renderer in all("a_glow_falls_off_around_its_light") {
        let name = name(renderer.as_mut());
        insert(renderer.as_mut(), LAMP, [19, 9, 0], [3, 3, 1]);
        let mut view = night([20.5, 10.5, 40.0], [20.5, 10.5, 0.0]);
        view.atmosphere = Default::default();
        view.atmosphere.zenith = Vec3::ZERO;
        (view.atmosphere.horizon, view.atmosphere.ground) = (Vec3::ZERO, Vec3::ZERO);
        view.atmosphere.sun = Vec3::ZERO;
        let [seen, plain] = both(renderer.as_mut(), &view);
        for (bright, dark) in seen.rgba().iter().zip(plain.rgba()) {
            assert!(bright >= dark, "{name}");
        }
        let (middle, own) = (SIZE[1] / 2, plain.pixel(SIZE[0] / 2, SIZE[1] / 2));
        assert_eq!(own[..3], [255, 220, 90], "{name}");
        let outside = (SIZE[0] / 2..SIZE[0]).filter(|x| plain.pixel(*x, middle)[0] == 0);
        let row: Vec<u8> = outside.map(|x| seen.pixel(x, middle)[0]).collect();
        assert!((20..120).contains(&row[0]), "{name}: {row:?}");
        assert!(row.windows(2).all(|pair| pair[0] >= pair[1]), "{name}: {row:?}");
        assert!(row[10] > 2 && row[60] == 0, "{name}: {row:?}");
        // No step is visible as an edge.
        assert!(row.windows(2).all(|pair| pair[0] - pair[1] <= 12), "{name}: {row:?}");
    }
}

/// Translucent voxels before a light dim its glow.
#[test]
fn glass_dims_a_glow() {
    for mut renderer in all("glass_dims_a_glow") {
        let name = name(renderer.as_mut());
        insert(renderer.as_mut(), LAMP, [19, 9, 0], [3, 3, 1]);
        let view = night([20.5, 10.5, 40.0], [20.5, 10.5, 0.0]);
        let beside = |renderer: &mut dyn Renderer| {
            let [seen, plain] = both(renderer, &view);
            let [seen, plain] = [seen, plain].map(|it| at(&it, &view, [23.5, 10.5, 0.0])[0]);
            seen - plain
        };
        let bright = beside(renderer.as_mut());
        insert(renderer.as_mut(), 2, [17, 7, 10], [6, 6, 1]);
        let dim = beside(renderer.as_mut());
        assert!(bright > 6 && dim > 2 && 4 * dim <= 3 * bright, "{name}: {bright}, {dim}");
    }
}

/// Light behind a wall with holes glows through them, alike on all devices. Without holes the wall hides
/// it, to the last bit.
#[test]
fn lights_glow_through_holes() {
    let mut textures = QuadTextures::default();
    // A column of leaves and one of holes.
    let texels = [[255; 4], [255, 255, 255, 0], [255; 4], [255, 255, 255, 0]];
    let number = textures.add(2, texels.concat().into());
    let wall = MaterialLook::new([90, 160, 70, 255]).with_textures([number; 6]);
    let with = |wall| looks().into_iter().chain([wall]).collect::<Vec<_>>();
    let view = night([20.5, 10.5, 22.0], [20.5, 10.5, 0.0]);
    let mut expected: Option<Image> = None;
    for mut renderer in all("lights_glow_through_holes") {
        let renderer = renderer.as_mut();
        let name = name(renderer);
        insert(renderer, LAMP, [16, 8, 0], [9, 6, 1]);
        insert(renderer, 5, [4, 0, 6], [34, 22, 1]);
        renderer.set_textured_materials(&with(wall), &textures).unwrap();
        let [seen, plain] = both(renderer, &view);
        assert!(seen == plain, "{name}: without holes");
        renderer.set_textured_materials(&with(wall.with_cut_out()), &textures).unwrap();
        let [seen, plain] = both(renderer, &view);
        // The middle of a column of leaves, in front of the lamp.
        let [bright, dark] = [&seen, &plain].map(|it| at(it, &view, [20.25, 10.5, 7.0])[0]);
        assert!(bright > dark + 30, "{name}: {bright}, {dark}");
        let expected = expected.get_or_insert_with(|| seen.clone());
        let seen = expected.difference(&seen, TOLERANCE).unwrap();
        println!("{name}: {seen:?}");
        assert!(f64::from(seen.pixels) <= EDGES * f64::from(SIZE[0] * SIZE[1]), "{name}: {seen:?}");
        assert!(seen.away_from_edges <= 8, "{name}: {seen:?}");
        renderer.set_materials(&with(wall)).unwrap();
        let [seen, plain] = both(renderer, &view);
        assert!(seen == plain, "{name}: without textures");
    }
}

/// A light with a texture glows in the colours of its texels.
#[test]
fn textures_of_lights_colour_their_glow() {
    let mut textures = QuadTextures::default();
    let number = textures.add(1, vec![255, 0, 0, 255].into());
    let mut looks = looks();
    looks[usize::from(LAMP)] = looks[usize::from(LAMP)].with_textures([number; 6]);
    let view = night([20.5, 10.5, 40.0], [20.5, 10.5, 0.0]);
    for mut renderer in all("textures_of_lights_colour_their_glow") {
        let renderer = renderer.as_mut();
        insert(renderer, LAMP, [19, 9, 0], [3, 3, 1]);
        renderer.set_textured_materials(&looks, &textures).unwrap();
        let beside = both(renderer, &view).map(|it| at(&it, &view, [23.5, 10.5, 0.0]));
        let name = name(renderer);
        assert!(beside[0][0] > beside[1][0] + 6, "{name}: {beside:?}");
        assert_eq!(beside[0][1..], beside[1][1..], "{name}");
    }
}

/// The glow of a small lamp changes little while the camera moves by parts of a pixel.
#[test]
fn small_lights_do_not_flicker() {
    for mut renderer in all("small_lights_do_not_flicker") {
        let name = name(renderer.as_mut());
        renderer.output().set_samples(Samples::Four).unwrap();
        insert(renderer.as_mut(), LAMP, [20, 10, 0], [1, 1, 1]);
        let sums: Vec<u64> = (0..24)
            .map(|step| {
                // The lamp is some 3 pixels large, and moves by a fifth of one.
                let x = 20.5 + f64::from(step) * 0.07;
                let view = night([x, 10.5, 64.0], [x, 10.5, 0.0]);
                let [seen, plain] = both(renderer.as_mut(), &view);
                let channels = seen.rgba().iter().zip(plain.rgba());
                channels.map(|(seen, plain)| u64::from(seen - plain)).sum()
            })
            .collect();
        let [least, most] = [sums.iter().min(), sums.iter().max()].map(|it| *it.unwrap());
        assert!(least > 100 && most * 5 <= least * 9, "{name}: {sums:?}");
    }
}

/// An opaque panel over the whole picture hides the glow, and a bright one does not glow.
#[test]
fn panels_lie_over_the_glow_and_do_not_glow() {
    for mut renderer in all("panels_lie_over_the_glow_and_do_not_glow") {
        let name = name(renderer.as_mut());
        fill(renderer.as_mut());
        let view = night([-14.0, 30.0, 62.0], [20.0, 4.0, 20.0]);
        let bare = picture(renderer.as_mut(), &view);
        let corner = |x: f32, y: f32| OverlayCorner { at: [x, y], uv: [0.0; 2], color: [255; 4] };
        let white = OverlayPatch { texture: 0, at: None, size: [1, 1], rgba: vec![255; 4] };
        let overlay = Overlay {
            patches: vec![white],
            freed: Vec::new(),
            corners: vec![
                corner(0.0, 0.0),
                corner(128.0, 0.0),
                corner(128.0, 192.0),
                corner(0.0, 192.0),
            ],
            indices: vec![0, 1, 2, 0, 2, 3],
            parts: vec![OverlayPart { texture: 0, clip: [0, 0, 128, 192], indices: 0..6 }],
        };
        renderer.output().set_overlay(&overlay).unwrap();
        let covered = picture(renderer.as_mut(), &view);
        for (x, y) in (0..SIZE[0]).flat_map(|x| (0..SIZE[1]).map(move |y| (x, y))) {
            let expected = if x < 128 { [255; 4] } else { bare.pixel(x, y) };
            assert_eq!(covered.pixel(x, y), expected, "{name}: {x}, {y}");
        }
    }
}

/// Emissive textures glow, unlit materials do not, alike on all devices.
#[test]
fn emissive_models_glow_and_unlit_ones_do_not() {
    let mut set = TextureSet::default();
    let image = set.add_image([2, 1], [[255, 160, 40, 255], [0, 0, 0, 255]].concat().into());
    let emissive_texture = image.map(SurfaceTexture::new);
    let emissive = SurfaceMaterial { emissive: [255; 3], emissive_texture, ..Default::default() };
    let unlit = SurfaceMaterial { is_unlit: true, ..Default::default() };
    let materials = [emissive, unlit].map(|it| set.add_material(it).unwrap());
    let corners = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]];
    let numbers = materials.map(|material| {
        corners.map(|uv| set.add_corner(uv, [250, 240, 230, 255], material).unwrap())
    });
    let mut pictures = [Vec::new(), Vec::new()];
    for mut renderer in all("emissive_models_glow_and_unlit_ones_do_not") {
        if renderer.has_cubes() {
            continue;
        }
        let name = name(renderer.as_mut());
        renderer.output().set_textures(&set).unwrap();
        let view = night([20.5, 10.5, 40.0], [20.5, 10.5, 0.0]);
        let mut last = None;
        for (pictures, numbers) in pictures.iter_mut().zip(&numbers) {
            let vertex = |(number, [u, v]): (&u32, [f32; 2])| {
                TriangleVertex::with_corner([6.0 * u, 6.0 * v, 0.0], [0.0, 0.0, 1.0], *number)
            };
            let vertices: Vec<_> = numbers.iter().zip(corners).map(vertex).collect();
            let mesh = TriangleMesh {
                vertices: &vertices,
                indices: &[0, 1, 2, 0, 2, 3],
                transform: TriangleTransform { origin: [18, 8, 0], scale: 1.0 },
                layer: Layer::Opaque,
                is_textured: true,
            };
            last.take().into_iter().for_each(|id| renderer.remove_triangles(id).unwrap());
            last = Some(renderer.insert_triangles(&mesh).unwrap());
            pictures.push((name.clone(), both(renderer.as_mut(), &view)));
        }
    }
    let [glowing, unlit] = pictures;
    for (name, [seen, plain]) in &unlit {
        assert!(seen == plain, "{name}: unlit");
    }
    let [want, _] = &glowing[0].1;
    for (name, [seen, plain]) in &glowing {
        assert!(plain.difference(seen, 3).unwrap().pixels > 300, "{name}: emissive");
        let seen = want.difference(seen, TOLERANCE).unwrap();
        assert!(seen.pixels <= 40 && seen.away_from_edges <= 4, "{name}: {seen:?}");
    }
}

/// Pictures with bloom are the same with culling on the GPU.
#[cfg(feature = "wgpu")]
#[test]
fn culling_on_the_gpu_keeps_bloom() {
    use crate::{Api, Cull, PoolRenderer, WgpuDevice};
    let device = WgpuDevice::headless(Api::Vulkan, SIZE[0], SIZE[1]);
    let Ok(device) = device.inspect_err(|error| println!("skipped: {error}")) else { return };
    let mut renderer = PoolRenderer::new(device, 1000, 64).unwrap();
    renderer.set_materials(&looks()).unwrap();
    fill(&mut renderer);
    crate::shadows::tests::floor(&mut renderer);
    let views = [
        night([-14.0, 30.0, 62.0], [20.0, 4.0, 20.0]),
        night([60.0, 8.0, 36.0], [20.0, 4.0, 20.0]),
    ];
    let expected = views.map(|view| picture(&mut renderer, &view));
    if let Err(error) = renderer.set_cull(Cull::Gpu) {
        return println!("skipped: culling_on_the_gpu_keeps_bloom: {error}");
    }
    for samples in [Samples::One, Samples::Four] {
        renderer.output().set_samples(samples).unwrap();
        for turn in 0..4 {
            let (view, number) = (&views[turn % 2], turn % 2);
            let culled = picture(&mut renderer, view);
            assert_eq!(renderer.cull(), Cull::Gpu);
            if samples == Samples::One {
                assert!(culled == expected[number], "turn {turn}");
            }
            let plain = picture(&mut renderer, &View { bloom: false, ..*view });
            assert!(plain.difference(&culled, 3).unwrap().pixels > 800, "turn {turn}");
        }
    }
}

/// Pictures of one pixel, one row, one column are drawn.
#[test]
fn smallest_pictures_have_bloom() {
    for mut renderer in all("smallest_pictures_have_bloom") {
        let quad = [Quad::new([0, 0, 0], [64, 64], Face::PosZ, LAMP)];
        let draw_data = DrawData { extent: 64, ..DrawData::default() };
        let counts = [0, 0, 0, 0, 0, 1];
        let mesh = MeshData { quads: &quad, counts, draw_data, layer: Layer::Opaque };
        renderer.insert(&mesh).unwrap();
        let camera = Camera::look_at(DVec3::new(32.0, 32.0, 2.0), DVec3::new(32.0, 32.0, 0.0));
        for [width, height] in [[1, 1], [1, 40], [40, 1], [5, 3]] {
            renderer.resize(width, height).unwrap();
            let seen = picture(renderer.as_mut(), &View { bloom: true, ..View::new(camera) });
            // A whole picture of light: four times the strength is added.
            let own = [220, 90].map(|own: u8| f32::from(own) / 255.0);
            let [green, blue] = own.map(|own| own + 4.0 * STRENGTH * own * (1.0 - own));
            let near = |want: f32, seen: u8| (want * 255.0 - f32::from(seen)).abs() <= 1.5;
            let [red, g, b, alpha] = seen.pixel(width / 2, height / 2);
            let name = name(renderer.as_mut());
            let is_near = red == 255 && near(green, g) && near(blue, b);
            assert!(is_near, "{name}, {width}x{height}: {g} {b}");
            assert_eq!(alpha, 255);
        }
    }
}
