//! Pictures for which only what they show and what shades it was made fine.

use std::sync::Arc;

use drystone::scene::{Size, VoxelScene};
use drystone_render::{Atmosphere, Camera, View};
use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, MaterialTable};
use drystone_world::{LodConfig, LodData, LodTree, World};
use glam::{DVec3, Vec3};

use crate::pictures::{HEIGHT, WIDTH, pool, soft};

const SIZE: Size = Size { width: WIDTH, height: HEIGHT };
/// Side of the world in chunks, and its height.
const CHUNKS: [i32; 2] = [32, 4];
const EYE: DVec3 = DVec3::new(512.0, 30.0, 512.0);
/// Position of the fence on Z, behind the camera, and height of the grid over it.
const FENCE: i32 = 490;
const ROOF: i32 = 108;

/// A plain with a fence that the sun shines through, and a grid above it. LOD voxels close their holes.
fn plain() -> World {
    let mut materials = MaterialTable::new();
    let stone = materials.insert("stone", [150, 150, 150, 255]).unwrap();
    let mut world = World::new("a plain", materials);
    let [side, height] = CHUNKS;
    for (x, z) in (0..side).flat_map(|x| (0..side).map(move |z| (x, z))) {
        for y in 0..height {
            let at = |local: LocalPos| {
                let [x, y, z] = [
                    x * 32 + i32::from(local.x),
                    y * 32 + i32::from(local.y),
                    z * 32 + i32::from(local.z),
                ];
                let is_fence = z == FENCE && y < 64 && x % 4 < 2 && y % 4 < 2;
                let is_roof = y == ROOF
                    && (400..600).contains(&x)
                    && (480..700).contains(&z)
                    && x % 8 < 5
                    && z % 8 < 5;
                if y < 4 || is_fence || is_roof { stone } else { Material::AIR }
            };
            world.insert(ChunkPos::new(x, y, z), Chunk::from_fn(Chunk::SIDE, at)).unwrap();
        }
    }
    world
}

fn scene(data: &Arc<LodData>) -> VoxelScene {
    let tree =
        LodTree::new(Arc::clone(data), LodConfig::default().with_max_voxel_pixels(0.7)).unwrap();
    VoxelScene::new(tree, pool(soft(), 1 << 20)).unwrap()
}

/// A view of the ground in front of the camera.
fn view() -> View {
    let camera = Camera::look_at(EYE, EYE + DVec3::new(0.1, -1.0, 1.0));
    let sun_direction = Vec3::new(0.0, 1.0, -1.0);
    View { atmosphere: Atmosphere { sun_direction, ..Atmosphere::default() }, ..View::new(camera) }
}

#[test]
fn coarse_surroundings_change_neither_pictures_nor_their_shadows() {
    let data = Arc::new(LodData::new(Box::new(plain()), usize::MAX));
    let mut whole = scene(&data);
    let mut pictures = Vec::new();
    for (shadows, sky_light, most) in
        [(false, false, 0.25), (true, false, 0.75), (false, true, 0.6)]
    {
        let view = View { shadows, sky_light, ..view() };
        whole.settle(&view, SIZE, |_| {}).unwrap();
        let expected = whole.picture(&view).unwrap().0;
        let mut scene = scene(&data);
        scene.settle_picture(&view, SIZE, |_| {}).unwrap();
        let picture = scene.picture(&view).unwrap().0;
        let different = expected.difference(&picture, 0).unwrap().pixels;
        assert_eq!(different, 0, "with shadows {shadows}, with sky light {sky_light}");
        let [few, many] = [&scene, &whole].map(|scene| scene.tree().shown().count() as f64);
        assert!(few < most * many, "{few} of {many} nodes");
        pictures.push(picture);
    }
    // What is outside the picture changes it.
    let [plain, shaded, covered] = &pictures[..] else { panic!("three pictures") };
    for (other, name) in [(shaded, "shadow"), (covered, "cover")] {
        let different = plain.difference(other, 8).unwrap().pixels;
        assert!(different > WIDTH * HEIGHT / 20, "{different} pixels show the {name}");
    }
}
