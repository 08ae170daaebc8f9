use drystone_render::{
    BufferData, BufferKind, CopyRange, Destination, Device, DeviceInfo, DrawSlots, Frame, Image,
    MaterialLook, Output, Overlay, Passes, Progress, RenderError, Samples, SoftDevice,
    SoftGeometry, Submitted,
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

impl drystone_render::sealed::Sealed for Undrawn {}

impl Output for Undrawn {
    fn describe(&self) -> String {
        "no pictures".into()
    }

    fn info(&self) -> DeviceInfo {
        self.device.info()
    }

    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.device.set_materials(materials)
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.device.resize(width, height)
    }

    fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError> {
        self.device.set_samples(samples)
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        self.device.set_overlay(overlay)
    }

    fn set_destination(&mut self, destination: Destination) -> Result<(), RenderError> {
        self.device.set_destination(destination)
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        Ok(())
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.device.read_image()
    }
}

impl Device for Undrawn {
    type Geometry = SoftGeometry;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, SoftGeometry>,
    ) -> Result<SoftGeometry, RenderError> {
        self.device.create(kind, count, slots)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut SoftGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        self.device.resize_draw_data(sharing, slots)
    }

    fn write(&mut self, geometry: &mut SoftGeometry, first: u32, data: BufferData<'_>) {
        self.device.write(geometry, first, data);
    }

    fn copy(&mut self, from: Option<&SoftGeometry>, to: &mut SoftGeometry, copy_range: CopyRange) {
        self.device.copy(from, to, copy_range);
    }

    fn draw(&mut self, _: &Frame, _: &Passes<'_, SoftGeometry>) -> Result<Submitted, RenderError> {
        self.frames += 1;
        Ok(Submitted { frame: self.frames, shown: true })
    }

    fn progress(&mut self) -> Progress {
        Progress { completed: self.frames, culled: None }
    }
}
