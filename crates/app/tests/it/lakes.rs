//! Lakes across levels of detail: pictures equal those in full detail, without lines where two levels
//! meet.

use std::sync::Arc;

use drystone::scene::{Size, VoxelScene};
use drystone_formats::{Source, SourceError};
use drystone_render::{Camera, Image, View};
use drystone_voxel::{
    Chunk, ChunkPos, LocalPos, Material, MaterialKind, MaterialTable, NodePos, Shape, ShapeBox,
    ShapeKind,
};
use drystone_world::{LodConfig, LodData, LodTree, World};
use glam::DVec3;

use crate::pictures::{HEIGHT, WIDTH, pool, soft};

/// Side of the lake in chunks, and its height.
const SIDE: [i32; 2] = [16, 4];
/// Height of the bed in voxels, and half of that of the banks: tops of voxels at every level.
const BED: i32 = 32;

/// Number of pixels that may differ: seams where voxels of two levels meet.
const MAX_PIXELS: u32 = 8;

/// A lake between banks and over a flat bed, whose water ends at the voxel `top`. It fills `cells`
/// sixteenths of its highest voxels.
fn lake(top: i32, cells: u8) -> World {
    let mut materials = MaterialTable::new();
    let bed = materials.insert("sand", [222, 206, 154, 255]).unwrap();
    let mut water = MaterialKind::new("water", [46, 116, 178, 150]);
    if cells < Shape::CELLS {
        let part = ShapeBox { min: [0; 3], max: [16, cells, 16] };
        water = water.with_shape(Shape::new(vec![part], ShapeKind::Fluid).unwrap());
    }
    let water = materials.insert_kind(water).unwrap();
    let mut world = World::new("a lake", materials);
    let [side, height] = SIDE;
    for (x, z) in (0..side).flat_map(|x| (0..side).map(move |z| (x, z))) {
        let is_bank = [x, z].iter().any(|&c| c == 0 || c == side - 1);
        let ground = if is_bank { 2 * BED } else { BED };
        for y in 0..height {
            let at = |local: LocalPos| match y * 32 + i32::from(local.y) {
                height if height < ground => bed,
                height if height < top => water,
                _ => Material::AIR,
            };
            world.insert(ChunkPos::new(x, y, z), Chunk::from_fn(Chunk::SIDE, at)).unwrap();
        }
    }
    world
}

/// Draws views of a world. Returns the number of levels that they show, too.
fn pictures(source: Box<dyn Source>, config: LodConfig, views: &[View]) -> (Vec<Image>, usize) {
    let tree = LodTree::new(Arc::new(LodData::new(source, usize::MAX)), config).unwrap();
    let mut scene = VoxelScene::new(tree, pool(soft(), 1 << 20)).unwrap();
    let (size, mut levels) = (Size { width: WIDTH, height: HEIGHT }, 0);
    let mut picture = |view: &View| {
        let mut shown = 0;
        let count = |tree: &LodTree| tree.counts().iter().filter(|it| it.meshes > 0).count();
        scene.settle(view, size, |tree| shown = count(tree)).unwrap();
        levels = levels.max(shown);
        scene.picture(view).unwrap().0
    };
    (views.iter().map(&mut picture).collect(), levels)
}

/// Views low above the lake, along and across the borders of nodes.
fn views() -> Vec<View> {
    let view = |eye: [f64; 3], target: [f64; 3]| {
        let camera = Camera::look_at(DVec3::from(eye), DVec3::from(target));
        View { fade_far: true, ..View::new(camera) }
    };
    vec![
        view([40.3, 76.7, 30.6], [300.0, 30.0, 320.0]),
        view([255.2, 71.4, 11.8], [256.0, 40.0, 250.0]),
        view([8.1, 68.3, 256.2], [200.0, 50.0, 230.0]),
    ]
}

/// Number of pixels away from edges that differ clearly from the lake in full detail, in the worst view.
fn differing(world: &World, levels: Box<dyn Source>, voxel_pixels: f64) -> u32 {
    let views = views();
    let fine = LodConfig::default().with_max_level(0);
    let coarse = LodConfig::default().with_max_voxel_pixels(voxel_pixels);
    let ((expected, one), (found, many)) =
        (pictures(Box::new(world.clone()), fine, &views), pictures(levels, coarse, &views));
    assert!(one == 1 && many >= 3, "{many} levels");
    let pairs = expected.iter().zip(&found);
    pairs.map(|(a, b)| a.difference(b, 6).unwrap().away_from_edges).max().unwrap()
}

#[test]
fn lakes_show_no_lines_between_levels() {
    for (top, cells) in [(33, 16), (35, 16), (37, 16), (44, 16), (61, 16), (62, 14), (63, 14)] {
        // Heights of fluids are rounded up by at most a sixteenth of a voxel: 0.2 pixels by default.
        // That moves the line where water meets a bank.
        let (voxel_pixels, max_pixels) =
            if cells == 16 { (24.0, MAX_PIXELS) } else { (3.5, 5 * MAX_PIXELS) };
        let world = lake(top, cells);
        let seen = differing(&world, Box::new(world.clone()), voxel_pixels);
        println!("surface at {top}, {cells} sixteenths: {seen} pixels");
        assert!(seen <= max_pixels, "surface at {top}, {cells} sixteenths: {seen} pixels");
    }
}

/// A world whose LOD voxels are as high as whole voxels.
struct Whole(World, LodData);

impl Source for Whole {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn materials(&self) -> &MaterialTable {
        self.0.materials()
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.0.chunk_positions()
    }
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        Source::chunk(&self.0, position)
    }
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        let chunk = self.1.chunk(node);
        Some(Ok(Chunk::from_fn(Chunk::SIDE, |at| self.materials().whole(chunk.get(at)))))
    }
}

/// The comparison finds the lines that lakes showed before they kept their height.
#[test]
fn surfaces_of_whole_voxels_show_lines() {
    let world = lake(37, 16);
    let data = LodData::new(Box::new(world.clone()), usize::MAX);
    let seen = differing(&world, Box::new(Whole(world.clone(), data)), 24.0);
    println!("{seen} pixels");
    assert!(seen > 20 * MAX_PIXELS, "{seen} pixels differ");
}
