//! LOD meshes: every renderer on every backend draws a large voxel like many small ones.

use drystone::scene::{Meshing, material_looks, mesh_world_with, quad_count};
use drystone_bench::{ArticleDevice, FatDevice};
use drystone_pool::Access;
use drystone_render::{
    Api, Camera, Device, DrawData, Frame, GlConfig, GlDevice, Image, Layer, MeshData, RenderError,
    Renderer, View, WgpuDevice,
};
use drystone_voxel::{ChunkMesh, Material, VoxelPos};
use drystone_world::World;

use crate::{
    picture_cases::{Case, case, materials},
    pictures::{HEIGHT, WIDTH, compare, culled, culls, instanced, naive, pool, soft},
};

/// Start of each level's model along X; along Y and Z, one voxel below zero.
const ORIGINS: [i32; 5] = [0, 10, 28, 64, 128];
/// Lowest voxel of the model in its chunk.
const CORNER: [i32; 3] = [20, 2, 24];
/// Level with a pane of glass.
const GLASS_LEVEL: usize = 2;

/// Models at all levels next to each other.
struct Levels {
    /// The scene in small voxels, and its views.
    case: Case,
    meshes: Vec<(ChunkMesh, DrawData)>,
}

/// Sets the small voxels of one voxel of some level.
fn set_cube(world: &mut World, origin: [i32; 3], voxel: [i32; 3], (side, material): (i32, u16)) {
    let [x, y, z] = [0, 1, 2].map(|axis| origin[axis] + voxel[axis] * side);
    for n in 0..side * side * side {
        let small = VoxelPos::new(x + n % side, y + n / side % side, z + n / side / side);
        world.set(small, Material(material));
    }
}

/// A heap with steps in all directions, and a pane in front of it.
fn model(level: usize, has_glass: bool) -> Vec<([i32; 3], u16)> {
    let mut voxels = Vec::new();
    let at = |x: i32, y: i32, z: i32| [CORNER[0] + x, CORNER[1] + y, CORNER[2] + z];
    for (x, z) in (0..7).flat_map(|x| (0..6).map(move |z| (x, z))) {
        for y in (x * 2 + z) % 3..1 + (x * 3 + z * 5) % 5 {
            voxels.push((at(x, y, z), 1 + ((x + y + z) as usize + level) as u16 % 4));
        }
    }
    if has_glass && level == GLASS_LEVEL {
        voxels.extend((0..28).map(|n| (at(n % 7, n / 7, 7), 5)));
    }
    voxels
}

fn levels(has_glass: bool, meshing: Meshing) -> Levels {
    let mut small = World::new("levels", materials());
    let mut meshes = Vec::new();
    for (level, draw_data) in ORIGINS.into_iter().enumerate() {
        let side = 1 << level;
        let origin = [draw_data, -side, -side];
        let origin = [0, 1, 2].map(|axis| origin[axis] - CORNER[axis] * side);
        let mut large = World::new("one level", materials());
        for (voxel, material) in model(level, has_glass) {
            large.set(VoxelPos::new(voxel[0], voxel[1], voxel[2]), Material(material));
            set_cube(&mut small, origin, voxel, (side, material));
        }
        let extent = large.side() << level;
        let draw_data = DrawData { origin, level: level as u32, extent, sort_rank: 0 };
        let chunks = mesh_world_with(&large, meshing);
        assert_eq!(chunks.len(), 1, "a model fits a chunk");
        meshes.extend(chunks.into_iter().map(|chunk| (chunk.mesh, draw_data)));
    }
    let mut case = case("levels", small);
    // The smallest models cover few pixels in views of all models.
    for (eye, target) in
        [([-9.3, 11.7, 30.1], [14.0, 2.0, 4.0]), ([9.2, 3.3, 12.8], [-1.0, 0.0, 1.0])]
    {
        case.views.push(View::new(Camera::look_at(eye.into(), target.into())));
    }
    Levels { case, meshes }
}

fn shaded() -> Levels {
    let mut levels = levels(true, Meshing { occlusion: true });
    levels.case.name = "shaded-levels";
    levels.case.set_occlusion(0.3);
    levels
}

/// Returns the levels with tints and edges of quads.
fn marked() -> Levels {
    let mut levels = shaded();
    levels.case.name = "marked-levels";
    levels.case.set_marks();
    levels
}

impl Levels {
    fn quads(&self) -> u64 {
        self.meshes.iter().map(|(mesh, _)| mesh.len() as u64).sum()
    }

    /// Draws all views twice: culling on the GPU uses the previous frame.
    fn pictures(&self, mut renderer: Box<dyn Renderer>) -> Vec<Image> {
        renderer.set_materials(&material_looks(self.case.world.materials())).unwrap();
        for (mesh, draw_data) in &self.meshes {
            for (layer, quads) in
                [(Layer::Opaque, &mesh.opaque), (Layer::Blended, &mesh.translucent)]
            {
                let (quads, counts) = (quads.quads(), quads.counts());
                if !quads.is_empty() {
                    renderer
                        .insert(&MeshData { quads, counts, draw_data: *draw_data, layer })
                        .unwrap();
                }
            }
        }
        let mut picture = |view| {
            renderer.draw(view).unwrap();
            renderer.draw(view).unwrap();
            renderer.read_image().unwrap()
        };
        self.case.views.iter().map(&mut picture).collect()
    }

    /// Compares the pictures of `renderer` with the expected ones.
    fn agree(&self, contender: &str, expected: &[Image], renderer: Box<dyn Renderer>) {
        let got = self.pictures(renderer);
        assert_eq!(expected.len(), got.len());
        let wrong: Vec<String> = expected
            .iter()
            .zip(&got)
            .enumerate()
            .filter_map(|(index, (want, got))| compare(self.case.name, index, contender, want, got))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Draws the views of the small voxels.
fn small_pictures(case: &Case) -> Vec<Image> {
    let mut scene = case.scene(pool(soft(), quad_count(&case.quads())));
    case.views.iter().map(|view| scene.picture(view).unwrap().0).collect()
}

/// Equal to the pixel, except at seams between chunks of the small voxels.
#[test]
fn large_voxels_equal_many_small_ones() {
    let levels = levels(true, Meshing::default());
    let small = small_pictures(&levels.case);
    let large = levels.pictures(pool(soft(), levels.quads()));
    for (index, (want, got)) in small.iter().zip(&large).enumerate() {
        let seen = want.difference(got, 1).unwrap();
        assert!(seen.pixels <= 8, "view {index}: {seen:?}");
        assert_eq!(seen.away_from_edges, 0, "view {index}: {seen:?}");
    }
    levels.agree("soft-pool", &small, pool(soft(), levels.quads()));
}

/// Each level is visible in some picture, with its ambient occlusion.
#[test]
fn every_level_is_visible() {
    let (mut levels, plain) = (shaded(), levels(true, Meshing::default()));
    let all = levels.pictures(pool(soft(), levels.quads()));
    let max_changed = |levels: &Levels| {
        let others = levels.pictures(pool(soft(), levels.quads()));
        let pixels = all.iter().zip(&others).map(|(a, b)| a.difference(b, 8).unwrap().pixels);
        pixels.max().unwrap()
    };
    for level in 0..ORIGINS.len() {
        let own = std::mem::replace(&mut levels.meshes[level], plain.meshes[level].clone());
        let dark = max_changed(&levels);
        let gone = levels.meshes.remove(level);
        let seen = max_changed(&levels);
        assert!(dark > 100 && seen > 1000, "level {level}: {dark}, {seen} pixels");
        assert_eq!(gone.1, own.1);
        levels.meshes.insert(level, own);
    }
}

/// Tests every renderer on a device, if there is one.
fn device_agrees<D: Device + 'static>(test: &str, open: impl Fn() -> Result<D, RenderError>) {
    if let Err(error @ RenderError::NoAdapter { .. }) = open() {
        return println!("skipped: {test}: {error}");
    }
    let device = || open().unwrap();
    let levels = levels(true, Meshing::default());
    let expected = small_pictures(&levels.case);
    levels.agree(&format!("{test}-pool"), &expected, pool(device(), levels.quads()));
    levels.agree(&format!("{test}-naive"), &expected, naive(device()));
    levels.agree(&format!("{test}-instanced"), &expected, instanced(device()));
    let shaded = shaded();
    let expected = shaded.pictures(pool(soft(), shaded.quads()));
    shaded.agree(&format!("{test}-pool"), &expected, pool(device(), shaded.quads()));
    shaded.agree(&format!("{test}-naive"), &expected, naive(device()));
    let marked = marked();
    let expected = marked.pictures(pool(soft(), marked.quads()));
    marked.agree(&format!("{test}-pool"), &expected, pool(device(), marked.quads()));
    marked.agree(&format!("{test}-naive"), &expected, naive(device()));
    // Cubes show the edges of each.
    let mut cubes = levels;
    cubes.case.set_marks();
    let expected = cubes.pictures(instanced(soft()));
    cubes.agree(&format!("{test}-instanced-marked"), &expected, instanced(device()));
}

/// Tints and lines are visible, and every level has another tint.
#[test]
fn tints_and_lines_are_visible() {
    let (plain, mut levels) = (shaded(), shaded());
    let draw = |levels: &Levels| levels.pictures(pool(soft(), levels.quads()));
    let unmarked = draw(&plain);
    let seen = |levels: &Levels| {
        let pairs = unmarked.iter().zip(draw(levels));
        pairs.map(|(a, b)| a.difference(&b, 20).unwrap().pixels).collect::<Vec<_>>()
    };
    levels.case.views.iter_mut().for_each(|view| view.wire = true);
    let wired = seen(&levels);
    levels.case.views.iter_mut().for_each(|view| (view.wire, view.tint_levels) = (false, true));
    let tinted = seen(&levels);
    for (wired, tinted) in wired.iter().zip(&tinted).take(4) {
        assert!(*wired > 300 && *tinted > 2 * wired, "{wired} by lines, {tinted} by tints");
    }
    let hue = |level: u32| Frame::TINTS.map(|hues| hues >> (4 * level) & 15);
    let all: std::collections::BTreeSet<[u32; 3]> = (0..8).map(hue).collect();
    assert_eq!(all.len(), 8);
}

#[test]
fn soft_draws_larger_voxels_with_every_renderer() {
    device_agrees("soft", || Ok(soft()));
}

#[test]
fn wgpu_on_vulkan_draws_larger_voxels() {
    device_agrees("vulkan", || WgpuDevice::headless(Api::Vulkan, WIDTH, HEIGHT));
}

#[test]
fn wgpu_on_opengl_draws_larger_voxels() {
    device_agrees("opengl", || WgpuDevice::headless(Api::OpenGl, WIDTH, HEIGHT));
}

#[test]
fn gl_draws_larger_voxels() {
    for access in [Access::Direct, Access::Staged] {
        let config = GlConfig::default().with_access(access);
        let test = format!("gl-{}", access.name());
        device_agrees(&test, || GlDevice::headless(config, WIDTH, HEIGHT));
    }
}

#[test]
fn wgpu_that_culls_draws_larger_voxels() {
    if !culls("wgpu_that_culls_draws_larger_voxels") {
        return;
    }
    let plain = levels(true, Meshing::default());
    let expected = small_pictures(&plain.case);
    plain.agree("vulkan-culled-pool", &expected, culled(plain.quads()).unwrap());
    let shaded = shaded();
    let expected = shaded.pictures(pool(soft(), shaded.quads()));
    shaded.agree("vulkan-culled-pool", &expected, culled(shaded.quads()).unwrap());
    let marked = marked();
    let expected = marked.pictures(pool(soft(), marked.quads()));
    marked.agree("vulkan-culled-pool", &expected, culled(marked.quads()).unwrap());
}

#[test]
fn the_articles_vertices_draw_larger_voxels() {
    let article = || ArticleDevice::headless(WIDTH, HEIGHT);
    if let Err(error @ RenderError::NoAdapter { .. }) = article() {
        return println!("skipped: the_articles_vertices_draw_larger_voxels: {error}");
    }
    let opaque = levels(false, Meshing::default());
    let expected = small_pictures(&opaque.case);
    opaque.agree("naive-gl", &expected, naive(article().unwrap()));
    let fat = FatDevice::headless(GlConfig::default(), WIDTH, HEIGHT).unwrap();
    opaque.agree("pool-gl-fat", &expected, pool(fat, opaque.quads()));
}
