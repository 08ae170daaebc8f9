//! Random programs of inserted, replaced and removed triangles. The pool's picture equals that of a
//! twin, which copies each mesh and draws each by itself, with the same quads.

use drystone_mesh::{Face, Quad};
use drystone_render::{
    Access, Api, Camera, Device, DrawData, GlConfig, GlDevice, Layer, MeshData, NaiveRenderer,
    PoolRenderer, PoolRendererConfig, RenderError, Renderer, SoftDevice, TriangleMesh,
    TriangleTransform, TriangleVertex, TrianglesId, View, WgpuDevice,
};
use drystone_testing::Random;
use glam::{DVec3, Vec3};

use crate::pictures::{HEIGHT, WIDTH, compare, soft};

/// Returns a number from −1 to 1.
fn number(random: &mut Random) -> f32 {
    2.0 * random.unit() as f32 - 1.0
}

/// Mesh in the twin.
#[derive(Clone)]
struct Copied {
    vertices: Vec<TriangleVertex>,
    indices: Vec<u32>,
    transform: TriangleTransform,
    layer: Layer,
}

impl Copied {
    /// Creates a cloud of triangles somewhere in the picture.
    fn new(random: &mut Random, layer: Layer) -> Self {
        let opacity = if layer == Layer::Blended { 120 } else { 255 };
        let count = 3 + random.below(40);
        let vertices = (0..count)
            .map(|_| {
                let at = Vec3::new(number(random), number(random), number(random));
                let color = [random.below(256) as u8, 90, random.below(256) as u8, opacity];
                let normal = Vec3::new(number(random), number(random), number(random));
                TriangleVertex::new(at.to_array(), normal.to_array(), color)
            })
            .collect();
        let indices = (0..3 * random.below(20)).map(|_| random.below(count)).collect();
        let origin = [0; 3].map(|_: i32| random.below(30) - 15);
        let transform = TriangleTransform { origin, scale: 2.0 + random.below(4) as f32 };
        Self { vertices, indices, transform, layer }
    }

    fn mesh(&self) -> TriangleMesh<'_> {
        let Self { vertices, indices, transform, layer } = self;
        TriangleMesh { vertices, indices, transform: *transform, layer: *layer, is_textured: false }
    }
}

/// Adds a floor that intersects meshes, and a pane of glass in front of them.
fn add_quads(renderer: &mut dyn Renderer) {
    renderer.set_palette(&[[120, 120, 110, 255], [90, 160, 250, 80]]).unwrap();
    let draw_data = DrawData { origin: [-20, -4, -20], level: 0, extent: 64, sort_rank: 0 };
    let floor = Quad::new([0, 0, 0], [40, 40], Face::PosY, 0);
    let pane = Quad::new([0, 0, 30], [40, 20], Face::PosZ, 1);
    for (quad, counts, layer) in
        [(floor, [0, 0, 0, 0, 1, 0], Layer::Opaque), (pane, [0, 0, 0, 0, 0, 1], Layer::Blended)]
    {
        renderer.insert(&MeshData { quads: &[quad], counts, draw_data, layer }).unwrap();
    }
}

fn view(random: &mut Random) -> View {
    let direction = Vec3::new(number(random), 0.4 + number(random) / 3.0, 1.2);
    let eye = direction.normalize().as_dvec3() * 55.0;
    View::new(Camera::look_at(eye, DVec3::ZERO))
}

/// Runs a program on `renderer`; compares its picture every few steps.
fn run(test: &str, mut renderer: Box<dyn Renderer>, steps: u32) {
    let mut random = Random::new(0x5eed_1234_9876_4321);
    let mut meshes: Vec<(TrianglesId, Copied)> = Vec::new();
    let mut wrong = Vec::new();
    add_quads(renderer.as_mut());
    for step in 0..steps {
        let nth = random.below(meshes.len().max(1) as u32) as usize;
        match random.below(6) {
            0..=2 if meshes.len() < 40 => {
                let layer = if random.below(4) == 0 { Layer::Blended } else { Layer::Opaque };
                let mesh = Copied::new(&mut random, layer);
                meshes.push((renderer.insert_triangles(&mesh.mesh()).unwrap(), mesh));
            }
            3..=4 if !meshes.is_empty() => {
                let mesh = Copied::new(&mut random, meshes[nth].1.layer);
                renderer.replace_triangles(meshes[nth].0, &mesh.mesh()).unwrap();
                meshes[nth].1 = mesh;
            }
            _ if !meshes.is_empty() => {
                let (id, _) = meshes.swap_remove(nth);
                renderer.remove_triangles(id).unwrap();
                assert!(matches!(renderer.remove_triangles(id), Err(RenderError::StaleMesh)));
            }
            _ => {}
        }
        let view = view(&mut random);
        renderer.draw(&view).unwrap();
        if step % 8 == 0 {
            let got = renderer.read_image().unwrap();
            let mut twin = NaiveRenderer::new(soft());
            add_quads(&mut twin);
            for (_, mesh) in &meshes {
                twin.insert_triangles(&mesh.mesh()).unwrap();
            }
            twin.draw(&view).unwrap();
            let want = twin.read_image().unwrap();
            wrong.extend(compare(test, step as usize, "twin", &want, &got));
            assert_eq!(twin.held().meshes, renderer.held().meshes);
            assert_eq!(twin.held().used_bytes, renderer.held().used_bytes);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Uses a pool of small buffers, so that there are several of each kind.
fn run_on<D: Device + 'static>(test: &str, open: impl Fn() -> Result<D, RenderError>, steps: u32) {
    match open() {
        Ok(device) => {
            let config = PoolRendererConfig::default().with_max_buffer_bytes(8 << 10);
            run(test, Box::new(PoolRenderer::with_config(device, 8, 8, config).unwrap()), steps);
        }
        Err(error @ RenderError::NoAdapter { .. }) => return println!("skipped: {test}: {error}"),
        Err(error) => panic!("{test}: {error}"),
    }
    run(&format!("{test}-naive"), Box::new(NaiveRenderer::new(open().unwrap())), steps / 4);
}

#[test]
fn changing_triangles_are_drawn_as_by_the_twin() {
    run_on("program-soft", || Ok(soft()), 400);
    for api in [Api::Vulkan, Api::OpenGl] {
        let open = || WgpuDevice::headless(api, WIDTH, HEIGHT);
        run_on(&format!("program-wgpu-{api:?}"), open, 120);
    }
    for access in [Access::Direct, Access::Staged] {
        let config = GlConfig::default().with_access(access);
        let open = || GlDevice::headless(config, WIDTH, HEIGHT);
        run_on(&format!("program-gl-{}", access.name()), open, 200);
    }
}

/// Two triangles with many vertices.
fn large(count: u32) -> Copied {
    let mut random = Random::new(99);
    let mut mesh = Copied::new(&mut random, Layer::Opaque);
    mesh.vertices = (0..count).map(|n| mesh.vertices[n as usize % 3]).collect();
    mesh.indices = vec![0, 1, 2, count - 1, 1, 0];
    mesh
}

/// Checks that a mesh that does not fit is refused and the others are still drawn.
fn refuses(mut renderer: Box<dyn Renderer>, too_large: &Copied) {
    let mesh = large(30);
    let id = renderer.insert_triangles(&mesh.mesh()).unwrap();
    let view = view(&mut Random::new(3));
    renderer.draw(&view).unwrap();
    let (before, held) = (renderer.read_image().unwrap(), renderer.held());
    for _ in 0..3 {
        let refused = renderer.insert_triangles(&too_large.mesh()).map(|_| ());
        for result in [refused, renderer.replace_triangles(id, &too_large.mesh())] {
            let error = result.unwrap_err();
            let is_full = matches!(error, RenderError::Pool(_) | RenderError::OutOfMemory { .. });
            assert!(is_full, "{error}");
        }
        renderer.draw(&view).unwrap();
        assert_eq!(before.difference(&renderer.read_image().unwrap(), 0).unwrap().pixels, 0);
    }
    assert_eq!(renderer.held(), held);
    let bad = Copied { indices: vec![0, 1, 30], ..mesh };
    assert!(renderer.replace_triangles(id, &bad.mesh()).is_err());
    renderer.remove_triangles(id).unwrap();
    assert!(matches!(
        renderer.replace_triangles(id, &large(3).mesh()),
        Err(RenderError::StaleMesh)
    ));
    assert_eq!(renderer.held().meshes, 0);
}

#[test]
fn triangles_beyond_the_memory_are_refused_and_others_stay() {
    let config = PoolRendererConfig::default().with_max_buffer_bytes(4 << 10);
    let small = PoolRenderer::with_config(soft(), 0, 8, config).unwrap();
    refuses(Box::new(small), &large(500));
    for access in [Access::Direct, Access::Staged] {
        let config = GlConfig::default().with_access(access).with_memory_limit_bytes(48 << 20);
        let open = || GlDevice::headless(config, WIDTH, HEIGHT);
        match open() {
            Ok(device) => {
                let millions = large(4_000_000);
                refuses(Box::new(PoolRenderer::new(device, 0, 8).unwrap()), &millions);
                refuses(Box::new(NaiveRenderer::new(open().unwrap())), &millions);
            }
            Err(error) => println!("skipped: no memory on gl ({}): {error}", access.name()),
        }
    }
}

/// Ids of one renderer are invalid for another.
#[test]
fn triangles_of_another_renderer_are_stale() {
    let open = || -> [Box<dyn Renderer>; 2] {
        let device = || SoftDevice::new(8, 8).unwrap();
        let pool = PoolRenderer::new(device(), 0, 8).unwrap();
        [Box::new(pool), Box::new(NaiveRenderer::new(device()))]
    };
    let mesh = large(9);
    for mut owner in open() {
        let id = owner.insert_triangles(&mesh.mesh()).unwrap();
        for mut other in open() {
            other.insert_triangles(&mesh.mesh()).unwrap();
            let replaced = other.replace_triangles(id, &mesh.mesh());
            assert!(matches!(replaced, Err(RenderError::StaleMesh)));
            assert!(matches!(other.remove_triangles(id), Err(RenderError::StaleMesh)));
        }
    }
}
