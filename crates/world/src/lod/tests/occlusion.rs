//! Ambient occlusion at all levels of detail, and changes of it.

use drystone_voxel::{GreedyMesher, mesh_unit_shaded};

use super::saving::roller;
use super::steps::check_meshes_are_current;
use super::*;

const SHADED: Meshing = Meshing { occlusion: true };

/// Returns the chunk of a node with those of its 26 neighbours that `is_there` accepts by offset.
fn padded_chunk(data: &LodData, node: NodePos, is_there: impl Fn([i32; 3]) -> bool) -> PaddedChunk {
    let at = |offset: [i32; 3]| {
        node.offset(offset).filter(|_| is_there(offset)).map(|node| data.chunk(node))
    };
    let around = PaddedChunk::NEIGHBORS.map(|offset| (offset, at(offset)));
    let neighbor = |offset| around.iter().find(|(it, _)| *it == offset)?.1.as_ref();
    let mut padded = PaddedChunk::new();
    padded.fill(&data.chunk(node), neighbor);
    padded
}

/// Returns the mesh of a node from its chunk and all 26 neighbours of its level.
fn simple_mesh(data: &LodData, node: NodePos, meshing: Meshing) -> Vec<Quad> {
    let (padded, mut mesh) = (padded_chunk(data, node, |_| true), ChunkMesh::new());
    GreedyMesher::with_options(meshing.into()).mesh(&padded, data.materials(), &mut mesh);
    mesh.iter().map(|(quad, _)| quad).collect()
}

/// Returns the ambient occlusion of each face of a side, by voxel.
fn occlusions<'a>(quads: impl Iterator<Item = &'a Quad>, face: Face) -> HashMap<[u32; 3], u8> {
    let [u_axis, v_axis] = face.span_axes();
    let mut all = HashMap::new();
    for quad in quads.filter(|quad| quad.face() == Some(face)) {
        let [width, height] = quad.size();
        for (u, v) in (0..width).flat_map(|u| (0..height).map(move |v| (u, v))) {
            let mut at = quad.position();
            (at[u_axis], at[v_axis]) = (at[u_axis] + u, at[v_axis] + v);
            all.insert(at, quad.ambient_occlusion());
        }
    }
    all
}

/// Compares the skirts and rims with meshes whose neighbour on that side is air. Returns the number
/// of shaded quads.
fn check_skirts(tree: &LodTree, screen: &Screen) -> usize {
    let data = tree.data();
    let mut shaded_count = 0;
    for (&(node, face), skirt) in &screen.skirts {
        let quads = || skirt.iter().chain(&screen.rims[&(node, face)]);
        let (open, mut mesh) =
            (padded_chunk(data, node, |offset| offset != face.normal()), ChunkMesh::new());
        mesh_unit_shaded(&open, data.materials(), &mut mesh);
        let unit_faces: Vec<Quad> = mesh.iter().map(|(quad, _)| quad).collect();
        let expected = occlusions(unit_faces.iter(), face);
        for (at, occlusion) in occlusions(quads(), face) {
            assert_eq!(occlusion, expected[&at], "{node:?} {face:?} {at:?}");
        }
        shaded_count += quads().filter(|quad| quad.ambient_occlusion() != 0).count();
    }
    shaded_count
}

fn check_bodies(tree: &LodTree, screen: &Screen) {
    for (&node, quads) in &screen.bodies {
        assert!(*quads == simple_mesh(tree.data(), node, tree.config().meshing), "{node:?}");
    }
}

fn shaded_count(screen: &Screen) -> usize {
    screen.bodies.values().flatten().filter(|quad| quad.ambient_occlusion() != 0).count()
}

/// Every body at every level equals the mesh of its chunk with all 26 neighbours.
#[test]
fn bodies_equal_meshes_of_padded_chunks_at_every_level() {
    for (pixels, is_fine) in [(1e5, true), (90.0, false)] {
        let mut tree = tree(derived([6, 4, 6]), unlimited_with(SHADED));
        let mut screen = Screen::default();
        settle(&mut tree, &camera([20.0, 50.0, 20.0], pixels), &mut screen);
        let levels: HashSet<u8> = tree.shown().map(|node| node.level).collect();
        let is_empty = |node: NodePos| screen.bodies[&node].is_empty();
        assert!(levels.len() >= 2 || is_fine, "{levels:?}");
        assert!(!is_fine || tree.shown().all(|node| node.level == 0 || is_empty(node)));
        assert!(shaded_count(&screen) > 1_000);
        check_bodies(&tree, &screen);
    }
}

/// Single voxels at corners, edges and faces of chunks change the meshes of all neighbours that
/// they darken, and no others.
#[test]
fn edits_at_corners_change_diagonal_neighbours() {
    for source in [(|| derived([4, 3, 4])) as fn() -> Box<dyn Source>, || generated([4, 3, 4])] {
        let mut tree = tree(source(), unlimited_with(SHADED));
        let mut screen = Screen::default();
        settle(&mut tree, &camera([64.0, 40.0, 64.0], 400.0), &mut screen);
        let (mut roll, mut diagonal_count) = (roller(3), 0);
        for edit in 0..150 {
            let before = screen.bodies.clone();
            // Near corners and edges of eight chunks.
            let far = if roll(2) == 0 { [0; 3] } else { [roll(12) as i32, 0, 0] };
            let [x, y, z] = [32; 3].map(|edge| edge - 2 + roll(4) as i32);
            let at = VoxelPos::new(x + far[0], y, z);
            let material = Material(if roll(3) == 0 { 0 } else { 1 + roll(3) as u16 });
            tree.set([(at, material)], &mut screen).unwrap();
            assert!(!tree.has_waiting_edits());
            let changed = screen.bodies.iter().filter(|(node, quads)| before[*node] != **quads);
            let center = at.split(Chunk::SIDE).0;
            let is_diagonal = |node: &NodePos| {
                let [a, b] = [node.chunk, center].map(|it| [it.x, it.y, it.z]);
                node.level == 0 && (0..3).filter(|&axis| a[axis] != b[axis]).count() > 1
            };
            diagonal_count += changed.filter(|(node, _)| is_diagonal(node)).count();
            if edit % 10 == 9 {
                check_meshes_are_current(&tree, &screen);
                check_bodies(&tree, &screen);
            }
        }
        assert!(diagonal_count >= 20, "{diagonal_count} diagonal neighbours have changed");
    }
}

/// Every skirt of every level is shaded as if the neighbour on its side were air. A voxel across an
/// edge of a chunk changes the skirts that it darkens.
#[test]
fn skirts_are_shaded_as_if_the_neighbour_were_air() {
    let mut tree = tree(derived([8, 4, 8]), unlimited_with(SHADED));
    let mut screen = Screen::default();
    settle(&mut tree, &camera([20.0, 50.0, 20.0], 90.0), &mut screen);
    let shaded_count = check_skirts(&tree, &screen);
    assert!(shaded_count > 500, "{shaded_count} of {}", screen.skirts.len());
    let mut skirts: Vec<(NodePos, Face)> =
        screen.skirts.keys().copied().filter(|(node, _)| node.level == 0).collect();
    skirts.sort_unstable();
    let (mut roll, mut changed_count) = (roller(5), 0);
    for edit in 0..200 {
        let (node, face) = skirts[roll(skirts.len() as u32) as usize];
        // A voxel in front of the skirt and beside the chunk.
        let mut at = [0; 3].map(|_: i32| roll(32) as i32);
        let beside = face.span_axes()[roll(2) as usize];
        at[face.axis()] = if face.is_positive() { 32 } else { -1 };
        at[beside] = if roll(2) == 0 { 32 } else { -1 };
        let [x, y, z] = [node.chunk.x, node.chunk.y, node.chunk.z].map(|c| c * 32);
        let voxel = VoxelPos::new(x + at[0], y + at[1], z + at[2]);
        let material = Material(if tree.data().get(voxel).is_air() { 1 } else { 0 });
        let before = screen.skirts.clone();
        tree.set([(voxel, material)], &mut screen).unwrap();
        assert!(!tree.has_waiting_edits());
        changed_count += usize::from(before[&(node, face)] != screen.skirts[&(node, face)]);
        if edit % 20 == 19 {
            check_meshes_are_current(&tree, &screen);
            check_skirts(&tree, &screen);
        }
    }
    assert!(changed_count >= 20, "{changed_count} skirts have changed");
}

/// Replacing an opaque material by another changes the mesh of no neighbour.
#[test]
fn opaque_voxels_darken_alike() {
    let mut tree = tree(derived([3, 3, 3]), unlimited_with(SHADED));
    let mut recorder = order::Recorder::default();
    settle(&mut tree, &camera([48.0; 3], 1e5), &mut recorder.screen);
    let is_opaque = |&material: &Material| !tree.data().materials().is_translucent(material);
    let opaque: Vec<Material> = (1..4).map(Material).filter(is_opaque).collect();
    let at = VoxelPos::new(32, 32, 32);
    tree.set([(at, opaque[0])], &mut recorder).unwrap();
    recorder.shown_bodies.clear();
    tree.set([(at, opaque[1])], &mut recorder).unwrap();
    let lowest = recorder.shown_bodies.iter().filter(|node| node.level == 0);
    assert_eq!(lowest.collect::<Vec<_>>(), [&NodePos::from(ChunkPos::new(1, 1, 1))]);
}

/// Changes the meshing while the camera moves, some edits are shown and others wait. Every body is
/// one of the two meshes of its node at any time, and the end equals a new tree.
#[test]
fn a_change_of_meshing_ends_with_the_meshes_of_a_new_tree() {
    let near = camera([60.0, 60.0, 60.0], 150.0);
    let config = LodConfig { frame_bytes: 60_000, hysteresis: 1.0, ..unlimited() };
    let mut tree = tree(derived([8, 4, 8]), config);
    let mut screen = Screen::default();
    settle(&mut tree, &near, &mut screen);
    let mut roll = roller(11);
    for (round, meshing) in [1, 0, 1, 0, 1, 0].map(|i| MESHINGS[i]).into_iter().enumerate() {
        tree.set_meshing(meshing);
        assert!(!tree.is_settled());
        let mut steps = 0;
        while !tree.is_settled() || steps < 30 {
            // The first rounds have no edits and a resting camera.
            let is_eventful = round >= 2 && steps < 60;
            if is_eventful && steps % 3 == 0 {
                let center =
                    VoxelPos::new(roll(160) as i32, 30 + roll(60) as i32, roll(160) as i32);
                let radius_voxels = if steps == 30 { 100 } else { roll(3) };
                let ball = VoxelShape::Sphere { center, radius_voxels };
                fill(&mut tree, &ball, Material(roll(4) as u16), &mut screen).unwrap();
            }
            // A second change before the first is finished, and changes while a large edit waits.
            if round == 4 && [20, 31].contains(&steps) {
                assert_eq!(tree.has_waiting_edits(), steps == 31);
                tree.set_meshing(MESHINGS[0]);
            } else if round == 4 && [24, 33].contains(&steps) {
                tree.set_meshing(meshing);
            }
            (0..8).for_each(|_| tree.wait(Duration::ZERO));
            let moved = if is_eventful { f64::from(steps) } else { 0.0 };
            let now = camera([60.0 + moved, 60.0, 60.0], 150.0);
            let before = screen.bodies.clone();
            tree.update(&now, &mut screen).unwrap();
            check(&tree, &screen, usize::MAX);
            if round < 2 {
                check_steps(&tree, &before, &screen);
            }
            steps += 1;
            assert!(steps < 10_000, "never settled");
        }
        assert!(steps > 5, "all at once");
        assert_eq!(shaded_count(&screen) > 0, meshing.occlusion);
        check_meshes_are_current(&tree, &screen);
        check_bodies(&tree, &screen);
    }
}

/// An update with a resting camera hides nothing, replaces meshes within its budget and one change,
/// and each mesh by that with the new options.
fn check_steps(tree: &LodTree, before: &HashMap<NodePos, Vec<Quad>>, screen: &Screen) {
    assert!(before.len() == screen.bodies.len());
    let replaced = screen.bodies.iter().filter(|(node, quads)| before[*node] != **quads);
    let (mut size_bytes, mut largest) = (0, 0);
    for (&node, quads) in replaced {
        assert!(*quads == simple_mesh(tree.data(), node, tree.config().meshing), "{node:?}");
        size_bytes += quads.len() * size_of::<Quad>();
        largest = largest.max(quads.len() * size_of::<Quad>());
    }
    assert!(size_bytes <= tree.config().frame_bytes + largest, "{size_bytes} bytes");
}

/// A change of meshing with little memory shows what fits, hides nothing, and continues when memory
/// is free.
#[test]
fn a_change_of_meshing_keeps_the_picture_of_a_full_screen() {
    let near = camera([60.0, 60.0, 60.0], 150.0);
    let (mut tree, mut screen) = (tree(derived([8, 4, 8]), unlimited()), Screen::default());
    settle(&mut tree, &near, &mut screen);
    screen.max_quads = Some(screen.len() + 500);
    tree.set_meshing(SHADED);
    let mut refused = 0;
    for _ in 0..400 {
        tree.wait(Duration::ZERO);
        refused += u32::from(tree.update(&near, &mut screen).is_err());
        check_cover(&tree, &screen);
    }
    assert!(refused > 5 && !tree.is_settled());
    screen.max_quads = None;
    settle(&mut tree, &near, &mut screen);
    check_meshes_are_current(&tree, &screen);
}

/// The limit of chunks that an edit may load at once counts the neighbours across edges and corners.
#[test]
fn the_load_limit_of_an_edit_counts_all_neighbours() {
    let chunks = (0..4).map(|i| VoxelPos::new(48 + i % 2 * 96, 48, 48 + i / 2 * 96));
    let voxels: Vec<_> = chunks.map(|at| (at, Material(1))).collect();
    for meshing in MESHINGS {
        // Nothing is cached, so each of the four chunks and its neighbours has to be read.
        let mut tree = tree_with(derived([6, 3, 6]), unlimited_with(meshing), 0);
        let mut screen = Screen::default();
        settle(&mut tree, &camera([96.0, 48.0, 96.0], 1e5), &mut screen);
        tree.set(voxels.iter().copied(), &mut screen).unwrap();
        assert_eq!(tree.has_waiting_edits(), meshing.occlusion);
    }
}
