//! Damaged and hostile files: an error that names the position, quickly and without much memory.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use drystone_formats::VoxFile;
use drystone_testing::Random;

use crate::programs;
use crate::vox_bytes::{
    NO_LAYER, chunk, error, file, group, layer, material, model, palette, parent, shape, transform,
    words,
};
use crate::world::World;

/// A small file with a chunk of every kind and a node of every kind.
fn every_kind() -> Vec<u8> {
    let voxels: Vec<[u8; 4]> = (0..40).map(|i| [i, 39 - i, i % 7, 1 + i]).collect();
    file(&[
        chunk("PACK", &words(&[2])),
        model([40, 40, 7], &voxels),
        model([2, 1, 1], &[[1, 0, 0, 200]]),
        transform(0, &[], 1, NO_LAYER, &[&[]]),
        group(1, &[2, 4, 6]),
        transform(2, &[("_name", "tower")], 3, 0, &[&[("_r", "17"), ("_t", "-20 3 9")]]),
        shape(3, &[(0, &[])]),
        transform(4, &[("_hidden", "1")], 5, 1, &[&[("_t", "70 0 0")], &[("_f", "9")]]),
        shape(5, &[(1, &[("_f", "0")])]),
        transform(6, &[], 5, 1, &[&[("_t", "5 -5 5")]]),
        palette(|n| [n, n, n, 255]),
        material(200, &[("_type", "_glass"), ("_trans", "0.3")]),
        chunk("IMAP", &(0..=255).collect::<Vec<u8>>()),
        layer(0, &[("_name", "ground")]),
        layer(1, &[("_hidden", "0")]),
    ])
}

#[test]
fn the_whole_file_is_read() {
    let file = VoxFile::parse(&every_kind(), "whole.vox").unwrap();
    assert_eq!(World::load(&file).unwrap().solid_count(), 41);
    assert_eq!(file.summary().names, ["tower"]);
}

#[test]
fn every_prefix_is_an_error_that_names_the_file() {
    let bytes = every_kind();
    for end in 0..bytes.len() {
        let error = VoxFile::parse(&bytes[..end], "cut.vox").unwrap_err().to_string();
        assert!(error.starts_with("cut.vox: ") && !error.contains('\n'), "{end}: {error}");
    }
}

/// Cuts the last bytes off and adjusts the size of MAIN, so that the cut is inside.
#[test]
fn every_prefix_with_a_fitting_size_is_read_or_refused() {
    let bytes = every_kind();
    for end in 20..bytes.len() {
        let mut cut = bytes[..end].to_vec();
        cut[16..20].copy_from_slice(&(end as u32 - 20).to_le_bytes());
        programs::vox(&cut);
        if let Ok(file) = VoxFile::parse(&cut, "cut.vox") {
            World::load(&file).unwrap();
        }
    }
}

#[test]
fn seeds_are_scenes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/vox");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(programs::vox(&fs::read(&path).unwrap()), "{}", path.display());
        count += 1;
    }
    assert!(count > 2);
}

/// Reads `count` copies of `bytes`, each with 1 to 4 flipped bits. Loads a copy if `load` returns
/// true. Returns the number of copies that could be read.
pub(crate) fn flip_bits(bytes: &[u8], count: usize, load: impl Fn(usize) -> bool) -> usize {
    let mut random = Random::new(bytes.len() as u64);
    let mut read = 0;
    for round in 0..count {
        let mut damaged = bytes.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
        }
        let start = Instant::now();
        match VoxFile::parse(&damaged, "flipped.vox") {
            Err(error) => assert!(error.to_string().starts_with("flipped.vox: "), "{error}"),
            Ok(file) => {
                read += 1;
                if load(round) {
                    World::load(&file).unwrap();
                }
            }
        }
        assert!(start.elapsed() < Duration::from_secs(5), "round {round} took long");
    }
    read
}

#[test]
fn ten_thousand_flips_of_bits() {
    let read = flip_bits(&every_kind(), 10_000, |_| true);
    // Most of the file is the palette, where many flips do no harm.
    assert!((1_000..9_000).contains(&read), "{read}");
}

#[test]
fn false_counts_are_reported() {
    let voxel = [0, 0, 0, 1];
    let size = chunk("SIZE", &words(&[1, 1, 1]));
    let xyzi = |count: u32, voxels: usize| {
        chunk("XYZI", &[words(&[count]), voxel.repeat(voxels)].concat())
    };
    let cases = [
        (
            "chunk XYZI at byte 44: claims 4294967295 voxels of 4 bytes in 4 bytes",
            vec![size.clone(), xyzi(u32::MAX, 1)],
        ),
        (
            "chunk XYZI at byte 44: claims 1 voxels of 4 bytes in 8 bytes",
            vec![size.clone(), xyzi(1, 2)],
        ),
        ("chunk XYZI at byte 20: no SIZE before it", vec![xyzi(1, 1)]),
        (
            "chunk SIZE at byte 20: a model of 257 x 1 x 1 voxels, at most 256 a side are taken",
            vec![chunk("SIZE", &words(&[257, 1, 1]))],
        ),
        (
            "chunk SIZE at byte 20: a model of 4294967295 x 1 x 1 voxels, at most 256 a side are taken",
            vec![chunk("SIZE", &words(&[u32::MAX, 1, 1]))],
        ),
        (
            "chunk XYZI at byte 44: a voxel at (0, 1, 0) in a model of 1 x 1 x 1",
            vec![model([1, 1, 1], &[voxel, [0, 1, 0, 1]])],
        ),
        ("chunk MAIN at byte 8: no model (SIZE and XYZI) in the file", vec![size.clone()]),
        (
            "chunk SIZE at byte 20: has chunks inside, which only MAIN may have",
            vec![parent("SIZE", &words(&[1, 1, 1]), &size)],
        ),
        (
            "chunk RGBA at byte 20: 1028 bytes, not 4 for each of 256 colours",
            vec![chunk("RGBA", &[0; 1028])],
        ),
        ("byte 20: \"\\x00IZE\" is not the name of a chunk", vec![chunk("\0IZE", &[])]),
    ];
    for (expected, chunks) in cases {
        let message = error(&chunks);
        assert!(message.starts_with(&format!("test.vox: {expected}; ")), "{message}");
    }
    let mut claims = file(&[size]);
    claims[24..28].copy_from_slice(&words(&[u32::MAX]));
    let message = VoxFile::parse(&claims, "test.vox").unwrap_err().to_string();
    assert!(message.contains("chunk SIZE at byte 20: claims 4294967295 bytes"), "{message}");
    let trailing = [every_kind(), vec![1, 2, 3]].concat();
    let message = VoxFile::parse(&trailing, "test.vox").unwrap_err().to_string();
    assert!(message.contains(": 3 bytes after the end of MAIN;"), "{message}");
}

/// Nested chunks, deep enough to overflow the stack of a recursive reader.
#[test]
fn nested_chunks_do_not_recurse() {
    let mut nested = Vec::new();
    for depth in (0..200_000_u32).rev() {
        nested.extend([b"nest".to_vec(), words(&[0, depth * 12])].concat());
    }
    let message = error(&[nested]);
    assert!(message.contains("has chunks inside"), "{message}");
}

/// The longest chain of groups, and one that doubles at every step.
#[test]
fn deep_and_doubling_scenes_are_bounded() {
    let start = Instant::now();
    let dot = model([1, 1, 1], &[[0, 0, 0, 1]]);
    let chain = |length: u32, copies: usize| {
        let mut chunks = vec![dot.clone()];
        chunks.extend((0..length).map(|id| group(id, &vec![id + 1; copies])));
        chunks.push(shape(length, &[(0, &[])]));
        file(&chunks)
    };
    let deep = VoxFile::parse(&chain(300_000, 1), "deep.vox").unwrap();
    assert_eq!(World::load(&deep).unwrap().solid_count(), 1);
    let message = VoxFile::parse(&chain(64, 2), "bomb.vox").unwrap_err().to_string();
    assert!(message.starts_with("bomb.vox: scene: 1048577 nodes shown or more"), "{message}");
    // Wide instead of deep: one group that lists one child very often, three times.
    let mut wide = vec![dot, group(0, &[1; 3])];
    wide.push(group(1, &vec![2; 1 << 19]));
    wide.push(shape(2, &[(0, &[])]));
    let message = error(&wide);
    assert!(message.contains("nodes shown or more"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// A small file that would fill memory if every shown model were expanded.
#[test]
fn repeated_models_are_bounded() {
    let start = Instant::now();
    // One voxel in each of 512 chunks.
    let sparse: Vec<[u8; 4]> = (0..512_u16)
        .map(|i| [i % 8 * 32, i / 8 % 8 * 32, i / 64 * 32].map(|c| c as u8))
        .map(|[x, y, z]| [x, y, z, 1])
        .collect();
    let mut chunks = vec![model([256; 3], &sparse), transform(0, &[], 1, 0, &[&[]])];
    let ids: Vec<u32> = (0..10_000).map(|i| 2 + i).collect();
    chunks.push(group(1, &ids));
    for &id in &ids {
        let place = format!("{} {} 0", id % 100 * 256, id / 100 * 256);
        chunks.push(transform(id, &[], 1_000_000, 0, &[&[("_t", &place)]]));
    }
    chunks.push(shape(1_000_000, &[(0, &[])]));
    let message = error(&chunks);
    assert!(message.contains("or more, at most"), "{message}");

    let full: Vec<[u8; 4]> = (0..64 * 64 * 64_u32)
        .map(|i| [i % 64, i / 64 % 64, i / 4096, 1].map(|c| c as u8))
        .collect();
    let many = [model([64; 3], &full), group(0, &vec![1; 513]), shape(1, &[(0, &[])])];
    let message = error(&many);
    assert!(message.contains("134479872 placed voxels or more, at most 134217728"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// Sizes that claim far more data than the file has are not trusted.
#[test]
fn claimed_sizes_take_no_memory() {
    let dot = model([1, 1, 1], &[[0, 0, 0, 1]]);
    let huge = words(&[u32::MAX]);
    for id in ["nTRN", "nGRP", "nSHP", "LAYR", "MATL"] {
        for skip in 0..6 {
            // Each time, a later field of the chunk claims four billion entries.
            let content = [words(&vec![0; skip]), huge.clone(), words(&[0; 8])].concat();
            let _ = VoxFile::parse(&file(&[dot.clone(), chunk(id, &content)]), "lie.vox");
        }
    }
    if let Some(peak) = peak_memory_bytes() {
        assert!(peak < 1 << 30, "{peak} bytes");
    }
}

/// Returns the peak memory of this process in bytes, if the system reports it.
fn peak_memory_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// The messages list the enabled formats.
#[cfg(all(
    feature = "gltf",
    feature = "minecraft",
    feature = "obj",
    feature = "png",
    feature = "qb",
    feature = "tiff"
))]
#[test]
fn other_files_are_no_vox_files() {
    use drystone_formats::{Format, Input, Source};

    let folder = std::env::temp_dir().join(format!("drystone-world-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let message = |path: &Path| match VoxFile::open(path) {
        Ok(source) => panic!("{} was opened", source.name()),
        Err(error) => error.to_string(),
    };
    let supported = "supported: MagicaVoxel files (.vox), Qubicle files (.qb), Minecraft Java \
                     worlds (.mca, save folders), height maps (.png, .tif, .hgt), stored worlds (.drystone), \
                     packed worlds (.dsw), polygon models (.obj, .gltf, .glb)";
    let cases = [
        (folder.clone(), format!("a folder, not a file; {supported}")),
        (at("empty.vox", b""), format!("an empty file; {supported}")),
        (
            at("picture.vox", b"\x89PNG\r\n"),
            format!("not a .vox file: it begins with \"\\x89PNG\"; {supported}"),
        ),
        (at("short", b"VO"), format!("not a .vox file: it begins with \"VO\"; {supported}")),
    ];
    for (path, expected) in cases {
        assert_eq!(message(&path), format!("{}: {expected}", path.display()));
    }
    let missing = message(&folder.join("missing.vox"));
    assert!(
        missing.contains("missing.vox: cannot be read: ") && missing.contains("check the name")
    );
    // The content decides, not the name.
    let whole = at("whole.data", &every_kind());
    assert_eq!(Format::of(Input::from(&whole)), Some(Format::MagicaVoxel));
    assert_eq!(VoxFile::open(&whole).unwrap().name(), whole.display().to_string());
    // A sparse file above the size limit.
    let large = at("large.vox", b"VOX ");
    let handle = fs::File::options().write(true).open(&large).unwrap();
    handle.set_len(VoxFile::MAX_FILE_BYTES + 1).unwrap();
    assert!(message(&large).contains("536870913 bytes, at most 536870912 are taken"));
    fs::remove_dir_all(&folder).unwrap();
}
