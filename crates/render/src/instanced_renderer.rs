use drystone_alloc::{Handle, Slots};
use drystone_mesh::{Cube, FaceSet};
use drystone_pool::{MeshHandle, PoolError};

use crate::{
    device::{Device, DeviceInfo, Output, Submitted, sealed::Sealed},
    draw_data::DrawData,
    error::RenderError,
    mesh_data::{CubesMark, Layer, MeshData, MeshId, Owner, next_renderer},
    passes::{Batch, Passes, ShadowPass},
    pool_renderer::totals,
    renderer::{DrawStats, HeldStats, Renderer},
    shadows::ShadowCache,
    view::View,
    visibility::Visibility,
};

mod cubes;
mod meshes;

mod quad_meshes;
mod regions;
mod segments;
mod slots;
#[cfg(test)]
mod tests;
mod unit_cubes;

use self::{meshes::CubeMesh, quad_meshes::QuadMeshes, regions::Regions, segments::Segments};

pub use self::{
    cubes::{CubeBuffer, CubeId},
    regions::RegionId,
    slots::SlotPolicy,
};

/// Draws the world cube by cube: one entry of 8 bytes for each visible voxel, in one buffer, in any
/// order.
///
/// ```text
/// insert_cube ─► lowest free slot ─► 8 bytes ─┐   draw: changes are uploaded
/// set_cube ────► same slot ────────► 8 bytes ─┼─► in blocks of 64 entries
/// remove_cube ─► slot is freed ────► nothing ─┘
///
/// buffer   ■ ■ · ■ ■ ■ · ■ ■ | · · ·    · draws nothing, and is reused next
/// drawn: all before | the high-water mark
/// ```
/// Cubes are inserted, removed and changed one by one and in any order, without meshing. The cost
/// of a cube does not depend on its neighbours. The price is in drawing. A slot is drawn as three
/// quads of twelve vertices with the index pattern for quads. For each axis, the vertex shader
/// selects the face that can point towards the camera, and moves hidden faces out of the picture.
/// So a cube takes a third of the work of six faces. It needs no second index pattern, and no
/// instance for each cube, which would cost a vertex batch each. But a merged quad can cover
/// hundreds of cubes.
///
/// Meshes are split: [`insert`](Renderer::insert) makes cubes from the quads, and
/// [`replace`](Renderer::replace) changes only the cubes that differ.
/// [`set_cubes`](Renderer::set_cubes) changes single cubes of a mesh: an edited voxel changes at
/// most its own cube and the six beside it.
///
/// # Cost
/// Some ten nanoseconds for each inserted, changed or removed cube, and its share of an upload. A
/// picture: twelve vertices for each slot. 12 bytes of memory for each slot, and 8 bytes on the
/// GPU.
///
/// # Limits
/// Translucent meshes are stored as quads and drawn farthest first, as in the pool renderer,
/// because cubes in any order cannot blend. So are opaque meshes of [fine](drystone_mesh::Quad::fine)
/// quads only. Quads with ambient occlusion are refused (`NotCubes`):
/// the corners of six faces take 48 bits, and none of a cube's 64 bits is free. Cubes outside the
/// view frustum are drawn too.
pub struct InstancedRenderer<D: Device> {
    device: D,
    /// Unique among instanced renderers; detects meshes of other renderers.
    id: u32,
    policy: SlotPolicy,
    cubes: CubeBuffer,
    regions: Regions,
    shadows: ShadowCache,
    segments: Segments<D::Geometry>,
    meshes: Slots<CubeMesh>,
    translucent: QuadMeshes<D::Geometry>,
    /// Opaque meshes of fine quads.
    shapes: QuadMeshes<D::Geometry>,
    /// Counts of the last picture.
    drawn: DrawStats,
}

impl<D: Device> InstancedRenderer<D> {
    /// Creates a renderer without cubes.
    ///
    /// # Errors
    /// `Pool` when the device cannot hold any quads.
    pub fn new(device: D, policy: SlotPolicy) -> Result<Self, RenderError> {
        let max_entries = device.info().max_quads;
        Ok(Self {
            device,
            id: next_renderer(),
            policy,
            cubes: CubeBuffer::new(policy),
            regions: Regions::new(),
            shadows: ShadowCache::default(),
            segments: Segments::new(max_entries),
            meshes: Slots::new(),
            translucent: QuadMeshes::new(max_entries, Layer::Blended)?,
            shapes: QuadMeshes::new(max_entries, Layer::Opaque)?,
            drawn: DrawStats::default(),
        })
    }

    /// Inserts a region: the origin and level for the positions of the cubes that contain its slot.
    ///
    /// # Errors
    /// `BadTransform` when its level is above [`DrawData::MAX_LEVEL`], `Pool` after 2²⁴ regions,
    /// `Device` when the device is out of memory.
    pub fn insert_region(&mut self, data: DrawData) -> Result<RegionId, RenderError> {
        data.check()?;
        let region = self.regions.insert(data)?;
        let slot = (region.slot(), &data);
        let written = self.segments.write_region(&mut self.device, slot, &self.regions);
        if written.is_err() {
            self.regions.remove(region)?;
        }
        written.map(|()| region)
    }

    /// Moves a region with all its cubes.
    ///
    /// # Errors
    /// `BadTransform` when its level is above [`DrawData::MAX_LEVEL`], `NoRegion` when it was
    /// already removed.
    pub fn set_region(&mut self, region: RegionId, data: DrawData) -> Result<(), RenderError> {
        data.check()?;
        self.regions.set(region, data)?;
        let slot = (region.slot(), &data);
        self.segments.write_region(&mut self.device, slot, &self.regions)
    }

    /// Removes a region without cubes.
    ///
    /// # Errors
    /// `NoRegion` when it was already removed, `RegionInUse`.
    pub fn remove_region(&mut self, region: RegionId) -> Result<(), RenderError> {
        self.regions.remove(region)
    }

    /// Inserts a cube. It is drawn opaque for any colour of its material.
    ///
    /// # Errors
    /// `NoRegion`, or the device's error when it is out of memory. After an error nothing has
    /// changed. If the program itself is out of memory, it aborts as with a vector.
    #[inline]
    pub fn insert_cube(&mut self, cube: Cube) -> Result<CubeId, RenderError> {
        self.regions.add_cube(cube.region())?;
        let Ok(id) = self.cubes.insert(cube) else {
            self.regions.remove_cube(cube.region());
            return Err(PoolError::SlotsFull { capacity: u32::MAX }.into());
        };
        if u64::from(id.slot()) >= self.segments.capacity() {
            self.grow_for(id)?;
        }
        Ok(id)
    }

    /// Replaces a cube, and returns the old one.
    ///
    /// # Errors
    /// `NoRegion`, `StaleCube`. After an error nothing has changed.
    #[inline]
    pub fn set_cube(&mut self, id: CubeId, cube: Cube) -> Result<Cube, RenderError> {
        self.regions.add_cube(cube.region())?;
        let old = self.cubes.set(id, cube);
        let gone = *old.as_ref().unwrap_or(&cube);
        self.regions.remove_cube(gone.region());
        old.map_err(|_| RenderError::StaleCube)
    }

    /// Removes a cube, and returns it.
    ///
    /// # Errors
    /// `StaleCube` when it was already removed.
    #[inline]
    pub fn remove_cube(&mut self, id: CubeId) -> Result<Cube, RenderError> {
        let old = self.cubes.remove(id).map_err(|_| RenderError::StaleCube)?;
        self.regions.remove_cube(old.region());
        Ok(old)
    }

    /// The cubes, indexed by slot.
    pub const fn cubes(&self) -> &CubeBuffer {
        &self.cubes
    }

    /// Grows the device's buffer for a cube that was just inserted. Removes the cube if that fails.
    #[cold]
    fn grow_for(&mut self, id: CubeId) -> Result<(), RenderError> {
        while u64::from(id.slot()) >= self.segments.capacity() {
            let first = self.segments.capacity() as u32;
            if let Err(error) = self.segments.grow(&mut self.device, &self.regions) {
                self.remove_cube(id)?;
                return Err(error);
            }
            // Cubes that were written before the segment existed.
            self.cubes.touch_all(first..self.segments.capacity() as u32);
        }
        Ok(())
    }

    /// Uploads the changes to the device.
    fn upload(&mut self) {
        let Self { device, cubes, segments, .. } = self;
        segments.shrink(cubes.high_water());
        cubes.take_changes(|first, changed| segments.write(device, first, changed));
    }

    fn submit(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        let DeviceInfo { size: [width, height], .. } = self.device.info();
        let visibility = Visibility::new(&view.camera, width as f32 / height.max(1) as f32);
        let frame = view.frame(width, height);
        self.regions.take_changed(|region| self.shadows.changed(region));
        let plan = self.shadows.plan(view, [width, height], self.device.kept_shadows());
        let plan = plan.as_ref();
        let redrawn = plan.map_or(&[][..], |plan| &plan.redrawn);
        let seen = (view, &visibility);
        let blended = self.translucent.batches(&mut self.device, seen, &[])?.scene;
        let mut shapes = self.shapes.batches(&mut self.device, seen, redrawn)?;
        self.segments.prepare(self.cubes.high_water());
        let segments = &self.segments;
        let mut opaque: Vec<Batch<'_, _>> = segments.batches().collect();
        opaque.append(&mut shapes.scene);
        let mut shapes = shapes.casters.into_iter();
        let shadows = plan.map(|plan| {
            ShadowPass::new(plan, |_| {
                segments.batches().chain(shapes.next().unwrap_or_default()).collect()
            })
        });
        let (opaque, blended, shadows) = (&opaque, &blended, shadows.as_ref());
        let passes = Passes { opaque, blended, shadows, bloom: view.bloom, ..Passes::default() };
        let Submitted { frame, shown } = self.device.draw(&frame, &passes)?;
        let drawn = totals(&passes);
        self.translucent.submitted(frame);
        self.shapes.submitted(frame);
        let quads = self.translucent.visible() + self.shapes.visible();
        let meshes = self.meshes.len() + quads as u32;
        Ok(DrawStats { meshes, shown, ..drawn })
    }
}

/// A mesh of this renderer.
enum Own {
    Cubes(Handle<CubeMesh>),
    Quads(MeshHandle, Layer),
}

impl<D: Device> InstancedRenderer<D> {
    fn own(&self, id: MeshId) -> Result<Own, RenderError> {
        match id.0 {
            Owner::Cubes(renderer, handle) if renderer == self.id => Ok(Own::Cubes(handle.cast())),
            Owner::Quads(handle, layer) => Ok(Own::Quads(handle, layer)),
            _ => Err(RenderError::StaleMesh),
        }
    }

    /// Changes a mesh of cubes.
    fn change_own(
        &mut self,
        handle: Handle<CubeMesh>,
        change: impl FnOnce(&mut Self, &mut CubeMesh) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        let mesh = self.meshes.get_mut(handle).ok_or(RenderError::StaleMesh)?;
        let mut taken = CubeMesh { region: mesh.region, cubes: std::mem::take(&mut mesh.cubes) };
        let changed = change(self, &mut taken);
        if let Some(mesh) = self.meshes.get_mut(handle) {
            mesh.cubes = taken.cubes;
        }
        changed
    }
}

impl<D: Device> Sealed for InstancedRenderer<D> {}

impl<D: Device> Renderer for InstancedRenderer<D> {
    fn name(&self) -> &'static str {
        self.policy.renderer_name()
    }

    fn output(&mut self) -> &mut dyn Output {
        &mut self.device
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        let is_fine = !mesh.quads.is_empty() && mesh.quads.iter().all(|quad| quad.is_fine());
        if mesh.layer == Layer::Blended || is_fine {
            let handle = match mesh.layer {
                Layer::Blended => self.translucent.insert(&mut self.device, mesh)?,
                Layer::Opaque => {
                    let handle = self.shapes.insert(&mut self.device, mesh)?;
                    self.shadows.changed(&mesh.draw_data);
                    handle
                }
            };
            return Ok(MeshId(Owner::Quads(handle, mesh.layer)));
        }
        let cubes = self.insert_mesh(mesh)?;
        let full = |_| PoolError::SlotsFull { capacity: u32::MAX };
        let handle: Handle<CubesMark> = self.meshes.insert(cubes).map_err(full)?.cast();
        Ok(MeshId(Owner::Cubes(self.id, handle)))
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        match self.own(id)? {
            Own::Quads(handle, Layer::Blended) => {
                self.translucent.replace(&mut self.device, (handle, mesh))
            }
            Own::Quads(handle, Layer::Opaque) => {
                let old = self.shapes.data(handle);
                self.shapes.replace(&mut self.device, (handle, mesh))?;
                old.iter().chain([&mesh.draw_data]).for_each(|data| self.shadows.changed(data));
                Ok(())
            }
            Own::Cubes(handle) => self
                .change_own(handle, |own, old| own.replace_mesh(old.region, &mut old.cubes, mesh)),
        }
    }

    fn has_cubes(&self) -> bool {
        true
    }

    fn set_cubes(&mut self, id: MeshId, cubes: &[Cube]) -> Result<(), RenderError> {
        let Own::Cubes(handle) = self.own(id)? else {
            return Err(RenderError::NotCubes { reason: "the mesh is not of cubes" });
        };
        // Removed cubes come first, so that new ones fill their slots.
        let is_gone = |cube: &&Cube| cube.faces() == FaceSet::EMPTY;
        let drawn = cubes.iter().filter(|cube| !is_gone(cube));
        let mut sorted = cubes.iter().filter(is_gone).chain(drawn);
        self.change_own(handle, |own, mesh| {
            sorted.try_for_each(|&cube| own.set_mesh_cube(mesh, cube))
        })
    }

    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        match self.own(id)? {
            Own::Quads(handle, Layer::Blended) => self.translucent.remove(handle),
            Own::Quads(handle, Layer::Opaque) => {
                self.shapes.data(handle).iter().for_each(|data| self.shadows.changed(data));
                self.shapes.remove(handle)
            }
            Own::Cubes(handle) => {
                let mesh = self.meshes.remove(handle).ok_or(RenderError::StaleMesh)?;
                self.remove_mesh(mesh)
            }
        }
    }

    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.translucent.release(&mut self.device);
        self.shapes.release(&mut self.device);
        self.upload();
        self.drawn = self.submit(view)?;
        Ok(self.drawn)
    }

    fn drawn(&mut self) -> DrawStats {
        self.drawn
    }

    fn held(&self) -> HeldStats {
        let (translucent, shapes) = (self.translucent.stats(), self.shapes.stats());
        let cube_bytes = size_of::<Cube>() as u64;
        let commands = segments::command_count(self.cubes.high_water());
        HeldStats {
            meshes: self.meshes.len() + translucent.meshes + shapes.meshes,
            commands: commands + self.translucent.command_count() + self.shapes.command_count(),
            used_bytes: u64::from(self.cubes.len()) * cube_bytes
                + translucent.used_bytes
                + shapes.used_bytes,
            reserved_bytes: self.segments.capacity() * cube_bytes
                + translucent.capacity_bytes
                + shapes.capacity_bytes,
        }
    }
}
