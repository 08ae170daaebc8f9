//! Plans, read as values: given a tree and a camera, these changes and requests in this order.

use std::collections::HashMap;
use std::time::Duration;

use drystone_mesh::Face;
use drystone_testing::Random;
use drystone_voxel::{ChunkPos, Material, VoxelBox, VoxelPos};

use super::*;
use crate::edit::Edit;
use crate::lod::config::LodConfig;
use crate::lod::tests::{Screen, camera, generated, settle, tree, unlimited};
use crate::lod::tree::LodTree;
use crate::lod::tree::shown_nodes::SkirtChange;
use crate::shape::VoxelShape;

/// Subtrees that are planned: all, or only those that are due.
#[derive(Clone, Copy, PartialEq)]
enum Subtrees {
    Due,
    All,
}

/// Plans the next update, and changes nothing.
fn plan(tree: &LodTree, camera: &LodCamera, subtrees: Subtrees) -> Plan {
    let (mut path, mut nodes) = (tree.path, tree.nodes.clone());
    let (reaches, has_changed) = path.follow(camera, &tree.config);
    if has_changed || subtrees == Subtrees::All {
        nodes.evaluate_everywhere();
    }
    let planner = Planner {
        nodes: &nodes,
        waiting: &tree.waiting,
        edits: &tree.edits,
        outdated: &tree.shown.outdated,
        camera,
        reaches,
        travelled_voxels: path.travelled_voxels,
        are_splits_held: tree.progress.are_splits_held(),
        scope: Scope::Surroundings,
    };
    planner.plan(Plan::default())
}

/// Makes everything that the last update requested, and collects it.
fn finish_meshes(tree: &mut LodTree) {
    while tree.work() {}
    tree.collect_finished();
}

fn nodes(changes: &[Change], kind: ChangeKind) -> Vec<NodePos> {
    assert!(changes.iter().all(|change| change.kind == kind), "{changes:?}");
    changes.iter().map(|change| change.node).collect()
}

const SIZE: [u32; 3] = [16, 4, 16];
const NEAR: [f64; 3] = [60.0, 60.0, 60.0];

/// A world of `SIZE` whose roots are shown, in an update for a camera far away.
fn roots_shown() -> (LodTree, Screen) {
    let (mut tree, mut screen) = (tree(generated(SIZE), unlimited()), Screen::default());
    settle(&mut tree, &camera([60.0, 1e6, 60.0], 120.0), &mut screen);
    assert!(tree.shown().all(|node| node.level == tree.data.top_level()));
    (tree, screen)
}

/// First the meshes of all roots are requested, then the roots are shown, nearest first.
#[test]
fn roots_are_requested_then_shown_by_priority() {
    let mut tree = tree(generated(SIZE), unlimited());
    let near = camera(NEAR, 120.0);
    let first = plan(&tree, &near, Subtrees::Due);
    let roots = tree.data.roots();
    assert!(roots.len() >= 4 && first.changes.is_empty());
    let request = |node| MeshRequest { node, missing: 0, priority: priority(node, &near) };
    assert_eq!(first.requests.needed, roots.iter().copied().map(request).collect::<Vec<_>>());
    tree.update(&near, &mut Screen::default()).unwrap();
    finish_meshes(&mut tree);
    let second = plan(&tree, &near, Subtrees::Due);
    assert!(second.requests.is_empty());
    let mut expected = roots.clone();
    expected.sort_by(|a, b| priority(*b, &near).total_cmp(&priority(*a, &near)));
    assert_eq!(nodes(&second.changes, ChangeKind::Show), expected);
    assert_eq!(second.kept, roots);
}

/// A plan depends only on its inputs and changes none of them.
#[test]
fn a_plan_is_a_pure_function() {
    let (mut tree, mut screen) = roots_shown();
    for at in [NEAR, [300.0, 40.0, 300.0]] {
        let near = camera(at, 120.0);
        tree.update(&near, &mut screen).unwrap();
        finish_meshes(&mut tree);
        let before = tree.shown().count();
        let [one, two] = [Subtrees::Due; 2].map(|subtrees| plan(&tree, &near, subtrees));
        assert_eq!(format!("{one:?}"), format!("{two:?}"));
        assert!(!one.changes.is_empty() && tree.shown().count() == before);
        // The update applies exactly this plan.
        let planned = one.changes.iter().map(|change| (change.node, change.kind));
        let planned: Vec<(NodePos, ChangeKind)> = planned.collect();
        tree.update(&near, &mut screen).unwrap();
        for (node, kind) in planned {
            assert_eq!((tree.nodes.is_split(node), kind), (true, ChangeKind::Split), "{node:?}");
        }
    }
}

/// A coarse node is split when the meshes of all children are finished. Until then the missing ones
/// are requested together.
#[test]
fn a_split_waits_for_all_children() {
    let (mut tree, mut screen) = roots_shown();
    let near = camera(NEAR, 120.0);
    let root = NodePos::from(ChunkPos::new(0, 0, 0)).ancestor(tree.data.top_level());
    tree.update(&near, &mut screen).unwrap();
    let requests = plan(&tree, &near, Subtrees::Due).requests;
    let request = requests.needed.iter().find(|request| request.node == root).unwrap();
    let children: Vec<NodePos> = tree.data.grid().children(root).collect();
    assert_eq!(request.nodes().collect::<Vec<_>>(), children);
    finish_meshes(&mut tree);
    let lacking = children[0];
    let mesh = tree.waiting.take(lacking, &mut tree.nodes).unwrap();
    let lacks_one = plan(&tree, &near, Subtrees::Due);
    assert!(lacks_one.changes.iter().all(|change| change.node != root));
    let request = lacks_one.requests.needed.iter().find(|request| request.node == root).unwrap();
    assert_eq!(request.nodes().collect::<Vec<_>>(), [lacking]);
    assert!(lacks_one.kept.contains(&root), "the other meshes are kept");
    tree.waiting.insert(lacking, mesh, 0, &mut tree.nodes);
    let planned = nodes(&plan(&tree, &near, Subtrees::Due).changes, ChangeKind::Split);
    assert_eq!(planned[0], root, "the camera is inside it");
}

/// While splits are held, their meshes are still requested.
#[test]
fn held_splits_are_not_planned() {
    let (mut tree, mut screen) = roots_shown();
    let near = camera(NEAR, 120.0);
    tree.update(&near, &mut screen).unwrap();
    let requests = plan(&tree, &near, Subtrees::Due).requests;
    tree.progress.refuse_root();
    tree.progress.begin(false);
    assert_eq!(plan(&tree, &near, Subtrees::Due).requests.needed, requests.needed);
    finish_meshes(&mut tree);
    assert_eq!(plan(&tree, &near, Subtrees::Due).changes, []);
    tree.progress.begin(true);
    assert!(!plan(&tree, &near, Subtrees::Due).changes.is_empty());
}

/// From far away, nodes are merged. Merges that hide more nodes are requested first, and a node
/// with too many shown nodes is merged level by level.
#[test]
fn merges_are_requested_by_the_nodes_they_hide() {
    let mut tree = tree(generated(SIZE), unlimited());
    let mut screen = Screen::default();
    settle(&mut tree, &camera(NEAR, 900.0), &mut screen);
    let mut below: HashMap<NodePos, u32> = HashMap::new();
    for node in tree.shown() {
        tree.data.grid().ancestors(node).for_each(|above| *below.entry(above).or_default() += 1);
    }
    let far = camera([60.0, 1e6, 60.0], 120.0);
    let first = plan(&tree, &far, Subtrees::Due);
    assert!(first.changes.is_empty() && first.requests.needed.is_empty());
    assert!(first.requests.merges.len() > 3);
    for merge in &first.requests.merges {
        assert_eq!(merge.priority, f64::from(below[&merge.node]));
        assert!(below[&merge.node] <= MAX_MERGED);
        let is_smallest = tree.data.grid().ancestors(merge.node).all(|it| below[&it] > MAX_MERGED);
        assert!(is_smallest, "{:?} is below another merge", merge.node);
    }
    tree.update(&far, &mut screen).unwrap();
    finish_meshes(&mut tree);
    let merges = nodes(&plan(&tree, &far, Subtrees::Due).changes, ChangeKind::Merge);
    assert_eq!(merges.len(), first.requests.merges.len());
    let priorities = merges.iter().map(|&node| priority(node, &far));
    assert!(priorities.is_sorted_by(|a, b| a >= b));
}

/// While an edit waits, the levels of its nodes do not change. Its meshes come before all others.
#[test]
fn an_edit_holds_its_nodes_and_is_requested_first() {
    let (mut tree, mut screen) = roots_shown();
    let near = camera(NEAR, 120.0);
    tree.update(&near, &mut screen).unwrap();
    finish_meshes(&mut tree);
    assert!(!plan(&tree, &near, Subtrees::Due).changes.is_empty());
    let [min, max] = [VoxelPos::new(0, 30, 0), VoxelPos::new(512, 31, 512)];
    let layer = VoxelShape::Box(VoxelBox { min, max });
    let edit = Edit::fill(tree.data(), &layer, Material(1)).unwrap();
    assert!(tree.apply_part(&edit) > 0);
    let open = plan(&tree, &near, Subtrees::Due);
    assert!(open.changes.is_empty() && open.requests.is_empty(), "{open:?}");
    tree.show_parts();
    let closed = plan(&tree, &near, Subtrees::Due);
    assert_eq!(closed.changes, []);
    let mut requested: Vec<NodePos> = closed.requests.needed.iter().map(|it| it.node).collect();
    requested.sort_unstable();
    assert_eq!(requested, tree.data.roots());
    assert!(closed.requests.needed.iter().all(|it| it.priority == MeshRequest::EDIT));
}

/// At the end of the budget, merges come first, those with the lowest priority before others.
#[test]
fn merges_come_first_at_the_end_of_the_budget() {
    let change = |x: i32, kind: ChangeKind| Change {
        node: NodePos::from(ChunkPos::new(x, 0, 0)),
        kind,
        priority: f64::from(x),
    };
    use ChangeKind::{Merge, Show, Split};
    let mut changes = [change(1, Split), change(4, Merge), change(3, Show), change(2, Merge)];
    Change::sort_by_priority(&mut changes);
    assert_eq!(changes.map(|it| it.priority), [4.0, 3.0, 2.0, 1.0]);
    Change::sort_merges_first(&mut changes);
    assert_eq!(changes.map(|it| it.priority), [2.0, 4.0, 3.0, 1.0]);
}

/// Returns the borders between shown nodes at which the first node has a skirt: both nodes, and the
/// face direction from the first to the second.
fn borders(tree: &LodTree) -> Vec<(NodePos, Face, NodePos)> {
    let sides = |node| Face::ALL.into_iter().map(move |face| (node, face));
    let border = |(node, face): (NodePos, Face)| {
        let beside = node.offset(face.normal())?;
        let has_skirt = !tree.shown.nodes.get(&node)?.made.get(face).is_empty();
        (has_skirt && tree.nodes.is_shown(beside)).then_some((node, face, beside))
    };
    tree.shown().flat_map(sides).filter_map(border).collect()
}

/// A skirt is shown where a neighbour is hidden, and hidden where it is shown again.
#[test]
fn skirts_follow_the_shown_neighbours() {
    let (mut tree, mut screen) = roots_shown();
    settle(&mut tree, &camera(NEAR, 120.0), &mut screen);
    assert_eq!(tree.shown.plan_skirts(&tree.nodes), [], "settled");
    let (node, face, beside) = borders(&tree)[0];
    let shows = |is_shown| SkirtChange { node, face, is_shown };
    let hidden_state = tree.nodes.clone();
    tree.nodes.remove(beside);
    tree.shown.touch(beside);
    let changes = tree.shown.plan_skirts(&tree.nodes);
    assert!(changes.contains(&shows(true)));
    changes.iter().for_each(|change| tree.shown.note_skirt(change));
    tree.shown.touch(node);
    assert_eq!(tree.shown.plan_skirts(&tree.nodes), []);
    tree.nodes = hidden_state;
    tree.shown.touch(node);
    assert!(tree.shown.plan_skirts(&tree.nodes).contains(&shows(false)));
}

/// Hidden skirts free memory for those that are shown, even if their nodes were touched later.
#[test]
fn skirts_are_hidden_before_others_are_shown() {
    let (mut tree, mut screen) = roots_shown();
    settle(&mut tree, &camera(NEAR, 120.0), &mut screen);
    let borders = borders(&tree);
    let (old_node, old_face, old_beside) = borders[0];
    let is_apart = |(node, _, beside): &&(NodePos, Face, NodePos)| {
        *node != old_beside && *beside != old_node && *beside != old_beside
    };
    let &(new_node, new_face, new_beside) = borders.iter().find(is_apart).unwrap();
    let whole = tree.nodes.clone();
    tree.nodes.remove(old_beside);
    tree.shown.touch(old_beside);
    let first = tree.shown.plan_skirts(&tree.nodes);
    first.iter().for_each(|change| tree.shown.note_skirt(change));

    tree.nodes = whole;
    tree.nodes.remove(new_beside);
    tree.shown.touch(new_beside);
    tree.shown.touch(old_beside);
    let changes = tree.shown.plan_skirts(&tree.nodes);
    let [hidden, shown] = [(old_node, old_face, false), (new_node, new_face, true)]
        .map(|(node, face, is_shown)| SkirtChange { node, face, is_shown });
    assert!(changes.contains(&hidden) && changes.contains(&shown), "{changes:?}");
    assert!(changes.is_sorted_by_key(|change| change.is_shown), "{changes:?}");
}

/// Finished meshes that no plan needs are dropped after a while, and at once above the limit.
#[test]
fn unneeded_meshes_are_dropped() {
    let (mut tree, mut screen) = roots_shown();
    tree.update(&camera(NEAR, 120.0), &mut screen).unwrap();
    finish_meshes(&mut tree);
    let (waiting, frame) = (tree.waiting.size_bytes, tree.progress.frame);
    assert!(waiting > 0);
    let unneeded = |frame, limit| tree.waiting.unneeded(frame, limit, &tree.nodes).len();
    assert_eq!(unneeded(frame, 0), 0, "needed in this frame");
    assert!(unneeded(frame + 1, waiting - 1) > 0, "above the limit");
    let [soon, late] = [100, 200].map(|frames| (frame + frames).next_multiple_of(16));
    assert_eq!(unneeded(soon, waiting), 0);
    assert!(unneeded(late, waiting) > 0 && unneeded(late + 1, waiting) == 0);
}

/// Subtrees that are skipped until the camera has travelled far enough have no changes.
#[test]
fn skipped_subtrees_have_no_changes() {
    let config = LodConfig { frame_bytes: 100_000, ..unlimited() };
    let mut tree = tree(generated([32, 4, 32]), config);
    let mut screen = Screen::default();
    let (mut found_count, mut skipped_count) = (0, 0);
    let mut random = Random::new(1);
    let mut position = [100.0, 90.0, 100.0];
    let found = |plan: &Plan| {
        let requests = plan.requests.needed.iter().chain(&plan.requests.merges);
        let requests = requests.map(|request| format!("{request:?}"));
        let changes = plan.changes.iter().map(|change| format!("{change:?}"));
        let mut found: Vec<String> = requests.chain(changes).collect();
        found.sort_unstable();
        found
    };
    for frame in 0..200 {
        // The camera stays, walks, or jumps.
        let step = [0.0, 0.5, 3.0, 3.0, 20.0, 300.0][random.below(6_usize)];
        position = position
            .map(|c| (c + step * (f64::from(random.below(201)) / 100.0 - 1.0)).clamp(0.0, 1_000.0));
        let camera = camera(position, if frame % 100 < 90 { 150.0 } else { 60.0 });
        if frame % 7 == 0 {
            let at = VoxelPos::new(position[0] as i32, 40 + frame % 50, position[2] as i32);
            tree.set([(at, Material((frame % 2) as u16))], &mut screen).unwrap();
        }
        let [due, everywhere] =
            [Subtrees::Due, Subtrees::All].map(|subtrees| plan(&tree, &camera, subtrees));
        let found = [&due, &everywhere].map(found);
        assert_eq!(found[0], found[1], "frame {frame}");
        found_count += found[0].len();
        skipped_count += everywhere.evaluated.len() - due.evaluated.len();
        tree.update(&camera, &mut screen).unwrap();
        (0..random.below(40)).for_each(|_| tree.wait(Duration::ZERO));
    }
    assert!(
        found_count > 1_000 && skipped_count > 1_000,
        "{found_count} found, {skipped_count} skipped"
    );
}
