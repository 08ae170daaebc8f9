use alloc::vec::Vec;

use drystone_mesh::{Face, Quad, QuadSink};

use crate::ChunkMesh;

/// Corners of quads a side of a chunk, at most.
const MAX_CORNERS: usize = Quad::MAX_SIDE as usize + 1;

/// Cuts the quads of a mesh until no corner of one lies inside an edge of another.
///
/// Where three quads meet in a T, the long edge and the two short ones are rounded
/// differently, and a picture may show what is behind as single pixels. A quad with
/// corners of others on its border is cut there, all the way across, which makes new
/// corners on the far side; that goes on until nothing changes.
///
/// ```text
///  ┌───────┐      ┌───┬───┐
///  │       │      │   │   │     the cut goes on into whatever
///  ├───┬───┤  ►   ├───┼───┤     lies above
///  │   │   │      │   │   │
/// ```
#[derive(Debug, Default)]
pub(crate) struct Conforming {
    /// A bit for each place of the grid of corners, a word of X for each Y and Z.
    corners: Vec<u128>,
    /// The quads of a mesh while they are cut.
    whole: Vec<Quad>,
}

impl Conforming {
    /// Cuts the quads of `mesh`, opaque and translucent ones alike. They keep their order:
    /// the parts of a quad follow each other.
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
            // Copied, not swapped: buffers that change places are never all warm.
            self.whole.clear();
            self.whole.extend_from_slice(quads.quads());
            quads.clear();
            for &quad in &self.whole {
                let cuts = self.cuts(quad);
                push_parts(quad, cuts, quads);
            }
        }
    }

    /// Whether the corner is new.
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

    /// Where a quad must be cut: a bit for each step of its width and of its height at which
    /// there is a corner on it.
    fn cuts(&self, quad: Quad) -> [u128; 2] {
        let [width, height] = quad.size();
        let mut cuts = [0; 2];
        for v in 0..=height {
            for u in 0..=width {
                if self.has(place(quad, u, v)) {
                    cuts[0] |= 1 << u;
                    cuts[1] |= 1 << v;
                }
            }
        }
        cuts
    }

    /// Sets the corners that cutting a quad makes. Whether any is new.
    fn set_cuts(&mut self, quad: Quad) -> bool {
        let [across, along] = self.cuts(quad);
        let mut changed = false;
        for v in bits(along) {
            for u in bits(across) {
                changed |= self.set(place(quad, u, v));
            }
        }
        changed
    }
}

/// The place of the grid at a step of a quad's width and height.
fn place(quad: Quad, u: u32, v: u32) -> [u32; 3] {
    let face = quad.face().unwrap_or(Face::NegX);
    let mut place = quad.position();
    place[face.axis()] += u32::from(face.is_positive());
    place[face.span_axes()[0]] += u;
    place[face.span_axes()[1]] += v;
    place
}

/// The numbers of the bits that are set, the lowest first.
fn bits(mut word: u128) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}

/// Pushes a quad cut at these steps, its ends among them.
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
