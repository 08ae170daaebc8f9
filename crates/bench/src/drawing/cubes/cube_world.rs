//! The world as cubes. Only cubes with a visible face are drawn.

use drystone_mesh::{Cube, Face, FaceSet};
use drystone_render::{CubeId, Device, InstancedRenderer, RenderError, Renderer};
use drystone_voxel::{Material, VoxelPos};

use super::{Followed, changes::Change};
use crate::drawing::scene::{RandomScene, chunk_positions, draw_data};

/// Voxels with a border of air, and the cube of each drawn voxel.
pub(super) struct CubeWorld<D: Device> {
    renderer: InstancedRenderer<D>,
    /// Voxels along each axis, with the border.
    size: [usize; 3],
    side: u32,
    /// Chunks along each axis.
    chunks: [u32; 3],
    /// Slot of the first chunk. The slots of the others follow.
    first_region: u32,
    voxels: Vec<Material>,
    cubes: Vec<Option<CubeId>>,
}

impl<D: Device> CubeWorld<D> {
    pub(super) fn new(
        mut renderer: InstancedRenderer<D>,
        scene: &RandomScene,
    ) -> Result<Self, RenderError> {
        let materials = scene.world.materials();
        let colors: Vec<_> = materials.iter().map(|(_, kind)| kind.color).collect();
        renderer.set_palette(&colors)?;
        let (side, chunks) = (scene.world.side(), scene.chunks);
        let mut first_region = None;
        for position in chunk_positions(chunks) {
            let region = renderer.insert_region(draw_data(position, side))?;
            first_region.get_or_insert(region.slot());
        }
        let size = chunks.map(|count| (count * side) as usize + 2);
        let volume = size.iter().product();
        let mut world = Self {
            renderer,
            size,
            side,
            chunks,
            first_region: first_region.unwrap_or_default(),
            voxels: vec![Material::AIR; volume],
            cubes: vec![None; volume],
        };
        for (voxel, material) in scene.voxels() {
            world.set(voxel, material)?;
        }
        Ok(world)
    }

    /// Sets a voxel, and updates its cube and those of its neighbours.
    fn set(&mut self, voxel: VoxelPos, material: Material) -> Result<(), RenderError> {
        let at = self.index(voxel);
        let old = std::mem::replace(&mut self.voxels[at], material);
        self.show(voxel, at)?;
        if old.is_air() == material.is_air() {
            return Ok(());
        }
        for face in Face::ALL {
            let neighbour = self.neighbour(at, face);
            if !self.voxels[neighbour].is_air() {
                let [dx, dy, dz] = face.normal();
                self.show(VoxelPos::new(voxel.x + dx, voxel.y + dy, voxel.z + dz), neighbour)?;
            }
        }
        Ok(())
    }

    /// Shows or hides the cube of a voxel.
    fn show(&mut self, voxel: VoxelPos, at: usize) -> Result<(), RenderError> {
        let material = self.voxels[at];
        let is_visible = |face: &Face| self.voxels[self.neighbour(at, *face)].is_air();
        let faces: FaceSet = Face::ALL.into_iter().filter(is_visible).collect();
        let is_drawn = !material.is_air() && faces != FaceSet::EMPTY;
        match (self.cubes[at], is_drawn) {
            (None, false) => {}
            (None, true) => {
                let cube = self.cube(voxel, faces, material);
                self.cubes[at] = Some(self.renderer.insert_cube(cube)?);
            }
            (Some(id), true) => {
                self.renderer.set_cube(id, self.cube(voxel, faces, material))?;
            }
            (Some(id), false) => {
                self.renderer.remove_cube(id)?;
                self.cubes[at] = None;
            }
        }
        Ok(())
    }

    fn cube(&self, voxel: VoxelPos, faces: FaceSet, material: Material) -> Cube {
        let [x, y, z] = voxel.to_array().map(|c| c as u32);
        let [cx, cy, cz] = [x, y, z].map(|c| c / self.side);
        let region = self.first_region + cx + self.chunks[0] * (cy + self.chunks[1] * cz);
        Cube::new([x, y, z].map(|c| c % self.side), faces, material.0, region)
    }

    fn index(&self, voxel: VoxelPos) -> usize {
        let [x, y, z] = voxel.to_array().map(|c| (c + 1) as usize);
        x + self.size[0] * (y + self.size[1] * z)
    }

    fn neighbour(&self, at: usize, face: Face) -> usize {
        let step = [1, self.size[0], self.size[0] * self.size[1]][face.axis()];
        if face.is_positive() { at + step } else { at - step }
    }
}

impl<D: Device> Followed for CubeWorld<D> {
    fn follow(&mut self, changes: &[Change]) -> Result<(), RenderError> {
        changes.iter().try_for_each(|change| self.set(change.voxel, change.material))
    }

    fn renderer(&mut self) -> &mut dyn Renderer {
        &mut self.renderer
    }
}
