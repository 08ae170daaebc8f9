use drystone_mesh::{Face, Quad, QuadBuffer};
use drystone_voxel::ChunkMesh;

/// The unit faces that a mesh covers: the material of each, by buffer, facing and place.
#[derive(PartialEq)]
pub(crate) struct Rasterised {
    side: u32,
    /// Material plus one; zero where there is no face.
    faces: Vec<u32>,
}

impl Rasterised {
    /// Fails on a quad that reaches out of the chunk or over another quad, on facings out
    /// of order, and on counts that are not the quads'.
    pub(crate) fn new(mesh: &ChunkMesh, side: u32) -> Self {
        let faces = vec![0; 2 * Face::COUNT * (side * side * side) as usize];
        let mut rasterised = Self { side, faces };
        for (buffer, quads) in [&mesh.opaque, &mesh.translucent].into_iter().enumerate() {
            check_facings(quads);
            for &quad in quads.quads() {
                rasterised.add(buffer, quad);
            }
        }
        rasterised
    }

    fn add(&mut self, buffer: usize, quad: Quad) {
        let face = quad.face().expect("a facing");
        let [width, height] = quad.size();
        for v in 0..height {
            for u in 0..width {
                let mut place = quad.position();
                place[face.span_axes()[0]] += u;
                place[face.span_axes()[1]] += v;
                assert!(place.iter().all(|&c| c < self.side), "{quad:?} leaves the chunk");
                let index = self.index(buffer, face, place);
                assert_eq!(self.faces[index], 0, "{quad:?} lies on another quad");
                self.faces[index] = u32::from(quad.material()) + 1;
            }
        }
    }

    fn index(&self, buffer: usize, face: Face, [x, y, z]: [u32; 3]) -> usize {
        let n = self.side as usize;
        let [x, y, z] = [x, y, z].map(|c| c as usize);
        (buffer * Face::COUNT + face.index()) * n * n * n + x + n * (y + n * z)
    }

    /// The first place where both differ, in words.
    pub(crate) fn difference(&self, expected: &Self) -> Option<String> {
        let mut pairs = self.faces.iter().zip(&expected.faces);
        let index = pairs.position(|(actual, expected)| actual != expected)?;
        let n = self.side as usize;
        let [x, y, z] = [index % n, index / n % n, index / n / n % n];
        let facing = index / (n * n * n);
        Some(format!(
            "buffer {}, {:?} at {x} {y} {z}: material + 1 is {}, should be {}",
            facing / Face::COUNT,
            Face::ALL[facing % Face::COUNT],
            self.faces[index],
            expected.faces[index]
        ))
    }
}

fn check_facings(quads: &QuadBuffer) {
    let mut counts = [0; Face::COUNT];
    let mut last = 0;
    for quad in quads.quads() {
        let facing = quad.face().expect("a facing").index();
        assert!(last <= facing, "facings out of order");
        last = facing;
        counts[facing] += 1;
    }
    assert_eq!(counts, quads.counts());
}
