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
    let plain = Quad::new(low, [width, height], face, quad.material());
    if quad.with_steps([0; 2]) != plain {
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
mod tests;
