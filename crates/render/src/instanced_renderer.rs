use drystone_alloc::{Handle, Slots};
use drystone_mesh::Cube;
use drystone_pool::{MeshHandle, PoolError};

use crate::{
    Batch, Cull, Device, DrawData, DrawStats, HeldStats, Image, Layer, MeshData, MeshId, Overlay,
    Passes, RenderError, Renderer, View, Visibility,
    pool_renderer::quad_count,
    renderer::{CubesMark, Owner, next_renderer},
};

mod beside;
mod cubes;
mod meshes;
mod places;
mod regions;
mod segments;
#[cfg(test)]
mod tests;
mod unit_cubes;

use self::{beside::Beside, meshes::CubeMesh, regions::Regions, segments::Segments};

pub use self::{
    cubes::{CubeBuffer, CubeId},
    places::SlotPolicy,
    regions::RegionId,
};

/// Draws the world cube by cube: one entry of 8 bytes for each voxel that can be seen, in one
/// buffer, in any order.
///
/// ```text
///  insert_cube ─► lowest free place ─► 8 bytes ─┐ draw: what has changed goes up,
///  set_cube ────► the same place ─────► 8 bytes ─┼─► blocks of 64 at a time
///  remove_cube ─► the place is free ──► nothing ─┘
///
///  buffer   ■ ■ · ■ ■ ■ · ■ ■ | · · ·       · draws nothing and is the next to be taken
///           drawn: all before | the high-water mark
/// ```
/// Cubes appear, vanish and change one by one and in any order, and nothing is meshed again:
/// what a cube costs does not depend on what is around it. The price is in drawing. A place
/// is three quads (of the two facings across an axis the vertex shader takes the one that can
/// look towards the eye) from twelve vertices, which the same index pattern numbers that
/// quads are pulled by; hidden ones are moved out of the picture. So a cube takes a third
/// of the work that six faces would, without a second pattern or an instance a cube, which
/// costs a vertex batch each; but a merged quad may stand for hundreds of cubes.
///
/// Meshes are taken apart: [`insert`](Renderer::insert) makes the cubes whose faces the quads
/// are, and [`replace`](Renderer::replace) touches only those that differ.
///
/// # Cost
/// A cube that comes, changes or goes: some ten nanoseconds, and its share of an upload. A
/// picture: twelve vertices a place. 12 bytes of memory a place, and 8 of the GPU's.
///
/// # Limits
/// Translucent meshes are kept as quads and drawn farthest first, as the pool's are: places
/// in any order cannot blend. Quads that are shaded by what is near are refused (`NotCubes`):
/// six faces' corners take 48 bits, and of a cube's 64 none is to spare. What is behind the eye or hidden is not left out.
pub struct InstancedRenderer<D: Device> {
    device: D,
    /// Told apart from all other instanced renderers, so that their meshes are.
    id: u32,
    policy: SlotPolicy,
    cubes: CubeBuffer,
    regions: Regions,
    segments: Segments<D::Geometry>,
    meshes: Slots<CubeMesh>,
    beside: Beside<D::Geometry>,
    /// What the last picture took.
    drawn: DrawStats,
}

impl<D: Device> InstancedRenderer<D> {
    /// A renderer without cubes.
    ///
    /// # Errors
    /// `Pool` where the device holds no quads at all.
    pub fn new(device: D, policy: SlotPolicy) -> Result<Self, RenderError> {
        let max_entries = device.max_quads();
        Ok(Self {
            device,
            id: next_renderer(),
            policy,
            cubes: CubeBuffer::new(policy),
            regions: Regions::new(),
            segments: Segments::new(max_entries),
            meshes: Slots::new(),
            beside: Beside::new(max_entries)?,
            drawn: DrawStats::default(),
        })
    }

    /// Makes a region: where the places of cubes that name its slot count from.
    ///
    /// # Errors
    /// `BadTransform` where its level is above [`DrawData::MAX_LEVEL`], `Pool` after 2²⁴ regions,
    /// `Device` when it is out of memory.
    pub fn insert_region(&mut self, place: DrawData) -> Result<RegionId, RenderError> {
        place.check()?;
        let region = self.regions.insert(place)?;
        let slot = (region.slot(), &place);
        let written = self.segments.write_region(&mut self.device, slot, &self.regions);
        if written.is_err() {
            self.regions.remove(region)?;
        }
        written.map(|()| region)
    }

    /// Moves a region, and all cubes in it.
    ///
    /// # Errors
    /// `BadTransform` where its level is above [`DrawData::MAX_LEVEL`], `NoRegion` when it was
    /// removed before.
    pub fn set_region(&mut self, region: RegionId, place: DrawData) -> Result<(), RenderError> {
        place.check()?;
        self.regions.set(region, place)?;
        let slot = (region.slot(), &place);
        self.segments.write_region(&mut self.device, slot, &self.regions)
    }

    /// Takes a region out in which no cube lies.
    ///
    /// # Errors
    /// `NoRegion` when it was removed before, `RegionInUse`.
    pub fn remove_region(&mut self, region: RegionId) -> Result<(), RenderError> {
        self.regions.remove(region)
    }

    /// Takes a cube in. It is opaque, whatever its material's colour.
    ///
    /// # Errors
    /// `NoRegion`, or what the device says when it has no room; nothing has changed then.
    /// Without memory of the program's own it ends as a vector would.
    #[inline]
    pub fn insert_cube(&mut self, cube: Cube) -> Result<CubeId, RenderError> {
        self.regions.add_cube(cube.region())?;
        let Ok(id) = self.cubes.insert(cube) else {
            self.regions.take_cube(cube.region());
            return Err(PoolError::SlotsFull { capacity: u32::MAX }.into());
        };
        if u64::from(id.place()) >= self.segments.places() {
            self.make_room(id)?;
        }
        Ok(id)
    }

    /// Puts another cube in a cube's place, and returns what was there.
    ///
    /// # Errors
    /// `NoRegion`, `StaleCube`; nothing has changed then.
    #[inline]
    pub fn set_cube(&mut self, id: CubeId, cube: Cube) -> Result<Cube, RenderError> {
        self.regions.add_cube(cube.region())?;
        let old = self.cubes.set(id, cube);
        let gone = *old.as_ref().unwrap_or(&cube);
        self.regions.take_cube(gone.region());
        old.map_err(|_| RenderError::StaleCube)
    }

    /// Takes a cube out, and returns it.
    ///
    /// # Errors
    /// `StaleCube` when it was taken out before.
    #[inline]
    pub fn remove_cube(&mut self, id: CubeId) -> Result<Cube, RenderError> {
        let old = self.cubes.remove(id).map_err(|_| RenderError::StaleCube)?;
        self.regions.take_cube(old.region());
        Ok(old)
    }

    /// The cubes, by place.
    pub const fn cubes(&self) -> &CubeBuffer {
        &self.cubes
    }

    /// Makes room on the device for a cube that was just taken in, or takes it out again.
    #[cold]
    fn make_room(&mut self, id: CubeId) -> Result<(), RenderError> {
        while u64::from(id.place()) >= self.segments.places() {
            let first = self.segments.places() as u32;
            if let Err(error) = self.segments.grow(&mut self.device, &self.regions) {
                self.remove_cube(id)?;
                return Err(error);
            }
            // What was written while there was no such segment.
            self.cubes.touch_all(first..self.segments.places() as u32);
        }
        Ok(())
    }

    /// Has the device copy what has changed.
    fn upload(&mut self) {
        let Self { device, cubes, segments, .. } = self;
        segments.shrink(cubes.high_water());
        cubes.take_changes(|first, changed| segments.write(device, first, changed));
    }

    fn submit(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        let [width, height] = self.device.size();
        let visibility = Visibility::new(&view.camera, width as f32 / height.max(1) as f32);
        let frame = view.frame(width, height);
        let blended = self.beside.batches(&mut self.device, view, &visibility);
        let opaque: Vec<Batch<'_, _>> = self.segments.batches(self.cubes.high_water()).collect();
        let passes = Passes { opaque: &opaque, blended: &blended, indirect: true };
        self.device.draw(&frame, &passes)?;
        let commands = passes.batches().map(|batch| batch.commands.len() as u32).sum();
        let quads = passes.batches().map(|batch| quad_count(batch.commands)).sum();
        let meshes = self.meshes.len() + self.beside.visible() as u32;
        let shown = self.device.shown();
        Ok(DrawStats { commands, quads, meshes, shown, ..DrawStats::default() })
    }
}

/// A mesh of this renderer's.
enum Own {
    Cubes(Handle<CubeMesh>),
    Beside(MeshHandle),
}

impl<D: Device> InstancedRenderer<D> {
    fn own(&self, id: MeshId) -> Result<Own, RenderError> {
        match id.0 {
            Owner::Cubes(renderer, handle) if renderer == self.id => Ok(Own::Cubes(handle.cast())),
            Owner::BesideCubes(handle) => Ok(Own::Beside(handle)),
            _ => Err(RenderError::StaleMesh),
        }
    }
}

impl<D: Device> Renderer for InstancedRenderer<D> {
    fn name(&self) -> &'static str {
        self.policy.renderer_name()
    }

    fn backend(&self) -> String {
        self.device.describe()
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.device.set_palette(colors)
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        if mesh.layer == Layer::Blended {
            return Ok(MeshId(Owner::BesideCubes(self.beside.insert(&mut self.device, mesh)?)));
        }
        let cubes = self.insert_mesh(mesh)?;
        let full = |_| PoolError::SlotsFull { capacity: u32::MAX };
        let handle: Handle<CubesMark> = self.meshes.insert(cubes).map_err(full)?.cast();
        Ok(MeshId(Owner::Cubes(self.id, handle)))
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        match self.own(id)? {
            Own::Beside(handle) => self.beside.replace(&mut self.device, (handle, mesh)),
            Own::Cubes(handle) => {
                let old = self.meshes.get_mut(handle).ok_or(RenderError::StaleMesh)?;
                let mut cubes = std::mem::take(&mut old.cubes);
                let region = old.region;
                let replaced = self.replace_mesh(region, &mut cubes, mesh);
                if let Some(it) = self.meshes.get_mut(handle) {
                    it.cubes = cubes;
                }
                replaced
            }
        }
    }

    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        match self.own(id)? {
            Own::Beside(handle) => self.beside.remove(handle),
            Own::Cubes(handle) => {
                let mesh = self.meshes.remove(handle).ok_or(RenderError::StaleMesh)?;
                self.remove_mesh(mesh)
            }
        }
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.device.resize(width, height)
    }

    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError> {
        match cull {
            Cull::Cpu => Ok(()),
            Cull::Gpu => {
                let reason = "it draws all cubes".into();
                Err(RenderError::NoCulling { backend: "the instanced renderer".into(), reason })
            }
        }
    }

    fn cull(&self) -> Cull {
        Cull::Cpu
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        self.device.set_overlay(overlay)
    }

    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        self.device.set_readable(readable)
    }

    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.beside.tidy(&mut self.device);
        self.upload();
        self.drawn = self.submit(view)?;
        self.beside.submitted(self.device.submitted());
        Ok(self.drawn)
    }

    fn drawn(&mut self) -> DrawStats {
        self.drawn
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.device.finish()
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.device.read_image()
    }

    fn held(&self) -> HeldStats {
        let beside = self.beside.stats();
        let cube_bytes = size_of::<Cube>() as u64;
        let commands = segments::command_count(self.cubes.high_water());
        HeldStats {
            meshes: self.meshes.len() + beside.meshes,
            commands: commands + self.beside.command_count(),
            used_bytes: u64::from(self.cubes.len()) * cube_bytes + beside.used_bytes,
            reserved_bytes: self.segments.places() * cube_bytes + beside.capacity_bytes,
        }
    }
}
