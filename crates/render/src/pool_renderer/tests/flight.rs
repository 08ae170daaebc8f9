//! A flight past changing meshes, drawn by two renderers: one with culling on the GPU, and one with
//! culling on the CPU. Frame by frame, their pictures are equal in every byte.
//!
//! No two faces of different meshes are equally near anywhere, so that the drawing order is not
//! visible. Meshes lie in separate boxes. Walls, which go through boxes, lie on planes where no box
//! has a face of the same direction.

use glam::DVec3;

use super::owned_mesh::{OwnedMesh, PALETTE};
use super::*;
use crate::{
    camera::{Camera, Projection},
    wgpu_device::{Api, WgpuDevice},
};

/// Cells across, up and along, each with space for one box.
const CELLS: [u32; 3] = [9, 3, 9];
/// Voxels from one cell to the next.
const CELL: i32 = 20;
/// The two renderers, and their meshes.
struct Pair {
    culled: PoolRenderer<WgpuDevice>,
    plain: PoolRenderer<WgpuDevice>,
    /// Contents of each cell: its mesh in each renderer.
    cells: Vec<Option<[MeshId; 2]>>,
    walls: Vec<[MeshId; 2]>,
    random: Random,
}

/// Totals of both renderers in a whole flight.
#[derive(Debug, Default)]
struct Sums {
    culled: DrawStats,
    plain: DrawStats,
    /// Number of commands without culling.
    all_commands: u64,
    /// Meshes that the pool moved, and its maximum number of buffers.
    moved: usize,
    max_buffers: u32,
}

impl Pair {
    /// `None` if no device can cull, which is printed and counted.
    fn open(test: &str) -> Option<Self> {
        let open = || {
            let device = WgpuDevice::headless(Api::Vulkan, 160, 120)?;
            let mut renderer = PoolRenderer::new(device, 1, 16)?;
            renderer.set_palette(&PALETTE)?;
            Ok::<_, RenderError>(renderer)
        };
        let opened = open().and_then(|mut culled| {
            culled.set_cull(Cull::Gpu)?;
            Ok((culled, open()?))
        });
        let (culled, plain) = match opened {
            Ok(pair) => pair,
            Err(error @ (RenderError::NoAdapter { .. } | RenderError::NoCulling { .. })) => {
                println!("skipped: {test}: {error}");
                return None;
            }
            Err(error) => panic!("{test}: {error}"),
        };
        let cells = vec![None; CELLS.iter().product::<u32>() as usize];
        Some(Self { culled, plain, cells, walls: Vec::new(), random: Random::new(7) })
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> [MeshId; 2] {
        [self.culled.insert(mesh).unwrap(), self.plain.insert(mesh).unwrap()]
    }

    fn remove(&mut self, [culled, plain]: [MeshId; 2]) {
        self.culled.remove(culled).unwrap();
        self.plain.remove(plain).unwrap();
    }

    /// Fills, changes or empties a cell.
    fn change(&mut self, empties: bool) {
        let cell = self.random.below(self.cells.len() as u32);
        let [across, up, _] = CELLS;
        let index = [cell % across, cell / across % up, cell / across / up];
        let made = OwnedMesh::random(&mut self.random, index.map(|i| i as i32 * CELL));
        let held = self.cells[cell as usize];
        self.cells[cell as usize] = match held {
            Some(held) if empties || self.random.below(3) == 0 => {
                self.remove(held);
                None
            }
            // A mesh keeps its layer.
            Some(held @ [MeshId(Owner::Pool(_, layer)), plain]) if layer == made.layer => {
                self.culled.replace(held[0], &made.data()).unwrap();
                self.plain.replace(plain, &made.data()).unwrap();
                Some(held)
            }
            Some(held) => Some(held),
            None if empties => None,
            None => Some(self.insert(&made.data())),
        };
    }

    /// Inserts a wall in front of some boxes, and removes the oldest if there are many.
    fn change_skirts(&mut self) {
        let [x, y, z] = [160, 20, 40].map(|bound| self.random.below(bound));
        let wall = self.insert(&OwnedMesh::wall([x - 20, y - 10, z + 160]).data());
        self.walls.push(wall);
        if self.walls.len() > 10 {
            let oldest = self.walls.remove(0);
            self.remove(oldest);
        }
    }

    fn resize(&mut self) {
        let [width, height] = [200, 150].map(|bound| 1 + self.random.below(bound));
        self.culled.resize(width, height).unwrap();
        self.plain.resize(width, height).unwrap();
    }

    /// Draws with both and compares; adds to the totals.
    fn draw(&mut self, view: &View, step: u32, sums: &mut Sums) {
        let add = |sum: &mut DrawStats, drawn: DrawStats| {
            sum.commands += drawn.commands;
            sum.quads += drawn.quads;
            sum.meshes += drawn.meshes;
        };
        self.culled.draw(view).unwrap();
        sums.moved += self.culled.pool.moved().len();
        let picture = self.culled.read_image().unwrap();
        add(&mut sums.culled, self.culled.drawn());
        add(&mut sums.plain, self.plain.draw(view).unwrap());
        let expected = self.plain.read_image().unwrap();
        let differ = expected.difference(&picture, 0).unwrap().pixels;
        assert_eq!(differ, 0, "step {step}, {:?}", self.culled.device.info().size);
        sums.all_commands += self.culled.held().commands;
        sums.max_buffers = sums.max_buffers.max(self.culled.pool.stats().buffers);
    }

    /// Runs `steps` steps.
    fn fly(&mut self, steps: u32, mut before_frame: impl FnMut(&mut Self)) -> Sums {
        let mut sums = Sums::default();
        for step in 0..steps {
            // Periodically many meshes are inserted, and later many of them are removed.
            let (changes, empties) = match step % 50 {
                0 => (500, false),
                25 => (500, true),
                _ => (3, false),
            };
            (0..changes).for_each(|_| self.change(empties));
            let walls = if step == 0 { 8 } else { u32::from(step % 3 == 0) };
            (0..walls).for_each(|_| self.change_skirts());
            if step % 13 == 12 {
                self.resize();
            }
            before_frame(self);
            self.draw(&view(step), step, &mut sums);
        }
        sums
    }
}

/// Back and forth at ground level, south of the scene, with occasional jumps: above it, into the
/// middle, away from it, and to parallel rays.
fn view(step: u32) -> View {
    let middle = DVec3::new(90.0, 20.0, 90.0);
    let angle = 0.6 * (f64::from(step) * 0.05).sin();
    let from_middle = DVec3::new(angle.sin() * 220.0, 25.0, angle.cos() * 220.0);
    let mut camera = match step % 17 {
        7 => Camera::look_at(middle + DVec3::new(5.0, 260.0, 9.0), middle),
        11 => Camera::look_at(middle + DVec3::new(7.3, 1.1, -3.2), middle + from_middle),
        13 => Camera::look_at(middle + from_middle, middle + 3.0 * from_middle),
        _ => Camera::look_at(middle + from_middle, middle),
    };
    camera.depth_range = [0.2, 900.0];
    if step % 17 == 15 {
        camera.projection = Projection::Orthographic { height_voxels: 120.0 };
        camera.depth_range = [-300.0, 900.0];
    }
    let mut view = View::new(camera);
    (view.mask_back_faces, view.cull_frustum) = (step % 7 != 5, step % 19 != 18);
    view.sort_opaque = step % 5 != 4;
    view
}

/// Conditions without which a flight would prove nothing.
fn check(sums: &Sums) {
    // The GPU drew less than the CPU could cull, and that was less than everything.
    assert!(sums.culled.meshes < sums.plain.meshes, "{sums:?}");
    assert!(sums.culled.quads * 4 < sums.plain.quads * 3, "{sums:?}");
    assert!(sums.culled.commands < sums.plain.commands, "{sums:?}");
    assert!(u64::from(sums.plain.commands) < sums.all_commands, "{sums:?}");
    assert!(sums.culled.meshes > 0 && sums.moved > 0, "{sums:?}");
}

#[test]
fn culling_changes_no_byte_of_a_flight() {
    let Some(mut pair) = Pair::open("culling_changes_no_byte_of_a_flight") else { return };
    let sums = pair.fly(90, |_| {});
    check(&sums);
    assert!(sums.max_buffers > 1, "{sums:?}");
}

/// The GPU reads no command counts.
#[test]
fn culling_without_counts_changes_no_byte_of_a_flight() {
    let test = "culling_without_counts_changes_no_byte_of_a_flight";
    let Some(mut pair) = Pair::open(test) else { return };
    check(&pair.fly(40, |pair| pair.culled.device.cull_without_counts()));
}

/// Culling can be switched from frame to frame without errors.
#[test]
fn switching_changes_no_byte_of_a_flight() {
    let Some(mut pair) = Pair::open("switching_changes_no_byte_of_a_flight") else { return };
    let mut frame = 0;
    let sums = pair.fly(40, |pair| {
        frame += 1;
        let cull = if frame % 3 == 0 { Cull::Cpu } else { Cull::Gpu };
        pair.culled.set_cull(cull).unwrap();
    });
    assert!(sums.culled.meshes < sums.plain.meshes, "{sums:?}");
}

/// A mesh with a single face direction, seen from behind, is no command for either renderer.
#[test]
fn meshes_that_face_away_are_culled_by_both() {
    let Some(mut pair) = Pair::open("what_looks_away_is_left_out_by_both") else { return };
    pair.insert(&OwnedMesh::wall([0, 0, 0]).data());
    let view_from =
        |z: f64| View::new(Camera::look_at(DVec3::new(32.0, 32.0, z), DVec3::new(32.0, 32.0, 1.0)));
    for (z, commands) in [(90.0, 1), (-90.0, 0), (90.0, 1)] {
        let mut sums = Sums::default();
        pair.draw(&view_from(z), 0, &mut sums);
        assert_eq!((sums.culled.commands, sums.plain.commands), (commands, commands));
        assert_eq!(sums.culled.quads, u64::from(commands));
    }
}
