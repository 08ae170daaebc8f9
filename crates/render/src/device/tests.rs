//! The contract of [`Device`], tested on every device.

use drystone_mesh::{Face, INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::DrawCommand;
use glam::DVec3;

use super::*;
#[cfg(feature = "gl")]
use crate::gl::{GlConfig, GlDevice};
#[cfg(feature = "wgpu")]
use crate::wgpu_device::{Api, WgpuDevice};
use crate::{
    atmosphere::Atmosphere, camera::Camera, draw_data::DrawData, passes::Batch, soft::SoftDevice,
};

/// A colour for each material: all different in one channel.
const PALETTE: [[u8; 4]; 4] =
    [[40, 10, 10, 255], [90, 10, 10, 255], [150, 10, 10, 255], [230, 10, 10, 255]];

/// Makes a test of every available device, and prints the unavailable ones.
macro_rules! on_every_device {
    ($test:ident, $ask:ident) => {
        #[test]
        fn $test() {
            $ask(SoftDevice::new(16, 16).unwrap());
            #[cfg(feature = "wgpu")]
            for api in [Api::Vulkan, Api::OpenGl] {
                match WgpuDevice::headless(api, 16, 16) {
                    Ok(device) => $ask(device),
                    Err(error) => println!("skipped: {} ({api:?}): {error}", stringify!($test)),
                }
            }
            #[cfg(feature = "gl")]
            for access in [Access::Direct, Access::Staged] {
                match GlDevice::headless(GlConfig { access, ..GlConfig::default() }, 16, 16) {
                    Ok(device) => $ask(device),
                    Err(error) => println!("skipped: {} ({access:?}): {error}", stringify!($test)),
                }
            }
        }
    };
}

on_every_device!(copies_and_writes_keep_their_order, copies_and_writes_take_effect_in_order);
on_every_device!(tables_are_shared_and_grow, a_table_serves_all_that_share_it);
on_every_device!(undrawn_pictures_are_empty, pictures_are_empty_until_they_are_drawn);
on_every_device!(frames_are_counted, frames_are_counted_as_they_complete);
on_every_device!(empty_geometries_are_fine, empty_geometries_draw_nothing);
on_every_device!(what_reaches_outside_is_refused, commands_that_reach_outside_are_not_drawn);
on_every_device!(large_writes_arrive, more_is_written_than_any_ring_holds);

mod fading;
pub(crate) mod late;
mod overlay;
mod samples;
mod textures;
mod tiles;
mod triangles;

/// A wall in front of the camera.
fn wall(material: u16) -> Quad {
    Quad::new([0, 0, 0], [8, 8], Face::PosZ, material)
}

fn camera() -> Camera {
    Camera::look_at(DVec3::new(4.0, 4.0, 5.0), DVec3::new(4.0, 4.0, 0.0))
}

const fn command(quad: u32, slot: u32) -> DrawCommand {
    DrawCommand {
        index_count: INDICES_PER_QUAD,
        instance_count: 1,
        first_index: 0,
        base_vertex: (quad * VERTICES_PER_QUAD) as i32,
        first_instance: slot,
    }
}

/// Draws a quad and returns the frame's number.
fn draw<D: Device>(device: &mut D, geometry: &D::Geometry, quad: u32, slot: u32) -> u64 {
    let commands = [command(quad, slot)];
    let opaque = [Batch::new(geometry, &commands)];
    let frame = Frame::new(&camera(), &Atmosphere::default(), 16, 16);
    device.draw(&frame, &Passes { opaque: &opaque, ..Passes::default() }).unwrap().frame
}

/// The material that one quad shows, drawn with one slot; `None` for sky.
fn shown<D: Device>(device: &mut D, geometry: &D::Geometry, quad: u32, slot: u32) -> Option<usize> {
    draw(device, geometry, quad, slot);
    let [red, green, blue, _] = device.read_image().unwrap().pixel(8, 8);
    let lit = Atmosphere::default().light(glam::Vec3::Z).x;
    let is_wall = green < 30 && blue < 30;
    let off = |color: &[u8; 4]| (f32::from(color[0]) * lit - f32::from(red)).abs();
    let is_near = |color: &&[u8; 4]| off(color) < 12.0;
    let nearest = PALETTE.iter().filter(is_near).min_by(|a, b| off(a).total_cmp(&off(b)))?;
    PALETTE.iter().position(|color| color == nearest).filter(|_| is_wall)
}

/// A pixel on the wall, and one beside it.
const HERE: DrawData = DrawData { origin: [0; 3], level: 0, extent: 32, sort_rank: 0 };
const AWAY: DrawData = DrawData { origin: [0, 0, 900], level: 0, extent: 32, sort_rank: 0 };

/// Sizes of a few kilobytes, whose memory has been used before.
fn pictures_are_empty_until_they_are_drawn<D: Device>(mut device: D) {
    device.set_palette(&PALETTE).unwrap();
    let geometry = device.create(BufferKind::Quads, 1, DrawSlots::New(1)).unwrap();
    for side in [15, 17, 16, 20, 17, 16] {
        device.resize(side, 16).unwrap();
        let picture = device.read_image().unwrap();
        let is_empty = picture.rgba().iter().all(|byte| *byte == 0);
        assert!(is_empty, "{side}: {}", device.describe());
        draw(&mut device, &geometry, 0, 0);
        device.resize(8, 8).unwrap();
    }
}

fn copies_and_writes_take_effect_in_order<D: Device>(mut device: D) {
    device.set_palette(&PALETTE).unwrap();
    let mut one = device.create(BufferKind::Quads, 8, DrawSlots::New(1)).unwrap();
    let mut two = device.create(BufferKind::Quads, 4, DrawSlots::SharedWith(&one)).unwrap();
    device.write(&mut one, 0, BufferData::DrawData(&[HERE]));
    device.write(&mut one, 0, BufferData::Quads(&[wall(0), wall(1), wall(2), wall(3)]));
    draw(&mut device, &one, 0, 0);
    // Moved away, and its range reused.
    device.copy(None, &mut one, CopyRange { from: 0, to: 4, count: 2 });
    device.copy(Some(&one), &mut two, CopyRange { from: 2, to: 1, count: 2 });
    if device.info().access == Access::Direct {
        device.finish().unwrap();
    }
    device.write(&mut one, 0, BufferData::Quads(&[wall(3), wall(3), wall(0), wall(0)]));
    device.copy(Some(&one), &mut two, CopyRange { from: 4, to: 0, count: 1 });
    // Nonexistent quads are not copied, and others are not changed.
    device.copy(Some(&one), &mut two, CopyRange { from: 7, to: 3, count: 100 });
    device.copy(Some(&one), &mut two, CopyRange { from: 8, to: 0, count: 1 });
    device.copy(None, &mut one, CopyRange { from: 0, to: u32::MAX, count: u32::MAX });
    device.write(&mut two, 4, BufferData::Quads(&[wall(0)]));
    let shown_of = |device: &mut D, geometry: &D::Geometry, count: u32| -> Vec<_> {
        (0..count).map(|quad| shown(device, geometry, quad, 0)).collect()
    };
    let expected = [3, 3, 0, 0, 0, 1].map(Some);
    assert_eq!(shown_of(&mut device, &one, 6), expected, "{}", device.describe());
    assert_eq!(shown_of(&mut device, &two, 3), [0, 2, 3].map(Some), "{}", device.describe());
}

fn a_table_serves_all_that_share_it<D: Device>(mut device: D) {
    device.set_palette(&PALETTE).unwrap();
    let mut one = device.create(BufferKind::Quads, 1, DrawSlots::New(1)).unwrap();
    let mut two = device.create(BufferKind::Quads, 1, DrawSlots::SharedWith(&one)).unwrap();
    device.write(&mut one, 0, BufferData::Quads(&[wall(1)]));
    device.write(&mut two, 0, BufferData::Quads(&[wall(2)]));
    device.write(&mut two, 0, BufferData::DrawData(&[HERE]));
    device.write(&mut two, 1, BufferData::DrawData(&[AWAY]));
    assert_eq!(shown(&mut device, &one, 0, 0), Some(1));
    device.resize_draw_data(&mut [&mut one, &mut two], 1000).unwrap();
    for slot in 0..1000 {
        device.write(
            &mut one,
            slot,
            BufferData::DrawData(&[if slot == 700 { HERE } else { AWAY }]),
        );
    }
    for (geometry, material) in [(&one, 1), (&two, 2)] {
        assert_eq!(shown(&mut device, geometry, 0, 700), Some(material));
        assert_eq!(shown(&mut device, geometry, 0, 0), None);
    }
}

fn frames_are_counted_as_they_complete<D: Device>(mut device: D) {
    let geometry = device.create(BufferKind::Quads, 1, DrawSlots::New(1)).unwrap();
    assert_eq!(device.progress().completed, 0);
    for frame in 1..=20 {
        assert_eq!(draw(&mut device, &geometry, 0, 0), frame);
        assert!(device.progress().completed <= frame);
    }
    device.finish().unwrap();
    assert_eq!(device.progress().completed, 20);
}

/// In release builds too: `cargo test -p drystone-render --lib reaches_outside --config
/// profile.dev.package.drystone-render.debug-assertions=false`.
fn commands_that_reach_outside_are_not_drawn<D: Device>(mut device: D) {
    device.set_palette(&PALETTE).unwrap();
    let mut geometry = device.create(BufferKind::Quads, 2, DrawSlots::New(2)).unwrap();
    device.write(&mut geometry, 0, BufferData::Quads(&[wall(0), wall(1)]));
    device.write(&mut geometry, 0, BufferData::DrawData(&[HERE, HERE]));
    assert_eq!(shown(&mut device, &geometry, 1, 1), Some(1));
    let inside = command(1, 1);
    let outside = [
        command(2, 1),
        command(1, 2),
        DrawCommand { base_vertex: -4, ..inside },
        DrawCommand { index_count: INDICES_PER_QUAD + 1, ..inside },
        DrawCommand { first_index: INDICES_PER_QUAD, ..inside },
        DrawCommand { instance_count: 2, ..inside },
    ];
    // The rasteriser draws only existing quads.
    let is_soft = device.describe().starts_with("soft");
    let frame = Frame::new(&camera(), &Atmosphere::default(), 16, 16);
    for command in outside {
        let commands = [inside, command];
        let opaque = [Batch::new(&geometry, &commands)];
        for indirect in [false, true] {
            let drawn = device.draw(
                &frame,
                &Passes { opaque: &opaque, blended: &[], indirect, ..Passes::default() },
            );
            let reason = drawn.err().map(|error| error.to_string());
            let is_refused = reason.is_some_and(|it| it.contains("command 1 reaches outside"));
            assert_eq!(is_refused, !is_soft, "{}: {command:?}", device.describe());
        }
    }
}

fn empty_geometries_draw_nothing<D: Device>(mut device: D) {
    let mut nothing = device.create(BufferKind::Quads, 0, DrawSlots::New(0)).unwrap();
    device.write(&mut nothing, 0, BufferData::Quads(&[]));
    device.write(&mut nothing, 5, BufferData::Quads(&[wall(0)]));
    device.copy(None, &mut nothing, CopyRange { from: 0, to: 0, count: 0 });
    let frame = Frame::new(&camera(), &Atmosphere::default(), 16, 16);
    let empty = [Batch::new(&nothing, &[])];
    device.draw(&frame, &Passes { opaque: &empty, blended: &empty, ..Passes::default() }).unwrap();
    let sky = device.read_image().unwrap();
    device
        .draw(&frame, &Passes { opaque: &[], blended: &[], indirect: false, ..Passes::default() })
        .unwrap();
    assert!(device.read_image().unwrap() == sky, "{}", device.describe());
}

/// 50 MiB in pieces, between two frames, and each slot many times.
fn more_is_written_than_any_ring_holds<D: Device>(mut device: D) {
    const PIECES: u32 = 100;
    const PIECE: u32 = 1 << 16;
    device.set_palette(&PALETTE).unwrap();
    let mut geometry = device.create(BufferKind::Quads, PIECES * PIECE, DrawSlots::New(2)).unwrap();
    for piece in 0..PIECES {
        let quads = vec![wall((piece % 4) as u16); PIECE as usize];
        device.write(&mut geometry, piece * PIECE, BufferData::Quads(&quads));
        device.write(
            &mut geometry,
            piece % 2,
            BufferData::DrawData(&[if piece < 50 { AWAY } else { HERE }]),
        );
    }
    for piece in [0, 1, 50, 99] {
        let seen = shown(&mut device, &geometry, piece * PIECE + 77, piece % 2);
        assert_eq!(seen, Some(piece as usize % 4), "{}", device.describe());
    }
}
