use drystone_mesh::{Face, FaceSet, Quad};
use drystone_testing::Random;
use glam::DVec3;

use super::*;
use crate::{camera::Camera, image::Image, soft::SoftDevice};

mod refusing;

const PALETTE: [[u8; 4]; 4] = [[0; 4], [200, 60, 40, 255], [60, 160, 70, 255], [60, 90, 200, 255]];

fn renderer(policy: SlotPolicy) -> InstancedRenderer<SoftDevice> {
    let mut renderer = InstancedRenderer::new(SoftDevice::new(160, 120).unwrap(), policy).unwrap();
    renderer.set_palette(&PALETTE).unwrap();
    renderer
}

fn view() -> View {
    View::new(Camera::look_at(DVec3::new(-30.0, 70.0, 90.0), DVec3::new(32.0, 24.0, 32.0)))
}

fn data_at(x: i32) -> DrawData {
    DrawData { origin: [x, 0, 0], level: 0, extent: 32, sort_rank: 0 }
}

/// A cube with all its faces in one of the regions.
fn random_cube(random: &mut Random, regions: &[RegionId]) -> Cube {
    let position = [(); 3].map(|()| random.below(32));
    let region = regions[random.below(regions.len())];
    Cube::new(position, FaceSet::ALL, 1 + random.below(3_u16), region.slot())
}

/// Close to the cube at (20, 20, 20).
fn close_view() -> View {
    View::new(Camera::look_at(DVec3::new(14.0, 28.0, 34.0), DVec3::splat(20.5)))
}

fn picture(renderer: &mut InstancedRenderer<SoftDevice>, view: &View) -> Image {
    renderer.draw(view).unwrap();
    renderer.read_image().unwrap()
}

/// Cubes are inserted, removed and changed between frames at random. The picture equals that of a
/// renderer with only the current cubes.
#[test]
fn the_picture_shows_the_current_cubes() {
    for policy in SlotPolicy::ALL {
        let mut random = Random::new(1);
        let mut changing = renderer(policy);
        let regions = [0, 32, 64].map(|x| changing.insert_region(data_at(x)).unwrap());
        let mut live = Vec::new();
        for frame in 0..8 {
            for _ in 0..1500 {
                let which = random.below(live.len().max(1) as u32) as usize;
                match random.below(if frame % 2 == 0 { 5 } else { 3 }) {
                    0 if !live.is_empty() => {
                        let (id, cube) = live.swap_remove(which);
                        assert_eq!(changing.remove_cube(id).unwrap(), cube);
                    }
                    1 if !live.is_empty() => {
                        let (id, cube) = &mut live[which];
                        let new = random_cube(&mut random, &regions);
                        assert_eq!(changing.set_cube(*id, new).unwrap(), *cube);
                        *cube = new;
                    }
                    _ => {
                        let cube = random_cube(&mut random, &regions);
                        live.push((changing.insert_cube(cube).unwrap(), cube));
                    }
                }
            }
            let mut fresh = renderer(SlotPolicy::Lowest);
            regions.iter().zip([0, 32, 64]).for_each(|(region, x)| {
                assert_eq!(fresh.insert_region(data_at(x)).unwrap().slot(), region.slot());
            });
            for (_, cube) in &live {
                fresh.insert_cube(*cube).unwrap();
            }
            let (actual, expected) =
                (picture(&mut changing, &view()), picture(&mut fresh, &view()));
            let difference = expected.difference(&actual, 2).unwrap();
            // Cubes of two materials can have the same position here: then the drawing order
            // decides.
            assert!(difference.pixels <= 160, "{policy:?} {frame}: {difference:?}");
            assert_eq!(changing.cubes().validate(), Ok(()));
            assert_eq!(changing.held().used_bytes, 8 * live.len() as u64);
        }
        assert!(live.len() > 2000);
    }
}

#[test]
fn stale_and_missing_ids_are_errors() {
    let mut renderer = renderer(SlotPolicy::Lowest);
    let region = renderer.insert_region(data_at(0)).unwrap();
    let cube = Cube::new([1, 2, 3], FaceSet::ALL, 1, region.slot());
    let nowhere = Cube::new([1, 2, 3], FaceSet::ALL, 1, region.slot() + 1);
    assert!(matches!(renderer.insert_cube(nowhere), Err(RenderError::NoRegion { region: 1 })));
    let id = renderer.insert_cube(cube).unwrap();
    assert!(matches!(renderer.set_cube(id, nowhere), Err(RenderError::NoRegion { .. })));
    let in_use = renderer.remove_region(region);
    assert!(matches!(in_use, Err(RenderError::RegionInUse { cubes: 1 })), "{in_use:?}");
    assert_eq!(renderer.remove_cube(id).unwrap(), cube);
    assert!(matches!(renderer.remove_cube(id), Err(RenderError::StaleCube)));
    assert!(matches!(renderer.set_cube(id, cube), Err(RenderError::StaleCube)));
    // The failed insertion was not counted.
    renderer.remove_region(region).unwrap();
    assert!(matches!(renderer.remove_region(region), Err(RenderError::NoRegion { .. })));
    assert!(renderer.set_region(region, data_at(1)).is_err());
    assert!(renderer.insert_cube(cube).is_err());
}

/// Segments are created and destroyed with their cubes. Earlier cubes are uploaded again.
#[test]
fn the_buffer_grows_and_shrinks_by_segments() {
    let mut renderer = renderer(SlotPolicy::Lowest);
    let region = renderer.insert_region(data_at(0)).unwrap();
    let hidden = Cube::new([0; 3], FaceSet::EMPTY, 1, region.slot());
    let count = 700_000;
    let mut ids: Vec<CubeId> = Vec::new();
    for round in 0..2 {
        while ids.len() < count {
            ids.push(renderer.insert_cube(hidden).unwrap());
        }
        let sky = picture(&mut renderer, &close_view());
        assert_eq!(renderer.held().reserved_bytes, 3 * (1 << 18) * 8);
        // The cube in the highest slot is drawn.
        let shown = Cube::new([20, 20, 20], FaceSet::ALL, 1, region.slot());
        renderer.set_cube(ids[count - 1], shown).unwrap();
        let drawn = renderer.draw(&close_view()).unwrap();
        assert_eq!((drawn.quads, drawn.commands), (3 * count as u64, 8 + 8 + 6));
        let seen = renderer.read_image().unwrap();
        assert!(seen.difference(&sky, 2).unwrap().pixels > 20, "round {round}");
        for id in ids.drain(1000..) {
            renderer.remove_cube(id).unwrap();
        }
        renderer.draw(&view()).unwrap();
        assert_eq!(renderer.held().reserved_bytes, 2 * (1 << 18) * 8);
    }
}

/// Replacing a mesh changes the cubes that differ, and no others.
#[test]
fn replacing_a_mesh_changes_only_cubes_that_differ() {
    let mut renderer = renderer(SlotPolicy::Lowest);
    let floor = |size: [u32; 2]| Quad::new([0, 0, 0], size, Face::PosY, 1);
    let mesh = |quad: &[Quad; 1], x| {
        let (counts, layer) = ([0, 0, 0, 0, 1, 0], Layer::Opaque);
        let (quads, draw_data) = (quad.to_vec().leak(), data_at(x));
        MeshData { quads, counts, draw_data, layer }
    };
    let id = renderer.insert(&mesh(&[floor([8, 8])], 0)).unwrap();
    let uploads = |renderer: &mut InstancedRenderer<SoftDevice>| {
        let mut count = 0;
        renderer.cubes.take_changes(|_, cubes| count += cubes.len());
        count
    };
    assert_eq!(uploads(&mut renderer), 64);
    renderer.replace(id, &mesh(&[floor([8, 8])], 32)).unwrap();
    assert_eq!(uploads(&mut renderer), 0);
    renderer.replace(id, &mesh(&[floor([8, 9])], 32)).unwrap();
    assert_eq!(renderer.cubes.len(), 72);
    renderer.replace(id, &mesh(&[floor([2, 2])], 32)).unwrap();
    assert_eq!((renderer.cubes.len(), renderer.cubes.validate()), (4, Ok(())));
    let wrong = MeshData { counts: [0; 6], ..mesh(&[floor([4, 4])], 32) };
    assert!(renderer.replace(id, &wrong).is_err());
    let shaded = [bytemuck::cast::<[u32; 2], Quad>([0, 4 | 1 << 3])];
    assert!(matches!(renderer.replace(id, &mesh(&shaded, 0)), Err(RenderError::NotCubes { .. })));
    assert!(renderer.insert(&mesh(&shaded, 0)).is_err());
    // The old mesh is still present, and no other.
    assert_eq!((renderer.cubes.len(), renderer.held().meshes), (4, 1));
    renderer.remove(id).unwrap();
    assert!(renderer.cubes.is_empty() && renderer.remove(id).is_err());
}

/// A renderer refuses handles of another renderer, of the same kind or another.
#[test]
fn instanced_renderers_refuse_meshes_of_others() {
    let [mut mine, mut other] = [renderer(SlotPolicy::Lowest), renderer(SlotPolicy::Lowest)];
    let quads = [Quad::new([0, 0, 0], [8, 8], Face::PosY, 1)];
    for layer in [Layer::Opaque, Layer::Blended] {
        let counts = [0, 0, 0, 0, 1, 0];
        let mesh = MeshData { quads: &quads, counts, draw_data: data_at(0), layer };
        let [own, foreign] = [&mut mine, &mut other].map(|it| it.insert(&mesh).unwrap());
        assert!(matches!(mine.replace(foreign, &mesh), Err(RenderError::StaleMesh)));
        assert!(matches!(mine.remove(foreign), Err(RenderError::StaleMesh)));
        mine.remove(own).unwrap();
        other.remove(foreign).unwrap();
    }
}

/// More regions than fit the first table.
#[test]
fn many_regions_keep_their_origins() {
    let mut renderer = renderer(SlotPolicy::Lowest);
    let mut last = None;
    for n in 0..1000 {
        let region = renderer.insert_region(data_at(if n == 3 { 20 } else { 10_000 })).unwrap();
        let cube = Cube::new([20, 20, 20], FaceSet::ALL, 1, region.slot());
        last = Some((region, renderer.insert_cube(cube).unwrap()));
    }
    let with_one = picture(&mut renderer, &close_view());
    let (region, id) = last.unwrap();
    renderer.set_region(region, data_at(0)).unwrap();
    let with_two = picture(&mut renderer, &close_view());
    renderer.remove_cube(id).unwrap();
    let again = picture(&mut renderer, &close_view());
    assert!(with_one.difference(&with_two, 2).unwrap().pixels > 20);
    assert_eq!(with_one.difference(&again, 0).unwrap().pixels, 0);
}

/// Cubes that are set one by one equal the same cubes inserted at once, in buffer and picture. The
/// buffer is no longer than the largest number of cubes.
#[test]
fn cubes_of_a_mesh_are_set_one_by_one() {
    let mut random = Random::new(12);
    let mut changing = renderer(SlotPolicy::Lowest);
    let empty = |draw_data| MeshData {
        quads: &[],
        counts: [0; Face::COUNT],
        draw_data,
        layer: Layer::Opaque,
    };
    let id = changing.insert(&empty(data_at(0))).unwrap();
    let mut expected = std::collections::BTreeMap::new();
    let mut most = 0;
    for round in 0..400 {
        let x = random.below(8);
        let cubes: Vec<Cube> = (0..7)
            .map(|y| {
                let faces = FaceSet::from_bits(if random.below(2) == 0 { 0 } else { 0x3f });
                // The region of the mesh is used instead of this one.
                Cube::new([x, y, random.below(4)], faces, 1 + random.below(3_u16), 77)
            })
            .collect();
        changing.set_cubes(id, &cubes).unwrap();
        for cube in cubes {
            match cube.faces() == FaceSet::EMPTY {
                true => drop(expected.remove(&cube.position())),
                false => drop(expected.insert(cube.position(), cube)),
            }
        }
        most = most.max(expected.len());
        assert_eq!(changing.cubes().validate(), Ok(()));
        assert_eq!(changing.cubes().len() as usize, expected.len());
        assert!(changing.cubes().high_water() as usize <= most);
        if round % 50 == 0 {
            let mut fresh = renderer(SlotPolicy::Lowest);
            let region = fresh.insert_region(data_at(0)).unwrap();
            for (at, cube) in &expected {
                let cube = Cube::new(*at, cube.faces(), cube.material(), region.slot());
                fresh.insert_cube(cube).unwrap();
            }
            let near = View::new(Camera::look_at(DVec3::new(-9.0, 14.0, 20.0), DVec3::splat(3.0)));
            let pictures = [&mut changing, &mut fresh].map(|it| picture(it, &near));
            assert!(pictures[0] == pictures[1], "{round}");
        }
    }
    changing.remove(id).unwrap();
    assert!(matches!(changing.set_cubes(id, &[]), Err(RenderError::StaleMesh)));
    let blended = MeshData { layer: Layer::Blended, ..empty(data_at(0)) };
    let glass = changing.insert(&blended);
    assert!(glass.is_err() || changing.set_cubes(glass.unwrap(), &[]).is_err());
    assert!(changing.cubes().is_empty());
}
