use std::{
    cell::{RefCell, RefMut},
    rc::Rc,
};

use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    device::{Destination, Device, DeviceInfo, Output, Progress, Submitted, sealed::Sealed},
    error::RenderError,
    frame::Frame,
    image::Image,
    material_look::MaterialLook,
    overlay::Overlay,
    passes::Passes,
    quad_textures::QuadTextures,
    samples::Samples,
    texture_set::TextureSet,
};

/// One device for several renderers. One renderer draws while another takes in its meshes, and then
/// takes over drawing without a picture that lacks meshes.
///
/// Each renderer has its own geometries, which no frame of the others reads. The materials, the
/// textures, the size and the overlay are shared by all renderers.
///
/// # Cost
/// One count and one check for each call; a device is called a few times for each frame and mesh.
///
/// # Examples
/// ```
/// use drystone_render::{NaiveRenderer, PoolRenderer, Renderer, SharedDevice, SoftDevice, View};
///
/// let device = SharedDevice::new(SoftDevice::new(8, 8)?);
/// let mut pool = PoolRenderer::new(device.clone(), 0, 1)?;
/// let mut naive = NaiveRenderer::new(device);
/// pool.draw(&View::new(Default::default()))?;
/// let picture = pool.read_image()?;
/// naive.draw(&View::new(Default::default()))?;
/// assert!(naive.read_image()? == picture);
/// # Ok::<(), drystone_render::RenderError>(())
/// ```
#[derive(Debug)]
pub struct SharedDevice<D>(Rc<RefCell<D>>);

impl<D> SharedDevice<D> {
    /// Creates a shared device. All clones refer to the same device.
    pub fn new(device: D) -> Self {
        Self(Rc::new(RefCell::new(device)))
    }

    /// Borrows the device for one call. Devices never call back, so it is not borrowed already.
    fn it(&self) -> RefMut<'_, D> {
        self.0.borrow_mut()
    }
}

impl<D> Clone for SharedDevice<D> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<D> Sealed for SharedDevice<D> {}

impl<D: Output> Output for SharedDevice<D> {
    fn describe(&self) -> String {
        self.it().describe()
    }

    fn info(&self) -> DeviceInfo {
        self.it().info()
    }

    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.it().set_materials(materials)
    }

    fn set_textured_materials(
        &mut self,
        materials: &[MaterialLook],
        textures: &QuadTextures,
    ) -> Result<(), RenderError> {
        self.it().set_textured_materials(materials, textures)
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.it().set_palette(colors)
    }

    fn set_textures(&mut self, textures: &TextureSet) -> Result<(), RenderError> {
        self.it().set_textures(textures)
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.it().resize(width, height)
    }

    fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError> {
        self.it().set_samples(samples)
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        self.it().set_overlay(overlay)
    }

    fn set_destination(&mut self, destination: Destination) -> Result<(), RenderError> {
        self.it().set_destination(destination)
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.it().finish()
    }

    fn is_idle(&mut self) -> Result<bool, RenderError> {
        self.it().is_idle()
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.it().read_image()
    }
}

impl<D: Device> Device for SharedDevice<D> {
    type Geometry = D::Geometry;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, D::Geometry>,
    ) -> Result<D::Geometry, RenderError> {
        self.it().create(kind, count, slots)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut D::Geometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        self.it().resize_draw_data(sharing, slots)
    }

    fn write(&mut self, geometry: &mut D::Geometry, first: u32, data: BufferData<'_>) {
        self.it().write(geometry, first, data);
    }

    fn copy(&mut self, from: Option<&D::Geometry>, to: &mut D::Geometry, copy_range: CopyRange) {
        self.it().copy(from, to, copy_range);
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, D::Geometry>,
    ) -> Result<Submitted, RenderError> {
        self.it().draw(frame, passes)
    }

    fn can_move(&self) -> bool {
        self.it().can_move()
    }

    fn kept_shadows(&self) -> u64 {
        self.it().kept_shadows()
    }

    fn progress(&mut self) -> Progress {
        self.it().progress()
    }
}

#[cfg(test)]
mod tests;
