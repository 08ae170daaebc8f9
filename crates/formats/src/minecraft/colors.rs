//! Colours of blocks: by name if the block has a colour of its own, else by its material. Each is
//! close to the average of the block's texture.

/// Colours of wool, in the game's order of dyes.
const DYES: [(&str, u32); 16] = [
    ("white", 0xe9ecec),
    ("orange", 0xf07613),
    ("magenta", 0xbd44b3),
    ("light_blue", 0x3aafd9),
    ("yellow", 0xf8c627),
    ("lime", 0x70b919),
    ("pink", 0xed8dac),
    ("gray", 0x3e4447),
    ("light_gray", 0x8e8e86),
    ("cyan", 0x158991),
    ("purple", 0x792aac),
    ("blue", 0x35399d),
    ("brown", 0x724728),
    ("green", 0x546d1b),
    ("red", 0xa12722),
    ("black", 0x141519),
];

/// Colours of terracotta, in the game's order of dyes.
const TERRACOTTA: [u32; 16] = [
    0xd1b2a1, 0xa15325, 0x95586c, 0x716c89, 0xba8523, 0x677535, 0xa14e4e, 0x392a23, 0x876b62,
    0x565b5b, 0x764656, 0x4a3b5b, 0x4d3323, 0x4c532a, 0x8f3d2e, 0x251610,
];

/// Colours of a kind of wood.
struct Wood {
    name: &'static str,
    /// Colours of planks, bark and leaves.
    colors: [u32; 3],
}

const fn wood(name: &'static str, planks: u32, bark: u32, leaves: u32) -> Wood {
    Wood { name, colors: [planks, bark, leaves] }
}

/// All kinds of wood, and the fungi with the same blocks.
const WOODS: [Wood; 12] = [
    wood("oak", 0xa2834f, 0x6d5533, 0x48702c),
    wood("spruce", 0x725430, 0x3a2511, 0x3b5c3a),
    wood("birch", 0xc0af79, 0xd8d7d2, 0x60803f),
    wood("jungle", 0xa07351, 0x554419, 0x30781d),
    wood("acacia", 0xa85a32, 0x676157, 0x5b7a28),
    wood("dark_oak", 0x432b14, 0x3c2e1a, 0x3d6325),
    wood("mangrove", 0x753630, 0x544329, 0x4c7226),
    wood("cherry", 0xe2b2ac, 0x36202c, 0xe5adc2),
    wood("pale_oak", 0xe3d9d8, 0x574d4b, 0x747a70),
    wood("bamboo", 0xc1ac50, 0x7f8f39, 0x5d8f2f),
    wood("crimson", 0x653046, 0x5c191d, 0x7e0b2b),
    wood("warped", 0x2b6863, 0x3a3a4d, 0x149184),
];

/// Red, green, blue and opacity of blocks with a colour of their own, as eight hexadecimal digits,
/// and their names: one line a colour.
const COLORS: &str = include_str!("colors.txt");

/// Opacity of thin blocks: plants, rails, torches.
const THIN: u8 = 150;
/// Opacity of stained glass.
const STAINED: u8 = 130;

/// Name of a dye, by its index in the game.
pub(super) fn dye(at: usize) -> Option<&'static str> {
    DYES.get(at).map(|(name, _)| *name)
}

/// Red, green, blue and opacity of a block by its name without `minecraft:`; `None` if unknown.
pub(super) fn color(name: &str) -> Option<[u8; 4]> {
    let kinds = [alone, dyed, wooden, copper, shaped];
    kinds.iter().find_map(|kind| kind(name))
}

const fn rgba(color: u32) -> [u8; 4] {
    color.to_be_bytes()
}

const fn opaque(color: u32) -> [u8; 4] {
    rgba(color << 8 | 0xff)
}

/// Colour of a block that has its own.
fn alone(name: &str) -> Option<[u8; 4]> {
    let mut lines = COLORS.lines().map(|line| line.split(' '));
    let mut line = lines.find(|words| words.clone().skip(1).any(|it| it == name))?;
    u32::from_str_radix(line.next()?, 16).ok().map(rgba)
}

/// Colour of a block in one of the 16 dyes.
fn dyed(name: &str) -> Option<[u8; 4]> {
    // No dye name is a prefix of another, so the first match is the only one.
    let (at, kind) = DYES
        .iter()
        .enumerate()
        .find_map(|(at, (dye, _))| Some((at, name.strip_prefix(dye)?.strip_prefix('_')?)))?;
    let (_, wool) = *DYES.get(at)?;
    let [r, g, b, _] = opaque(wool);
    Some(match kind {
        "terracotta" => opaque(*TERRACOTTA.get(at)?),
        "concrete" => [r, g, b].map(|c| (u16::from(c) * 7 / 8) as u8).opacity(u8::MAX),
        "concrete_powder" => [r, g, b].map(|c| c / 8 * 7 + 32).opacity(u8::MAX),
        "stained_glass" | "stained_glass_pane" => [r, g, b, STAINED],
        "candle" => [r, g, b, THIN],
        "wool" | "carpet" | "bed" | "banner" | "wall_banner" | "shulker_box"
        | "glazed_terracotta" | "candle_cake" => [r, g, b, u8::MAX],
        _ => return None,
    })
}

/// Colour of a wooden block.
fn wooden(name: &str) -> Option<[u8; 4]> {
    let name = name.strip_prefix("stripped_").map_or((name, false), |inner| (inner, true));
    let (name, stripped) = name;
    let wood = WOODS
        .iter()
        .find(|wood| name.strip_prefix(wood.name).is_some_and(|rest| rest.starts_with('_')))?;
    let [planks, bark, leaves] = wood.colors.map(opaque);
    let [r, g, b, _] = leaves;
    Some(match name.get(wood.name.len() + 1..)? {
        "log" | "wood" | "stem" | "hyphae" | "block" if !stripped => bark,
        "leaves" => leaves,
        "sapling" | "propagule" | "fungus" | "roots" => [r, g, b, THIN],
        "button" | "pressure_plate" | "sign" | "wall_sign" | "hanging_sign"
        | "wall_hanging_sign" => planks[..3].first_chunk().copied()?.opacity(THIN),
        "log" | "wood" | "stem" | "hyphae" | "block" | "planks" | "slab" | "stairs" | "fence"
        | "fence_gate" | "door" | "trapdoor" | "shelf" | "mosaic" | "mosaic_slab"
        | "mosaic_stairs" => planks,
        _ => return None,
    })
}

/// Colour of a copper block, by its stage of weathering.
fn copper(name: &str) -> Option<[u8; 4]> {
    let name = name.strip_prefix("waxed_").unwrap_or(name);
    let stage =
        ["exposed_", "weathered_", "oxidized_"].iter().find(|stage| name.starts_with(**stage));
    let shape = name.strip_prefix(*stage.unwrap_or(&"")).unwrap_or(name);
    let [r, g, b, _] = alone(&format!("{}copper", stage.unwrap_or(&"")))?;
    Some(match shape {
        "copper_bars" | "copper_chain" | "copper_lantern" | "lightning_rod" => [r, g, b, THIN],
        "copper_grate" => [r, g, b, STAINED],
        _ if shape.starts_with("copper_") || shape.starts_with("cut_copper") => [r, g, b, u8::MAX],
        "chiseled_copper" => [r, g, b, u8::MAX],
        _ => return None,
    })
}

/// Prefixes of names that do not change the colour.
const BEFORE: [&str; 8] =
    ["waxed_", "infested_", "cracked_", "chiseled_", "cut_", "polished_", "smooth_", "mossy_"];
/// Suffixes of names that do not change the colour.
const AFTER: [&str; 9] =
    ["_slab", "_stairs", "_wall", "_fence", "_pillar", "_block", "_brick", "_bricks", "_tiles"];
/// Suffixes of thin shapes.
const AFTER_THIN: [&str; 2] = ["_button", "_pressure_plate"];

/// Colour of a block whose name is that of its material with a prefix or suffix.
fn shaped(name: &str) -> Option<[u8; 4]> {
    if name.strip_prefix("potted_").is_some() {
        return color("flower_pot");
    }
    if let Some(stuff) = AFTER_THIN.iter().find_map(|after| name.strip_suffix(after)) {
        let [r, g, b, _] = color(stuff)?;
        return Some([r, g, b, THIN]);
    }
    let without_end = AFTER.iter().find_map(|after| name.strip_suffix(after));
    let without_start = BEFORE.iter().find_map(|before| name.strip_prefix(before));
    [without_end, without_start].into_iter().flatten().find_map(|stuff| {
        // "stone_brick" for "stone_bricks", "quartz" for "quartz_block".
        let ends = ["", "s", "_block"].iter();
        ends.copied().find_map(|end| alone(&format!("{stuff}{end}"))).or_else(|| color(stuff))
    })
}

/// Adds an opacity to a colour.
trait Opacity {
    fn opacity(self, opacity: u8) -> [u8; 4];
}

impl Opacity for [u8; 3] {
    fn opacity(self, opacity: u8) -> [u8; 4] {
        let [r, g, b] = self;
        [r, g, b, opacity]
    }
}
