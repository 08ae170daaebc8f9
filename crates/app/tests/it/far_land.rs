//! Far land: with [`View::fade_far`], it flickers less in flight, and its brightness stays.

use drystone::scene::{Meshing, VoxelScene};
use drystone_render::{Camera, Image, Samples, SoftDevice, View};
use drystone_world::{GeneratedWorld, GeneratorConfig, World};
use glam::DVec3;

use crate::{
    pictures::{HEIGHT, WIDTH, pool},
    sampled_pictures::{error, reduced},
};

/// Number of pictures of the flight.
const FRAMES: u32 = 6;
/// Samples along each side of a pixel in the true picture.
const TRUE_SAMPLES: u32 = 8;

/// Hills seen from above their middle. A pixel spans 0.3 to 1.6 voxels of what is shown.
struct Flight(VoxelScene);

impl Flight {
    /// Opens the flight for pictures that are larger by a factor along each side.
    fn new(scale: u32, samples: Samples) -> Self {
        let config = GeneratorConfig::default().with_size_chunks([16, 4, 16]);
        let world = World::load(&GeneratedWorld::new(config).unwrap()).unwrap();
        let device = SoftDevice::new(WIDTH * scale, HEIGHT * scale).unwrap();
        let mut scene =
            VoxelScene::of_world(world, Meshing::default(), pool(device, 1 << 20)).unwrap();
        scene.renderer().output().set_samples(samples).unwrap();
        Self(scene)
    }

    /// Draws a picture of the flight, which moves a third of a voxel from one to the next.
    fn picture(&mut self, frame: u32, fade_far: bool) -> Image {
        let moved = DVec3::new(0.3, 0.0, 0.2) * f64::from(frame);
        let camera = Camera::look_at(
            DVec3::new(30.3, 130.7, 20.1) + moved,
            DVec3::new(300.0, 40.0, 330.0) + moved,
        );
        self.0.picture(&View { fade_far, ..View::new(camera) }).unwrap().0
    }

    /// Mean change of a channel from one picture to the next.
    fn flicker(&mut self, fade_far: bool) -> f64 {
        let pictures: Vec<_> = (0..FRAMES).map(|frame| self.picture(frame, fade_far)).collect();
        let changes = pictures.windows(2).map(|pair| error(&pair[0], &reduced(&pair[1], 1)));
        changes.sum::<f64>() / f64::from(FRAMES - 1)
    }
}

/// Means of blocks of pixels, which moiré and single faces do not change.
fn blocks(picture: &Image) -> Vec<f64> {
    const SIDE: u32 = 16;
    let mut means = Vec::new();
    for (top, left) in (0..HEIGHT / SIDE).flat_map(|y| (0..WIDTH / SIDE).map(move |x| (y, x))) {
        let pixels = (0..SIDE * SIDE).map(|n| (left * SIDE + n % SIDE, top * SIDE + n / SIDE));
        let sum: f64 =
            pixels.flat_map(|(x, y)| picture.pixel(x, y).into_iter().take(3)).map(f64::from).sum();
        means.push(sum / f64::from(3 * SIDE * SIDE));
    }
    means
}

#[test]
fn fading_reduces_flicker_and_keeps_brightness() {
    let mut four = Flight::new(1, Samples::Four);
    let one = Flight::new(1, Samples::One).flicker(false);
    let [sharp, faded] = [false, true].map(|fade| four.flicker(fade));
    let truth = reduced(&Flight::new(TRUE_SAMPLES, Samples::One).picture(0, false), TRUE_SAMPLES);
    let pictures = [false, true].map(|fade| four.picture(0, fade));
    let [sharp_error, faded_error] = [0, 1].map(|i| error(&pictures[i], &truth));
    let [sharp_blocks, faded_blocks] = [0, 1].map(|i| blocks(&pictures[i]));
    let differences = sharp_blocks.iter().zip(&faded_blocks).map(|(sharp, faded)| faded - sharp);
    let brighter = differences.clone().sum::<f64>() / sharp_blocks.len() as f64;
    let most = differences.map(f64::abs).fold(0.0, f64::max);
    println!(
        "change between pictures: {one:.2} with one sample, {sharp:.2} with four, {faded:.2} faded"
    );
    println!("from 64 samples: {sharp_error:.2}, faded {faded_error:.2}");
    println!("brightness: {brighter:+.2} in all, {most:.2} in one block");
    assert!(faded < 0.8 * sharp && sharp < one, "{faded} {sharp} {one}");
    // Of 255. The steps of a single hill may all be longer than the mean, or face away.
    assert!(brighter.abs() < 2.0, "{brighter}");
    assert!(most < 20.0, "{most}");
}
