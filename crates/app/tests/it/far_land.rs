//! Far land: with [`View::fade_far`], it flickers less in flight, and its brightness stays.

use std::collections::BTreeSet;

use drystone::scene::{ChunkQuads, Meshing, VoxelScene, material_looks, mesh_world};
use drystone_mesh::Quad;
use drystone_render::{
    Camera, DrawData, Image, Layer, MeshData, Projection, Samples, SoftDevice, View,
};
use drystone_voxel::{Chunk, ChunkPos, Material};
use drystone_world::{GeneratedWorld, GeneratorConfig, World};
use glam::DVec3;

use crate::{
    picture_cases::materials,
    pictures::{HEIGHT, WIDTH, pool, soft},
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
    assert!(brighter.abs() < 1.0, "{brighter}");
    assert!(most < 15.0, "{most}");
}

/// A slab of 30 x 128 voxels, whose rows end at different voxels: merging makes its top of quads that
/// are one or two voxels wide.
fn comb() -> World {
    let mut world = World::new("comb", materials());
    for z in 0..4 {
        let chunk = Chunk::from_fn(Chunk::SIDE, |at| {
            let row = 32 * z + u32::from(at.z);
            let end = 30 - row * row % 7;
            if at.y < 8 && u32::from(at.x) < end { Material(2) } else { Material::AIR }
        });
        world.insert(ChunkPos::new(0, 0, z as i32), chunk).unwrap();
    }
    world
}

/// Number of colours in the middle of the comb's top, where a pixel spans a voxel. With `all_steps`,
/// every edge of a quad is a step.
fn top_colors(all_steps: bool) -> usize {
    let world = comb();
    let mut renderer = pool(soft(), 1 << 12);
    renderer.set_materials(&material_looks(world.materials())).unwrap();
    for ChunkQuads { position, mesh } in mesh_world(&world) {
        let origin = [position.x, position.y, position.z].map(|c| 32 * c);
        let draw_data = DrawData { origin, level: 0, extent: 32, sort_rank: 0 };
        let steps = |quad: &Quad| quad.with_steps(if all_steps { [3; 2] } else { quad.steps() });
        let quads: Vec<Quad> = mesh.opaque.quads().iter().map(steps).collect();
        let (counts, layer) = (mesh.opaque.counts(), Layer::Opaque);
        renderer.insert(&MeshData { quads: &quads, counts, draw_data, layer }).unwrap();
    }
    // Of three directions, in which a step would show its side beside its top.
    let views = [[0.2, 1.0, 0.9], [0.9, 0.7, 0.1], [-0.6, 0.5, -0.5]].map(|direction| {
        let direction = DVec3::from(direction).normalize();
        let parallel = Projection::Orthographic { height_voxels: 1.0 };
        let (min, max) = (DVec3::new(4.0, 0.0, 48.0), DVec3::new(20.0, 16.0, 80.0));
        let mut camera = Camera::fit_from(direction, min, max, parallel, 4.0 / 3.0);
        camera.projection = Projection::Orthographic { height_voxels: HEIGHT as f32 };
        View { fade_far: true, ..View::new(camera) }
    });
    let mut most = 0;
    for view in &views {
        renderer.draw(view).unwrap();
        let picture = renderer.read_image().unwrap();
        let (x, y) = (WIDTH / 2, HEIGHT / 2);
        let pixels = (x - 5..x + 5).flat_map(|x| (y - 3..y + 3).map(move |y| (x, y)));
        let colors: BTreeSet<_> = pixels.map(|(x, y)| picture.pixel(x, y)).collect();
        most = most.max(colors.len());
    }
    most
}

/// Compares with quads whose edges are all steps: there, narrow ones have other colours than wide ones.
#[test]
fn flat_surfaces_of_narrow_quads_have_one_colour() {
    assert_eq!(top_colors(false), 1);
    assert!(top_colors(true) > 1);
}
