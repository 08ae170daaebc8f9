//! Culling never changes the picture.

use super::*;
use crate::samples::Samples;

/// Draws with and without culling, and compares.
fn agree(device: &mut WgpuDevice, meshes: &Meshes, view: &View, step: u32) -> Image {
    meshes.draw_culled(device, view);
    let culled = device.read_image().unwrap();
    let all = meshes.draw_all(device, view);
    let differ = all.difference(&culled, 0).unwrap().pixels;
    assert_eq!(differ, 0, "step {step}, {:?}", device.info().size);
    culled
}

/// A flight with jumps, rotations and new sizes, while meshes are inserted, removed, moved and
/// changed. No two faces of different meshes are equally near anywhere: pictures must be equal in
/// every pixel.
fn fly(device: &mut WgpuDevice, seed: u64, steps: u32) {
    let mut random = Random::new(seed);
    let mut meshes = Meshes::new(device, 600);
    let cell = |random: &mut Random| [10, 4, 10].map(|cells| random.below(cells) * 20);
    let mut taken = std::collections::HashMap::new();
    for step in 0..steps {
        for _ in 0..if step % 10 == 0 { 150 } else { 12 } {
            let slot = random.below(580);
            taken.retain(|_, owner| *owner != slot);
            let origin = cell(&mut random);
            if random.below(4) == 0 || taken.contains_key(&origin) {
                meshes.remove(slot);
            } else {
                taken.insert(origin, slot);
                meshes.set_random(device, slot, origin, &mut random);
            }
        }
        // Walls at any position, so that many meshes are partly hidden.
        for _ in 0..if step % 6 == 2 { 4 } else { 0 } {
            let [x, z] = [0, 1].map(|_| random.below(200));
            let height = random.below(20);
            meshes.set_skirt(device, 580 + random.below(20), [x - 20, height, z]);
        }
        if step % 9 == 8 {
            device.resize(1 + random.below(400), 1 + random.below(300)).unwrap();
        }
        let view = flight(&mut random, step);
        let picture = agree(device, &meshes, &view, step);
        // Draw again: now most meshes are known from the frame before.
        assert!(agree(device, &meshes, &view, step) == picture);
    }
}

#[test]
fn flights_show_the_same() {
    let Some(mut device) = open("flights_show_the_same", 317, 240) else { return };
    for seed in 10..12 {
        fly(&mut device, seed, 25);
    }
}

/// Culling leaves out only meshes that are hidden at all samples of their pixels.
#[test]
fn flights_show_the_same_with_several_samples() {
    let test = "flights_show_the_same_with_several_samples";
    let Some(mut device) = open(test, 317, 240) else { return };
    device.set_samples(Samples::Four).unwrap();
    fly(&mut device, 30, 20);
}

/// A mesh that is seen only through a gap between two walls, a third of a pixel wide, is drawn: the
/// gap covers some samples of its pixels and no others.
#[test]
fn meshes_seen_at_single_samples_are_drawn() {
    let test = "meshes_seen_at_single_samples_are_drawn";
    let Some(mut device) = open(test, 320, 240) else { return };
    device.set_samples(Samples::Four).unwrap();
    let mut meshes = Meshes::new(&mut device, 4);
    let wall = Quad::new([0, 0, 0], [64, 64], Face::PosZ, 1);
    for (slot, x) in [(0, -512), (1, 1)] {
        let origin = [x, -256, 0];
        let draw_data = DrawData { origin, level: 3, extent: 64, sort_rank: 0 };
        meshes.set(&mut device, slot, draw_data, &[wall], [0, 0, 0, 0, 0, 1]);
    }
    let cube = Quad::new([0, 0, 0], [15, 15], Face::PosZ, 2);
    let draw_data = DrawData { origin: [-7, -7, -40], level: 0, extent: 15, sort_rank: 0 };
    meshes.set(&mut device, 2, draw_data, &[cube], [0, 0, 0, 0, 0, 1]);
    let camera = Camera { position: DVec3::new(0.5, 0.5, 600.0), ..Camera::default() };
    let view = View::new(camera);
    let with = (0..4).map(|step| agree(&mut device, &meshes, &view, step)).last();
    meshes.remove(2);
    let without = agree(&mut device, &meshes, &view, 4);
    assert!(with.is_some_and(|with| with != without), "the mesh is seen");
}

/// If the GPU does not read command counts, unused commands draw nothing.
#[test]
fn flights_show_the_same_without_counts() {
    let Some(mut device) = open("flights_show_the_same_without_counts", 201, 133) else { return };
    // The first frame creates the culler.
    fly(&mut device, 20, 1);
    device.culler.as_mut().unwrap().max_counted = 0;
    fly(&mut device, 21, 20);
}

/// Either the GPU reads the numbers of commands of all calls of a frame, or of none.
#[test]
fn counting_is_decided_for_all_calls_of_a_frame() {
    let test = "counting_is_decided_for_all_calls_of_a_frame";
    let Some(mut device) = open(test, 99, 80) else { return };
    let mut random = Random::new(6);
    let mut meshes = Meshes::new(&mut device, 50);
    meshes.set_random(&mut device, 0, [0; 3], &mut random);
    let view = flight(&mut random, 0);
    let [commands, ..] = meshes.commands();
    let five = [commands[0]; 5];
    let mut is_counted = |max_counted: u32, commands: &[DrawCommand]| {
        meshes.draw_culled(&mut device, &view);
        device.culler.as_mut().unwrap().max_counted = max_counted;
        let batches = [Batch::new(&meshes.geometries[0], commands)];
        meshes.draw_with(&mut device, &view, &batches);
        device.culler.as_ref().unwrap().is_counted()
    };
    if !is_counted(u32::MAX, &five) {
        return println!("skipped: {test}: the GPU reads no counts");
    }
    assert_eq!([4, 5, 0].map(|most| is_counted(most, &five)), [false, true, false]);
    assert!(is_counted(4, &five[..4]) && !is_counted(0, &[]));
}

/// Pictures of one pixel, one row, one column.
#[test]
fn smallest_pictures_show_the_same() {
    let Some(mut device) = open("smallest_pictures_show_the_same", 1, 1) else { return };
    let mut random = Random::new(4);
    let mut meshes = Meshes::new(&mut device, 50);
    for slot in 0..50 {
        let origin = [slot % 7 * 20, 0, slot / 7 * 20].map(|c| c as i32);
        meshes.set_random(&mut device, slot, origin, &mut random);
    }
    for (step, [width, height]) in (0..).zip([[1, 1], [1, 40], [40, 1], [2, 3], [16, 16], [17, 33]])
    {
        device.resize(width, height).unwrap();
        for _ in 0..3 {
            agree(&mut device, &meshes, &flight(&mut random, step), step);
        }
    }
}

/// Nine tenths of a scene behind a wall are not drawn. When the wall is removed, all of them are
/// drawn in the next frame.
#[test]
fn meshes_behind_a_wall_are_culled() {
    for samples in [Samples::One, Samples::Four] {
        cull_behind_a_wall(samples);
    }
}

fn cull_behind_a_wall(samples: Samples) {
    let Some(mut device) = open("what_is_behind_a_wall_is_left_out", 320, 240) else { return };
    device.set_samples(samples).unwrap();
    let mut random = Random::new(5);
    let mut meshes = Meshes::new(&mut device, 1002);
    for slot in 0..1000 {
        let origin = [slot % 10 * 20 - 100, slot / 10 % 10 * 20 - 100, slot / 100 * -20 - 100];
        meshes.set_random(&mut device, slot as u32, origin, &mut random);
    }
    let view = View::new(Camera { position: DVec3::new(0.5, 0.5, 60.0), ..Camera::default() });
    let drawn = |device: &mut WgpuDevice, meshes: &Meshes| {
        meshes.draw_culled(device, &view);
        device.finish().unwrap();
        let counts = device.progress().culled.unwrap();
        agree(device, meshes, &view, 0);
        counts
    };
    let open_view = drawn(&mut device, &meshes);
    assert!(open_view.meshes > 200, "{open_view:?}");
    // Near enough to fill the picture, except its right edge.
    meshes.set_skirt(&mut device, 1000, [-38, -32, 21]);
    drawn(&mut device, &meshes);
    let walled = drawn(&mut device, &meshes);
    assert!(walled.commands * 10 < open_view.commands, "{walled:?} of {open_view:?}");
    meshes.remove(1000);
    assert_eq!(drawn(&mut device, &meshes).meshes, open_view.meshes);
}

/// Meshes that moved to another buffer, and alternating tables, are drawn correctly.
#[test]
fn tables_can_alternate() {
    let Some(mut device) = open("tables_take_turns", 160, 120) else { return };
    let mut random = Random::new(6);
    let mut tables = [Meshes::new(&mut device, 40), Meshes::new(&mut device, 40)];
    for step in 0..12 {
        for meshes in &mut tables {
            let slot = random.below(40);
            let origin = [slot % 6 * 20, 0, slot / 6 * 20].map(|c| c as i32);
            meshes.set_random(&mut device, slot, origin, &mut random);
            agree(&mut device, meshes, &flight(&mut random, step), step);
        }
    }
}

/// A lost device returns errors repeatedly, and never panics.
#[test]
fn a_lost_device_is_an_error() {
    let Some(mut device) = open("a_lost_device_is_an_error (culling)", 16, 16) else { return };
    let mut meshes = Meshes::new(&mut device, 4);
    meshes.set_random(&mut device, 0, [0; 3], &mut Random::new(7));
    let view = flight(&mut Random::new(8), 0);
    meshes.draw_culled(&mut device, &view);
    device.opened.gpu.device.destroy();
    let (frame, view) = Meshes::frame(&device, &view);
    for _ in 0..3 {
        let geometries = meshes.geometries.each_ref().map(Some);
        let (table, pool) = (&meshes.table, &meshes.pool);
        let culled = Culled { table, pool, geometries: &geometries, view };
        let passes = Passes { culled: Some(&culled), ..Passes::default() };
        let drawn = device.draw(&frame, &passes).and_then(|_| device.finish());
        assert!(matches!(drawn, Err(RenderError::Lost { .. })), "{drawn:?}");
        let _ = device.progress().culled;
    }
}

/// Meshes that reach outside their geometry are refused before they are uploaded.
#[test]
fn meshes_that_reach_outside_are_refused() {
    let Some(mut device) = open("meshes_that_reach_outside_are_refused", 16, 16) else { return };
    let view = flight(&mut Random::new(9), 0);
    let draw_data = DrawData { origin: [0; 3], level: 0, extent: 16, sort_rank: 0 };
    let quad = Quad::new([0; 3], [1, 1], Face::PosY, 0);
    // The fifth mesh has slot 4, and the device has slots 0 to 3.
    for (sizes, is_refused) in
        [(&[16][..], false), (&[17], true), (&[1; 4], false), (&[1; 5], true)]
    {
        let mut meshes = Meshes::new(&mut device, 4);
        let mut other = VertexPool::new(PoolConfig::default()).unwrap();
        let handles: Vec<_> = sizes
            .iter()
            .map(|&size| {
                let counts = [0, 0, 0, 0, size, 0];
                let quads = vec![quad; size as usize];
                other.insert(&quads, &counts, draw_data, &mut NullBackend::default()).unwrap()
            })
            .collect();
        meshes.table.set(&other, handles[handles.len() - 1]);
        let (frame, view) = Meshes::frame(&device, &view);
        let geometries = meshes.geometries.each_ref().map(Some);
        let (table, pool) = (&meshes.table, &other);
        let culled = Culled { table, pool, geometries: &geometries, view };
        let passes = Passes { culled: Some(&culled), ..Passes::default() };
        assert_eq!(device.draw(&frame, &passes).is_err(), is_refused, "{sizes:?}");
    }
}

/// Counts are those of the frame's picture. A device without meshes drew none.
#[test]
fn counts_are_those_of_a_frame() {
    let Some(mut device) = open("counts_are_those_of_a_frame", 64, 48) else { return };
    let mut random = Random::new(2);
    let mut meshes = Meshes::new(&mut device, 20);
    assert_eq!(device.progress().culled, None);
    for number in 0..20 {
        meshes.set_random(&mut device, number, [number as i32 * 20, 0, 0], &mut random);
    }
    let view = View { cull_frustum: false, mask_back_faces: false, ..flight(&mut random, 0) };
    for frame in 1..=10 {
        meshes.draw_culled(&mut device, &view);
        if let Some(counts) = device.progress().culled {
            assert!(counts.frame <= frame);
        }
    }
    device.finish().unwrap();
    let counts = device.progress().culled.unwrap();
    assert!(counts.frame == 10 && counts.meshes > 0 && counts.quads > 0, "{counts:?}");
    let nothing = Meshes::new(&mut device, 1);
    nothing.draw_culled(&mut device, &view);
    assert_eq!(device.progress().culled, Some(CullCounts { frame: 11, ..CullCounts::default() }));
}
