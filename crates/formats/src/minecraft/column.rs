use drystone_voxel::Material;

use super::biomes::Biomes;
use super::blocks::Blocks;
use super::looks::Variant;
use super::nbt::{Nbt, tag};
use super::problems::{ColumnProblems, damaged, unknown};
use crate::fault::Fault;

/// Maximum number of sections: more than there are heights. Limits files that repeat a section.
const MAX_SECTIONS: usize = 512;
/// Number of voxels in a section.
pub(super) const SECTION_VOXELS: usize = 16 * 16 * 16;

/// Parsed blocks of a column, with voxels still packed.
///
/// ```text
///  until 1.12   Level ─ Sections ─ Y, Blocks, Add, Data          numbers
///  1.13 to 1.17 Level ─ Sections ─ Y, Palette, BlockStates       names
///  since 1.18           sections ─ Y, block_states ─ palette, data
/// ```
/// [`Biomes`] are beside them.
#[derive(Debug, Default)]
pub(super) struct Column<'a> {
    /// Sections that have blocks.
    pub(super) sections: Vec<Section<'a>>,
    /// Biomes of the whole column, until 1.17.
    pub(super) biomes: Option<Biomes>,
    pub(super) biome_problems: ColumnProblems,
}

/// A section of 16³ packed voxels.
#[derive(Debug)]
pub(super) struct Section<'a> {
    /// Height of the section, in sections: -128 to 127.
    pub(super) y: i32,
    pub(super) voxels: Packed<'a>,
    /// Biomes of the section, since 1.18.
    pub(super) biomes: Option<Biomes>,
    /// Blocks in the palette with a state that they do not have. They have their first state.
    unknown_states: usize,
}

/// Packed voxels of a section.
#[derive(Debug)]
pub(super) enum Packed<'a> {
    /// Since 1.13: a palette, and palette indices in 64-bit words.
    Palette { materials: Vec<Material>, words: &'a [u8] },
    /// Until 1.12: 8 low bits and 4 high bits of the block number, and 4 bits of the variant.
    Numbers { low: &'a [u8], high: Option<&'a [u8]>, variant: Option<&'a [u8]> },
}

impl<'a> Column<'a> {
    /// Parses the data of a column.
    ///
    /// # Errors
    /// Damage, with its byte offset.
    pub(super) fn parse(bytes: &'a [u8], blocks: &Blocks) -> Result<Self, Fault> {
        let mut column = Self::default();
        Nbt::root(bytes)?.entries(|nbt, kind, name| {
            if (kind, name) == (tag::COMPOUND, b"Level".as_slice()) {
                nbt.entries(|nbt, kind, name| column.entry(nbt, kind, name, blocks))?;
                return Ok(true);
            }
            column.entry(nbt, kind, name, blocks)
        })?;
        Ok(column)
    }

    /// Reports states that blocks do not have.
    ///
    /// # Errors
    /// If there are any.
    pub(super) fn check_states(&self) -> Result<(), Fault> {
        match self.sections.iter().map(|section| section.unknown_states).sum::<usize>() {
            0 => Ok(()),
            count => Err(unknown(format!(
                "{count} blocks of palettes in unknown states, shown in their first state"
            ))),
        }
    }

    fn entry(
        &mut self,
        nbt: &mut Nbt<'a>,
        kind: u8,
        name: &[u8],
        blocks: &Blocks,
    ) -> Result<bool, Fault> {
        match (kind, name) {
            (tag::LIST, b"sections" | b"Sections") => self.sections(nbt, blocks)?,
            (tag::BYTES | tag::INTS, b"Biomes") => {
                self.biomes = Biomes::numbers(nbt, kind, &blocks.tints, &mut self.biome_problems)?;
            }
            (_, b"Biomes") => {
                self.biome_problems.add(format!("biomes of tag {kind}"));
                return Ok(false);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn sections(&mut self, nbt: &mut Nbt<'a>, blocks: &Blocks) -> Result<(), Fault> {
        let (kind, count) = nbt.list()?;
        for _ in 0..count {
            if kind != tag::COMPOUND {
                nbt.skip(kind)?;
                continue;
            }
            let mut parts = Parts::default();
            nbt.entries(|nbt, kind, name| match (kind, name) {
                (tag::COMPOUND, b"biomes") => {
                    let problems = &mut self.biome_problems;
                    parts.biomes = Some(Biomes::names(nbt, &blocks.tints, problems)?);
                    Ok(true)
                }
                _ => parts.entry(nbt, kind, name, blocks),
            })?;
            if let Some(section) = parts.section()? {
                if self.sections.len() == MAX_SECTIONS {
                    return Err(nbt.bad(format!("more than {MAX_SECTIONS} sections")));
                }
                self.sections.push(section);
            }
        }
        Ok(())
    }
}

/// Entries of a section, which can be in any order.
#[derive(Default)]
struct Parts<'a> {
    y: Option<i64>,
    palette: Option<Vec<Material>>,
    unknown_states: usize,
    words: Option<&'a [u8]>,
    low: Option<&'a [u8]>,
    high: Option<&'a [u8]>,
    variant: Option<&'a [u8]>,
    biomes: Option<Biomes>,
}

impl<'a> Parts<'a> {
    fn entry(
        &mut self,
        nbt: &mut Nbt<'a>,
        kind: u8,
        name: &[u8],
        blocks: &Blocks,
    ) -> Result<bool, Fault> {
        match (kind, name) {
            (tag::COMPOUND, b"block_states") => {
                nbt.entries(|nbt, kind, name| self.entry(nbt, kind, name, blocks))?;
            }
            (tag::LIST, b"palette" | b"Palette") => {
                let (materials, unknown_states) = palette(nbt, blocks)?;
                (self.palette, self.unknown_states) = (Some(materials), unknown_states);
            }
            (tag::LONGS, b"data" | b"BlockStates") => self.words = Some(nbt.elements(8)?),
            (tag::BYTES, b"Blocks") => self.low = Some(nbt.elements(1)?),
            (tag::BYTES, b"Add") => self.high = Some(nbt.elements(1)?),
            (tag::BYTES, b"Data") => self.variant = Some(nbt.elements(1)?),
            (_, b"Y") => match nbt.integer(kind)? {
                Some(y) => self.y = Some(y),
                None => return Ok(false),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The section; `None` if it has no blocks, since some sections only hold light.
    fn section(self) -> Result<Option<Section<'a>>, Fault> {
        let voxels = match (self.palette, self.low) {
            (Some(materials), _) => {
                Packed::Palette { materials, words: self.words.unwrap_or_default() }
            }
            (None, Some(low)) => Packed::Numbers { low, high: self.high, variant: self.variant },
            (None, None) => return Ok(None),
        };
        let height = self.y.and_then(|y| i8::try_from(y).ok());
        match (height, self.y) {
            (Some(y), _) => Ok(Some(Section {
                y: y.into(),
                voxels,
                biomes: self.biomes,
                unknown_states: self.unknown_states,
            })),
            (None, Some(y)) => Err(damaged(format!("a section at height {y}, not -128 to 127"))),
            (None, None) => Err(damaged("a section without a height")),
        }
    }
}

/// Materials of a palette, and the number of blocks in unknown states. Of the blocks' properties, only
/// those are read that change the look or the shape.
fn palette(nbt: &mut Nbt<'_>, blocks: &Blocks) -> Result<(Vec<Material>, usize), Fault> {
    let (kind, count) = nbt.list()?;
    if count > SECTION_VOXELS {
        return Err(
            nbt.bad(format!("a palette of {count} blocks, at most {SECTION_VOXELS} are possible"))
        );
    }
    if kind != tag::COMPOUND && count > 0 {
        return Err(nbt.bad(format!("a palette of tag {kind}, not of compounds")));
    }
    let mut materials = Vec::with_capacity(count.min(256));
    let (mut unknown_states, mut properties) = (0, Vec::new());
    for _ in 0..count {
        let mut material = None;
        properties.clear();
        nbt.entries(|nbt, kind, name| {
            match (kind, name) {
                (tag::STRING, b"Name") => material = Some(blocks.named(nbt.string()?)),
                (tag::COMPOUND, b"Properties") => {
                    nbt.entries(|nbt, kind, name| property(nbt, kind, name, &mut properties))?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let material = material.ok_or_else(|| nbt.bad("a block without a name".into()))?;
        let variant =
            properties.iter().rev().find_map(|&(name, value)| Variant::of_property(name, value));
        let state = blocks.state(material, &properties);
        unknown_states += usize::from(state.is_none());
        let is_logged = properties.contains(&(b"waterlogged", b"true"));
        let state = blocks.varied(state.unwrap_or(material), variant);
        materials.push(blocks.watered(material, state, is_logged));
    }
    Ok((materials, unknown_states))
}

/// Maximum number of properties of a block that are read; the game's have at most eight.
const MAX_PROPERTIES: usize = 32;

/// Reads a property of a block.
fn property<'a>(
    nbt: &mut Nbt<'a>,
    kind: u8,
    name: &'a [u8],
    properties: &mut Vec<(&'a [u8], &'a [u8])>,
) -> Result<bool, Fault> {
    if kind != tag::STRING || properties.len() == MAX_PROPERTIES {
        return Ok(false);
    }
    properties.push((name, nbt.string()?));
    Ok(true)
}
