//! The example of a changing height map: contents of the pool and of the picture.

#[path = "../../examples/height_map/pictured.rs"]
mod pictured;
#[path = "../../examples/height_map/tile.rs"]
mod tile;

use drystone_render::{Image, PoolRenderer, Renderer, SoftDevice};
use drystone_world::CraterLand;
use glam::Vec3;
use pictured::{Pictured, TOLERANCE};
use tile::{Detail, Tile};

const TILES: usize = 4;
const TILE: usize = CraterLand::TILE;
const TURN_FRAMES: u32 = CraterLand::TURN_FRAMES;

fn renderer(size: [u32; 2]) -> Box<dyn Renderer> {
    Box::new(PoolRenderer::new(SoftDevice::new(size[0], size[1]).unwrap(), 0, 8).unwrap())
}

fn draw(pictured: &mut Pictured) -> Image {
    pictured.renderer.draw(&pictured.view).unwrap();
    pictured.renderer.read_image().unwrap()
}

fn held_bytes(terrain: &CraterLand) -> u64 {
    let mut tile = Tile::default();
    let bytes = (0..TILES * TILES).map(|at| {
        tile.fill(terrain, [at % TILES, at / TILES], Detail::within(TOLERANCE));
        size_of_val(tile.vertices.as_slice()) + size_of_val(tile.indices.as_slice())
    });
    bytes.sum::<usize>() as u64
}

/// After each frame the pool holds exactly the meshes of that frame, and its reserved memory does
/// not grow after the first turn.
#[test]
fn a_changing_terrain_does_not_leak_pool_memory() {
    let mut terrain = CraterLand::new(TILES);
    let mut pictured = Pictured::new(&terrain, renderer([32, 18])).unwrap();
    let meshes = (TILES * TILES) as u32;
    let mut used = Vec::new();
    let (mut first_turn_bytes, mut replaced) = (0, 0);
    for frame in 1..=3 * TURN_FRAMES {
        let changed = terrain.set_frame(frame);
        replaced += pictured.update(&terrain, &changed).unwrap();
        pictured.renderer.draw(&pictured.view).unwrap();
        let held = pictured.held();
        assert_eq!(held.meshes, meshes);
        if frame % 50 == 0 {
            assert_eq!(held.used_bytes, held_bytes(&terrain), "frame {frame}");
            used.push(held.used_bytes);
        }
        match frame {
            ..=TURN_FRAMES => first_turn_bytes = held.reserved_bytes.max(first_turn_bytes),
            _ => assert!(held.reserved_bytes <= first_turn_bytes, "frame {frame}: {held:?}"),
        }
    }
    assert!(replaced > u64::from(2 * TURN_FRAMES), "{replaced}");
    // One turn later the same bytes are used; within a turn, meshes grow and shrink.
    let turn = (TURN_FRAMES / 50) as usize;
    assert_eq!(used[..turn], used[2 * turn..]);
    let (least, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
    assert!(most - least > least / 20, "{least} to {most}");
}

/// A terrain updated tile by tile equals one built at once from the same heights.
#[test]
fn every_frame_shows_its_heights() {
    let mut terrain = CraterLand::new(TILES);
    let mut pictured = Pictured::new(&terrain, renderer([320, 180])).unwrap();
    let mut last = draw(&mut pictured);
    for frame in (1..=TURN_FRAMES).step_by(37) {
        let changed = terrain.set_frame(frame);
        pictured.update(&terrain, &changed).unwrap();
        let shown = draw(&mut pictured);
        let fresh = draw(&mut Pictured::new(&terrain, renderer([320, 180])).unwrap());
        assert_eq!(shown.difference(&fresh, 0).unwrap().pixels, 0, "frame {frame}");
        assert!(shown.difference(&last, 8).unwrap().pixels > 100, "frame {frame}");
        last = shown;
    }
}

/// Returns the height of the triangle above or below a sample, by testing each of them.
fn surface(tile: &Tile, [x, z]: [f32; 2], grid: usize) -> f32 {
    let corner = |index: &u32| Vec3::from(tile.vertices[*index as usize].position);
    let triangles = tile.indices[..grid].chunks(3);
    let mut heights = triangles.filter_map(|triangle| {
        let [a, b, c] = [0, 1, 2].map(|at| corner(&triangle[at]));
        let cross = |p: Vec3, q: Vec3| (q.x - p.x) * (z - p.z) - (q.z - p.z) * (x - p.x);
        let [wa, wb, wc] = [cross(b, c), cross(c, a), cross(a, b)];
        // Counter-clockwise from above, where Z points down the page.
        let inside = [wa, wb, wc].iter().all(|weight| *weight <= 0.0);
        inside.then(|| (a.y * wa + b.y * wb + c.y * wc) / (wa + wb + wc))
    });
    heights.next().unwrap()
}

/// Triangles stay within the tolerance of every height, and are fewer where possible.
#[test]
fn triangles_stay_within_the_tolerance() {
    let mut terrain = CraterLand::new(TILES);
    terrain.set_frame(170);
    let mut tile = Tile::default();
    let mut counts = Vec::new();
    for at in 0..TILES * TILES {
        let position = [at % TILES, at / TILES];
        tile.fill(&terrain, position, Detail::within(TOLERANCE));
        // A grid of n cells per side has 2 n² triangles and a skirt of 8 n.
        let cells =
            [1, 2, 4, 8, 16, TILE].into_iter().find(|n| tile.indices.len() == 6 * n * n + 24 * n);
        let grid = cells.map(|n| 6 * n * n).unwrap();
        counts.push(grid);
        for sample in (0..(TILE + 1).pow(2)).map(|i| [i % (TILE + 1), i / (TILE + 1)]) {
            let found = surface(&tile, sample.map(|side| side as f32), grid);
            let [x, z] = [0, 1].map(|axis| (position[axis] * TILE + sample[axis]) as i32);
            let off = (found - terrain.height([x, z])).abs();
            assert!(off <= TOLERANCE + 1e-4, "{position:?} {sample:?}: {off}");
        }
    }
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!((*least, *most) == (6, 6 * TILE * TILE), "{least} to {most}");
}

/// Skirts hide the sky between grids of different resolutions.
#[test]
fn skirts_close_the_seams() {
    let mut terrain = CraterLand::new(TILES);
    let sky_pixels = |terrain: &CraterLand, detail| {
        let mut pictured = Pictured::with_detail(terrain, renderer([480, 480]), detail).unwrap();
        // No land has the colour of the sky, and no sky is in view from so steeply above.
        let sky = Vec3::new(1.0, 0.0, 1.0);
        let atmosphere = &mut pictured.view.atmosphere;
        (atmosphere.zenith, atmosphere.horizon, atmosphere.ground) = (sky, sky, sky);
        let side = (TILES * TILE) as f64;
        pictured.view.camera.position = glam::DVec3::new(0.45, 0.28, 0.56) * side;
        pictured.view.camera.turn_to(glam::DVec3::new(0.5, 0.0, 0.45) * side);
        let image = draw(&mut pictured);
        image.rgba().chunks(4).filter(|pixel| pixel[..3] == [255, 0, 255]).count()
    };
    let mut open_pixels = 0;
    for frame in (0..TURN_FRAMES).step_by(50) {
        terrain.set_frame(frame);
        for tolerance in [TOLERANCE, 20.0 * TOLERANCE] {
            let detail = Detail::within(tolerance);
            assert_eq!(sky_pixels(&terrain, detail), 0, "frame {frame}, {tolerance}");
            open_pixels += sky_pixels(&terrain, Detail { skirt: 0.0, ..detail });
        }
    }
    assert!(open_pixels > 0);
}
