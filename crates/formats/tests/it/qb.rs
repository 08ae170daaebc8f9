//! Qubicle Binary files: each layout of the format against a map of voxels, damaged files, and
//! files that other programs wrote.

use std::collections::BTreeMap;

use drystone_formats::{Format, Input, QbFile, Source};
use drystone_testing::Random;
use drystone_voxel::{Chunk, ChunkPos};

use crate::programs;
use crate::qb_bytes::{Layout, Matrix, file};
use crate::world::World;

/// Colours by world position: what a file should show.
fn expected(matrices: &[Matrix], layout: Layout) -> BTreeMap<[i32; 3], [u8; 4]> {
    let mut voxels = BTreeMap::new();
    for matrix in matrices {
        for (position, [r, g, b, mask]) in matrix.voxels() {
            let [x, y, z] = position;
            let z = if layout.is_right_handed { z } else { -z - 1 };
            if mask != 0 {
                voxels.insert([x, y, z], [r, g, b, 255]);
            }
        }
    }
    voxels
}

fn shown(file: &QbFile) -> BTreeMap<[i32; 3], [u8; 4]> {
    let mut voxels = BTreeMap::new();
    let positions = file.chunk_positions();
    assert!(positions.is_sorted_by(|a, b| a < b));
    for position in positions {
        let chunk = file.chunk(position).unwrap();
        chunk.validate().unwrap();
        let ChunkPos { x, y, z } = position;
        for (local, material) in chunk.iter_solid() {
            let at = [(x, local.x), (y, local.y), (z, local.z)]
                .map(|(chunk, local)| chunk * Chunk::SIDE as i32 + i32::from(local));
            voxels.insert(at, file.materials().get(material).unwrap().color);
        }
    }
    voxels
}

/// Overlapping matrices of random sizes, in long runs of few colours.
fn random_matrices(random: &mut Random) -> Vec<Matrix> {
    let mut side = |max: u32| 1 + random.below(max);
    let sizes: Vec<[u32; 3]> = (0..4).map(|_| [side(70), side(40), side(40)]).collect();
    let mut matrices = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        let position = [(); 3].map(|()| random.below(90) - 60);
        let mut color = [0; 4];
        let mut next = || {
            if random.below(9) == 0 {
                let mask = [0, 0, 255, 1][random.below(4) as usize];
                color = [random.below(3) as u8 * 100, 7, random.below(2) as u8, mask];
            }
            color
        };
        let count = size.iter().product::<u32>();
        let colors = (0..count).map(|_| next()).collect();
        matrices.push(Matrix { name: format!("part {number}"), size, position, colors });
    }
    matrices
}

#[test]
fn every_layout_shows_the_voxels_of_the_file() {
    let mut random = Random::new(20);
    for round in 0..6 {
        let matrices = random_matrices(&mut random);
        for layout in Layout::all() {
            let bytes = file(&matrices, layout);
            let file = QbFile::parse(&bytes, "parts.qb").unwrap();
            assert!(shown(&file) == expected(&matrices, layout), "round {round}, {layout:?}");
            assert_eq!(file.matrix_names().nth(3), Some("part 3"));
        }
    }
}

#[test]
fn matrices_of_no_voxels_show_nothing() {
    for size in [[0, 4, 4], [4, 0, 4], [4, 4, 0], [0, 0, 0]] {
        for layout in Layout::all() {
            let empty = Matrix { name: String::new(), size, position: [5; 3], colors: Vec::new() };
            let dot = Matrix { size: [1; 3], colors: vec![[1, 2, 3, 255]], ..empty.clone() };
            let file = QbFile::parse(&file(&[empty, dot], layout), "empty.qb").unwrap();
            assert_eq!(shown(&file).len(), 1, "{size:?} {layout:?}");
        }
    }
}

/// 70,000 colours are more than there are material numbers.
#[test]
fn too_many_colours_lose_their_lowest_bits() {
    let colors: Vec<[u8; 4]> = (0..70_000_u32)
        .map(|n| [(n % 256) as u8, (n / 256 % 256) as u8, (n / 65_536) as u8, 255])
        .collect();
    let size = [100, 70, 10];
    let matrix = Matrix { name: "noise".into(), size, position: [0; 3], colors };
    let layout = Layout { is_right_handed: true, ..Layout::default() };
    let found = QbFile::parse(&file(std::slice::from_ref(&matrix), layout), "noise.qb").unwrap();
    let found = shown(&found);
    for (position, color) in matrix.voxels() {
        let rounded = color.map(|c| c & 0xfe);
        assert_eq!(found[&position], [rounded[0], rounded[1], rounded[2], 255], "{position:?}");
    }
}

fn small(layout: Layout) -> Vec<u8> {
    let colors = (0..60).map(|n| [n / 7, 0, 0, if n % 5 == 0 { 0 } else { 255 }]).collect();
    let matrix = Matrix { name: "small".into(), size: [5, 4, 3], position: [-9, 1, 30], colors };
    let colors = vec![[9, 8, 7, 255]; 8];
    let cube = Matrix { name: "cube".into(), size: [2; 3], position: [0; 3], colors };
    file(&[matrix, cube], layout)
}

#[test]
fn every_truncated_file_is_an_error_that_names_the_byte() {
    for layout in Layout::all() {
        let bytes = small(layout);
        assert!(programs::qb(&bytes));
        for end in 0..bytes.len() {
            let error = QbFile::parse(&bytes[..end], "cut.qb").unwrap_err().to_string();
            assert!(error.starts_with("cut.qb: byte "), "{end}: {error}");
        }
    }
}

#[test]
fn every_changed_byte_gives_a_world_or_an_error() {
    let mut random = Random::new(21);
    for layout in Layout::all().filter(|layout| !layout.is_bgra && !layout.has_masks) {
        let bytes = small(layout);
        for at in 0..bytes.len() {
            for value in [0, 2, 0xff, random.below(256) as u8] {
                let mut changed = bytes.clone();
                changed[at] = value;
                programs::qb(&changed);
            }
        }
    }
}

/// A header of one matrix "a" of this size and position.
fn claim(layout: Layout, size: [u32; 3], position: [i32; 3]) -> Vec<u8> {
    let mut bytes = file(&[], layout);
    bytes[20..24].copy_from_slice(&1_u32.to_le_bytes());
    bytes.extend(*b"\x01a");
    bytes.extend(size.iter().flat_map(|it| it.to_le_bytes()));
    bytes.extend(position.iter().flat_map(|it| it.to_le_bytes()));
    bytes
}

#[test]
fn sizes_that_the_file_does_not_justify_are_refused() {
    let plain = Layout::default();
    let compressed = Layout { is_compressed: true, ..plain };
    let message = |bytes: &[u8]| QbFile::parse(bytes, "big.qb").unwrap_err().to_string();
    for layout in [plain, compressed] {
        let found = message(&claim(layout, [u32::MAX; 3], [0; 3]));
        assert!(found.contains("voxels in all matrices"), "{found}");
        let found = message(&claim(layout, [2; 3], [i32::MAX, 0, 0]));
        assert!(found.contains("lies beyond ±16777216"), "{found}");
        let found = message(&claim(layout, [1 << 10; 3], [0; 3]));
        assert!(found.contains("byte 50: ") && found.contains(" remain"), "{found}");
        // Slices of no voxels.
        assert!(layout.is_compressed || programs::qb(&claim(layout, [0, 0, u32::MAX], [0; 3])));
    }
    // Two voxels at the end of one row and the start of the next: 2 chunks. A row: too many.
    for (count, is_accepted) in [(2, true), ((1 << 24) - 1, false)] {
        let mut bytes = claim(compressed, [1 << 24, 2, 1], [-(1 << 24), 0, 0]);
        let words = [2, (1 << 24) - 1, 0, 2, count, 0xff00_00ff_u32, 6];
        bytes.extend(words.iter().flat_map(|it| it.to_le_bytes()));
        match QbFile::parse(&bytes, "wide.qb") {
            Ok(file) => assert!(is_accepted && file.chunk_count() == 2),
            Err(error) => {
                assert!(!is_accepted && error.to_string().contains("65537 or more chunks"));
            }
        }
    }
    // 100 slices of 2^20 voxels in 16 bytes each: accepted. 200: too many solid voxels.
    for (slices, is_accepted) in [(100, true), (200, false)] {
        let mut bytes = claim(compressed, [1 << 10, 1 << 10, slices], [0; 3]);
        for _ in 0..slices {
            let words = [2_u32, 1 << 20, 0xff00_00ff, 6];
            bytes.extend(words.iter().flat_map(|it| it.to_le_bytes()));
        }
        match QbFile::parse(&bytes, "big.qb") {
            Ok(file) => {
                assert!(is_accepted);
                assert_eq!(file.chunk(file.chunk_positions()[70]).unwrap().solid_count(), 1 << 15);
            }
            Err(error) => {
                assert!(!is_accepted && error.to_string().contains("solid voxels"), "{error}");
            }
        }
    }
}

#[test]
fn messages_cut_long_names() {
    let mut bytes = claim(Layout::default(), [2; 3], [i32::MAX, 0, 0]);
    bytes.splice(24..26, [[255].as_slice(), &[0xff; 255]].concat());
    assert!(!programs::qb(&bytes));
}

#[test]
fn a_run_beyond_its_slice_is_refused() {
    let layout = Layout { is_compressed: true, ..Layout::default() };
    let mut bytes = claim(layout, [2, 2, 1], [0; 3]);
    bytes.extend([2_u32, 5, 0xff00_00ff, 6].iter().flat_map(|it| it.to_le_bytes()));
    let error = QbFile::parse(&bytes, "run.qb").unwrap_err().to_string();
    let expected = "run.qb: byte 50: a run of 5 voxels, but 4 remain in the slice of 4; ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn files_of_other_programs_are_shown() {
    let Some(folder) = crate::data("files_of_other_programs_are_shown") else { return };
    for (name, matrices, solid, extent) in [
        ("qubicle.qb", 10, 708, [-20, 0, -2, 20, 38, 5]),
        ("robo.qb", 3, 1291, [4, 0, 5, 26, 30, 26]),
    ] {
        let path = folder.join(name);
        assert_eq!(Format::of(Input::from(&path)), Some(Format::Qubicle));
        let world = World::load(&QbFile::open(&path).unwrap()).unwrap();
        assert_eq!(world.solid_count(), solid, "{name}");
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let file = QbFile::parse(&bytes, name).unwrap();
        assert_eq!(file.matrix_names().count(), matrices);
        let voxels = shown(&file);
        let (mut low, mut high) = ([i32::MAX; 3], [i32::MIN; 3]);
        for at in voxels.keys() {
            for axis in 0..3 {
                low[axis] = low[axis].min(at[axis]);
                high[axis] = high[axis].max(at[axis] + 1);
            }
        }
        assert_eq!([low, high].concat(), extent, "{name}");
    }
}

#[test]
fn fuzz_seeds_are_accepted() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/qb");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    for path in files {
        assert!(programs::qb(&std::fs::read(&path).unwrap()), "{}", path.display());
    }
}
