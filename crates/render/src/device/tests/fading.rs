//! Fading of the contrast between far faces.

use super::*;

on_every_device!(translucent_faces_keep_their_colour, only_opaque_faces_fade);

/// A field of strips whose edges are steps, so far away that many strips share a pixel.
fn only_opaque_faces_fade<D: Device>(mut device: D) {
    device.set_palette(&[[200, 150, 100, 255], [200, 150, 100, 200]]).unwrap();
    let camera = Camera::look_at(DVec3::new(32.0, 40.0, 90.0), DVec3::new(32.0, 0.0, 32.0));
    for (material, fades) in [(0, true), (1, false)] {
        let strip = |z| Quad::new([0, 0, z], [1, 64], Face::PosY, material);
        let quads: Vec<Quad> = (0..64).map(|z| strip(z).with_steps([Quad::MAX_STEPS; 2])).collect();
        let mut geometry = device.create(BufferKind::Quads, 64, DrawSlots::New(1)).unwrap();
        device.write(&mut geometry, 0, BufferData::Quads(&quads));
        device.write(&mut geometry, 0, BufferData::DrawData(&[DrawData { extent: 64, ..HERE }]));
        let commands = [DrawCommand { index_count: 64 * INDICES_PER_QUAD, ..command(0, 0) }];
        let batch = [Batch::new(&geometry, &commands)];
        let passes = match fades {
            true => Passes { opaque: &batch, ..Passes::default() },
            false => Passes { blended: &batch, ..Passes::default() },
        };
        let [plain, faded] = [0.0, 1.0].map(|far_fade| {
            let frame = Frame::new(&camera, &Atmosphere::default(), 16, 16);
            device.draw(&Frame { far_fade, ..frame }, &passes).unwrap();
            device.read_image().unwrap()
        });
        let pixels = plain.difference(&faded, 2).unwrap().pixels;
        assert!((pixels > 20) == fades, "{}: {pixels} pixels fade", device.describe());
        assert!(fades || pixels == 0, "{}: {pixels} translucent pixels fade", device.describe());
    }
}
