//! Folders of height maps: the land is that of one image of all files.

use std::fs;
use std::io::Cursor;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use drystone_formats::{
    Format, HeightMap, HeightMapOptions, Input, Source, TILE_CHUNKS, Tiles, Voids,
};
use drystone_testing::Random;
use drystone_voxel::{Chunk, ChunkPos, LocalPos};
use tempfile::TempDir;
use tiff::encoder::TiffEncoder;
use tiff::encoder::colortype::GrayI16;
use tiff::tags::Tag;

const VOID: i16 = -9999;

/// A land of samples, row by row.
struct Land {
    size: [usize; 2],
    metres: Vec<i16>,
}

impl Land {
    /// Slopes with cliffs, and some voids.
    fn random(size: [usize; 2], seed: u64) -> Self {
        let mut random = Random::new(seed);
        let cliffs: Vec<[usize; 2]> = (0..8).map(|_| size.map(|side| random.below(side))).collect();
        let height = |x: usize, z: usize| {
            let steps = cliffs.iter().filter(|[east, south]| x > *east && z > *south).count();
            (x / 7 + z / 5 + steps * 40) as i16 - 60
        };
        let all = (0..size[1]).flat_map(|z| (0..size[0]).map(move |x| height(x, z)));
        let metres = all.map(|it| if random.below(40_u32) == 0 { VOID } else { it }).collect();
        Self { size, metres }
    }

    /// A GeoTIFF of a part, whose first sample is at 500, 900 and whose samples are 2 by 4 m apart.
    fn tiff(&self, columns: Range<usize>, rows: Range<usize>) -> Vec<u8> {
        let first = [500.0 + 2.0 * columns.start as f64, 900.0 - 4.0 * rows.start as f64];
        let width = columns.len();
        let part: Vec<i16> = rows
            .flat_map(|z| self.metres[z * self.size[0] + columns.start..][..width].iter().copied())
            .collect();
        tiff(width, &part, first, [2.0, 4.0])
    }
}

/// A GeoTIFF of metres. The middle of its first sample is at `first`.
fn tiff(width: usize, samples: &[i16], first: [f64; 2], step: [f64; 2]) -> Vec<u8> {
    tiff_of(width, samples, first, step, &[1, 1, 0, 1, 1024, 0, 1, 1])
}

/// A GeoTIFF with these keys.
fn tiff_of(
    width: usize,
    samples: &[i16],
    first: [f64; 2],
    step: [f64; 2],
    keys: &[u16],
) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    let height = samples.len() / width;
    let mut image = encoder.new_image::<GrayI16>(width as u32, height as u32).unwrap();
    let tags = image.encoder();
    tags.write_tag(Tag::ModelPixelScaleTag, &[step[0], step[1], 0.0][..]).unwrap();
    let corner = [first[0] - step[0] / 2.0, first[1] + step[1] / 2.0];
    let tie = [0.0, 0.0, 0.0, corner[0], corner[1], 0.0];
    tags.write_tag(Tag::ModelTiepointTag, &tie[..]).unwrap();
    tags.write_tag(Tag::GeoKeyDirectoryTag, keys).unwrap();
    tags.write_tag(Tag::GdalNodata, "-9999").unwrap();
    image.write_data(samples).unwrap();
    file.into_inner()
}

fn open(folder: &Path, options: &HeightMapOptions) -> HeightMap {
    HeightMap::open(folder, options).unwrap()
}

fn error(folder: &Path) -> String {
    match HeightMap::open(folder, &HeightMapOptions::default()) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

/// The materials of the columns of voxels in a column of chunks, from below.
fn columns(map: &HeightMap, [x, z]: [i32; 2], layers: RangeInclusive<i32>) -> Vec<Vec<u16>> {
    let side = Chunk::SIDE as u8;
    let mut columns = vec![Vec::new(); usize::from(side).pow(2)];
    for y in layers {
        let chunk = map.chunk(ChunkPos::new(x, y, z)).unwrap();
        for (n, column) in (0..).zip(&mut columns) {
            let at =
                |y| LocalPos::new((n % usize::from(side)) as u8, y, (n / usize::from(side)) as u8);
            column.extend((0..side).map(|y| chunk.get(at(y)).0));
        }
    }
    columns
}

/// Number of voxels of a column from height 0 to its top. `None` of a hole.
fn top(map: &HeightMap, x: i32, z: i32) -> Option<usize> {
    let side = Chunk::SIDE as i32;
    let all = columns(map, [x / side, z / side], 0..=0);
    all[(x % side + z % side * side) as usize].iter().rposition(|it| *it != 0).map(|y| y + 1)
}

/// The twin of a folder is one image: above the base of a square, all voxels are equal.
#[test]
fn a_folder_is_the_land_of_one_image() {
    let land = Land::random([700, 160], 3);
    let folder = TempDir::new().unwrap();
    // Two by two files overlap by some samples.
    let (across, down) = ([0..380, 377..700], [0..101, 100..160]);
    for (x, columns) in across.iter().enumerate() {
        for (z, rows) in down.iter().enumerate() {
            let bytes = land.tiff(columns.clone(), rows.clone());
            fs::write(folder.path().join(format!("{x} {z}.tif")), bytes).unwrap();
        }
    }
    fs::write(folder.path().join("notes.txt"), "not a map").unwrap();
    let whole = land.tiff(0..700, 0..160);
    for metres_per_voxel in [1.5, 2.0, 5.0] {
        let options = HeightMapOptions::default().with_metres_per_voxel(Some(metres_per_voxel));
        let image = HeightMap::parse(&whole, "a.tif", &options).unwrap();
        let map = open(folder.path(), &options);
        assert_eq!(map.summary().size_samples, [700, 160]);
        assert_eq!(map.summary().metres_per_sample, [2.0, 4.0]);
        // Files are decoded again whenever there is no memory for them.
        map.limit_memory(0);
        let listed = map.chunk_positions();
        assert_eq!(listed.len() as u64, map.chunk_count());
        let all = image.extent().unwrap();
        for position in image.chunk_positions() {
            let chunk = map.chunk(position).unwrap();
            assert!(chunk.is_empty() || listed.binary_search(&position).is_ok(), "{position:?}");
        }
        let mut bases = std::collections::BTreeMap::new();
        let mut compared = 0;
        for (x, z) in (0..=all.max.x).flat_map(|x| (0..=all.max.z).map(move |z| (x, z))) {
            let [one, many] = [&image, &map].map(|map| columns(map, [x, z], all.min.y..=all.max.y));
            for (one, many) in one.iter().zip(&many) {
                let Some(base) = many.iter().position(|it| *it != 0) else {
                    assert!(one.iter().all(|it| *it == 0), "a hole at {x} {z}");
                    continue;
                };
                assert_eq!(one[base..], many[base..], "{metres_per_voxel}: {x} {z}");
                assert!(one[base..].iter().take_while(|it| **it != 0).count() >= 4);
                // All columns of a square have one base.
                assert_eq!(*bases.entry([x, z].map(|it| it / TILE_CHUNKS)).or_insert(base), base);
                compared += 1;
            }
        }
        assert!(compared > 10_000 && bases.len() > 1 || metres_per_voxel > 2.0);
        assert_eq!(map.faults(), Vec::<String>::new());
    }
}

#[test]
fn tiles_share_their_edges_and_leave_out_what_no_file_has() {
    let tile = |metres: i16| metres.to_be_bytes().repeat(1201 * 1201);
    let folder = TempDir::new().unwrap();
    for (name, metres) in [("N47E011.hgt", 10), ("N47E012.HGT", 20), ("N45E011.hgt", 30)] {
        fs::write(folder.path().join(name), tile(metres)).unwrap();
    }
    assert_eq!(Format::of(Input::Path(folder.path())), Some(Format::HeightMap));
    let options = HeightMapOptions::default()
        .with_metres_per_sample(Some([1.0; 2]))
        .with_metres_per_voxel(Some(1.0));
    let map = open(folder.path(), &options);
    assert_eq!((map.summary().size_samples, map.summary().void_count), ([2401, 3601], None));
    assert_eq!(map.summary().format, "3 files, SRTM");
    let tops = [(1199, 5), (1200, 5), (1201, 5), (1200, 3000), (1201, 3000), (5, 1800)];
    assert_eq!(
        tops.map(|(x, z)| top(&map, x, z)),
        [Some(10), Some(10), Some(20), Some(30), None, None]
    );
    // Squares of 512: the north has both files, the gap from row 1201 to row 2400 none.
    let tiles = map.tile_positions();
    assert_eq!(tiles.len(), 5 * 3 + 3 * 4);
    assert!(!tiles.contains(&[0, 3]) && !tiles.contains(&[4, 6]));
    for tile in tiles {
        assert!(!map.chunk_positions_in(tile).unwrap().is_empty(), "{tile:?}");
    }
    assert_eq!(map.chunk_positions_in([-1, 0]).unwrap(), []);
    // The length of a degree is that of the middle, 46.5° north.
    let [east, south] =
        open(folder.path(), &HeightMapOptions::default()).summary().metres_per_sample;
    assert!((east - 92.767 * 0.688_355).abs() < 0.01 && (south - 92.61).abs() < 0.01);
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    let identity =
        format!("height maps \"{name}\" 1, 8654406 bytes in 3 files, 2401 x 3601 samples, ");
    assert!(map.identity().starts_with(&identity), "{}", map.identity());
}

#[test]
fn voids_are_filled_within_a_file() {
    let folder = TempDir::new().unwrap();
    let write = |name, samples: &[i16], first| {
        let bytes = tiff(3, samples, [first, 0.0], [1.0; 2]);
        fs::write(folder.path().join(name), bytes).unwrap();
    };
    write("a.tif", &[5, VOID, VOID], 0.0);
    write("b.tif", &[8, 9, VOID], 2.0);
    let tops = |voids| {
        let map = open(folder.path(), &HeightMapOptions::default().with_voids(voids));
        [0, 1, 2, 3, 4].map(|x| top(&map, x, 0))
    };
    // A void of one file has the height of the other.
    assert_eq!(tops(Voids::Holes), [Some(5), None, Some(8), Some(9), None]);
    assert_eq!(tops(Voids::Filled), [Some(5), Some(5), Some(8), Some(9), Some(9)]);
}

#[test]
fn files_that_are_not_one_map_are_refused() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let shown = |name: &str| folder.path().join(name).display().to_string();
    assert!(error(folder.path()).contains(": a folder without height maps (.hgt, .tif)"));
    let flat = |first, step| tiff(2, &[1, 2, 3, 4], first, step);
    write("a.tif", &flat([0.0, 0.0], [1.0; 2]));
    for (bytes, problem) in [
        (flat([2.5, 0.0], [1.0; 2]), "it begins 2.50 samples from the first file, between samples"),
        (flat([2.0, 0.0], [1.0, 1.5]), "its samples are 1.5 apart, those of the first file 1"),
        (flat([1e300, 0.0], [1.0; 2]), "it begins 1000000"),
        (flat([0.0, 0.0], [f64::NAN; 2]), "a height map without a position"),
        (flat([0.0, 0.0], [-1.0, 1.0]), "a height map without a position"),
        (b"II*\0".to_vec(), "header: "),
        (Vec::new(), "header: "),
    ] {
        write("b.tif", &bytes);
        let message = error(folder.path());
        let is_named = message.starts_with(&shown("b.tif"));
        assert!(is_named && message.contains(problem), "{message}");
    }
    fs::remove_file(folder.path().join("b.tif")).unwrap();
    write("N47E011.hgt", &[0; 1201 * 1201 * 2]);
    assert!(error(folder.path()).contains("its coordinates are not those of the first file"));
    fs::remove_file(folder.path().join("N47E011.hgt")).unwrap();
    write("here.hgt", &[0; 1201 * 1201 * 2]);
    assert!(error(folder.path()).contains("here.hgt: a height map without a position"));
    write("here.hgt", &[0; 7]);
    assert!(error(folder.path()).contains("here.hgt: file: 7 bytes, not the size of a tile"));
}

#[test]
fn a_damaged_file_is_an_error_of_its_chunks_only() {
    let land = Land::random([1000, 100], 5);
    let folder = TempDir::new().unwrap();
    let [west, east] = [folder.path().join("a.tif"), folder.path().join("b.tif")];
    fs::write(&west, land.tiff(0..600, 0..100)).unwrap();
    fs::write(&east, land.tiff(600..1000, 0..100)).unwrap();
    let options = HeightMapOptions::default().with_metres_per_voxel(Some(2.0));
    let map = open(folder.path(), &options);
    let good = map.chunk(ChunkPos::new(3, -1, 1)).unwrap();
    assert!(!good.is_empty());
    // The head of a file is read when the folder is opened, its samples later.
    let whole = fs::read(&east).unwrap();
    let other = land.tiff(600..609, 0..9);
    for (later, problem) in
        [(&whole[..200], "b.tif: "), (&other, "b.tif: header: the file was replaced")]
    {
        fs::write(&east, &whole).unwrap();
        let map = open(folder.path(), &options);
        fs::write(&east, later).unwrap();
        let error = map.chunk(ChunkPos::new(25, 0, 1)).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
        assert!(map.chunk_positions_in([1, 0]).is_err());
        assert_eq!(map.chunk(ChunkPos::new(3, -1, 1)).unwrap(), good);
        assert!(map.chunk_positions().iter().all(|at| at.x < 16));
        assert_eq!(map.faults().len(), 1, "{:?}", map.faults());
        // The next call tries again.
        fs::write(&east, &whole).unwrap();
        assert!(!map.chunk(ChunkPos::new(25, 0, 1)).unwrap().is_empty());
    }
}

#[test]
fn voxels_of_too_many_samples_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.tif"), tiff(2, &[1, 2], [0.0; 2], [1.0; 2])).unwrap();
    let options = HeightMapOptions::default().with_metres_per_voxel(Some(150.0));
    let error = HeightMap::open(folder.path(), &options).err().unwrap().to_string();
    assert!(error.contains("voxels of too many samples; use fewer metres per voxel"), "{error}");
    let options = HeightMapOptions::default().with_metres_per_voxel(Some(100.0));
    assert!(!open(folder.path(), &options).chunk_positions().is_empty());
}

/// Files far apart, and heights that are voids without a declaration, take no memory for what is between.
#[test]
fn extreme_files_are_refused_or_cost_little() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("a.tif", &tiff(2, &[10, 20], [0.0; 2], [1.0; 2]));
    write("b.tif", &tiff(2, &[10, 20], [16_000_000.0, -16_000_000.0], [1.0; 2]));
    let map = open(folder.path(), &HeightMapOptions::default());
    assert_eq!(map.tile_positions(), [[0, 0], [31_250, 31_250]]);
    assert_eq!(map.chunk_positions().len(), 2);
    assert_eq!(map.chunk_positions_in([1 << 28, 0]).unwrap(), []);
    let fine = HeightMapOptions::default().with_metres_per_voxel(Some(0.01));
    assert!(HeightMap::open(folder.path(), &fine).is_err(), "too many columns");
    fs::remove_file(folder.path().join("b.tif")).unwrap();
    // A void of -30000 m beside 10 m, in voxels of 1 cm.
    write("a.tif", &tiff(600, &[&[10; 599][..], &[-30_000]].concat(), [0.0; 2], [1.0; 2]));
    let map = open(folder.path(), &fine);
    let worst = *map.tile_positions().last().unwrap();
    let message = map.chunk_positions_in(worst).unwrap_err().to_string();
    assert!(message.contains("declare the value of voids in the file"), "{message}");
    assert!(!map.chunk_positions_in([0, 0]).unwrap().is_empty());
    // A head that claims more samples than a file can hold.
    let mut bytes = tiff(2, &[1, 2], [5.0, 0.0], [1.0; 2]);
    let at = bytes.windows(4).position(|tag| tag == [0, 1, 4, 0]).unwrap() + 8;
    bytes[at..at + 4].copy_from_slice(&(1_u32 << 24).to_le_bytes());
    write("b.tif", &bytes);
    assert!(error(folder.path()).contains("b.tif: header: "), "{}", error(folder.path()));
}

#[test]
fn a_save_of_minecraft_with_a_picture_stays_one() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("map.tif"), tiff(1, &[1], [0.0; 2], [1.0; 2])).unwrap();
    let format = || Format::of(Input::Path(folder.path()));
    assert_eq!(format(), Some(Format::HeightMap));
    fs::create_dir(folder.path().join("region")).unwrap();
    assert_eq!(format(), Some(Format::Minecraft));
}

#[test]
fn another_coordinate_system_is_refused_and_other_content_is_another_map() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("a.tif", &tiff(2, &[10, 20], [0.0; 2], [1.0; 2]));
    let identity = || open(folder.path(), &HeightMapOptions::default()).identity();
    let before = identity();
    write("a.tif", &tiff(2, &[10, 21], [0.0; 2], [1.0; 2]));
    assert_ne!(identity(), before);
    for (name, system) in [("b.tif", 25_832), ("c.tif", 25_833)] {
        let keys = [1_u16, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, system];
        write(name, &tiff_of(2, &[10, 20], [2.0, 0.0], [1.0; 2], &keys));
    }
    let first = folder.path().join("a.tif");
    fs::rename(folder.path().join("b.tif"), first).unwrap();
    let message = error(folder.path());
    assert!(message.contains("c.tif: header: its coordinates are not those"), "{message}");
}

/// A square is solid down to the ground of its neighbours, so that a cliff at its border has no gap.
#[test]
fn a_cliff_between_squares_is_closed() {
    let folder = TempDir::new().unwrap();
    let row = [[300; 512], [10; 512]].concat();
    fs::write(folder.path().join("a.tif"), tiff(1024, &row, [0.0; 2], [1.0; 2])).unwrap();
    let map = open(folder.path(), &HeightMapOptions::default());
    let cliff = &columns(&map, [15, 0], 0..=9)[31];
    assert!(cliff[10..300].iter().all(|it| *it != 0), "the last column of the first square");
    assert!(cliff[300..].iter().all(|it| *it == 0));
}
