//! Colours of grass, leaves and water by biome. Colours are chosen for this program.

use std::collections::HashMap;

use drystone_voxel::{Face, Material, MaterialKind, MaterialTable};

use super::looks::rgb;

/// One line per tint: the colours of grass, oak leaves and water as six hexadecimal digits, then its
/// biomes, each with a colon and its number until 1.17 if it had one. The first biome names the
/// tint. The first line is the default.
const BIOMES: &str = include_str!("biomes.txt");
/// Blocks with the colour of grass, of leaves, and of water. Leaves that are not listed have the
/// same colour in all biomes.
const TINTED: [&[&str]; 3] = [
    &[
        "grass_block",
        "short_grass",
        "grass",
        "tall_grass",
        "fern",
        "large_fern",
        "bush",
        "sugar_cane",
    ],
    &["oak_leaves", "jungle_leaves", "acacia_leaves", "dark_oak_leaves", "mangrove_leaves", "vine"],
    &["water", "bubble_column"],
];
/// Part of the top's change of colour that the sides of a block with grass show: one in this many.
const SIDE_PART: i32 = 4;

/// Colours of grass, leaves and water in some biomes: a line of the table. The default is that of
/// plains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tint(u8);

/// Tints of biomes, and materials of blocks in each tint.
#[derive(Debug)]
pub(super) struct Tints {
    by_name: HashMap<&'static str, Tint>,
    /// Tints by the biome's number, which is below 256.
    by_number: [Option<Tint>; 256],
    /// By material, the index of its row plus 1; 0 if it has the same colour in all biomes.
    row_of: Vec<u16>,
    /// Materials of each state of a tinted block by tint.
    rows: Vec<Vec<Material>>,
}

impl Tints {
    /// Adds the materials of tinted blocks to the table, one per state of a block and colour. `own`
    /// returns the materials of a block's states in the default tint.
    pub(super) fn new(table: &mut MaterialTable, own: impl Fn(&str) -> Vec<Material>) -> Self {
        let (mut by_name, mut by_number) = (HashMap::new(), [None; 256]);
        for (tint, line) in (0..).map(Tint).zip(BIOMES.lines()) {
            for biome in line.split(' ').skip(TINTED.len()) {
                let (name, number) = biome.split_once(':').unwrap_or((biome, ""));
                by_name.insert(name, tint);
                if let Some(entry) = number.parse().ok().and_then(|at: usize| by_number.get_mut(at))
                {
                    *entry = Some(tint);
                }
            }
        }
        let mut tints = Self { by_name, by_number, row_of: Vec::new(), rows: Vec::new() };
        for (part, names) in TINTED.iter().enumerate() {
            names.iter().flat_map(|name| own(name)).for_each(|own| tints.add(table, own, part));
        }
        tints
    }

    /// Adds the row of a state of a block. `part` is the index of its colour in a line of the table.
    fn add(&mut self, table: &mut MaterialTable, own: Material, part: usize) {
        let kind = table.get(own).filter(|_| !self.is_tinted(own)).cloned();
        let Some(kind) = kind else { return };
        let colors = BIOMES.lines().map(|line| rgb(line.split(' ').nth(part)?));
        let colors: Vec<[u8; 3]> = colors.map(Option::unwrap_or_default).collect();
        let names = BIOMES.lines().filter_map(|line| line.split([' ', ':']).nth(TINTED.len()));
        let mut row: Vec<Material> = Vec::new();
        for (color, name) in colors.iter().zip(names) {
            let equal = colors.iter().zip(&row).find(|(other, _)| *other == color);
            let material = match (equal, colors.first()) {
                (Some((_, material)), _) => Some(*material),
                (None, Some(default)) if default != color => {
                    let textures = Face::ALL.map(|face| kind.texture(face));
                    let tinted = in_tint(&kind, [*default, *color], name);
                    let tinted = table.with_textures(tinted, textures).ok();
                    tinted.and_then(|kind| table.insert_kind(kind))
                }
                _ => None,
            };
            row.push(material.unwrap_or(own));
        }
        let at = usize::from(own.0);
        self.row_of.resize(self.row_of.len().max(at + 1), 0);
        self.rows.push(row);
        self.row_of[at] = self.rows.len() as u16;
    }

    /// Returns the tint of a biome by its name. The prefix `minecraft:` is optional.
    pub(super) fn named(&self, name: &[u8]) -> Option<Tint> {
        let name = name.strip_prefix(b"minecraft:").unwrap_or(name);
        self.by_name.get(std::str::from_utf8(name).ok()?).copied()
    }

    /// Returns the tint of a biome by its number until 1.17.
    pub(super) fn numbered(&self, number: i32) -> Option<Tint> {
        self.by_number.get(usize::try_from(number).ok()?).copied().flatten()
    }

    /// Whether a block has a material for each tint.
    pub(super) fn is_tinted(&self, material: Material) -> bool {
        self.row_of.get(usize::from(material.0)).is_some_and(|row| *row != 0)
    }

    /// Returns the materials of a block by tint; none if it has the same colour in all biomes.
    pub(super) fn of(&self, own: Material) -> &[Material] {
        let row = self.row_of.get(usize::from(own.0)).copied().unwrap_or(0);
        let row = usize::from(row).checked_sub(1).and_then(|row| self.rows.get(row));
        row.map_or(&[], Vec::as_slice)
    }

    /// Returns the material of a block in a tint; the block's own if it is the same in all biomes.
    pub(super) fn tinted(&self, own: Material, tint: Tint) -> Material {
        self.of(own).get(usize::from(tint.0)).copied().unwrap_or(own)
    }
}

/// Returns a block's material in another tint. Its colour changes in the ratio of the tint's colour
/// to the default. The sides of a block with grass change less, its bottom does not change.
fn in_tint(own: &MaterialKind, [default, color]: [[u8; 3]; 2], tint: &str) -> MaterialKind {
    let scaled = |own: [u8; 3]| -> [u8; 3] {
        std::array::from_fn(|channel| {
            let [own, color, default] = [own, color, default].map(|it| u32::from(it[channel]));
            (own * color / default.max(1)).min(u8::MAX.into()) as u8
        })
    };
    let [red, green, blue, opacity] = own.color;
    let [new_red, new_green, new_blue] = scaled([red, green, blue]);
    let name = format!("{} in {tint}", own.name);
    let mut kind = MaterialKind::new(name, [new_red, new_green, new_blue, opacity]);
    kind.shape.clone_from(&own.shape);
    kind.fluid = own.fluid;
    kind.cut_out = own.cut_out;
    let Some(faces) = own.faces else { return kind };
    let top = faces[Face::PosY.index()];
    let (new_top, mut new_faces) = (scaled(top), faces);
    let side = |own: [u8; 3]| -> [u8; 3] {
        std::array::from_fn(|channel| {
            let [own, top, new_top] = [own, top, new_top].map(|it| i32::from(it[channel]));
            (own + (new_top - top) / SIDE_PART).clamp(0, u8::MAX.into()) as u8
        })
    };
    for (face, color) in Face::ALL.into_iter().zip(&mut new_faces) {
        *color = match face {
            Face::PosY => new_top,
            Face::NegY => *color,
            _ => side(*color),
        };
    }
    kind.with_faces(new_faces)
}

#[cfg(test)]
mod tests {
    use super::super::blocks::Blocks;
    use super::super::colors;
    use super::*;

    fn vanilla(name: &str, biome: &str) -> MaterialKind {
        let (blocks, table) = Blocks::vanilla();
        let tint = blocks.tints.named(biome.as_bytes()).unwrap();
        let material = blocks.tints.tinted(blocks.named(name.as_bytes()), tint);
        table.get(material).unwrap().clone()
    }

    /// Each line has its colours, each biome occurs once, and each tinted block exists.
    #[test]
    fn the_table_of_biomes_is_complete() {
        let biomes = || BIOMES.lines().flat_map(|line| line.split(' ').skip(TINTED.len()));
        let (blocks, _) = Blocks::vanilla();
        assert_eq!(blocks.tints.by_name.len(), biomes().count());
        let numbered = biomes().filter(|biome| biome.contains(':'));
        assert_eq!(blocks.tints.by_number.iter().flatten().count(), numbered.count());
        // The versions 1.2 to 1.17 have numbers 0 to 50, and some beyond.
        assert!((0..=50).all(|number| blocks.tints.numbered(number).is_some()));
        assert!(blocks.tints.rows.len() >= TINTED.iter().copied().flatten().count());
        for words in BIOMES.lines().map(|line| line.split(' ')) {
            assert!(words.take(TINTED.len()).all(|word| word.len() == 6 && rgb(word).is_some()));
        }
        assert_eq!(blocks.tints.named(b"minecraft:plains"), Some(Tint::default()));
        assert_eq!(blocks.tints.named(b"other:plains"), None);
    }

    /// The colours of the default tint are those of the blocks, so that ratios are exact.
    #[test]
    fn the_default_tint_has_the_colours_of_the_blocks() {
        for (block, word) in ["grass_block", "oak_leaves", "water"].iter().zip(BIOMES.split(' ')) {
            let [red, green, blue, _] = colors::color(block).unwrap();
            assert_eq!(rgb(word), Some([red, green, blue]), "{block}");
            assert_eq!(vanilla(block, "river").name, *block);
        }
    }

    #[test]
    fn blocks_have_the_colours_of_their_biome() {
        let swamp = vanilla("water", "mangrove_swamp");
        assert_eq!((swamp.name.as_str(), swamp.color), ("water in swamp", [92, 119, 94, 0xa0]));
        let grass = vanilla("grass_block", "swamp_hills");
        assert_eq!(grass.name, "grass_block in swamp");
        assert_eq!(grass.color, [0x4f, 0x5c, 0x2b, 255]);
        let [plain, default] = [&grass, &vanilla("grass_block", "plains")]
            .map(|kind| Face::ALL.map(|face| kind.face_color(face)));
        let [top, side, bottom] = [Face::PosY, Face::NegX, Face::NegY].map(Face::index);
        assert_eq!(plain[top], grass.color);
        assert_eq!(plain[bottom], default[bottom]);
        // A quarter of the way from 154 to 92.
        assert_eq!((default[side][1], plain[side][1]), (106, 106 - (154 - 92) / 4));
        // Plants keep their shape.
        let fern = vanilla("fern", "swamp");
        assert_eq!(fern.name, "fern in swamp");
        assert!(fern.shape.is_some() && fern.shape == vanilla("fern", "plains").shape);
        // Leaves keep their texture and its holes.
        let [leaves, plain] = ["swamp", "plains"].map(|biome| vanilla("oak_leaves", biome));
        assert!(leaves.name == "oak_leaves in swamp" && leaves.cut_out && plain.cut_out);
        let textures = [&leaves, &plain].map(|it| it.texture(Face::NegX));
        assert_eq!(textures, [Some(0); 2]);
        // Tints of one colour share a material, and birches look alike everywhere.
        assert_eq!(vanilla("water", "snowy_plains").name, "water in cold_ocean");
        assert_eq!(vanilla("vine", "warm_ocean").name, "vine");
        for block in ["birch_leaves", "spruce_leaves", "cherry_leaves", "stone", "air"] {
            assert_eq!(vanilla(block, "swamp").name, block);
        }
    }
}
