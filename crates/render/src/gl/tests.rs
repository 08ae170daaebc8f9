//! Tests that only apply to OpenGL devices.

use drystone_mesh::{Face, INDICES_PER_QUAD};
use glam::DVec3;

use super::*;
use crate::{
    atmosphere::Atmosphere, camera::Camera, draw_data::DrawData, overlay::OverlayPatch,
    passes::Batch,
};

/// Memory that a device uses before it holds any geometry: ring and index pattern.
const BASE_BYTES: u64 = 7 << 20;

fn open(test: &str, config: GlConfig) -> Option<GlDevice> {
    match GlDevice::headless(config, 16, 16) {
        Ok(device) => Some(device),
        Err(error @ RenderError::NoAdapter { .. }) => {
            println!("skipped: {test}: {error}");
            None
        }
        Err(error) => panic!("{test}: {error}"),
    }
}

/// Draws `count` commands of one quad each.
fn draw(device: &mut GlDevice, geometry: &GlGeometry, count: usize) -> Result<(), RenderError> {
    let camera = Camera::look_at(DVec3::new(4.0, 4.0, 5.0), DVec3::new(4.0, 4.0, 0.0));
    let frame = Frame::new(&camera, &Atmosphere::default(), 16, 16);
    let command =
        DrawCommand { index_count: INDICES_PER_QUAD, instance_count: 1, ..Default::default() };
    let commands = vec![command; count];
    let opaque = [Batch::new(geometry, &commands)];
    device.draw(&frame, &Passes { opaque: &opaque, ..Passes::default() }).map(drop)
}

/// A geometry of one red wall in front of the camera.
fn wall(device: &mut GlDevice) -> GlGeometry {
    device.set_palette(&[[250, 20, 20, 255]]).unwrap();
    let mut geometry = device.create(BufferKind::Quads, 1, DrawSlots::New(1)).unwrap();
    device.write(&mut geometry, 0, BufferData::Quads(&[Quad::new([0; 3], [8, 8], Face::PosZ, 0)]));
    device.write(
        &mut geometry,
        0,
        BufferData::DrawData(&[DrawData { origin: [0; 3], level: 0, extent: 32, sort_rank: 0 }]),
    );
    geometry
}

/// An overlay that draws nothing, with a texture.
fn white() -> Overlay {
    let patch = OverlayPatch { texture: 0, at: None, size: [1, 1], rgba: vec![255; 4] };
    Overlay { patches: vec![patch], ..Overlay::default() }
}

fn shows_the_wall(device: &mut GlDevice) -> bool {
    let [red, green, ..] = device.read_image().unwrap().pixel(8, 8);
    red > 2 * green
}

/// A lost context returns errors repeatedly, and never panics.
#[test]
fn a_lost_context_is_an_error() {
    let Some(mut device) = open("a_lost_context_is_an_error", GlConfig::default()) else { return };
    let mut geometry = wall(&mut device);
    draw(&mut device, &geometry, 1).unwrap();
    device.lose();
    for _ in 0..3 {
        device.write(&mut geometry, 0, BufferData::Quads(&[]));
        let drawn = draw(&mut device, &geometry, 1);
        assert!(matches!(drawn, Err(RenderError::Lost { .. })), "{drawn:?}");
        assert!(device.finish().is_err() && device.read_image().is_err());
        assert!(matches!(
            device.create(BufferKind::Quads, 1, DrawSlots::New(1)),
            Err(RenderError::Lost { .. })
        ));
    }
}

/// A call that the driver refuses fails the affected frame, once.
#[test]
fn a_refused_call_is_an_error_and_the_next_frame_is_right() {
    let test = "a_refused_call_is_an_error_and_the_next_frame_is_right";
    let Some(mut device) = open(test, GlConfig::default()) else { return };
    let geometry = wall(&mut device);
    // Beyond the end of the buffer, which no safe caller could request.
    let gl = device.context.current().unwrap();
    geometry.entries.copy_from(gl, 1 << 20, (&geometry.draws, 0), 8);
    let error = draw(&mut device, &geometry, 1).unwrap_err().to_string();
    assert!(error.contains("drawing"), "{error}");
    draw(&mut device, &geometry, 1).unwrap();
    assert!(shows_the_wall(&mut device));
}

/// An earlier error is not reported by a new buffer, picture or overlay: it fails the next frame.
#[test]
fn a_refused_call_does_not_fail_later_creations() {
    let test = "a_refused_call_is_no_error_of_what_is_made_after_it";
    let Some(mut device) = open(test, GlConfig::default()) else { return };
    let geometry = wall(&mut device);
    let make: [fn(&mut GlDevice); 4] = [
        |device| drop(device.create(BufferKind::Quads, 1, DrawSlots::New(1)).unwrap()),
        |device| device.set_palette(&[[250, 20, 20, 255]]).unwrap(),
        |device| device.resize(17, 16).unwrap(),
        |device| device.set_overlay(&white()).unwrap(),
    ];
    for (number, make) in make.into_iter().enumerate() {
        let gl = device.context.current().unwrap();
        geometry.entries.copy_from(gl, 1 << 20, (&geometry.draws, 0), 8);
        make(&mut device);
        let drawn = draw(&mut device, &geometry, 1);
        let is_reported = matches!(drawn, Err(RenderError::Device { during: "drawing", .. }));
        assert!(is_reported, "call {number}: {drawn:?}");
        draw(&mut device, &geometry, 1).unwrap();
        assert!(shows_the_wall(&mut device));
    }
}

#[test]
fn out_of_memory_is_an_error_without_side_effects() {
    for access in [Access::Direct, Access::Staged] {
        let limit = BASE_BYTES + (1 << 20);
        let config = GlConfig { access, memory_limit_bytes: limit, ..GlConfig::default() };
        let test = "out_of_memory_is_a_value_and_harms_nothing";
        let Some(mut device) = open(test, config) else { return };
        let mut geometry = wall(&mut device);
        for _ in 0..3 {
            let error = device
                .create(BufferKind::Quads, 1 << 18, DrawSlots::New(1))
                .err()
                .unwrap()
                .to_string();
            assert!(error.contains("out of memory") && error.contains("quads"), "{error}");
            let table = device.resize_draw_data(&mut [&mut geometry], 1 << 20);
            assert!(matches!(table, Err(RenderError::OutOfMemory { .. })), "{table:?}");
            assert!(
                device
                    .create(BufferKind::Quads, 1 << 18, DrawSlots::SharedWith(&geometry))
                    .is_err()
            );
        }
        // Freed memory can be allocated again.
        for _ in 0..20 {
            device.create(BufferKind::Quads, 1 << 16, DrawSlots::New(1)).unwrap();
        }
        draw(&mut device, &geometry, 1).unwrap();
        assert!(shows_the_wall(&mut device));
    }
    let nothing = GlConfig { memory_limit_bytes: 1000, ..GlConfig::default() };
    match GlDevice::headless(nothing, 16, 16) {
        Err(RenderError::OutOfMemory { reason, .. }) => assert!(reason.contains("out of memory")),
        other => assert!(matches!(other, Err(RenderError::NoAdapter { .. }))),
    }
}

#[test]
fn sizes_beyond_the_limits_are_refused() {
    let test = "what_is_beyond_the_limits_is_refused";
    let Some(mut device) = open(test, GlConfig::default()) else { return };
    let quads = device.info().max_quads;
    assert!(quads >= 1 << 20, "{quads}");
    if let Some(too_many) = quads.checked_add(1) {
        let refused = device.create(BufferKind::Quads, too_many, DrawSlots::New(1));
        assert!(matches!(refused, Err(RenderError::TooLarge { .. })));
    }
    assert!(matches!(device.resize(0, 5), Err(RenderError::EmptyPicture { .. })));
    assert!(matches!(device.resize(1 << 30, 5), Err(RenderError::TooLarge { .. })));
    assert_eq!(device.info().size, [16, 16]);
    let geometry = wall(&mut device);
    device.resize(40, 30).unwrap();
    draw(&mut device, &geometry, 1).unwrap();
    assert_eq!(device.read_image().unwrap().width(), 40);
}

/// More commands than the ring can hold: it spills, grows, and draws the same picture.
#[test]
fn a_full_ring_spills_and_grows() {
    for access in [Access::Direct, Access::Staged] {
        let config = GlConfig { access, ..GlConfig::default() };
        let Some(mut device) = open("a_full_ring_spills_and_grows", config) else { return };
        let geometry = wall(&mut device);
        for count in [1, 100_000, 300_000, 300_000, 1] {
            draw(&mut device, &geometry, count).unwrap();
        }
        assert!(shows_the_wall(&mut device));
        device.finish().unwrap();
        assert_eq!(device.progress().completed, 5);
    }
}

/// A working context that cannot create a device does not end the search for one.
#[test]
fn the_first_context_that_can_create_a_device_is_used() {
    let open = |context: u32| if context < 3 { Err(context) } else { Ok(context) };
    assert_eq!(first_device([1, 2, 3, 4].into_iter(), open), Some(Ok(3)));
    assert_eq!(first_device([1, 2].into_iter(), open), Some(Err(1)));
    assert_eq!(first_device([].into_iter(), open), None);
}

/// The driver can call back for as long as a context exists. If the callback cannot be removed, its
/// data is not freed.
#[test]
fn a_callback_that_stays_registered_stays_valid() {
    let test = "a_callback_that_stays_registered_stays_valid";
    for is_unreachable in [false, true] {
        let Some(device) = open(test, GlConfig::default()) else { return };
        let fault = device.context.fault.clone();
        device.context.is_unreachable.set(is_unreachable);
        drop(device);
        assert_eq!(fault.clones(), if is_unreachable { 2 } else { 1 });
    }
}

/// Two devices on one thread alternate, each with its own objects. Objects that outlive their
/// device are harmless.
#[test]
fn contexts_can_alternate() {
    let test = "contexts_take_turns";
    let Some(mut one) = open(test, GlConfig::default()) else { return };
    let Some(mut two) = open(test, GlConfig::default()) else { return };
    let (first, second) = (wall(&mut one), wall(&mut two));
    draw(&mut one, &first, 1).unwrap();
    draw(&mut two, &second, 1).unwrap();
    assert!(shows_the_wall(&mut one) && shows_the_wall(&mut two));
    drop(one);
    draw(&mut two, &second, 2).unwrap();
    drop(first);
    assert!(shows_the_wall(&mut two));
}
