use drystone_mesh::{Face, Quad};
use drystone_testing::Random;
use glam::DVec3;

use super::*;
use crate::{
    camera::{Camera, Projection},
    device::tests::late::LateDevice,
    draw_data::DrawData,
    instanced_renderer::{InstancedRenderer, SlotPolicy},
    mesh_data::{Layer, MeshData, MeshId},
    naive_renderer::NaiveRenderer,
    pool_renderer::PoolRenderer,
    renderer::Renderer,
    soft::SoftDevice,
    triangle_mesh::{TriangleMesh, TrianglesId},
    triangle_vertex::{TriangleTransform, TriangleVertex},
    view::View,
};

/// Every method body is exactly the call of the method of the same name, with the same arguments.
#[test]
fn every_call_is_passed_on() {
    let methods = |text: &'static str, begin: &str| {
        let body = text.split_once(begin).unwrap().1.split_once("\n}\n").unwrap().0;
        let parts = body.split("\n    fn ").skip(1);
        parts.map(|part| part.split_once('(').unwrap()).collect::<Vec<_>>()
    };
    let names = |all: &[(&'static str, &str)]| all.iter().map(|it| it.0).collect::<Vec<_>>();
    let all_passed = [
        ("pub trait Output: sealed::Sealed {", "Output"),
        ("pub trait Device: Output {", "Device"),
    ]
    .map(|(begin, name)| {
        let declared = methods(include_str!("../device.rs"), begin);
        assert!(declared.len() > 5, "{declared:?}");
        let begin = format!("{name} for SharedDevice<D> {{");
        let passed = methods(include_str!("../shared_device.rs"), &begin);
        assert_eq!(names(&passed), names(&declared));
        passed
    });
    for (name, rest) in all_passed.into_iter().flatten() {
        let (head, body) = rest.split_once(" {\n").unwrap();
        let parameters = head.rsplit_once(')').unwrap().0.split([',', '\n']).map(str::trim);
        let arguments = parameters.filter_map(|it| Some(it.split_once(": ")?.0));
        let call = format!("self.it().{name}({})", arguments.collect::<Vec<_>>().join(", "));
        let body = body.split_once("\n    }").unwrap().0.trim();
        assert_eq!(body.trim_end_matches(';'), call);
    }
}

/// Pixels a side, and tiles a side.
const SIZE: u32 = 48;
const SIDE: u32 = 6;

const PALETTE: [[u8; 4]; 5] =
    [[0; 4], [200, 60, 40, 255], [60, 200, 40, 255], [40, 60, 200, 255], [220, 200, 20, 255]];

/// Quads of a tile, by its material: together they fill much of a pool's first buffer.
const QUADS: [usize; 5] = [0, 1, 40, 130, 190];

/// Id of a tile's mesh.
#[derive(Clone, Copy, Debug)]
enum Tile {
    Quads(MeshId, Layer),
    Triangles(TrianglesId),
}

/// Inserts a tile of some number of quads or of two triangles, or replaces `old`.
fn put(
    renderer: &mut dyn Renderer,
    [x, y]: [u32; 2],
    material: u16,
    old: Result<Tile, Option<Layer>>,
) -> Tile {
    let origin = [x as i32, y as i32, 0];
    let corner =
        |x, y| TriangleVertex::new([x, y, 0.0], [0.0, 0.0, 1.0], PALETTE[usize::from(material)]);
    let vertices = [corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)];
    let triangles = TriangleMesh {
        is_textured: false,
        vertices: &vertices,
        indices: &[0, 1, 2, 0, 2, 3],
        transform: TriangleTransform { origin, scale: 1.0 },
        layer: Layer::Opaque,
    };
    // Meshes of several sizes, so that the pool has gaps to close. The quads coincide.
    let quads = vec![Quad::new([0; 3], [1, 1], Face::PosZ, material); QUADS[usize::from(material)]];
    let counts = Face::ALL.map(|it| if it == Face::PosZ { quads.len() as u32 } else { 0 });
    let draw_data = DrawData { origin, level: 0, extent: 1, sort_rank: 0 };
    let mesh = |layer| MeshData { quads: &quads, counts, draw_data, layer };
    match old {
        Err(Some(layer)) => Tile::Quads(renderer.insert(&mesh(layer)).unwrap(), layer),
        Err(None) => Tile::Triangles(renderer.insert_triangles(&triangles).unwrap()),
        Ok(Tile::Quads(id, layer)) => {
            renderer.replace(id, &mesh(layer)).unwrap();
            Tile::Quads(id, layer)
        }
        Ok(Tile::Triangles(id)) => {
            renderer.replace_triangles(id, &triangles).unwrap();
            Tile::Triangles(id)
        }
    }
}

fn remove(renderer: &mut dyn Renderer, tile: Tile) {
    match tile {
        Tile::Quads(id, _) => renderer.remove(id).unwrap(),
        Tile::Triangles(id) => renderer.remove_triangles(id).unwrap(),
    }
}

/// A renderer on the shared device, and one that draws the same at once.
struct Pair {
    shared: Box<dyn Renderer>,
    plain: NaiveRenderer<SoftDevice>,
    /// The tile of each renderer, by cell.
    tiles: Vec<Option<[Tile; 2]>>,
}

impl Pair {
    fn new(shared: Box<dyn Renderer>) -> Self {
        let mut plain = NaiveRenderer::new(SoftDevice::new(SIZE, SIZE).unwrap());
        plain.set_palette(&PALETTE).unwrap();
        Self { shared, plain, tiles: vec![None; (SIDE * SIDE) as usize] }
    }

    /// Changes some tiles.
    fn change(&mut self, random: &mut Random) {
        let is_instanced = self.shared.name() == "instanced";
        for _ in 0..random.below(12) {
            let cell = random.below(SIDE * SIDE);
            let at = [cell % SIDE, cell / SIDE];
            let material = 1 + random.below(PALETTE.len() as u32 - 1) as u16;
            let Self { shared, plain, tiles } = self;
            let tile = &mut tiles[cell as usize];
            let renderers: [&mut dyn Renderer; 2] = [&mut **shared, plain];
            match (*tile, random.below(3)) {
                (Some(tiles), 0) => {
                    renderers.into_iter().zip(tiles).for_each(|(it, tile)| remove(it, tile));
                    *tile = None;
                }
                (Some(tiles), _) => {
                    let both = renderers.into_iter().zip(tiles);
                    both.for_each(|(it, tile)| _ = put(it, at, material, Ok(tile)));
                }
                (None, kind) => {
                    // The instanced renderer has a pool for blended meshes only.
                    let layer = match kind {
                        _ if is_instanced => Some(Layer::Blended),
                        0 => Some(Layer::Opaque),
                        1 => Some(Layer::Blended),
                        _ => None,
                    };
                    *tile = Some(renderers.map(|it| put(it, at, material, Err(layer))));
                }
            }
        }
    }

    /// Draws with both. Returns the picture that the shared device must show later.
    fn draw(&mut self) -> Image {
        let middle = f64::from(SIDE) / 2.0;
        let (from, to) = (DVec3::new(middle, middle, 50.0), DVec3::new(middle, middle, 0.0));
        let mut camera = Camera::look_at(from, to);
        camera.projection = Projection::Orthographic { height_voxels: SIDE as f32 };
        let view = View::new(camera);
        self.shared.draw(&view).unwrap();
        self.plain.draw(&view).unwrap();
        self.plain.read_image().unwrap()
    }
}

/// A renderer of each kind that stores meshes in pools.
fn renderer(device: SharedDevice<LateDevice>, kind: u32) -> Box<dyn Renderer> {
    match kind {
        0 => Box::new(InstancedRenderer::new(device, SlotPolicy::Lowest).unwrap()),
        _ => Box::new(PoolRenderer::new(device, 1, SIDE * SIDE).unwrap()),
    }
}

/// Renderers are created and dropped, and alternate, with frames of the others in between. Pools of
/// triangles are created with the first triangles.
#[test]
fn alternating_renderers_overwrite_no_range_that_a_frame_reads() {
    let mut moves = 0;
    for seed in 1..=6 {
        let mut random = Random::new(seed);
        let device = SharedDevice::new(LateDevice::new(SIZE, SIZE, 2));
        device.clone().set_palette(&PALETTE).unwrap();
        let mut pairs = vec![Pair::new(Box::new(NaiveRenderer::new(device.clone())))];
        let mut expected = Vec::new();
        for _ in 0..120 {
            match random.below(20) {
                0 if pairs.len() < 4 => {
                    pairs.push(Pair::new(renderer(device.clone(), random.below(3))));
                }
                1 if pairs.len() > 1 => {
                    pairs.swap_remove(random.below(pairs.len() as u32) as usize);
                }
                _ => {}
            }
            let at = random.below(pairs.len() as u32) as usize;
            pairs[at].change(&mut random);
            expected.push(pairs[at].draw());
            moves += pairs[at].shared.pool().map_or(0, |pool| pool.stats().last_frame.moves);
            let late = random.below(pairs.len() as u32) as usize;
            pairs[late].change(&mut random);
        }
        device.it().finish().unwrap();
        let pictures = std::mem::take(&mut device.it().pictures);
        assert_eq!(pictures.len(), expected.len());
        for (frame, (picture, expected)) in pictures.iter().zip(&expected).enumerate() {
            assert!(picture == expected, "seed {seed}, frame {frame}");
        }
    }
    assert!(moves > 100, "the pools moved only {moves} meshes");
}

/// Growing the table of per-draw data, and inserting meshes one by one before a frame, take few
/// writes.
#[test]
fn many_meshes_take_few_writes_of_draw_data() {
    const MESHES: u32 = 65_536;
    let device = SharedDevice::new(LateDevice::new(SIZE, SIZE, 2));
    let mut pool = PoolRenderer::new(device.clone(), 0, 1).unwrap();
    let mesh = |n: u32| [n % 1000, n / 1000];
    let tiles: Vec<Tile> =
        (0..MESHES).map(|n| put(&mut pool, mesh(n), 1, Err(Some(Layer::Opaque)))).collect();
    let view = View::new(Camera::default());
    pool.draw(&view).unwrap();
    let writes = std::mem::take(&mut device.it().draw_data_writes);
    assert!((1..=2).contains(&writes), "{writes} writes of the table for {MESHES} meshes");
    // Meshes with separate slots take one write each, neighbours share one.
    for n in [7, 100, 102, 103, 101, 100] {
        put(&mut pool, mesh(n), 2, Ok(tiles[n as usize]));
    }
    pool.draw(&view).unwrap();
    assert_eq!(std::mem::take(&mut device.it().draw_data_writes), 2);
    pool.draw(&view).unwrap();
    assert_eq!(device.it().draw_data_writes, 0);
}
