//! T-junctions: where small quads end at a long edge, nothing may shine through.

use drystone_mesh::{Face, Quad};
use glam::{DVec3, Vec3};

use super::{Mesh, Scene};
use crate::{Atmosphere, Camera, Frame};

const SIZE: [u32; 2] = [160, 120];
const VIEWS: u32 = 120;

/// A floor of 64 × 64: half of it one quad, the other half strips of one voxel, which end
/// at its edge.
fn floor() -> Scene {
    let mut quads = vec![Quad::new([0, 0, 0], [32, 64], Face::PosY, 0)];
    quads.extend((0..64).map(|x| Quad::new([x, 0, 32], [32, 1], Face::PosY, 0)));
    // The first runs along z in its width and x in its height: z 0 to 32, x 0 to 64.
    Scene {
        palette: vec![[255; 4]],
        opaque: vec![Mesh::at([-32, -1, -32], quads)],
        blended: vec![],
    }
}

/// Everything but the floor is black.
fn night() -> Atmosphere {
    let black = Vec3::ZERO;
    Atmosphere { zenith: black, horizon: black, ground: black, sun: black, ..Default::default() }
}

/// Pixels through which the night shines, of views that show nothing but floor.
fn holes(seam_factor: f32) -> usize {
    let scene = floor();
    let mut holes = 0;
    for view in 0..VIEWS {
        // Low-discrepancy steps over heading, height and place.
        let part = |step: f64| f64::from(view) * step % 1.0;
        let height = 0.7 + 9.0 * part(0.754_877_666);
        let camera = Camera {
            eye: DVec3::new(6.0 * part(0.569_840_29) - 3.0, height, part(0.618_033_99)),
            yaw: (part(0.819_172_51) * std::f64::consts::TAU) as f32,
            pitch: -0.95 - 0.6 * part(0.672_432_1) as f32,
            ..Camera::default()
        };
        let mut frame = Frame::new(&camera, &night(), SIZE[0], SIZE[1]);
        frame.horizon[3] *= seam_factor;
        let image = scene.draw_frame(&frame, SIZE);
        holes += image.rgba().chunks_exact(4).filter(|pixel| pixel[0] == 0).count();
    }
    holes
}

#[test]
fn nothing_shines_through_a_t_junction() {
    assert_eq!(holes(1.0), 0);
}

/// Shows that the test above can fail: it sees the holes that the seam closes.
#[test]
fn without_the_seam_the_night_shines_through() {
    let holes = holes(0.0);
    assert!(holes > 0 && holes < VIEWS as usize * 160, "{holes}");
}
