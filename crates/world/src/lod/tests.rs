//! Tests of what is shown after every update, by a sink that records it and by rays.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use drystone_formats::{Source, SourceError};
use drystone_mesh::{Face, Quad};
use drystone_testing::Random;
use drystone_voxel::{
    Chunk, ChunkMesh, ChunkPos, Material, MaterialTable, NodePos, PaddedChunk, VoxelPos, mesh_unit,
};

use super::*;
use crate::edit::Edit;
use crate::generate::{GeneratedWorld, GeneratorConfig};
use crate::shape::VoxelShape;

mod arrivals;
mod closing;
mod edits;
mod epochs;
mod full;
mod full_detail;
mod holes;
mod layers;
mod neighbors;
mod occlusion;
mod order;
mod parts;
mod picture;
mod reread;
mod saving;
mod steps;
mod undo;
mod water;

/// A sink that records what is shown, and refuses meshes beyond its limit.
#[derive(Default)]
pub(super) struct Screen {
    bodies: HashMap<NodePos, Vec<Quad>>,
    skirts: HashMap<(NodePos, Face), Vec<Quad>>,
    /// Translucent quads of skirts, which hide nothing.
    rims: HashMap<(NodePos, Face), Vec<Quad>>,
    /// Maximum number of quads. `None`: no limit.
    max_quads: Option<usize>,
    /// Refuses one of three skirts.
    refuses_skirts: Option<Random>,
    /// Bodies and skirts that were refused. A sink may have stored a part of them, so the tree has to
    /// remove or replace them.
    refused: HashSet<(NodePos, Option<Face>)>,
    /// Roots that were covered after some update. They must stay covered.
    covered: RefCell<HashSet<NodePos>>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Full;

impl Screen {
    fn len(&self) -> usize {
        self.bodies
            .values()
            .chain(self.skirts.values())
            .chain(self.rims.values())
            .map(Vec::len)
            .sum()
    }

    fn take(&self, old: usize, new: usize) -> Result<(), Full> {
        let is_full = self.max_quads.is_some_and(|max_quads| self.len() - old + new > max_quads);
        if is_full { Err(Full) } else { Ok(()) }
    }
}

impl NodeSink for Screen {
    type Error = Full;

    fn set_body(&mut self, node: NodePos, mesh: Option<&ChunkMesh>) -> Result<(), Full> {
        let Some(mesh) = mesh else {
            let was_refused = self.refused.remove(&(node, None));
            assert!(self.bodies.remove(&node).is_some() || was_refused, "{node:?} is not shown");
            return Ok(());
        };
        let quads: Vec<Quad> = mesh.iter().map(|(quad, _)| quad).collect();
        let taken = self.take(self.bodies.get(&node).map_or(0, Vec::len), quads.len());
        if taken.is_err() {
            self.refused.insert((node, None));
            return taken;
        }
        self.refused.remove(&(node, None));
        self.bodies.insert(node, quads);
        Ok(())
    }

    fn set_skirt(
        &mut self,
        node: NodePos,
        face: Face,
        skirt: Option<&ChunkMesh>,
    ) -> Result<(), Full> {
        let Some(skirt) = skirt else {
            let was_refused = self.refused.remove(&(node, Some(face)));
            let was_shown = self.skirts.remove(&(node, face)).is_some();
            assert!(was_shown || was_refused, "{node:?} has no skirt {face:?}");
            self.rims.remove(&(node, face));
            return Ok(());
        };
        assert!(self.bodies.contains_key(&node), "a skirt of {node:?}, which is not shown");
        let [old, old_rim] = [&self.skirts, &self.rims].map(|it| it.get(&(node, face)));
        let taken = self.take(old.map_or(0, Vec::len) + old_rim.map_or(0, Vec::len), skirt.len());
        if taken.is_err() || self.refuses_skirts.as_mut().is_some_and(|it| it.below(3) == 0) {
            self.refused.insert((node, Some(face)));
            return Err(Full);
        }
        self.refused.remove(&(node, Some(face)));
        self.skirts.insert((node, face), skirt.opaque.quads().to_vec());
        self.rims.insert((node, face), skirt.translucent.quads().to_vec());
        Ok(())
    }
}

pub(super) fn generated(size_chunks: [u32; 3]) -> Box<GeneratedWorld> {
    let config = GeneratorConfig { size_chunks, ..GeneratorConfig::default() };
    Box::new(GeneratedWorld::new(config).unwrap())
}

/// The generated world without LOD voxels of its own: they are downsampled.
fn derived(size_chunks: [u32; 3]) -> Box<Derived> {
    Box::new(Derived(*generated(size_chunks)))
}

struct Derived(GeneratedWorld);

impl Source for Derived {
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
        self.0.chunk(position)
    }
}

/// Creates a tree without threads: meshes are made when the test calls `wait`.
pub(super) fn tree(source: Box<dyn Source>, config: LodConfig) -> LodTree {
    tree_with(source, config, 64 << 20)
}

fn tree_with(source: Box<dyn Source>, config: LodConfig, cache_bytes: usize) -> LodTree {
    let data = Arc::new(LodData::new(source, cache_bytes));
    LodTree::new(data, LodConfig { threads: 0, ..config }).unwrap()
}

/// Fills a shape in the voxels of `data`.
fn fill_data(data: &LodData, shape: &VoxelShape, material: Material) -> data::edit::Changes {
    data.apply(&Edit::fill(data, shape, material).unwrap())
}

/// Fills a shape and shows it.
fn fill(
    tree: &mut LodTree,
    shape: &VoxelShape,
    material: Material,
    screen: &mut Screen,
) -> Result<u64, Full> {
    let edit = Edit::fill(tree.data(), shape, material).unwrap();
    tree.apply_edit(&edit, screen)
}

const MESHINGS: [Meshing; 2] = [Meshing { occlusion: false }, Meshing { occlusion: true }];

/// Budgets that no update exceeds, and meshes of the given kind.
fn unlimited_with(meshing: Meshing) -> LodConfig {
    LodConfig { meshing, ..unlimited() }
}

/// Budgets that no update exceeds.
pub(super) fn unlimited() -> LodConfig {
    LodConfig {
        frame_bytes: usize::MAX,
        frame_time: Duration::from_secs(3600),
        ..LodConfig::default()
    }
}

pub(super) fn camera(position: [f64; 3], pixels: f64) -> LodCamera {
    let scale = PixelScale::Perspective(pixels);
    LodCamera { position, forward: [0.0, 0.0, 1.0], cos_half_view: 0.7, scale }
}

pub(super) fn settle(tree: &mut LodTree, camera: &LodCamera, screen: &mut Screen) -> usize {
    for updates in 1..100_000 {
        tree.update(camera, screen).unwrap();
        if tree.is_settled() {
            check(tree, screen, 5);
            assert!(screen.refused.is_empty(), "{:?}", screen.refused);
            return updates;
        }
        check(tree, screen, 97);
        tree.wait(Duration::ZERO);
    }
    panic!("never settled");
}

/// Checks what must hold after every update. The world is [covered](check_cover) without overlap.
/// Every shown node has a skirt exactly where its neighbour is not shown at the same level. One in
/// `every` skirts is compared with the voxels.
fn check(tree: &LodTree, screen: &Screen, every: usize) {
    let shown: HashSet<NodePos> = tree.shown().collect();
    assert_eq!(shown, screen.bodies.keys().copied().collect());
    for &node in &shown {
        let mut above = node;
        while above.level < tree.data().top_level() {
            above = above.parent();
            assert!(!shown.contains(&above), "{node:?} and {above:?} are both shown");
        }
    }
    check_cover(tree, screen);
    let mut closely = 0;
    for &node in &shown {
        for face in Face::ALL {
            let neighbor = node.offset(face.normal());
            let is_open =
                neighbor.is_some_and(|it| !shown.contains(&it) && tree.data().is_inside(it));
            let has = screen.skirts.contains_key(&(node, face));
            assert!(!has || is_open, "{node:?} has a skirt {face:?} next to a node of its level");
            closely += 1;
            if closely % every != 0 {
                continue;
            }
            let quads = if is_open { skirt_area(tree.data(), node, face) } else { 0 };
            let found: u32 = screen.skirts.get(&(node, face)).map_or(0, |skirt| {
                skirt.iter().map(|quad| quad.size().iter().product::<u32>()).sum()
            });
            assert_eq!(found, quads, "{node:?} {face:?}");
        }
    }
}

/// Each root is covered completely, or never was. When the tree is settled, all roots are covered.
fn check_cover(tree: &LodTree, screen: &Screen) {
    let mut covered: HashMap<NodePos, u128> = HashMap::new();
    for node in screen.bodies.keys() {
        *covered.entry(node.ancestor(tree.data().top_level())).or_default() +=
            inside_volume(tree, *node);
    }
    screen.covered.borrow_mut().extend(covered.keys());
    for root in tree.data().roots() {
        let found = covered.remove(&root);
        let was_covered = screen.covered.borrow().contains(&root);
        assert!(found.is_some() || !was_covered, "{root:?} is no longer covered");
        assert!(found.is_some() || !tree.is_settled(), "{root:?} was never covered");
        assert!(
            found.is_none_or(|it| it == inside_volume(tree, root)),
            "a part of the world is not covered"
        );
    }
    assert!(covered.is_empty(), "shown outside of all roots: {covered:?}");
}

/// Number of chunks of level 0 inside the world that a node covers.
fn inside_volume(tree: &LodTree, node: NodePos) -> u128 {
    let Some(extent) = tree.data().extent() else { return 0 };
    let low = [node.chunk.x, node.chunk.y, node.chunk.z].map(|c| i64::from(c) << node.level);
    let [min, max] = [extent.min, extent.max].map(|c| [c.x, c.y, c.z].map(i64::from));
    (0..3)
        .map(|axis| {
            let end = (low[axis] + (1 << node.level)).min(max[axis] + 1);
            (end - low[axis].max(min[axis])).max(0) as u128
        })
        .product()
}

/// Number of faces on a border that are visible only without the neighbour.
fn skirt_area(data: &LodData, node: NodePos, face: Face) -> u32 {
    let chunk = data.chunk(node);
    let beside = node.offset(face.normal()).map(|it| data.chunk(it));
    let count = |open: bool| {
        let mut padded = PaddedChunk::new();
        padded.fill(&chunk, |offset| {
            let is_it = offset == face.normal();
            if is_it && !open { beside.as_ref() } else { None }
        });
        let mut mesh = ChunkMesh::new();
        mesh_unit(&padded, data.materials(), &mut mesh);
        mesh.opaque.count(face)
    };
    count(true) - count(false)
}
