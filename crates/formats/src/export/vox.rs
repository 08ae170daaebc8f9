use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialCounts};

use super::portion::{Palette, WriteFault};

/// Chunks along a side of a model: 256 voxels, the largest size of the format.
const MODEL_CHUNKS: u32 = 8;
const _: () = assert!(MODEL_CHUNKS * Chunk::SIDE == 256);
/// Largest number of colours of the format. Number 0 is no voxel.
const MAX_COLORS: usize = 255;
/// Attribute of nodes without a layer, and value of reserved fields.
const NONE: u32 = u32::MAX;

/// Writer of a MagicaVoxel file: one model for each block of 256³ voxels that is not empty, and a
/// scene with their positions.
///
/// ```text
///  MAIN ─┬ SIZE, XYZI for each model
///        ├ nTRN 0 ─ nGRP 1 ─┬ nTRN 2 ─ nSHP 3     model 0
///        │                  └ nTRN 4 ─ nSHP 5     model 1
///        ├ RGBA
///        └ MATL for each colour that is translucent or emits light
/// ```
/// Voxel (x, y, z) becomes (x, −z − 1, y), because Z is up in MagicaVoxel.
pub(super) struct VoxWriter {
    file: BufWriter<File>,
    colors: VoxColors,
    models: Vec<VoxModel>,
    /// Chunks of the current model.
    chunks: Vec<(ChunkPos, Chunk)>,
    /// Largest length of the file in bytes. Tests lower it.
    max_bytes: u64,
    bytes: u64,
}

/// Lowest corner and size of a model, in MagicaVoxel's axes.
struct VoxModel {
    low: [i64; 3],
    size: [u32; 3],
}

impl VoxWriter {
    pub(super) fn new(mut file: BufWriter<File>, colors: VoxColors) -> Result<Self, WriteFault> {
        file.write_all(b"VOX ")?;
        file.write_all(&200_u32.to_le_bytes())?;
        file.write_all(b"MAIN\0\0\0\0\0\0\0\0")?;
        let (models, chunks, max_bytes) = (Vec::new(), Vec::new(), u32::MAX.into());
        Ok(Self { file, colors, models, chunks, max_bytes, bytes: 0 })
    }

    /// Returns the block that contains a chunk. Chunks have to be written block by block.
    pub(super) fn block(chunk: ChunkPos) -> ChunkPos {
        let block = |c: i32| c.div_euclid(MODEL_CHUNKS as i32);
        ChunkPos::new(block(chunk.x), block(chunk.y), block(chunk.z))
    }

    /// Takes a chunk that is not all air.
    pub(super) fn write(&mut self, position: ChunkPos, chunk: Chunk) -> Result<(), WriteFault> {
        let block = Self::block(position);
        if self.chunks.first().is_some_and(|(first, _)| Self::block(*first) != block) {
            self.write_model()?;
        }
        self.chunks.push((position, chunk));
        Ok(())
    }

    /// Writes the model of the current chunks.
    fn write_model(&mut self) -> Result<(), WriteFault> {
        let chunks = std::mem::take(&mut self.chunks);
        let Some(model) = VoxModel::around(&chunks) else { return Ok(()) };
        let count: u64 = chunks.iter().map(|(_, chunk)| u64::from(chunk.solid_count())).sum();
        self.write_chunk(b"SIZE", &words(&model.size))?;
        self.begin_chunk(b"XYZI", 4 + 4 * count)?;
        self.file.write_all(&words(&[count as u32]))?;
        for (position, chunk) in &chunks {
            let voxels = each_voxel(*position, chunk).map(|(at, material)| {
                let [x, y, z] = [0, 1, 2].map(|axis| (at[axis] - model.low[axis]) as u8);
                [x, y, z, self.colors.number(material)]
            });
            let bytes: Vec<u8> = voxels.flatten().collect();
            self.file.write_all(&bytes)?;
        }
        self.models.push(model);
        Ok(())
    }

    /// Writes the head of a chunk with `length` bytes of content.
    fn begin_chunk(&mut self, id: &[u8; 4], length: u64) -> Result<(), WriteFault> {
        self.bytes += 12 + length;
        WriteFault::check(self.bytes, self.max_bytes, "bytes")?;
        self.file.write_all(id)?;
        Ok(self.file.write_all(&words(&[length as u32, 0]))?)
    }

    fn write_chunk(&mut self, id: &[u8; 4], content: &[u8]) -> Result<(), WriteFault> {
        self.begin_chunk(id, content.len() as u64)?;
        Ok(self.file.write_all(content)?)
    }

    /// Writes the nodes of the scene.
    fn write_scene(&mut self) -> Result<(), WriteFault> {
        let models = std::mem::take(&mut self.models);
        self.write_chunk(b"nTRN", &transform(0, 1, &[]))?;
        let children: Vec<u32> = (0..models.len() as u32).map(|model| 2 + 2 * model).collect();
        let group = [words(&[1, 0, children.len() as u32]), words(&children)].concat();
        self.write_chunk(b"nGRP", &group)?;
        for (number, model) in (0..).zip(&models) {
            let node = 2 + 2 * number;
            // The offset is the position of the corner at ⌊size / 2⌋.
            let middle = |axis: usize| model.low[axis] + i64::from(model.size[axis] / 2);
            let offset = format!("{} {} {}", middle(0), middle(1), middle(2));
            self.write_chunk(b"nTRN", &transform(node, node + 1, &[("_t", &offset)]))?;
            self.write_chunk(b"nSHP", &words(&[node + 1, 0, 1, number, 0]))?;
        }
        Ok(())
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> Result<(), WriteFault> {
        self.write_model()?;
        self.write_scene()?;
        let colors = std::mem::take(&mut self.colors.colors);
        let mut palette: Vec<_> = colors.iter().map(|look| look.color).collect();
        palette.resize(MAX_COLORS + 1, [0; 4]);
        self.write_chunk(b"RGBA", palette.as_flattened())?;
        for (number, VoxColor { color, emission }) in (1_u32..).zip(&colors) {
            let part = |value: &u8| (f32::from(*value) / f32::from(u8::MAX)).to_string();
            let clear = 1.0 - f32::from(color[3]) / f32::from(u8::MAX);
            let kind = match (color[3], emission) {
                (u8::MAX, 0) => continue,
                (u8::MAX, emission) => {
                    dictionary(&[("_type", "_emit"), ("_emit", &part(emission)), ("_flux", "0")])
                }
                // A material of the format is of one type: translucent ones emit no light.
                _ => dictionary(&[("_type", "_glass"), ("_trans", &clear.to_string())]),
            };
            self.write_chunk(b"MATL", &[words(&[number]), kind].concat())?;
        }
        self.file.seek(SeekFrom::Start(16))?;
        // Below the limit that was checked.
        self.file.write_all(&words(&[self.bytes as u32]))?;
        Ok(self.file.flush()?)
    }
}

impl VoxModel {
    /// Returns the tight box around the voxels of these chunks; `None` if there are none.
    fn around(chunks: &[(ChunkPos, Chunk)]) -> Option<Self> {
        let mut voxels = chunks.iter().flat_map(|(at, chunk)| each_voxel(*at, chunk));
        let (first, _) = voxels.next()?;
        let [low, high] = voxels.fold([first, first], |[low, high], (at, _)| {
            let bound = |of: fn(i64, i64) -> i64, old: [i64; 3]| {
                [0, 1, 2].map(|axis| of(old[axis], at[axis]))
            };
            [bound(i64::min, low), bound(i64::max, high)]
        });
        Some(Self { low, size: [0, 1, 2].map(|axis| (high[axis] - low[axis] + 1) as u32) })
    }
}

/// Iterates over the voxels of a chunk that are not air, in MagicaVoxel's axes.
fn each_voxel(
    position: ChunkPos,
    chunk: &Chunk,
) -> impl Iterator<Item = ([i64; 3], Material)> + '_ {
    let origin =
        [position.x, position.y, position.z].map(|c| i64::from(c) * i64::from(Chunk::SIDE));
    chunk.iter_solid().map(move |(local, material)| {
        let [x, y, z] =
            [(0, local.x), (1, local.y), (2, local.z)].map(|(axis, c)| origin[axis] + i64::from(c));
        ([x, -z - 1, y], material)
    })
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn dictionary(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = words(&[entries.len() as u32]);
    for text in entries.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend(words(&[text.len() as u32]));
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// Returns the content of a transform node with one frame.
fn transform(id: u32, child: u32, frame: &[(&str, &str)]) -> Vec<u8> {
    [words(&[id, 0, child, NONE, NONE, 1]), dictionary(frame)].concat()
}

/// Colours of a file, and the colour number of each material.
#[derive(Debug, Default)]
pub(super) struct VoxColors {
    colors: Vec<VoxColor>,
    /// Colour numbers by material, from 1.
    numbers: Vec<u8>,
    /// Number of materials that have the nearest colour instead of their own.
    pub(super) changed_count: usize,
}

/// Colour of a file, with the light that it emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VoxColor {
    color: [u8; 4],
    emission: u8,
}

impl VoxColor {
    /// Returns a material's colour, with an opacity of at least 1, because programs take 0 as opaque.
    fn of(palette: &Palette, material: u32) -> Self {
        let [red, green, blue, alpha] = palette.color(material);
        let emission = if alpha == u8::MAX { palette.emission(material) } else { 0 };
        Self { color: [red, green, blue, alpha.max(1)], emission }
    }

    /// Red, green, blue, opacity and emission.
    fn channels(self) -> impl Iterator<Item = u8> {
        self.color.into_iter().chain([self.emission])
    }
}

impl VoxColors {
    /// Whether the colours of a palette exceed what the format can store, so that those that are
    /// used most have to be counted.
    pub(super) fn are_too_many(palette: &Palette) -> bool {
        let materials = 1..palette.colors.len() as u32;
        let mut colors: Vec<_> = materials.map(|it| VoxColor::of(palette, it)).collect();
        colors.sort_unstable();
        colors.dedup();
        colors.len() > MAX_COLORS
    }

    /// Selects the colours of a file. `counts` has the number of voxels of each material; without
    /// it, all materials are equal. Materials whose colour is left out get the nearest one.
    pub(super) fn new(palette: &Palette, counts: Option<MaterialCounts>) -> Self {
        let used: Vec<u32> = match counts {
            Some(counts) => counts.sorted().into_iter().map(|(it, _)| u32::from(it.0)).collect(),
            None => (1..palette.colors.len() as u32).collect(),
        };
        let mut chosen = Self { numbers: vec![1; palette.colors.len()], ..Self::default() };
        for material in used {
            let color = VoxColor::of(palette, material);
            let number = match chosen.colors.iter().position(|known| *known == color) {
                Some(index) => index,
                None if chosen.colors.len() < MAX_COLORS => {
                    chosen.colors.push(color);
                    chosen.colors.len() - 1
                }
                None => {
                    chosen.changed_count += 1;
                    chosen.nearest(color)
                }
            };
            if let Some(entry) = chosen.numbers.get_mut(material as usize) {
                *entry = number as u8 + 1;
            }
        }
        chosen
    }

    fn number(&self, material: Material) -> u8 {
        self.numbers.get(usize::from(material.0)).copied().unwrap_or(1)
    }

    /// Index of the colour with the smallest distance.
    fn nearest(&self, color: VoxColor) -> usize {
        let distance = |other: &VoxColor| {
            let channels = color.channels().zip(other.channels());
            let differences = channels.map(|(a, b)| u32::from(a.abs_diff(b)));
            differences.map(|difference| difference * difference).sum::<u32>()
        };
        let colors = self.colors.iter().enumerate();
        colors.min_by_key(|(_, other)| distance(other)).map_or(0, |(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use drystone_voxel::LocalPos;

    use super::*;

    #[test]
    fn colours_beyond_the_format_become_the_nearest_of_those_used_most() {
        let mut palette = Palette::default();
        palette.push("air", [0; 4]);
        (0..300_u16).for_each(|n| palette.push("", [(n / 2) as u8, (n % 2) as u8, 9, 255]));
        assert!(VoxColors::are_too_many(&palette));
        let mut counts = MaterialCounts::default();
        let chunk = |material| Chunk::new(if material > 45 { 2 } else { 1 }, Material(material));
        (1..=300).for_each(|material| counts.add_chunk(&chunk(material)));
        let colors = VoxColors::new(&palette, Some(counts));
        assert_eq!((colors.colors.len(), colors.changed_count), (255, 45));
        let color =
            |material| colors.colors[usize::from(colors.number(Material(material))) - 1].color;
        assert_eq!(color(300), [149, 1, 9, 255]);
        assert_eq!(color(1), [22, 1, 9, 255], "the nearest that is used more");
        palette.colors.truncate(256);
        assert!(!VoxColors::are_too_many(&palette));
    }

    /// Opacities differ as colours do, and 0, which programs take as opaque, is 1.
    #[test]
    fn the_nearest_colour_has_a_near_opacity() {
        let plain = |color| VoxColor { color, emission: 0 };
        let colors = [[9, 9, 9, 255], [9, 9, 9, 40], [20, 9, 9, 90]].map(plain).to_vec();
        let colors = VoxColors { colors, ..VoxColors::default() };
        assert_eq!([250, 35, 85].map(|alpha| colors.nearest(plain([9, 9, 9, alpha]))), [0, 1, 2]);
        let mut palette = Palette::default();
        palette.push("air", [0; 4]);
        palette.push("", [1, 2, 3, 0]);
        assert_eq!(VoxColors::new(&palette, None).colors, [plain([1, 2, 3, 1])]);
    }

    /// The position of a model of 3 × 2 × 1 voxels is that of its corner at ⌊size / 2⌋.
    #[test]
    fn the_position_of_a_model_with_odd_sizes_is_rounded_down() {
        let path = std::env::temp_dir().join(format!("drystone-vox-t-{}", std::process::id()));
        let file = BufWriter::new(File::create(&path).unwrap());
        let mut writer = VoxWriter::new(file, VoxColors::default()).unwrap();
        let mut chunk = Chunk::new(32, Material::AIR);
        chunk.fill_box(LocalPos::new(0, 0, 0), [3, 2, 1], Material(1));
        writer.write(ChunkPos::new(0, 0, 0), chunk).unwrap();
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        let contains = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        // x from 0 to 3; −z from −1 to 0; y from 0 to 2.
        assert!(contains(b"SIZE\x0C\0\0\0\0\0\0\0\x03\0\0\0\x01\0\0\0\x02\0\0\0"));
        assert!(contains(b"\x02\0\0\0_t\x06\0\0\x001 -1 1"));
    }

    #[test]
    fn more_bytes_than_the_format_counts_are_an_error() {
        let path = std::env::temp_dir().join(format!("drystone-vox-{}", std::process::id()));
        let file = BufWriter::new(File::create(&path).unwrap());
        let mut writer = VoxWriter::new(file, VoxColors::default()).unwrap();
        writer.max_bytes = 1_000;
        writer.write(ChunkPos::new(0, 0, 0), Chunk::new(32, Material(1))).unwrap();
        let error = writer.finish().unwrap_err().in_file("a.vox".as_ref(), "");
        assert!(error.to_string().contains("at most 1000"), "{error}");
        std::fs::remove_file(path).unwrap();
    }
}
