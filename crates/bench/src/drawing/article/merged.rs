//! All meshes in one buffer, as programs without a pool merge them.

use drystone_mesh::{Quad, VERTICES_PER_QUAD};
use drystone_pool::DrawCommand;
use drystone_render::{
    Batch, BufferData, BufferKind, CopyRange, Device, DeviceInfo, DrawData, DrawSlots, Frame,
    GlConfig, GlDevice, GlGeometry, Passes, Progress, RenderError, Submitted,
};

use super::{Layout, LayoutDevice, refuse_blended, refuse_other_kinds, whole_meshes_only};

/// A [`GlDevice`] that merges the meshes of a frame into one buffer and draws them with one call, for
/// measurements.
///
/// # Cost
/// A frame after any change creates the buffer again and uploads all quads.
pub type MergedDevice = LayoutDevice<Merged>;

/// One buffer for all meshes.
#[derive(Default)]
pub struct Merged {
    /// Number of writes to meshes.
    writes: u64,
    /// Versions of the meshes in the buffer, in its order.
    versions: Vec<u64>,
    geometry: Option<GlGeometry>,
    commands: Vec<DrawCommand>,
}

/// A mesh in CPU memory.
pub struct MergedMesh {
    quads: Vec<Quad>,
    data: DrawData,
    /// Number of the write that this content comes from.
    version: u64,
}

impl Layout for Merged {
    const ABOUT: &'static str = "one buffer for all meshes";

    fn info(gl: DeviceInfo) -> DeviceInfo {
        gl
    }
}

impl MergedDevice {
    /// Creates a device without a window that draws pictures of this size.
    ///
    /// # Errors
    /// The errors of [`GlDevice::headless`].
    pub fn headless(width: u32, height: u32) -> Result<Self, RenderError> {
        Ok(Self::new(GlDevice::headless(GlConfig::default(), width, height)?, Merged::default()))
    }
}

impl Merged {
    /// Uploads all meshes of these batches.
    fn merge(
        &mut self,
        gl: &mut GlDevice,
        batches: &[Batch<'_, MergedMesh>],
    ) -> Result<(), RenderError> {
        let count: usize = batches.iter().map(|batch| batch.geometry.quads.len()).sum();
        let slots = DrawSlots::New(batches.len() as u32);
        self.commands.clear();
        self.geometry = None;
        let mut geometry = gl.create(BufferKind::Quads, count as u32, slots)?;
        let (mut data, mut first) = (Vec::new(), 0);
        for (slot, batch) in (0..).zip(batches) {
            let mesh = batch.geometry;
            gl.write(&mut geometry, first, BufferData::Quads(&mesh.quads));
            self.commands.extend(batch.commands.iter().map(|command| DrawCommand {
                base_vertex: command.base_vertex + (first * VERTICES_PER_QUAD) as i32,
                first_instance: slot,
                ..*command
            }));
            first += mesh.quads.len() as u32;
            data.push(mesh.data);
        }
        gl.write(&mut geometry, 0, BufferData::DrawData(&data));
        self.geometry = Some(geometry);
        Ok(())
    }
}

impl Device for MergedDevice {
    type Geometry = MergedMesh;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, MergedMesh>,
    ) -> Result<MergedMesh, RenderError> {
        refuse_other_kinds(kind)?;
        if let DrawSlots::SharedWith(_) = slots {
            return Err(whole_meshes_only());
        }
        let quads = Vec::with_capacity(count as usize);
        Ok(MergedMesh { quads, data: DrawData::default(), version: 0 })
    }

    fn resize_draw_data(
        &mut self,
        _sharing: &mut [&mut MergedMesh],
        _slots: u32,
    ) -> Result<(), RenderError> {
        Err(whole_meshes_only())
    }

    fn write(&mut self, mesh: &mut MergedMesh, first: u32, data: BufferData<'_>) {
        self.layout.writes += 1;
        mesh.version = self.layout.writes;
        match (first, data) {
            (0, BufferData::DrawData([data, ..])) => mesh.data = *data,
            (0, BufferData::Quads(quads)) => {
                mesh.quads.clear();
                mesh.quads.extend_from_slice(quads);
            }
            _ => self.gl.fail_next_frame(&whole_meshes_only()),
        }
    }

    fn copy(&mut self, _: Option<&MergedMesh>, _: &mut MergedMesh, _: CopyRange) {
        self.gl.fail_next_frame(&whole_meshes_only());
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, MergedMesh>,
    ) -> Result<Submitted, RenderError> {
        refuse_blended(passes)?;
        let Self { gl, layout, .. } = self;
        let versions = || passes.opaque.iter().map(|batch| batch.geometry.version);
        if !versions().eq(layout.versions.iter().copied()) {
            layout.versions.clear();
            layout.merge(gl, passes.opaque)?;
            layout.versions.extend(versions());
        }
        let batch = layout.geometry.as_ref().map(|it| Batch::new(it, &layout.commands));
        gl.draw(frame, &Passes { opaque: batch.as_slice(), ..Passes::default() })
    }

    fn progress(&mut self) -> Progress {
        self.gl.progress()
    }
}

#[cfg(test)]
mod tests {
    use drystone_render::{MeshData, NaiveRenderer, Projection, Renderer, View};

    use super::*;
    use crate::drawing::{
        SIZE,
        contenders::{SamePictures, gl_device},
        scene::{Mesh, RandomScene},
    };

    /// The buffer follows meshes that are replaced, removed, hidden and shown again.
    #[test]
    fn the_buffer_is_merged_again_after_every_change() {
        let test = "the_buffer_is_merged_again_after_every_change";
        let merged = match MergedDevice::headless(SIZE[0], SIZE[1]) {
            Err(error @ RenderError::NoAdapter { .. }) => {
                return println!("skipped: {test}: {error}");
            }
            merged => merged.unwrap(),
        };
        let plain = NaiveRenderer::new(gl_device().unwrap());
        let mut renderers: [Box<dyn Renderer>; 2] =
            [Box::new(plain), Box::new(NaiveRenderer::new(merged))];
        let scene = RandomScene::new(16, 2).unwrap();
        let meshes = scene.meshes();
        let compare = |renderers: &mut [Box<dyn Renderer>; 2], view: &View| {
            let mut pictures = SamePictures::default();
            renderers.iter_mut().for_each(|it| pictures.draw(it.as_mut(), view).unwrap());
        };
        let ids = renderers.each_mut().map(|it| {
            it.set_palette(&meshes.palette).unwrap();
            let insert = |mesh: &Mesh<'_>| it.insert(&mesh.data()).unwrap();
            meshes.list.iter().map(insert).collect::<Vec<_>>()
        });
        let mut near = scene.view;
        near.camera.projection = Projection::Orthographic { height_voxels: 4.0 };
        for view in [near, scene.view, near] {
            compare(&mut renderers, &view);
        }
        for (it, ids) in renderers.iter_mut().zip(&ids) {
            let other = meshes.list[1].data();
            let moved = MeshData { draw_data: meshes.list[0].data().draw_data, ..other };
            it.replace(ids[0], &moved).unwrap();
        }
        compare(&mut renderers, &scene.view);
        renderers.iter_mut().zip(&ids).for_each(|(it, ids)| it.remove(ids[3]).unwrap());
        compare(&mut renderers, &scene.view);
    }
}
