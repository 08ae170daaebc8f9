use std::cmp::Ordering;

use drystone_mesh::{Cube, Face, FaceSet};
use drystone_pool::PoolError;

use super::{CubeId, InstancedRenderer, RegionId, unit_cubes::unit_cubes};
use crate::{device::Device, error::RenderError, mesh_data::MeshData};

/// The cubes of a mesh, sorted by position, in their own region.
#[derive(Debug)]
pub(super) struct CubeMesh {
    pub(super) region: RegionId,
    pub(super) cubes: Vec<(Cube, CubeId)>,
}

impl<D: Device> InstancedRenderer<D> {
    /// Inserts the cubes of a mesh, all or none.
    pub(super) fn insert_mesh(&mut self, mesh: &MeshData<'_>) -> Result<CubeMesh, RenderError> {
        check(mesh)?;
        let region = self.insert_region(mesh.draw_data)?;
        let mut cubes = Vec::new();
        match self.change_mesh(region, &mut cubes, mesh) {
            Ok(()) => Ok(CubeMesh { region, cubes }),
            Err(error) => {
                self.remove_region(region)?;
                Err(error)
            }
        }
    }

    /// Replaces the cubes and the draw data of a region by those of `mesh`. After an error, nothing
    /// has changed. The last step, which writes the draw data, cannot fail: the table on the device
    /// has a slot for each region.
    pub(super) fn replace_mesh(
        &mut self,
        region: RegionId,
        cubes: &mut Vec<(Cube, CubeId)>,
        mesh: &MeshData<'_>,
    ) -> Result<(), RenderError> {
        check(mesh)?;
        self.change_mesh(region, cubes, mesh)?;
        self.set_region(region, mesh.draw_data)
    }

    /// Removes the cubes of a mesh and its region.
    pub(super) fn remove_mesh(&mut self, mesh: CubeMesh) -> Result<(), RenderError> {
        for (_, id) in mesh.cubes {
            self.remove_cube(id)?;
        }
        self.remove_region(mesh.region)
    }

    /// Sets the cube at one position of a mesh; one without faces removes it. Cubes that are equal
    /// already are not uploaded.
    ///
    /// # Cost
    /// A binary search, and a move of the list behind a cube that appears or disappears.
    pub(super) fn set_mesh_cube(
        &mut self,
        mesh: &mut CubeMesh,
        cube: Cube,
    ) -> Result<(), RenderError> {
        let CubeMesh { region, cubes } = mesh;
        let (position, faces) = (cube.position(), cube.faces());
        let cube = Cube::new(position, faces, cube.material(), region.slot());
        let first = cubes.partition_point(|(old, _)| old.position() < position);
        // Quads of several materials can share a position.
        let count = cubes[first..].iter().take_while(|(old, _)| old.position() == position).count();
        let kept = usize::from(count > 0 && faces != FaceSet::EMPTY);
        for (_, id) in cubes.drain(first + kept..first + count) {
            self.remove_cube(id)?;
        }
        match cubes.get_mut(first) {
            _ if faces == FaceSet::EMPTY => {}
            Some((old, id)) if kept > 0 => {
                if *old != cube {
                    self.set_cube(*id, cube)?;
                    *old = cube;
                }
            }
            _ => {
                let id = self.insert_cube(cube)?;
                cubes.insert(first, (cube, id));
            }
        }
        Ok(())
    }

    /// Inserts, changes and removes the cubes that differ. Fallible steps come first.
    fn change_mesh(
        &mut self,
        region: RegionId,
        cubes: &mut Vec<(Cube, CubeId)>,
        mesh: &MeshData<'_>,
    ) -> Result<(), RenderError> {
        let new = unit_cubes(mesh, region.slot())?;
        let mut pairs = pair_up(cubes, &new);
        let mut inserted = Vec::new();
        for pair in pairs.iter_mut().filter(|pair| pair.old.is_none()) {
            let Some(cube) = pair.new else { continue };
            match self.insert_cube(cube) {
                Ok(id) => {
                    pair.old = Some((cube, id));
                    inserted.push(id);
                }
                Err(error) => {
                    for id in inserted {
                        self.remove_cube(id)?;
                    }
                    return Err(error);
                }
            }
        }
        cubes.clear();
        for Pair { old, new } in pairs {
            match (old, new) {
                (Some((_, id)), None) => drop(self.remove_cube(id)?),
                (Some((old, id)), Some(new)) => {
                    if old != new {
                        self.set_cube(id, new)?;
                    }
                    cubes.push((new, id));
                }
                (None, _) => {}
            }
        }
        Ok(())
    }
}

/// An existing cube, and the new cube at its position.
struct Pair {
    old: Option<(Cube, CubeId)>,
    new: Option<Cube>,
}

/// Pairs up cubes with equal positions. Both lists are sorted by position.
fn pair_up(old: &[(Cube, CubeId)], new: &[Cube]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    let (mut old, mut new) = (old.iter().copied().peekable(), new.iter().copied().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old, _)), Some(new)) => old.position().cmp(&new.position()),
        };
        pairs.push(Pair {
            old: if order.is_le() { old.next() } else { None },
            new: if order.is_ge() { new.next() } else { None },
        });
    }
}

fn check(mesh: &MeshData<'_>) -> Result<(), RenderError> {
    mesh.check_draw_data()?;
    let counted: u64 = mesh.counts.iter().map(|&count| u64::from(count)).sum();
    if counted == mesh.quads.len() as u64 {
        return Ok(());
    }
    let (elements, parts) = (mesh.quads.len(), Face::COUNT);
    Err(PoolError::PartsMismatch { elements, counted, parts }.into())
}
