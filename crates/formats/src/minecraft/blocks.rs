use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use drystone_voxel::{Face, Material, MaterialKind, MaterialTable};

use super::leaves;
use super::looks::{self, Variant};
use super::shapes::{self, Family};
use super::tint::Tints;
use super::wet::Wet;
use super::{MinecraftWorld, colors};

/// Names of all blocks from 1.13 to 26.1 without `minecraft:`, including renamed ones.
const NAMES: &str = include_str!("names.txt");
/// Blocks that are invisible.
const NOTHING: [&str; 7] =
    ["air", "cave_air", "void_air", "barrier", "light", "moving_piston", "structure_void"];
/// Colour that makes unknown blocks conspicuous.
const UNKNOWN_COLOR: [u8; 4] = [255, 0, 255, 255];

/// Materials of blocks, by name and by number.
#[derive(Debug)]
pub(super) struct Blocks {
    by_name: HashMap<&'static str, Material>,
    /// Indexed by block number × 16 + variant.
    by_number: Vec<Material>,
    /// Materials of blocks that lie on their side or under snow, by the block's own material.
    variants: HashMap<(Material, Variant), Material>,
    families: Vec<Family>,
    /// Blocks that are not cubes, by the block's own material, which is that of its first state.
    shaped: HashMap<Material, ShapedBlock>,
    pub(super) wet: Wet,
    /// Materials whose shape only resembles that of their block.
    inexact: HashSet<Material>,
    pub(super) tints: Tints,
    unknown: Material,
}

/// The materials of a block that is not a cube.
#[derive(Debug)]
struct ShapedBlock {
    /// Index of its family.
    family: usize,
    /// Indexed by state.
    states: Vec<Material>,
}

/// Built once: finding the colours of all names takes some milliseconds.
static VANILLA: LazyLock<(Blocks, MaterialTable)> = LazyLock::new(|| {
    let mut table = MaterialTable::new();
    (Blocks::new(&mut table), table)
});

impl Blocks {
    /// The blocks of the game, and the table of their materials.
    pub(super) fn vanilla() -> (&'static Self, MaterialTable) {
        let (blocks, table) = &*VANILLA;
        (blocks, table.clone())
    }

    /// Adds a material for every block, one for unknown blocks, then those of variants, of states with a
    /// shape, of tints, and of states in water to the table. Edits depend on the order.
    fn new(table: &mut MaterialTable) -> Self {
        let leaves = leaves::texture().and_then(|texture| table.insert_texture(texture).ok());
        let mut insert = |kind| insert_block(table, kind, leaves);
        let unknown = insert(MaterialKind::new(MinecraftWorld::UNKNOWN, UNKNOWN_COLOR));
        let mut by_name: HashMap<_, _> = NOTHING.map(|name| (name, Material::AIR)).into();
        let families = shapes::families();
        let mut colored = Vec::new();
        for name in NAMES.split_ascii_whitespace() {
            by_name.entry(name).or_insert_with(|| match colors::color(name) {
                Some(color) => {
                    let family = families.iter().position(|family| family.contains(name));
                    let mut kind = looks::kind(name, color);
                    kind.shape = family.and_then(|at| families[at].shape(0));
                    let material = insert(kind);
                    colored.push((name, color, material, family));
                    material
                }
                None => unknown,
            });
        }
        let mut variants = HashMap::new();
        for &(name, color, material, _) in &colored {
            for (variant, kind) in looks::variants(name, color) {
                variants.insert((material, variant), insert(kind));
            }
        }
        let (mut shaped, mut inexact) = (HashMap::new(), HashSet::new());
        for (name, color, own, family) in colored {
            let Some(at) = family else { continue };
            let states = states_of(&families[at], looks::kind(name, color), own, &mut insert);
            if !families[at].is_exact {
                inexact.extend(states.iter().copied());
            }
            shaped.insert(own, ShapedBlock { family: at, states });
        }
        let tints = Tints::new(table, |name| match by_name.get(name) {
            Some(own) => shaped.get(own).map_or_else(|| vec![*own], |block| block.states.clone()),
            None => Vec::new(),
        });
        let tinted: Vec<_> = inexact.iter().flat_map(|own| tints.of(*own)).copied().collect();
        inexact.extend(tinted);
        let own = |name| by_name.get(name).copied().unwrap_or(unknown);
        let of_wet = |block: &&ShapedBlock| families[block.family].is_wet;
        let mut blocks: Vec<_> = shaped.iter().collect();
        blocks.sort_unstable_by_key(|(own, _)| **own);
        let states = blocks.iter().map(|(_, block)| *block).filter(of_wet);
        let wet = Wet::new(table, own, states.flat_map(|block| block.states.iter().copied()));
        let inexact_wet: Vec<_> = inexact.iter().filter_map(|dry| wet.of(*dry)).collect();
        inexact.extend(inexact_wet);
        let by_number = (0..)
            .zip(numbered_names())
            .map(|(at, name)| {
                let material = name.map_or(unknown, own);
                let (number, variant) = (at / VARIANTS, (at % VARIANTS) as u8);
                if let Some(ShapedBlock { family, states }) = shaped.get(&material) {
                    let family = &families[*family];
                    let double = family.state(&[(b"type", b"double")]);
                    let double = double.filter(|_| DOUBLE_SLABS.contains(&number));
                    let state = double.unwrap_or_else(|| family.state_of_variant(variant));
                    return states.get(state).copied().unwrap_or(material);
                }
                let variant = Variant::of_number(variant);
                let varied = variant.and_then(|variant| variants.get(&(material, variant)));
                varied.copied().unwrap_or(material)
            })
            .collect();
        Self { by_name, by_number, variants, families, shaped, wet, inexact, tints, unknown }
    }

    /// Returns the material of a block's variant; that of the block itself if both look alike.
    pub(super) fn varied(&self, material: Material, variant: Option<Variant>) -> Material {
        let varied = variant.and_then(|variant| self.variants.get(&(material, variant)));
        varied.copied().unwrap_or(material)
    }

    /// Returns the material of a state of a block that is not a cube, by the block's own material. `None`
    /// if the block has no such state. Blocks that are cubes are returned as they are.
    pub(super) fn state(
        &self,
        material: Material,
        properties: &[(&[u8], &[u8])],
    ) -> Option<Material> {
        let Some(block) = self.shaped.get(&material) else { return Some(material) };
        let state = self.families.get(block.family)?.state(properties)?;
        block.states.get(state).copied()
    }

    /// Returns the material of a state in water, by that without water; the same if it cannot be in
    /// water. `block` is the block's own material, and `is_logged` whether the state says so; some
    /// blocks always are.
    pub(super) fn watered(&self, block: Material, state: Material, is_logged: bool) -> Material {
        let is_wet = is_logged || self.wet.is_submerged(block);
        self.wet.of(state).filter(|_| is_wet).unwrap_or(state)
    }

    /// Whether the shape of a material is that of its block.
    pub(super) fn is_exact(&self, material: Material) -> bool {
        material != self.unknown && !self.inexact.contains(&material)
    }

    /// Returns the material of the block `name`. The prefix `minecraft:` is optional. All unknown
    /// blocks share one material.
    pub(super) fn named(&self, name: &[u8]) -> Material {
        let name = name.strip_prefix(b"minecraft:").unwrap_or(name);
        let known = std::str::from_utf8(name).ok().and_then(|name| self.by_name.get(name));
        known.copied().unwrap_or(self.unknown)
    }

    /// Returns the material of a block of Minecraft before 1.13: number 0 to 4095, variant 0 to 15.
    pub(super) fn numbered(&self, number: u16, variant: u8) -> Material {
        let at = usize::from(number) * VARIANTS + usize::from(variant);
        self.by_number.get(at).copied().unwrap_or(self.unknown)
    }
}

/// Adds a material for each state of a block that is not a cube, except the first, whose material is
/// the block's `own`. States that are cubes share one. Returns the materials by state.
fn states_of(
    family: &Family,
    kind: MaterialKind,
    own: Material,
    insert: &mut dyn FnMut(MaterialKind) -> Material,
) -> Vec<Material> {
    let mut cube = family.shape(0).is_none().then_some(own);
    let mut of_state = |state| {
        let shape = family.shape(state);
        if let Some(cube) = cube.filter(|_| shape.is_none()) {
            return cube;
        }
        let is_cube = shape.is_none();
        let mut kind = kind.clone();
        kind.shape = shape;
        kind.name += &family.suffix(state);
        let material = insert(kind);
        cube = cube.or(is_cube.then_some(material));
        material
    };
    let others: Vec<_> = (1..family.state_count()).map(&mut of_state).collect();
    std::iter::once(own).chain(others).collect()
}

/// Numbers of blocks of two slabs before 1.13, which have the names of single ones.
const DOUBLE_SLABS: [usize; 4] = [43, 125, 181, 204];
/// Number of variants of a block number before 1.13.
const VARIANTS: usize = 16;
/// One line per block number: the names of its variants, repeated after the next power of two. `*`
/// is replaced by each dye, `-` is unused. Variants that are not listed equal the first.
const NUMBERS: &str = include_str!("numbers.txt");

/// Names of all variants of all block numbers, in order; `None` for unused ones.
fn numbered_names() -> impl Iterator<Item = Option<&'static str>> {
    NUMBERS.lines().flat_map(|line| (0..VARIANTS).map(move |variant| numbered_name(line, variant)))
}

fn numbered_name(line: &'static str, variant: usize) -> Option<&'static str> {
    if let Some(kind) = line.strip_prefix('*') {
        return dyed(colors::dye(variant)?, kind);
    }
    let count = line.split(' ').count();
    let listed = line.split(' ').nth(variant % count.next_power_of_two());
    let name = listed.filter(|name| *name != "-").or_else(|| line.split(' ').next())?;
    (name != "-").then_some(name)
}

/// The block name that consists of `dye` and `kind`.
fn dyed(dye: &str, kind: &str) -> Option<&'static str> {
    let mut names = NAMES.split_ascii_whitespace();
    names.find(|name| name.strip_prefix(dye) == Some(kind))
}

/// Adds a block's material to the table, with the texture of leaves if it has holes.
fn insert_block(table: &mut MaterialTable, kind: MaterialKind, leaves: Option<u16>) -> Material {
    let textured = match leaves::has_holes(&kind.name) {
        true => table.with_textures(kind.clone(), [leaves; Face::COUNT]).ok(),
        false => None,
    };
    let kind = textured.map_or(kind, MaterialKind::with_cut_out);
    table.insert_kind(kind).unwrap_or(Material::AIR)
}

#[cfg(test)]
mod tests {
    use super::super::wet::IN_WATER;
    use super::*;

    /// Every listed name has a colour and occurs once.
    #[test]
    fn every_block_has_a_colour() {
        let mut table = MaterialTable::new();
        let blocks = Blocks::new(&mut table);
        let without: Vec<&str> = NAMES
            .split_ascii_whitespace()
            .filter(|name| blocks.named(name.as_bytes()) == blocks.unknown)
            .collect();
        assert!(without.is_empty(), "{without:?}");
        let names = NAMES.split_ascii_whitespace().count();
        let nothing = NAMES.split_ascii_whitespace().filter(|name| NOTHING.contains(name)).count();
        let is_state = |name: &str| name.contains('=') && !name.ends_with(IN_WATER);
        let states = table.iter().filter(|(_, kind)| is_state(&kind.name)).count();
        // Includes air and the material of unknown blocks.
        let own = names - nothing + 2 + blocks.variants.len() + states;
        let dry = table.len() - blocks.wet.pairs().len();
        assert!((own + 80..own + 160).contains(&dry), "{own} of {dry}");
        assert!((5_000..12_000).contains(&states), "{states}");
        assert!(
            (4_000..12_000).contains(&blocks.wet.pairs().len()),
            "{}",
            blocks.wet.pairs().len()
        );
        assert!((60..120).contains(&blocks.variants.len()), "{}", blocks.variants.len());
        assert!(table.iter().all(|(m, kind)| m.is_air() || kind.color[3] > 0));
        let unknown = [&b"minecraft:no_such_block"[..], b"other:stone", b"\xff", b""];
        assert!(unknown.iter().all(|name| blocks.named(name) == blocks.unknown));
        assert_eq!(table.get(blocks.unknown).map(|kind| kind.color), Some(UNKNOWN_COLOR));
        assert!(table.iter().filter(|(_, kind)| kind.color == UNKNOWN_COLOR).count() == 1);
    }

    #[test]
    fn water_and_glass_are_translucent_and_other_blocks_are_not() {
        let mut table = MaterialTable::new();
        let blocks = Blocks::new(&mut table);
        let passes = |name: &str| table.is_translucent(blocks.named(name.as_bytes()));
        for name in
            ["water", "glass", "glass_pane", "red_stained_glass", "blue_stained_glass_pane", "ice"]
        {
            assert!(passes(name), "{name}");
        }
        for name in ["stone", "oak_leaves", "lava", "glowstone", "sand", "red_wool", "packed_ice"] {
            assert!(!passes(name), "{name}");
        }
    }

    /// Blocks of the same stuff have the same colour, others different colours.
    #[test]
    fn shapes_have_the_colour_of_their_material() {
        let color = |name| colors::color(name).unwrap();
        for (shape, stuff) in [
            ("oak_stairs", "oak_planks"),
            ("stone_brick_wall", "stone_bricks"),
            ("waxed_oxidized_cut_copper_slab", "oxidized_copper"),
            ("quartz_slab", "quartz_block"),
            ("red_sandstone_wall", "red_sandstone"),
            ("infested_cobblestone", "cobblestone"),
            ("light_blue_carpet", "light_blue_wool"),
        ] {
            assert_eq!(color(shape), color(stuff), "{shape}");
        }
        assert_ne!(color("oak_planks"), color("spruce_planks"));
        assert_ne!(color("light_blue_wool"), color("blue_wool"));
        assert_ne!(color("white_terracotta"), color("white_concrete"));
    }

    /// Every pattern of the table of shapes names a block, and each material has its own name.
    #[test]
    fn shapes_belong_to_blocks_and_states_have_names_of_their_own() {
        let mut table = MaterialTable::new();
        let blocks = Blocks::new(&mut table);
        for (at, family) in blocks.families.iter().enumerate() {
            assert!(blocks.shaped.values().any(|block| block.family == at), "{family:?}");
        }
        let mut names = HashSet::new();
        for (_, kind) in table.iter() {
            assert!(names.insert(kind.name.as_str()), "{}", kind.name);
        }
        let slab = blocks.named(b"oak_slab");
        let state = |value: &'static str| blocks.state(slab, &[(b"type", value.as_bytes())]);
        assert_eq!(state("bottom"), Some(slab));
        assert_eq!(table.shape(state("double").unwrap()), None);
        assert_eq!(state("sideways"), None);
        let top = table.get(state("top").unwrap()).unwrap();
        assert_eq!(top.name, "oak_slab type=top");
        assert_eq!(top.color, table.get(slab).unwrap().color);
        // Numbers of double and single slabs.
        assert_eq!(table.shape(blocks.numbered(43, 8)), None);
        assert_eq!(table.get(blocks.numbered(44, 8)).unwrap().name, "smooth_stone_slab type=top");
    }

    #[test]
    fn block_numbers_map_to_their_old_blocks() {
        let mut table = MaterialTable::new();
        let blocks = Blocks::new(&mut table);
        let name =
            |number, variant| table.get(blocks.numbered(number, variant)).unwrap().name.as_str();
        assert_eq!(blocks.numbered(0, 5), Material::AIR);
        assert_eq!([name(1, 0), name(1, 5), name(17, 1)], ["stone", "andesite", "spruce_log"]);
        assert_eq!(
            [name(35, 14), name(9, 3), name(255, 0)],
            ["red_wool", "water level=3", "structure_block"]
        );
        assert_eq!([name(256, 0), name(4095, 15)], [MinecraftWorld::UNKNOWN; 2]);
        assert_eq!([name(17, 4), name(17, 9)], ["oak_log along x", "spruce_log along z"]);
        // Variant 12 has bark on all sides; stone has no axis.
        assert_eq!(
            [name(17, 12), name(1, 4), name(170, 8)],
            ["oak_log", "polished_diorite", "hay_block along z"]
        );
    }
}
