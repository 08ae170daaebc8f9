//! Pictures that are drawn into the caller's textures, with the caller's encoder.

use super::{WgpuDevice, pipelines::Attachment, target::Lent};
use crate::{
    device::check_size,
    error::RenderError,
    pool_renderer::PoolRenderer,
    renderer::{DrawStats, Renderer},
    shadows::MapKinds,
    view::View,
};

/// Attachments of the caller, for [`PoolRenderer::draw_into`].
#[derive(Clone, Debug)]
pub struct DrawTarget<'a> {
    /// Colours, in the format of the device. Their texture may have several samples a pixel; the
    /// caller resolves it.
    pub color: &'a wgpu::TextureView,
    /// Colours before the picture is drawn.
    pub color_load: wgpu::LoadOp<wgpu::Color>,
    /// Depth, in the format `Depth32Float`, with as many samples as the colours. Depth is reversed: 1
    /// is the near plane, 0 the farthest. Own passes with this depth compare with `Greater`, and
    /// transform positions relative to [`Camera::position`](crate::Camera) by
    /// [`Camera::clip_from_relative`](crate::Camera::clip_from_relative).
    ///
    /// If the GPU culls, the texture needs `TEXTURE_BINDING` and one sample a pixel. Otherwise the
    /// CPU culls from this picture on.
    pub depth: &'a wgpu::TextureView,
    /// Depth before the picture is drawn; 0 clears it.
    pub depth_load: wgpu::LoadOp<f32>,
    /// Width and height of both in pixels.
    pub size: [u32; 2],
    /// Whether the sky is drawn where the depth is 0 afterwards. Without it the colours there stay.
    pub has_sky: bool,
}

impl WgpuDevice {
    /// Draws the next frame into the attachments of the caller.
    fn lend(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        target: &DrawTarget<'_>,
    ) -> Result<(), RenderError> {
        check_size(target.size, self.opened.gpu.device.limits().max_texture_dimension_2d)?;
        self.select_samples(target)?;
        let unused = self.opened.gpu.device.create_command_encoder(&Default::default());
        self.target.lent = Some(Lent {
            encoder: Some(std::mem::replace(encoder, unused)),
            color: target.color.clone(),
            depth: target.depth.clone(),
            size: target.size,
            color_load: target.color_load,
            depth_load: target.depth_load,
            has_sky: target.has_sky,
        });
        Ok(())
    }
}

impl WgpuDevice {
    /// Selects the pipelines for the number of samples of the caller's attachments.
    fn select_samples(&mut self, target: &DrawTarget<'_>) -> Result<(), RenderError> {
        let [requested, depth] =
            [target.color, target.depth].map(|view| view.texture().sample_count());
        if requested != depth {
            let reason = format!("the depth has {depth}");
            return Err(RenderError::Samples { requested, reason });
        }
        let attachment = Attachment {
            samples: requested,
            maps: MapKinds::default(),
            ..self.target.attachment()
        };
        self.pipelines
            .select(&self.opened.gpu, attachment)
            .map_err(|error| RenderError::Samples { requested, reason: error.to_string() })
    }
}

impl PoolRenderer<WgpuDevice> {
    /// Encodes a picture of a view into the caller's textures, with the caller's encoder. The overlay
    /// is drawn over it. [Bloom](View::bloom) is added to the colours; what the caller has drawn before
    /// does not hide lights from it. The caller submits the encoder. Several pictures can be encoded before one
    /// submission, also of [`draw`](Renderer::draw). Meshes and overlay must not change between this
    /// call and the submission. Within a translucent mesh whose quads hide each other, all pictures
    /// of one submission have the order of the last.
    ///
    /// A picture counts as a frame, which completes when the GPU has executed the encoder's commands.
    /// The pool is not defragmented while such a frame is incomplete.
    ///
    /// # Cost
    /// A picture of [`draw`](Renderer::draw). Pipelines, in the first picture with a number of samples a
    /// pixel. New buffers for uniforms and commands in the picture
    /// after it.
    ///
    /// # Examples
    /// ```
    /// use drystone_render::{Camera, DrawTarget, PoolRenderer, View, WgpuDevice, wgpu};
    ///
    /// // A device of the program, with its own textures.
    /// let descriptor = wgpu::InstanceDescriptor {
    ///     // Without this, wgpu checks each indirect command in a compute pass.
    ///     flags: wgpu::InstanceFlags::empty(),
    ///     ..wgpu::InstanceDescriptor::new_without_display_handle()
    /// };
    /// let instance = wgpu::Instance::new(descriptor);
    /// let adapter = pollster::block_on(instance.request_adapter(&Default::default()));
    /// # let Ok(adapter) = adapter else { return Ok(()) };
    /// let request = wgpu::DeviceDescriptor {
    ///     // With this feature the draws of a buffer are one call, else each draw is.
    ///     required_features: adapter.features() & wgpu::Features::INDIRECT_FIRST_INSTANCE,
    ///     ..Default::default()
    /// };
    /// let (device, queue) = pollster::block_on(adapter.request_device(&request))?;
    /// let view = |format| {
    ///     let texture = device.create_texture(&wgpu::TextureDescriptor {
    ///         label: None,
    ///         size: wgpu::Extent3d { width: 320, height: 180, depth_or_array_layers: 1 },
    ///         mip_level_count: 1,
    ///         sample_count: 1,
    ///         dimension: wgpu::TextureDimension::D2,
    ///         format,
    ///         usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
    ///         view_formats: &[],
    ///     });
    ///     texture.create_view(&Default::default())
    /// };
    /// let format = wgpu::TextureFormat::Rgba8Unorm;
    /// let (color, depth) = (view(format), view(wgpu::TextureFormat::Depth32Float));
    ///
    /// let device_of_renderer = WgpuDevice::from_parts(&device, &queue, format)?;
    /// let mut renderer = PoolRenderer::new(device_of_renderer, 1000, 16)?;
    /// let mut encoder = device.create_command_encoder(&Default::default());
    /// // Passes of the program come before and after.
    /// let target = DrawTarget {
    ///     color: &color,
    ///     color_load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
    ///     depth: &depth,
    ///     depth_load: wgpu::LoadOp::Clear(0.0),
    ///     size: [320, 180],
    ///     has_sky: true,
    /// };
    /// renderer.draw_into(&View::new(Camera::default()), &mut encoder, &target)?;
    /// queue.submit([encoder.finish()]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`draw`](Renderer::draw); `Samples` for colours and depth with different numbers of
    /// samples, or with a number that the device cannot draw; `EmptyPicture` or `TooLarge` for a size that cannot be
    /// drawn. Nothing is encoded then.
    pub fn draw_into(
        &mut self,
        view: &View,
        encoder: &mut wgpu::CommandEncoder,
        target: &DrawTarget<'_>,
    ) -> Result<DrawStats, RenderError> {
        self.device_mut().lend(encoder, target)?;
        let drawn = self.draw(view);
        let lent = self.device_mut().target.lent.take();
        if let Some(lent) = lent.and_then(|lent| lent.encoder) {
            *encoder = lent;
        }
        drawn
    }
}

#[cfg(test)]
mod tests;
