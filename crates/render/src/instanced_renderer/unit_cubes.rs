use drystone_mesh::{Cube, Face, FaceSet, Quad};

use crate::{error::RenderError, mesh_data::MeshData};

/// Splits the quads of a mesh into cubes, sorted by position, all in one region.
///
/// # Errors
/// `NotCubes` when a quad is not a rectangle of cube faces.
pub(super) fn unit_cubes(mesh: &MeshData<'_>, region: u32) -> Result<Vec<Cube>, RenderError> {
    let mut area = 0;
    for quad in mesh.quads {
        checked_face(*quad)?;
        area += quad.size().map(|c| c as usize).iter().product::<usize>();
    }
    let mut faces: Vec<Cube> = Vec::with_capacity(area);
    for quad in mesh.quads {
        push_faces(*quad, checked_face(*quad)?, region, &mut faces);
    }
    // Sort by position and material, so that the faces of a cube are adjacent.
    faces.sort_unstable_by_key(|cube| (cube.position(), cube.material(), cube.faces().bits()));
    let mut cubes: Vec<Cube> = Vec::new();
    for face in faces {
        match cubes.last_mut() {
            // A duplicate face makes a second cube, as it would be a second quad.
            Some(cube) if is_another_face(*cube, face) => {
                let all = cube.faces().bits() | face.faces().bits();
                *cube = cube.with_faces(FaceSet::from_bits(all));
            }
            _ => cubes.push(face),
        }
    }
    Ok(cubes)
}

fn is_another_face(cube: Cube, face: Cube) -> bool {
    cube.with_faces(FaceSet::EMPTY) == face.with_faces(FaceSet::EMPTY)
        && cube.faces().bits() & face.faces().bits() == 0
}

/// Face direction of a quad that can be split into cube faces.
fn checked_face(quad: Quad) -> Result<Face, RenderError> {
    let refused = |reason| Err(RenderError::NotCubes { reason });
    let Some(face) = quad.face() else { return refused("a quad has no face direction") };
    let ([width, height], [u, v]) = (quad.size(), face.span_axes());
    let low = quad.position();
    if low[u] + width > Quad::MAX_SIDE || low[v] + height > Quad::MAX_SIDE {
        return refused("a quad reaches outside 64 voxels");
    }
    if quad != Quad::new(low, [width, height], face, quad.material()) {
        return refused("a quad has ambient occlusion, which cubes do not support");
    }
    Ok(face)
}

/// Appends a cube with one face for each unit square of a quad.
fn push_faces(quad: Quad, face: Face, region: u32, faces: &mut Vec<Cube>) {
    let ([width, height], [u, v]) = (quad.size(), face.span_axes());
    let low = quad.position();
    for (along, across) in (0..height).flat_map(|b| (0..width).map(move |a| (a, b))) {
        let mut position = low;
        position[u] += along;
        position[v] += across;
        faces.push(Cube::new(position, FaceSet::from_iter([face]), quad.material(), region));
    }
}

#[cfg(test)]
mod tests {
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
        let counts = Face::ALL
            .map(|face| quads.iter().filter(|quad| quad.face() == Some(face)).count() as u32);
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
}
