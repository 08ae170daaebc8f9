use std::collections::VecDeque;

/// Width and height of the picture. A row is 256 bytes, as copies require.
pub(crate) const SIDE: u32 = 64;
const PIXEL_BYTES: u32 = 4;

/// A device as a caller opens it, without handlers of errors: an error that is not returned panics.
pub(crate) struct Screen {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    in_flight: VecDeque<InFlight>,
    /// Number of times that the device still had work after the oldest frame was complete.
    pub(crate) overlaps: u32,
}

/// A submitted frame.
struct InFlight {
    submission: wgpu::SubmissionIndex,
    buffer: wgpu::Buffer,
    /// The picture that it must show.
    expected: Vec<u32>,
}

/// Features and limits of a device to open, changed from those of the adapter.
pub(crate) type Change = fn(&mut wgpu::Features, &mut wgpu::Limits);

impl Screen {
    /// Opens the first adapter. Without one the test is skipped.
    pub(crate) fn open(test: &str) -> Option<Self> {
        Self::open_with(test, |_, _| {})
    }

    pub(crate) fn open_with(test: &str, change: Change) -> Option<Self> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()));
        let adapter = adapter.inspect_err(|error| println!("skipped: {test}: {error}")).ok()?;
        let mut features = adapter.features() & wgpu::Features::INDIRECT_FIRST_INSTANCE;
        let mut limits = adapter.limits();
        change(&mut features, &mut limits);
        let descriptor = wgpu::DeviceDescriptor {
            required_features: features,
            required_limits: limits,
            ..Default::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) = opened.unwrap();
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let view = texture.create_view(&Default::default());
        Some(Self { device, queue, texture, view, in_flight: VecDeque::new(), overlaps: 0 })
    }

    /// Draws and submits a frame, which must show `expected`, without waiting for it. The frame
    /// before the last three is verified.
    pub(crate) fn frame(
        &mut self,
        expected: Vec<u32>,
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        draw(&mut pass);
        drop(pass);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(SIDE * SIDE * PIXEL_BYTES),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(SIDE * PIXEL_BYTES),
            rows_per_image: None,
        };
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
            self.texture.size(),
        );
        let submission = self.queue.submit([encoder.finish()]);
        self.in_flight.push_back(InFlight { submission, buffer, expected });
        if self.in_flight.len() > 3 {
            self.verify_oldest();
        }
    }

    /// Waits for all frames, and verifies them.
    pub(crate) fn finish(&mut self) {
        while !self.in_flight.is_empty() {
            self.verify_oldest();
        }
    }

    fn verify_oldest(&mut self) {
        let Some(oldest) = self.in_flight.pop_front() else { return };
        let InFlight { submission, buffer, expected } = oldest;
        buffer.slice(..).map_async(wgpu::MapMode::Read, |_| {});
        // Later frames stay in flight.
        let oldest = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
        let status = self.device.poll(oldest).unwrap();
        self.overlaps += u32::from(!status.is_queue_empty());
        let bytes = buffer.get_mapped_range(..).unwrap().to_vec();
        let pixels: &[u32] = bytemuck::cast_slice(&bytes);
        let wrong = pixels.iter().zip(&expected).position(|(shown, expected)| shown != expected);
        assert_eq!(pixels.len(), expected.len());
        if let Some(at) = wrong {
            let (x, y) = (at as u32 % SIDE, at as u32 / SIDE);
            panic!("pixel {x}, {y} is {:08x} instead of {:08x}", pixels[at], expected[at]);
        }
    }

    /// The bytes of a buffer that can be mapped.
    pub(crate) fn read(&self, buffer: &wgpu::Buffer) -> Vec<u8> {
        buffer.slice(..).map_async(wgpu::MapMode::Read, |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        buffer.get_mapped_range(..).unwrap().to_vec()
    }
}
