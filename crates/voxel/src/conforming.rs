use alloc::vec::Vec;

use drystone_mesh::{Face, Quad, QuadSink};

use crate::ChunkMesh;

/// Maximum number of quad corners along a side of a chunk.
const MAX_CORNERS: usize = Quad::MAX_SIDE as usize + 1;

/// Cuts the quads of a mesh until no corner of one is inside an edge of another.
///
/// Where three quads meet in a T, the long edge and the two short edges are rounded differently.
/// Single pixels of the background may then be visible. A quad with corners of others on its border
/// is cut there over its whole extent. This creates new corners on the opposite side, so the
/// process repeats until nothing changes.
///
/// ```text
///  ┌───────┐      ┌───┬───┐
///  │       │      │   │   │     the cut continues into the
///  ├───┬───┤  ►   ├───┼───┤     quads above
///  │   │   │      │   │   │
/// ```
#[derive(Debug, Default)]
pub(crate) struct Conforming {
    /// One bit per point of the grid of corners: one word along X for each Y and Z.
    corners: Vec<u128>,
    /// Copy of the quads of a mesh while they are cut.
    whole: Vec<Quad>,
}

impl Conforming {
    /// Cuts the opaque and translucent quads of `mesh`. Preserves their order; the parts of a quad
    /// are consecutive.
    pub(crate) fn cut(&mut self, mesh: &mut ChunkMesh) {
        self.corners.clear();
        self.corners.resize(MAX_CORNERS * MAX_CORNERS, 0);
        for (quad, _) in mesh.iter() {
            (0..4).for_each(|corner| {
                self.set(quad.corner(corner));
            });
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (quad, _) in mesh.iter() {
                changed |= self.set_cuts(quad);
            }
        }
        for quads in [&mut mesh.opaque, &mut mesh.translucent] {
            // Copying is faster than swapping, since swapped buffers would not stay in the cache.
            self.whole.clear();
            self.whole.extend_from_slice(quads.quads());
            quads.clear();
            for &quad in &self.whole {
                let cuts = self.cuts(quad);
                push_parts(quad, cuts, quads);
            }
        }
    }

    /// Marks a corner. Returns whether it is new.
    fn set(&mut self, corner: [u32; 3]) -> bool {
        let [x, y, z] = corner.map(|c| c as usize);
        let Some(row) = self.corners.get_mut(y + MAX_CORNERS * z) else { return false };
        let is_new = *row >> x & 1 == 0;
        *row |= 1 << x;
        is_new
    }

    fn has(&self, corner: [u32; 3]) -> bool {
        let [x, y, z] = corner.map(|c| c as usize);
        self.corners.get(y + MAX_CORNERS * z).is_some_and(|row| row >> x & 1 != 0)
    }

    /// Returns the positions at which a quad must be cut: one bit per step of its width and of its
    /// height that has a corner on it.
    fn cuts(&self, quad: Quad) -> [u128; 2] {
        let [width, height] = quad.size();
        let mut cuts = [0; 2];
        for v in 0..=height {
            for u in 0..=width {
                if self.has(grid_point(quad, u, v)) {
                    cuts[0] |= 1 << u;
                    cuts[1] |= 1 << v;
                }
            }
        }
        cuts
    }

    /// Marks the corners that result from cutting a quad. Returns whether any is new.
    fn set_cuts(&mut self, quad: Quad) -> bool {
        let [across, along] = self.cuts(quad);
        let mut changed = false;
        for v in bits(along) {
            for u in bits(across) {
                changed |= self.set(grid_point(quad, u, v));
            }
        }
        changed
    }
}

/// Returns the grid point at a step of a quad's width and height.
fn grid_point(quad: Quad, u: u32, v: u32) -> [u32; 3] {
    let face = quad.face().unwrap_or(Face::NegX);
    let mut point = quad.position();
    point[face.axis()] += u32::from(face.is_positive());
    point[face.span_axes()[0]] += u;
    point[face.span_axes()[1]] += v;
    point
}

/// Iterates over the numbers of the set bits, lowest first.
fn bits(mut word: u128) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}

/// Pushes the parts of a quad, cut at these steps. The steps include both ends.
fn push_parts(quad: Quad, [across, along]: [u128; 2], sink: &mut impl QuadSink) {
    let face = quad.face().unwrap_or(Face::NegX);
    let [u_axis, v_axis] = face.span_axes();
    for (v, next_v) in bits(along).zip(bits(along).skip(1)) {
        for (u, next_u) in bits(across).zip(bits(across).skip(1)) {
            let mut position = quad.position();
            position[u_axis] += u;
            position[v_axis] += v;
            sink.push(quad.with_rectangle(position, [next_u - u, next_v - v]));
        }
    }
}
