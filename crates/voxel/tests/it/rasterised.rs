use drystone_mesh::{Face, Quad, QuadBuffer};
use drystone_voxel::ChunkMesh;

/// Unit faces that a mesh covers: the material of each, by buffer, face direction and position.
#[derive(PartialEq)]
pub(crate) struct Rasterised {
    side: u32,
    /// Material plus one; zero for no face.
    faces: Vec<u32>,
}

impl Rasterised {
    /// Fails if a quad extends out of the chunk or overlaps another, if face directions are out of
    /// order, or if counts are wrong.
    pub(crate) fn new(mesh: &ChunkMesh, side: u32) -> Self {
        let faces = vec![0; 2 * Face::COUNT * (side * side * side) as usize];
        let mut rasterised = Self { side, faces };
        for (buffer, quads) in [&mesh.opaque, &mesh.translucent].into_iter().enumerate() {
            check_face_order(quads);
            for &quad in quads.quads() {
                rasterised.add(buffer, quad);
            }
        }
        rasterised
    }

    fn add(&mut self, buffer: usize, quad: Quad) {
        let face = quad.face().expect("a face direction");
        let [width, height] = quad.size();
        for v in 0..height {
            for u in 0..width {
                let mut position = quad.position();
                position[face.span_axes()[0]] += u;
                position[face.span_axes()[1]] += v;
                assert!(position.iter().all(|&c| c < self.side), "{quad:?} leaves the chunk");
                let index = self.index(buffer, face, position);
                assert_eq!(self.faces[index], 0, "{quad:?} overlaps another quad");
                self.faces[index] = u32::from(quad.material()) + 1;
            }
        }
    }

    fn index(&self, buffer: usize, face: Face, [x, y, z]: [u32; 3]) -> usize {
        let n = self.side as usize;
        let [x, y, z] = [x, y, z].map(|c| c as usize);
        (buffer * Face::COUNT + face.index()) * n * n * n + x + n * (y + n * z)
    }

    /// Describes the first difference.
    pub(crate) fn difference(&self, expected: &Self) -> Option<String> {
        let mut pairs = self.faces.iter().zip(&expected.faces);
        let index = pairs.position(|(actual, expected)| actual != expected)?;
        let n = self.side as usize;
        let [x, y, z] = [index % n, index / n % n, index / n / n % n];
        let direction = index / (n * n * n);
        Some(format!(
            "buffer {}, {:?} at {x} {y} {z}: material + 1 is {}, should be {}",
            direction / Face::COUNT,
            Face::ALL[direction % Face::COUNT],
            self.faces[index],
            expected.faces[index]
        ))
    }
}

fn check_face_order(quads: &QuadBuffer) {
    let mut counts = [0; Face::COUNT];
    let mut last = 0;
    for quad in quads.quads() {
        let index = quad.face().expect("a face direction").index();
        assert!(last <= index, "face directions are out of order");
        last = index;
        counts[index] += 1;
    }
    assert_eq!(counts, quads.counts());
}
