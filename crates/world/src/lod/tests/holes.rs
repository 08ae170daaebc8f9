//! A ray that hits a voxel hits the shown mesh of that voxel, after every update.

use super::full::Part;
use super::saving::roller;
use super::*;

/// Returns the first opaque quad that a ray hits from the front: its distance in lengths of
/// `along`, and its mesh.
fn first_hit(
    screen: &Screen,
    materials: &MaterialTable,
    from: [f64; 3],
    along: [f64; 3],
) -> Option<(f64, Part)> {
    let bodies = screen.bodies.iter().map(|(&node, quads)| ((node, None), quads));
    let skirts = screen.skirts.iter().map(|(&(node, face), quads)| ((node, Some(face)), quads));
    let mut near: Vec<(f64, Part, &Vec<Quad>)> = bodies
        .chain(skirts)
        .filter_map(|(part, quads)| Some((box_distance(from, along, part.0)?, part, quads)))
        .collect();
    near.sort_unstable_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let is_opaque = |quad: Quad| !materials.is_translucent(Material(quad.material()));
    let mut first: Option<(f64, Part)> = None;
    for (distance, part, quads) in near {
        if first.is_some_and(|(first, _)| first < distance) {
            break;
        }
        for &quad in quads {
            let hit = quad_distance(from, along, part.0, quad);
            let is_first = |&hit: &f64| first.is_none_or(|(first, _)| hit < first);
            if let Some(hit) = hit.filter(is_first).filter(|_| is_opaque(quad)) {
                first = Some((hit, part));
            }
        }
    }
    first
}

/// Returns the distance at which a ray enters the box of a node.
fn box_distance(from: [f64; 3], along: [f64; 3], node: NodePos) -> Option<f64> {
    let (mut near, mut far) = (0.0_f64, f64::INFINITY);
    let (low, side) = (node.origin().to_array().map(f64::from), f64::from(node.side_units()));
    for axis in 0..3 {
        let [a, b] = [low[axis], low[axis] + side].map(|c| (c - from[axis]) / along[axis]);
        near = near.max(a.min(b));
        far = far.min(a.max(b));
    }
    (near <= far + 1e-9).then_some(near)
}

/// Returns the distance at which a ray passes through the front of a quad.
fn quad_distance(from: [f64; 3], along: [f64; 3], node: NodePos, quad: Quad) -> Option<f64> {
    let face = quad.face().unwrap();
    let axis = face.axis();
    if (along[axis] < 0.0) != face.is_positive() {
        return None;
    }
    let (low, scale) = (node.origin().to_array().map(f64::from), f64::from(node.voxel_units()));
    let position = quad.position().map(f64::from);
    let plane = low[axis] + (position[axis] + f64::from(u8::from(face.is_positive()))) * scale;
    let t = (plane - from[axis]) / along[axis];
    let is_within = t >= 0.0
        && face.span_axes().into_iter().zip(quad.size()).all(|(span, size)| {
            let at = from[span] + t * along[span] - low[span];
            let [start, end] =
                [position[span], position[span] + f64::from(size)].map(|c| c * scale);
            at >= start - 1e-9 && at <= end + 1e-9
        });
    is_within.then_some(t)
}

/// Returns the distance at which a ray enters the first opaque voxel inside the world. `voxel_at`
/// returns the voxel at a position of level 0.
fn march(
    data: &LodData,
    voxel_at: impl Fn(VoxelPos) -> Material,
    from: [f64; 3],
    along: [f64; 3],
) -> Option<f64> {
    let mut at = from.map(|c| c.floor() as i32);
    let step = along.map(|c| if c < 0.0 { -1 } else { 1 });
    let mut next: [f64; 3] = std::array::from_fn(|axis| {
        let border = f64::from(at[axis] + i32::from(step[axis] > 0));
        (border - from[axis]) / along[axis]
    });
    let mut entered = 0.0;
    loop {
        let is_inside = (0..3).all(|axis| (0.0..SIZE[axis]).contains(&f64::from(at[axis])));
        let voxel =
            if is_inside { voxel_at(VoxelPos::new(at[0], at[1], at[2])) } else { Material::AIR };
        if is_opaque(data, voxel) {
            return Some(entered);
        }
        let has_left = |axis: usize| {
            step[axis] < 0 && at[axis] < 0 || step[axis] > 0 && f64::from(at[axis]) >= SIZE[axis]
        };
        if (0..3).any(has_left) {
            return None;
        }
        let axis = (0..3).min_by(|&a, &b| next[a].total_cmp(&next[b])).unwrap();
        entered = next[axis];
        at[axis] += step[axis];
        next[axis] += f64::from(step[axis]) / along[axis];
    }
}

/// Returns the voxel of the shown node at a position of level 0.
fn shown_voxel(tree: &LodTree, shown: &HashSet<NodePos>, voxel: VoxelPos) -> Material {
    let mut node = NodePos::from(voxel.split(Chunk::SIDE).0);
    while !shown.contains(&node) {
        assert!(node.level < tree.data().top_level(), "nothing is shown at {voxel:?}");
        node = node.parent();
    }
    let [x, y, z] = voxel.to_array().map(|c| c >> node.level);
    tree.data().chunk(node).get(VoxelPos::new(x, y, z).split(Chunk::SIDE).1)
}

fn is_opaque(data: &LodData, voxel: Material) -> bool {
    !voxel.is_air() && !data.materials().is_translucent(voxel)
}

/// A shown state, and the position from which rays are cast.
struct Sight<'a> {
    tree: &'a LodTree,
    shown: &'a HashSet<NodePos>,
    from: [f64; 3],
    /// Whether LOD voxels cover all smaller voxels, so that they also hide everything behind these.
    holds_all: bool,
}

impl Sight<'_> {
    /// Whether the camera is inside a shown voxel. It sees nothing until smaller voxels are shown.
    fn is_inside_a_voxel(&self) -> bool {
        let [x, y, z] = self.from.map(|c| c.floor() as i32);
        let at = VoxelPos::new(x, y, z);
        let data = self.tree.data();
        data.is_inside(NodePos::from(at.split(Chunk::SIDE).0))
            && is_opaque(data, shown_voxel(self.tree, self.shown, at))
    }

    /// Whether a ray hits anything. Returns an error if it does not hit the expected surface first.
    fn check(&self, screen: &Screen, along: [f64; 3]) -> Result<bool, String> {
        let data = self.tree.data();
        let found = first_hit(screen, data.materials(), self.from, along).map(|(hit, _)| hit);
        let voxel_at = |at| shown_voxel(self.tree, self.shown, at);
        let expected = march(data, voxel_at, self.from, along);
        let is_same = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
            (found, expected) => found == expected,
        };
        let fine = self.holds_all.then(|| march(data, |at| data.get(at), self.from, along));
        let hides_all = fine
            .flatten()
            .is_none_or(|fine| expected.is_some_and(|expected| expected < fine + 1e-6));
        if is_same && hides_all {
            return Ok(found.is_some());
        }
        Err(format!(
            "from {:?} along {along:?}: {found:?} hit, {expected:?} expected, {fine:?} in the world",
            self.from
        ))
    }

    /// Removes the mesh that a ray hits first, checks that the ray finds a hole, and restores the
    /// mesh. Returns whether the ray hits anything.
    fn check_without(&self, screen: &mut Screen, along: [f64; 3]) -> bool {
        let hit = first_hit(screen, self.tree.data().materials(), self.from, along);
        let Some((_, (node, skirt))) = hit else { return false };
        let mesh = |screen: &mut Screen, mesh: Vec<Quad>| match skirt {
            None => screen.bodies.insert(node, mesh).unwrap(),
            Some(face) => screen.skirts.insert((node, face), mesh).unwrap(),
        };
        let taken = mesh(screen, Vec::new());
        assert!(self.check(screen, along).is_err(), "no hole without {node:?} {skirt:?}");
        mesh(screen, taken);
        true
    }
}

/// A world whose LOD voxels cover all of its smaller voxels.
#[test]
fn no_ray_finds_a_hole() {
    rays_find_no_hole(derived(SIZE_CHUNKS), true);
}

/// A source that makes each level itself. There is no hole even where one level is lower than the
/// other.
#[test]
fn no_ray_finds_a_hole_between_levels_that_differ() {
    rays_find_no_hole(generated(SIZE_CHUNKS), false);
}

const SIZE_CHUNKS: [u32; 3] = [10, 4, 10];
const SIZE: [f64; 3] = [10.0 * 32.0, 4.0 * 32.0, 10.0 * 32.0];
const VIEWS: u32 = 400;
/// Number of views between two jumps of the camera. In between it moves a little.
const VIEWS_NEARBY: u32 = 10;
/// Number of rays per view and shown state.
const RAYS: u32 = 8;

/// Casts rays in random directions from random positions outside opaque voxels, after every update
/// that changes what is shown.
fn rays_find_no_hole(source: Box<dyn Source>, holds_all: bool) {
    let mut tree = tree(source, unlimited());
    let mut screen = Screen::default();
    let mut dice = roller(11);
    let mut roll = || f64::from(dice(1 << 24)) / f64::from(1 << 24);
    let (mut rays, mut hits, mut states, mut missed) = (0, 0, 0, 0);
    let mut levels = HashSet::new();
    // Shows all roots first.
    settle(&mut tree, &camera([-1e5, 200.0, -1e5], 10.0), &mut screen);
    let mut from = [0.0; 3];
    for view in 0..VIEWS {
        from = loop {
            let is_near = !view.is_multiple_of(VIEWS_NEARBY);
            let position: [f64; 3] = std::array::from_fn(|axis| match is_near {
                true => from[axis] + roll() * 60.0 - 30.0,
                false => roll() * (SIZE[axis] + 80.0) - 40.0,
            });
            let [x, y, z] = position.map(|c| c.floor() as i32);
            if !is_opaque(tree.data(), tree.data().get(VoxelPos::new(x, y, z))) {
                break position;
            }
        };
        let camera = camera(from, 20.0 + roll() * 240.0);
        let mut shown: HashSet<NodePos> = HashSet::new();
        loop {
            tree.update(&camera, &mut screen).unwrap();
            let before = std::mem::replace(&mut shown, tree.shown().collect());
            let sight = Sight { tree: &tree, shown: &shown, from, holds_all };
            if shown != before {
                states += 1;
                check(&tree, &screen, usize::MAX);
                levels.extend(shown.iter().map(|node| node.level));
                for _ in 0..if sight.is_inside_a_voxel() { 0 } else { RAYS } {
                    let along = [0; 3].map(|_| roll() - 0.5 + 1e-7);
                    rays += 1;
                    hits += u32::from(sight.check(&screen, along).unwrap());
                }
            }
            if tree.is_settled() {
                // Uses the first ray that hits anything.
                missed += u32::from((0..RAYS).any(|_| {
                    let along = [0; 3].map(|_| roll() - 0.5 + 1e-7);
                    sight.check_without(&mut screen, along)
                }));
                break;
            }
            tree.wait(Duration::ZERO);
        }
    }
    println!("{states} states, {hits} of {rays} rays hit, {missed} meshes missed");
    assert!(states > 5 * VIEWS && levels.len() >= 3, "{states} states, {levels:?}");
    assert!(rays > states * RAYS / 2 && hits > rays / 4, "{hits} of {rays} rays");
    assert!(missed > VIEWS / 2, "{missed} meshes missed");
}
