use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use crate::edited::{EditAccess, EditOptions};
use drystone_mesh::Face;
use drystone_voxel::{ChunkMesh, VoxelPos, downsample_block};
use drystone_world::{
    Edit, GeneratedWorld, GeneratorConfig, LodConfig, LodData, LodTree, NodeSink, VoxelShape, World,
};

use drystone_formats::Saving;

use super::*;

mod far;

const SIZE: [u32; 3] = [4, 4, 3];

fn generated(seed: u64) -> Box<GeneratedWorld> {
    let config = GeneratorConfig::default().with_seed(seed).with_size_chunks(SIZE);
    Box::new(GeneratedWorld::new(config).unwrap())
}

/// The generated world without levels of its own.
struct Plain(Box<GeneratedWorld>);

impl Source for Plain {
    fn name(&self) -> &str {
        "plain"
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

fn folder(name: &str) -> PathBuf {
    let name = format!("drystone-edited-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn open(source: Box<dyn Source>, path: &Path) -> EditedSource {
    EditedSource::open(source, &EditOptions { access: EditAccess::Write, ..EditOptions::at(path) })
        .unwrap()
}

fn same(a: &Chunk, b: &Chunk) -> bool {
    a.iter().eq(b.iter())
}

/// A reference for the voxels of a node as documented, computed voxel by voxel from the source and
/// the edited chunks.
struct Twin<'a> {
    edited: &'a EditedSource,
    original: HashMap<NodePos, Chunk>,
    now: HashMap<ChunkPos, Chunk>,
}

impl Twin<'_> {
    fn original(&mut self, level: u8, at: VoxelPos) -> Material {
        let (chunk, local) = at.split(Chunk::SIDE);
        let node = NodePos::new(level, chunk);
        let source = self.edited.source();
        let chunk = self.original.entry(node).or_insert_with(|| match level {
            0 => source.chunk(chunk).unwrap(),
            _ => source.coarse_chunk(node).unwrap().unwrap(),
        });
        chunk.get(local)
    }

    fn now(&mut self, level: u8, at: VoxelPos) -> Material {
        if level == 0 {
            let (chunk, local) = at.split(Chunk::SIDE);
            let edited = self.edited;
            return self
                .now
                .entry(chunk)
                .or_insert_with(|| edited.chunk(chunk).unwrap())
                .get(local);
        }
        let below = |i: usize| {
            let [dx, dy, dz] = [i & 1, i >> 1 & 1, i >> 2].map(|far| far as i32);
            VoxelPos::new(2 * at.x + dx, 2 * at.y + dy, 2 * at.z + dz)
        };
        let old = std::array::from_fn(|i| self.original(level - 1, below(i)));
        let new = std::array::from_fn(|i| self.now(level - 1, below(i)));
        let [old, new] = [old, new].map(|it| downsample_block(it, self.edited.materials()));
        if old == new { self.original(level, at) } else { new }
    }
}

/// Compares edited chunks with a map, while the file is closed and opened again.
#[test]
fn edits_persist_when_opened_again() {
    let folder = folder("again");
    for (name, has_levels) in [("levels.drystone", true), ("plain.drystone", false)] {
        let path = folder.join(name);
        let source = || -> Box<dyn Source> {
            if has_levels { generated(3) } else { Box::new(Plain(generated(3))) }
        };
        let mut shadow: HashMap<ChunkPos, Chunk> = HashMap::new();
        for round in 0..6_i32 {
            let data = LodData::new(Box::new(open(source(), &path)), 8 << 20);
            let store = data.source().edit_store().unwrap();
            for i in 0..4 {
                let center = VoxelPos::new(30 * i + round * 7, 30 + round * 13, 20 * i + 9);
                let material = Material((i % 3) as u16 * 2);
                let shape = VoxelShape::Sphere { center, radius_voxels: 3 + round as u32 };
                let edit = Edit::fill(&data, &shape, material).unwrap();
                let mut chunks = Vec::new();
                for (position, _) in edit.chunks() {
                    let mut chunk = data.source().chunk(position).unwrap();
                    edit.apply_to(position, &mut chunk);
                    chunks.push((position, chunk));
                }
                store.put_edited(chunks.clone()).unwrap();
                shadow.extend(chunks);
            }
            // One chunk is emptied, which differs from an unedited one.
            let emptied = ChunkPos::new(round % 4, round % 3, 1);
            let air = Chunk::new(Chunk::SIDE, Material::AIR);
            store.put_edited(vec![(emptied, air.clone())]).unwrap();
            shadow.insert(emptied, air);
            assert!(store.saving().waiting_chunks > 0);
            store.flush().unwrap();
            assert_eq!(store.saving(), Saving::default());
            for position in data.source().chunk_positions() {
                let found = data.source().chunk(position).unwrap();
                let expected = match shadow.get(&position) {
                    Some(chunk) => chunk.clone(),
                    None => source().chunk(position).unwrap(),
                };
                assert!(same(&found, &expected), "{position:?} in round {round}");
            }
        }
        let edited = open(source(), &path);
        assert_eq!(edited.edited_count(), shadow.len() as u64);
        assert_eq!(edited.chunk_count(), edited.chunk_positions().len() as u64);
        levels_show_edits(edited, &shadow);
    }
    fs::remove_dir_all(folder).unwrap();
}

fn levels_show_edits(edited: EditedSource, shadow: &HashMap<ChunkPos, Chunk>) {
    let has_levels = edited.makes_levels();
    let data = LodData::new(Box::new(edited), 64 << 20);
    let any: &dyn std::any::Any = data.source();
    let edited: &EditedSource = any.downcast_ref().unwrap();
    let mut twin = Twin { edited, original: HashMap::new(), now: HashMap::new() };
    let mut differences = 0;
    for level in 1..=data.top_level() {
        let mut nodes: Vec<NodePos> =
            shadow.keys().map(|&chunk| NodePos::from(chunk).ancestor(level)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            let found = data.chunk(node);
            if !has_levels {
                let below = node.children().unwrap().map(|child| data.chunk(child));
                let below = below.each_ref().map(Some);
                let expected = drystone_voxel::downsample(Chunk::SIDE, below, data.materials());
                assert!(same(&found, &expected.unwrap()), "{node:?}");
                continue;
            }
            assert!(!edited.is_air(node));
            let original = edited.source().coarse_chunk(node).unwrap().unwrap();
            differences += u32::from(!same(&found, &original));
            let origin = node.chunk.origin(Chunk::SIDE);
            for (local, material) in &found {
                let [x, y, z] = [local.x, local.y, local.z].map(i32::from);
                let at = VoxelPos::new(origin.x + x, origin.y + y, origin.z + z);
                assert_eq!(material, twin.now(level, at), "{node:?} {at:?}");
            }
        }
    }
    assert!(!has_levels || differences > 3, "{differences} nodes show the edits");
}

/// A sink that shows nothing.
struct NullBackend;

impl NodeSink for NullBackend {
    type Error = ();
    fn set_body(&mut self, _: NodePos, _: Option<&ChunkMesh>) -> Result<(), ()> {
        Ok(())
    }
    fn set_skirt(&mut self, _: NodePos, _: Face, _: Option<&ChunkMesh>) -> Result<(), ()> {
        Ok(())
    }
}

/// Saved edits are released from memory at every level, because the source returns them.
#[test]
fn saved_edits_are_returned_by_the_source_at_every_level() {
    let folder = folder("saved");
    let path = folder.join("edits.drystone");
    let mut shadow = HashMap::new();
    let data = std::sync::Arc::new(LodData::new(Box::new(open(generated(3), &path)), 0));
    let config = LodConfig::default().with_threads(0);
    let mut tree = LodTree::new(data.clone(), config).unwrap();
    for round in 0..3 {
        let center = VoxelPos::new(20 + 31 * round, 62, 40 + 9 * round);
        let shape = VoxelShape::Sphere { center, radius_voxels: 9 };
        let edit = Edit::fill(data.as_ref(), &shape, Material(2 * round as u16)).unwrap();
        assert_eq!(tree.set(edit.voxels(), &mut NullBackend), Ok(edit.voxel_count()));
        let unsaved = data.unsaved();
        data.source().edit_store().unwrap().put_edited(unsaved.chunks.clone()).unwrap();
        data.saved(&unsaved);
        shadow.extend(unsaved.chunks);
        assert_eq!((data.unsaved_count(), data.edited_bytes()), (0, 0));
        for (&position, chunk) in &shadow {
            assert!(same(&data.chunk(position.into()), chunk));
        }
    }
    drop((tree, data));
    levels_show_edits(open(generated(3), &path), &shadow);
    fs::remove_dir_all(folder).unwrap();
}

/// LOD voxels follow later edits.
#[test]
fn levels_follow_later_edits() {
    let folder = folder("later");
    let edited = open(generated(1), &folder.join("w.drystone"));
    let position = ChunkPos::new(1, 1, 1);
    let node = NodePos::from(position).ancestor(2);
    let before = edited.coarse_chunk(node).unwrap().unwrap();
    let stone = Chunk::new(Chunk::SIDE, Material(1));
    let air = Chunk::new(Chunk::SIDE, Material::AIR);
    let mut pictures = vec![before];
    for chunk in [stone, air] {
        edited.put_edited(vec![(position, chunk)]).unwrap();
        pictures.push(edited.coarse_chunk(node).unwrap().unwrap());
    }
    // The chunk equals the original again, but still counts as edited.
    edited.put_edited(vec![(position, edited.source().chunk(position).unwrap())]).unwrap();
    let last = edited.coarse_chunk(node).unwrap().unwrap();
    assert!(same(&last, &pictures[0]));
    assert!(!same(&pictures[1], &pictures[0]) && !same(&pictures[2], &pictures[1]));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn edits_of_another_source_are_refused() {
    let folder = folder("other");
    let path = folder.join("edits.drystone");
    drop(open(generated(1), &path));
    let refused = |source: Box<dyn Source>, path: &Path| {
        let opened = EditedSource::open(
            source,
            &EditOptions { access: EditAccess::Read, ..EditOptions::at(path) },
        );
        opened.map(|_| ()).unwrap_err().to_string()
    };
    let line = refused(generated(2), &path);
    assert!(line.contains("edits.drystone") && line.contains("another file"), "{line}");
    assert!(line.contains("seed 1") && line.contains("seed 2"), "{line}");
    // A stored world without edits.
    let world = folder.join("world.drystone");
    let stored = StoredWorld::create(&world, "castle", generated(1).materials()).unwrap();
    stored.close().unwrap();
    let line = refused(generated(1), &world);
    assert!(line.contains("castle"), "{line}");
    // The same name with other materials.
    struct Other(MaterialTable);
    impl Source for Other {
        fn name(&self) -> &str {
            "plain"
        }
        fn materials(&self) -> &MaterialTable {
            &self.0
        }
        fn chunk_positions(&self) -> Vec<ChunkPos> {
            Vec::new()
        }
        fn chunk(&self, _: ChunkPos) -> Result<Chunk, SourceError> {
            Ok(Chunk::new(Chunk::SIDE, Material::AIR))
        }
    }
    let plain = folder.join("plain.drystone");
    drop(open(Box::new(Plain(generated(1))), &plain));
    let line = refused(Box::new(Other(MaterialTable::new())), &plain);
    assert!(line.contains("materials"), "{line}");
    assert!(refused(generated(1), &folder.join("lost")).contains("lost"));
    // Another process edits the file, so it can only be read.
    let held = open(generated(1), &path);
    drop(
        EditedSource::open(
            generated(1),
            &EditOptions { access: EditAccess::Read, ..EditOptions::at(&path) },
        )
        .unwrap(),
    );
    let second = EditedSource::open(
        generated(1),
        &EditOptions { access: EditAccess::Write, ..EditOptions::at(&path) },
    );
    assert!(matches!(second.unwrap_err(), SourceError::InUse { .. }));
    drop(held);
    // No number is left for emptied chunks.
    let mut full = MaterialTable::new();
    assert!((0..u16::MAX).all(|_| full.insert("", [1; 4]).is_some()));
    let full = EditedSource::open(
        Box::new(Other(full)),
        &EditOptions { access: EditAccess::Write, ..EditOptions::at(&folder.join("f")) },
    );
    assert!(matches!(full, Err(SourceError::TooLarge { .. })));
    assert!(!folder.join("f").exists());
    fs::remove_dir_all(folder).unwrap();
}

/// A source opened for reading only takes no edits. A world in memory contains its edits.
#[test]
fn a_world_loaded_from_an_edited_source_has_the_edits() {
    let folder = folder("world");
    let path = folder.join("edits.drystone");
    let far = ChunkPos::new(-3, 9, 2);
    let edited = open(generated(1), &path);
    edited.put_edited(vec![(far, Chunk::new(Chunk::SIDE, Material(2)))]).unwrap();
    assert_eq!(edited.chunk_count(), edited.chunk_positions().len() as u64);
    let revision = edited.identity();
    edited.flush().unwrap();
    assert_ne!(edited.identity(), revision, "the identity must differ");
    drop(edited);
    let edited = EditedSource::open(
        generated(1),
        &EditOptions { access: EditAccess::Read, ..EditOptions::at(&path) },
    )
    .unwrap();
    assert!(edited.edit_store().is_none());
    assert!(edited.put_edited(vec![(far, Chunk::new(Chunk::SIDE, Material(1)))]).is_err());
    let (world, plain) = (World::load(&edited).unwrap(), World::load(edited.source()).unwrap());
    assert_eq!(world.solid_count(), plain.solid_count() + 32_768);
    let extent = edited.extent().unwrap();
    assert!(extent.contains(far) && extent.contains(ChunkPos::new(3, 3, 2)));
    fs::remove_dir_all(folder).unwrap();
}
