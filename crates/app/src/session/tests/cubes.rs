//! Edits of a world that is drawn cube by cube.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use drystone_mesh::Cube;
use drystone_render::{DrawStats, HeldStats, MeshData, MeshId, Output, RenderError, Renderer};
use drystone_testing::Random;
use drystone_voxel::Chunk;

use crate::scene::Capacity;

use super::*;

const CUBES: RendererKind = RendererKind::Instanced(SlotPolicy::Lowest);
/// Length of a cube in the buffer in quads.
const CUBE_QUADS: u64 = 3;
/// Largest number of cubes that one voxel changes: its own, and those of its neighbours.
const MAX_CUBES: u32 = 7;

/// Instanced renderer that counts what it is given.
struct Counted {
    renderer: Box<dyn Renderer>,
    /// Numbers of cubes, and of whole meshes that are not empty.
    counts: Rc<Cell<[u32; 2]>>,
}

impl Counted {
    fn add(&self, more: [u32; 2]) {
        let counts = self.counts.get();
        self.counts.set([counts[0] + more[0], counts[1] + more[1]]);
    }
}

impl drystone_render::sealed::Sealed for Counted {}

impl Renderer for Counted {
    fn name(&self) -> &'static str {
        self.renderer.name()
    }

    fn output(&mut self) -> &mut dyn Output {
        self.renderer.output()
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        self.add([0, u32::from(!mesh.quads.is_empty())]);
        self.renderer.insert(mesh)
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        self.add([0, 1]);
        self.renderer.replace(id, mesh)
    }

    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        self.renderer.remove(id)
    }

    fn has_cubes(&self) -> bool {
        self.renderer.has_cubes()
    }

    fn set_cubes(&mut self, id: MeshId, cubes: &[Cube]) -> Result<(), RenderError> {
        self.add([cubes.len() as u32, 0]);
        self.renderer.set_cubes(id, cubes)
    }

    fn draw(&mut self, view: &drystone_render::View) -> Result<DrawStats, RenderError> {
        self.renderer.draw(view)
    }

    fn drawn(&mut self) -> DrawStats {
        self.renderer.drawn()
    }

    fn held(&self) -> HeldStats {
        self.renderer.held()
    }
}

/// Stone with holes and some glass, across the borders of chunks.
fn world(has_glass: bool) -> World {
    let mut materials = MaterialTable::new();
    let [stone, grass] =
        ["stone", "grass"].map(|name| materials.insert(name, [90, 90, 90, 255]).unwrap());
    let glass = materials.insert("glass", [120, 160, 200, 120]).unwrap();
    let (mut world, mut random) = (World::new("blocks", materials), Random::new(2));
    for at in 0..40 * 40 * 12 {
        let [x, y, z] = [at % 40, at / 1600, at / 40 % 40];
        let material = match random.below(10_u32) {
            0..2 => continue,
            2 => grass,
            3 if has_glass => glass,
            _ => stone,
        };
        world.set(VoxelPos::new(x + 9, y + 26, z + 9), material);
    }
    world
}

/// A scene of the same voxels and camera as another's.
fn fresh(session: &mut Session) -> Session {
    let mut fresh = session_of(copy_of(session), &Rc::default());
    fresh.look_from(session);
    fresh
}

fn session_of(world: World, counts: &Rc<Cell<[u32; 2]>>) -> Session {
    let data = Arc::new(LodData::new(Box::new(world), usize::MAX));
    let limits = LodLimits::from(MemoryBudget::default()).full_detail();
    let options = SessionOptions { renderer: CUBES, ..options(Host::Window) };
    let mut session = Session::new(Content::Voxels(data, limits), &options);
    let device = device();
    let renderer = device.renderer(CUBES, Capacity::default()).unwrap();
    let renderer = Box::new(Counted { renderer, counts: Rc::clone(counts) });
    session.attach(Prepared { device, renderer }).unwrap();
    settle(&mut session);
    session
}

/// Number of cubes, and the length of the buffer.
fn cubes(session: &mut Session) -> [u64; 2] {
    let drawn = session.draw().unwrap();
    let held = session.stage().unwrap().renderer().held();
    [held.used_bytes / 8, drawn.quads / CUBE_QUADS]
}

/// The voxels that a session shows, as a world of their own.
fn copy_of(session: &mut Session) -> World {
    let data = session.stage().and_then(|stage| stage.data()).unwrap();
    let mut copy = World::new("copy", data.materials().clone());
    for position in data.chunk_positions() {
        copy.insert(position, data.chunk(position.into())).unwrap();
    }
    assert_eq!(copy.side(), Chunk::SIDE);
    copy
}

/// Compares pictures, except for single pixels at edges: there the order of cubes decides.
fn assert_equal_pictures(one: &mut Session, other: &mut Session) {
    let [one, other] = [one, other].map(picture);
    let difference = one.difference(&other, 8).unwrap();
    assert!(difference.pixels < 8, "{difference:?}");
}

fn click(session: &mut Session, random: &mut Random) -> bool {
    let action = if random.below(2) == 0 { EditAction::Remove } else { EditAction::Place };
    let [x, z] = [0; 2].map(|_: i32| f64::from(random.below(40_i32)) + 9.5);
    // From above, from below, and from the side.
    let (origin, direction) = match random.below(3_u32) {
        0 => ([x, 60.0, z], [0.0, -1.0, 0.0]),
        1 => ([x, 0.0, z], [0.0, 1.0, 0.0]),
        _ => ([-20.0, 25.0 + x / 4.0, z], [1.0, 0.0, 0.0]),
    };
    let before = session.editing().changes();
    apply(session, Action::Click(action, VoxelRay { origin, direction }));
    session.editing().changes() > before
}

/// One voxel changes at most its own cube and those of its six neighbours. No mesh is made again,
/// and the buffer is never longer than the largest number of cubes: gaps are filled first.
#[test]
fn an_edited_voxel_touches_at_most_seven_cubes() {
    let counts = Rc::new(Cell::new([0; 2]));
    let mut session = session_of(world(false), &counts);
    apply(&mut session, Action::Edit);
    let mut random = Random::new(5);
    let [start, length] = cubes(&mut session);
    assert!(start > 3_000 && length == start, "{start} {length}");
    let (mut most, mut clicks) = (start, 0);
    for _ in 0..300 {
        counts.set([0; 2]);
        clicks += u32::from(click(&mut session, &mut random));
        let [touched, meshes] = counts.get();
        assert!(touched <= MAX_CUBES && meshes == 0, "{touched} cubes, {meshes} meshes");
        let [count, length] = cubes(&mut session);
        // Cubes of two chunks are not set together: one may come before the other's gap.
        most = most.max(count + 1);
        assert!(length <= most, "{length} slots for at most {most} cubes");
    }
    assert!(clicks > 250, "{clicks}");
    // All that is drawn is what a new scene draws.
    let mut fresh = fresh(&mut session);
    assert_eq!(cubes(&mut session)[0], cubes(&mut fresh)[0]);
    assert_equal_pictures(&mut session, &mut fresh);
    // Undo and redo touch the same cubes.
    for _ in 0..clicks {
        counts.set([0; 2]);
        apply(&mut session, Action::Undo);
        assert!(counts.get()[0] <= MAX_CUBES && counts.get()[1] == 0, "{:?}", counts.get());
    }
    assert_eq!(cubes(&mut session)[0], start);
}

/// Voxels beside glass, and large brushes, are meshed as with other renderers.
#[test]
fn cubes_beside_glass_and_of_large_brushes_equal_those_of_new_scenes() {
    let counts = Rc::new(Cell::new([0; 2]));
    let mut session = session_of(world(true), &counts);
    apply(&mut session, Action::Edit);
    let mut random = Random::new(9);
    let mut ways = [0; 2];
    for round in 0..120 {
        let (form, radius_voxels) = if round % 3 == 0 {
            (BrushForm::Cube, 1 + random.below(5_u32))
        } else {
            (BrushForm::Voxel, 1)
        };
        let material = Material(1 + random.below(3_u16));
        apply(
            &mut session,
            Action::Brush(Brush { form, radius_voxels, material, ..Brush::default() }),
        );
        counts.set([0; 2]);
        click(&mut session, &mut random);
        settle(&mut session);
        let [touched, meshes] = counts.get();
        ways[usize::from(meshes > 0)] += u32::from(touched + meshes > 0);
        if round % 20 == 19 {
            let mut fresh = fresh(&mut session);
            assert_eq!(cubes(&mut session)[0], cubes(&mut fresh)[0], "{round}");
            assert_equal_pictures(&mut session, &mut fresh);
        }
    }
    assert!(ways.iter().all(|&count| count > 10), "{ways:?}");
}
