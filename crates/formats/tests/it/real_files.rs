//! Files of other programs, found through `DRYSTONE_DATA`.

use std::collections::HashSet;

use drystone_formats::{Source, VoxFile};

use crate::data;
use crate::vox_hostile::flip_bits;
use crate::world::World;

fn bytes_of(folder: &std::path::Path, name: &str) -> Vec<u8> {
    let path = folder.join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn voxel_counts_equal_those_of_dot_vox() {
    let Some(folder) = data("voxel_counts_equal_those_of_dot_vox") else { return };
    for name in ["monu10.vox", "dragon.vox", "teapot.vox", "maze.vox"] {
        let bytes = bytes_of(&folder, name);
        let theirs = dot_vox::load_bytes(&bytes).unwrap();
        let distinct: HashSet<_> =
            theirs.models[0].voxels.iter().map(|v| (v.x, v.y, v.z)).collect();
        let file = VoxFile::open(&folder.join(name)).unwrap();
        let world = World::load(&file).unwrap();
        assert_eq!(world.solid_count(), distinct.len() as u64, "{name}");
        // Compares colours voxel by voxel, in this crate's axes.
        let depth = theirs.models[0].size.y as i32;
        for v in &theirs.models[0].voxels {
            let at =
                drystone_voxel::VoxelPos::new(v.x.into(), v.z.into(), depth - 1 - i32::from(v.y));
            let color = theirs.palette[usize::from(v.i)];
            let kind = world.materials().get(world.get(at)).unwrap();
            assert_eq!(kind.color, [color.r, color.g, color.b, color.a], "{name} {at:?}");
        }
        assert!(!file.materials().any_translucent());
    }
}

#[test]
fn every_prefix_of_a_real_file_is_an_error() {
    let Some(folder) = data("every_prefix_of_a_real_file_is_an_error") else { return };
    let bytes = bytes_of(&folder, "maze.vox");
    for end in 0..bytes.len() {
        let error = VoxFile::parse(&bytes[..end], "maze.vox").unwrap_err().to_string();
        assert!(error.starts_with("maze.vox: "), "{end}: {error}");
    }
}

#[test]
fn ten_thousand_flips_of_a_real_file() {
    let Some(folder) = data("ten_thousand_flips_of_a_real_file") else { return };
    let read = flip_bits(&bytes_of(&folder, "maze.vox"), 10_000, |round| round % 50 == 0);
    assert!((100..9_900).contains(&read), "{read}");
}
