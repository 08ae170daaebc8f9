use drystone_mesh::{Face, Quad};
use drystone_pool::DrawCommand;

use super::*;
use crate::{
    atmosphere::Atmosphere, camera::Camera, overlay::OverlayPatch, passes::Batch,
    triangle_vertex::TriangleVertex,
};

fn open(test: &str) -> Option<WgpuDevice> {
    let opened = WgpuDevice::headless(Api::Any, 16, 16);
    opened.inspect_err(|error| println!("skipped: {test}: {error}")).ok()
}

/// Opens a second device on the adapter of `device`, with lower limits.
pub(super) fn with_limits(
    device: WgpuDevice,
    size: [u32; 2],
    lower: impl FnOnce(&mut wgpu::Limits),
) -> WgpuDevice {
    let (instance, adapter) = device.opened.origin.unwrap();
    let mut limits = adapter.limits();
    lower(&mut limits);
    let opened = pollster::block_on(adapter::open(instance, adapter, limits)).unwrap();
    let target = Target::picture(&opened.gpu.device, size, wgpu::TextureFormat::Rgba8Unorm);
    WgpuDevice::new(opened, target).unwrap()
}

/// Draws an empty scene.
fn draw(device: &mut WgpuDevice) -> Result<Submitted, RenderError> {
    let frame = Frame::new(&Camera::default(), &Atmosphere::default(), 16, 16);
    device.draw(&frame, &Passes::default())
}

/// Makes wgpu refuse a write: past the end of its buffer.
fn refuse(device: &WgpuDevice) {
    device.opened.gpu.queue.write_buffer(&device.pattern, device.pattern.size(), &[0; 4]);
}

/// Vertices and indices of one triangle.
fn triangle(device: &mut WgpuDevice) -> (WgpuGeometry, WgpuGeometry) {
    let mut vertices = device.create(BufferKind::Vertices, 3, DrawSlots::New(1)).unwrap();
    let mut indices = device.create(BufferKind::Indices, 3, DrawSlots::New(0)).unwrap();
    let corners = [[0.0; 3], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]];
    let up = [0.0, 1.0, 0.0];
    let corners = corners.map(|at| TriangleVertex::new(at, up, [250, 20, 20, 255]));
    device.write(&mut vertices, 0, BufferData::Vertices(&corners));
    device.write(&mut indices, 0, BufferData::Indices(&[0, 1, 2]));
    (vertices, indices)
}

/// An overlay that draws nothing, with a texture.
fn white() -> Overlay {
    let patch = OverlayPatch { texture: 0, at: None, size: [1, 1], rgba: vec![255; 4] };
    Overlay { patches: vec![patch], ..Overlay::default() }
}

/// A lost device returns errors repeatedly, and never panics.
#[test]
fn a_lost_device_is_an_error() {
    let Some(mut device) = open("a_lost_device_is_an_error") else { return };
    draw(&mut device).unwrap();
    device.finish().unwrap();
    device.opened.gpu.device.destroy();
    for _ in 0..3 {
        let drawn = draw(&mut device).and_then(|_| device.finish());
        assert!(matches!(drawn, Err(RenderError::Lost { .. })), "{drawn:?}");
        assert!(matches!(
            device.create(BufferKind::Quads, 1, DrawSlots::New(1)),
            Err(RenderError::Lost { .. })
        ));
    }
    assert!(device.read_image().is_err());
}

/// A call that the device refuses between two frames fails the next frame, for any calls in
/// between, and no other frame.
#[test]
fn a_refused_call_between_frames_fails_the_next_frame() {
    let Some(mut device) = open("a_refused_call_between_frames_fails_the_next_frame") else {
        return;
    };
    let between: [fn(&mut WgpuDevice); 4] = [
        |device| assert_eq!(device.progress().completed, device.progress.submitted()),
        |device| assert_eq!(device.progress().culled, None),
        |device| device.resize(17, 16).unwrap(),
        |device| device.set_overlay(&white()).unwrap(),
    ];
    for (number, call) in between.into_iter().enumerate() {
        draw(&mut device).unwrap();
        device.finish().unwrap();
        refuse(&device);
        call(&mut device);
        let drawn = draw(&mut device);
        let is_reported = matches!(drawn, Err(RenderError::Device { during: "drawing", .. }));
        assert!(is_reported, "call {number}: {drawn:?}");
    }
    draw(&mut device).unwrap();
    device.finish().unwrap();
}

/// A size that does not fit the device's memory, or is refused, changes nothing. Sizes beyond the
/// device's limits stand for both: the target does not check them itself.
#[test]
fn a_failed_resize_keeps_the_old_size() {
    let Some(mut device) = open("a_failed_resize_keeps_the_old_size") else { return };
    let beyond = device.opened.gpu.device.limits().max_texture_dimension_2d + 1;
    for _ in 0..2 {
        let resized = device.target.resize(&device.opened, [beyond, 5]);
        assert!(matches!(resized, Err(RenderError::Device { .. })), "{resized:?}");
        assert_eq!(device.info().size, [16, 16]);
        draw(&mut device).unwrap();
        assert_eq!(device.read_image().unwrap().width(), 16);
    }
    device.resize(20, 5).unwrap();
    draw(&mut device).unwrap();
    assert_eq!(device.read_image().unwrap().width(), 20);
}

/// Staged writes do not accumulate memory while a window is hidden.
#[test]
fn writes_of_a_hidden_window_do_not_accumulate() {
    let Some(mut device) = open("writes_of_a_hidden_window_do_not_pile_up") else { return };
    const QUADS: u32 = 1 << 17;
    let mut geometry = device.create(BufferKind::Quads, QUADS, DrawSlots::New(1)).unwrap();
    let quads = vec![Quad::new([0; 3], [1, 1], Face::PosZ, 0); QUADS as usize];
    device.target.hide();
    let mut held_bytes = || {
        device.write(&mut geometry, 0, BufferData::Quads(&quads));
        assert!(!draw(&mut device).unwrap().shown);
        device.finish().unwrap();
        device.opened.gpu.device.generate_allocator_report().map(|it| it.total_allocated_bytes)
    };
    let first = held_bytes();
    assert!(first.is_some(), "no figures of the allocator");
    let last = (0..50).map(|_| held_bytes()).last().flatten();
    // Less than four of the fifty writes.
    assert!(last < first.map(|bytes| bytes + 4 * u64::from(QUADS) * 8), "{last:?} of {first:?}");
}

/// If a shader has fewer storage buffers than lines of triangles need, drawing reports an error,
/// and pictures without lines still work.
#[test]
fn lines_of_triangles_are_refused_with_too_few_storage_buffers() {
    let test = "lines_of_triangles_are_refused_where_shaders_read_too_few_buffers";
    let Some(device) = open(test) else { return };
    let mut device = with_limits(device, [16, 16], |limits| {
        limits.max_storage_buffers_per_shader_stage = 5;
    });
    let (geometry, indices) = triangle(&mut device);
    let command = [DrawCommand { index_count: 3, instance_count: 1, ..Default::default() }];
    let batch = Batch::indexed(&geometry, &indices, &command);
    let passes = Passes { opaque: &[batch], ..Passes::default() };
    let mut frame = Frame::new(&Camera::default(), &Atmosphere::default(), 16, 16);
    frame.wire_pixels = Frame::WIRE_PIXELS;
    let refused = device.draw(&frame, &passes).unwrap_err().to_string();
    assert!(refused.contains("lines") && refused.contains("7 storage buffers"), "{refused}");
    frame.wire_pixels = 0.0;
    device.draw(&frame, &passes).unwrap();
    device.finish().unwrap();
}

/// Only formats with four channels of eight bits are read back.
#[test]
fn pictures_of_other_formats_are_not_read() {
    let Some(device) = open("pictures_of_other_formats_are_not_read") else { return };
    let read = |format| {
        let texture = device.opened.gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: 4, height: 4, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        target::read_texture(&device.opened, &texture, [4, 4])
    };
    assert!(read(wgpu::TextureFormat::Bgra8Unorm).is_ok());
    let error = read(wgpu::TextureFormat::Rgb10a2Unorm).unwrap_err().to_string();
    assert!(error.contains("Rgb10a2Unorm"), "{error}");
}

/// Bind groups keep their resources alive: groups for a frame's draws would keep deleted
/// geometries.
#[test]
fn lines_do_not_keep_geometries_alive() {
    let Some(mut device) = open("lines_keep_nothing_of_what_they_were_drawn_by") else { return };
    let groups = |device: &mut WgpuDevice| {
        device.finish().unwrap();
        let report = device.opened.origin().unwrap().0.generate_report();
        report.map_or(0, |report| report.hub_report().bind_groups.num_allocated)
    };
    let before = groups(&mut device);
    let pieces = [(); 3].map(|()| triangle(&mut device));
    let made = groups(&mut device);
    assert_eq!(made, before + 6, "one for each geometry");
    let command = DrawCommand { index_count: 3, instance_count: 1, ..Default::default() };
    let mut frame = Frame::new(&Camera::default(), &Atmosphere::default(), 16, 16);
    let commands = [command];
    for wire in [Frame::WIRE_PIXELS, Frame::WIRE_PIXELS, 0.0] {
        frame.wire_pixels = wire;
        let batch = |(geometry, indices)| Batch::indexed(geometry, indices, &commands);
        let opaque = pieces.each_ref().map(|(geometry, indices)| batch((geometry, indices)));
        device.draw(&frame, &Passes { opaque: &opaque, ..Passes::default() }).unwrap();
        assert_eq!(groups(&mut device), made + 1, "one for the table of draws");
    }
    drop(pieces);
    assert_eq!(groups(&mut device), before + 1);
}
