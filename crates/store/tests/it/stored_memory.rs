//! Memory of an import, and of packing.

use drystone_formats::{Source, SourceError};
use drystone_store::{ImportOptions, PackOptions, import, pack};
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, LocalPos, Material, MaterialTable};

use crate::stored_child::{Folder, command, order, peak_bytes};

const LIMIT_BYTES: u64 = 64 << 20;
/// Size of each chunk in bytes.
const CHUNK_BYTES: u64 = 2 * (Chunk::SIDE as u64).pow(3);

/// Chunks with more materials than a palette holds, each with its own memory.
struct Noise {
    materials: MaterialTable,
    chunk: Chunk,
    extent: ChunkBox,
}

impl Noise {
    fn new(chunk_count: u64) -> Self {
        let mut materials = MaterialTable::new();
        for n in 0..400 {
            materials.insert(&format!("{n}"), [n as u8, 0, 0, 255]).unwrap();
        }
        let chunk = Chunk::from_fn(Chunk::SIDE, |at| {
            let place = u32::from(at.x) + 61 * u32::from(at.y) + 3001 * u32::from(at.z);
            Material((place.wrapping_mul(2_654_435_761) >> 16) as u16 % 400)
        });
        let side = (chunk_count / 4).isqrt() as i32;
        let max = ChunkPos::new(side, 3, side);
        Self { materials, chunk, extent: ChunkBox { min: ChunkPos::default(), max } }
    }
}

impl Source for Noise {
    fn name(&self) -> &str {
        "noise"
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        let ChunkBox { max, .. } = self.extent;
        let columns = (0..=max.x).flat_map(|x| (0..=max.z).map(move |z| (x, z)));
        columns.flat_map(|(x, z)| (0..=max.y).map(move |y| ChunkPos::new(x, y, z))).collect()
    }

    fn chunk(&self, at: ChunkPos) -> Result<Chunk, SourceError> {
        let mut chunk = self.chunk.snapshot();
        chunk.set(LocalPos::new(at.x as u8 % 32, at.y as u8 % 32, at.z as u8 % 32), Material(1));
        Ok(chunk)
    }
}

#[test]
fn child_imports() {
    let Some((path, count)) = order() else { return };
    let options = ImportOptions::default().with_memory_bytes(LIMIT_BYTES);
    let (world, progress) = import(&Noise::new(count), &path, &options, &mut |_| {}).unwrap();
    assert_eq!((world.chunk_count(), progress.lost), (progress.total, 0));
    println!("imported {} peak {}", progress.total, peak_bytes().unwrap_or_default());
}

#[test]
fn child_packs() {
    let Some((path, count)) = order() else { return };
    let options = PackOptions::default().with_memory_bytes(LIMIT_BYTES);
    let progress = pack(&Noise::new(count), &path, &options, &mut |_| {}).unwrap();
    assert_eq!(progress.lost, 0);
    println!("imported {} peak {}", progress.total, peak_bytes().unwrap_or_default());
}

#[test]
fn a_source_of_five_times_the_limit_stays_within_it() {
    let folder = Folder::new();
    for (test, name) in [("child_imports", "noise.drystone"), ("child_packs", "noise.dsw")] {
        let count = 5 * LIMIT_BYTES / CHUNK_BYTES;
        let test = format!("stored_memory::{test}");
        let output = command(&test, &folder.file(name), count).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        let line = text.lines().find_map(|line| line.split_once("imported ")).unwrap().1;
        let numbers: Vec<u64> =
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [imported, peak] = numbers[..] else { panic!("{line}") };
        assert!(imported >= count);
        if peak == 0 {
            println!("skipped: this system does not say how much memory a process had");
        }
        assert!(peak < LIMIT_BYTES, "{test}: {} MiB of {}", peak >> 20, LIMIT_BYTES >> 20);
    }
}
