//! Textures of triangles: every device draws them as a simple sampler does, and as the rasteriser.

use drystone_testing::Random;

use super::{triangles::Model, *};
use crate::{
    camera::Projection,
    image::Image,
    samples::Samples,
    texture_set::{Opacity, SurfaceMaterial, SurfaceTexture, TextureSet, TextureWrap},
    triangle_vertex::{TriangleTransform, TriangleVertex},
};

on_every_device!(texels_are_those_of_a_simple_sampler, texels_are_sampled);
on_every_device!(textured_scenes_are_alike, textured_scenes_are_drawn_as_by_the_rasteriser);
on_every_device!(mipmaps_show_the_mean, far_textures_show_the_mean);
on_every_device!(masks_leave_holes, masks_leave_holes_without_depth);
on_every_device!(untextured_meshes_are_unchanged, textures_do_not_change_other_meshes);
on_every_device!(wrong_corners_are_harmless, corners_that_do_not_exist_are_drawn);

const SIZE: [u32; 2] = [96, 72];
const TOLERANCE: u8 = 2;
const WHITE: [u8; 4] = [255; 4];

/// A camera whose pixels are voxels: the lower left corner of the picture is the origin.
fn straight() -> Camera {
    let [width, height] = SIZE.map(f64::from);
    let middle = DVec3::new(width / 2.0, height / 2.0, 0.0);
    let camera = Camera::look_at(middle + DVec3::Z * 50.0, middle);
    Camera { projection: Projection::Orthographic { height_voxels: height as f32 }, ..camera }
}

/// A textured rectangle at depth `z`. Texture coordinates go from `from` at its upper left corner to
/// `to` at its lower right one.
fn rectangle(
    set: &mut TextureSet,
    (low, high, z): ([f32; 2], [f32; 2], f32),
    (from, to): ([f32; 2], [f32; 2]),
    (color, material): ([u8; 4], u32),
) -> Vec<TriangleVertex> {
    let mut corner = |right: usize, lower: usize| {
        let uv = [[from[0], to[0]][right], [from[1], to[1]][lower]];
        let position = [[low[0], high[0]][right], [high[1], low[1]][lower], z];
        let number = set.add_corner(uv, color, material).unwrap();
        TriangleVertex::with_corner(position, [0.2, 0.3, 0.9], number)
    };
    vec![corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0)]
}

const TWO: [u32; 6] = [0, 1, 2, 0, 2, 3];

fn command(index_count: u32) -> [DrawCommand; 1] {
    [DrawCommand { index_count, instance_count: 1, ..Default::default() }]
}

fn frame(camera: &Camera) -> Frame {
    let [width, height] = SIZE;
    Frame::new(camera, &Atmosphere { haze_density: 0.0, ..Atmosphere::default() }, width, height)
}

/// Draws meshes: vertices, whether they are textured, and whether they are blended.
fn picture<D: Device>(
    device: &mut D,
    frame: &Frame,
    meshes: &[(Vec<TriangleVertex>, bool, bool)],
) -> Image {
    device.resize(SIZE[0], SIZE[1]).unwrap();
    let model = |(vertices, is_textured, _): &(Vec<TriangleVertex>, bool, bool)| {
        let quads = vertices.len() as u32 / 4;
        let indices: Vec<u32> = (0..quads).flat_map(|n| TWO.map(|at| 4 * n + at)).collect();
        let transform = TriangleTransform::default();
        let data = if *is_textured { transform.textured_slot() } else { transform.into() };
        (Model::with_data(&mut *device, vertices, &indices, data), command(6 * quads))
    };
    let models: Vec<_> = meshes.iter().map(model).collect();
    let layer = |blended: bool| -> Vec<_> {
        let of_layer = models.iter().zip(meshes).filter(|(_, mesh)| mesh.2 == blended);
        of_layer.map(|((model, commands), _)| model.batch(commands)).collect()
    };
    let (opaque, blended) = (layer(false), layer(true));
    device
        .draw(frame, &Passes { opaque: &opaque, blended: &blended, ..Passes::default() })
        .unwrap();
    device.read_image().unwrap()
}

/// An image of random colours.
fn noise(random: &mut Random, [width, height]: [u32; 2]) -> Vec<[u8; 4]> {
    let texel =
        |_| [random.below(256) as u8, random.below(256) as u8, random.below(256) as u8, 255];
    (0..width * height).map(texel).collect()
}

fn unlit(base: Option<SurfaceTexture>) -> SurfaceMaterial {
    SurfaceMaterial { base, is_unlit: true, ..SurfaceMaterial::default() }
}

/// The colour between four texels, in the plainest way.
fn simple_sample(
    texels: &[[u8; 4]],
    [width, height]: [u32; 2],
    texture: &SurfaceTexture,
    uv: [f64; 2],
) -> [f64; 4] {
    let at: Vec<f64> = texture
        .transform
        .iter()
        .map(|row| f64::from(row[0]) * uv[0] + f64::from(row[1]) * uv[1] + f64::from(row[2]))
        .collect();
    let index = |at: i64, size: u32, wrap: TextureWrap| {
        let size = i64::from(size);
        match wrap {
            TextureWrap::Repeat => at.rem_euclid(size),
            TextureWrap::Clamp => at.clamp(0, size - 1),
            TextureWrap::Mirror => {
                let at = at.rem_euclid(2 * size);
                if at < size { at } else { 2 * size - 1 - at }
            }
        }
    };
    let (x, y) = (at[0] * f64::from(width) - 0.5, at[1] * f64::from(height) - 0.5);
    let mut sum = [0.0; 4];
    for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let weight = |at: f64, step: i64| {
            let part = at - at.floor();
            if step == 0 { 1.0 - part } else { part }
        };
        let weight = weight(x, column) * weight(y, row);
        let column = index(x.floor() as i64 + column, width, texture.wrap[0]);
        let row = index(y.floor() as i64 + row, height, texture.wrap[1]);
        let texel = texels[(row * i64::from(width) + column) as usize];
        for (sum, channel) in sum.iter_mut().zip(texel) {
            *sum += weight * f64::from(channel);
        }
    }
    sum
}

fn texels_are_sampled<D: Device>(mut device: D) {
    use TextureWrap::{Clamp, Mirror, Repeat};
    let (sin, cos) = 0.4f32.sin_cos();
    let turned = [[cos * 1.3, sin, 0.2], [-sin * 1.3, cos, -0.7]];
    let plain = SurfaceTexture::new(0).transform;
    let mut random = Random::new(3);
    for (size, wrap, transform) in [
        ([5, 4], [Repeat, Mirror], plain),
        ([7, 3], [Mirror, Clamp], turned),
        ([1, 6], [Clamp, Repeat], turned),
        ([8, 8], [Repeat; 2], turned),
    ] {
        let texels = noise(&mut random, size);
        let mut set = TextureSet::default();
        let image = set.add_image(size, bytemuck::cast_slice(&texels).into()).unwrap();
        let texture = SurfaceTexture { image, wrap, transform };
        let material = set.add_material(unlit(Some(texture))).unwrap();
        let [width, height] = SIZE.map(|side| side as f32);
        let (from, to) = ([-1.3, -0.9], [1.9, 1.6]);
        let place = ([0.0; 2], [width, height], 0.0);
        let vertices = rectangle(&mut set, place, (from, to), (WHITE, material));
        device.set_textures(&set).unwrap();
        let seen = picture(&mut device, &frame(&straight()), &[(vertices, true, false)]);
        for y in 0..SIZE[1] {
            for x in 0..SIZE[0] {
                let along = [x, y].map(|at| f64::from(at) + 0.5);
                let uv = [0, 1].map(|axis| {
                    let (from, to) = (f64::from(from[axis]), f64::from(to[axis]));
                    from + (to - from) * along[axis] / f64::from(SIZE[axis])
                });
                let want = simple_sample(&texels, size, &texture, uv);
                let got = seen.pixel(x, y);
                let off = (0..3).map(|n| (want[n] - f64::from(got[n])).abs()).fold(0.0, f64::max);
                let what = format!("{size:?} {wrap:?} at {x} {y}: {got:?}, not {want:?}");
                assert!(off <= 1.5, "{}: {what}", device.describe());
            }
        }
    }
}

/// Rectangles of several materials, seen at an angle.
fn scene() -> (TextureSet, Vec<(Vec<TriangleVertex>, bool, bool)>) {
    let mut random = Random::new(11);
    let mut set = TextureSet::default();
    let mut texture = |set: &mut TextureSet, size: [u32; 2], clear: bool| {
        let mut texels = noise(&mut random, size);
        if clear {
            texels.iter_mut().for_each(|texel| texel[3] = texel[0]);
        }
        SurfaceTexture::new(set.add_image(size, bytemuck::cast_slice(&texels).into()).unwrap())
    };
    let plain = texture(&mut set, [16, 16], false);
    let clear = texture(&mut set, [8, 8], true);
    let glow = Some(SurfaceTexture {
        wrap: [TextureWrap::Mirror, TextureWrap::Clamp],
        transform: [[2.0, 0.0, 0.1], [0.0, -1.0, 1.0]],
        ..texture(&mut set, [4, 2], false)
    });
    let base = Some(plain);
    let lit = SurfaceMaterial { base, ..SurfaceMaterial::default() };
    let holes = Opacity::Mask(128);
    let materials = [
        lit,
        SurfaceMaterial { base: Some(clear), opacity: holes, ..lit },
        SurfaceMaterial { emissive: [200, 100, 50], emissive_texture: glow, ..lit },
        SurfaceMaterial { base: None, ..unlit(None) },
        SurfaceMaterial { base: Some(clear), opacity: Opacity::Blended, ..lit },
    ];
    let mut meshes = Vec::new();
    for (number, material) in materials.into_iter().enumerate() {
        let is_blended = material.opacity == Opacity::Blended;
        let material = set.add_material(material).unwrap();
        let (x, z) = (18.0 * number as f32, -3.0 * (number % 3) as f32);
        let place = ([x, 4.0], [x + 30.0, 60.0], z);
        let color = if is_blended { [255, 230, 255, 150] } else { [240, 255, 200, 255] };
        let vertices = rectangle(&mut set, place, ([0.0; 2], [1.5, 2.5]), (color, material));
        meshes.push((vertices, true, is_blended));
    }
    let position =
        |n: usize| [[0.0, 0.0, 5.0], [9.0, 0.0, 5.0], [9.0, 9.0, 5.0], [0.0, 9.0, 5.0]][n];
    let corner = |n: usize| TriangleVertex::new(position(n), [0.0, 1.0, 0.0], [200, 40, 40, 255]);
    meshes.push(((0..4).map(corner).collect(), false, false));
    (set, meshes)
}

fn textured_scenes_are_drawn_as_by_the_rasteriser<D: Device>(mut device: D) {
    let (set, meshes) = scene();
    device.set_textures(&set).unwrap();
    let middle = DVec3::new(52.0, 30.0, 0.0);
    let near = Camera::look_at(middle + DVec3::new(-40.0, 25.0, 60.0), middle);
    let far = Camera::look_at(middle + DVec3::new(90.0, 60.0, 200.0), middle);
    for samples in Samples::ALL {
        device.set_samples(samples).unwrap();
        let mut soft = SoftDevice::new(SIZE[0], SIZE[1]).unwrap();
        soft.set_samples(device.info().samples).unwrap();
        soft.set_textures(&set).unwrap();
        for (camera, wire_pixels) in
            [(near, 0.0), (near, Frame::WIRE_PIXELS), (far, 0.0), (straight(), 0.0)]
        {
            let frame = Frame { wire_pixels, ..frame(&camera) };
            let want = picture(&mut soft, &frame, &meshes);
            let got = picture(&mut device, &frame, &meshes);
            let seen = want.difference(&got, TOLERANCE).unwrap();
            let what = format!("{}, {samples} samples: {seen:?}", device.describe());
            println!("{what}");
            if let Some(folder) = std::env::var_os("DRYSTONE_KEEP_PICTURES") {
                let name = format!("textures-{samples}-{wire_pixels}-{}.png", camera.position.x);
                #[cfg(feature = "png")]
                want.save_png(&std::path::Path::new(&folder).join(name)).unwrap();
                #[cfg(not(feature = "png"))]
                let _ = (folder, name);
            }
            // With several samples, devices choose different samples of a pixel on an edge, between
            // which images of noise differ. Elsewhere pictures agree.
            let max_share = if samples == Samples::One { 100 } else { 25 };
            assert!(seen.pixels <= SIZE[0] * SIZE[1] / max_share, "{what}");
            assert!(seen.away_from_edges <= 4, "{what}");
        }
    }
}

/// A checkerboard whose texels are much smaller than pixels is grey, also on a slope.
fn far_textures_show_the_mean<D: Device>(mut device: D) {
    let mut set = TextureSet::default();
    let texel = |n: u32| if (n + n / 64).is_multiple_of(2) { [0, 0, 0, 255] } else { WHITE };
    let texels: Vec<_> = (0..64 * 64).map(texel).collect();
    let image = set.add_image([64, 64], bytemuck::cast_slice(&texels).into()).unwrap();
    let material = set.add_material(unlit(Some(SurfaceTexture::new(image)))).unwrap();
    let place = ([0.0; 2], SIZE.map(|side| side as f32), 0.0);
    let vertices = rectangle(&mut set, place, ([0.0; 2], [17.3, 13.7]), (WHITE, material));
    device.set_textures(&set).unwrap();
    let slope = Camera::look_at(DVec3::new(48.0, -40.0, 30.0), DVec3::new(48.0, 20.0, 0.0));
    for camera in [straight(), slope] {
        let seen = picture(&mut device, &frame(&camera), &[(vertices.clone(), true, false)]);
        let [red, ..] = seen.pixel(SIZE[0] / 2, SIZE[1] / 2 + 10);
        assert!((118..=138).contains(&red), "{}: {red}", device.describe());
    }
}

fn masks_leave_holes_without_depth<D: Device>(mut device: D) {
    let mut set = TextureSet::default();
    let texels: [[u8; 4]; 2] = [[255, 0, 0, 255], [255, 0, 0, 0]];
    let image = set.add_image([2, 1], bytemuck::cast_slice(&texels).into()).unwrap();
    let texture = SurfaceTexture { wrap: [TextureWrap::Clamp; 2], ..SurfaceTexture::new(image) };
    let masked = SurfaceMaterial { opacity: Opacity::Mask(128), ..unlit(Some(texture)) };
    let masked = set.add_material(masked).unwrap();
    let blue = set.add_material(unlit(None)).unwrap();
    let [width, height] = SIZE.map(|side| side as f32);
    let mut at = |z: f32, color, material| {
        let place = ([0.0; 2], [width, height], z);
        rectangle(&mut set, place, ([0.0; 2], [1.0; 2]), (color, material))
    };
    let (front, back) = (at(1.0, WHITE, masked), at(0.0, [0, 0, 255, 255], blue));
    device.set_textures(&set).unwrap();
    for samples in [Samples::One, Samples::Four] {
        device.set_samples(samples).unwrap();
        // The hole is drawn first.
        let meshes = [(front.clone(), true, false), (back.clone(), true, false)];
        let seen = picture(&mut device, &frame(&straight()), &meshes);
        let [left, right] = [10, 86].map(|x| seen.pixel(x, 30));
        assert_eq!((left, right), ([255, 0, 0, 255], [0, 0, 255, 255]), "{}", device.describe());
    }
}

fn textures_do_not_change_other_meshes<D: Device>(mut device: D) {
    let (set, meshes) = scene();
    let plain = &meshes[5..];
    let camera = Camera::look_at(DVec3::new(15.0, 20.0, 40.0), DVec3::new(4.0, 4.0, 5.0));
    let mut pictures = Vec::new();
    for set in [TextureSet::default(), set, TextureSet::default()] {
        device.set_textures(&set).unwrap();
        pictures.push(picture(&mut device, &frame(&camera), plain));
    }
    assert!(pictures[0] == pictures[2], "{}", device.describe());
    let seen = pictures[0].difference(&pictures[1], 1).unwrap();
    assert_eq!(seen.pixels, 0, "{}: {seen:?}", device.describe());
}

/// A corner beyond the last one is the last one, and without textures the number is a colour.
fn corners_that_do_not_exist_are_drawn<D: Device>(mut device: D) {
    let mut set = TextureSet::default();
    let material = set.add_material(unlit(None)).unwrap();
    set.add_corner([0.0; 2], [10, 200, 30, 255], material).unwrap();
    let [width, height] = SIZE.map(|side| side as f32);
    let corner = |x, y| TriangleVertex::with_corner([x, y, 0.0], [0.0, 0.0, 1.0], u32::MAX);
    let vertices =
        vec![corner(0.0, height), corner(0.0, 0.0), corner(width, 0.0), corner(width, height)];
    device.set_textures(&set).unwrap();
    let frame = frame(&straight());
    let seen = picture(&mut device, &frame, &[(vertices.clone(), true, false)]);
    assert_eq!(seen.pixel(40, 40), [10, 200, 30, 255], "{}", device.describe());
    device.set_textures(&TextureSet::default()).unwrap();
    let seen = picture(&mut device, &frame, &[(vertices, true, false)]);
    assert!(seen.pixel(40, 40) != [10, 200, 30, 255], "{}", device.describe());
}
