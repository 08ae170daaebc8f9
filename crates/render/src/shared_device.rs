use std::{
    cell::{RefCell, RefMut},
    rc::Rc,
};

use drystone_mesh::{Cube, Quad};
use drystone_pool::Access;

use crate::{
    CullCounts, Culled, Device, DrawData, Frame, Image, Overlay, Passes, RenderError,
    TriangleVertex,
};

/// One device for several renderers. One renderer draws while another takes in its meshes, and then
/// takes over drawing without a picture that lacks meshes.
///
/// Each renderer has its own geometries, which no frame of the others reads. The palette, the size
/// and the overlay are shared by all renderers.
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

impl<D: Device> Device for SharedDevice<D> {
    type Geometry = D::Geometry;

    fn describe(&self) -> String {
        self.it().describe()
    }

    fn access(&self) -> Access {
        self.it().access()
    }

    fn submitted(&self) -> u64 {
        self.it().submitted()
    }

    fn completed(&mut self) -> u64 {
        self.it().completed()
    }

    fn max_quads(&self) -> u32 {
        self.it().max_quads()
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.it().set_palette(colors)
    }

    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<Self::Geometry, RenderError> {
        self.it().create_geometry(quads, slots)
    }

    fn create_cubes(&mut self, cubes: u32, slots: u32) -> Result<Self::Geometry, RenderError> {
        self.it().create_cubes(cubes, slots)
    }

    fn create_vertices(
        &mut self,
        vertices: u32,
        slots: u32,
    ) -> Result<Self::Geometry, RenderError> {
        self.it().create_vertices(vertices, slots)
    }

    fn create_indices(&mut self, indices: u32) -> Result<Self::Geometry, RenderError> {
        self.it().create_indices(indices)
    }

    fn create_sharing(
        &mut self,
        other: &Self::Geometry,
        quads: u32,
    ) -> Result<Self::Geometry, RenderError> {
        self.it().create_sharing(other, quads)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut Self::Geometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        self.it().resize_draw_data(sharing, slots)
    }

    fn write_quads(&mut self, geometry: &mut Self::Geometry, first: u32, quads: &[Quad]) {
        self.it().write_quads(geometry, first, quads);
    }

    fn write_cubes(&mut self, geometry: &mut Self::Geometry, first: u32, cubes: &[Cube]) {
        self.it().write_cubes(geometry, first, cubes);
    }

    fn write_vertices(
        &mut self,
        geometry: &mut Self::Geometry,
        first: u32,
        vertices: &[TriangleVertex],
    ) {
        self.it().write_vertices(geometry, first, vertices);
    }

    fn write_indices(&mut self, geometry: &mut Self::Geometry, first: u32, indices: &[u32]) {
        self.it().write_indices(geometry, first, indices);
    }

    fn copy_quads(
        &mut self,
        from: &Self::Geometry,
        from_first: u32,
        to: &mut Self::Geometry,
        to_first: u32,
        count: u32,
    ) {
        self.it().copy_quads(from, from_first, to, to_first, count);
    }

    fn copy_quads_within(
        &mut self,
        geometry: &mut Self::Geometry,
        from_first: u32,
        to_first: u32,
        count: u32,
    ) {
        self.it().copy_quads_within(geometry, from_first, to_first, count);
    }

    fn write_draw_data(&mut self, geometry: &mut Self::Geometry, first: u32, data: &[DrawData]) {
        self.it().write_draw_data(geometry, first, data);
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.it().resize(width, height)
    }

    fn size(&self) -> [u32; 2] {
        self.it().size()
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Self::Geometry>,
    ) -> Result<(), RenderError> {
        self.it().draw(frame, passes)
    }

    fn culls(&self) -> Result<(), &'static str> {
        self.it().culls()
    }

    fn draw_culled(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, Self::Geometry>,
        culled: &Culled<'_, Self::Geometry>,
    ) -> Result<(), RenderError> {
        self.it().draw_culled(frame, passes, culled)
    }

    fn cull_counts(&mut self) -> Option<CullCounts> {
        self.it().cull_counts()
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        self.it().set_overlay(overlay)
    }

    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        self.it().set_readable(readable)
    }

    fn shown(&self) -> bool {
        self.it().shown()
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.it().finish()
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.it().read_image()
    }
}

#[cfg(test)]
mod tests;
