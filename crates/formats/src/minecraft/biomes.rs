use drystone_voxel::Material;

use super::indices::apart;
use super::nbt::{Nbt, tag};
use super::problems::ColumnProblems;
use super::tint::{Tint, Tints};
use crate::fault::Fault;

/// Number of cells of 4³ voxels in a section.
const SECTION_CELLS: usize = 64;
/// Number of cells in a layer of a section.
const LAYER_CELLS: usize = 16;
/// Number of voxels in a layer of a section.
const LAYER_VOXELS: usize = 16 * 16;
/// Side of a cell, in voxels.
const CELL_SIDE: usize = 4;
/// Number of cells in a column of 1.15 to 1.17.
const COLUMN_CELLS: usize = 16 * SECTION_CELLS;
/// Number of cells in a tall column, as some data packs of 1.17 make them, and the height of its
/// lowest section.
const TALL_CELLS: usize = 24 * SECTION_CELLS;
const TALL_LOWEST: i32 = -4;
/// Number of a biome that was not determined yet, until 1.12.
const UNSET: i32 = 255;
/// Maximum length of a biome's name in messages, in bytes.
const MAX_NAME_BYTES: usize = 32;

/// Tints of the biomes of a column or a section.
///
/// ```text
///  until 1.12    Level ─ Biomes             256 bytes: X, Z
///  1.13, 1.14    Level ─ Biomes             256 integers: X, Z
///  1.15 to 1.17  Level ─ Biomes             1024 integers: cells of 4³, X, Z, Y
///  since 1.18    sections ─ biomes ─ palette, data     64 cells of 4³, X, Z, Y
/// ```
#[derive(Debug)]
pub(super) struct Biomes {
    grid: Grid,
    tints: Vec<Tint>,
}

#[derive(Clone, Copy, Debug)]
enum Grid {
    /// One tint for each X and Z.
    Columns,
    /// One tint for each cell of 4³ voxels. `lowest` is the height of the first cells, in sections.
    Cells { lowest: i32 },
}

impl Biomes {
    /// Reads the array of biome numbers of a column. `None` if it is empty or has a wrong length.
    ///
    /// # Errors
    /// Data that is cut off.
    pub(super) fn numbers(
        nbt: &mut Nbt<'_>,
        kind: u8,
        tints: &Tints,
        problems: &mut ColumnProblems,
    ) -> Result<Option<Self>, Fault> {
        let size_bytes = if kind == tag::BYTES { 1 } else { size_of::<i32>() };
        let numbers = nbt.elements(size_bytes)?;
        let grid = match numbers.len() / size_bytes {
            LAYER_VOXELS => Grid::Columns,
            COLUMN_CELLS => Grid::Cells { lowest: 0 },
            TALL_CELLS => Grid::Cells { lowest: TALL_LOWEST },
            // A column whose biomes the game has not determined yet.
            0 => return Ok(None),
            count => {
                problems.add(format!("{count} biomes, not {LAYER_VOXELS} or {COLUMN_CELLS}"));
                return Ok(None);
            }
        };
        let number = |bytes: &[u8]| bytes.iter().fold(0, |n, &byte| n << 8 | i32::from(byte));
        let tint = |number| {
            tints.numbered(number).unwrap_or_else(|| {
                if number != UNSET {
                    problems.add(format!("the unknown biome {number}"));
                }
                Tint::default()
            })
        };
        let tints = numbers.chunks_exact(size_bytes).map(number).map(tint).collect();
        Ok(Some(Self { grid, tints }))
    }

    /// Reads the biomes of a section: a palette of names, and indices of 64 cells.
    ///
    /// # Errors
    /// Data that is cut off.
    pub(super) fn names(
        nbt: &mut Nbt<'_>,
        tints: &Tints,
        problems: &mut ColumnProblems,
    ) -> Result<Self, Fault> {
        let (mut palette, mut words): (_, &[u8]) = (Vec::new(), &[]);
        nbt.entries(|nbt, kind, name| {
            match (kind, name) {
                (tag::LIST, b"palette") => palette = names(nbt, tints, problems)?,
                (tag::LONGS, b"data") => words = nbt.elements(8)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let mut cells = vec![Tint::default(); SECTION_CELLS];
        if let Err(problem) = unpack(&palette, words, &mut cells) {
            problems.add(problem);
            cells.fill(Tint::default());
        }
        Ok(Self { grid: Grid::Cells { lowest: 0 }, tints: cells })
    }

    /// Replaces the materials of a section's voxels by those of their biome. `section_y` is the
    /// height of the section above the origin of these biomes, in sections.
    pub(super) fn apply(&self, section_y: i32, tints: &Tints, voxels: &mut [Material]) {
        for (y, voxels) in voxels.chunks_exact_mut(LAYER_VOXELS).enumerate() {
            let layer = self.layer(section_y, y / CELL_SIDE);
            if layer.iter().all(|tint| *tint == Tint::default()) {
                continue;
            }
            for (at, voxel) in voxels.iter_mut().enumerate() {
                let [x, z] = [at % 16 / CELL_SIDE, at / 16 / CELL_SIDE];
                let at = match self.grid {
                    Grid::Columns => at,
                    Grid::Cells { .. } => x + CELL_SIDE * z,
                };
                *voxel = tints.tinted(*voxel, layer.get(at).copied().unwrap_or_default());
            }
        }
    }

    /// Returns the tints at one height. Above and below the cells there are those of the nearest.
    fn layer(&self, section_y: i32, cell_y: usize) -> &[Tint] {
        let Grid::Cells { lowest } = self.grid else { return &self.tints };
        let (layers, _) = self.tints.as_chunks::<LAYER_CELLS>();
        let y = i64::from(section_y - lowest) * CELL_SIDE as i64 + cell_y as i64;
        let last = layers.len().saturating_sub(1) as i64;
        layers.get(y.clamp(0, last) as usize).map_or(&[], <[Tint; LAYER_CELLS]>::as_slice)
    }
}

/// Reads a palette of biomes. Unknown ones have the default tint.
fn names(
    nbt: &mut Nbt<'_>,
    tints: &Tints,
    problems: &mut ColumnProblems,
) -> Result<Vec<Tint>, Fault> {
    let (kind, count) = nbt.list()?;
    let mut palette = Vec::new();
    for _ in 0..count {
        let tint = if kind == tag::STRING {
            let name = nbt.string()?;
            tints.named(name).unwrap_or_else(|| {
                let name = String::from_utf8_lossy(name.get(..MAX_NAME_BYTES).unwrap_or(name));
                problems.add(format!("the unknown biome {name:?}"));
                Tint::default()
            })
        } else {
            nbt.skip(kind)?;
            problems.add("a biome without a name".into());
            Tint::default()
        };
        // More biomes than cells are a problem that `unpack` finds.
        if palette.len() <= SECTION_CELLS {
            palette.push(tint);
        }
    }
    Ok(palette)
}

/// Unpacks palette indices, which never span words. Returns a description of a problem.
fn unpack(palette: &[Tint], words: &[u8], cells: &mut [Tint]) -> Result<(), String> {
    match palette {
        [] => Err("a section with an empty palette of biomes".into()),
        [only] if words.is_empty() => {
            cells.fill(*only);
            Ok(())
        }
        _ if palette.len() > SECTION_CELLS => {
            Err(format!("a section with more than {SECTION_CELLS} biomes"))
        }
        _ => {
            let bits = (usize::BITS - (palette.len() - 1).leading_zeros()).max(1);
            let expected = SECTION_CELLS.div_ceil((u64::BITS / bits) as usize);
            let (words, _) = words.as_chunks();
            if words.len() != expected {
                return Err("a section with the wrong number of words for its biomes".into());
            }
            apart(palette, words, bits, cells)
                .ok_or_else(|| "a section with an index beyond its palette of biomes".into())
        }
    }
}
