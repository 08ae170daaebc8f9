//! Orders of random voxels, compared along random rays with the distances of the faces.

use drystone_mesh::{Face, Quad};
use drystone_testing::Random;

use super::QuadOrder;
use crate::{
    draw_data::DrawData,
    mesh_data::{Layer, MeshData},
};

/// Quads in mesh order and their number for each face direction.
pub(crate) type Quads = (Vec<Quad>, [u32; Face::COUNT]);

/// A cube of translucent voxels. Material 0 is air; faces between different materials are visible.
pub(crate) struct Voxels {
    side: u32,
    materials: Vec<u16>,
}

impl Voxels {
    pub(crate) fn new(side: u32, mut material: impl FnMut([u32; 3]) -> u16) -> Self {
        let at = |n| [n % side, n / side % side, n / side / side];
        Self { side, materials: (0..side.pow(3)).map(|n| material(at(n))).collect() }
    }

    /// Air, and `share` percent of random materials.
    pub(crate) fn random(side: u32, share: u32, materials: u16, random: &mut Random) -> Self {
        Self::new(side, |_| match random.below(100_u32) < share {
            true => 1 + random.below(materials),
            false => 0,
        })
    }

    /// Random panes of one voxel's thickness across each axis, which cross each other.
    pub(crate) fn panes(side: u32, count: u32, materials: u16, random: &mut Random) -> Self {
        let mut voxels = Self::new(side, |_| 0);
        for n in 0..count {
            let material = 1 + (n % u32::from(materials)) as u16;
            let thin = random.below(3_usize);
            let mut low = [0; 3].map(|_: u32| random.below(side / 2));
            let mut high = [0; 3].map(|_: u32| side - random.below(side / 2));
            low[thin] = random.below(side);
            high[thin] = low[thin] + 1;
            let is_in = |at: [u32; 3]| (0..3).all(|i| (low[i]..high[i]).contains(&at[i]));
            let before = voxels;
            voxels = Self::new(side, |at| match is_in(at) {
                true => material,
                false => before.at(at.map(|c| c as i32)),
            });
        }
        voxels
    }

    fn at(&self, at: [i32; 3]) -> u16 {
        if at.iter().any(|&c| c < 0 || c >= self.side as i32) {
            return 0;
        }
        let [x, y, z] = at.map(|c| c as u32);
        self.materials[(x + self.side * (y + self.side * z)) as usize]
    }

    /// Returns the visible faces in the order of a mesher, as unit faces or merged along their width
    /// and height.
    pub(crate) fn mesh(&self, is_merged: bool) -> Quads {
        let (mut quads, mut counts) = (Vec::new(), [0; Face::COUNT]);
        for face in Face::ALL {
            let before = quads.len();
            for layer in 0..self.side {
                let layer = if face.is_positive() { layer } else { self.side - 1 - layer };
                self.mesh_layer(face, layer, is_merged, &mut quads);
            }
            counts[face.index()] = (quads.len() - before) as u32;
        }
        (quads, counts)
    }

    fn mesh_layer(&self, face: Face, layer: u32, is_merged: bool, quads: &mut Vec<Quad>) {
        let (side, [u_axis, v_axis]) = (self.side as usize, face.span_axes());
        let position = |u: usize, v: usize| {
            let mut at = [layer; 3];
            (at[u_axis], at[v_axis]) = (u as u32, v as u32);
            at
        };
        let mut open = vec![vec![0; side]; side];
        for (u, v) in (0..side).flat_map(|u| (0..side).map(move |v| (u, v))) {
            let mut at = position(u, v).map(|c| c as i32);
            let material = self.at(at);
            at[face.axis()] += face.normal()[face.axis()];
            open[v][u] = if self.at(at) == material { 0 } else { material };
        }
        for (v, u) in (0..side).flat_map(|v| (0..side).map(move |u| (v, u))) {
            let material = open[v][u];
            if material == 0 {
                continue;
            }
            let is_row = |open: &Vec<Vec<u16>>, v: usize, width| {
                v < side && open[v][u..u + width].iter().all(|&it| it == material)
            };
            let run = open[v][u..].iter().take_while(|&&it| it == material).count();
            let width = if is_merged { run } else { 1 };
            let rows = (v..).take_while(|&v| is_row(&open, v, width)).count();
            let height = if is_merged { rows } else { 1 };
            open[v..v + height].iter_mut().for_each(|row| row[u..u + width].fill(0));
            let size = [width as u32, height as u32];
            quads.push(Quad::new(position(u, v), size, face, material));
        }
    }
}

/// Returns the order of a blended mesh.
fn order_of((quads, counts): &Quads) -> Option<QuadOrder> {
    let (counts, draw_data) = (*counts, DrawData::default());
    QuadOrder::new(&MeshData { quads, counts, draw_data, layer: Layer::Blended })
}

/// Distances and materials of the faces whose front a ray meets, in the order of the quads.
fn hits(quads: &[Quad], start: [f64; 3], direction: [f64; 3]) -> Vec<(f64, u16)> {
    let hit = |quad: &Quad| {
        let face = quad.face().unwrap();
        let axis = face.axis();
        let corners = [0, 3].map(|n| quad.positions()[n].map(f64::from));
        let towards = direction[axis] * f64::from(face.normal()[axis]);
        let distance = (corners[0][axis] - start[axis]) / direction[axis];
        let is_within = |&i: &usize| {
            let [a, b] = corners.map(|corner| corner[i]);
            (a.min(b)..a.max(b)).contains(&(start[i] + direction[i] * distance))
        };
        let is_hit = towards < 0.0 && distance > 0.0 && face.span_axes().iter().all(is_within);
        is_hit.then(|| (distance, quad.material()))
    };
    quads.iter().filter_map(hit).collect()
}

/// Number of rays from a camera along which the order of `quads` differs from the true order.
fn wrong_rays(quads: &[Quad], whole: &[Quad], camera: [f64; 3], side: u32, seed: u64) -> u32 {
    const RAYS: u32 = 30;
    let mut random = Random::new(seed);
    let mut wrong = 0;
    for _ in 0..RAYS {
        let target = [0; 3].map(|_: u32| random.unit() * f64::from(side));
        let (start, direction) = match camera[0].is_finite() {
            true => (camera, [0, 1, 2].map(|i| target[i] - camera[i])),
            // Parallel rays from far away in that direction.
            false => {
                let direction = camera.map(|c| -(c.signum() * (0.2 + random.unit())));
                ([0, 1, 2].map(|i| target[i] - direction[i] * 1e3), direction)
            }
        };
        let actual = hits(quads, start, direction);
        let mut expected = hits(whole, start, direction);
        expected.sort_by(|a, b| b.0.total_cmp(&a.0));
        let is_equal = |(a, b): (&(f64, u16), &(f64, u16))| (a.0 - b.0).abs() < 1e-6 && a.1 == b.1;
        let are_equal = expected.iter().zip(&actual).all(is_equal);
        wrong += u32::from(actual.len() != expected.len() || !are_equal);
    }
    wrong
}

/// Positions outside and inside, in planes of the grid, and the directions of parallel views.
fn cameras(side: u32, random: &mut Random) -> Vec<[f64; 3]> {
    let side = f64::from(side);
    let mut cameras: Vec<[f64; 3]> =
        (0..12).map(|_| [0; 3].map(|_: i32| (random.unit() * 3.0 - 1.0) * side)).collect();
    cameras.extend((0..12).map(|_| [0; 3].map(|_: i32| random.unit() * side)));
    cameras.extend((0..4).map(|_| [0; 3].map(|_: i32| (random.unit() * side).floor())));
    let sign = |bit: u32| if bit == 0 { f64::NEG_INFINITY } else { f64::INFINITY };
    cameras.extend((0..8_u32).map(|n| [sign(n & 1), sign(n & 2), sign(n & 4)]));
    cameras
}

/// Compares the order for many cameras with the true one. Returns the rays that are wrong in the order
/// of the mesh, and the growth by cuts.
fn check(mesh: &Quads, side: u32, random: &mut Random) -> (u32, f64) {
    let mut order = order_of(mesh).expect("quads that need an order");
    let mut sorted = Vec::new();
    let mut unsorted_wrong = 0;
    for (n, camera) in cameras(side, random).into_iter().enumerate() {
        order.sort(camera, &mut sorted);
        let wrong = |quads: &[Quad]| wrong_rays(quads, &mesh.0, camera, side, n as u64);
        assert_eq!(wrong(&sorted), 0, "camera {n} at {camera:?}");
        unsorted_wrong += wrong(&mesh.0);
    }
    (unsorted_wrong, sorted.len() as f64 / mesh.0.len() as f64)
}

#[test]
fn random_voxels_are_sorted_for_every_camera() {
    for (side, share, seed) in [(3, 40, 1), (6, 15, 2), (8, 50, 3), (10, 30, 4)] {
        let mut random = Random::new(seed);
        let voxels = Voxels::random(side, share, 3, &mut random);
        for is_merged in [false, true] {
            let (unsorted_wrong, growth) = check(&voxels.mesh(is_merged), side, &mut random);
            println!("{side}, {share} %: {unsorted_wrong} wrong unsorted, growth {growth:.2}");
            assert!(unsorted_wrong > 0, "the order of the mesh is right too");
            assert!(if is_merged { growth < 2.5 } else { growth == 1.0 }, "{growth}");
        }
    }
}

#[test]
fn panes_that_cross_each_other_are_sorted_for_every_camera() {
    for (side, count, seed) in [(8, 4, 1), (16, 12, 2), (20, 40, 3)] {
        let mut random = Random::new(seed);
        let voxels = Voxels::panes(side, count, 4, &mut random);
        let (unsorted_wrong, growth) = check(&voxels.mesh(true), side, &mut random);
        println!("{count} panes: {unsorted_wrong} wrong unsorted, growth {growth:.2}");
        assert!(unsorted_wrong > 0, "the order of the mesh is right too");
        assert!(growth < 2.5, "{growth}");
    }
}

/// Replaces quads by fine ones, of bodies that are smaller than their voxels by `gap` sixteenths on each
/// side.
fn fine(mesh: &Quads, gap: u32, is_fine: impl Fn(&Quad) -> bool) -> Quads {
    let refined = |quad: &Quad| match is_fine(quad) {
        true => {
            let face = quad.face().unwrap();
            let mut position = quad.position().map(|c| c * 16 + gap);
            if face.is_positive() {
                position[face.axis()] += 15 - 2 * gap;
            }
            let size = quad.size().map(|c| c * 16 - 2 * gap);
            Quad::fine(position, size, face, quad.material())
        }
        false => *quad,
    };
    (mesh.0.iter().map(refined).collect(), mesh.1)
}

#[test]
fn fine_quads_are_sorted_among_those_of_whole_voxels() {
    for (share, seed) in [(100, 1), (50, 2)] {
        let mut random = Random::new(seed);
        let mesh = Voxels::random(5, 35, 3, &mut random).mesh(false);
        // All quads of a voxel are of one kind.
        let is_fine = |quad: &Quad| quad.position().iter().sum::<u32>() * 37 % 100 < share;
        for gap in [0, 3] {
            let (unsorted_wrong, growth) = check(&fine(&mesh, gap, is_fine), 5, &mut random);
            assert!(unsorted_wrong > 0 && growth == 1.0, "{unsorted_wrong}, {growth}");
        }
        // Panes of up to four voxels, cut at sixteenths.
        let panes = Voxels::panes(4, 5, 3, &mut random).mesh(true);
        check(&fine(&panes, 1, |_| true), 4, &mut random);
    }
}

/// The order of the mesh is right for every camera, so the mesh stays as it is.
#[test]
fn lakes_and_convex_bodies_need_no_order() {
    let lake = Voxels::new(16, |[x, y, z]| u16::from(y < 5 && (x * x + z * 5) % 7 != 0));
    let (mut top, _) = lake.mesh(true);
    top.retain(|quad| quad.face() == Some(Face::PosY) && quad.position()[1] == 4);
    let counts = [0, 0, 0, 0, top.len() as u32, 0];
    assert!(top.len() > 8 && order_of(&(top, counts)).is_none());
    let body = |at: [u32; 3]| u16::from(at.iter().all(|c| (2..9).contains(c)));
    for is_merged in [false, true] {
        assert!(order_of(&Voxels::new(10, body).mesh(is_merged)).is_none());
    }
    assert!(order_of(&(Vec::new(), [0; 6])).is_none());
}

/// A mesh with one order for every camera, which is not its own, has no planes.
#[test]
fn layers_that_are_not_sorted_are_sorted_once() {
    let quads = [3, 9, 6].map(|y| Quad::new([0, y, 0], [4, 4], Face::PosY, y as u16));
    let mut order = order_of(&(quads.to_vec(), [0, 0, 0, 0, 3, 0])).unwrap();
    let mut sorted = Vec::new();
    assert!(order.sort([1.0, 20.0, 1.0], &mut sorted));
    assert_eq!(sorted, [quads[0], quads[2], quads[1]]);
    assert!(!order.sort([-5.0, -20.0, 99.0], &mut sorted));
    order.forget();
    assert!(order.sort([0.0; 3], &mut sorted));
}

/// The order changes only when the camera crosses a plane of the partition.
#[test]
fn few_moves_of_the_camera_change_the_order() {
    let mut random = Random::new(5);
    let mut order = order_of(&Voxels::panes(16, 30, 3, &mut random).mesh(true)).unwrap();
    let planes = order.planes[0].len();
    assert!((3..=15).contains(&planes), "{planes}");
    let mut sorted = Vec::new();
    let mut changes = |along: &dyn Fn(f64) -> [f64; 3]| {
        (0..1000).filter(|&n| order.sort(along(f64::from(n)), &mut sorted)).count()
    };
    // Away from the chunk, then past it.
    assert_eq!(changes(&|n| [-20.0 - n, 900.0, -50.0]), 1);
    assert_eq!(changes(&|n| [n / 50.0, 900.0, -50.0]), planes);
}

/// Meshes with wrong counts or without a face direction are the renderer's to refuse.
#[test]
fn meshes_that_are_not_valid_have_no_order() {
    let mut mesh = Voxels::random(4, 50, 2, &mut Random::new(3)).mesh(false);
    assert!(order_of(&mesh).is_some());
    let opaque = MeshData {
        quads: &mesh.0,
        counts: mesh.1,
        draw_data: DrawData::default(),
        layer: Layer::Opaque,
    };
    assert!(QuadOrder::new(&opaque).is_none());
    mesh.0[1] = bytemuck::cast::<[u32; 2], Quad>([0, 7]);
    assert!(order_of(&mesh).is_none());
    mesh.0.pop();
    assert!(order_of(&mesh).is_none());
}

/// Quads of random bits, which overlap each other and reach beyond the chunk, are cut within limits.
#[test]
fn quads_of_any_bits_are_sorted_within_limits() {
    let mut random = Random::new(8);
    for round in 0..6 {
        let count = if round == 0 { 2000 } else { 300 };
        let is_fine = round % 2 == 1;
        let quads = (0..count).map(|_| {
            let [low, high] = [random.bits() as u32, random.bits() as u32 & !7];
            let fine_bit = if is_fine { high & 1 << 31 } else { 0 };
            let word = high & !(1 << 31) | fine_bit | random.below(6_u32);
            bytemuck::cast::<[u32; 2], Quad>([low, word])
        });
        let quads: Vec<Quad> = quads.collect();
        let mut counts = [0; 6];
        counts[0] = quads.len() as u32;
        let mut order = order_of(&(quads, counts)).unwrap();
        let mut sorted = Vec::new();
        order.sort([30.0; 3], &mut sorted);
        println!("{count} quads became {}", sorted.len());
        assert!((count..=20 * count).contains(&sorted.len()));
    }
}
