//! Edits of any size: what they set, and that a large edit is shown as a whole.

use drystone_voxel::VoxelBox;

use super::saving::{every_node, roller};
use super::steps::check_shown_is_current;
use super::*;
use crate::edit::Edit;
use crate::shape::VoxelShape;

/// A random shape, partly outside a world of `size` chunks.
fn any_shape(roll: &mut impl FnMut(u32) -> u32, size: [u32; 3]) -> VoxelShape {
    let [x, y, z] = size.map(|chunks| roll(chunks * 32 + 40) as i32 - 20);
    let center = VoxelPos::new(x, y, z);
    match roll(3) {
        0 => VoxelShape::Sphere { center, radius_voxels: roll(26) },
        1 => VoxelShape::Sphere { center, radius_voxels: roll(4) },
        _ => {
            let [x, y, z] = center.to_array().map(|c| c + 1 + roll(45) as i32);
            VoxelShape::Box(VoxelBox { min: center, max: VoxelPos::new(x, y, z) })
        }
    }
}

pub(super) fn voxels(shape: VoxelShape) -> impl Iterator<Item = VoxelPos> {
    let VoxelBox { min, max } = shape.bounds().unwrap();
    let all = (min.z..max.z).flat_map(move |z| {
        (min.y..max.y).flat_map(move |y| (min.x..max.x).map(move |x| VoxelPos::new(x, y, z)))
    });
    all.filter(move |&at| shape.contains(at))
}

pub(super) fn is_same(a: &LodData, b: &LodData) {
    for node in every_node(a) {
        assert!(a.chunk(node) == b.chunk(node), "{node:?}");
    }
}

/// Compares filled shapes with voxels that are set one by one.
fn filling_sets_every_voxel(source: fn() -> Box<dyn Source>, cache_bytes: usize) {
    let [shapes, single] = [cache_bytes, 64 << 20].map(|bytes| LodData::new(source(), bytes));
    let size = shapes.extent().unwrap().size_chunks().map(|chunks| chunks as u32);
    let (mut roll, materials) = (roller(21), shapes.materials().len() as u32);
    for round in 0..12 {
        let shape = any_shape(&mut roll, size);
        let material = Material(if round % 3 == 0 { 0 } else { roll(materials) as u16 });
        let found = fill_data(&shapes, &shape, material);
        let expected: u64 = voxels(shape).map(|at| single.set([(at, material)]).count).sum();
        assert_eq!(found.count, expected, "{shape:?}");
        assert_eq!(found.parts.is_empty(), expected == 0);
    }
    is_same(&shapes, &single);
}

#[test]
fn a_filled_shape_equals_its_voxels() {
    filling_sets_every_voxel(|| derived([3, 3, 2]), 64 << 20);
    filling_sets_every_voxel(|| derived([3, 3, 2]), 80_000);
    filling_sets_every_voxel(|| generated([3, 3, 2]), 64 << 20);
}

/// Compares edits with voxels that are set one by one, also after the voxels have changed since the
/// edit was made.
#[test]
fn an_edit_equals_its_voxels() {
    for source in [(|| derived([3, 3, 2])) as fn() -> Box<dyn Source>, || generated([3, 3, 2])] {
        let [whole, single] = [90_000, 64 << 20].map(|bytes| LodData::new(source(), bytes));
        let mut roll = roller(17);
        for _ in 0..10 {
            let mut edit = |material| {
                let shape = any_shape(&mut roll, [3, 3, 2]);
                Edit::fill(&whole, &shape, Material(material)).unwrap()
            };
            for edit in [edit(0), edit(2), edit(3)] {
                for edit in [edit.clone(), edit.inverse()] {
                    let expected: u64 = edit.voxels().map(|it| single.set([it]).count).sum();
                    assert_eq!(whole.apply(&edit).count, expected);
                }
                whole.apply(&edit);
                single.set(edit.voxels());
            }
        }
        is_same(&whole, &single);
    }
}

/// Compares voxels that are set together, some of them twice, with voxels that are set one by one.
#[test]
fn voxels_set_together_equal_voxels_set_one_by_one() {
    let [many, single] = [200_000, 64 << 20].map(|bytes| LodData::new(derived([3, 4, 3]), bytes));
    let (mut roll, materials) = (roller(33), many.materials().len() as u32);
    for _ in 0..15 {
        let some: Vec<_> = (0..300)
            .map(|_| {
                let [x, y, z] = [0; 3].map(|_| 24 + roll(20) as i32);
                (VoxelPos::new(x, y, z), Material(roll(materials) as u16))
            })
            .collect();
        let count: u64 = some.iter().map(|&it| single.set([it]).count).sum();
        assert_eq!(many.set(some).count, count);
    }
    is_same(&many, &single);
}

/// Every changed voxel lies in a reported part.
#[test]
fn every_change_is_reported() {
    let data = LodData::new(derived([3, 4, 3]), 64 << 20);
    let mut roll = roller(4);
    for _ in 0..8 {
        let before: HashMap<NodePos, Chunk> =
            every_node(&data).into_iter().map(|node| (node, data.chunk(node))).collect();
        let shape = any_shape(&mut roll, [3, 4, 3]);
        let changes = fill_data(&data, &shape, Material(roll(3) as u16));
        let parts: HashMap<NodePos, _> =
            changes.parts.iter().map(|part| (part.node, part.span)).collect();
        assert_eq!(parts.len(), changes.parts.len());
        for (node, old) in before {
            for ((at, old), (_, new)) in old.iter().zip(data.chunk(node).iter()) {
                let is_reported = parts.get(&node).is_some_and(|part| {
                    let at = [at.x, at.y, at.z];
                    (0..3).all(|axis| (part.low[axis]..=part.high[axis]).contains(&at[axis]))
                });
                assert!(old == new || is_reported, "{node:?} {at:?}");
            }
        }
    }
}

const SIZE: [u32; 3] = [8, 4, 8];

/// The test world after some of its edits, and its meshes.
pub(super) struct State {
    data: LodData,
    meshing: Meshing,
    meshes: HashMap<NodePos, Vec<Quad>>,
}

impl State {
    pub(super) fn after(edits: &[(VoxelShape, Material)]) -> Self {
        Self::with(Meshing::default(), edits)
    }

    fn with(meshing: Meshing, edits: &[(VoxelShape, Material)]) -> Self {
        let data = LodData::new(derived(SIZE), 64 << 20);
        for (shape, material) in edits {
            fill_data(&data, shape, *material);
        }
        Self { data, meshing, meshes: HashMap::new() }
    }

    /// Whether the screen shows this state.
    pub(super) fn is_on(&mut self, screen: &Screen) -> bool {
        let data = &self.data;
        let mut mesher = node_mesh::NodeMesher::new(self.meshing);
        screen.bodies.iter().all(|(&node, quads)| {
            let mesh = self.meshes.entry(node).or_insert_with(|| {
                mesher.mesh(data, node).body.iter().map(|(quad, _)| quad).collect()
            });
            mesh == quads
        })
    }
}

pub(super) fn ball(x: i32, radius_voxels: u32) -> VoxelShape {
    VoxelShape::Sphere { center: VoxelPos::new(x, 60, 120), radius_voxels }
}

pub(super) fn edited_tree(camera: &LodCamera) -> (LodTree, Screen) {
    edited_tree_with(camera, Meshing::default())
}

fn edited_tree_with(camera: &LodCamera, meshing: Meshing) -> (LodTree, Screen) {
    let mut tree = tree(derived(SIZE), unlimited_with(meshing));
    let mut screen = Screen::default();
    settle(&mut tree, camera, &mut screen);
    (tree, screen)
}

/// Updates and makes meshes until the tree is settled, with the cameras of `camera_at`. Every picture
/// must be one of the states. Returns the order in which they are shown.
pub(super) fn states_seen(
    tree: &mut LodTree,
    screen: &mut Screen,
    states: &mut [State],
    camera_at: impl Fn(u32) -> LodCamera,
) -> Vec<usize> {
    let mut seen = Vec::new();
    for step in 0..10_000 {
        tree.update(&camera_at(step), screen).unwrap();
        let now = states.iter_mut().position(|state| state.is_on(screen));
        let now = now.unwrap_or_else(|| panic!("a mix of states is shown in step {step}"));
        if seen.last() != Some(&now) {
            seen.push(now);
        }
        // While an edit waits, the skirts are those before the edit.
        check(tree, screen, if tree.has_waiting_edits() { usize::MAX } else { 29 });
        if tree.is_settled() {
            return seen;
        }
        (0..10).for_each(|_| tree.wait(Duration::ZERO));
    }
    panic!("never settled");
}

/// The old picture is shown until all meshes are finished, then the new one, also while the camera
/// moves.
#[test]
fn a_large_edit_is_shown_as_a_whole() {
    MESHINGS.into_iter().for_each(large_edit);
}

fn large_edit(meshing: Meshing) {
    let near = camera([120.0, 60.0, 20.0], 900.0);
    let (mut tree, mut screen) = edited_tree_with(&near, meshing);
    let edits = [(ball(120, 60), Material(1))];
    let mut states = [State::with(meshing, &[]), State::with(meshing, &edits)];
    assert!(fill(&mut tree, &edits[0].0, edits[0].1, &mut screen).unwrap() > 100_000);
    assert!(tree.has_waiting_edits() && states[0].is_on(&screen));
    assert_eq!(tree.data().get(VoxelPos::new(120, 60, 120)), Material(1), "set at once");
    // Moves to where levels change, and back.
    let moving = |step: u32| {
        let far = f64::from(step.min(20).abs_diff(10)) * 8.0;
        camera([120.0, 60.0, -80.0 + far], 900.0 - 9.0 * far)
    };
    let seen = states_seen(&mut tree, &mut screen, &mut states, moving);
    assert_eq!(seen, [0, 1]);
    check_shown_is_current(&tree, &screen);
    // A small edit is shown at once while no edit waits.
    fill(&mut tree, &ball(120, 3), Material(0), &mut screen).unwrap();
    assert!(!tree.has_waiting_edits());
    check_shown_is_current(&tree, &screen);
}

/// Later edits of the same meshes join the first. No state between them is shown.
#[test]
fn later_edits_join_a_waiting_edit() {
    let near = camera([120.0, 60.0, 20.0], 900.0);
    let laters = [(ball(120, 2), true), (ball(160, 60), true), (ball(20, 1), false)];
    let cases = laters
        .into_iter()
        .flat_map(|(later, must_wait)| MESHINGS.map(|meshing| (later, must_wait, meshing)));
    for (later, must_wait, meshing) in cases {
        let (mut tree, mut screen) = edited_tree_with(&near, meshing);
        let edits = [(ball(120, 60), Material(1)), (later, Material(2))];
        fill(&mut tree, &edits[0].0, edits[0].1, &mut screen).unwrap();
        tree.update(&near, &mut screen).unwrap();
        (0..30).for_each(|_| tree.wait(Duration::ZERO));
        tree.update(&near, &mut screen).unwrap();
        assert!(tree.has_waiting_edits());
        fill(&mut tree, &edits[1].0, edits[1].1, &mut screen).unwrap();
        // A small edit that does not touch these meshes is shown at once.
        let first = if must_wait { &[] } else { &edits[1..] };
        let mut states = [first, &edits].map(|edits| State::with(meshing, edits));
        assert!(states[0].is_on(&screen));
        assert_eq!(states_seen(&mut tree, &mut screen, &mut states, |_| near), [0, 1]);
        check_shown_is_current(&tree, &screen);
    }
}

/// Edits of all sizes without a pause, on threads, while the camera moves. At the end all meshes
/// are current.
#[test]
fn edits_of_all_sizes_end_with_current_meshes() {
    MESHINGS.into_iter().for_each(edits_of_all_sizes);
}

fn edits_of_all_sizes(meshing: Meshing) {
    let data = Arc::new(LodData::new(derived(SIZE), 4 << 20));
    let config = LodConfig { threads: 2, ..unlimited_with(meshing) };
    let mut tree = LodTree::new(data, config).unwrap();
    let (mut screen, mut roll) = (Screen::default(), roller(8));
    for round in 0..90 {
        let position = f64::from(round) * 2.5;
        let near =
            camera([position, 60.0, 220.0 - position], if round % 40 < 20 { 200.0 } else { 60.0 });
        tree.update(&near, &mut screen).unwrap();
        tree.wait(Duration::from_millis(1));
        if round % 3 == 0 {
            let shape = any_shape(&mut roll, SIZE);
            fill(&mut tree, &shape, Material(roll(4) as u16), &mut screen).unwrap();
        }
    }
    let near = camera([60.0, 50.0, 60.0], 100.0);
    for _ in 0..5_000 {
        tree.update(&near, &mut screen).unwrap();
        if tree.is_settled() {
            break;
        }
        tree.wait(Duration::from_millis(20));
    }
    assert!(tree.is_settled());
    check(&tree, &screen, 7);
    check_shown_is_current(&tree, &screen);
}

/// The part of an edit that a full screen refuses is shown when memory is free, for small and large
/// edits.
#[test]
fn a_refused_edit_is_shown_later() {
    for (radius_voxels, meshing) in [3, 60].into_iter().zip(MESHINGS) {
        let near = camera([120.0, 60.0, 20.0], 900.0);
        let (mut tree, mut screen) = edited_tree_with(&near, meshing);
        screen.max_quads = Some(screen.len());
        let mut refused = 0;
        // Single voxels of another material take more quads.
        let specks: Vec<_> = voxels(ball(120, radius_voxels))
            .filter(|at| (at.x + at.y + at.z) % 2 == 0)
            .map(|at| (at, Material(1)))
            .collect();
        refused += u32::from(tree.set(specks, &mut screen).is_err());
        for _ in 0..400 {
            refused += u32::from(tree.update(&near, &mut screen).is_err());
            let shown: HashSet<NodePos> = tree.shown().collect();
            assert_eq!(shown, screen.bodies.keys().copied().collect());
            tree.wait(Duration::ZERO);
        }
        assert!(refused > 5 && tree.has_waiting_edits(), "{refused}");
        screen.max_quads = None;
        settle(&mut tree, &near, &mut screen);
        check_shown_is_current(&tree, &screen);
    }
}

/// While an edit waits, the levels above it do not change. The finished mesh of a merge there is
/// kept meanwhile.
#[test]
fn the_mesh_of_a_merge_is_kept_while_an_edit_waits() {
    let near = camera([128.0, 60.0, 128.0], 1e5);
    let (mut tree, mut screen) = edited_tree(&near);
    let far = camera([128.0, 60.0, 1e6], 120.0);
    tree.update(&far, &mut screen).unwrap();
    (0..32).for_each(|_| tree.wait(Duration::ZERO));
    // Sets one voxel of each block of eight equal ones, so that no LOD voxel changes.
    let chunks = (0..128).map(|i| [i % 8, i / 64, i / 8 % 8].map(|c| c * 32 + 16));
    let voxels: Vec<_> =
        chunks.map(|[x, y, z]| (VoxelPos::new(x, y - 12, z), Material(0))).collect();
    tree.set(voxels, &mut screen).unwrap();
    assert!(tree.has_waiting_edits());
    tree.update(&far, &mut screen).unwrap();
    let bytes = tree.waiting_bytes();
    assert!(bytes > 0, "nothing waits for the edit");
    for _ in 0..300 {
        tree.update(&far, &mut screen).unwrap();
    }
    assert_eq!(tree.waiting_bytes(), bytes);
    settle(&mut tree, &far, &mut screen);
    assert!(tree.shown().all(|node| node.level == tree.data().top_level()));
}
