//! A sink without free memory shows a picture without holes, and becomes coarser where possible.

use std::collections::VecDeque;

use drystone_alloc::{RangeHandle, RangeSpace};

use super::*;

/// A body, or the skirt on the side of a face.
pub(super) type Part = (NodePos, Option<Face>);

/// A sink that allocates a contiguous range for each mesh before it frees the mesh's old range. A
/// freed range can be allocated again when the frames in flight have completed.
struct Ranges {
    screen: Screen,
    space: RangeSpace,
    held: HashMap<Part, RangeHandle>,
    /// Freed ranges, each with the frame in which it can be allocated again.
    pending: VecDeque<(u32, RangeHandle)>,
    frame: u32,
    frames_in_flight: u32,
    /// Longer ranges are refused, as if free memory were fragmented.
    max_range: u32,
    refused: u32,
}

impl Ranges {
    fn new(capacity: usize, frames_in_flight: u32) -> Self {
        Self {
            screen: Screen::default(),
            space: RangeSpace::new(capacity as u32),
            held: HashMap::new(),
            pending: VecDeque::new(),
            frame: 0,
            frames_in_flight,
            max_range: u32::MAX,
            refused: 0,
        }
    }

    fn complete_frame(&mut self) {
        self.frame += 1;
        while let Some((_, range)) = self.pending.pop_front_if(|(frame, _)| *frame <= self.frame) {
            self.space.free(range).unwrap();
        }
    }

    fn set(&mut self, part: Part, mesh: Option<&ChunkMesh>) -> Result<(), Full> {
        let quads = mesh.map_or(0, ChunkMesh::len) as u32;
        let is_small = quads <= self.max_range;
        let new = (quads > 0 && is_small).then(|| self.space.allocate(quads)).transpose();
        let Some(new) = new.ok().filter(|_| is_small) else {
            self.refused += 1;
            return Err(Full);
        };
        let old = self.held.remove(&part);
        self.held.extend(new.map(|range| (part, range)));
        match old {
            Some(range) if self.frames_in_flight == 0 => self.space.free(range).unwrap(),
            Some(range) => self.pending.push_back((self.frame + self.frames_in_flight, range)),
            None => {}
        }
        Ok(())
    }
}

impl NodeSink for Ranges {
    type Error = Full;

    fn set_body(&mut self, node: NodePos, mesh: Option<&ChunkMesh>) -> Result<(), Full> {
        if let Err(full) = self.set((node, None), mesh) {
            self.screen.refused.insert((node, None));
            return Err(full);
        }
        self.screen.set_body(node, mesh)
    }

    fn set_skirt(
        &mut self,
        node: NodePos,
        face: Face,
        skirt: Option<&ChunkMesh>,
    ) -> Result<(), Full> {
        let part = (node, Some(face));
        if let Err(full) = self.set(part, skirt) {
            self.screen.refused.insert(part);
            return Err(full);
        }
        self.screen.set_skirt(node, face, skirt)
    }
}

/// Updates until nothing changes, and completes a frame after each update. Every frame must show
/// the whole world. Returns whether the tree has settled.
fn follow(tree: &mut LodTree, camera: &LodCamera, ranges: &mut Ranges) -> bool {
    let mut updates_without_change = 0;
    let mut last: HashSet<NodePos> = HashSet::new();
    while updates_without_change < 40 {
        // The sink may refuse a change.
        let _ = tree.update(camera, ranges);
        check_cover(tree, &ranges.screen);
        ranges.complete_frame();
        if tree.is_settled() {
            assert!(ranges.screen.refused.is_empty(), "{:?}", ranges.screen.refused);
            return true;
        }
        let now: HashSet<NodePos> = tree.shown().collect();
        // Unfinished meshes may still change something.
        let is_same = now == last && !tree.work();
        updates_without_change = if is_same { updates_without_change + 1 } else { 0 };
        last = now;
    }
    false
}

const SIZE_CHUNKS: [u32; 3] = [16, 4, 16];
const FAR_AWAY: LodCamera = LodCamera {
    position: [60.0, 1e6, 60.0],
    forward: [0.0, -1.0, 0.0],
    cos_half_view: 0.7,
    scale: PixelScale::Perspective(120.0),
};

fn corners() -> [LodCamera; 2] {
    [[60.0, 60.0, 60.0], [450.0, 60.0, 450.0]].map(|at| camera(at, 120.0))
}

/// Number of quads that a corner takes without a limit, the larger of both.
fn corner_quads() -> usize {
    let mut tree = tree(generated(SIZE_CHUNKS), unlimited());
    let mut screen = Screen::default();
    let quads = corners().map(|corner| {
        settle(&mut tree, &corner, &mut screen);
        screen.len()
    });
    quads[0].max(quads[1])
}

/// The camera moves from corner to corner with too little memory for either.
#[test]
fn a_full_sink_has_no_hole_in_any_frame() {
    let quads = corner_quads();
    for (frames_in_flight, percent) in [(0, 70), (1, 101), (3, 50)] {
        let mut tree = tree(generated(SIZE_CHUNKS), unlimited());
        let mut ranges = Ranges::new(quads * percent / 100, frames_in_flight);
        let [here, there] = corners();
        // Shows all roots first.
        assert!(follow(&mut tree, &FAR_AWAY, &mut ranges));
        for corner in [&here, &there, &here] {
            follow(&mut tree, corner, &mut ranges);
        }
        assert!(ranges.refused > 100, "{} refused", ranges.refused);
        // With enough memory, all details are shown.
        ranges.space.grow(1 << 20).unwrap();
        assert!(follow(&mut tree, &here, &mut ranges));
        check(&tree, &ranges.screen, 1);
    }
}

/// A split frees the range of the node's own mesh. If that is too small for the mesh of a larger
/// node, merges below it fit and free more.
#[test]
fn a_full_sink_becomes_coarser() {
    let quads = corner_quads();
    for (frames_in_flight, percent) in [(3, 44), (0, 68), (3, 84)] {
        let mut tree = tree(generated(SIZE_CHUNKS), unlimited());
        let mut ranges = Ranges::new(quads * percent / 100, frames_in_flight);
        let [here, there] = corners();
        assert!(follow(&mut tree, &FAR_AWAY, &mut ranges));
        for corner in [&here, &there] {
            assert!(!follow(&mut tree, corner, &mut ranges), "not full");
            assert!(follow(&mut tree, &FAR_AWAY, &mut ranges), "with {percent} % of {quads} quads");
            assert!(tree.shown().all(|node| node.level == tree.data().top_level()));
        }
    }
}

/// If the mesh of a larger node does not fit, everything shown stays shown. The tree tries again
/// with every update, and continues when memory is free.
#[test]
fn a_refused_merge_is_retried_and_hides_nothing() {
    let mut tree = tree(generated(SIZE_CHUNKS), unlimited());
    let mut ranges = Ranges::new(1 << 20, 2);
    let [here, _] = corners();
    assert!(follow(&mut tree, &here, &mut ranges));
    ranges.max_range = 150;
    assert!(!follow(&mut tree, &FAR_AWAY, &mut ranges));
    assert!(tree.shown().any(|node| node.level == 0));
    ranges.max_range = u32::MAX;
    assert!(follow(&mut tree, &FAR_AWAY, &mut ranges));
    assert!(tree.shown().all(|node| node.level == tree.data().top_level()));
}

/// A sink may have stored a part of a skirt that it refuses. The tree removes it when the skirt is no longer
/// needed.
#[test]
fn nothing_is_left_of_refused_skirts() {
    let mut tree = tree(generated(SIZE_CHUNKS), unlimited());
    let mut screen = Screen { refuses_skirts: Some(Random::new(3)), ..Screen::default() };
    let mut refused = 0;
    for camera in corners().iter().cycle().take(6) {
        for _ in 0..20 {
            refused += u32::from(tree.update(camera, &mut screen).is_err());
            check_cover(&tree, &screen);
            (0..8).for_each(|_| _ = tree.work());
        }
    }
    assert!(refused > 50, "{refused}");
    screen.refuses_skirts = None;
    settle(&mut tree, &corners()[0], &mut screen);
}
