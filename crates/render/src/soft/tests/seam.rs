//! T-junctions: where small quads end at a long edge, the background must not show through.

use drystone_mesh::{Face, Quad};
use glam::{DVec2, DVec3, Vec3};

use super::{Mesh, Scene, ray_caster::ray};
use crate::{
    atmosphere::Atmosphere,
    camera::{Camera, Projection},
    frame::Frame,
};

const SIZE: [u32; 2] = [160, 120];
const VIEWS: u32 = 150;
/// A face direction for each axis.
const FACES: [Face; 3] = [Face::NegX, Face::PosY, Face::PosZ];
/// Side of the face under test, in voxels, about the origin.
const SIDE: u32 = 64;
/// Distance of a pixel's centre from the face's border, in pixels, for the pixel to be certainly
/// covered.
const MARGIN_PIXELS: f64 = 1.0 / 64.0;

/// A face of 64 × 64 in the plane through the origin. Half of it is one quad; the other half is
/// strips of one voxel, which end at its edge.
fn wall(face: Face) -> Scene {
    let [u, v] = face.span_axes();
    let mut origin = [-(SIDE as i32) / 2; 3];
    // A positive face lies at the far end of its voxel.
    origin[face.axis()] = -i32::from(face.is_positive());
    let mut quads = vec![Quad::new([0; 3], [SIDE / 2, SIDE], face, 0)];
    quads.extend((0..SIDE).map(|row| {
        let mut position = [0; 3];
        position[u] = SIDE / 2;
        position[v] = row;
        Quad::new(position, [SIDE / 2, 1], face, 0)
    }));
    Scene { palette: vec![[255; 4]], opaque: vec![Mesh::at(origin, quads)], ..Scene::default() }
}

/// Everything except the face is black.
fn night() -> Atmosphere {
    let black = Vec3::ZERO;
    Atmosphere { zenith: black, horizon: black, ground: black, sun: black, ..Default::default() }
}

/// The view with this number of many views of a face from its front, at an angle of `steep` to its
/// plane; every fourth has parallel rays.
fn camera(face: Face, number: u32, steep: f64) -> Camera {
    // Low-discrepancy steps over heading, height and point.
    let part = |step: f64| f64::from(number) * step % 1.0;
    let [u, v] = face.span_axes().map(|axis| DVec3::AXES[axis]);
    let normal = DVec3::from_array(face.normal().map(f64::from));
    let [a, b] = [0.569_840_29, 0.618_033_99].map(|step| 24.0 * part(step) - 12.0);
    let position = u * a + v * b + normal * (0.7 + 9.0 * part(0.754_877_666));
    let (sin, cos) = (part(0.819_172_51) * std::f64::consts::TAU).sin_cos();
    let direction = (u * cos + v * sin) * steep.cos() - normal * steep.sin();
    let mut camera = Camera::look_at(position, position + direction);
    if number % 4 == 3 {
        camera.projection =
            Projection::Orthographic { height_voxels: 12.0 + 30.0 * part(0.31) as f32 };
    }
    camera
}

/// Whether the face, infinitely thin and exact, covers the whole neighbourhood of a pixel.
fn is_covered(face: Face, camera: &Camera, x: u32, y: u32) -> bool {
    let size = DVec2::new(SIZE[0].into(), SIZE[1].into());
    let [near, far] = camera.depth_range.map(f64::from);
    let axis = face.axis();
    [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].into_iter().all(|aside| {
        let center = DVec2::new(x.into(), y.into()) + 0.5;
        let at = (center + DVec2::from_array(aside) * MARGIN_PIXELS) / size * 2.0 - 1.0;
        let ray = ray(camera, size.x / size.y, at.x, -at.y);
        let start = camera.position + ray.start;
        let t = -start[axis] / ray.direction[axis];
        let point = start + ray.direction * t;
        let half = f64::from(SIDE) / 2.0;
        let is_on = face.span_axes().into_iter().all(|i| point[i].abs() < half);
        is_on && t > near * 1.01 && t < far * 0.99
    })
}

/// Number of pixels that the face covers but that show the background, and number of pixels that
/// show the face. `steep` is the range of angles; `change` can modify the frame.
fn holes(face: Face, steep: [f64; 2], change: impl Fn(&mut Frame)) -> [usize; 2] {
    let scene = wall(face);
    let (mut holes, mut shown) = (0, 0);
    for number in 0..VIEWS {
        let part = f64::from(number) * 0.672_432_1 % 1.0;
        let camera = camera(face, number, steep[0] + (steep[1] - steep[0]) * part);
        let mut frame = Frame::new(&camera, &night(), SIZE[0], SIZE[1]);
        change(&mut frame);
        let image = scene.draw_frame(&frame, SIZE);
        for (x, y) in (0..SIZE[0]).flat_map(|x| (0..SIZE[1]).map(move |y| (x, y))) {
            let is_black = image.pixel(x, y)[0] == 0;
            shown += usize::from(!is_black);
            holes += usize::from(is_black && is_covered(face, &camera, x, y));
        }
    }
    [holes, shown]
}

const STEEP: [f64; 2] = [0.1, 1.55];
const FLAT: [f64; 2] = [0.01, 0.1];

#[test]
fn t_junctions_have_no_holes() {
    for face in FACES {
        for range in [STEEP, FLAT] {
            let [holes, shown] = holes(face, range, |_| ());
            assert_eq!(holes, 0, "{face:?} {range:?}");
            assert!(shown > 300_000, "{face:?} {range:?}: only {shown} pixels tested");
        }
    }
}

/// Shows that the test above can fail: without the seam there are holes.
#[test]
fn without_the_seam_there_are_holes() {
    for face in FACES {
        for range in [STEEP, FLAT] {
            let [holes, shown] = holes(face, range, |frame| frame.seam = 0.0);
            assert!(holes > 0 && holes < shown / 1000, "{face:?} {range:?}: {holes}");
        }
    }
}

/// Shows the holes that open at low angles when corners move as if every face were seen straight
/// on.
#[test]
fn without_the_stretch_seams_open_at_low_angles() {
    let open: usize =
        FACES.map(|face| holes(face, FLAT, |frame| frame.seam_stretch_max = 1.0)[0]).iter().sum();
    assert!(open > 0);
}
