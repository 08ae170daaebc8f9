//! Edits of files: found again after the file has moved, and refused for another file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use drystone_formats::{
    EditStore, HeightMap, HeightMapOptions, MinecraftWorld, Model, ModelOptions, Source,
    SourceError, VoxelModel,
};
use drystone_store::{EditAccess, EditOptions, EditedSource};
use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};
use drystone_world::{OpenOptions, open_voxels};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("drystone-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("other/region")).unwrap();
    folder
}

fn open(source: Box<dyn Source>, path: &Path) -> Result<EditedSource, SourceError> {
    EditedSource::open(source, &EditOptions::at(path).with_access(EditAccess::Write))
}

/// Creates a `.vox` file of one model of 2 × 2 × 2 voxels: x, y, z and colour of each.
fn vox_file(voxels: &[[u8; 4]]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    let chunk = |id: &[u8], content: Vec<u8>, children: Vec<u8>| {
        [id, &words(&[content.len() as u32, children.len() as u32]), &content, &children].concat()
    };
    let size = chunk(b"SIZE", words(&[2, 2, 2]), Vec::new());
    let listed = [words(&[voxels.len() as u32]), voxels.concat()].concat();
    let children = [size, chunk(b"XYZI", listed, Vec::new())].concat();
    [b"VOX ".to_vec(), words(&[200]), chunk(b"MAIN", Vec::new(), children)].concat()
}

const POSITION: ChunkPos = ChunkPos::new(0, 0, 0);

/// Edits are found again through another path, after a move and in another folder. A file with the
/// same name but other content is refused, and the message states what to do.
#[test]
fn edits_follow_a_file_to_other_folders() {
    let folder = folder("follow");
    let edits = folder.join("edits.drystone");
    let bytes = vox_file(&[[0, 0, 0, 1], [1, 1, 1, 2]]);
    let (here, there) = (folder.join("stone.vox"), folder.join("other/stone.vox"));
    fs::write(&here, &bytes).unwrap();
    let source = |path: &Path| open_voxels(path, &OpenOptions::default()).unwrap();
    let edited = open(source(&here), &edits).unwrap();
    edited.put_edited(vec![(POSITION, Chunk::new(Chunk::SIDE, Material(1)))]).unwrap();
    edited.flush().unwrap();
    drop(edited);
    fs::rename(&here, &there).unwrap();
    let relative = folder.join("other/../other/./stone.vox");
    for path in [&there, &relative] {
        let edited = open(source(path), &edits).unwrap();
        assert_eq!(edited.chunk(POSITION).unwrap().uniform(), Some(Material(1)));
    }
    let other = vox_file(&[[0, 0, 0, 1], [1, 1, 1, 3]]);
    fs::write(&here, other).unwrap();
    let line = open(source(&here), &edits).unwrap_err().to_string();
    assert!(line.contains("edits.drystone") && line.contains("stone.vox"), "{line}");
    assert!(line.contains("another file"), "{line}");
    fs::remove_dir_all(folder).unwrap();
}

/// Identities of other sources contain no folder either, but they contain the options.
#[test]
fn identities_contain_options_but_no_folders() {
    let tile = [0, 100].repeat(1201 * 1201);
    let map = |name: &str, options: &HeightMapOptions| {
        HeightMap::parse(&tile, name, options).unwrap().identity()
    };
    let plain = HeightMapOptions::default();
    let first = map("N47E011.hgt", &plain);
    assert_eq!(first, map("/maps/N47E011.hgt", &plain));
    let others = [
        plain.clone().with_metres_per_sample(Some([63.0, 93.0])),
        plain.clone().with_metres_per_voxel(Some(200.0)),
        plain.clone().with_vertical_scale(1.5),
        plain.clone().with_sea_level_metres(1.0),
        plain.clone().with_snow_line_metres(1.0),
        plain.clone().with_voids(drystone_formats::Voids::Filled),
    ];
    let mut all: Vec<String> = others.iter().map(|it| map("N47E011.hgt", it)).collect();
    all.extend([first, map("N48E011.hgt", &plain)]);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), others.len() + 2, "{all:?}");

    let folder = folder("identities");
    fs::write(folder.join("a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    fs::write(folder.join("other/a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 1\nf 1 2 3\n").unwrap();
    let model = |path: &Path, voxels| {
        let model = Model::open(path, &ModelOptions::default()).unwrap();
        VoxelModel::new(&model, voxels).unwrap().identity()
    };
    let first = model(&folder.join("a.obj"), 64);
    assert_eq!(model(&folder.join("other/../a.obj"), 64), first);
    assert_ne!(model(&folder.join("a.obj"), 65), first);
    assert_ne!(model(&folder.join("other/a.obj"), 64), first);

    let region = folder.join("other/region/r.0.0.mca");
    fs::write(&region, vec![0; 8192]).unwrap();
    let game = |path: &Path| MinecraftWorld::open(path).unwrap().identity();
    let first = game(&folder.join("other"));
    assert_eq!(game(&folder.join("other/region/..")), first);
    assert_eq!(game(&folder.join("other/region")), first);
    fs::rename(folder.join("other"), folder.join("renamed")).unwrap();
    assert_ne!(game(&folder.join("renamed")), first);
    fs::remove_dir_all(folder).unwrap();
}

/// A source with these materials. All of its chunks have the last one.
struct Of(MaterialTable);

impl Source for Of {
    fn name(&self) -> &str {
        "of"
    }
    fn materials(&self) -> &MaterialTable {
        &self.0
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        vec![POSITION]
    }
    fn chunk(&self, _: ChunkPos) -> Result<Chunk, SourceError> {
        Ok(Chunk::new(Chunk::SIDE, Material(self.0.len() as u16 - 1)))
    }
}

/// Materials that are added to a source later can be used, also if their number was that of emptied
/// chunks. Names that are cut in the file still match.
#[test]
fn edits_stay_when_a_source_gets_more_materials() {
    let folder = folder("grown");
    let path = folder.join("edits.drystone");
    let long = "long".repeat(20_000);
    let source = |names: &[&str]| -> Box<dyn Source> {
        let mut table = MaterialTable::new();
        for name in names {
            table.insert(name, [9, 9, 9, 255]).unwrap();
        }
        Box::new(Of(table))
    };
    let names = ["stone", &long, "grass", "snow"];
    let at = |x| ChunkPos::new(x, 0, 0);
    let uniform = |material| Chunk::new(Chunk::SIDE, Material(material));
    for count in 2..=4_u16 {
        let edited = open(source(&names[..count.into()]), &path).unwrap();
        for before in 2..count {
            let x = i32::from(before) * 2;
            assert_eq!(edited.chunk(at(x)).unwrap().uniform(), Some(Material(before)));
            assert_eq!(edited.chunk(at(x + 1)).unwrap().uniform(), Some(Material::AIR));
        }
        let x = i32::from(count) * 2;
        edited.put_edited(vec![(at(x), uniform(count)), (at(x + 1), uniform(0))]).unwrap();
        edited.flush().unwrap();
        assert_eq!(edited.chunk(at(x)).unwrap().uniform(), Some(Material(count)));
    }
    for names in [&["stone", "other", "grass", "snow"][..], &names[..3]] {
        let line = open(source(names), &path).unwrap_err().to_string();
        assert!(line.contains("materials") && line.contains("another file"), "{line}");
    }
    fs::remove_dir_all(folder).unwrap();
}
