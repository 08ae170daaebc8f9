//! The course of one frame.

use std::rc::Rc;

use drystone_pool::DrawCommand;

use super::{
    COMMANDS_BYTES, GlDevice, GlGeometry, bindings::Gl, passes::Painter, upload::UploadRange,
};
use crate::{
    device::Submitted,
    error::RenderError,
    frame::Frame,
    passes::{Passes, ShadowPass},
};

impl GlDevice {
    /// Draws one frame. `paint` receives the range of the frame's data. The commands, one after the
    /// other, begin at a fixed offset from its start. `passes` are what `paint` draws, if it has maps and
    /// bloom.
    pub(super) fn draw_with<'a>(
        &mut self,
        frame: &Frame,
        commands: impl Iterator<Item = &'a [DrawCommand]> + Clone,
        passes: Option<&Passes<'_, GlGeometry>>,
        paint: impl FnOnce(&Painter, &Gl, &UploadRange, u64),
    ) -> Result<Submitted, RenderError> {
        self.context.check_known("drawing")?;
        let context = Rc::clone(&self.context);
        let gl = context.current()?;
        let shadows = passes.and_then(|passes| passes.shadows);
        self.painter.prepare(frame, shadows.map(ShadowPass::kinds).unwrap_or_default())?;
        let range = self.upload(gl, frame, commands)?;
        self.draw_shadows(gl, &range, passes)?;
        let has_bloom = passes.is_some_and(|passes| passes.bloom);
        let emitted = self.prepare_bloom(gl, (frame, has_bloom))?;
        self.target.begin(gl);
        paint(&self.painter, gl, &range, COMMANDS_BYTES);
        self.target.resolve(gl);
        if let (Some(emitted), Some(passes)) = (&emitted, passes) {
            self.draw_bloom(gl, &range, (emitted, passes));
        }
        self.overlay.iter().for_each(|overlay| overlay.paint(gl, self.target.size()));
        if context.platform.has_window() {
            self.target.copy_to_window(gl);
        }
        self.progress.count()?;
        let completed = self.progress.completed();
        self.staging.end_frame(self.progress.submitted(), completed);
        context.platform.present().map_err(|reason| {
            let during = "showing the picture";
            RenderError::Device { during, reason }
        })?;
        context.check("drawing")?;
        Ok(Submitted { frame: self.progress.submitted(), shown: true })
    }

    /// Writes a frame's data to memory that the GPU can read.
    fn upload<'a>(
        &mut self,
        gl: &Gl,
        frame: &Frame,
        commands: impl Iterator<Item = &'a [DrawCommand]> + Clone,
    ) -> Result<UploadRange, RenderError> {
        self.staging.flush(gl)?;
        let size_bytes = commands.clone().map(|list| size_of_val(list) as u64).sum::<u64>();
        let alignment = self.context.limits.uniform_alignment;
        let range = self.staging.allocate(COMMANDS_BYTES + size_bytes, alignment)?;
        range.write(0, bytemuck::bytes_of(frame));
        let mut at = COMMANDS_BYTES;
        for list in commands {
            range.write(at, bytemuck::cast_slice(list));
            at += size_of_val(list) as u64;
        }
        self.staging.flush(gl)?;
        Ok(range)
    }
}
