pub(crate) use drystone_testing::Random;
use drystone_voxel::{Chunk, LocalPos, Material, MaterialKind, MaterialTable, PaddedChunk};

/// Creates a table of materials 1 to 4; bits 1 to 4 select the translucent ones, bits 9 to 12 those
/// that are cut out.
pub(crate) fn table(bits: u32) -> MaterialTable {
    let mut table = MaterialTable::new();
    for id in 1..=4 {
        // Materials 2 and 3 have the same opacity, and form one body if they are translucent.
        let opacity = if bits >> id & 1 != 0 { 100 + 20 * (id / 2) } else { 255 };
        let mut kind = MaterialKind::new("material", [90, 90, 90, opacity as u8]);
        kind.cut_out = bits >> (8 + id) & 1 != 0;
        table.insert_kind(kind).unwrap();
    }
    table
}

/// Creates a padded chunk from a function of positions from −1 to `side`.
pub(crate) fn padded(side: u32, mut material_at: impl FnMut([i32; 3]) -> u16) -> PaddedChunk {
    let n = side as i32;
    let mut chunks: Vec<Chunk> = (0..27).map(|_| Chunk::new(side, Material::AIR)).collect();
    for z in -1..=n {
        for y in -1..=n {
            for x in -1..=n {
                let chunk = &mut chunks[chunk_index([x, y, z].map(|c| c.div_euclid(n)))];
                let [x, y, z, material] = [x, y, z, i32::from(material_at([x, y, z]))];
                let local = [x, y, z].map(|c| c.rem_euclid(n) as u8);
                chunk.set(LocalPos::new(local[0], local[1], local[2]), Material(material as u16));
            }
        }
    }
    let mut padded = PaddedChunk::new();
    padded.fill(&chunks[13], |offset| Some(&chunks[chunk_index(offset)]));
    padded
}

fn chunk_index(offset: [i32; 3]) -> usize {
    (offset[0] + 1 + 3 * (offset[1] + 1) + 9 * (offset[2] + 1)) as usize
}

/// Creates a chunk with a halo, `percent` of it filled with materials 1 to `material_count`.
pub(crate) fn random(side: u32, percent: u32, material_count: u32, seed: u64) -> PaddedChunk {
    let mut random = Random::new(seed);
    padded(side, |_| {
        if random.below(100) < percent { 1 + random.below(material_count) as u16 } else { 0 }
    })
}

/// Creates random boxes of one material each, some of air: large faces with ragged edges.
pub(crate) fn boxes(side: u32, box_count: u32, material_count: u32, seed: u64) -> PaddedChunk {
    let mut random = Random::new(seed);
    let boxes: Vec<([i32; 3], [i32; 3], u16)> = (0..box_count)
        .map(|_| {
            let low = [0; 3].map(|_: i32| random.below(side + 2) as i32 - 1);
            let high = low.map(|c| c + 1 + random.below(side / 2 + 2) as i32);
            (low, high, random.below(material_count + 1) as u16)
        })
        .collect();
    padded(side, |voxel| {
        let inside = |low: &[i32; 3], high: &[i32; 3]| {
            (0..3).all(|axis| (low[axis]..high[axis]).contains(&voxel[axis]))
        };
        boxes.iter().rev().find(|(low, high, _)| inside(low, high)).map_or(0, |found| found.2)
    })
}
