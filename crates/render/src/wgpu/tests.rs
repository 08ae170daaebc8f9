use drystone_pool::DrawCommand;

use super::*;
use crate::{Atmosphere, Batch, Camera};

/// A device that is gone gives errors, one after another, and no panic.
#[test]
fn a_lost_device_is_an_error() {
    let mut device = match WgpuDevice::headless(Api::Any, 16, 16) {
        Ok(device) => device,
        Err(error) => {
            println!("skipped: a_lost_device_is_an_error: {error}");
            return;
        }
    };
    let frame = Frame::new(&Camera::default(), &Atmosphere::default(), 16, 16);
    let passes = Passes { opaque: &[], blended: &[], indirect: true };
    device.draw(&frame, &passes).unwrap();
    device.finish().unwrap();
    device.opened.device.destroy();
    for _ in 0..3 {
        let drawn = device.draw(&frame, &passes).and_then(|()| device.finish());
        assert!(matches!(drawn, Err(RenderError::Lost { .. })), "{drawn:?}");
        assert!(matches!(device.create_geometry(1, 1), Err(RenderError::Lost { .. })));
    }
    assert!(device.read_image().is_err());
}

/// Bind groups keep what they bind: were there any for a frame's pieces, these would stay when
/// they are gone.
#[test]
fn lines_keep_nothing_of_what_they_were_drawn_by() {
    let mut device = match WgpuDevice::headless(Api::Any, 16, 16) {
        Ok(device) => device,
        Err(error) => {
            println!("skipped: lines_keep_nothing_of_what_they_were_drawn_by: {error}");
            return;
        }
    };
    let groups = |device: &mut WgpuDevice| {
        device.finish().unwrap();
        let report = device.opened.instance.generate_report();
        report.map_or(0, |report| report.hub_report().bind_groups.num_allocated)
    };
    let before = groups(&mut device);
    let pieces = [(); 3].map(|()| {
        let mut vertices = device.create_vertices(3, 1).unwrap();
        let mut indices = device.create_indices(3).unwrap();
        let corners = [[0.0; 3], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]];
        let up = [0.0, 1.0, 0.0];
        let corners = corners.map(|at| TriangleVertex::new(at, up, [250, 20, 20, 255]));
        device.write_vertices(&mut vertices, 0, &corners);
        device.write_indices(&mut indices, 0, &[0, 1, 2]);
        (vertices, indices)
    });
    let made = groups(&mut device);
    assert_eq!(made, before + 6, "one for each geometry");
    let command = DrawCommand { index_count: 3, instance_count: 1, ..Default::default() };
    let mut frame = Frame::new(&Camera::default(), &Atmosphere::default(), 16, 16);
    let commands = [command];
    for wire in [Frame::WIRE_PIXELS, Frame::WIRE_PIXELS, 0.0] {
        frame.sun_direction[3] = wire;
        let batch =
            |(geometry, indices)| Batch { geometry, indices: Some(indices), commands: &commands };
        let opaque = pieces.each_ref().map(|(geometry, indices)| batch((geometry, indices)));
        device.draw(&frame, &Passes { opaque: &opaque, blended: &[], indirect: true }).unwrap();
        assert_eq!(groups(&mut device), made + 1, "one for the table of draws");
    }
    drop(pieces);
    assert_eq!(groups(&mut device), before + 1);
}
