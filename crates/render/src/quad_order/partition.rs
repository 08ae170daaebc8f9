use drystone_mesh::{Face, Quad};

use super::{piece::Piece, sides::Sides};

/// Quads in a tree of grid planes: each node's plane separates the quads of its two branches.
///
/// ```text
///            x = 3                 Camera at x = 9: first the quads below x = 3, then those above.
///           ╱     ╲                Camera at x = 1: first those above.
///     quads in     y = 7
///    one order    ╱     ╲
/// ```
/// The branch on the far side of the plane is drawn first. A leaf holds quads whose order is right for
/// every camera.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    /// Quads of the leaves, leaf by leaf.
    quads: Vec<Quad>,
    /// The root is the first.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    /// Range of quads.
    Leaf {
        first: u32,
        end: u32,
    },
    Cut {
        at: Plane,
        below: u32,
        above: u32,
    },
}

/// A plane of the mesh's grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plane {
    pub(super) axis: u8,
    /// Coordinate along the axis, in cells.
    pub(super) cells: u16,
}

/// Number of quads that cuts may add for each quad of a mesh. Random panes that cross each other stay
/// below a half. Without a limit, quads that overlap each other could be cut into any number.
const MAX_GROWTH: usize = 2;

/// Weight of a cut quad against a quad of the larger branch, when a plane is chosen.
const CUT_WEIGHT: u32 = 4;

impl Partition {
    /// Sorts quads into a tree. `cells` is the number of cells along the side of a voxel.
    ///
    /// # Cost
    /// O(n log n) for n quads, after cutting.
    pub(super) fn new(pieces: Vec<Piece>, cells: u32) -> Self {
        // Number of quads that cuts may add.
        let mut budget = pieces.len() * MAX_GROWTH;
        let mut tree = Self { quads: Vec::with_capacity(pieces.len()), nodes: vec![Node::EMPTY] };
        let mut waiting = vec![(0, pieces)];
        let mut cuts = Cuts { cells, counts: Vec::new() };
        while let Some((node, pieces)) = waiting.pop() {
            let mut sides = Sides::default();
            pieces.iter().for_each(|piece| sides.add(piece));
            let ranks = sides.ranks();
            let plane = match ranks {
                Some(_) => None,
                None if budget == 0 => None,
                None => cuts.best(&pieces),
            };
            let Some(at) = plane else {
                tree.nodes[node] = tree.add_leaf(pieces, &ranks.unwrap_or_default());
                continue;
            };
            let before = pieces.len();
            let [below, above] = divide(pieces, at, cells);
            budget = budget.saturating_sub(below.len() + above.len() - before);
            let children = tree.nodes.len();
            tree.nodes.extend([Node::EMPTY; 2]);
            let [first, second] = [children, children + 1];
            tree.nodes[node] = Node::Cut { at, below: first as u32, above: second as u32 };
            waiting.extend([(first, below), (second, above)]);
        }
        tree
    }

    /// Number of quads, which is that of the mesh and of the cuts through its quads.
    pub(super) const fn len(&self) -> usize {
        self.quads.len()
    }

    /// Iterates over the planes of the tree, in any order.
    pub(super) fn planes(&self) -> impl Iterator<Item = Plane> {
        self.nodes.iter().filter_map(|node| match *node {
            Node::Leaf { .. } => None,
            Node::Cut { at, .. } => Some(at),
        })
    }

    /// Replaces `quads` by the quads in the order for a camera. `is_above` returns whether the camera
    /// is above a plane.
    pub(super) fn sort(&self, is_above: impl Fn(Plane) -> bool, quads: &mut Vec<Quad>) {
        quads.clear();
        let mut waiting = vec![0];
        while let Some(node) = waiting.pop() {
            match self.nodes[node as usize] {
                Node::Leaf { first, end } => {
                    quads.extend_from_slice(&self.quads[first as usize..end as usize]);
                }
                // The last of these is drawn first.
                Node::Cut { at, below, above } if is_above(at) => waiting.extend([above, below]),
                Node::Cut { below, above, .. } => waiting.extend([below, above]),
            }
        }
    }

    fn add_leaf(&mut self, mut pieces: Vec<Piece>, ranks: &[u8; Face::COUNT]) -> Node {
        pieces.sort_by_key(|piece| {
            let (face, nearness) = piece.layer();
            (ranks[face.index()], face.index(), nearness)
        });
        let first = self.quads.len() as u32;
        self.quads.extend(pieces.iter().map(|piece| piece.quad));
        Node::Leaf { first, end: self.quads.len() as u32 }
    }
}

impl Node {
    const EMPTY: Self = Self::Leaf { first: 0, end: 0 };
}

/// Divides the quads at a plane, and cuts those that cross it.
fn divide(pieces: Vec<Piece>, at: Plane, cells: u32) -> [Vec<Piece>; 2] {
    let [mut below, mut above] = [0; 2].map(|_| Vec::with_capacity(pieces.len() / 2));
    let (axis, plane) = (usize::from(at.axis), 2 * at.cells as i16);
    for piece in pieces {
        if piece.high[axis] <= plane {
            below.push(piece);
        } else if piece.low[axis] >= plane {
            above.push(piece);
        } else {
            let [low, high] = piece.cut(axis, at.cells, cells);
            below.push(low);
            above.push(high);
        }
    }
    [below, above]
}

/// Finds the plane that divides quads best.
struct Cuts {
    /// Number of cells along the side of a voxel.
    cells: u32,
    /// Kept for its memory.
    counts: Vec<Counts>,
}

/// Numbers of quads that end at or below a plane, and that start at or above it but not at the next.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    ends: u32,
    starts: u32,
    /// `ends` of quads of whole voxels; others are fine.
    coarse_ends: u32,
    /// `starts` of quads of whole voxels.
    coarse_starts: u32,
}

impl Cuts {
    /// Returns the plane with quads on both sides that cuts few quads and leaves few in the larger
    /// branch; `None` if no plane has quads on both sides. Quads of whole voxels are cut between
    /// voxels only.
    fn best(&mut self, pieces: &[Piece]) -> Option<Plane> {
        let best = (0..3).filter_map(|axis| self.best_across(axis, pieces));
        best.min_by_key(|(cost, _)| *cost).map(|(_, plane)| plane)
    }

    fn best_across(&mut self, axis: usize, pieces: &[Piece]) -> Option<(u32, Plane)> {
        // First and last plane that a quad starts or ends at.
        let first = pieces.iter().map(|piece| piece.low[axis] / 2).min()?;
        let last = pieces.iter().map(|piece| (piece.high[axis] + 1) / 2).max()?;
        self.counts.clear();
        self.counts.resize((last - first + 1) as usize, Counts::default());
        let (mut count, mut coarse_count) = (0, 0);
        for piece in pieces {
            let is_coarse = u32::from(!piece.quad.is_fine());
            let at = |plane: i16| (plane - first) as usize;
            let start = &mut self.counts[at(piece.low[axis] / 2)];
            start.starts += 1;
            start.coarse_starts += is_coarse;
            let end = &mut self.counts[at((piece.high[axis] + 1) / 2)];
            end.ends += 1;
            end.coarse_ends += is_coarse;
            count += 1;
            coarse_count += is_coarse;
        }
        // Quads that end at or below the plane, and that start below it.
        let (mut ended, mut started) = (Counts::default(), Counts::default());
        let mut best: Option<(u32, Plane)> = None;
        for (plane, counts) in (first..=last).zip(&self.counts) {
            ended.ends += counts.ends;
            ended.coarse_ends += counts.coarse_ends;
            let crossing = started.starts - ended.ends;
            let coarse_crossing = started.coarse_starts - ended.coarse_ends;
            let (below, above) = (started.starts, count - ended.ends);
            started.starts += counts.starts;
            started.coarse_starts += counts.coarse_starts;
            let cuts_voxels = coarse_crossing > 0 && u32::from(plane as u16) % self.cells != 0;
            let is_outside = u32::from(plane as u16) >= Quad::MAX_SIDE * self.cells;
            if below == 0 || above == 0 || cuts_voxels || is_outside {
                continue;
            }
            let cost = below.max(above) + CUT_WEIGHT * crossing;
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, Plane { axis: axis as u8, cells: plane as u16 }));
            }
        }
        debug_assert_eq!((started.starts, started.coarse_starts), (count, coarse_count));
        best
    }
}
