//! Textures of quads: every device and renderer draws them as a simple sampler does, and as the
//! rasteriser.

use drystone_testing::Random;
use glam::{DMat4, DVec4};

use super::*;
use crate::{
    Layer, MeshData, NaiveRenderer, PoolRenderer, QuadTextures, Renderer, SharedDevice, SlotPolicy,
    View, image::Image, instanced_renderer::InstancedRenderer, material_look::MaterialLook,
    samples::Samples,
};

on_every_device!(texels_of_quads_are_those_of_a_simple_sampler, quads_show_texels);
on_every_device!(tiled_scenes_are_alike, tiled_scenes_are_drawn_as_by_the_rasteriser);
on_every_device!(holes_show_what_is_behind, holes_are_drawn);
on_every_device!(far_holes_are_closed, far_quads_show_the_mean);
on_every_device!(untextured_quads_are_unchanged, textures_of_others_change_nothing);
on_every_device!(missing_textures_of_quads_are_refused, missing_textures_are_errors);

const SIZE: [u32; 2] = [160, 120];
const TOLERANCE: u8 = 2;
const SIDE: u32 = 4;
/// Materials of the scene.
const PLAIN: u16 = 0;
const BRICK: u16 = 1;
const LEAVES: u16 = 2;
const GLASS: u16 = 3;

/// Texels of random colours. Some are clear.
fn noise(seed: u64, side: u32, holes: bool) -> Vec<[u8; 4]> {
    let mut random = Random::new(seed);
    let mut texel = |_| {
        let [red, green, blue] = [(); 3].map(|()| 60 + random.below(196) as u8);
        [red, green, blue, if holes && random.below(4) == 0 { 0 } else { 255 }]
    };
    (0..side * side).map(&mut texel).collect()
}

fn textures() -> (Vec<MaterialLook>, QuadTextures) {
    let mut textures = QuadTextures::default();
    let mut add =
        |side, texels: Vec<[u8; 4]>| textures.add(side, bytemuck::cast_slice(&texels).into());
    let brick = add(SIDE, noise(1, SIDE, false));
    let leaves = add(8, noise(2, 8, true));
    let glass = add(2, noise(3, 2, true));
    let plain = MaterialLook::new([190, 180, 170, 255]);
    let looks = vec![
        plain,
        plain.with_textures([brick; 6]).with_emission(255),
        MaterialLook::new([90, 200, 70, 255]).with_textures([leaves; 6]).with_cut_out(),
        MaterialLook::new([90, 120, 230, 110])
            .with_textures([glass, None, glass, glass, brick, glass])
            .with_cut_out(),
    ];
    (looks, textures)
}

fn frame(camera: &Camera) -> Frame {
    let [width, height] = SIZE;
    Frame::new(camera, &Atmosphere { haze_density: 0.0, ..Atmosphere::default() }, width, height)
}

/// Draws opaque quads.
fn picture<D: Device>(device: &mut D, frame: &Frame, quads: &[Quad]) -> Image {
    device.resize(SIZE[0], SIZE[1]).unwrap();
    let count = quads.len() as u32;
    let mut geometry = device.create(BufferKind::Quads, count, DrawSlots::New(1)).unwrap();
    device.write(&mut geometry, 0, BufferData::Quads(quads));
    let data = DrawData { extent: 32, ..DrawData::default() };
    device.write(&mut geometry, 0, BufferData::DrawData(&[data]));
    let commands =
        [DrawCommand { index_count: 6 * count, instance_count: 1, ..Default::default() }];
    let opaque = [Batch::new(&geometry, &commands)];
    device.draw(frame, &Passes { opaque: &opaque, ..Passes::default() }).unwrap();
    device.read_image().unwrap()
}

/// Position at which the line of sight through a position of the picture meets a plane.
fn hit(frame: &Frame, camera: &Camera, [x, y]: [f64; 2], (axis, plane): (usize, f64)) -> DVec3 {
    let matrix = glam::Mat4::from_cols_array_2d(&frame.clip_from_relative).as_dmat4();
    let inverse: DMat4 = matrix.inverse();
    let [width, height] = SIZE.map(f64::from);
    let at = |depth: f64| {
        let clip = DVec4::new(2.0 * x / width - 1.0, 1.0 - 2.0 * y / height, depth, 1.0);
        let relative = inverse * clip;
        relative.truncate() / relative.w + camera.position
    };
    let (near, far) = (at(0.9), at(0.01));
    near + (far - near) * ((plane - near[axis]) / (far[axis] - near[axis]))
}

/// Column and row of the texel of a face at a position, in the plainest way.
fn texel_at(face: Face, at: DVec3) -> [u32; 2] {
    let normal = DVec3::from(face.normal().map(f64::from));
    let (right, down) = match face {
        Face::PosY => (DVec3::X, DVec3::Z),
        Face::NegY => (DVec3::X, DVec3::NEG_Z),
        // As seen from outside.
        _ => ((-normal).cross(DVec3::Y), DVec3::NEG_Y),
    };
    [right, down].map(|along| (along.dot(at).rem_euclid(1.0) * f64::from(SIDE)) as u32 % SIDE)
}

fn quads_show_texels<D: Device>(mut device: D) {
    let (looks, textures) = textures();
    let texels = noise(1, SIDE, false);
    device.set_textured_materials(&looks, &textures).unwrap();
    for face in Face::ALL {
        let middle = DVec3::splat(7.0);
        let mut eye = middle + DVec3::new(0.7, 0.9, 0.8);
        eye[face.axis()] = middle[face.axis()] + 4.5 * f64::from(face.normal()[face.axis()]);
        let camera = Camera::look_at(eye, middle);
        let frame = frame(&camera);
        let quad = Quad::new([5; 3], [4, 4], face, BRICK);
        let seen = picture(&mut device, &frame, &[quad]);
        let plane = (face.axis(), if face.is_positive() { 6.0 } else { 5.0 });
        let mut checked = 0;
        for (x, y) in (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y))) {
            let near = [-1.1, 0.0, 1.1].map(|across| {
                [-1.1, 0.0, 1.1].map(|down| {
                    let at = [f64::from(x) + 0.5 + across, f64::from(y) + 0.5 + down];
                    hit(&frame, &camera, at, plane)
                })
            });
            let all = near.as_flattened();
            let is_inside = |at: &DVec3| {
                face.span_axes().into_iter().all(|axis| (5.02..8.98).contains(&at[axis]))
            };
            let texel = texel_at(face, all[4]);
            if !all.iter().all(|at| is_inside(at) && texel_at(face, *at) == texel) {
                continue;
            }
            let own = texels[(texel[0] + SIDE * texel[1]) as usize];
            let want =
                [0, 1, 2].map(|n| f64::from(looks[1].faces[0][n]) * f64::from(own[n]) / 255.0);
            let got = seen.pixel(x, y);
            let off = (0..3).map(|n| (want[n] - f64::from(got[n])).abs()).fold(0.0, f64::max);
            let what = format!("{face:?} at {x} {y}: {got:?}, not {want:?}");
            assert!(off <= 1.5, "{}: {what}", device.describe());
            checked += 1;
        }
        assert!(checked > 400, "{}: {face:?}: {checked}", device.describe());
    }
}

/// Random cubes of the four materials: opaque and blended quads.
struct Scene([Vec<Quad>; 2]);

impl Scene {
    fn new() -> Self {
        let mut random = Random::new(5);
        let voxels: Vec<Option<u16>> =
            (0..1000).map(|_| Some(random.below(30) as u16).filter(|it| *it <= GLASS)).collect();
        let at = |[x, y, z]: [i32; 3]| {
            let is_in = [x, y, z].iter().all(|c| (0..10).contains(c));
            if is_in { voxels[(x + 10 * (y + 10 * z)) as usize] } else { None }
        };
        let mut layers = [Vec::new(), Vec::new()];
        for face in Face::ALL {
            for index in 0..1000 {
                let position = [index % 10, index / 10 % 10, index / 100];
                let Some(material) = at(position) else { continue };
                let normal = face.normal();
                let beyond = at([0, 1, 2].map(|axis| position[axis] + normal[axis]));
                let is_visible = match beyond {
                    None | Some(LEAVES) => true,
                    Some(GLASS) => material != GLASS,
                    Some(_) => false,
                };
                if is_visible {
                    let position = position.map(|c| c as u32 + 4);
                    let quad = Quad::new(position, [1, 1], face, material);
                    layers[usize::from(material == GLASS)].push(quad);
                }
            }
        }
        Self(layers)
    }

    fn insert(&self, renderer: &mut dyn Renderer) {
        for (quads, layer) in self.0.iter().zip([Layer::Opaque, Layer::Blended]) {
            let counts = Face::ALL
                .map(|face| quads.iter().filter(|it| it.face() == Some(face)).count() as u32);
            let draw_data = DrawData { origin: [-3, 5, 11], extent: 32, ..DrawData::default() };
            renderer.insert(&MeshData { quads, counts, draw_data, layer }).unwrap();
        }
    }
}

fn renderers<D: Device + 'static>(device: D) -> Vec<Box<dyn Renderer>> {
    let device = SharedDevice::new(device);
    let instanced = InstancedRenderer::new(device.clone(), SlotPolicy::Lowest).unwrap();
    vec![
        Box::new(PoolRenderer::new(device.clone(), 10_000, 16).unwrap()),
        Box::new(NaiveRenderer::new(device)),
        Box::new(instanced),
    ]
}

fn tiled_scenes_are_drawn_as_by_the_rasteriser<D: Device + 'static>(device: D) {
    let (looks, textures) = textures();
    let scene = Scene::new();
    let [mut soft, ..]: [Box<dyn Renderer>; 3] =
        renderers(SoftDevice::new(SIZE[0], SIZE[1]).unwrap()).try_into().ok().unwrap();
    let mut all = renderers(device);
    for renderer in all.iter_mut().chain([&mut soft]) {
        renderer.resize(SIZE[0], SIZE[1]).unwrap();
        renderer.set_textured_materials(&looks, &textures).unwrap();
        scene.insert(&mut **renderer);
    }
    let middle = DVec3::new(6.0, 14.0, 20.0);
    let near = Camera::look_at(middle + DVec3::new(-9.0, 6.0, 12.0), middle);
    let far = Camera::look_at(middle + DVec3::new(40.0, 30.0, 70.0), middle);
    let plain = View::new(near);
    let lit = View { shadows: true, sky_light: true, ..plain };
    let views = [plain, View { wire: true, ..plain }, lit, View { camera: far, ..plain }];
    for samples in [Samples::One, Samples::Four] {
        for renderer in &mut all {
            renderer.output().set_samples(samples).unwrap();
            soft.output().set_samples(renderer.output().info().samples).unwrap();
            for (number, view) in views.iter().enumerate() {
                if view.wire && samples != Samples::One {
                    // Nearly every pixel is on an edge or a line.
                    continue;
                }
                soft.draw(view).unwrap();
                let want = soft.read_image().unwrap();
                renderer.draw(view).unwrap();
                let got = renderer.read_image().unwrap();
                let seen = want.difference(&got, TOLERANCE).unwrap();
                let name = renderer.name();
                let device = renderer.output().describe();
                let what = format!("{device}, {name}, view {number}, {samples} samples: {seen:?}");
                println!("{what}");
                #[cfg(feature = "png")]
                if let Some(folder) = std::env::var_os("DRYSTONE_KEEP_PICTURES") {
                    let name = format!("tiles-{samples}-{number}.png");
                    want.save_png(&std::path::Path::new(&folder).join(name)).unwrap();
                }
                // Edges of holes are silhouettes. With several samples, devices choose different
                // samples of a pixel on an edge, and texels have edges too.
                let max_share = if samples == Samples::One { 100 } else { 16 };
                assert!(seen.pixels <= SIZE[0] * SIZE[1] / max_share, "{what}");
                assert!(seen.away_from_edges <= 4, "{what}");
            }
        }
    }
}

/// A cut-out wall of one column of leaves and one of holes in front of a plain wall, in both orders.
fn holes_are_drawn<D: Device>(mut device: D) {
    let mut textures = QuadTextures::default();
    let texels = [[255, 0, 0, 255], [0, 0, 255, 0], [255, 0, 0, 255], [0, 0, 255, 0]];
    let holes = textures.add(2, texels.concat().into());
    let white = MaterialLook::new([255; 4]).with_emission(255);
    let green = MaterialLook::new([0, 255, 0, 255]).with_emission(255);
    let looks = [white.with_textures([holes; 6]).with_cut_out(), green];
    device.set_textured_materials(&looks, &textures).unwrap();
    let front = Quad::new([4, 4, 6], [2, 2], Face::PosZ, 0);
    let back = Quad::new([0, 0, 4], [10, 10], Face::PosZ, 1);
    let camera = Camera::look_at(DVec3::new(5.0, 5.0, 9.5), DVec3::new(5.0, 5.0, 7.0));
    let frame = frame(&camera);
    for samples in [Samples::One, Samples::Four] {
        device.set_samples(samples).unwrap();
        for quads in [[front, back], [back, front]] {
            let seen = picture(&mut device, &frame, &quads);
            let (mut red, mut green) = (0, 0);
            for x in 0..SIZE[0] {
                let at = hit(&frame, &camera, [f64::from(x) + 0.5, 60.5], (2, 7.0));
                let within = at.x.rem_euclid(1.0);
                let is_near_edge = [0.0, 0.5, 1.0].iter().any(|edge| (within - edge).abs() < 0.05);
                if !(4.1..5.9).contains(&at.x) || is_near_edge {
                    continue;
                }
                let want = if within < 0.5 { [255, 0, 0, 255] } else { [0, 255, 0, 255] };
                assert_eq!(seen.pixel(x, 60), want, "{}: {within}", device.describe());
                *if within < 0.5 { &mut red } else { &mut green } += 1;
            }
            assert!(red > 20 && green > 20, "{red} {green}");
        }
    }
}

/// Texels much smaller than a pixel have their mean colour, and no holes.
fn far_quads_show_the_mean<D: Device>(mut device: D) {
    let mut textures = QuadTextures::default();
    let texel = |n: u32| match (n + n / 16) % 4 {
        0 => [0; 4],
        1 => [80, 80, 80, 255],
        _ => [140, 140, 140, 255],
    };
    let texels: Vec<[u8; 4]> = (0..256).map(texel).collect();
    let number = textures.add(16, bytemuck::cast_slice(&texels).into());
    let look = MaterialLook::new([255; 4]).with_emission(255).with_textures([number; 6]);
    device.set_textured_materials(&[look.with_cut_out()], &textures).unwrap();
    let quads = [Quad::new([0; 3], [64, 64], Face::PosZ, 0)];
    for away in [500.0, 1_500.0] {
        let camera = Camera::look_at(DVec3::new(32.0, 32.0, away), DVec3::new(32.0, 32.0, 0.0));
        let seen = picture(&mut device, &frame(&camera), &quads);
        let [red, ..] = seen.pixel(SIZE[0] / 2, SIZE[1] / 2);
        assert!((118..=122).contains(&red), "{}: {red} at {away}", device.describe());
    }
}

fn textures_of_others_change_nothing<D: Device>(mut device: D) {
    let (mut looks, textures) = textures();
    let camera = Camera::look_at(DVec3::new(5.0, 9.0, 14.0), DVec3::new(5.0, 5.0, 5.0));
    let frame = frame(&camera);
    let quads =
        [Quad::new([2; 3], [5, 4], Face::PosZ, PLAIN), Quad::new([2; 3], [5, 4], Face::PosY, 9)];
    let mut pictures = Vec::new();
    device.set_materials(&looks).unwrap();
    pictures.push(picture(&mut device, &frame, &quads));
    device.set_textured_materials(&looks, &textures).unwrap();
    pictures.push(picture(&mut device, &frame, &quads));
    looks.truncate(1);
    device.set_textured_materials(&looks, &textures).unwrap();
    pictures.push(picture(&mut device, &frame, &quads));
    assert!(pictures[0] == pictures[2], "{}", device.describe());
    let seen = pictures[0].difference(&pictures[1], 1).unwrap();
    assert_eq!(seen.pixels, 0, "{}: {seen:?}", device.describe());
}

fn missing_textures_are_errors<D: Device>(mut device: D) {
    let (looks, textures) = textures();
    device.set_textured_materials(&looks, &textures).unwrap();
    let quads = [Quad::new([2; 3], [5, 4], Face::PosZ, BRICK)];
    let camera = Camera::look_at(DVec3::new(5.0, 9.0, 14.0), DVec3::new(5.0, 5.0, 5.0));
    let before = picture(&mut device, &frame(&camera), &quads);
    let wrong = device.set_textured_materials(&looks, &QuadTextures::default());
    assert!(matches!(wrong, Err(RenderError::NoTexture { .. })), "{}", device.describe());
    let after = picture(&mut device, &frame(&camera), &quads);
    assert!(before == after, "{}", device.describe());
}
