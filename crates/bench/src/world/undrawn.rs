use drystone_mesh::Quad;
use drystone_pool::Access;
use drystone_render::{
    Device, DrawData, Frame, Image, Passes, RenderError, SoftDevice, SoftGeometry,
};

/// The software rasteriser without drawing. It accepts all data of a frame and counts the draw
/// commands. The remaining cost of a frame is that of the caller.
pub(super) struct Undrawn {
    device: SoftDevice,
    frames: u64,
}

impl Undrawn {
    pub(super) fn new(width: u32, height: u32) -> Result<Self, RenderError> {
        Ok(Self { device: SoftDevice::new(width, height)?, frames: 0 })
    }
}

impl Device for Undrawn {
    type Geometry = SoftGeometry;

    fn describe(&self) -> String {
        "no pictures".into()
    }

    fn access(&self) -> Access {
        self.device.access()
    }

    fn submitted(&self) -> u64 {
        self.frames
    }

    fn completed(&mut self) -> u64 {
        self.frames
    }

    fn max_quads(&self) -> u32 {
        self.device.max_quads()
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.device.set_palette(colors)
    }

    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<SoftGeometry, RenderError> {
        self.device.create_geometry(quads, slots)
    }

    fn create_sharing(
        &mut self,
        other: &SoftGeometry,
        quads: u32,
    ) -> Result<SoftGeometry, RenderError> {
        self.device.create_sharing(other, quads)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut SoftGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        self.device.resize_draw_data(sharing, slots)
    }

    fn write_quads(&mut self, geometry: &mut SoftGeometry, first: u32, quads: &[Quad]) {
        self.device.write_quads(geometry, first, quads);
    }

    fn copy_quads(
        &mut self,
        from: &SoftGeometry,
        from_first: u32,
        to: &mut SoftGeometry,
        to_first: u32,
        count: u32,
    ) {
        self.device.copy_quads(from, from_first, to, to_first, count);
    }

    fn copy_quads_within(
        &mut self,
        geometry: &mut SoftGeometry,
        from_first: u32,
        to_first: u32,
        count: u32,
    ) {
        self.device.copy_quads_within(geometry, from_first, to_first, count);
    }

    fn write_draw_data(&mut self, geometry: &mut SoftGeometry, first: u32, data: &[DrawData]) {
        self.device.write_draw_data(geometry, first, data);
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.device.resize(width, height)
    }

    fn size(&self) -> [u32; 2] {
        self.device.size()
    }

    fn draw(&mut self, _: &Frame, _: &Passes<'_, SoftGeometry>) -> Result<(), RenderError> {
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        Ok(())
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.device.read_image()
    }
}
