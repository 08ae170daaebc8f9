use super::*;
use crate::{DrawData, Layer};

/// The quads of cubes, one for each face.
fn faces_of(cubes: &[Cube]) -> Vec<Quad> {
    let faces = |cube: &Cube| {
        let cube = *cube;
        let seen = Face::ALL.into_iter().filter(move |face| cube.faces().contains(*face));
        seen.map(move |face| cube.quad(face))
    };
    cubes.iter().flat_map(faces).collect()
}

fn mesh(quads: &[Quad]) -> MeshData<'_> {
    let counts =
        Face::ALL.map(|face| quads.iter().filter(|quad| quad.face() == Some(face)).count() as u32);
    MeshData { quads, counts, draw_data: DrawData::default(), layer: Layer::Opaque }
}

#[test]
fn a_box_becomes_cubes_with_its_outer_faces() {
    let size = [3, 4, 5];
    let quads = Face::ALL.map(|face| {
        let mut position = [10, 20, 30];
        if face.is_positive() {
            position[face.axis()] += size[face.axis()] - 1;
        }
        let [u, v] = face.span_axes();
        Quad::new(position, [size[u], size[v]], face, 6)
    });
    let cubes = unit_cubes(&mesh(&quads), 9).unwrap();
    assert_eq!(cubes.len(), 3 * 4 * 5 - 2 * 3);
    assert!(cubes.iter().all(|cube| cube.material() == 6 && cube.region() == 9));
    let corner = cubes.iter().find(|cube| cube.position() == [10, 20, 30]).unwrap();
    assert_eq!(corner.faces(), FaceSet::from_iter([Face::NegX, Face::NegY, Face::NegZ]));
    assert_eq!(faces_of(&cubes).len(), 2 * (3 * 4 + 3 * 5 + 4 * 5));
}

#[test]
fn duplicate_faces_make_two_cubes() {
    let quad = Quad::new([1, 2, 3], [1, 1], Face::PosX, 4);
    let other = Quad::new([1, 2, 3], [1, 1], Face::PosY, 5);
    let cubes = unit_cubes(&mesh(&[quad, quad, other]), 0).unwrap();
    assert_eq!(faces_of(&cubes), [quad, quad, other]);
}

#[test]
fn quads_that_are_not_cube_faces_are_refused() {
    let long = Quad::new([60, 0, 0], [1, 5], Face::PosZ, 1);
    let reaching = Quad::new([60, 0, 0], [5, 1], Face::PosZ, 1);
    let no_facing: Quad = bytemuck::cast([0u32, 7]);
    let shaded: Quad = bytemuck::cast([0u32, 1 << 3]);
    assert!(unit_cubes(&mesh(&[long]), 0).is_ok());
    for quad in [reaching, no_facing, shaded] {
        let refused = unit_cubes(&mesh(&[quad]), 0);
        assert!(matches!(refused, Err(RenderError::NotCubes { .. })), "{quad:?}");
    }
}
