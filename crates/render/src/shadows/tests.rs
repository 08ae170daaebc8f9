//! Shadows of small scenes: in every renderer on every device, against a ray caster, and against
//! the promises of the cache.

mod cut_outs;
mod kept;
mod lights;
mod masks;
mod rays;
mod shapes;
mod sky_light;
mod surfaces;

use drystone_mesh::{Face, Quad};
use drystone_testing::Random;
use glam::DVec3;

use super::*;
#[cfg(feature = "gl")]
use crate::gl::{GlConfig, GlDevice};
#[cfg(feature = "wgpu")]
use crate::wgpu_device::{Api, WgpuDevice};
use crate::{
    Device, Image, InstancedRenderer, Layer, MeshData, MeshId, NaiveRenderer, PoolRenderer,
    Projection, Renderer, Samples, SlotPolicy, SoftDevice, TriangleMesh, TriangleTransform,
    TriangleVertex,
};

pub(crate) const SIZE: [u32; 2] = [256, 192];
/// Material of each colour: stone, grass, glass.
const PALETTE: [[u8; 4]; 3] = [[190, 180, 170, 255], [90, 160, 70, 255], [90, 120, 230, 110]];

/// Voxels of one material, at positions from 0 to 63.
#[derive(Clone, Default)]
pub(crate) struct Voxels(std::collections::BTreeSet<[i32; 3]>);

impl Voxels {
    pub(crate) fn filled(low: [i32; 3], size: [i32; 3]) -> Self {
        let mut all = Self::default();
        for x in 0..size[0] {
            for y in 0..size[1] {
                all.0.extend((0..size[2]).map(|z| [low[0] + x, low[1] + y, low[2] + z]));
            }
        }
        all
    }

    /// A floor with blocks and towers on it.
    pub(crate) fn city(seed: u64) -> Self {
        let (mut random, mut city) = (Random::new(seed), Self::filled([0; 3], [40, 1, 40]));
        for _ in 0..24 {
            let [x, z] = [(); 2].map(|()| random.below(36));
            let size = [1 + random.below(4), 1 + random.below(9), 1 + random.below(4)];
            city.0.extend(Self::filled([x, 1 + random.below(3), z], size).0);
        }
        city
    }

    /// The visible faces, one quad each, sorted by direction.
    fn quads(&self, material: u16) -> (Vec<Quad>, [u32; 6]) {
        let (mut quads, mut counts) = (Vec::new(), [0; 6]);
        for (face, count) in Face::ALL.into_iter().zip(&mut counts) {
            for &[x, y, z] in &self.0 {
                let [dx, dy, dz] = face.normal();
                if !self.0.contains(&[x + dx, y + dy, z + dz]) {
                    quads.push(Quad::new([x, y, z].map(|c| c as u32), [1, 1], face, material));
                    *count += 1;
                }
            }
        }
        (quads, counts)
    }

    pub(crate) fn insert(&self, renderer: &mut dyn Renderer, origin: [i32; 3]) -> MeshId {
        self.insert_in(renderer, (origin, 0), (0, Layer::Opaque))
    }

    pub(crate) fn insert_in(
        &self,
        renderer: &mut dyn Renderer,
        (origin, level): ([i32; 3], u32),
        (material, layer): (u16, Layer),
    ) -> MeshId {
        let (quads, counts) = self.quads(material);
        let draw_data = DrawData { origin, level, extent: 64 << level, sort_rank: 0 };
        renderer.insert(&MeshData { quads: &quads, counts, draw_data, layer }).unwrap()
    }
}

/// A tent of two triangles over the middle of the city.
fn insert_tent(renderer: &mut dyn Renderer) {
    let corner = |x: f32, y: f32, z: f32, up: f32| {
        TriangleVertex::new([x, y, z], [up, 1.0, 0.0], [220, 60, 40, 255])
    };
    let vertices = [
        corner(0.0, 0.0, 0.0, -1.0),
        corner(4.0, 5.0, 0.0, -1.0),
        corner(4.0, 5.0, 9.0, 1.0),
        corner(9.0, 0.0, 9.0, 1.0),
    ];
    let mesh = TriangleMesh {
        vertices: &vertices,
        indices: &[0, 1, 2, 1, 2, 3],
        transform: TriangleTransform { origin: [14, 9, 14], scale: 1.0 },
        layer: Layer::Opaque,
        is_textured: false,
    };
    renderer.insert_triangles(&mesh).unwrap();
}

fn of_device<D: Device + 'static>(mut device: impl FnMut() -> D) -> Vec<Box<dyn Renderer>> {
    let instanced = InstancedRenderer::new(device(), SlotPolicy::Lowest).unwrap();
    let mut all: Vec<Box<dyn Renderer>> = vec![
        Box::new(PoolRenderer::new(device(), 1000, 16).unwrap()),
        Box::new(NaiveRenderer::new(device())),
        Box::new(instanced),
    ];
    all.iter_mut().for_each(|renderer| renderer.set_palette(&PALETTE).unwrap());
    all
}

pub(crate) fn soft() -> Vec<Box<dyn Renderer>> {
    of_device(|| SoftDevice::new(SIZE[0], SIZE[1]).unwrap())
}

/// Every renderer on every GPU device that can be opened.
pub(crate) fn on_gpus(test: &str) -> Vec<Box<dyn Renderer>> {
    let mut all = Vec::new();
    let [width, height] = SIZE;
    #[cfg(feature = "wgpu")]
    for api in [Api::Vulkan, Api::OpenGl] {
        let open = || WgpuDevice::headless(api, width, height);
        match open() {
            Ok(_) => all.extend(of_device(|| open().unwrap())),
            Err(error) => println!("skipped: {test} ({api:?}): {error}"),
        }
    }
    #[cfg(feature = "gl")]
    {
        let open = || GlDevice::headless(GlConfig::default(), width, height);
        match open() {
            Ok(_) => all.extend(of_device(|| open().unwrap())),
            Err(error) => println!("skipped: {test} (gl): {error}"),
        }
    }
    let _ = (test, width, height, &mut all);
    all
}

/// A view with shadows from `from` to the middle of the city, with the sun at an hour.
fn view(from: [f64; 3], hour: f32) -> View {
    let camera = Camera::look_at(from.into(), DVec3::new(20.0, 2.0, 20.0));
    let atmosphere = Atmosphere::default().with_hour(hour);
    View { atmosphere, shadows: true, ..View::new(camera) }
}

pub(crate) fn picture(renderer: &mut dyn Renderer, view: &View) -> Image {
    renderer.draw(view).unwrap();
    renderer.read_image().unwrap()
}

/// The colour of a picture at a point of the world.
pub(crate) fn at(image: &Image, view: &View, point: [f64; 3]) -> [u8; 4] {
    let [width, height] = [image.width(), image.height()].map(f64::from);
    let relative = (DVec3::from(point) - view.camera.position).as_vec3();
    let clip = view.camera.clip_from_relative((width / height) as f32) * relative.extend(1.0);
    let [x, y] = [clip.x / clip.w, clip.y / clip.w].map(f64::from);
    image.pixel(((x + 1.0) / 2.0 * width) as u32, ((1.0 - y) / 2.0 * height) as u32)
}

/// A floor of one quad at height 1.
pub(crate) fn floor(renderer: &mut dyn Renderer) {
    let quad = [Quad::new([0, 0, 0], [64, 64], Face::PosY, 0)];
    let draw_data = DrawData { extent: 64, ..DrawData::default() };
    let (counts, layer) = ([0, 0, 0, 0, 1, 0], Layer::Opaque);
    renderer.insert(&MeshData { quads: &quad, counts, draw_data, layer }).unwrap();
}

/// Scenes that all renderers draw.
fn fill(renderer: &mut dyn Renderer) {
    Voxels::city(1).insert(renderer, [0; 3]);
    // Voxels of eight units: a hill beside the city.
    Voxels::filled([0; 3], [4, 4, 2]).insert_in(renderer, ([48, 0, 0], 3), (1, Layer::Opaque));
    let glass = (2, Layer::Blended);
    Voxels::filled([0; 3], [6, 1, 6]).insert_in(renderer, ([10, 14, 10], 0), glass);
}

/// Largest difference of a channel: one for rounding of a colour, one for that of the mean of
/// samples, and one for the share of the sun, whose weights are computed from rounded positions.
const TOLERANCE: u8 = 3;
/// Share of pixels that may differ more: at silhouettes, as without shadows, and at the edges of
/// shadows, where devices decide differently for a texel whose depth is nearly that of the pixel.
const EDGES: f64 = 0.02;

#[test]
fn every_renderer_on_every_device_draws_the_same_shadows() {
    for samples in [Samples::One, Samples::Four] {
        let [mut expected, ..] = <[_; 3]>::try_from(soft()).ok().unwrap();
        let mut others: Vec<_> = soft().into_iter().skip(1).collect();
        others.extend(on_gpus("every_renderer_on_every_device_draws_the_same_shadows"));
        for renderer in others.iter_mut().chain([&mut expected]) {
            renderer.output().set_samples(samples).unwrap();
            fill(renderer.as_mut());
        }
        let mut darker = 0;
        for (hour, wire, occlusion) in [(9.0, false, 0.0), (13.0, true, 0.16), (16.5, false, 0.16)]
        {
            // With several samples, lines have more edges than surfaces.
            let wire = wire && samples == Samples::One;
            let mut view = View { wire, ..view([-14.0, 30.0, 52.0], hour) };
            view.atmosphere.ambient_occlusion = occlusion;
            let want = picture(expected.as_mut(), &view);
            let open = View { shadows: false, ..view };
            darker +=
                want.difference(&picture(expected.as_mut(), &open), TOLERANCE).unwrap().pixels;
            for renderer in &mut others {
                let name = format!("{} on {}", renderer.name(), renderer.output().describe());
                let seen = want.difference(&picture(renderer.as_mut(), &view), TOLERANCE).unwrap();
                println!("{name}, {samples} samples, {hour} h: {seen:?}");
                assert!(
                    f64::from(seen.pixels) <= EDGES * f64::from(SIZE[0] * SIZE[1]),
                    "{name}: {seen:?}"
                );
                assert!(seen.away_from_edges <= 8, "{name}: {seen:?}");
            }
        }
        assert!(darker > 4000, "{darker} pixels have shadows");
    }
}

/// Models cast shadows on voxels, voxels on models, and models on themselves.
#[test]
fn models_have_shadows_on_every_device() {
    let view = view([-14.0, 34.0, 52.0], 10.0);
    let [mut expected, ..] = <[_; 3]>::try_from(soft()).ok().unwrap();
    let mut others = on_gpus("models_have_shadows_on_every_device");
    others.extend(soft().into_iter().skip(1));
    others.retain(|renderer| !renderer.has_cubes());
    for renderer in others.iter_mut().chain([&mut expected]) {
        Voxels::city(1).insert(renderer.as_mut(), [0; 3]);
    }
    let without = picture(expected.as_mut(), &view);
    for renderer in others.iter_mut().chain([&mut expected]) {
        insert_tent(renderer.as_mut());
    }
    let want = picture(expected.as_mut(), &view);
    let open = picture(expected.as_mut(), &View { shadows: false, ..view });
    let shadow = (0..SIZE[0] * SIZE[1]).filter(|at| {
        let [x, y] = [at % SIZE[0], at / SIZE[0]];
        let [with, before, lit] = [&want, &without, &open].map(|it| it.pixel(x, y)[0]);
        with + 20 < before && with + 20 < lit
    });
    let shaded = shadow.count();
    assert!(shaded > 60, "{shaded} pixels are in the tent's shadow");
    for mut renderer in others {
        let name = format!("{} on {}", renderer.name(), renderer.output().describe());
        let seen = want.difference(&picture(renderer.as_mut(), &view), TOLERANCE).unwrap();
        println!("{name}: {seen:?}");
        assert!(f64::from(seen.pixels) <= EDGES * f64::from(SIZE[0] * SIZE[1]), "{name}: {seen:?}");
        assert!(seen.away_from_edges <= 8, "{name}: {seen:?}");
    }
}

/// Pictures with shadows are the same with culling on the GPU.
#[cfg(feature = "wgpu")]
#[test]
fn culling_on_the_gpu_keeps_shadows() {
    let device = WgpuDevice::headless(Api::Vulkan, SIZE[0], SIZE[1]);
    let Ok(device) = device.inspect_err(|error| println!("skipped: {error}")) else { return };
    let mut renderer = PoolRenderer::new(device, 1000, 16).unwrap();
    renderer.set_palette(&PALETTE).unwrap();
    fill(&mut renderer);
    let views = [view([-14.0, 30.0, 52.0], 9.0), view([50.0, 20.0, 8.0], 15.0)];
    let expected = views.map(|view| picture(&mut renderer, &view));
    if let Err(error) = renderer.set_cull(crate::Cull::Gpu) {
        return println!("skipped: culling_on_the_gpu_keeps_shadows: {error}");
    }
    // A mesh that comes after the list of casters was made.
    let tower = Voxels::filled([0; 3], [3, 20, 3]);
    for (view, expected) in views.iter().zip(&expected) {
        assert!(picture(&mut renderer, view) == *expected);
    }
    tower.insert(&mut renderer, [30, 0, 4]);
    let culled = picture(&mut renderer, &views[0]);
    assert_eq!(renderer.cull(), crate::Cull::Gpu);
    renderer.set_cull(crate::Cull::Cpu).unwrap();
    assert!(picture(&mut renderer, &views[0]) == culled && culled != expected[0]);
}
